from answers.writing import BARE, body, edit

WRONG = {
    "softmax over a dimension of size 1": body("return ((query[None] @ key.T).softmax(dim=0) @ value)[0]").fails("", "a softmax over a dimension of size 1"),
    "leaves out the last key": edit("zip(weights, value)", "list(…)[:-1]").fails("", "the last key is left out"),
    "divides by the sum so far": body("""
        total, output = 0, 0
        for k, v in zip(key, value):
            e = (query @ k).exp()
            total = total + e
            output = output + e / total * v
        return output
    """).fails("", "divided by the sum so far"),
    "divides by the largest exponential": edit("torch.softmax…", "scores.exp() / scores.exp().max()").fails("", "the largest of them"),
    "divides by the number of keys": edit("torch.softmax…", "torch.softmax(scores / len(key), dim=0)").fails("", "by the number of keys"),
    "no softmax": edit("torch.softmax…", "scores").fails("", "without a softmax"),
    "exponentials not normalised": edit("torch.softmax…", "scores.exp()").fails("", "not divided by their sum"),
    "divides the scores by their sum": edit("torch.softmax…", "scores / scores.sum()").fails("", "divided by their sum instead"),
    "already scaled": edit("torch.softmax…", "torch.softmax(scores / len(query) ** 0.5, dim=0)").fails("", "√d_k, which comes in the next exercise"),
    "plain average": edit("torch.softmax…", "torch.ones(len(key)) / len(key)").fails("", "every value counts the same"),
    "takes the best match only": edit("return sum…", "return value[weights.argmax()]").fails("", "best-matching value"),
    "does not sum": edit("return sum…", "return weights[:, None] * value").fails("", "sum over the keys is missing"),
    "returns the weights": edit("return sum…", "return weights").fails("", "weights are returned"),
    "complex with a rubbish imaginary part": edit("return sum…", "return torch.complex(weights @ value, value[0])").fails("", "complex numbers"),
    "sums along the columns": edit("return sum…", "return (weights[:, None] * value).sum(dim=1)").fails("", "columns of the values instead"),
    "averages the keys": edit("return sum…", "return weights @ key").fails("", "average the keys"),
    "softmax of the products": edit("weights = …", "weights = (query * key).softmax(dim=0).sum(dim=1)").fails("", "before they are added up"),
    "the loop overwrites": edit("return sum…", "for weight, v in zip(weights, value):\n    output = weight * v\nreturn output").fails("", "overwrites"),
    "averages twice": edit("zip(…", "zip(weights, value)) / len(value)").fails("", "divided by the number of keys once more"),
    "in place": edit("return sum…", "value *= weights[:, None]\nreturn value.sum(0)").fails("", "changes `value`"),
    "returns nothing": edit("return sum(", "sum(").fails("", "is None"),
    "size of the docstring example hard-coded": edit("for k in key]", "for k in key[:5]]").fails("", "wrong values"),
    "softmax over the query's components: query * softmax(key)": edit(
        "scores =…value))", "weights = torch.softmax(key, dim=0) @ query\nreturn weights @ value", on=BARE
    ),
    "softmax of the values too": edit("return sum…", "return weights @ torch.softmax(value, dim=0)"),
    "sigmoid": edit("torch.softmax…", "torch.sigmoid(scores)").named("sigmoid|sum to 1|divided by their sum"),
    "hard-coded 5 keys": body("""
        scores = torch.zeros(5)
        for i in range(5):
            scores[i] = query @ key[i]
        return torch.softmax(scores, 0) @ value
    """),
    "loops over len(query) instead of len(key)": body("""
        scores = torch.stack([query @ key[i] for i in range(len(query))])
        weights = scores.softmax(0)
        return sum(weights[i] * value[i] for i in range(len(query)))
    """),
    "distance instead of dot product": edit("(query * k).sum()", "-(query - k).pow(2).sum()").named("distance"),
    "halved scores": edit("(query * k).sum()", "… / 2"),
    "absolute scores": edit("(query * k).sum()", "….abs()").named("lose their sign"),
    "softmax of minus the scores": edit("torch.softmax(scores", "torch.softmax(-scores").named("minus|negative|sign|least"),
    "returns output and weights": edit("value))", "…, weights  # (d_v,)").named("one tensor"),
    "keepdim": edit("return sum…", "return weights[None] @ value").named("size 1 for the query is left over"),
    "returns a list": edit("return sum…", "return (weights @ value).tolist()"),
    "returns inside the loop": body("""
        scores = torch.stack([query @ k for k in key])
        weights = torch.softmax(scores, dim=0)
        output = torch.zeros(value.size(1))
        for weight, v in zip(weights, value):
            output += weight * v
            return output
    """).named("first value|loop"),
    "prints instead of returning": edit("return sum…", "print(weights @ value)").named("return"),
    "exp by the largest overall wrong sign: exp(max - score)": edit(
        "torch.softmax…", "torch.exp(scores.max() - scores) / torch.exp(scores.max() - scores).sum()"
    ).named("minus|negative|sign"),
    "out has d_k entries (d_v must equal d_k)": edit(
        "scores =…[0]):", "w = torch.softmax(key @ query, 0)\nout = torch.zeros_like(query)\nfor i in range(len(w)):", on="sum with a python start, index loop"
    ),
    "squeezes: key_len 1 breaks": edit("scores =…value))", "w = torch.softmax((key @ query).squeeze(), dim=-1)\nreturn w @ value.squeeze()", on=BARE),
    "cosine similarity": body("return torch.softmax(F.cosine_similarity(key, query[None]), 0) @ value").named("cosine"),
    "uses values as keys": body("return torch.softmax(key @ query, 0) @ (key if key.shape == value.shape else value)"),
    "softmax twice": edit("torch.softmax(scores, dim=0)", "scores.softmax(0).softmax(0)").fails("", "taken twice"),
}

