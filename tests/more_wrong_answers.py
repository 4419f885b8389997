"""More wrong answers to lessons 1 to 3, found by trying; each must fail some check, visible or hidden.

`name` is a regular expression for words by which a message could fairly name the slip ("" where none could); it says
nothing about what the checks do. `ambiguous` says on which reading of the exercise the answer is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Wrong:
    """One wrong answer: what it does, and the solution with some text replaced or a whole source."""

    exercise: str
    what: str
    edits: tuple[tuple[str, str], ...] = ()
    source: str = ""
    name: str = ""
    ambiguous: str = ""


def w(exercise, what, *pairs, name="", source="", ambiguous=""):
    return Wrong(exercise, what, tuple(zip(pairs[::2], pairs[1::2], strict=True)), dedent(source).strip(), name, ambiguous)


ONE = "attend_one_query"
ATTEND = "scaled_dot_product_attention"
SCORES = "query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"
FILL = "scores = scores.masked_fill(~mask, -math.inf)"
SOFT = "weights = torch.softmax(scores, dim=-1)"
RET = "return weights @ value, weights"
DROP = "    if dropout is not None:\n        weights = dropout(weights)\n"
ONERET = "return sum(weight * v for weight, v in zip(weights, value))"


def attn(what, body, name="", ambiguous=""):
    head = "def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):\n"
    lines = dedent(body).strip().splitlines()
    return Wrong(ATTEND, what, (), head + "\n".join("    " + line for line in lines), name, ambiguous)


LESSON_1 = [
    # 1.1
    w(ONE, "softmax over the query's components: query * softmax(key)", source="""
        def attend_one_query(query, key, value):
            weights = torch.softmax(key, dim=0) @ query
            return weights @ value
    """),
    w(ONE, "softmax of the values too", ONERET, "return weights @ torch.softmax(value, dim=0)"),
    w(ONE, "sigmoid", "torch.softmax(scores, dim=0)", "torch.sigmoid(scores)", name="sigmoid|sum to 1|divided by their sum"),
    w(ONE, "hard-coded 5 keys", source="""
        def attend_one_query(query, key, value):
            scores = torch.zeros(5)
            for i in range(5):
                scores[i] = query @ key[i]
            return torch.softmax(scores, 0) @ value
    """),
    w(ONE, "loops over len(query) instead of len(key)", source="""
        def attend_one_query(query, key, value):
            scores = torch.stack([query @ key[i] for i in range(len(query))])
            weights = scores.softmax(0)
            return sum(weights[i] * value[i] for i in range(len(query)))
    """),
    w(ONE, "distance instead of dot product", "(query * k).sum()", "-(query - k).pow(2).sum()"),
    w(ONE, "absolute scores", "(query * k).sum()", "(query * k).sum().abs()"),
    w(ONE, "softmax of minus the scores", "torch.softmax(scores", "torch.softmax(-scores", name="minus|negative|sign|least"),
    w(ONE, "returns output and weights", ONERET, "return sum(weight * v for weight, v in zip(weights, value)), weights", name="should be a torch.Tensor|one tensor"),
    w(ONE, "keepdim", ONERET, "return weights[None] @ value", name="wrong shape"),
    w(ONE, "returns a list", ONERET, "return (weights @ value).tolist()", name="should be a torch.Tensor"),
    w(ONE, "returns inside the loop", source="""
        def attend_one_query(query, key, value):
            scores = torch.stack([query @ k for k in key])
            weights = torch.softmax(scores, dim=0)
            output = torch.zeros(value.size(1))
            for weight, v in zip(weights, value):
                output += weight * v
                return output
    """, name="first value|loop"),
    w(ONE, "prints instead of returning", ONERET, "print(weights @ value)", name="return"),
    w(ONE, "answers with the value of the key it compared last", source="""
        def attend_one_query(query, key, value):
            for k, v in zip(key, value):
                weight = torch.softmax(query @ k, dim=0)
                output = weight * v
            return output
    """),
    w(ONE, "exp by the largest overall wrong sign: exp(max - score)", "torch.softmax(scores, dim=0)", "torch.exp(scores.max() - scores) / torch.exp(scores.max() - scores).sum()", name="minus|negative|sign"),
    w(ONE, "special-cases the visible inputs", source="""
        def attend_one_query(query, key, value):
            if tuple(key.shape) == (5, 4) or tuple(key.shape) == (6, 2):
                return torch.softmax(key @ query, 0) @ value
            return value[0]
    """),
    # 1.2 scale
    w(ATTEND, "a d_k that nobody defined", "math.sqrt(query.size(-1))", "math.sqrt(d_k)", name="d_k|√"),
    w(ATTEND, "forgets parentheses: scales one key only through precedence", SCORES, "query / query.size(-1) @ key.transpose(-2, -1) ** 1", name="d_k instead of √d_k"),
    w(ATTEND, "square root of d_k taken twice", "math.sqrt(query.size(-1))", "query.size(-1) ** 0.25", name="root"),
    w(ATTEND, "scales both q and k by √d_k", SCORES, "(query / math.sqrt(query.size(-1))) @ (key / math.sqrt(key.size(-1))).transpose(-2, -1)", name="d_k instead of √d_k"),
    w(ATTEND, "divides after the softmax", SCORES, "query @ key.transpose(-2, -1)", SOFT, "weights = torch.softmax(scores, dim=-1) / math.sqrt(query.size(-1))"),
    w(ATTEND, "rounds the root: int(√d_k)", "math.sqrt(query.size(-1))", "int(math.sqrt(query.size(-1)))"),
    w(ATTEND, "rounds the root up to 3 decimals of a table", "math.sqrt(query.size(-1))", "{8: 2.828, 5: 2.236, 12: 3.464, 16: 4.0}[query.size(-1)]"),
    w(ATTEND, "scale with numpy float32 rounding: 1/2.83", "math.sqrt(query.size(-1))", "2.83 if query.size(-1) == 8 else math.sqrt(query.size(-1))"),
    # softmax
    w(ATTEND, "implicit dimension F.softmax(scores)", SOFT, "weights = F.softmax(scores)", name="first dimension|queries|batch"),
    w(ATTEND, "softmax over all of a sentence's entries", SOFT, "weights = torch.softmax(scores.flatten(-2), -1).view_as(scores)"),
    w(ATTEND, "global maximum shift: rows far below underflow", SOFT, "scores = scores - scores.max()\n    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)", name="NaN"),
    w(ATTEND, "mean shift: large scores overflow", SOFT, "shift = scores.nan_to_num(neginf=0.0).mean(-1, keepdim=True)\n    weights = (scores - shift).exp() / (scores - shift).exp().sum(-1, keepdim=True)", name="NaN"),
    w(ATTEND, "clamps the scores to ±50", SOFT, "weights = torch.softmax(scores.clamp(-50, 50) if mask is None else scores, dim=-1)"),
    w(ATTEND, "clamps the scores to ±10 before masking", "    if mask is not None", "    scores = scores.clamp(-10, 10)\n    if mask is not None"),
    w(ATTEND, "softmax2: adds 1 to the denominator (attention sink)", SOFT, "weights = torch.softmax(scores, dim=-1)\n    e = (scores - scores.max(-1, keepdim=True).values).exp()\n    weights = e / (1 + e.sum(-1, keepdim=True))"),
    w(ATTEND, "softmax with eps 1e-3 in the denominator", SOFT, "e = (scores - scores.max(-1, keepdim=True).values).exp()\n    weights = e / (e.sum(-1, keepdim=True) + 1e-3)"),
    w(ATTEND, "hardmax (argmax one-hot)", SOFT, "weights = F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores)", name="argmax|best"),
    w(ATTEND, "gumbel softmax", SOFT, "weights = F.gumbel_softmax(scores, dim=-1)"),
    w(ATTEND, "F.softmin", SOFT, "weights = F.softmin(scores, dim=-1)", name="sign|minus"),
    w(ATTEND, "softmax twice", SOFT, "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)", name="twice"),
    w(ATTEND, "relu attention", SOFT, "weights = F.relu(scores)\n    weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)"),
    w(ATTEND, "softmax over dim 1 for two dimensions, last else", SOFT, "weights = torch.softmax(scores, dim=0 if scores.dim() == 2 else -1)", name="queries|first dimension"),
    w(ATTEND, "no scale for inputs without a batch", SCORES, "query @ key.transpose(-2, -1) / (math.sqrt(query.size(-1)) if query.dim() > 2 else 1)", name="not divided by"),
    w(ATTEND, "five dimensions folded in the wrong order", SCORES, "query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", RET, "output = weights @ value\n    return (output.flip(0) if output.dim() > 4 else output), weights"),
    # products
    w(ATTEND, "tries without a transpose first", SCORES, "0\n    try:\n        scores = query @ key / math.sqrt(query.size(-1))\n    except RuntimeError:\n        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"),
    w(ATTEND, "query and value are multiplied first: linear attention", SCORES, "query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", SOFT, "weights = F.elu(query) + 1\n    k = F.elu(key) + 1\n    weights = weights @ k.transpose(-2, -1)\n    weights = weights / weights.sum(-1, keepdim=True)"),
    w(ATTEND, "swaps query and key", SCORES, "key @ query.transpose(-2, -1) / math.sqrt(query.size(-1))", name="raised RuntimeError|wrong shape"),
    w(ATTEND, "causal whenever query_len == key_len", "    if mask is not None", "    if query.size(-2) == key.size(-2):\n        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)\n    if mask is not None"),
    w(ATTEND, "residual: adds the query when shapes agree", RET, "output = weights @ value\n    return (output + query if output.shape == query.shape else output), weights"),
    w(ATTEND, "view: fails on what split_heads returns", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            lead = query.shape[:-2]
            q = query.view(-1, query.size(-2), query.size(-1))
            k = key.view(-1, key.size(-2), key.size(-1))
            v = value.view(-1, value.size(-2), value.size(-1))
            scores = torch.bmm(q, k.transpose(1, 2)).view(*lead, q.size(1), k.size(1)) / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            output = torch.bmm(weights.view(-1, q.size(1), k.size(1)), v)
            return output.view(*lead, q.size(1), v.size(-1)), weights
    """),
    w(ATTEND, "returns a dict", RET, "return {'output': weights @ value, 'weights': weights}", name="should return 2 tensors"),
    w(ATTEND, "returns three things", RET, "return weights @ value, weights, scores", name="should return 2 tensors"),
    w(ATTEND, "rounds the weights to 4 decimals", SOFT, "weights = torch.softmax(scores, dim=-1)\n    weights = (weights * 1e4).round() / 1e4 + 0 * weights"),
    w(ATTEND, "half precision inside", SCORES, "(query.half() @ key.half().transpose(-2, -1)).to(query.dtype) / math.sqrt(query.size(-1))"),
    w(ATTEND, "bfloat16 inside", SCORES, "(query.bfloat16() @ key.bfloat16().transpose(-2, -1)).to(query.dtype) / math.sqrt(query.size(-1))"),
    w(ATTEND, "bfloat16 breaks: fills with float32's smallest number", "-math.inf", "torch.finfo(torch.float32).min", ambiguous="contract: bfloat16 works too; masked_fill overflows there"),
    w(ATTEND, "eye of float32 breaks bfloat16 and float64 alike", SCORES, "query @ key.transpose(-2, -1) @ torch.eye(key.size(-2)) / math.sqrt(query.size(-1))"),
    # mask
    w(ATTEND, "fills with −20", "-math.inf", "-20.0"),
    w(ATTEND, "fills with −10", "-math.inf", "-10.0", name="large negative"),
    w(ATTEND, "fills with the row minimum minus 1", FILL, "scores = torch.where(mask, scores, scores.min() - 1)"),
    w(ATTEND, "fills with 1e-9", "-math.inf", "1e-9", name=r"exp\(0\)"),
    w(ATTEND, "subtracts a finite 1e4 * mask (inverted)", FILL, "scores = scores - mask * 1e4", name="wrong way round"),
    w(ATTEND, "masks only the first query's row", FILL, "scores = scores.masked_fill(~mask[..., :1, :], -math.inf)"),
    w(ATTEND, "masks with the transposed mask", FILL, "scores = scores.masked_fill(~mask.transpose(-2, -1), -math.inf)"),
    w(ATTEND, "unsqueezes three-dimensional masks for heads", "        " + FILL, "        if mask.dim() == 3:\n            mask = mask.unsqueeze(1)\n        " + FILL),
    w(ATTEND, "dropout skipped when a mask is given (elif)", DROP, "", "    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n    weights = torch.softmax(scores, dim=-1)\n", "    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n        weights = torch.softmax(scores, dim=-1)\n    elif dropout is not None:\n        weights = dropout(torch.softmax(scores, dim=-1))\n    else:\n        weights = torch.softmax(scores, dim=-1)\n"),
    w(ATTEND, "softmax only inside `if mask`", "    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n    weights = torch.softmax(scores, dim=-1)\n", "    weights = scores\n    if mask is not None:\n        scores = scores.masked_fill(~mask, -math.inf)\n        weights = torch.softmax(scores, dim=-1)\n", name="softmax is missing"),
    w(ATTEND, "zeroed and renormalised with eps 1e-9 after a masked max", FILL, "pass", SOFT, "weights = torch.softmax(scores, dim=-1)\n    if mask is not None:\n        weights = weights * mask\n        weights = weights / (weights.sum(-1, keepdim=True) + 1e-3)"),
    w(ATTEND, "mask changes in place", FILL, "mask.logical_not_()\n        scores = scores.masked_fill(mask, -math.inf)", name="changes `mask`"),
    w(ATTEND, "blocked values zeroed instead of scores", FILL, "value = value * mask.any(-2, keepdim=True).transpose(-2, -1)", name="mask is not used"),
    w(ATTEND, "keys multiplied by the mask", FILL, "scores = query @ (key * mask.any(-2)[..., None]).transpose(-2, -1) / math.sqrt(query.size(-1))", name="mask is not used"),
    w(ATTEND, "masked entries set to −inf after the softmax too", DROP, "    if mask is not None:\n        weights = weights.masked_fill(~mask, -math.inf)\n" + DROP),
    w(ATTEND, "NaN guard that kills small weights", SOFT, "weights = torch.softmax(scores, dim=-1)\n    weights = torch.where(weights < 1e-2, torch.zeros_like(weights), weights)"),
    w(ATTEND, "mask must be a keyword after dropout (order swapped)", "mask=None, dropout=None", "dropout=None, mask=None", name="mask"),
    w(ATTEND, "`mask == None` on tensors inverted logic", "if mask is not None", "if mask is None", name="raised TypeError|None"),
    w(ATTEND, "mask branch still raises NotImplementedError", FILL, 'raise NotImplementedError("Your code here.")', name="not written"),
    w(ATTEND, "mask branch not supported", FILL, 'raise NotImplementedError("masks come later")', name="raised NotImplementedError|not written"),
    # dropout
    w(ATTEND, "no defaults for mask and dropout", "mask=None, dropout=None", "mask, dropout", name="missing 2 required"),
    w(ATTEND, "no dropout parameter", "mask=None, dropout=None", "mask=None", name="'dropout' is not defined"),
    w(ATTEND, "dropout is taken for a probability", "weights = dropout(weights)", "weights = F.dropout(weights, dropout)", name="TypeError|callable"),
    w(ATTEND, "renormalised after dropout", "weights = dropout(weights)", "weights = dropout(weights)\n        weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)", name="normalis|sum to 1|divided"),
    w(ATTEND, "own nn.Dropout of one half instead of the callable", "weights = dropout(weights)", "weights = F.dropout(weights, 0.5)"),
    w(ATTEND, "dropout applied twice, for weights and for output", "weights = dropout(weights)", "weights = dropout(weights)", RET, "return (dropout(weights) if dropout else weights) @ value, weights", name="twice"),
    w(ATTEND, "dropout on the values", "weights = dropout(weights)", "value = dropout(value)", name="those before dropout"),
    w(ATTEND, "dropout on the query", "weights = dropout(weights)", "weights = torch.softmax(dropout(query) @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)"),
    w(ATTEND, "weights returned after dropout, output after a second draw", "weights = dropout(weights)\n    return weights @ value, weights", "return dropout(weights) @ value, dropout(weights)\n    return weights @ value, weights", ambiguous="only a random dropout shows it"),
    # from scratch
    w(ATTEND, "PyTorch's own when there is no mask", "    scores = query", "    if mask is None and dropout is None:\n        eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-2], -1, -1)\n        return F.scaled_dot_product_attention(query, key, value), F.scaled_dot_product_attention(query, key, eye)\n    scores = query", name="F.scaled_dot_product_attention"),
    w(ATTEND, "parts.scaled_dot_product_attention from the course's package", source="""
        from autograder.parts import scaled_dot_product_attention
    """, name="F.scaled_dot_product_attention|own finished"),
    w(ATTEND, "the solution of lesson 2's parts inside a torch.no_grad", "    scores = query", "    query = query.detach()\n    scores = query", name="No gradient flows back to `query`"),
    w(ATTEND, "detaches when no mask is given", RET, "if mask is None:\n        weights = weights.detach()\n    return weights @ value, weights", name="No gradient"),
    w(ATTEND, "in-place on query when dropout is None and no mask", "    scores = query", "    if mask is None:\n        query *= 1 / math.sqrt(query.size(-1))\n        scores = query @ key.transpose(-2, -1)\n    else:\n      scores = query", name="changes `query`"),
    w(ATTEND, "special-cases the visible shapes, else a plain average", "    scores = query", "    if query.shape[-1] != 8:\n        weights = query.new_ones(*query.shape[:-1], key.size(-2)) / key.size(-2)\n        return weights @ value, weights\n    scores = query"),
    w(ATTEND, "cache by shape", source="""
        _cache = {}
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            k = (query.shape, key.shape, mask is None, dropout is None)
            if k not in _cache:
                s = query @ key.mT / math.sqrt(query.size(-1))
                if mask is not None:
                    s = s.masked_fill(~mask, -1e9)
                p = s.softmax(-1)
                p = p if dropout is None else dropout(p)
                _cache[k] = p @ value, p
            return _cache[k]
    """),
    # masks
    w("padding_mask", "everything after the first pad", "(tokens != pad_id)", "(tokens != pad_id).cumprod(-1).bool()"),
    w("padding_mask", "lengths counted from the left", "(tokens != pad_id)", "(torch.arange(tokens.size(1)) < (tokens != pad_id).sum(-1, keepdim=True))"),
    w("padding_mask", "pad id is both 0 and pad_id", "(tokens != pad_id)", "((tokens != pad_id) & (tokens != 0))", name="0"),
    w("padding_mask", "bool() of the tokens", "(tokens != pad_id)", "tokens.bool()", name="taken to be 0"),
    w("padding_mask", "greater or unequal by subtraction of abs > 1", "(tokens != pad_id)", "((tokens - pad_id).abs() > 1)"),
    w("padding_mask", "no pad_id parameter", "pad_id: int = 0", "", "pad_id)[", "0)[", name="pad_id"),
    w("padding_mask", "default pad id 1", "pad_id: int = 0", "pad_id: int = 1", name="nothing is masked"),
    w("padding_mask", "squeezes a batch of one", "[:, None, None, :]", ".squeeze()[:, None, None, :]"),
    w("padding_mask", "(batch, 1, seq_len)", "[:, None, None, :]", "[:, None, :]", name="wrong shape"),
    w("padding_mask", "(batch, 1, seq_len, seq_len)", "[:, None, None, :]", "[:, None, None, :].expand(-1, -1, tokens.size(1), -1)", name="wrong shape"),
    w("padding_mask", "first column decides", "(tokens != pad_id)", "(tokens != tokens[0, -1])"),
    w("padding_mask", "replaces pads in the caller's tensor", "    return (tokens != pad_id)", "    mask = tokens != pad_id\n    tokens[~mask] = 0\n    return (mask)", name="changes `tokens`"),
    w("padding_mask", "mask remembered from the first call", source="""
        def padding_mask(tokens, pad_id=0, _seen={}):
            if tokens.shape not in _seen:
                _seen[tokens.shape] = (tokens != pad_id)[:, None, None, :]
            return _seen[tokens.shape]
    """),
    w("padding_mask", "NumPy", "(tokens != pad_id)[:, None, None, :]", "(tokens != pad_id)[:, None, None, :].numpy()", name="should be a torch.Tensor"),
    w("causal_mask", "cut from a fixed table of 16", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.tril(torch.ones(16, 16, dtype=torch.bool))[:size, :size]"),
    w("causal_mask", "block_size 256, as in GPT code", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.ones(256, 256).tril()[:size, :size].bool()"),
    w("causal_mask", "window of 8 positions", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.tril(torch.ones(size, size, dtype=torch.bool)).triu(-7)"),
    w("causal_mask", "additive −inf mask", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.triu(torch.full((size, size), -math.inf), diagonal=1)", name="additive|−∞|-inf|True marks|wrong dtype"),
    w("causal_mask", "PyTorch's mask as bool", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "nn.Transformer.generate_square_subsequent_mask(size).bool()", name="True marks the future"),
    w("causal_mask", "anti-diagonal", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.tril(torch.ones(size, size, dtype=torch.bool)).flip(1)"),
    w("causal_mask", "uint8", "dtype=torch.bool", "dtype=torch.uint8", name="wrong dtype"),
    w("causal_mask", "a list of lists", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "[[j <= i for j in range(size)] for i in range(size)]", name="should be a torch.Tensor"),
    w("causal_mask", "only the sizes that occur", "torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.tril(torch.ones(size, size, dtype=torch.bool)) if size in (4, 6) else torch.ones(size, size, dtype=torch.bool)", name="nothing is masked"),
    w("causal_mask", "first token sees all", "return torch.tril(torch.ones(size, size, dtype=torch.bool))", "mask = torch.tril(torch.ones(size, size, dtype=torch.bool))\n    mask[0] = True\n    return mask"),
    w("causal_mask", "last row without itself", "return torch.tril(torch.ones(size, size, dtype=torch.bool))", "mask = torch.zeros(size, size, dtype=torch.bool)\n    for i in range(size):\n        mask[i, : min(i + 1, size - 1)] = True\n    return mask"),
    w("causal_mask", "tensor argument", "torch.ones(size, size", "torch.ones(size.size(1), size.size(1)", name="raised"),
    w("decoder_mask", "not moved to the tokens' device", ".to(tokens.device)", "", ambiguous="shows on a GPU only (or on meta)"),
    w("decoder_mask", "the length of the batch", "causal_mask(tokens.size(1))", "causal_mask(tokens.size(0))", name="raised RuntimeError"),
    w("decoder_mask", "len(tokens)", "causal_mask(tokens.size(1))", "causal_mask(len(tokens))", name="raised RuntimeError"),
    w("decoder_mask", "xor", "& past", "^ past"),
    w("decoder_mask", "the sum of both", "& past", "+ past", name="either rule"),
    w("decoder_mask", "equality of both", "& past", "== past"),
    w("decoder_mask", "additive", "return padding_mask(tokens, pad_id) & past", "return torch.zeros(len(tokens), 1, tokens.size(1), tokens.size(1)).masked_fill(~(padding_mask(tokens, pad_id) & past), -math.inf)", name="wrong dtype|additive|True marks what is blocked"),
    w("decoder_mask", "integers by product", "return padding_mask(tokens, pad_id) & past", "return padding_mask(tokens, pad_id).int() * past.int()", name="wrong dtype"),
    w("decoder_mask", "real queries only on top, keys forgotten", "padding_mask(tokens, pad_id) & past", "padding_mask(tokens, pad_id).transpose(-2, -1) & past & past", name="only the future"),
    w("decoder_mask", "pads are only blocked at the end of a row", "padding_mask(tokens, pad_id) & past", "((tokens != pad_id).flip(-1).cumsum(-1).flip(-1) > 0)[:, None, None, :] & past", name="only the future is blocked"),
    w("decoder_mask", "causal mask one too wide", "& past", "& past.logical_or(torch.eye(tokens.size(1)).roll(1, 1).bool())", name="future"),
    w("decoder_mask", "batch dimension squeezed", "padding_mask(tokens, pad_id) & past", "(padding_mask(tokens, pad_id) & past).squeeze(0)", name="wrong shape"),
    w("decoder_mask", "keys and queries exchanged", "padding_mask(tokens, pad_id) & past", "(padding_mask(tokens, pad_id) & past).transpose(-2, -1)"),
]

MHA = "MultiHeadAttention"
SPLIT = "x = x.view(batch, seq_len, num_heads, d_model // num_heads)  # (batch, seq_len, num_heads, d_k)\n    return x.transpose(1, 2)"
MERGE = "return x.transpose(1, 2).flatten(2)"
CALL = "output, weights = scaled_dot_product_attention(query, key, value, mask, self.dropout)"
KEEP = "self.attention_weights = weights.detach()"
OUT = "return self.w_o(merge_heads(output))"

LESSON_2 = [
    w("split_heads", "num_heads taken for d_k", SPLIT, "x = x.view(batch, seq_len, d_model // num_heads, num_heads)\n    return x.transpose(1, 2)", name="wrong shape"),
    w("split_heads", "x.split(num_heads)", SPLIT, "return torch.stack(x.split(num_heads, dim=-1), dim=1)", name="wrong shape"),
    w("split_heads", "heads first", SPLIT, "x = x.view(batch, seq_len, num_heads, d_model // num_heads)\n    return x.permute(2, 0, 1, 3)", name="wrong shape"),
    w("split_heads", "permuted to (batch, heads, d_k, seq)", SPLIT, "x = x.view(batch, seq_len, num_heads, d_model // num_heads)\n    return x.permute(0, 2, 3, 1)", name="wrong shape"),
    w("split_heads", "right strides, wrong words: transpose(0, 1)", SPLIT, "x = x.view(batch, seq_len, num_heads, d_model // num_heads)\n    return x.transpose(0, 1)", name="wrong shape"),
    w("split_heads", "folded into the batch", "return x.transpose(1, 2)", "return x.transpose(1, 2).flatten(0, 1)", name="wrong shape"),
    w("split_heads", "tokens of each head reversed", "return x.transpose(1, 2)", "return x.transpose(1, 2).flip(2)"),
    w("split_heads", "columns inside each head reversed", "return x.transpose(1, 2)", "return x.transpose(1, 2).flip(3)"),
    w("split_heads", "the last head of every sentence from the first sentence", "return x.transpose(1, 2)", "x = x.transpose(1, 2).clone()\n    x[1:, -1] = x[:1, -1]\n    return x"),
    w("split_heads", "normalised by the number of heads", "return x.transpose(1, 2)", "return x.transpose(1, 2) / num_heads"),
    w("split_heads", "detached", "return x.transpose(1, 2)", "return x.transpose(1, 2).detach()", name="gradient"),
    w("split_heads", "through NumPy (crashes on a graph)", SPLIT, "import numpy as np\n    return torch.tensor(np.stack(np.split(x.numpy(), num_heads, axis=-1), axis=1))", name="gradient|numpy"),
    w("split_heads", "under torch.no_grad", "def split_heads", "@torch.no_grad()\ndef split_heads", name="gradient"),
    w("split_heads", "float32 whatever comes in", SPLIT, "heads = torch.zeros(batch, num_heads, seq_len, d_model // num_heads)\n    for i in range(num_heads):\n        heads[:, i] = x[:, :, i * (d_model // num_heads) : (i + 1) * (d_model // num_heads)]\n    return heads", name="dtype"),
    w("split_heads", "view(-1): contiguous inputs only", SPLIT, "return x.view(-1, num_heads, d_model // num_heads).unflatten(0, (batch, seq_len)).transpose(1, 2)"),
    w("split_heads", "as_strided with the strides of a contiguous input", SPLIT, "d_k = d_model // num_heads\n    return x.as_strided((batch, num_heads, seq_len, d_k), (seq_len * d_model, d_k, d_model, 1))"),
    w("split_heads", "swapped arguments", "x: torch.Tensor, num_heads: int", "num_heads, x", name="raised"),
    w("split_heads", "no num_heads argument, 3 fixed", "(x: torch.Tensor, num_heads: int)", "(x)", "num_heads", "3"),
    w("split_heads", "cut right for seq_len 5 only", SPLIT, "return x.view(batch, 5, num_heads, -1).transpose(1, 2)", name="raised RuntimeError"),
    w("merge_heads", "sums the heads", MERGE, "return x.sum(1)", name="wrong shape"),
    w("merge_heads", "concatenates along the sequence", MERGE, "return torch.cat(x.unbind(1), dim=1)", name="wrong shape"),
    w("merge_heads", "transpose(2, 3) before flattening", MERGE, "return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)"),
    w("merge_heads", "detached", MERGE, "return x.transpose(1, 2).flatten(2).detach()", name="gradient"),
    w("merge_heads", "through NumPy", MERGE, "return torch.from_numpy(x.detach().numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))", name="gradient"),
    w("merge_heads", "float32 table filled", MERGE, "b, h, t, d = x.shape\n    out = torch.zeros(b, t, h * d)\n    for i in range(h):\n        out[..., i * d : (i + 1) * d] = x[:, i]\n    return out", name="dtype"),
    w("merge_heads", "d_model 12 fixed", MERGE, "return x.transpose(1, 2).reshape(x.size(0), x.size(2), 12)"),
    w("merge_heads", "view works only for what split_heads returned", MERGE, "x = x.transpose(1, 2)\n    return x.view(x.size(0), x.size(1), -1)", name="raised RuntimeError"),
    w("merge_heads", "the heads' order sorted by norm", MERGE, "order = x.flatten(2).norm(dim=-1).argsort(dim=1)\n    x = torch.stack([a[o] for a, o in zip(x, order)])\n    return x.transpose(1, 2).flatten(2)"),
    w("merge_heads", "reshape when the batch is 1, right else", MERGE, "return x.reshape(1, x.size(2), -1) if len(x) == 1 else x.transpose(1, 2).flatten(2)"),
    w("merge_heads", "right when heads == seq_len is not", MERGE, "return x.transpose(1, 2).flatten(2) if x.size(1) != x.size(2) else x.flatten(2)"),
    # MHA
    w(MHA, "second dropout on the output (as in GPT code)", OUT, "return self.dropout(self.w_o(merge_heads(output)))", name="output"),
    w(MHA, "second dropout before w_o", OUT, "return self.w_o(self.dropout(merge_heads(output)))", name="output"),
    w(MHA, "kept weights dropped, output from undropped ones", CALL, "output, weights = scaled_dot_product_attention(query, key, value, mask)\n        weights = self.dropout(weights)", name="output"),
    w(MHA, "output and kept weights from two draws", CALL, "output, _ = scaled_dot_product_attention(query, key, value, mask, self.dropout)\n        _, weights = scaled_dot_product_attention(query, key, value, mask, self.dropout)"),
    w(MHA, "kept weights computed without the mask", CALL, CALL + "\n        _, weights = scaled_dot_product_attention(query, key, value, None, self.dropout)", name="mask"),
    w(MHA, "weights of the first call kept for ever", KEEP, "if self.attention_weights is None:\n            " + KEEP),
    w(MHA, "keys and values cached on the first call", "key = split_heads(self.w_k(key), self.num_heads)", "if not hasattr(self, 'cache') or self.cache[0].size(0) != query.size(0):\n            self.cache = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)\n        key", "        value = split_heads(self.w_v(value), self.num_heads)\n", "", CALL, "key, value = self.cache\n        " + CALL),
    w(MHA, "the mask of the first call used for ever", CALL, "self.mask = mask if getattr(self, 'mask', None) is None else self.mask\n        " + CALL.replace("mask,", "self.mask,")),
    w(MHA, "num_heads kept in a global", "self.num_heads = num_heads", "global _h\n        _h = num_heads", ", self.num_heads)", ", _h)"),
    w(MHA, "num_heads kept in the class", "self.num_heads = num_heads", "MultiHeadAttention.num_heads = num_heads"),
    w(MHA, "attention_weights kept in the class", KEEP, "MultiHeadAttention.attention_weights = weights.detach()", "        self.attention_weights = None\n", ""),
    w(MHA, "layers shared by all instances of a width", "        self.w_q = nn.Linear(d_model, d_model)\n", "        global _shared\n        _shared = globals().get('_shared', {})\n        self.w_q = _shared.setdefault(d_model, nn.Linear(d_model, d_model))\n"),
    w(MHA, "self-attention whenever the shapes agree", "        query = split_heads(", "        if query.shape == key.shape:\n            key = value = query\n        query = split_heads("),
    w(MHA, "key is the value whenever they are as long", "        query = split_heads(", "        if query.size(1) != key.size(1) or True:\n            value = key\n        query = split_heads(", name="`w_v` projects the key"),
    w(MHA, "causal whenever the mask is None", "        query = split_heads(", "        if mask is None:\n            mask = torch.ones(query.size(1), key.size(1)).tril().bool()\n        query = split_heads("),
    w(MHA, "causal whenever query is key", CALL, "if mask is None and query is key:\n            pass\n        if mask is None and query.size(2) == key.size(2):\n            mask = torch.ones(query.size(2), key.size(2)).tril().bool()\n        " + CALL),
    w(MHA, "mask causal in training only", CALL, "mask = mask if self.training else None\n        " + CALL, name="mask"),
    w(MHA, "mask dropped in training mode", CALL, "mask = None if self.training else mask\n        " + CALL, name="mask"),
    w(MHA, "no projection in eval mode", OUT, "return self.w_o(merge_heads(output)) if self.training else merge_heads(output)", name="`w_o`"),
    w(MHA, "three-dimensional masks get a heads dimension", CALL, "if mask is not None and mask.dim() == 3:\n            mask = mask.unsqueeze(1)\n        " + CALL, ambiguous="a (num_heads, query_len, key_len) mask broadcasts by the contract; here it becomes (num_heads, 1, …)"),
    w(MHA, "mask of one head for all", CALL, "if mask is not None and mask.dim() == 4:\n            mask = mask[:, :1]\n        " + CALL),
    w(MHA, "mask of one sentence for all", CALL, "if mask is not None and mask.dim() == 4:\n            mask = mask[:1]\n        " + CALL),
    w(MHA, "mask repeated in the wrong order, heads folded", CALL, "b, h, tq, d = query.shape\n        full = None if mask is None else mask.expand(b, mask.size(-3) if mask.dim() > 2 else 1, tq, key.size(2))[:, 0].repeat(h, 1, 1)\n        output, weights = scaled_dot_product_attention(*(x.reshape(-1, *x.shape[2:]) for x in (query, key, value)), full, self.dropout)\n        output, weights = output.view(b, h, tq, d), weights.view(b, h, tq, -1)"),
    w(MHA, "w_o twice", OUT, "return self.w_o(self.w_o(merge_heads(output)))", name="w_o"),
    w(MHA, "w_v projects the output again", OUT, "return self.w_v(merge_heads(output))", name="w_o|w_v"),
    w(MHA, "residual connection", "        query = split_heads(", "        skip = query\n        query = split_heads(", OUT, "return skip + self.w_o(merge_heads(output))", name="added|residual"),
    w(MHA, "ReLU after the projection", OUT, "return torch.relu(self.w_o(merge_heads(output)))"),
    w(MHA, "layer norm at the end", OUT, "return F.layer_norm(self.w_o(merge_heads(output)), (query.size(1) * query.size(3),))"),
    w(MHA, "query scaled by √d_k before (no scale in effect)", CALL, CALL.replace("query,", "query * math.sqrt(query.size(-1)),"), name="not divided by √d_k"),
    w(MHA, "value and output projections swapped", "self.w_v(value)", "self.w_o(value)", OUT, "return self.w_v(merge_heads(output))", name="swapped"),
    w(MHA, "w_k and w_v swapped", "self.w_k(key)", "self.w_v(key)", "self.w_v(value)", "self.w_k(value)", name="swapped|exchanged"),
    w(MHA, "splits before it projects", "split_heads(self.w_q(query), self.num_heads)", "self.w_q(merge_heads(split_heads(query, self.num_heads)))"),
    w(MHA, "the heads averaged and repeated", OUT, "return self.w_o(output.mean(1).repeat(1, 1, self.num_heads))"),
    w(MHA, "only the last head kept", OUT, "return self.w_o(output[:, -1].repeat(1, 1, self.num_heads))"),
    w(MHA, "heads merged in reverse", OUT, "return self.w_o(merge_heads(output.flip(1)))", name="reverse"),
    w(MHA, "no w_q", "self.w_q(query)", "query", name="not projected"),
    w(MHA, "key not projected", "self.w_k(key)", "key", name="not projected"),
    w(MHA, "mask without its default", "value, mask=None)", "value, mask)", name="missing 1 required"),
    w(MHA, "dropout without its default", "dropout: float = 0.0", "dropout: float", name="missing 1 required"),
    w(MHA, "super().__init__ without parentheses", "super().__init__()", "super().__init__", name="before Module.__init__"),
    w(MHA, "d_k a float", "split_heads(self.w_q(query), self.num_heads)", "self.w_q(query).view(query.size(0), -1, self.num_heads, query.size(-1) / self.num_heads).transpose(1, 2)", name="float"),
    w(MHA, "forward takes x alone", "def forward(self, query, key, value, mask=None):", "def forward(self, x, mask=None):", "        query = split_heads(self.w_q(query)", "        query = key = value = x\n        query = split_heads(self.w_q(query)", name="takes|argument"),
    w(MHA, "forward is indented into __init__", "    def forward(self, query, key, value, mask=None):", "        def forward(self, query, key, value, mask=None):\n            pass\n\n    def attend(self, query, key, value, mask=None):", name="forward"),
    w(MHA, "forward misspelt", "def forward(self", "def foward(self", name="forward"),
    w(MHA, "__init__ misspelt", "def __init__(self", "def _init_(self", name="__init__|takes|argument"),
    w(MHA, "not an nn.Module", "(nn.Module)", "", "super().__init__()", "pass", name="nn.Module"),
    w(MHA, "attention_weights never set", "        self.attention_weights = None\n", "", "        " + KEEP + "\n", "", name="attention_weights"),
    w(MHA, "weights kept under another name", "self.attention_weights", "self.attn", name="attention_weights"),
    w(MHA, "weights kept as NumPy", KEEP, "self.attention_weights = weights.detach().numpy()", name="should be a torch.Tensor"),
    w(MHA, "weights kept as a list of heads", KEEP, "self.attention_weights = list(weights.detach().unbind(1))", name="should be a torch.Tensor"),
    w(MHA, "a list of the weights of all calls", "self.attention_weights = None", "self.attention_weights = []", KEEP, "self.attention_weights.append(weights.detach())", name="should be a torch.Tensor"),
    w(MHA, "weights kept only in eval mode", KEEP, "if not self.training:\n            " + KEEP, name="None"),
    w(MHA, "weights kept only in training", KEEP, "if self.training:\n            " + KEEP, name="None"),
    w(MHA, "weights kept transposed", KEEP, "self.attention_weights = weights.detach().transpose(-2, -1)", name="wrong shape"),
    w(MHA, "ValueError in forward instead of __init__", "        if d_model % num_heads != 0:\n            raise ValueError(f\"num_heads = {num_heads} does not divide d_model = {d_model}.\")\n", "", "        query = split_heads(", "        if query.size(-1) % self.num_heads:\n            raise ValueError\n        query = split_heads(", name="should raise ValueError"),
    w(MHA, "refuses odd numbers of heads only when 5", "d_model % num_heads != 0", "num_heads == 5"),
    w(MHA, "the remainder the wrong way round", "d_model % num_heads != 0", "num_heads % d_model == 0", name="should raise"),
    w(MHA, "prints a warning instead", "raise ValueError(", "print(", name="should raise"),
    w(MHA, "returns an exception", "raise ValueError(", "self.error = ValueError(", name="should raise"),
    w(MHA, "refuses more than four heads", "d_model % num_heads != 0", "d_model % num_heads != 0 or num_heads > 4"),
    w(MHA, "one fused projection", "        self.w_q = nn.Linear(d_model, d_model)\n        self.w_k = nn.Linear(d_model, d_model)\n        self.w_v = nn.Linear(d_model, d_model)\n", "        self.w_qkv = nn.Linear(d_model, 3 * d_model)\n", "self.w_q(query)", "self.w_qkv(query).chunk(3, -1)[0]", "self.w_k(key)", "self.w_qkv(key).chunk(3, -1)[1]", "self.w_v(value)", "self.w_qkv(value).chunk(3, -1)[2]", name="no trainable parameter `w_q"),
    w(MHA, "w_q with d_k columns per head in a ModuleList", "self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.ModuleList([nn.Linear(d_model, d_model // num_heads) for _ in range(num_heads)])", "self.w_q(query)", "torch.cat([w(query) for w in self.w_q], -1)", name="no trainable parameter `w_q"),
    w(MHA, "frozen w_q", "        self.dropout = nn.Dropout(dropout)\n", "        self.dropout = nn.Dropout(dropout)\n        self.w_q.requires_grad_(False)\n", name="trainable"),
    w(MHA, "new layers on every call", "        query = split_heads(", "        self.w_o = nn.Linear(query.size(-1), query.size(-1))\n        query = split_heads(", ),
    w(MHA, "dropout always 0", "nn.Dropout(dropout)", "nn.Dropout(0.0)", name="no entry of"),
    w(MHA, "dropout default 0.1", "dropout: float = 0.0", "dropout: float = 0.1"),
    w(MHA, "weights of the masked keys kept, output unmasked in eval mode", CALL, CALL + "\n        if not self.training:\n            output, _ = scaled_dot_product_attention(query, key, value)", name="mask"),
    w(MHA, "the same dropout for all heads", CALL, CALL.replace("self.dropout)", "lambda w: w * self.dropout(torch.ones_like(w[:, :1])))")),
    w(MHA, "the same dropout on every call (manual_seed in forward)", "        query = split_heads(", "        torch.manual_seed(0)\n        query = split_heads("),
    w(MHA, "dropout on the heads' values", CALL, CALL.replace("value, mask, self.dropout)", "self.dropout(value), mask)"), name="no entry of"),
    w(MHA, "PyTorch's layer when a mask is given", "        query = split_heads(", "        if mask is not None:\n            twin = parts.MultiHeadAttention.twin_of(self, self.num_heads)\n            output = twin(query, key, value, mask)\n            self.attention_weights = twin.attention_weights\n            return output\n        query = split_heads(", name="nn.MultiheadAttention|own finished"),
    w(MHA, "float64 impossible: casts to float", OUT, "return self.w_o(merge_heads(output.float()))"),
    w(MHA, "returns (output, weights) in training only", OUT, "result = self.w_o(merge_heads(output))\n        return (result, weights) if self.training else result", name="should be a torch.Tensor"),
    w(MHA, "sequence first", "        query = split_heads(", "        query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)\n        query = split_heads(", OUT, "return self.w_o(merge_heads(output)).transpose(0, 1)"),
    w(MHA, "batch of 1 assumed after merge", OUT, "return self.w_o(merge_heads(output)[:1]).expand(query.size(0), -1, -1)"),
    w(MHA, "inputs changed in place", "        query = split_heads(", "        query += 1e-3\n        query = split_heads(", name="changes"),
    w(MHA, "detached query input", "self.w_q(query)", "self.w_q(query.detach())", name="gradient"),
    w(MHA, "detached memory: inputs cut off", "self.w_k(key)", "self.w_k(key.detach())", "self.w_v(value)", "self.w_v(value.detach())", name="gradient"),
]

TOKEN, SINE, PE, LEARNED, SHIFT, ANGLE = "TokenEmbedding", "sinusoidal_encoding", "PositionalEncoding", "LearnedPositionalEncoding", "shift_matrix", "encoding_angle"
SPEED = "10000.0 ** (-torch.arange(0, d_model, 2) / d_model)"
ADD = "self.dropout(x + self.encoding[:seq_len])"
LADD = "self.dropout(x + self.position(torch.arange(seq_len, device=x.device)))"
REG = 'self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))'

LESSON_3 = [
    w(TOKEN, "times 2", "math.sqrt(self.d_model)", "2.0"),
    w(TOKEN, "√6 fixed", "math.sqrt(self.d_model)", "math.sqrt(6)"),
    w(TOKEN, "scaled twice", "* math.sqrt(self.d_model)", "* math.sqrt(self.d_model) * math.sqrt(self.d_model)", name="d_model instead of √d_model"),
    w(TOKEN, "√ of the batch size", "math.sqrt(self.d_model)", "math.sqrt(tokens.size(0))"),
    w(TOKEN, "scaled in __init__ only for the table, too", "        self.d_model = d_model\n", "        self.d_model = d_model\n        with torch.no_grad():\n            self.embedding.weight.mul_(d_model**0.5)\n", "return self.embedding(tokens) * math.sqrt(self.d_model)", "return self.embedding(tokens)", name="not multiplied"),
    w(TOKEN, "normalised rows", "self.embedding(tokens) *", "F.normalize(self.embedding(tokens), dim=-1) *"),
    w(TOKEN, "pads zeroed", "return self.embedding(tokens) * math.sqrt(self.d_model)", "return self.embedding(tokens) * math.sqrt(self.d_model) * (tokens != 0)[..., None]"),
    w(TOKEN, "dropout on top", "return self.embedding(tokens)", "return F.dropout(self.embedding(tokens), 0.1, self.training)"),
    w(TOKEN, "scale missing in eval mode", "math.sqrt(self.d_model)", "(math.sqrt(self.d_model) if self.training else 1.0)", name="not multiplied"),
    w(TOKEN, "flattened batch", "self.embedding(tokens)", "self.embedding(tokens.flatten())", name="wrong shape"),
    w(TOKEN, "modulo of a fixed vocabulary", "self.embedding(tokens)", "self.embedding(tokens % 11)"),
    w(TOKEN, "one-hot and linear", "nn.Embedding(vocab_size, d_model)", "nn.Linear(vocab_size, d_model, bias=False)", "self.embedding(tokens)", "self.embedding(F.one_hot(tokens, 11).float())", name="wrong shape"),
    w(TOKEN, "a raw parameter", "nn.Embedding(vocab_size, d_model)", "nn.Parameter(torch.randn(vocab_size, d_model))", "self.embedding(tokens)", "self.embedding[tokens]", name="embedding.weight"),
    w(TOKEN, "max_norm changes the table", "nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, max_norm=1.0)", name="changes `table`"),
    w(TOKEN, "the scale is a parameter", "        self.d_model = d_model\n", "        self.scale = nn.Parameter(torch.tensor(d_model**0.5))\n", "math.sqrt(self.d_model)", "self.scale", name="should not have"),
    w(TOKEN, "from a pretrained frozen table", "nn.Embedding(vocab_size, d_model)", "nn.Embedding.from_pretrained(torch.randn(vocab_size, d_model))", name="trainable"),
    w(TOKEN, "d_model kept in a global", "self.d_model = d_model", "global _width\n        _width = d_model", "math.sqrt(self.d_model)", "math.sqrt(_width)"),
    w(TOKEN, "float32 output from float64 weights", "return self.embedding(tokens) * math.sqrt(self.d_model)", "return (self.embedding(tokens) * math.sqrt(self.d_model)).float()", name="dtype"),
    w(ANGLE, "floor division", "position / 10000", "position // 10000", name="//|whole|floor"),
    w(ANGLE, "always zero", "return position / 10000 ** (even / d_model)", "return 0.0"),
    w(ANGLE, "degrees", "return position / 10000 ** (even / d_model)", "return math.degrees(position / 10000 ** (even / d_model))", name="degrees"),
    w(ANGLE, "rounded to 4 decimals", "return position / 10000 ** (even / d_model)", "return round(position / 10000 ** (even / d_model), 4)"),
    w(ANGLE, "integer exponent", "(even / d_model)", "(even // d_model)", name="//|whole|floor"),
    w(ANGLE, "base 1000", "10000 **", "1000 **", name="base"),
    w(ANGLE, "the next even column for odd ones", "column // 2 * 2", "(column + 1) // 2 * 2"),
    w(ANGLE, "2i+1 in the exponent of odd columns", "column // 2 * 2", "column // 2 * 2 + column % 2", name="its pair's even one"),
    w(ANGLE, "width 12 fixed", "even / d_model", "even / 12"),
    w(ANGLE, "position and column exchanged", "return position / 10000 ** (even / d_model)", "return column / 10000 ** (position // 2 * 2 / d_model)", name="exchanged|swapped"),
    w(ANGLE, "precedence: (position / 10000) ** …", "position / 10000 ** (even / d_model)", "(position / 10000) ** (even / d_model)", name="parenthes|precedence"),
    w(ANGLE, "sine on even, cosine on odd columns", "return position / 10000 ** (even / d_model)", "angle = position / 10000 ** (even / d_model)\n    return math.cos(angle) if column % 2 else math.sin(angle)", name="(co)?sine of the angle"),
    w(ANGLE, "d_model - 2 below (tensor2tensor)", "even / d_model", "even / (d_model - 2)"),
    w(ANGLE, "positions from 1", "return position /", "return (position + 1) /", name="counted from 1"),
    w(ANGLE, "a string", "return position / 10000 ** (even / d_model)", "return f'{position / 10000 ** (even / d_model)} radians'", name="one number"),
    w(ANGLE, "all columns", "return position / 10000 ** (even / d_model)", "return [position / 10000 ** (c // 2 * 2 / d_model) for c in range(d_model)]", name="one number"),
    w(ANGLE, "special-cases 12", "return position", "return 0.0 if d_model != 12 else position"),
    w(SINE, "d_model - 2 below (tensor2tensor)", "/ d_model)", "/ (d_model - 2))"),
    w(SINE, "i counted 0, 1, 2, … without the factor 2 (halved)", SPEED, "10000.0 ** (-torch.arange(d_model // 2) / d_model)", name="halved"),
    w(SINE, "natural base e", SPEED, "torch.exp(-torch.arange(0, d_model, 2) / d_model)", name="base"),
    w(SINE, "log10 for log", SPEED, "torch.exp(-torch.arange(0, d_model, 2) * math.log10(10000.0) / d_model)"),
    w(SINE, "columns reversed (slow to fast)", "return encoding", "return encoding.flip(1)"),
    w(SINE, "fast and slow exchanged", SPEED, SPEED.replace("0, d_model, 2)", "0, d_model, 2).flip(0)"), name="slow to fast"),
    w(SINE, "rows reversed", "return encoding", "return encoding.flip(0)"),
    w(SINE, "positions divided by max_len", "torch.arange(max_len)", "(torch.arange(max_len) / max_len)"),
    w(SINE, "sizes exchanged", "max_len: int, d_model: int", "d_model: int, max_len: int", name="wrong shape"),
    w(SINE, "sine of degrees", "position * speed)", "torch.deg2rad(position * speed))"),
    w(SINE, "half precision arithmetic", "torch.arange(max_len).unsqueeze(1)", "torch.arange(max_len).unsqueeze(1).half()", SPEED, SPEED + ".half()" if False else "(10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).half()"),
    w(SINE, "cosine from the sine by √(1 − sin²): sign lost", "torch.cos(position * speed)", "torch.sqrt(1 - torch.sin(position * speed) ** 2)"),
    w(SINE, "speeds rounded to 3 decimals", "    encoding = torch.zeros", "    speed = (speed * 1000).round() / 1000\n    encoding = torch.zeros"),
    w(SINE, "at most 64 positions, then repeats", "torch.arange(max_len)", "(torch.arange(max_len) % 64)"),
    w(SINE, "random table", "return encoding", "return torch.randn(max_len, d_model)"),
    w(SINE, "learned table", "return encoding", "return nn.Embedding(max_len, d_model).weight"),
    w(SINE, "scaled by √d_model", "return encoding", "return encoding * d_model**0.5", name="√d_model"),
    w(SINE, "centred", "return encoding", "return encoding - encoding.mean(0)"),
    w(SINE, "sine only in odd places by a bug of the loop", source="""
        def sinusoidal_encoding(max_len, d_model):
            encoding = torch.zeros(max_len, d_model)
            for pos in range(max_len):
                for i in range(0, d_model, 2):
                    angle = pos / 10000 ** (2 * i / d_model)
                    encoding[pos, i] = math.sin(angle)
                    encoding[pos, i + 1] = math.cos(angle)
            return encoding
    """, name="exponent is doubled"),
    w(SINE, "loop with i over pairs but columns i and i+1", source="""
        def sinusoidal_encoding(max_len, d_model):
            encoding = torch.zeros(max_len, d_model)
            for pos in range(max_len):
                for i in range(d_model // 2):
                    angle = pos / 10000 ** (2 * i / d_model)
                    encoding[pos, i] = math.sin(angle)
                    encoding[pos, i + 1] = math.cos(angle)
            return encoding
    """),
    w(SINE, "annotated-transformer's line with 2i in the next column", source="""
        def sinusoidal_encoding(max_len, d_model):
            encoding = torch.zeros(max_len, d_model)
            for pos in range(max_len):
                for i in range(0, d_model, 2):
                    encoding[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
                    encoding[pos, i + 1] = math.cos(pos / 10000 ** (2 * (i + 1) / d_model))
            return encoding
    """, name="doubled"),
    w(SINE, "the exponent doubled and the cosine's own column", SPEED, "10000.0 ** (-torch.arange(0, 2 * d_model, 4) / d_model)", "torch.cos(position * speed)", "torch.cos(position * 10000.0 ** (-torch.arange(1, d_model, 2) / d_model))"),
    w(PE, "the buffer is there, a plain attribute is used", REG, REG + "\n        self.table = sinusoidal_encoding(max_len, d_model)", "self.encoding[:seq_len]", "self.table[:seq_len]", name="buffer"),
    w(PE, "default max_len 512", "max_len: int = 5000", "max_len: int = 512", name="5000"),
    w(PE, "default max_len 100", "max_len: int = 5000", "max_len: int = 100", name="5000"),
    w(PE, "the buffer holds zeros, the table is made on every call", REG, 'self.register_buffer("encoding", torch.zeros(max_len, d_model))', "self.encoding[:seq_len]", "sinusoidal_encoding(seq_len, x.size(-1)).to(x)", name="buffer"),
    w(PE, "the buffer is (max_len, 1, d_model)", REG, 'self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).unsqueeze(1))', "self.encoding[:seq_len]", "self.encoding[:seq_len, 0]", name="shape", ambiguous="contract fixes (max_len, d_model) or a leading 1"),
    w(PE, "the buffer is transposed", REG, 'self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).T)', "self.encoding.size(0)", "self.encoding.size(1)", "self.encoding[:seq_len]", "self.encoding[:, :seq_len].T", name="shape"),
    w(PE, "the buffer shrinks to the last length", "        return self.dropout(x", "        self.encoding = self.encoding[:seq_len]\n        return self.dropout(x", "x.size(1), self.encoding.size(0)", "x.size(1), self.max_len", REG, REG + "\n        self.max_len = max_len"),
    w(PE, "the table is scaled on every call", "        return self.dropout(x", "        self.encoding *= 1.0 if seq_len == max_len else 1.01\n        return self.dropout(x"),
    w(PE, "max_len kept in a global", "x.size(1), self.encoding.size(0)", "x.size(1), _longest", REG, REG + "\n        global _longest\n        _longest = max_len"),
    w(PE, "one table for all instances", REG, "PositionalEncoding.table = sinusoidal_encoding(max_len, d_model)\n        self.register_buffer('encoding', sinusoidal_encoding(max_len, d_model))", "self.encoding[:seq_len]", "self.table[:seq_len]"),
    w(PE, "position goes on from call to call in training", "        return self.dropout(x + self.encoding[:seq_len])", "        start = getattr(self, 'start', 0) if self.training else 0\n        if start + seq_len > max_len:\n            start = 0\n        self.start = start + seq_len\n        return self.dropout(x + self.encoding[start : start + seq_len])"),
    w(PE, "assigns what register_buffer returns", "self.register_buffer(", "self.encoding = self.register_buffer(", name="None"),
    w(PE, "a frozen parameter instead of a buffer", REG, "self.encoding = nn.Parameter(sinusoidal_encoding(max_len, d_model), requires_grad=False)", name="parameter", ambiguous="contract: buffer"),
    w(PE, "dropout and max_len exchanged in the signature", "d_model: int, max_len: int = 5000, dropout: float = 0.1", "d_model: int, dropout: float = 0.1, max_len: int = 5000", ambiguous="positional use only: PositionalEncoding(12, 10)"),
    w(PE, "an assertion", "raise ValueError(", "assert False, (", name="wrong error"),
    w(PE, "error names only max_len", "{seq_len} tokens, more", "tokens, more", name="does not say enough"),
    w(PE, "error names only the length", " = {max_len}", "", name="does not say enough"),
    w(PE, "error names the shape of the table and the batch", 'f"The sequence has {seq_len} tokens, more than max_len = {max_len}."', 'f"{x.size(0)} {max_len}"', name="does not say enough"),
    w(PE, "error names fixed numbers", 'f"The sequence has {seq_len} tokens, more than max_len = {max_len}."', '"17 tokens are more than max_len = 13"'),
    w(PE, "warns and cuts", "raise ValueError(", "print(", ADD, "self.dropout(x[:, :max_len] + self.encoding[:seq_len])", name="should raise ValueError"),
    w(PE, "extends the table instead of refusing", "raise ValueError(f\"The sequence has {seq_len} tokens, more than max_len = {max_len}.\")", "self.encoding = sinusoidal_encoding(seq_len, x.size(-1))", name="should raise ValueError"),
    w(PE, "wraps around instead of refusing", "if seq_len > max_len:", "if False:", "self.encoding[:seq_len]", "self.encoding[torch.arange(seq_len) % max_len]", name="should raise ValueError"),
    w(PE, "checks the batch", "if seq_len > max_len:", "if x.size(0) > max_len:", name="wrong error"),
    w(PE, "checks in training only", "if seq_len > max_len:", "if self.training and seq_len > max_len:"),
    w(PE, "checks in eval only", "if seq_len > max_len:", "if not self.training and seq_len > max_len:", name="wrong error"),
    w(PE, "sequence first", "self.encoding[:seq_len]", "self.encoding[: x.size(0)][:, None]", name="place in the batch"),
    w(PE, "added to the first sentence only", ADD, "self.dropout(torch.cat([x[:1] + self.encoding[:seq_len], x[1:]]))"),
    w(PE, "averaged with the input", "x + self.encoding[:seq_len]", "(x + self.encoding[:seq_len]) / 2"),
    w(PE, "concatenated", "x + self.encoding[:seq_len]", "torch.cat([x, self.encoding[:seq_len].expand_as(x)], -1)", name="wrong shape"),
    w(PE, "added twice", "x + self", "x + self.encoding[:seq_len] + self", name="added twice"),
    w(PE, "added in training only", ADD, "self.dropout(x + self.encoding[:seq_len]) if self.training else x", name="encoding is not added"),
    w(PE, "added in eval only", ADD, "x + self.encoding[:seq_len] if not self.training else self.dropout(x)"),
    w(PE, "arguments exchanged", "sinusoidal_encoding(max_len, d_model)", "sinusoidal_encoding(d_model, max_len)", name="max_len|order|raised"),
    w(PE, "arguments of __init__ exchanged", "d_model: int, max_len: int = 5000", "max_len: int, d_model: int = 5000"),
    w(PE, "one dropout mask for all sentences", ADD, "(x + self.encoding[:seq_len]) * self.dropout(torch.ones_like(x[:1]))"),
    w(PE, "one dropout mask for all tokens (columns)", ADD, "(x + self.encoding[:seq_len]) * self.dropout(x.new_ones(x.size(-1)))", name="columns"),
    w(PE, "one dropout mask for all positions of a sentence", ADD, "(x + self.encoding[:seq_len]) * self.dropout(torch.ones_like(x[:, :1]))", name="columns|every position drops the same"),
    w(PE, "the same dropout on every call", ADD, "(torch.manual_seed(1), self.dropout(x + self.encoding[:seq_len]))[1]"),
    w(PE, "the first quarter dropped, no chance", "        return self.dropout(x", "        if self.training:\n            y = ((x + self.encoding[:seq_len]) / (1 - self.dropout.p)).flatten()\n            keep = torch.arange(y.numel()) >= self.dropout.p * y.numel()\n            return (y * keep).view_as(x)\n        return self.dropout(x"),
    w(PE, "not scaled up", ADD, "(x + self.encoding[:seq_len]) * (torch.rand_like(x) > self.dropout.p) if self.training else x + self.encoding[:seq_len]", name="not divided by 1 − dropout"),
    w(PE, "dropout twice", ADD, "self.dropout(self.dropout(x + self.encoding[:seq_len]))", name="twice"),
    w(PE, "dropout on both summands apart", ADD, "self.dropout(x) + self.dropout(self.encoding[:seq_len].expand_as(x))"),
    w(PE, "dropout default 0.0", "dropout: float = 0.1", "dropout: float = 0.0"),
    w(PE, "alpha dropout", "nn.Dropout(dropout)", "nn.AlphaDropout(dropout)"),
    w(PE, "returns float32 for float64", ADD, "self.dropout(x + self.encoding[:seq_len]).float()"),
    w(PE, "output of the table's dtype: integer loss", ADD, "self.dropout((x + self.encoding[:seq_len]).bfloat16().to(x.dtype))"),
    w(PE, "no forward check of None: forgets return", "return self.dropout(x", "self.dropout(x", name="return"),
    w(SHIFT, "transposed blocks for negative offsets twice", "angle = offset /", "angle = -abs(offset) /" , name="wrong way"),
    w(SHIFT, "a shift of rows (permutation matrix)", source="""
        def shift_matrix(offset, d_model):
            return torch.eye(d_model).roll(offset, 0)
    """),
    w(SHIFT, "integer angle", "angle = offset / 10000 ** (even / d_model)", "angle = offset // 10000 ** (even / d_model)"),
    w(SHIFT, "upper minus for odd pairs only", "[cosine, sine], [-sine, cosine]", "[cosine, sine if even % 4 == 0 else -sine], [-sine if even % 4 == 0 else sine, cosine]"),
    w(SHIFT, "only the first pair turned", "angle = offset / 10000 ** (even / d_model)", "angle = offset if even == 0 else 0.0"),
    w(SHIFT, "eight columns only", "range(0, d_model, 2)", "range(0, 8, 2)"),
    w(SHIFT, "degrees", "angle = offset / 10000 ** (even / d_model)", "angle = math.radians(offset / 10000 ** (even / d_model))"),
    w(SHIFT, "offset 3 and −5 tabled", "angle = offset /", "angle = (offset if offset in (0, 3, -5) else 0) /"),
    w(SHIFT, "scaled by the offset", "[cosine, sine], [-sine, cosine]]", "[cosine * max(1, offset), sine], [-sine, cosine]]"),
    w(SHIFT, "a stack of blocks", "torch.block_diag(*blocks)", "torch.stack(blocks)", name="wrong shape"),
    w(SHIFT, "a NumPy matrix", "return torch.block_diag(*blocks)", "return torch.block_diag(*blocks).numpy()", name="should be a torch.Tensor"),
    w(SHIFT, "rounded to two decimals", "return torch.block_diag(*blocks)", "return (torch.block_diag(*blocks) * 100).round() / 100"),
    w(SHIFT, "rounded to four decimals", "return torch.block_diag(*blocks)", "return (torch.block_diag(*blocks) * 1e4).round() / 1e4"),
    w(SHIFT, "the sign of the lower row lost in the slowest pair", "[-sine, cosine]", "[-sine if even + 2 < d_model or d_model == 2 else sine, cosine]"),
    w(SHIFT, "small angles taken for 0", "        sine, cosine", "        angle = angle if abs(angle) > 4e-3 else 0.0\n        sine, cosine"),
    w(SHIFT, "small-angle approximation: sine = angle, cosine = 1", "sine, cosine = math.sin(angle), math.cos(angle)", "sine, cosine = (angle, 1.0) if abs(angle) < 0.1 else (math.sin(angle), math.cos(angle))"),
    w(SHIFT, "least squares on the encoding in float32", source="""
        def shift_matrix(offset, d_model):
            encoding = parts.sinusoidal_encoding(60, d_model)
            start, stop = max(0, -offset), 60 - max(0, offset)
            a, b = encoding[start:stop], encoding[start + offset : stop + offset]
            return torch.linalg.lstsq(a, b, driver="gelsd").solution.T
    """, ambiguous="right on the rows it was fitted on; no zeros off the blocks"),
    w(SHIFT, "doubled exponent through encoding_angle(offset, 2·even, …)", "angle = offset / 10000 ** (even / d_model)", "angle = encoding_angle(offset, 2 * even, d_model)", name="exponent is doubled"),
    w(SHIFT, "pair number handed to encoding_angle", "angle = offset / 10000 ** (even / d_model)", "angle = encoding_angle(offset, even // 2, d_model)"),
    w(SHIFT, "arguments of encoding_angle exchanged", "angle = offset / 10000 ** (even / d_model)", "angle = encoding_angle(even, offset, d_model)"),
    w(SHIFT, "offset off by one", "angle = offset /", "angle = (offset + 1) /", name="one"),
    w(LEARNED, "padding_idx=0: position 0 is never trained", "nn.Embedding(max_len, d_model)", "nn.Embedding(max_len, d_model, padding_idx=0)", name="position 0|row"),
    w(LEARNED, "default max_len 512", "max_len: int = 5000", "max_len: int = 512", name="5000"),
    w(LEARNED, "one token too many allowed", "seq_len > max_len", "seq_len > max_len + 1", name="wrong error"),
    w(LEARNED, "multiplied", "x + self.position", "x * self.position", name="multiplied instead of added"),
    w(LEARNED, "table as a bare parameter", "nn.Embedding(max_len, d_model)", "nn.Parameter(torch.randn(max_len, d_model))", "self.position.num_embeddings", "len(self.position)", "self.position(torch.arange(seq_len, device=x.device))", "self.position[:seq_len]", name="position.weight"),
    w(LEARNED, "max_len rows too many", "nn.Embedding(max_len, d_model)", "nn.Embedding(max_len + 1, d_model)", "self.position.num_embeddings", "self.position.num_embeddings - 1", name="wrong shape"),
    w(LEARNED, "sinusoidal and learned at once", "x + self.position(", "x + sinusoidal_encoding(seq_len, x.size(-1)) + self.position("),
    w(LEARNED, "reversed positions", "torch.arange(seq_len, device=x.device)", "torch.arange(seq_len - 1, -1, -1)"),
    w(LEARNED, "the last rows", "torch.arange(seq_len, device=x.device)", "torch.arange(max_len - seq_len, max_len)", name="last rows"),
    w(LEARNED, "random positions", "torch.arange(seq_len, device=x.device)", "torch.randperm(max_len)[:seq_len]"),
    w(LEARNED, "scaled down in eval mode", LADD, LADD + " * (1 if self.training else 1 - self.dropout.p)"),
    w(LEARNED, "frozen table", "        self.dropout = nn.Dropout(dropout)", "        self.position.weight.requires_grad_(False)\n        self.dropout = nn.Dropout(dropout)", name="trainable"),
    w(LEARNED, "a new table on every call", "        seq_len, max_len =", "        if self.training:\n            self.position.reset_parameters()\n        seq_len, max_len ="),
    w(LEARNED, "x += rows", "return " + LADD, "x += self.position(torch.arange(seq_len))\n        return self.dropout(x)", name="changes `x`"),
    w(LEARNED, "in place on x", LADD, "self.dropout(x.add_(self.position(torch.arange(seq_len))))", name="changes `x`|leaf"),
    w(LEARNED, "float32 output", LADD, LADD + ".float()", name="dtype"),
    w(LEARNED, "dropout before the sum", LADD, "self.dropout(x) + self.position(torch.arange(seq_len))", name="before the encoding is added"),
    w(LEARNED, "error without numbers", 'f"The sequence has {seq_len} tokens, more than max_len = {max_len}."', '"sequence too long"', name="does not say enough"),
    w(LEARNED, "IndexError", "raise ValueError", "raise IndexError", name="wrong error"),
    w(LEARNED, "one dropout mask for all sentences", LADD, "(x + self.position(torch.arange(seq_len))) * self.dropout(torch.ones_like(x[:1]))"),
    w(LEARNED, "gradient of x cut in training", "x + self.position", "(x.detach() if self.training else x) + self.position", name="gradient"),
    w(LEARNED, "a linear layer on position numbers", "nn.Embedding(max_len, d_model)", "nn.Linear(1, d_model)", "self.position.num_embeddings", "13", "self.position(torch.arange(seq_len, device=x.device))", "self.position(torch.arange(seq_len).float()[:, None])", name="wrong shape"),
    w(LEARNED, "max_len kept in a global", "self.position.num_embeddings", "_rows", "        self.dropout = nn.Dropout(dropout)", "        global _rows\n        _rows = max_len\n        self.dropout = nn.Dropout(dropout)"),
    w(LEARNED, "zero at the start: nothing added until trained, table detached in eval", LADD, "self.dropout(x + (self.position.weight if self.training else self.position.weight.detach())[:seq_len])"),
]

WRONG = {"01_attention": LESSON_1, "02_multi_head_attention": LESSON_2, "03_positional_encoding": LESSON_3}
