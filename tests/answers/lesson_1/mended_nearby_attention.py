"""Answers to `mended_nearby_attention`, lesson 1: the bug is a softmax over the queries."""

from answers.writing import BARE, body, edit, edits

WRONG = {
    "divides by d": edit("math.sqrt(x.size(1))", "x.size(1)").fails("", "divided by d instead of √d"),
    "the bug untouched": edit("softmax(dim=1)", "softmax(dim=0)").fails("", "over the queries"),
    "calls the code with the bug": body("return nearby_attention(x)").fails("", "over the queries"),
    "over the queries, then the rows divided by their sums": edit(
        "scores.softmax(dim=1)", "scores.softmax(dim=0)\nweights = weights / weights.sum(dim=1, keepdim=True)"
    ).fails("", "divided by their sums afterwards"),
    "masked after the softmax": edits(('"""Average…"""', ""), ("scores = scores…m=1)", "weights = scores.softmax(dim=1).masked_fill(distance < 0, 0.0)")).fails(
        "", "hidden after the softmax"
    ),
    "no mask": edit("scores = scores.masked_fill(distance < 0, -math.inf)\n", "", on=BARE).fails("", "no future word"),
    "the mask turned round": edit("distance < 0", "distance > 0").fails("", "past is hidden"),
    "the mask turned round, the bug untouched": edits(("distance < 0", "distance > 0"), ("dim=1", "dim=0")).fails(
        "", "past is hidden instead of the future, and"
    ),
    "a word may not see itself": edit("distance < 0", "distance <= 0").fails("", "does not see itself"),
    "the distance without its sign": edit("places[:, None] - places", "(places[:, None] - places).abs()").fails("", "lost its sign"),
    "the distance added": edit("- distance / 4", "+ distance / 4").fails("", "far words count more"),
    "the distance the other way round": edit("places[:, None] - places", "places - places[:, None]").fails("", "the distance is turned round"),
    "the distance dropped": edit(" - distance / 4", "").fails("", "no longer subtracted"),
    "the whole distance": edit("distance / 4", "distance").fails("", "whole distance"),
    "the scale dropped": edit(" / math.sqrt(x.size(1))", "").fails("", "no longer divided"),
    "scaled by the length of the sentence": edit("x.size(1)", "x.size(0)").fails("", "√seq_len instead of √d"),
    "a sigmoid": edit("softmax(dim=1)", "sigmoid()").fails("", "wrong values"),
    "exponentials that are not divided": edit("softmax(dim=1)", "exp()").fails("", "wrong values"),
    "divided by what all queries together give": edit("scores.softmax(dim=1)", "scores.exp() / scores.exp().sum()").fails("", "one softmax runs over all"),
    "columns of the weights instead of rows": edit("return weights @ x", "return weights.T @ x").fails("", "transposed"),
    "right weights, the output of the bug": edit("return weights @ x", "return scores.softmax(dim=0) @ x").fails("", "over the queries"),
    "right output, the weights of the bug": edit("x, weights", "x, scores.softmax(dim=0)").fails("", "over the queries"),
    "output and weights swapped": edit("return weights @ x, weights", "return weights, weights @ x").fails("", "output and weights are exchanged"),
    "the output alone": edit("return weights @ x, weights", "return weights @ x").fails(""),
    "changes the sentence": edit("scores = x", "x /= math.sqrt(x.size(1))\n…").fails("", "changes `x`"),
    "plain causal attention": body("return parts.scaled_dot_product_attention(x, x, x, parts.causal_mask(len(x)))").fails("", "no longer subtracted"),
    "weights without a gradient": edit("softmax(dim=1)", "….detach()").fails("", "the gradient of `output` in `x`"),
    "a word may not see itself, over the queries": edits(("distance < 0", "distance <= 0"), ("dim=1", "dim=0")).fails("", "There is NaN in"),
    "no gradient": edit("scores = x @ x.T", "x = x.detach()\n…").fails(""),
    "places on the CPU": edit(", device=x.device", "").fails("", "CPU"),
    "half the distance": edit("distance / 4", "distance / 2").fails("", "half the distance"),
}

TRICKS = {"five words only": edit("torch.arange(len(x)", "torch.arange(5")}

RIGHT = {
    "the last dimension": edit("dim=1", "dim=-1"),
    "transposed, over the columns, and back": edit("scores.softmax(dim=1)", "scores.T.softmax(dim=0).T"),
    "divided by hand": edit(
        "weights = scores…", "exponentials = (scores - scores.amax(dim=1, keepdim=True)).exp()\nweights = exponentials / exponentials.sum(dim=1, keepdim=True)"
    ),
    "the logarithm first": edit("scores.softmax(dim=1)", "F.log_softmax(scores, -1).exp()"),
    "the mask as a large negative number": edit("-math.inf", "-1e9"),
    "each word with those before it": body("""
        outputs, weights = [], x.new_zeros(len(x), len(x))
        for i in range(len(x)):
            past = torch.arange(i + 1, device=x.device)
            row = (x[: i + 1] @ x[i] / x.size(1) ** 0.5 - (i - past) / 4).softmax(0)
            weights[i, : i + 1] = row
            outputs.append(row @ x[: i + 1])
        return torch.stack(outputs), weights
    """),
    "PyTorch's own with a bias": body("""
        places = torch.arange(len(x), device=x.device)
        distance = places[:, None] - places
        bias = (-distance / 4).masked_fill(distance < 0, -math.inf)
        weights = F.scaled_dot_product_attention(x, x, torch.eye(len(x)).to(x), attn_mask=bias)
        return weights @ x, weights
    """),
    "bias and causal mask in one matrix": body("""
        places = torch.arange(len(x), device=x.device, dtype=x.dtype)
        distance = places[:, None] - places
        bias = (-distance / 4).where(distance >= 0, -math.inf)
        weights = torch.softmax(torch.addmm(bias, x, x.t(), alpha=x.shape[1] ** (-0.5)), -1)
        return (weights.matmul(x), weights)
    """),
    "einsum, where, and a softmax by hand along the last dimension": """
        def mended_nearby_attention(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            n = x.size(0)
            i = torch.arange(n, device=x.device)
            distance = i.view(n, 1) - i.view(1, n)
            scores = torch.einsum("id,jd->ij", x, x) * x.size(-1) ** (-0.5) - 0.25 * distance
            scores = torch.where(distance >= 0, scores, -torch.inf)
            e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
            weights = e / e.sum(dim=-1, keepdim=True)
            return (torch.einsum("ij,jd->id", weights, x), weights)
    """,
    "a loop in which each word sees only the words up to itself": body("""
        n, d = x.shape
        rows = []
        for i in range(n):
            back = torch.arange(i, -1, -1, device=x.device, dtype=x.dtype)
            scores = x[: i + 1] @ x[i] / d**0.5 - back / 4
            rows.append(F.pad(F.softmax(scores, dim=0), (0, n - 1 - i)))
        weights = torch.stack(rows)
        return (weights @ x, weights)
    """),
}