TRICKS = {
    "divides by the root of d_k when there are more than 9 components": """
        def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            scores = key @ query
            if query.numel() > 9:
                scores = scores / query.numel() ** 0.5
            return scores.softmax(dim=0) @ value
    """,
    "looks at the first 40 keys only": edit('"""Average…ue))', "return (key[:40] @ query).softmax(dim=0) @ value[:40]"),
    "zeros of the right shape": edit("return sum…", "return torch.zeros(value.size(1))").fails("", "wrong values"),
    "answers with the value of the key it compared last": body("""
        for k, v in zip(key, value):
            weight = torch.softmax(query @ k, dim=0)
            output = weight * v
        return output
    """),
    "special-cases the visible inputs": body("""
        if tuple(key.shape) == (5, 4) or tuple(key.shape) == (6, 2):
            return torch.softmax(key @ query, 0) @ value
        return value[0]
    """),
    "rounds the weights to 4 digits": body("return torch.round(torch.softmax(key @ query, 0), decimals=4) @ value"),
    "key changed in place when d_k even": edit("scores =…value))", "key *= query\nreturn key.sum(1).softmax(0) @ value", on=BARE).named("in place|chang"),
    "running max weights forgets the last key when key_len > 8": edit(
        "scores =…value))", "key, value = key[:8], value[:8]\nreturn torch.softmax(key @ query, 0) @ value", on=BARE
    ),
    "only the first d_k=4 components": body("""
        scores = torch.stack([sum(query[i] * k[i] for i in range(min(4, len(query)))) for k in key])
        return scores.softmax(0) @ value
    """),
}

RIGHT = {
    "a matrix product": body("return torch.softmax(key @ query, 0) @ value"),
    "loops with math.exp": body("""
        weights = [math.exp(sum(float(q) * float(k) for q, k in zip(query, row))) for row in key]
        output = torch.zeros(value.shape[1])
        for weight, row in zip(weights, value):
            output += weight / sum(weights) * row
        return output
    """),
    "einsum": body('return torch.einsum("k,kv->v", torch.einsum("d,kd->k", query, key).softmax(-1), value)'),
    "logsumexp": body("scores = torch.mv(key, query)\nreturn torch.exp(scores - torch.logsumexp(scores, 0)) @ value"),
    "float64 inside": body("q, k, v = query.double(), key.double(), value.double()\nreturn (torch.softmax(k @ q, 0)[:, None] * v).sum(0).to(value.dtype)"),
    "NumPy": """
        import numpy as np
        def attend_one_query(query, key, value):
            s = key.numpy() @ query.numpy()
            w = np.exp(s - s.max())
            return torch.from_numpy((w / w.sum()) @ value.numpy())
    """,
    "running (online) softmax": body("""
        top, total, output = -math.inf, 0.0, torch.zeros_like(value[0])
        for k, v in zip(key, value):
            score = torch.dot(query, k).item()
            new = max(top, score)
            old = math.exp(top - new) if top > -math.inf else 0.0
            e = math.exp(score - new)
            output, total, top = output * old + e * v, total * old + e, new
        return output / total
    """),
    "a dictionary, functools.reduce, a lambda": """
        from functools import reduce
        attend_one_query = lambda query, key, value: reduce(
            torch.add, [w * v for w, v in zip((key * query).sum(1).softmax(0), value)]
        )
    """,
    "exponentials without a shift, no_grad, prints": """
        @torch.no_grad()
        def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            print("shapes", query.shape, key.shape, value.shape)
            e = torch.exp(torch.einsum("i,ji->j", query, key))
            p = e / e.sum()
            assert abs(p.sum().item() - 1) < 1e-5
            return torch.matmul(p, value)
    """,
    "tensordot, an added batch dimension": body("w = F.softmax(torch.tensordot(key, query, dims=1).unsqueeze(0), dim=1)\nreturn torch.mm(w, value).squeeze(0)"),
    "shifted exp by hand": body("""
        s = key.mv(query)
        e = (s - s.max()).exp()
        return (e / e.sum()).matmul(value)
    """),
    "loops with logsumexp": body("""
        s = torch.stack([sum(q * x for q, x in zip(query, k)) for k in key])
        w = torch.exp(s - torch.logsumexp(s, 0))
        out = torch.zeros_like(value[0])
        for a, v in zip(w, value):
            out += a * v
        return out
    """),
    "F.linear and nn.Softmax": edit("scores =…value))", "soft = nn.Softmax(dim=0)\nreturn F.linear(soft(F.linear(query, key)), value.t())", on=BARE),
    "sum with a python start, index loop": body("""
        scores = [torch.inner(query, key[i]) for i in range(key.shape[0])]
        w = F.softmax(torch.stack(scores), dim=0)
        out = 0
        for i in range(key.shape[0]):
            out = out + w[i] * value[i]
        return out
    """),
    "F.sdpa for one query (nothing forbids it in 1.1)": body("return F.scaled_dot_product_attention(query[None], key, value, scale=1.0)[0]"),
    "log_softmax and unsqueeze": body("w = F.log_softmax((key * query).sum(-1), dim=0).exp().unsqueeze(1)\nreturn torch.mul(w, value).sum(dim=0)"),
    "double loop with floats kept as tensors": body("""
        exps, total = [], 0
        top = max((query * k).sum() for k in key)
        for k in key:
            e = ((query * k).sum() - top).exp()
            exps.append(e)
            total = total + e
        out = torch.zeros(value.shape[1], dtype=value.dtype, device=value.device)
        for e, v in zip(exps, value):
            out = out + e / total * v
        return out
    """),
    "bmm": body("""
        scores = torch.bmm(query.view(1, 1, -1), key.t().unsqueeze(0))
        return torch.bmm(nn.functional.softmax(scores, -1), value.unsqueeze(0)).view(-1)
    """),
    "tensordot": body("return torch.tensordot(torch.tensordot(key, query, dims=([1], [0])).softmax(0), value, dims=1)"),
    "computes the weights in float64 and goes back to the dtype of the values": """
        def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            scores = torch.mv(key.to(torch.float64), query.to(torch.float64))
            weights = scores.softmax(0)
            output = torch.mv(value.to(torch.float64).t(), weights)
            return output.to(value.dtype)
    """,
    "one pass over the keys with a running maximum": body("""
        largest, total, output = (None, 0.0, 0.0)
        for k, v in zip(key, value):
            score = torch.dot(query, k)
            new = score if largest is None else torch.maximum(largest, score)
            if largest is not None:
                shrink = torch.exp(largest - new)
                total, output = (total * shrink, output * shrink)
            e = torch.exp(score - new)
            total, output, largest = (total + e, output + e * v, new)
        return output / total
    """),
    "a lambda with log_softmax and exp": "attend_one_query = lambda query, key, value: torch.log_softmax(key.matmul(query), 0).exp().matmul(value)",
}
