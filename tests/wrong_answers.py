"""What learners get wrong: each answer, the check that must fail, and the words its message must hold.

An answer is the solution with some text replaced, or a whole source. `says` is given where the values or the
behaviour prove the slip; without proof a message must not name one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """One wrong answer.

    Attributes:
        exercise: the exercise it answers.
        what: what it does, in words.
        check: the part of the failing check's id behind `check_<exercise>_`, or "" for `check_<exercise>`.
        says: words that the message must hold.
        edits: text in the solution → text in its place.
        source: the whole answer instead.
        hidden: True when only hidden tests can see it.
        also: words by which another of its checks names a slip, in truth as well.
    """

    exercise: str
    what: str
    check: str
    says: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    source: str = ""
    hidden: bool = False
    also: str = ""


def edit(*pairs: str) -> tuple[tuple[str, str], ...]:
    """Old and new text in turn."""
    return tuple(zip(pairs[::2], pairs[1::2], strict=True))


ONE = "attend_one_query"
ATTEND = "scaled_dot_product_attention"
SCORES = "query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"
FILL = "scores = scores.masked_fill(~mask, -math.inf)"
HEAD = f"def {ATTEND}(query, key, value, mask=None, dropout=None):\n"

LESSON_1 = [
    Wrong(ONE, "no softmax", "", "without a softmax", edit("torch.softmax(scores, dim=0)", "scores")),
    Wrong(ONE, "exponentials not normalised", "", "not divided by their sum", edit("torch.softmax(scores, dim=0)", "scores.exp()")),
    Wrong(ONE, "divides the scores by their sum", "", "divided by their sum instead", edit("torch.softmax(scores, dim=0)", "scores / scores.sum()")),
    Wrong(ONE, "already scaled", "", "√d_k, which comes in the next exercise", edit("torch.softmax(scores, dim=0)", "torch.softmax(scores / len(query) ** 0.5, dim=0)")),
    Wrong(ONE, "plain average", "", "every value counts the same", edit("torch.softmax(scores, dim=0)", "torch.ones(len(key)) / len(key)")),
    Wrong(ONE, "takes the best match only", "", "best-matching value", edit("return sum(weight * v for weight, v in zip(weights, value))", "return value[weights.argmax()]")),
    Wrong(ONE, "does not sum", "", "sum over the keys is missing", edit("return sum(weight * v for weight, v in zip(weights, value))", "return weights[:, None] * value")),
    Wrong(ONE, "returns the weights", "", "wrong shape", edit("return sum(weight * v for weight, v in zip(weights, value))", "return weights")),
    Wrong(ONE, "averages twice", "", "averaged over the keys once more", edit("zip(weights, value))", "zip(weights, value)) / len(value)")),
    Wrong(ONE, "in place", "", "changes `value`", edit("return sum(weight * v for weight, v in zip(weights, value))", "value *= weights[:, None]\n    return value.sum(0)")),
    Wrong(ONE, "returns nothing", "", "is None", edit("return sum(", "sum(")),
    Wrong(ONE, "zeros of the right shape", "", "wrong values", edit("return sum(weight * v for weight, v in zip(weights, value))", "return torch.zeros(value.size(1))")),
    Wrong(ONE, "size of the docstring example hard-coded", "", "wrong values", edits=edit("for k in key]", "for k in key[:5]]")),
    # Scale.
    Wrong(ATTEND, "no scale", "values", "not divided by √d_k", edit(SCORES, "query @ key.transpose(-2, -1)")),
    Wrong(ATTEND, "divides by d_k", "values", "d_k instead of √d_k", edit("math.sqrt(query.size(-1))", "query.size(-1)")),
    Wrong(ATTEND, "multiplies by √d_k", "values", "multiplied by √d_k", edit("/ math.sqrt", "* math.sqrt")),
    Wrong(ATTEND, "divides by the root of the key length", "values", "√key_len", edit("math.sqrt(query.size(-1))", "math.sqrt(key.size(-2))")),
    Wrong(ATTEND, "divides by the root of the query length", "values", "√query_len", edit("math.sqrt(query.size(-1))", "math.sqrt(query.size(-2))")),
    Wrong(ATTEND, "divides by the root of the batch size", "values", "batch size", edit("math.sqrt(query.size(-1))", "math.sqrt(query.size(0))")),
    Wrong(ATTEND, "scale for d_k = 8 hard-coded", "values", edits=edit("math.sqrt(query.size(-1))", "math.sqrt(8)"), hidden=True),
    Wrong(ATTEND, "divides by √d_v", "values", "√d_v instead", edit("math.sqrt(query.size(-1))", "math.sqrt(value.size(-1))")),
    # Softmax.
    Wrong(ATTEND, "softmax over the queries", "values", "over the queries instead", edit("dim=-1", "dim=-2")),
    Wrong(ATTEND, "softmax over dimension 1", "values", "over the queries instead", edit("dim=-1", "dim=1")),
    Wrong(ATTEND, "softmax over the batch", "values", "over the first dimension", edit("dim=-1", "dim=0")),
    Wrong(ATTEND, "no softmax", "values", "softmax is missing", edit("torch.softmax(scores, dim=-1)", "scores")),
    Wrong(ATTEND, "log_softmax", "values", "log_softmax", edit("torch.softmax(", "torch.log_softmax(")),
    Wrong(ATTEND, "exponentials not normalised", "values", "not divided by their sum", edit("torch.softmax(scores, dim=-1)", "scores.exp()")),
    Wrong(ATTEND, "exponentials without a shift overflow", "values", "NaN", edit("torch.softmax(scores, dim=-1)", "scores.exp() / scores.exp().sum(-1, keepdim=True)"), hidden=True),
    Wrong(ATTEND, "sigmoid for softmax", "values", "a sigmoid stands", edit("torch.softmax(scores, dim=-1)", "torch.sigmoid(scores)")),
    Wrong(ATTEND, "no scale and softmax over the queries", "values", "not scaled, and the softmax runs over the queries", edit(SCORES, "query @ key.transpose(-2, -1)", "dim=-1", "dim=-2")),
    # Products and results.
    Wrong(ATTEND, "averages the keys", "shapes", "wrong shape", edit("weights @ value", "weights @ key"), also="average the keys"),
    Wrong(ATTEND, "transpose forgotten", "shapes", "raised RuntimeError", edit("key.transpose(-2, -1)", "key")),
    Wrong(ATTEND, "transposes the first two dimensions", "shapes", "raised RuntimeError", edit("key.transpose(-2, -1)", "key.transpose(0, 1)")),
    Wrong(ATTEND, ".T reverses all dimensions", "shapes", "raised RuntimeError", edit("key.transpose(-2, -1)", "key.permute(*range(key.dim() - 1, -1, -1))")),
    Wrong(ATTEND, "transposes by position, right for three dimensions only", "shapes", "raised IndexError", edit("key.transpose(-2, -1)", "key.transpose(1, 2)")),
    Wrong(ATTEND, "returns the output only", "shapes", "should return 2 tensors", edit("return weights @ value, weights", "return weights @ value")),
    Wrong(ATTEND, "returns them swapped", "shapes", "swapped", edit("return weights @ value, weights", "return weights, weights @ value")),
    Wrong(ATTEND, "returns the scores as weights", "values", "softmax is missing", edit("return weights @ value, weights", "return weights @ value, scores")),
    Wrong(ATTEND, "returns nothing", "shapes", "should return 2 tensors", edit("return weights @ value, weights", "weights @ value, weights")),
    Wrong(ATTEND, "zeros of the right shape", "shapes", "wrong values", source=HEAD + "    return value.new_zeros(*query.shape[:-1], value.size(-1)), query.new_zeros(*query.shape[:-1], key.size(-2))"),
    Wrong(ATTEND, "uniform attention", "values", "every key gets the same weight", source=HEAD + "    w = query.new_ones(*query.shape[:-1], key.size(-2)) / key.size(-2)\n    return w @ value, w", also="before dropout"),
    Wrong(ATTEND, "identity attention", "values", "wrong values", source=HEAD + "    w = torch.eye(query.size(-2), key.size(-2)).expand(*query.shape[:-1], -1)\n    return w @ value, w", also="before dropout"),
    Wrong(ATTEND, "only the first sentence of the batch", "values", "wrong values", edit("return weights @ value, weights", "return (weights @ value)[:1].expand(*query.shape[:-1], value.size(-1)), weights")),
    Wrong(ATTEND, "cosine similarity", "values", "cosines", edit(SCORES, "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)")),
    Wrong(ATTEND, "asks a tensor for its truth", "mask", "is ambiguous", edit("if mask is not None", "if mask")),
    Wrong(ATTEND, "rounds through NumPy", "from_scratch", "No gradient", edit("weights = torch.softmax(scores, dim=-1)", "weights = torch.from_numpy(torch.softmax(scores, dim=-1).detach().numpy())")),
    Wrong(ATTEND, "detached weights", "from_scratch", "No gradient flows back to `query`", edit("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-1).detach()")),
    Wrong(ATTEND, "uses .data of the value", "from_scratch", "`value`", edit("weights @ value,", "weights @ value.data,")),
    Wrong(ATTEND, "float32 whatever comes in", "values", edits=edit("scores = query", "query, key, value = query.float(), key.float(), value.float()\n    scores = query" ), hidden=True),
    Wrong(ATTEND, "the value detached under dropout", "dropout", "No gradient flows back to `value`", edit("weights = dropout(weights)", "weights, value = dropout(weights), value.detach()"), hidden=True),
    # Mask.
    Wrong(ATTEND, "mask ignored", "mask", "mask is not used", edit(FILL, "pass")),
    Wrong(ATTEND, "mask inverted", "mask", "wrong way round", edit("~mask", "mask")),
    Wrong(ATTEND, "scores multiplied by the mask", "mask", "exp(0)", edit(FILL, "scores = scores * mask")),
    Wrong(ATTEND, "mask added", "mask", "added to the scores", edit(FILL, "scores = scores + mask")),
    Wrong(ATTEND, "fills with −1e-9", "mask", "exp(0)", edit("-math.inf", "-1e-9")),
    Wrong(ATTEND, "fills with 0", "mask", "exp(0)", edit("-math.inf", "0.0")),
    Wrong(ATTEND, "fills with −1", "mask", "−1 instead", edit("-math.inf", "-1.0")),
    Wrong(ATTEND, "fills with +∞", "mask", "NaN", edit("-math.inf", "math.inf")),
    Wrong(ATTEND, "weights zeroed after the softmax", "mask", "after the softmax", edit(FILL, "pass", "dim=-1)", "dim=-1) * (1 if mask is None else mask)")),
    Wrong(ATTEND, "−1e9 without masking first: added to all", "mask", "wrong values", edit(FILL, "scores = scores * mask - 1e9 * mask")),
    Wrong(ATTEND, "the first sentence's mask for all", "mask", edits=edit(FILL, "scores = scores.masked_fill(~(mask[:1] if mask.dim() > 2 else mask), -math.inf)"), hidden=True),
    Wrong(ATTEND, "in-place scaling of the query", "from_scratch", "changes `query`", edit("scores = query", "query.data /= math.sqrt(query.size(-1))\n    scores = query", " / math.sqrt(query.size(-1))  #", "  #")),
    # Dropout.
    Wrong(ATTEND, "dropout ignored", "dropout", "those before dropout", edit("weights = dropout(weights)", "pass")),
    Wrong(ATTEND, "dropout on the scores", "dropout", "before the softmax", edit("    weights = torch.softmax(scores, dim=-1)\n", "", "weights = dropout(weights)", "scores = dropout(scores)", "    return weights", "    weights = torch.softmax(scores, dim=-1)\n    return weights")),
    Wrong(ATTEND, "dropout on the output", "dropout", "those before dropout", edit("weights = dropout(weights)", "return dropout(weights @ value), weights")),
    Wrong(ATTEND, "returns the weights before dropout", "dropout", "those before dropout", edit("weights = dropout(weights)", "return dropout(weights) @ value, weights")),
    Wrong(ATTEND, "output from the weights before dropout", "dropout", "before dropout", edit("weights = dropout(weights)", "return weights @ value, dropout(weights)")),
    # From scratch.
    Wrong(ATTEND, "calls PyTorch's own", "from_scratch", "ready `F.scaled_dot_product_attention`", source="from torch.nn.functional import scaled_dot_product_attention as mine\n\n\n" + HEAD + "    eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-2], -1, -1)\n    weights = mine(query, key, eye, attn_mask=mask)\n    weights = weights if dropout is None else dropout(weights)\n    return weights @ value, weights"),
    # Masks.
    Wrong("padding_mask", "True marks padding", "values", "True marks the padding", edit("!=", "==")),
    Wrong("padding_mask", "pad id 0 hard-coded", "values", "taken to be 0", edit("!= pad_id", "!= 0")),
    Wrong("padding_mask", "two dimensions", "shape", "wrong shape", edit("[:, None, None, :]", "")),
    Wrong("padding_mask", "for query rows", "shape", "wrong shape", edit("[:, None, None, :]", "[:, None, :, None]")),
    Wrong("padding_mask", "integers", "shape", "wrong dtype", edit("[:, None, None, :]", "[:, None, None, :].long()")),
    Wrong("padding_mask", "additive mask", "shape", "wrong dtype", edit("return (tokens != pad_id)[:, None, None, :]", "return torch.where(tokens != pad_id, 0.0, -math.inf)[:, None, None, :]")),
    Wrong("padding_mask", "the first row for all", "values", "mask of the first", edit("(tokens != pad_id)", "(tokens[:1] != pad_id).expand(len(tokens), -1)")),
    Wrong("padding_mask", "all True", "values", "nothing is masked", edit("(tokens != pad_id)", "torch.ones_like(tokens).bool()")),
    Wrong("padding_mask", "greater than the pad id", "values", "wrong values", edit("!=", ">")),
    Wrong("causal_mask", "True marks the future", "values", "True marks the future", edit("torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)")),
    Wrong("causal_mask", "upper triangle", "values", "upside down", edit("torch.tril", "torch.triu")),
    Wrong("causal_mask", "without the diagonal", "values", "does not see itself", edit("dtype=torch.bool))", "dtype=torch.bool), -1)")),
    Wrong("causal_mask", "one too far", "values", "one token into the future", edit("dtype=torch.bool))", "dtype=torch.bool), 1)")),
    Wrong("causal_mask", "only one token back", "values", "only itself and the one before", edit("torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.tril(torch.ones(size, size, dtype=torch.bool)).triu(-1)")),
    Wrong("causal_mask", "all True", "values", "nothing is masked", edit("torch.tril(torch.ones(size, size, dtype=torch.bool))", "torch.ones(size, size).bool()")),
    Wrong("causal_mask", "floats", "shape", "wrong dtype", edit(", dtype=torch.bool", "")),
    Wrong("causal_mask", "extra dimensions", "shape", "wrong shape", edit("dtype=torch.bool))", "dtype=torch.bool))[None, None]")),
    Wrong("causal_mask", "size 4 hard-coded", "values", "wrong shape", edit("torch.ones(size, size", "torch.ones(4, 4")),
    Wrong("decoder_mask", "or for and", "values", "either rule", edit("& past", "| past")),
    Wrong("decoder_mask", "padding only", "values", "only the padding", edit("& past", "& torch.ones_like(past)")),
    Wrong("decoder_mask", "future only", "values", "only the future is blocked", edit("padding_mask(tokens, pad_id) & past", "past.expand(len(tokens), 1, -1, -1)")),
    Wrong("decoder_mask", "padding blocks rows", "values", "only the future is blocked", edit("padding_mask(tokens, pad_id)", "padding_mask(tokens, pad_id).mT")),
    Wrong("decoder_mask", "pad id not passed on", "values", "taken to be 0", edit("padding_mask(tokens, pad_id)", "padding_mask(tokens)")),
    Wrong("decoder_mask", "True marks what is blocked", "values", "marks what is blocked", edit("padding_mask(tokens, pad_id) & past", "~(padding_mask(tokens, pad_id) & past)")),
    Wrong("decoder_mask", "three dimensions", "shape", "wrong shape", edit("padding_mask(tokens, pad_id) & past", "(padding_mask(tokens, pad_id) & past)[:, 0]")),
    Wrong("decoder_mask", "the first sentence for all", "values", "padding of the first", edit("padding_mask(tokens, pad_id) & past", "(padding_mask(tokens, pad_id) & past)[:1].expand(len(tokens), -1, -1, -1)")),
    Wrong("decoder_mask", "flipped triangle", "values", "upside down", edit("& past", "& past.mT")),
    Wrong("decoder_mask", "returns nothing", "shape", "is None", edit("return padding_mask", "padding_mask")),
]

MHA = "MultiHeadAttention"
SPLIT = "x = x.view(batch, seq_len, num_heads, d_model // num_heads)  # (batch, seq_len, num_heads, d_k)\n    return x.transpose(1, 2)"
ATTENDED = "output, weights = scaled_dot_product_attention(query, key, value, mask, self.dropout)"

LESSON_2 = [
    Wrong("split_heads", "reshape without transpose", "values", "cuts across tokens", edit(SPLIT, "return x.reshape(batch, num_heads, seq_len, d_model // num_heads)")),
    Wrong("split_heads", "interleaved columns", "values", "every num_heads-th column", edit(SPLIT, "return x.view(batch, seq_len, d_model // num_heads, num_heads).permute(0, 3, 1, 2)")),
    Wrong("split_heads", "heads after the sequence", "shape", "heads still stand after", edit("return x.transpose(1, 2)", "return x")),
    Wrong("split_heads", "d_k and heads mixed up", "shape", "wrong shape", edit("x.view(batch, seq_len, num_heads, d_model // num_heads)", "x.view(batch, seq_len, d_model // num_heads, num_heads)")),
    Wrong("split_heads", "transposed before the cut", "values", "exchanged before", edit(SPLIT, "return x.transpose(1, 2).reshape(batch, num_heads, seq_len, d_model // num_heads)")),
    Wrong("split_heads", "heads reversed", "values", "reverse order", edit("return x.transpose(1, 2)", "return x.transpose(1, 2).flip(1)")),
    Wrong("split_heads", "the first block for every head", "values", "first d_k columns", edit("return x.transpose(1, 2)", "return x[:, :, :1].expand(-1, -1, num_heads, -1).transpose(1, 2)")),
    Wrong("split_heads", "three heads hard-coded", "values", edits=edit(SPLIT, "return torch.stack(x.split(4, dim=-1), dim=1)"), hidden=True),
    Wrong("split_heads", "zeros", "values", "wrong values", edit("return x.transpose(1, 2)", "return torch.zeros_like(x.transpose(1, 2))")),
    Wrong("split_heads", "a list of heads", "shape", "should be a torch.Tensor", edit("return x.transpose(1, 2)", "return list(x.transpose(1, 2))")),
    Wrong("merge_heads", "reshape without transpose", "values", "transpose first", edit("x.transpose(1, 2).flatten(2)", "x.reshape(x.size(0), x.size(2), -1)")),
    Wrong("merge_heads", "interleaved columns", "values", "interleaved", edit("x.transpose(1, 2).flatten(2)", "x.permute(0, 2, 3, 1).flatten(2)")),
    Wrong("merge_heads", "heads reversed", "values", "reverse order", edit("x.transpose(1, 2)", "x.flip(1).transpose(1, 2)")),
    Wrong("merge_heads", "view after transpose", "shape", "raised RuntimeError", edit("x.transpose(1, 2).flatten(2)", "x.transpose(1, 2).view(x.size(0), x.size(2), -1)")),
    Wrong("merge_heads", "joins the sequence instead", "shape", "wrong shape", edit("x.transpose(1, 2).flatten(2)", "x.flatten(2)")),
    Wrong("merge_heads", "averages the heads", "shape", "wrong shape", edit("x.transpose(1, 2).flatten(2)", "x.mean(1)")),
    Wrong(MHA, "no w_o", "values", "`w_o`, is left out", edit("self.w_o(merge_heads(output))", "merge_heads(output)")),
    Wrong(MHA, "the query projected for all three", "values", "`w_q` projects all three", edit("self.w_k(key)", "self.w_q(key)", "self.w_v(value)", "self.w_q(value)")),
    Wrong(MHA, "w_q projects the keys too", "values", "`w_q` projects the keys", edit("self.w_k(key)", "self.w_q(key)")),
    Wrong(MHA, "w_q and w_k swapped", "values", "swapped", edit("self.w_q(query)", "self.w_k(query)", "self.w_k(key)", "self.w_q(key)")),
    Wrong(MHA, "nothing projected", "values", "are not projected", edit("self.w_q(query)", "query", "self.w_k(key)", "key", "self.w_v(value)", "value")),
    Wrong(MHA, "keys and values exchanged", "values", "keys and values are exchanged", edit("(query, key, value, mask", "(query, value, key, mask")),
    Wrong(MHA, "values not projected", "values", "values are not projected", edit("self.w_v(value)", "value")),
    Wrong(MHA, "queries and keys not projected", "values", "query and key are not projected", edit("self.w_q(query)", "query", "self.w_k(key)", "key")),
    Wrong(MHA, "reshape instead of split", "values", "split by a reshape", edit("split_heads(self.w_q(query), self.num_heads)", "self.w_q(query).reshape(len(query), self.num_heads, query.size(1), -1)", "split_heads(self.w_k(key), self.num_heads)", "self.w_k(key).reshape(len(key), self.num_heads, key.size(1), -1)", "split_heads(self.w_v(value), self.num_heads)", "self.w_v(value).reshape(len(value), self.num_heads, value.size(1), -1)")),
    Wrong(MHA, "reshape instead of merge", "values", "merged by a reshape", edit("merge_heads(output)", "output.reshape(output.size(0), output.size(2), -1)")),
    Wrong(MHA, "scaled by √d_model", "values", "√d_model instead of √d_k", edit(ATTENDED, "output, weights = scaled_dot_product_attention(query / self.num_heads**0.5, key, value, mask, self.dropout)")),
    Wrong(MHA, "scaled twice", "values", "√d_k twice", edit(ATTENDED, "output, weights = scaled_dot_product_attention(query / query.size(-1) ** 0.5, key, value, mask, self.dropout)")),
    Wrong(MHA, "one wide head", "weights", "wrong shape", edit(ATTENDED, "output, weights = scaled_dot_product_attention(*(merge_heads(x)[:, None] for x in (query, key, value)), mask, self.dropout)", "merge_heads(output)", "output[:, 0]"), also="one head of width d_model"),
    Wrong(MHA, "one head, weights repeated", "values", "one head of width d_model", edit(ATTENDED, "output, weights = scaled_dot_product_attention(*(merge_heads(x)[:, None] for x in (query, key, value)), mask, self.dropout)\n        weights = weights.expand(-1, self.num_heads, -1, -1)", "merge_heads(output)", "output[:, 0]")),
    Wrong(MHA, "mask dropped", "cross", "mask is not used", edit("value, mask, self.dropout", "value, None, self.dropout")),
    Wrong(MHA, "mask inverted", "cross", "wrong way round", edit("value, mask, self.dropout", "value, None if mask is None else ~mask, self.dropout")),
    Wrong(MHA, "self-attention whatever comes in", "cross", "", edit("self.w_k(key)", "self.w_k(query)", "self.w_v(value)", "self.w_v(query)")),
    Wrong(MHA, "the key projected as the value", "cross", "`w_v` projects the key", edit("self.w_v(value)", "self.w_v(other)", "        query = split_heads(", "        other = key\n        query = split_heads(")),
    Wrong(MHA, "mask for the first head only", "cross", "first head only", edit(ATTENDED, "if mask is not None:\n            mask = mask | (torch.arange(self.num_heads) > 0)[:, None, None]\n        " + ATTENDED)),
    Wrong(MHA, "no error for a bad width", "error", "should raise ValueError", edit('        if d_model % num_heads != 0:\n            raise ValueError(f"num_heads = {num_heads} does not divide d_model = {d_model}.")\n', "")),
    Wrong(MHA, "the wrong error", "error", "wrong error", edit("raise ValueError", "raise KeyError")),
    Wrong(MHA, "refuses everything", "error", "raised ValueError", edit("if d_model % num_heads != 0", "if d_model % num_heads == 0")),
    Wrong(MHA, "layers in a list", "parameters", "no trainable parameter", edit("self.w_q = nn.Linear(d_model, d_model)", "self.layers = [nn.Linear(d_model, d_model)]", "self.w_q(query)", "self.layers[0](query)")),
    Wrong(MHA, "other names", "parameters", "no trainable parameter `w_q.weight`", edit("self.w_q", "self.query_layer")),
    Wrong(MHA, "no biases", "parameters", "`w_q.bias`", edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model, bias=False)")),
    Wrong(MHA, "one layer for all", "parameters", "is the same module as `w_q`", edit("self.w_k = nn.Linear(d_model, d_model)", "self.w_k = self.w_q")),
    Wrong(MHA, "small layers", "parameters", "wrong shape", edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model // num_heads)")),
    Wrong(MHA, "an extra layer", "parameters", "should not have", edit("self.attention_weights = None", "self.attention_weights = None\n        self.extra = nn.Linear(d_model, d_model)")),
    Wrong(MHA, "weights not kept", "weights", "is None", edit("        self.attention_weights = weights.detach()\n", "")),
    Wrong(MHA, "weights averaged over the heads", "weights", "averaged", edit("weights.detach()", "weights.detach().mean(1)")),
    Wrong(MHA, "weights attached", "weights", "still attached", edit("weights.detach()", "weights")),
    Wrong(MHA, "dropout forgotten", "dropout", "no entry of", edit("mask, self.dropout)", "mask)")),
    Wrong(MHA, "dropout in eval mode too", "dropout", "wrong values", edit("mask, self.dropout)", "mask, lambda w: F.dropout(w, self.dropout.p))")),
    Wrong(MHA, "dropout at a fixed rate", "dropout", "0.25", edit("nn.Dropout(dropout)", "nn.Dropout(0.5)")),
    Wrong(MHA, "dropout on the output", "dropout", "no entry of", edit("mask, self.dropout)", "mask)", "return self.w_o(merge_heads(output))", "return self.dropout(self.w_o(merge_heads(output)))")),
    Wrong(MHA, "calls nn.MultiheadAttention", "from_scratch", "ready `nn.MultiheadAttention`", edit("query = split_heads(", "theirs = nn.MultiheadAttention(query.size(-1), self.num_heads, batch_first=True)\n        theirs(query, key, value)\n        query = split_heads(")),
    Wrong(MHA, "a projection detached", "from_scratch", "`w_k.weight`", edit("self.w_k(key)", "self.w_k(key).detach()")),
    Wrong(MHA, "returns a tuple", "values", "should be a torch.Tensor", edit("return self.w_o(merge_heads(output))", "return self.w_o(merge_heads(output)), weights")),
    Wrong(MHA, "super().__init__() removed", "parameters", "raised AttributeError", edit("        super().__init__()\n", "")),
]

TOKEN = "TokenEmbedding"
SINE = "sinusoidal_encoding"
PE = "PositionalEncoding"
LEARNED = "LearnedPositionalEncoding"
SHIFT = "shift_matrix"
SPEED = "10000.0 ** (-torch.arange(0, d_model, 2) / d_model)"

LESSON_3 = [
    Wrong(TOKEN, "no factor", "values", "not multiplied by √d_model", edit(" * math.sqrt(self.d_model)", "")),
    Wrong(TOKEN, "divided", "values", "divided by √d_model", edit("* math", "/ math")),
    Wrong(TOKEN, "times d_model", "values", "d_model instead of √d_model", edit("math.sqrt(self.d_model)", "self.d_model")),
    Wrong(TOKEN, "times the root of the vocabulary", "values", "√vocab_size", edit("math.sqrt(self.d_model)", "math.sqrt(self.embedding.num_embeddings)")),
    Wrong(TOKEN, "times the root of the length", "values", "√seq_len", edit("math.sqrt(self.d_model)", "math.sqrt(tokens.size(1))")),
    Wrong(TOKEN, "another name", "shape", "no trainable parameter `embedding.weight`", edit("self.embedding", "self.table")),
    Wrong(TOKEN, "sizes swapped", "shape", "wrong shape", edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(d_model, vocab_size)")),
    Wrong(TOKEN, "a linear layer", "shape", "", edit("nn.Embedding(vocab_size, d_model)", "nn.Linear(vocab_size, d_model)")),
    Wrong(TOKEN, "a frozen table", "values", "No gradient", edit("self.embedding(tokens)", "self.embedding(tokens).detach()")),
    Wrong(TOKEN, "scales the table in place", "values", "changes `table`", edit("return self.embedding(tokens) * math.sqrt(self.d_model)", "self.embedding.weight.data *= math.sqrt(self.d_model)\n        return self.embedding(tokens)")),
    Wrong(TOKEN, "d_model not stored", "shape", "raised AttributeError", edit("        self.d_model = d_model\n", "")),
    Wrong("encoding_angle", "doubled exponent", "", "exponent is doubled", edit("even / d_model", "2 * even / d_model")),
    Wrong("encoding_angle", "the number of the pair", "", "number of the pair", edit("column // 2 * 2", "column // 2")),
    Wrong("encoding_angle", "the column's own number", "", "instead of its pair's even one", edit("column // 2 * 2", "column")),
    Wrong("encoding_angle", "multiplied", "", "multiplied by", edit("position / 10000", "position * 10000")),
    Wrong("encoding_angle", "not divided by d_model", "", "wrong values", edit("(even / d_model)", "even")),
    Wrong("encoding_angle", "the square of the pair", "", "wrong values", edit("column // 2 * 2", "(column // 2) ** 2")),
    Wrong("encoding_angle", "the sine", "", "sine of the angle", edit("return position / 10000 ** (even / d_model)", "return math.sin(position / 10000 ** (even / d_model))")),
    Wrong("encoding_angle", "the table of `^`", "", "raised TypeError", edit("**", "^")),
    Wrong("encoding_angle", "returns nothing", "", "Is there a `return`", edit("return position", "position")),
    Wrong("encoding_angle", "base 1000", "", "base is 1000", edit("10000", "1000")),
    Wrong(SINE, "doubled exponent", "values", "exponent is doubled", edit(SPEED, "10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)")),
    Wrong(SINE, "halved exponent", "values", "exponent is halved", edit(SPEED, "10000.0 ** (-torch.arange(d_model // 2) / d_model)")),
    Wrong(SINE, "cosine with its own column", "values", "speed of its own column", edit("torch.cos(position * speed)", "torch.cos(position * 10000.0 ** (-torch.arange(1, d_model, 2) / d_model))" )),
    Wrong(SINE, "halves", "values", "all sines come first", edit("0::2", ": d_model // 2", "1::2", "d_model // 2 :")),
    Wrong(SINE, "swapped", "values", "sine and cosine are swapped", edit("0::2", "1::2", "[:, 1::2] = torch.cos", "[:, 0::2] = torch.cos")),
    Wrong(SINE, "all sines", "values", "every column is a sine", edit("torch.cos", "torch.sin")),
    Wrong(SINE, "all cosines", "values", "every column is a cosine", edit("torch.sin", "torch.cos")),
    Wrong(SINE, "positions from 1", "values", "start at 1", edit("torch.arange(max_len)", "torch.arange(1, max_len + 1)")),
    Wrong(SINE, "multiplied instead of divided", "values", "multiplied by", edit("10000.0 ** (-", "10000.0 ** (")),
    Wrong(SINE, "base 1000", "values", "base is 1000 ", edit("10000.0", "1000.0")),
    Wrong(SINE, "integer division", "values", "as `//` makes it", edit(SPEED, "10000.0 ** (-(torch.arange(0, d_model, 2) // d_model))")),
    Wrong(SINE, "angles without sine and cosine", "values", "sine and cosine are missing", edit("torch.sin(position * speed)", "position * speed", "torch.cos(position * speed)", "position * speed")),
    Wrong(SINE, "float64", "shape", "wrong dtype", edit("return encoding", "return encoding.double()")),
    Wrong(SINE, "NumPy", "shape", "should be a torch.Tensor", edit("return encoding", "return encoding.numpy()")),
    Wrong(SINE, "leading dimension", "shape", "wrong shape", edit("return encoding", "return encoding[None]")),
    Wrong(SINE, "transposed", "shape", "wrong shape", edit("return encoding", "return encoding.T")),
    Wrong(SINE, "zeros", "values", "wrong values", edit("return encoding", "return torch.zeros(max_len, d_model)")),
    Wrong(SINE, "width 12 hard-coded", "values", edits=edit("2) / d_model", "2) / 12"), hidden=True),
    Wrong(PE, "not added", "values", "encoding is not added", edit("x + self.encoding[:seq_len]", "x")),
    Wrong(PE, "by the place in the batch", "values", "place in the batch", edit("self.encoding[:seq_len]", "self.encoding[: x.size(0)].unsqueeze(1)")),
    Wrong(PE, "one row for all", "values", "row of position 0", edit("self.encoding[:seq_len]", "self.encoding[0]")),
    Wrong(PE, "the row of the length", "values", "sequence's length", edit("self.encoding[:seq_len]", "self.encoding[seq_len]")),
    Wrong(PE, "the last rows", "values", "last rows", edit("self.encoding[:seq_len]", "self.encoding[-seq_len:]")),
    Wrong(PE, "scaled once more", "values", "√d_model once more", edit("x + self", "x * math.sqrt(x.size(-1)) + self")),
    Wrong(PE, "multiplied", "values", "multiplied instead of added", edit("x + self", "x * self")),
    Wrong(PE, "in place", "values", "changes `x`", edit("return self.dropout(x + self.encoding[:seq_len])", "x += self.encoding[:seq_len]\n        return self.dropout(x)")),
    Wrong(PE, "the whole table", "values", "raised RuntimeError", edit("self.encoding[:seq_len]", "self.encoding")),
    Wrong(PE, "a parameter", "layer", "is a parameter", edit('self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))', "self.encoding = nn.Parameter(sinusoidal_encoding(max_len, d_model))")),
    Wrong(PE, "a plain attribute", "layer", "not registered as a buffer", edit('self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))', "self.encoding = sinusoidal_encoding(max_len, d_model)")),
    Wrong(PE, "another name", "layer", "has no `encoding`", edit('register_buffer("encoding"', 'register_buffer("pe"', "self.encoding", "self.pe")),
    Wrong(PE, "no dropout", "layer", "no entry of `layer(x)` is dropped", edit("self.dropout(x + self.encoding[:seq_len])", "x + self.encoding[:seq_len]")),
    Wrong(PE, "dropout before the sum", "layer", "before the encoding is added", edit("self.dropout(x + self.encoding[:seq_len])", "self.dropout(x) + self.encoding[:seq_len]")),
    Wrong(PE, "dropout on the encoding", "layer", "on the encoding only", edit("self.dropout(x + self.encoding[:seq_len])", "x + self.dropout(self.encoding[:seq_len])")),
    Wrong(PE, "dropout in eval mode too", "values", "", edit("self.dropout(x + self.encoding[:seq_len])", "F.dropout(x + self.encoding[:seq_len], self.dropout.p)")),
    Wrong(PE, "dropout at a fixed rate", "layer", "0.5, whatever", edit("nn.Dropout(dropout)", "nn.Dropout()")),
    Wrong(PE, "keeps what should be dropped", "layer", "1 − dropout instead", edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")),
    Wrong(PE, "drops whole rows", "layer", "whole rows", edit("nn.Dropout(dropout)", "nn.Dropout1d(dropout)")),
    Wrong(PE, "no gradient", "layer", "No gradient flows back to `x`", edit("self.dropout(x + self", "self.dropout(x.detach() + self")),
    Wrong(PE, "no error", "error", "wrong error", edit("if seq_len > max_len:", "if False:")),
    Wrong(PE, "cuts what is too long", "error", "should raise ValueError", edit("if seq_len > max_len:", "if False:", "x + self", "x[:, :max_len] + self")),
    Wrong(PE, "a silent error", "error", "does not say enough", edit('f"The sequence has {seq_len} tokens, more than max_len = {max_len}."', '"too long"')),
    Wrong(PE, "off by one", "error", "raised ValueError", edit("seq_len > max_len", "seq_len >= max_len")),
    Wrong(PE, "one too many allowed", "error", edits=edit("seq_len > max_len", "seq_len > max_len + 1"), hidden=True),
    Wrong(SHIFT, "turns back", "values", "wrong way", edit("[cosine, sine], [-sine, cosine]", "[cosine, -sine], [sine, cosine]")),
    Wrong(SHIFT, "one speed for all", "values", "speed of the first", edit("offset / 10000 ** (even / d_model)", "offset")),
    Wrong(SHIFT, "doubled exponent", "values", "exponent is doubled", edit("even / d_model", "2 * even / d_model")),
    Wrong(SHIFT, "halved exponent", "values", "exponent is halved", edit("even / d_model", "even / 2 / d_model")),
    Wrong(SHIFT, "offset left out", "values", "offset does not enter", edit("angle = offset /", "angle = bool(offset) /")),
    Wrong(SHIFT, "forward only", "values", "wrong values", edit("angle = offset /", "angle = abs(offset) /")),
    Wrong(SHIFT, "identity", "values", "nothing is shifted", edit("angle = offset / 10000 ** (even / d_model)", "angle = 0.0")),
    Wrong(SHIFT, "cosines only", "values", "only the diagonal", edit("[cosine, sine], [-sine, cosine]", "[cosine, 0], [0, cosine]")),
    Wrong(SHIFT, "same signs", "values", "same sign", edit("-sine, cosine", "sine, cosine")),
    Wrong(SHIFT, "sine and cosine swapped", "shape", "wrong values", edit("[cosine, sine], [-sine, cosine]", "[sine, cosine], [-cosine, sine]"), also="sine and cosine are swapped"),
    Wrong(SHIFT, "for halves", "values", "rotations stand for halves", edit("return torch.block_diag(*blocks)", "order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])\n    return torch.block_diag(*blocks)[order][:, order]")),
    Wrong(SHIFT, "a 2 × 2 matrix", "shape", "wrong shape", edit("torch.block_diag(*blocks)", "blocks[0]")),
    Wrong(LEARNED, "not added", "values", "encoding is not added", edit("x + self.position(torch.arange(seq_len, device=x.device))", "x")),
    Wrong(LEARNED, "rows times √d_model", "values", "encoding is multiplied by √d_model", edit("x + self.position(", "x + x.size(-1) ** 0.5 * self.position(")),
    Wrong(LEARNED, "the longest sequence refused", "layer", "raised ValueError", edit("seq_len > max_len", "seq_len >= max_len")),
    Wrong(LEARNED, "input detached", "values", "No gradient flows back to `x`", edit("x + self.position(", "x.detach() + self.position(")),
    Wrong(LEARNED, "one position for all", "values", "row of position 0", edit("torch.arange(seq_len, device=x.device)", "torch.zeros(seq_len, dtype=torch.long)")),
    Wrong(LEARNED, "by the place in the batch", "values", "place in the batch", edit("self.position(torch.arange(seq_len, device=x.device))", "self.position(torch.arange(x.size(0)))[:, None]" )),
    Wrong(LEARNED, "positions from 1", "values", "start at 1", edit("torch.arange(seq_len, device=x.device)", "torch.arange(1, seq_len + 1)")),
    Wrong(LEARNED, "a sinusoidal buffer", "values", "no trainable parameter `position.weight`", edit("self.position = nn.Embedding(max_len, d_model)", 'self.register_buffer("position", sinusoidal_encoding(max_len, d_model))')),
    Wrong(LEARNED, "frozen", "values", "No gradient flows back to `position.weight`", edit("self.position(torch.arange(seq_len, device=x.device))", "self.position(torch.arange(seq_len, device=x.device)).detach()")),
    Wrong(LEARNED, "looks up the input", "values", "raised", edit("torch.arange(seq_len, device=x.device)", "x")),
    Wrong(LEARNED, "no error of its own", "layer", "wrong error", edit("if seq_len > max_len:", "if False:")),
    Wrong(LEARNED, "no dropout", "layer", "no entry of `layer(x)` is dropped", edit("self.dropout(x + self.position(torch.arange(seq_len, device=x.device)))", "x + self.position(torch.arange(seq_len, device=x.device))")),
    Wrong(LEARNED, "dropout on the positions only", "layer", "on the encoding only", edit("self.dropout(x + self.position(torch.arange(seq_len, device=x.device)))", "x + self.dropout(self.position(torch.arange(seq_len, device=x.device)))")),
]

NORM = "LayerNorm"
VARIANCE = "variance = x.var(dim=-1, correction=0, keepdim=True)"
FORMULA = "self.weight * (x - mean) / torch.sqrt(variance + self.eps) + self.bias"
FFN = "FeedForward"
ADD = "AddNorm"
ENCODER = "EncoderLayer"
DECODER = "DecoderLayer"
CROSS = "self.cross_attention(x, memory, memory, src_mask)"

LESSON_4 = [
    Wrong(NORM, "unbiased variance", "values", "d_model − 1 instead of d_model", edit("correction=0, ", "")),
    Wrong(NORM, "unbiased deviation, eps added to it", "eps", "both happens", edit(VARIANCE, "deviation = x.std(dim=-1, keepdim=True)", "torch.sqrt(variance + self.eps)", "(deviation + self.eps)"), also="d_model − 1 instead"),
    Wrong(NORM, "eps outside the root", "eps", "eps is added to the standard deviation", edit("torch.sqrt(variance + self.eps)", "(torch.sqrt(variance) + self.eps)")),
    Wrong(NORM, "no eps", "eps", "eps is left out", edit("variance + self.eps", "variance")),
    Wrong(NORM, "eps hard-coded", "eps", "eps is fixed at 1e-5", edit("variance + self.eps", "variance + 1e-5")),
    Wrong(NORM, "no root", "values", "root of the variance is missing", edit("torch.sqrt(variance + self.eps)", "(variance + self.eps)")),
    Wrong(NORM, "square for root", "values", "squared instead of taking its root", edit("torch.sqrt(variance + self.eps)", "(variance + self.eps) ** 2")),
    Wrong(NORM, "mean not subtracted", "values", "mean is not subtracted", edit("(x - mean)", "x")),
    Wrong(NORM, "over the positions", "values", "over the positions", edit("dim=-1", "dim=-2")),
    Wrong(NORM, "over the batch", "values", "over the batch", edit("dim=-1", "dim=0")),
    Wrong(NORM, "over positions and columns", "values", "positions and columns together", edit("dim=-1", "dim=(-2, -1)")),
    Wrong(NORM, "over everything", "values", "over everything", edit("x.mean(dim=-1, keepdim=True)", "x.mean()", VARIANCE, "variance = x.var(correction=0)")),
    Wrong(NORM, "weight and bias unused", "values", "`weight` and `bias` are not used", edit(FORMULA, "(x - mean) / torch.sqrt(variance + self.eps)")),
    Wrong(NORM, "bias unused", "values", "`bias` is not used", edit(" + self.bias", "")),
    Wrong(NORM, "weight unused", "values", "`weight` is not used", edit("self.weight * ", "")),
    Wrong(NORM, "not divided", "values", "not divided by their deviation", edit(" / torch.sqrt(variance + self.eps)", "")),
    Wrong(NORM, "keepdim forgotten", "values", "raised RuntimeError", edit("x.mean(dim=-1, keepdim=True)", "x.mean(dim=-1)")),
    Wrong(NORM, "weight begins with zeros", "parameters", "wrong values", edit("torch.ones(d_model)", "torch.zeros(d_model)")),
    Wrong(NORM, "bias begins with ones", "parameters", "wrong values", edit("torch.zeros(d_model)", "torch.ones(d_model)")),
    Wrong(NORM, "plain tensors", "parameters", "not as a layer or parameter", edit("nn.Parameter(torch.ones(d_model))", "torch.ones(d_model)")),
    Wrong(NORM, "one number for all columns", "parameters", "wrong shape", edit("torch.ones(d_model)", "torch.ones(1)")),
    Wrong(NORM, "other names", "parameters", "no trainable parameter `weight`", edit("self.weight", "self.gamma", "self.bias", "self.beta")),
    Wrong(NORM, "PyTorch's own", "values", "ready `nn.LayerNorm`", edit("mean = x", "return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)\n        mean = x" )),
    Wrong(NORM, "in place", "values", "changes `x`", edit("return self.weight * (x - mean)", "x -= mean\n        return self.weight * x")),
    Wrong(NORM, "detached statistics of a detached input", "values", "No gradient", edit("mean = x.mean", "x = x.detach()\n        mean = x.mean", "self.weight * (x", "self.weight.detach() * (x", "+ self.bias", "+ self.bias.detach()")),
    Wrong(NORM, "mean detached", "values", "gradient of norm(x)", edit("mean = x.mean(dim=-1, keepdim=True)", "mean = x.mean(dim=-1, keepdim=True).detach()"), hidden=True),
    Wrong(FFN, "ReLU6", "values", "network(20 * x)", edit("torch.relu(", "F.relu6("), hidden=True),
    Wrong(FFN, "drops whole positions", "values", "whole positions", edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[..., :1]))")),
    Wrong(FFN, "one mask for all positions", "values", "every position drops", edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones(hidden.size(-1)))")),
    Wrong(FFN, "one mask for all sentences", "values", "every sentence drops", edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[:1]))")),
    Wrong(FFN, "dropout at a fixed rate", "values", "At dropout=0.5", edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    Wrong(ADD, "x detached", "values", "No gradient flows back to `x`", edit("self.norm(x +", "self.norm(x.detach() +")),
    Wrong(ADD, "sub-layer detached", "values", "No gradient flows back to `sublayer_output`", edit("self.dropout(sublayer_output)", "self.dropout(sublayer_output.detach())")),
    Wrong(ENCODER, "mask in evaluation only", "values", "layer.train()(x, mask)", edit("self.self_attention(x, x, x, src_mask)", "self.self_attention(x, x, x, None if self.training else src_mask)"), hidden=True),
    Wrong(ENCODER, "network reads a detached input", "values", "the gradient of layer(x)", edit("self.feed_forward(x)", "self.feed_forward(x.detach())"), hidden=True),
    Wrong(DECODER, "query of the cross-attention detached", "values", "the gradient of layer(x, memory)", edit("self.cross_attention(x, memory", "self.cross_attention(x.detach(), memory"), hidden=True),
    Wrong(DECODER, "source mask only beside a target mask", "values", "layer(x, memory, src_mask)", edit("memory, memory, src_mask)", "memory, memory, None if tgt_mask is None else src_mask)"), hidden=True),
    Wrong(FFN, "no activation", "values", "no ReLU between", edit("torch.relu(self.linear_1(x))", "self.linear_1(x)")),
    Wrong(FFN, "activation at the end", "values", "after the second layer", edit("torch.relu(self.linear_1(x))", "self.linear_1(x)", "self.linear_2(self.dropout(hidden))", "torch.relu(self.linear_2(self.dropout(hidden)))")),
    Wrong(FFN, "two activations", "values", "after both layers", edit("self.linear_2(self.dropout(hidden))", "torch.relu(self.linear_2(self.dropout(hidden)))")),
    Wrong(FFN, "activation first", "values", "before the first layer", edit("torch.relu(self.linear_1(x))", "self.linear_1(torch.relu(x))")),
    Wrong(FFN, "GELU", "values", "GELU instead", edit("torch.relu(", "F.gelu(")),
    Wrong(FFN, "sigmoid", "values", "sigmoid instead", edit("torch.relu(", "torch.sigmoid(")),
    Wrong(FFN, "residual inside", "values", "next exercise's job", edit("return self.linear_2", "return x + self.linear_2")),
    Wrong(FFN, "layers swapped", "parameters", "wrong shape", edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_ff, d_model)", "self.linear_2 = nn.Linear(d_ff, d_model)", "self.linear_2 = nn.Linear(d_model, d_ff)")),
    Wrong(FFN, "other names", "parameters", "`linear_1.weight`", edit("linear_1", "first")),
    Wrong(FFN, "no biases", "parameters", "`linear_1.bias`", edit("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)")),
    Wrong(FFN, "in place on the input", "values", "changes `x`", edit("self.linear_1(x)", "self.linear_1(x.mul_(1.5))")),
    Wrong(FFN, "averages over positions", "values", "averaged over the positions", edit("self.dropout(hidden)", "self.dropout(hidden).mean(1, keepdim=True).expand_as(hidden)")),
    Wrong(FFN, "dropout always on", "values", "wrong values", edit("self.dropout(hidden)", "F.dropout(hidden, 0.5)")),
    Wrong(ADD, "no residual", "values", "residual is missing", edit("x + self.dropout(sublayer_output)", "self.dropout(sublayer_output)"), also="x is not added"),
    Wrong(ADD, "norm of the output, then the sum", "values", "normalised before it is added", edit("self.norm(x + self.dropout(sublayer_output))", "x + self.norm(self.dropout(sublayer_output))")),
    Wrong(ADD, "norm of x, then the sum", "values", "x is normalised before", edit("self.norm(x + self.dropout(sublayer_output))", "self.norm(x) + self.dropout(sublayer_output)")),
    Wrong(ADD, "no norm", "values", "nothing is normalised", edit("self.norm(x + self.dropout(sublayer_output))", "x + self.dropout(sublayer_output)")),
    Wrong(ADD, "the output unused", "values", "output of the sub-layer is missing", edit("x + self.dropout(sublayer_output)", "x")),
    Wrong(ADD, "two norms", "values", "each of the two is normalised", edit("self.norm(x + self.dropout(sublayer_output))", "self.norm(x) + self.norm(self.dropout(sublayer_output))")),
    Wrong(ADD, "dropout after the sum", "dropout", "after the addition", edit("x + self.dropout(sublayer_output)", "self.dropout(x + sublayer_output)")),
    Wrong(ADD, "dropout after the norm", "dropout", "after the addition", edit("self.norm(x + self.dropout(sublayer_output))", "self.dropout(self.norm(x + sublayer_output))")),
    Wrong(ADD, "dropout on x", "dropout", "on x instead", edit("x + self.dropout(sublayer_output)", "self.dropout(x) + sublayer_output")),
    Wrong(ADD, "no dropout", "dropout", "nothing is dropped", edit("self.dropout(sublayer_output)", "sublayer_output")),
    Wrong(ADD, "dropout at a fixed rate", "dropout", "wrong values", edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    Wrong(ADD, "another name", "values", "no trainable parameter `norm.weight`", edit("self.norm", "self.layer_norm")),
    Wrong(ADD, "in place", "values", "changes `x`", edit("return self.norm(x + self.dropout(sublayer_output))", "x += self.dropout(sublayer_output)\n        return self.norm(x)")),
    Wrong(ENCODER, "mask dropped", "values", "mask is not handed", edit("x, x, x, src_mask", "x, x, x")),
    Wrong(ENCODER, "second residual from the input", "values", "starts from the layer's input", edit("x = self.add_norm_1(x,", "y = self.add_norm_1(x,", "self.feed_forward(x)", "self.feed_forward(y)")),
    Wrong(ENCODER, "network reads the input", "values", "network reads the layer's input", edit("x = self.add_norm_1(x,", "y = self.add_norm_1(x,", "self.add_norm_2(x,", "self.add_norm_2(y,")),
    Wrong(ENCODER, "no first add & norm", "values", "first add & norm is left out", edit("x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))", "x = self.self_attention(x, x, x, src_mask)")),
    Wrong(ENCODER, "no second add & norm", "values", "second add & norm is left out", edit("self.add_norm_2(x, self.feed_forward(x))", "self.feed_forward(x)")),
    Wrong(ENCODER, "no network", "values", "network is left out", edit("return self.add_norm_2(x, self.feed_forward(x))", "return x")),
    Wrong(ENCODER, "no attention", "values", "attention is left out", edit("        x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))\n", "")),
    Wrong(ENCODER, "the first norm twice", "values", "add_norm_1 is used twice", edit("return self.add_norm_2", "return self.add_norm_1")),
    Wrong(ENCODER, "residual twice", "values", "before each add & norm", edit("self.add_norm_1(x, self", "self.add_norm_1(x, x + self", "self.add_norm_2(x, self", "self.add_norm_2(x, x + self")),
    Wrong(ENCODER, "residual twice around the attention", "values", "before add_norm_1", edit("self.add_norm_1(x, self", "self.add_norm_1(x, x + self")),
    Wrong(ENCODER, "residual twice around the network", "values", "before add_norm_2", edit("self.add_norm_2(x, self", "self.add_norm_2(x, x + self")),
    Wrong(ENCODER, "norms exchanged", "values", "exchanged", edit("x = self.add_norm_1(", "x = self.add_norm_2(", "return self.add_norm_2(", "return self.add_norm_1(")),
    Wrong(
        ENCODER,
        "network first",
        "values",
        "before the attention",
        source="""class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1, self.add_norm_2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(self, x, src_mask=None):
        x = self.add_norm_1(x, self.feed_forward(x))
        return self.add_norm_2(x, self.self_attention(x, x, x, src_mask))""",
    ),
    Wrong(ENCODER, "pre-norm", "values", "pre-norm", edit("x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))", "n = self.add_norm_1.norm(x)\n        x = x + self.self_attention(n, n, n, src_mask)", "return self.add_norm_2(x, self.feed_forward(x))", "return x + self.feed_forward(self.add_norm_2.norm(x))")),
    Wrong(ENCODER, "one add & norm under two names", "parameters", "is the same module as `add_norm_1`", edit("self.add_norm_2 = AddNorm(d_model, dropout)", "self.add_norm_2 = self.add_norm_1")),
    Wrong(ENCODER, "other names", "parameters", "no trainable parameter `self_attention", edit("self.self_attention", "self.attention")),
    Wrong(ENCODER, "d_ff ignored", "parameters", "wrong shape", edit("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, 4 * d_model, dropout)")),
    Wrong(ENCODER, "an extra part", "parameters", "should not have", edit("self.add_norm_2 = AddNorm(d_model, dropout)", "self.add_norm_2 = AddNorm(d_model, dropout)\n        self.final = AddNorm(d_model)")),
    Wrong(ENCODER, "dropout not passed on", "dropout", "Hand `dropout` on", edit("AddNorm(d_model, dropout)", "AddNorm(d_model)")),
    Wrong(ENCODER, "add & norm the wrong way round", "dropout", "wrong values", edit("x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))", "x = self.add_norm_1(self.self_attention(x, x, x, src_mask), x)", "self.add_norm_2(x, self.feed_forward(x))", "self.add_norm_2(self.feed_forward(x), x)")),
    Wrong(DECODER, "no mask in the self-attention", "masks", "wrong values", edit("x, x, x, tgt_mask", "x, x, x"), also="sees the future"),
    Wrong(DECODER, "mask in evaluation only", "masks", "wrong values", edit("x, x, x, tgt_mask", "x, x, x, None if self.training else tgt_mask")),
    Wrong(DECODER, "memory detached", "values", "No gradient flows back to `memory`", edit("memory, memory, src_mask", "memory.detach(), memory.detach(), src_mask")),
    Wrong(DECODER, "dropout not passed on", "dropout", "Hand `dropout` on", edit("AddNorm(d_model, dropout)", "AddNorm(d_model)")),
    Wrong(DECODER, "add & norm the wrong way round", "dropout", "wrong values", edit("self.add_norm_3(x, self.feed_forward(x))", "self.add_norm_3(self.feed_forward(x), x)")),
    Wrong(DECODER, "mask in training only", "masks", "wrong values", edit("x, x, x, tgt_mask", "x, x, x, tgt_mask if self.training else None"), also="sees the future"),
    Wrong(DECODER, "no mask in the cross-attention", "values", "cross-attention gets no mask", edit("memory, memory, src_mask", "memory, memory")),
    Wrong(DECODER, "masks exchanged", "values", "raised", edit("x, x, x, tgt_mask", "x, x, x, src_mask", "memory, memory, src_mask", "memory, memory, tgt_mask")),
    Wrong(DECODER, "query from memory", "values", "", edit(CROSS, "self.cross_attention(memory, x, x, src_mask)")),
    Wrong(DECODER, "value from the target", "values", "", edit(CROSS, "self.cross_attention(x, memory, x, src_mask)")),
    Wrong(DECODER, "cross-attention to the target", "values", "", edit(CROSS, "self.cross_attention(x, x, x, tgt_mask)")),
    Wrong(DECODER, "no cross-attention", "values", "cross-attention is left out", edit(f"        x = self.add_norm_2(x, {CROSS})\n", "")),
    Wrong(DECODER, "no self-attention", "values", "masked self-attention is left out", edit("        x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))\n", "")),
    Wrong(DECODER, "no network", "values", "network is left out", edit("return self.add_norm_3(x, self.feed_forward(x))", "return x")),
    Wrong(DECODER, "third add & norm left out", "values", "third add & norm is left out", edit("return self.add_norm_3(x, self.feed_forward(x))", "return self.feed_forward(x)")),
    Wrong(DECODER, "no residual round the cross-attention", "values", "no residual around", edit(f"self.add_norm_2(x, {CROSS})", f"self.add_norm_2.norm({CROSS})")),
    Wrong(DECODER, "residual twice", "values", "before each add & norm", edit("_1(x, self", "_1(x, x + self", "_2(x, self", "_2(x, x + self", "_3(x, self", "_3(x, x + self")),
    Wrong(DECODER, "one norm for all", "values", "used for all three", edit("x = self.add_norm_2(", "x = self.add_norm_1(", "return self.add_norm_3(", "return self.add_norm_1(")),
    Wrong(DECODER, "the second norm twice", "values", "add_norm_2 is used twice", edit("return self.add_norm_3(", "return self.add_norm_2(")),
    Wrong(DECODER, "one attention for both", "values", "one attention does both jobs", edit("self.cross_attention(x", "self.self_attention(x")),
    Wrong(DECODER, "one attention under two names", "parameters", "is the same module as `self_attention`", edit("self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)", "self.cross_attention = self.self_attention")),
    Wrong(DECODER, "second residual from the input", "values", "second residual starts from the layer's input", edit("x = self.add_norm_1(x, self.self", "y = self.add_norm_1(x, self.self", "self.cross_attention(x", "self.cross_attention(y")),
    Wrong(DECODER, "two add & norms", "parameters", "no trainable parameter `add_norm_3", edit("        self.add_norm_3 = AddNorm(d_model, dropout)\n", "", "return self.add_norm_3(", "return self.add_norm_2(")),
    Wrong(DECODER, "returns a pair", "values", "should be a torch.Tensor", edit("return self.add_norm_3(x, self.feed_forward(x))", "return self.add_norm_3(x, self.feed_forward(x)), memory" )),
]

ENCODER_STACK, DECODER_STACK, MODEL = "Encoder", "Decoder", "Transformer"
INITIALIZE, COUNT = "initialize_parameters", "count_parameters"
ENCODERS = """nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )"""
DECODERS = ENCODERS.replace("Encoder", "Decoder")
EMBED_SOURCE = "self.positional_encoding(self.src_embedding(src))"
EMBED_TARGET = "self.positional_encoding(self.tgt_embedding(tgt))"
TIE = "self.output_projection.weight = self.src_embedding.embedding.weight"
TIE_TARGET = "self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight"
DECODED = "self.decoder(x, memory, src_mask, tgt_mask)"
MASKS = "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)"

LESSON_5 = [
    Wrong(ENCODER_STACK, "a Python list", "layers", "PyTorch finds no layers in a plain list", edit(ENCODERS, ENCODERS.replace("nn.ModuleList", "list"))),
    Wrong(ENCODER_STACK, "one layer many times", "layers", "`layers.1.self_attn", edit(ENCODERS, "nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)")),
    Wrong(ENCODER_STACK, "always six layers", "layers", "wrong number of layers", edit("range(num_layers)", "range(6)")),
    Wrong(ENCODER_STACK, "a norm at the end", "layers", "should not have", edit("        )\n", "        )\n        self.norm = nn.LayerNorm(d_model)\n", "return x", "return self.norm(x)" )),
    Wrong(ENCODER_STACK, "a norm without parameters at the end", "values", "one more norm at the end", edit("return x", "return F.layer_norm(x, x.shape[-1:])")),
    Wrong(ENCODER_STACK, "mask forgotten", "values", "mask is not handed to the layers", edit("layer(x, src_mask)", "layer(x)")),
    Wrong(ENCODER_STACK, "mask for the first layer only", "values", "first layer only", edit("x = layer(x, src_mask)", "x, src_mask = layer(x, src_mask), None")),
    Wrong(ENCODER_STACK, "each layer reads the input", "values", "reads the input of the stack", edit("x = layer(x, src_mask)\n        return x", "y = layer(x, src_mask)\n        return y")),
    Wrong(ENCODER_STACK, "returns in the loop", "values", "only the first layer is used", edit("            x = layer(x, src_mask)\n        return x", "            x = layer(x, src_mask)\n            return x")),
    Wrong(ENCODER_STACK, "reversed", "values", "reverse order", edit("in self.layers:", "in reversed(self.layers):")),
    Wrong(ENCODER_STACK, "the first layer every time", "values", "first layer is used every time", edit("layer(x, src_mask)", "self.layers[0](x, src_mask)")),
    Wrong(ENCODER_STACK, "a residual round each layer", "values", "added to its input", edit("x = layer(x, src_mask)", "x = x + layer(x, src_mask)")),
    Wrong(ENCODER_STACK, "only right for three layers", "values", "wrong values", edit("for layer in self.layers:", "for layer in self.layers[:3]:"), hidden=True),
    Wrong(ENCODER_STACK, "at most three layers", "values", "wrong number of layers", edit("range(num_layers)", "range(min(num_layers, 3))"), hidden=True),
    Wrong(ENCODER_STACK, "at least two layers", "values", "wrong number of layers", edit("range(num_layers)", "range(max(num_layers, 2))"), hidden=True),
    Wrong(ENCODER_STACK, "sizes exchanged", "layers", "", edit("d_model, num_heads, d_ff, dropout)", "d_model, num_heads, d_model, dropout)")),
    Wrong(ENCODER_STACK, "dropout not handed on", "layers", "drop out at", edit("d_ff, dropout)", "d_ff)")),
    Wrong(DECODER_STACK, "a Python list", "layers", "PyTorch finds no layers in a plain list", edit(DECODERS, DECODERS.replace("nn.ModuleList", "list"))),
    Wrong(DECODER_STACK, "at least two layers", "values", "wrong number of layers", edit("range(num_layers)", "range(max(num_layers, 2))"), hidden=True),
    Wrong(DECODER_STACK, "encoder layers", "layers", "layers of the class DecoderLayer", edit("DecoderLayer(", "EncoderLayer(")),
    Wrong(DECODER_STACK, "one layer many times", "layers", "`layers.1.self_attn", edit(DECODERS, "nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)")),
    Wrong(DECODER_STACK, "at most three layers", "values", "wrong number of layers", edit("range(num_layers)", "range(min(num_layers, 3))"), hidden=True),
    Wrong(DECODER_STACK, "dropout not handed on", "layers", "drop out at", edit("d_ff, dropout)", "d_ff)")),
    Wrong(DECODER_STACK, "no masks", "values", "no mask is handed", edit("layer(x, memory, src_mask, tgt_mask)", "layer(x, memory)")),
    Wrong(DECODER_STACK, "no target mask", "values", "`tgt_mask` is not handed", edit("layer(x, memory, src_mask, tgt_mask)", "layer(x, memory, src_mask)")),
    Wrong(DECODER_STACK, "no source mask", "values", "`src_mask` is not handed", edit("layer(x, memory, src_mask, tgt_mask)", "layer(x, memory, None, tgt_mask)")),
    Wrong(DECODER_STACK, "masks exchanged", "values", "RuntimeError", edit("src_mask, tgt_mask)\n        return", "tgt_mask, src_mask)\n        return")),
    Wrong(DECODER_STACK, "the memory is overwritten", "values", "", edit("x = layer(x, memory, src_mask, tgt_mask)", "x = memory = layer(x, memory, src_mask, tgt_mask)")),
    Wrong(DECODER_STACK, "each layer reads the input", "values", "reads the input of the stack", edit("x = layer(x, memory, src_mask, tgt_mask)\n        return x", "y = layer(x, memory, src_mask, tgt_mask)\n        return y")),
    Wrong(DECODER_STACK, "reversed", "values", "reverse order", edit("in self.layers:", "in reversed(self.layers):")),
    Wrong(DECODER_STACK, "a norm at the end", "layers", "should not have", edit("        )\n", "        )\n        self.norm = nn.LayerNorm(d_model)\n", "return x", "return self.norm(x)" )),
    Wrong(MODEL, "two positional encodings", "parts", "", edit("self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)", "self.positional_encoding = nn.Embedding(max_len, d_model)")),
    Wrong(MODEL, "no bias in the output layer", "parts", "`output_projection.bias`", edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, tgt_vocab_size, bias=False)")),
    Wrong(MODEL, "projects to the source's vocabulary", "parts", "wrong shape", edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, src_vocab_size)")),
    Wrong(MODEL, "one embedding for both", "parts", "same module as `src_embedding`", edit("self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)", "self.tgt_embedding = self.src_embedding")),
    Wrong(MODEL, "always two layers", "parts", "", edit("Encoder(num_layers,", "Encoder(2,", "Decoder(num_layers,", "Decoder(2,"), hidden=True),
    Wrong(MODEL, "at least two layers", "values", "With num_layers=1 the stacks have [2] layers", edit("Encoder(num_layers,", "Encoder(max(num_layers, 2),", "Decoder(num_layers,", "Decoder(max(num_layers, 2),"), hidden=True),
    Wrong(MODEL, "num_heads and num_layers exchanged", "parts", "", edit("Encoder(num_layers, d_model, num_heads,", "Encoder(num_heads, d_model, num_layers,")),
    Wrong(MODEL, "dropout fixed", "parts", "drop out at", edit("PositionalEncoding(d_model, max_len, dropout)", "PositionalEncoding(d_model, max_len)")),
    Wrong(MODEL, "max_len ignored", "parts", "should raise ValueError", edit("PositionalEncoding(d_model, max_len, dropout)", "PositionalEncoding(d_model, dropout=dropout)")),
    Wrong(MODEL, "no positions", "values", "no positions are added, neither", edit(EMBED_SOURCE, "self.src_embedding(src)", EMBED_TARGET, "self.tgt_embedding(tgt)")),
    Wrong(MODEL, "no positions in the source", "values", "no positions are added to the source", edit(EMBED_SOURCE, "self.src_embedding(src)")),
    Wrong(MODEL, "no positions in the target", "values", "no positions are added to the target", edit(EMBED_TARGET, "self.tgt_embedding(tgt)")),
    Wrong(MODEL, "scaled twice", "values", "once more", edit("self.src_embedding(src)", "math.sqrt(self.d_model) * self.src_embedding(src)", "self.tgt_embedding(tgt)", "math.sqrt(self.d_model) * self.tgt_embedding(tgt)", "self.pad_id = pad_id", "self.pad_id, self.d_model = pad_id, d_model")),
    Wrong(MODEL, "softmax on the logits", "values", "a softmax is applied", edit(f"self.output_projection({DECODED})", f"self.output_projection({DECODED}).softmax(-1)")),
    Wrong(MODEL, "target in the source's embedding", "values", "embedded with `src_embedding`", edit("self.tgt_embedding(tgt)", "self.src_embedding(tgt)")),
    Wrong(MODEL, "no encoder", "values", "encoder is left out", edit("return self.encoder(x, padding_mask(src, self.pad_id))", "return x")),
    Wrong(MODEL, "no output layer", "values", "wrong shape", edit(f"self.output_projection({DECODED})", DECODED)),
    Wrong(MODEL, "encodes again in decode", "values", "stays the same when the memory changes", edit(MASKS, "memory = self.encode(src)\n        " + MASKS)),
    Wrong(MODEL, "returns the last position only", "values", "wrong shape", edit(f"self.output_projection({DECODED})", f"self.output_projection({DECODED})[:, -1]")),
    Wrong(MODEL, "returns a pair", "values", "should be a torch.Tensor", edit("return self.decode(tgt, self.encode(src), src)", "memory = self.encode(src)\n        return self.decode(tgt, memory, src), memory")),
    Wrong(MODEL, "runs without gradients", "values", "No gradient", edit("return self.decode(tgt, self.encode(src), src)", "with torch.no_grad():\n            return self.decode(tgt, self.encode(src), src)")),
    Wrong(MODEL, "detached memory", "values", "No gradient", edit("return self.decode(tgt, self.encode(src), src)", "return self.decode(tgt, self.encode(src).detach(), src)" )),
    Wrong(MODEL, "no causal mask", "masks", "no causal mask", edit("decoder_mask(tgt, self.pad_id)", "padding_mask(tgt, self.pad_id)")),
    Wrong(MODEL, "causal mask in training only", "masks", "no causal mask", edit(MASKS, MASKS + "\n        if not self.training:\n            tgt_mask = padding_mask(tgt, self.pad_id)")),
    Wrong(MODEL, "causal mask in evaluation only", "masks", "no causal mask", edit(MASKS, MASKS + "\n        if self.training:\n            tgt_mask = padding_mask(tgt, self.pad_id)")),
    Wrong(MODEL, "no mask in the encoder", "masks", "encoder gets no mask", edit("self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x)")),
    Wrong(MODEL, "no mask in the cross-attention", "masks", "cross-attention gets no mask", edit(DECODED, "self.decoder(x, memory, None, tgt_mask)")),
    Wrong(MODEL, "no mask of the source anywhere", "masks", "neither the encoder nor the cross-attention", edit("self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x)", DECODED, "self.decoder(x, memory, None, tgt_mask)")),
    Wrong(MODEL, "the mask of the cross-attention from the target", "masks", "RuntimeError", edit("src_mask, tgt_mask = padding_mask(src, self.pad_id)", "src_mask, tgt_mask = padding_mask(tgt, self.pad_id)" )),
    Wrong(MODEL, "a causal mask in the encoder", "values", "", edit("self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x, decoder_mask(src, self.pad_id))")),
    Wrong(MODEL, "pad id 0 hard-coded", "masks", "embeds pad_id=4", edit("self.pad_id = pad_id", "self.pad_id = 0")),
    Wrong(MODEL, "padding of the target not hidden", "masks", "`tgt_embedding` embeds pad_id=4", edit("decoder_mask(tgt, self.pad_id)", "decoder_mask(tgt, -1)")),
    Wrong(MODEL, "equal copies instead of sharing", "sharing", "another parameter with the same numbers", edit(TIE_TARGET, "self.tgt_embedding.embedding.weight.data.copy_(self.src_embedding.embedding.weight)", TIE, "self.output_projection.weight.data.copy_(self.src_embedding.embedding.weight)")),
    Wrong(MODEL, "the output layer left out of the sharing", "sharing", "`output_projection.weight` is not the parameter", edit("            " + TIE + "\n", "")),
    Wrong(MODEL, "the target left out of the sharing", "sharing", "`tgt_embedding.embedding.weight` is not the parameter", edit("            " + TIE_TARGET + "\n", "")),
    Wrong(MODEL, "always shared when it fits", "sharing", "are one parameter", edit("        if share_embeddings:\n", "        if src_vocab_size == tgt_vocab_size:\n")),
    Wrong(MODEL, "no error for different vocabularies", "sharing", "should raise ValueError", edit("if share_embeddings and src_vocab_size != tgt_vocab_size:", "if False:")),
    Wrong(INITIALIZE, "biases too", "", "ValueError", edit("if parameter.dim() > 1:", "if True:")),
    Wrong(INITIALIZE, "Xavier's normal", "", "Xavier's bound", edit("xavier_uniform_", "xavier_normal_")),
    Wrong(INITIALIZE, "Kaiming's", "", "", edit("xavier_uniform_", "kaiming_uniform_")),
    Wrong(INITIALIZE, "a normal distribution", "", "", edit("nn.init.xavier_uniform_(parameter)", "nn.init.normal_(parameter, std=0.02)")),
    Wrong(
        INITIALIZE,
        "linear layers only",
        "",
        "`table.weight` stays the same",
        source="""def initialize_parameters(model):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)""",
    ),
    Wrong(INITIALIZE, "biases set to zero", "", "wrong values", edit("            nn.init.xavier_uniform_(parameter)", "            nn.init.xavier_uniform_(parameter)\n        else:\n            nn.init.zeros_(parameter)")),
    Wrong(
        INITIALIZE,
        "new parameters",
        "",
        "is a new parameter",
        source="""def initialize_parameters(model):
    for module in model.modules():
        if getattr(module, "weight", None) is not None and module.weight.dim() > 1:
            module.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty_like(module.weight)))""",
    ),
    Wrong(INITIALIZE, "does nothing", "", "stays the same", edit("nn.init.xavier_uniform_(parameter)", "pass")),
    Wrong(
        INITIALIZE,
        "only direct children",
        "",
        "",
        source="""def initialize_parameters(model):
    for module in model.children():
        for parameter in module.parameters(recurse=False):
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)""",
        hidden=True,
    ),
    Wrong(COUNT, "counts tensors", "", "tensors are counted", edit("p.numel()", "1")),
    Wrong(COUNT, "frozen ones too", "", "frozen parameter is counted", edit(" if p.requires_grad", "")),
    Wrong(COUNT, "state_dict", "", "counted twice", edit("model.parameters() if p.requires_grad", "model.state_dict().values()")),
    Wrong(COUNT, "rows only", "", "rows are counted", edit("p.numel()", "len(p)")),
    Wrong(
        COUNT,
        "shared ones twice",
        "",
        "counted twice",
        source="""def count_parameters(model):
    return sum(p.numel() for module in model.modules() for p in module.parameters(recurse=False) if p.requires_grad)""",
    ),
    Wrong(COUNT, "matrices only", "", "biases are left out", edit("if p.requires_grad", "if p.requires_grad and p.dim() > 1")),
    Wrong(COUNT, "prints instead of returning", "", "should be one number", edit("return sum(", "print(", " if p.requires_grad)", " if p.requires_grad)")),
]

FORCING, LOSS, RATE, STEP, EVALUATE = (
    "teacher_forcing",
    "label_smoothed_loss",
    "learning_rate",
    "train_step",
    "evaluate",
)
CROSS_ENTROPY = """F.cross_entropy(
        logits.flatten(0, 1),  # (batch · tgt_len, vocab_size)
        labels.flatten(),
        ignore_index=pad_id,
        label_smoothing=smoothing,
    )"""
CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)\n"
SUMS = """            loss += F.cross_entropy(logits[real], labels[real], reduction="sum").item()"""
HITS = "            hits += (logits.argmax(-1) == labels)[real].sum().item()"

LESSON_6 = [
    Wrong(FORCING, "input and labels exchanged", "", "tokens that are given, not those that follow", edit("tgt[:, :-1], tgt[:, 1:]", "tgt[:, 1:], tgt[:, :-1]")),
    Wrong(FORCING, "no shift", "", "tokens that are given, not those that follow", edit("tgt[:, 1:]", "tgt[:, :-1]")),
    Wrong(FORCING, "nothing cut off", "", "BOS is not taken off", edit("tgt[:, :-1], tgt[:, 1:]", "tgt, tgt")),
    Wrong(FORCING, "the input not cut off", "", "last token is not taken off", edit("tgt[:, :-1], tgt[:, 1:]", "tgt, tgt[:, 1:]")),
    Wrong(FORCING, "labels twice", "", "given the tokens that it has to predict", edit("tgt[:, :-1], tgt[:, 1:]", "tgt[:, 1:], tgt[:, 1:]")),
    Wrong(FORCING, "BOS predicted", "", "BOS is not taken off", edit("tgt[:, 1:]", "tgt")),
    Wrong(FORCING, "labels rolled round", "", "comes round again", edit("tgt[:, 1:]", "tgt.roll(-1, 1)")),
    Wrong(FORCING, "shifted by two", "", "shifted by two", edit("tgt[:, 1:]", "tgt[:, 2:]")),
    Wrong(FORCING, "BOS and end cut from the input", "", "BOS is missing", edit("tgt[:, :-1]", "tgt[:, 1:-1]")),
    Wrong(FORCING, "rows instead of columns", "", "wrong shape", edit("tgt[:, :-1], tgt[:, 1:]", "tgt[:-1], tgt[1:]")),
    Wrong(FORCING, "one tensor", "", "should return 2 tensors", edit("tgt[:, :-1], tgt[:, 1:]", "torch.stack([tgt[:, :-1], tgt[:, 1:]]).float()")),
    Wrong(FORCING, "EOS wiped out of the caller's target", "", "changes `tgt`", edit("return tgt[:, :-1]", "tgt[tgt == 2] = 0\n    return tgt[:, :-1]")),
    Wrong(FORCING, "labels as floats", "", "wrong dtype", edit("tgt[:, 1:]", "tgt[:, 1:].float()")),
    Wrong(LOSS, "no smoothing", "values", "not smoothed", edit("        label_smoothing=smoothing,\n", "")),
    Wrong(LOSS, "smoothing fixed", "values", "smoothing=0.0", edit("label_smoothing=smoothing", "label_smoothing=0.1")),
    Wrong(LOSS, "padding counts", "padding", "wrong values", edit("        ignore_index=pad_id,\n", ""), also="padding counts as a label"),
    Wrong(LOSS, "padding counts (values)", "values", "padding counts as a label", edit("        ignore_index=pad_id,\n", "")),
    Wrong(LOSS, "pad id fixed", "padding", "pad_id=6", edit("ignore_index=pad_id", "ignore_index=0")),
    Wrong(LOSS, "summed", "values", "summed instead of averaged", edit("label_smoothing=smoothing,", "label_smoothing=smoothing, reduction='sum',")),
    Wrong(LOSS, "divided by all positions", "values", "number of all positions", edit("return F", "count = labels.numel()\n    return F", "label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / count")),
    Wrong(LOSS, "divided by all positions (padding)", "padding", "wrong values", edit("label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / labels.numel()" ), also="number of all positions"),
    Wrong(LOSS, "divided by the sentences", "values", "number of sentences", edit("label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / len(labels)")),
    Wrong(
        LOSS,
        "sentence by sentence",
        "values",
        "each sentence is averaged by itself",
        source="""def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
    rows = [F.cross_entropy(a, b, ignore_index=pad_id, label_smoothing=smoothing) for a, b in zip(logits, labels)]
    return torch.stack(rows).mean()""",
    ),
    Wrong(
        LOSS,
        "smoothing over V - 1",
        "values",
        "vocab_size − 1",
        source="""def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
    log_probs = logits.log_softmax(-1)
    q = torch.full_like(log_probs, smoothing / (logits.size(-1) - 1))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    return -(q * log_probs).sum(-1)[labels != pad_id].mean()""",
    ),
    Wrong(
        LOSS,
        "smoothing over V - 2",
        "values",
        "vocab_size − 2",
        source="""def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
    log_probs = logits.log_softmax(-1)
    q = torch.full_like(log_probs, smoothing / (logits.size(-1) - 2))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    q[..., pad_id] = 0
    return -(q * log_probs).sum(-1)[labels != pad_id].mean()""",
    ),
    Wrong(
        LOSS,
        "KL divergence",
        "values",
        "KL divergence",
        source="""def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
    log_probs = logits.log_softmax(-1)
    q = torch.full_like(log_probs, smoothing / logits.size(-1))
    q.scatter_add_(-1, labels.unsqueeze(-1), torch.full_like(log_probs[..., :1], 1 - smoothing))
    return F.kl_div(log_probs, q, reduction="none").sum(-1)[labels != pad_id].mean()""",
    ),
    Wrong(LOSS, "softmax first", "values", "a softmax comes before", edit("logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)")),
    Wrong(LOSS, "softmax over the positions first", "values", "wrong values", edit("logits.flatten(0, 1)", "logits.log_softmax(1).flatten(0, 1)")),
    Wrong(LOSS, "flattened in different orders", "values", "different orders", edit("logits.flatten(0, 1)", "logits.transpose(0, 1).flatten(0, 1)")),
    Wrong(LOSS, "vocabulary moved by a reshape", "values", "mixed up by a reshape", edit("logits.flatten(0, 1)", "logits.transpose(1, 2).reshape(-1, logits.size(-1))")),
    Wrong(LOSS, "detached", "values", "No gradient", edit("logits.flatten(0, 1)", "logits.detach().flatten(0, 1)")),
    Wrong(LOSS, "crashes without padding", "padding", "raised", edit("return F", "first = (labels == pad_id).nonzero()[0]\n    return F")),
    Wrong(LOSS, "masks the logits of padding with zeros", "padding", "wrong values", edit("return F", "logits = logits * (labels != pad_id).unsqueeze(-1)\n    return F", "        ignore_index=pad_id,\n", "")),
    Wrong(LOSS, "one loss for each token", "values", "should be one number", edit("label_smoothing=smoothing,", "label_smoothing=smoothing, reduction='none',")),
    Wrong(
        LOSS,
        "logarithm of a softmax by hand",
        "values",
        "",
        source="""def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    real = labels != pad_id
    right = p.gather(-1, labels.unsqueeze(-1)).squeeze(-1).log()
    return -((1 - smoothing) * right + smoothing * p.log().mean(-1))[real].mean()""",
        hidden=True,
    ),
    Wrong(RATE, "max for min", "", "`max` stands in the place", edit("min(", "max(")),
    Wrong(RATE, "warm-up to the power of −0.5", "", "exponent −0.5", edit("warmup_steps**-1.5", "warmup_steps**-0.5")),
    Wrong(RATE, "no d_model", "", "factor d_model^−0.5 is missing", edit("d_model**-0.5 * ", "")),
    Wrong(RATE, "√d_model", "", "d_model has the exponent 0.5", edit("d_model**-0.5", "d_model**0.5")),
    Wrong(RATE, "1 / d_model", "", "exponent −1 instead", edit("d_model**-0.5", "d_model**-1")),
    Wrong(RATE, "no warm-up", "", "no warm-up", edit("min(step**-0.5, step * warmup_steps**-1.5)", "step**-0.5")),
    Wrong(RATE, "never falls", "", "never falls", edit("min(step**-0.5, step * warmup_steps**-1.5)", "step * warmup_steps**-1.5")),
    Wrong(RATE, "stays at the peak", "", "stays at its peak", edit("min(step**-0.5,", "min(warmup_steps**-0.5,")),
    Wrong(RATE, "falls with 1 / step", "", "1 / step instead of its root", edit("step**-0.5,", "warmup_steps**0.5 / step,")),
    Wrong(RATE, "step 0 fails", "", "ZeroDivisionError", edit("    step = max(step, 1)\n", "")),
    Wrong(RATE, "step 0 has the rate 0", "", "learning_rate(0, 64, 100)", edit("step = max(step, 1)", "if step == 0:\n        return 0.0")),
    Wrong(RATE, "steps counted from 0", "", "one is added to `step`", edit("step = max(step, 1)", "step = step + 1")),
    Wrong(RATE, "warm-up fixed", "", "learning_rate(1, 512, 4000)", edit("warmup_steps**-1.5", "100**-1.5"), hidden=True ),
    Wrong(STEP, "eval mode", "mode", "not as a whole, in train mode", edit("    model.train()\n", "")),
    Wrong(STEP, "switches to eval mode", "mode", "not as a whole, in train mode", edit("model.train()", "model.eval()")),
    Wrong(STEP, "no shift", "loss", "given the labels themselves", edit("model(src, decoder_input), labels", "model(src, tgt), tgt")),
    Wrong(STEP, "input for labels", "loss", "also used as the labels", edit("decoder_input), labels", "decoder_input), decoder_input")),
    Wrong(STEP, "labels for input", "loss", "also used as the decoder input", edit("model(src, decoder_input)", "model(src, labels)")),
    Wrong(STEP, "input and labels exchanged", "loss", "exchanged", edit("decoder_input, labels = teacher", "labels, decoder_input = teacher")),
    Wrong(STEP, "smoothing not handed on", "loss", "`smoothing` is not handed on", edit(", pad_id, smoothing)\n    optimizer", ", pad_id)\n    optimizer")),
    Wrong(STEP, "pad id not handed on", "loss", "`pad_id` is not handed on", edit("labels, pad_id, smoothing)", "labels, smoothing=smoothing)")),
    Wrong(STEP, "neither handed on", "loss", "neither `pad_id` nor", edit("labels, pad_id, smoothing)", "labels)")),
    Wrong(STEP, "no smoothing", "loss", "not smoothed", edit("labels, pad_id, smoothing)", "labels, pad_id, 0.0)")),
    Wrong(STEP, "returns a tensor", "loss", "is a tensor, not a Python number", edit("return loss.item()", "return loss")),
    Wrong(STEP, "returns nothing", "loss", "should be one number", edit("    return loss.item()\n", "")),
    Wrong(STEP, "the loss of half a batch", "loss", "wrong values", edit("model(src, decoder_input), labels", "model(src[:1], decoder_input[:1]), labels[:1]")),
    Wrong(STEP, "source for target", "loss", "wrong values", edit("model(src, decoder_input)", "model(decoder_input, decoder_input)")),
    Wrong(STEP, "gradients never reset", "update", "added to those of the second", edit("    optimizer.zero_grad()\n", "")),
    Wrong(STEP, "gradients reset after backward", "update", "not moved at all", edit("    optimizer.zero_grad()\n    loss.backward()\n", "    loss.backward()\n    optimizer.zero_grad()\n")),
    Wrong(STEP, "no optimizer step", "update", "not moved at all", edit("    optimizer.step()\n", "")),
    Wrong(STEP, "no backward", "update", "not moved at all", edit("    loss.backward()\n", "")),
    Wrong(STEP, "two steps", "update", "wrong values", edit("    optimizer.step()\n", "    optimizer.step()\n    optimizer.step()\n")),
    Wrong(STEP, "no clipping", "clipping", "not clipped before", edit(CLIP, "")),
    Wrong(STEP, "clipping after the step", "clipping", "not clipped before", edit(CLIP + "    optimizer.step()\n", "    optimizer.step()\n" + CLIP)),
    Wrong(STEP, "clipping before backward", "clipping", "not clipped before", edit("    loss.backward()\n" + CLIP, CLIP + "    loss.backward()\n")),
    Wrong(STEP, "clipping by value", "clipping", "", edit("clip_grad_norm_", "clip_grad_value_")),
    Wrong(STEP, "each parameter clipped", "clipping", "each parameter is clipped by itself", edit(CLIP, "    for p in model.parameters():\n        nn.utils.clip_grad_norm_(p, max_grad_norm)\n")),
    Wrong(STEP, "clipped to 1 always", "clipping", "max_grad_norm=0.5", edit("model.parameters(), max_grad_norm", "model.parameters(), 1.0")),
    Wrong(STEP, "normalised rather than clipped", "update", "wrong values", edit(CLIP, "    norm = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5\n    for p in model.parameters():\n        p.grad.mul_(min(max_grad_norm, 1.0) / norm)\n")),
    Wrong(
        EVALUATE,
        "batches averaged",
        "values",
        "tokens of small batches weigh more",
        source="""def evaluate(model, batches, pad_id=0):
    was, losses, hits = model.training, [], []
    model.eval()
    with torch.no_grad():
        for src, tgt in batches:
            given, labels = teacher_forcing(tgt)
            logits, real = model(src, given), labels != pad_id
            losses.append(F.cross_entropy(logits[real], labels[real]).item())
            hits.append((logits.argmax(-1) == labels)[real].float().mean().item())
    model.train(was)
    return sum(losses) / len(losses), sum(hits) / len(hits)""",
    ),
    Wrong(EVALUATE, "padding counts", "values", "padding counts as a label", edit("real = labels != pad_id", "real = torch.ones_like(labels, dtype=torch.bool)")),
    Wrong(EVALUATE, "padding counts among the hits", "values", "hits on padding count", edit(HITS, HITS.replace("[real]", ""))),
    Wrong(EVALUATE, "divided by all positions", "values", "number of all positions", edit("tokens += real.sum().item()", "tokens += real.numel()")),
    Wrong(EVALUATE, "smoothed", "values", "the labels are smoothed", edit('reduction="sum"', 'reduction="sum", label_smoothing=0.1')),
    Wrong(EVALUATE, "sums not divided", "values", "summed, not averaged", edit("loss / tokens, hits / tokens", "loss, hits")),
    Wrong(EVALUATE, "last batch only", "values", "only the last batch", edit("loss += F", "loss = F", "hits += (", "hits = (", "tokens += real", "tokens = real")),
    Wrong(EVALUATE, "returns after the first batch", "values", "only the first batch", edit("            tokens += real.sum().item()\n", "            tokens += real.sum().item()\n            break\n" )),
    Wrong(EVALUATE, "percent", "values", "percentage", edit("hits / tokens", "100 * hits / tokens")),
    Wrong(EVALUATE, "errors", "values", "errors are counted", edit("logits.argmax(-1) == labels", "logits.argmax(-1) != labels")),
    Wrong(EVALUATE, "whole sentences", "values", "whole sentences are counted", edit(HITS, "            hits += ((logits.argmax(-1) == labels) | ~real).all(-1).sum().item()\n            rows = locals().get('rows', 0) + len(tgt)", "hits / tokens", "hits / rows")),
    Wrong(EVALUATE, "argmax over the positions", "values", "raised", edit("argmax(-1)", "argmax(1)")),
    Wrong(EVALUATE, "exchanged results", "values", "loss and accuracy are exchanged", edit("loss / tokens, hits / tokens", "hits / tokens, loss / tokens")),
    Wrong(EVALUATE, "tensors", "values", "is a tensor, not a Python number", edit("loss / tokens, hits / tokens", "torch.tensor(loss / tokens), torch.tensor(hits / tokens)")),
    Wrong(EVALUATE, "no shift", "values", "", edit("decoder_input, labels = teacher_forcing(tgt)", "decoder_input = labels = tgt")),
    Wrong(EVALUATE, "train mode", "mode", "in train mode", edit("    model.eval()\n", "")),
    Wrong(EVALUATE, "with gradients", "mode", "with gradients enabled", edit("with torch.no_grad():", "with torch.enable_grad():")),
    Wrong(EVALUATE, "always ends in train mode", "mode", "not as a whole, in it afterwards", edit("model.train(was_training)", "model.train()")),
    Wrong(EVALUATE, "stays in eval mode", "mode", "was in train mode before", edit("    model.train(was_training)\n", "")),
    Wrong(EVALUATE, "pad id fixed", "values", "taken to be 0", edit("labels != pad_id", "labels != 0"), hidden=True),
    Wrong(EVALUATE, "runs over the batches twice", "values", "raised ZeroDivisionError", edit("    with torch", "    count = sum(1 for _ in batches)\n    with torch"), hidden=True),
    Wrong(EVALUATE, "asks for the length", "values", "TypeError", edit("    with torch", "    count = len(batches)\n    with torch"), hidden=True),
]

LESSON_5 += [
    Wrong(ENCODER_STACK, "one head", "layers", "With num_heads=3", edit("EncoderLayer(d_model, num_heads,", "EncoderLayer(d_model, 1,")),
    Wrong(ENCODER_STACK, "one layer too few", "layers", "wrong number of layers", edit("range(num_layers)", "range(num_layers - 1)")),
    Wrong(ENCODER_STACK, "without gradients", "values", "No gradient flows back to `x`", edit("x = layer(x, src_mask)", "with torch.no_grad():\n                x = layer(x, src_mask)")),
    Wrong(ENCODER_STACK, "detached between layers", "values", "No gradient flows back to `x`", edit("layer(x, src_mask)", "layer(x.detach(), src_mask)")),
    Wrong(ENCODER_STACK, "mask in evaluation only", "values", "encoder.train()", edit("layer(x, src_mask)", "layer(x, None if self.training else src_mask)"), hidden=True),
    Wrong(ENCODER_STACK, "dropout between layers", "values", "encoder.train()", edit("layer(x, src_mask)", "F.dropout(layer(x, src_mask), 0.1, self.training)"), hidden=True),
    Wrong(ENCODER_STACK, "the first row's mask", "values", "all rows get the mask of the first", edit("layer(x, src_mask)", "layer(x, None if src_mask is None else src_mask[:1])")),
    Wrong(DECODER_STACK, "one head", "layers", "With num_heads=3", edit("DecoderLayer(d_model, num_heads,", "DecoderLayer(d_model, 1,")),
    Wrong(DECODER_STACK, "memory detached", "values", "No gradient flows back to `memory`", edit("layer(x, memory,", "layer(x, memory.detach(),")),
    Wrong(DECODER_STACK, "causal in evaluation only", "values", "decoder.train()", edit("src_mask, tgt_mask)\n        return", "src_mask, None if self.training else tgt_mask)\n        return"), hidden=True),
    Wrong(DECODER_STACK, "both masks or none", "values", "decoder(x, memory, ", edit("        for layer in", "        if src_mask is None or tgt_mask is None:\n            src_mask = tgt_mask = None\n        for layer in"), hidden=True),
    Wrong(DECODER_STACK, "masks for the first layer only", "values", "handed to the first layer only", edit("x = layer(x, memory, src_mask, tgt_mask)", "x, src_mask, tgt_mask = layer(x, memory, src_mask, tgt_mask), None, None")),
    Wrong(MODEL, "heads fixed", "parts", "With num_heads=3", edit("Encoder(num_layers, d_model, num_heads,", "Encoder(num_layers, d_model, 4,")),
    Wrong(MODEL, "max_len less one", "parts", "raised ValueError", edit("PositionalEncoding(d_model, max_len, dropout)", "PositionalEncoding(d_model, max_len - 1, dropout)")),
    Wrong(MODEL, "target positions by hand, without limit or dropout", "parts", "", edit(EMBED_TARGET, "self.tgt_embedding(tgt) + self.positional_encoding.encoding[:tgt.size(1)]")),
    Wrong(MODEL, "the mask of the last source encoded", "masks", "", edit("return self.encoder(x, padding_mask(src, self.pad_id))", "self.src_mask = padding_mask(src, self.pad_id)\n        return self.encoder(x, self.src_mask)", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)", "src_mask, tgt_mask = self.src_mask, decoder_mask(tgt, self.pad_id)")),
    Wrong(MODEL, "masks inverted in the encoder", "values", "NaN", edit("self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x, ~padding_mask(src, self.pad_id))")),
    Wrong(MODEL, "the first source's mask for all", "masks", "source mask of the first", edit("padding_mask(src, self.pad_id)", "padding_mask(src[:1], self.pad_id)")),
    Wrong(MODEL, "shared output scaled", "sharing", "wrong values", edit(f"self.output_projection({DECODED})", f"self.output_projection({DECODED}) * (0.5 if self.output_projection.weight is self.src_embedding.embedding.weight else 1)"), hidden=True),
    Wrong(MODEL, "output always tied to the target", "parts", "same parameter as `tgt_embedding", edit("        if share_embeddings:\n", "        self.output_projection.weight = self.tgt_embedding.embedding.weight\n        if share_embeddings:\n")),
    Wrong(MODEL, "causal mask on the CPU", "values", "made on the CPU", edit("decoder_mask(tgt, self.pad_id)", "padding_mask(tgt, self.pad_id) & torch.ones(tgt.size(1), tgt.size(1)).tril().bool()"), hidden=True),
    Wrong(MODEL, "plain embeddings", "values", "has no `embedding`", edit("TokenEmbedding(src_vocab_size, d_model)", "nn.Embedding(src_vocab_size, d_model)")),
    Wrong(INITIALIZE, "buffers too", "", "buffer has been overwritten", edit("model.parameters()", "model.state_dict().values()")),
    Wrong(
        INITIALIZE,
        "by name",
        "",
        "`bare.query` stays the same",
        source="""def initialize_parameters(model):
    for name, p in model.named_parameters():
        if "weight" in name and p.dim() > 1:
            nn.init.xavier_uniform_(p)""",
    ),
    Wrong(INITIALIZE, "frozen on the way", "", "is frozen now", edit("            nn.init", "            parameter.requires_grad_(False)\n            nn.init")),
    Wrong(
        COUNT,
        "weights and biases only",
        "",
        "MultiheadAttention",
        source="""def count_parameters(model):
    found = {id(p): p for m in model.modules() for n in ("weight", "bias") if (p := getattr(m, n, None)) is not None}
    return sum(p.numel() for p in found.values() if p.requires_grad)""",
        hidden=True,
    ),
    Wrong(
        COUNT,
        "children only",
        "",
        "Linear",
        source="""def count_parameters(model):
    found = {id(p): p for m in model.children() for p in m.parameters()}
    return sum(p.numel() for p in found.values() if p.requires_grad)""",
        hidden=True,
    ),
]
LESSON_6 += [
    Wrong(FORCING, "the input as floats", "", "wrong dtype", edit("tgt[:, :-1], ", "tgt[:, :-1].float(), ")),
    Wrong(LOSS, "view of a slice", "values", "raised RuntimeError", edit("labels.flatten()", "labels.view(-1)")),
    Wrong(LOSS, "a Python number", "values", "is no tensor", edit("        label_smoothing=smoothing,\n    )", "        label_smoothing=smoothing,\n    ).item()")),
    Wrong(RATE, "step forgotten in the warm-up", "", "factor step is missing", edit("step * warmup_steps", "warmup_steps")),
    Wrong(RATE, "sum for minimum", "", "added instead", edit("min(step**-0.5, step * warmup_steps**-1.5)", "(step**-0.5 + step * warmup_steps**-1.5)")),
    Wrong(STEP, "EOS never learned", "loss", "wrong values", edit("    loss = label", "    labels = labels.masked_fill(labels == 2, pad_id)\n    loss = label")),
    Wrong(STEP, "only the model's own flag", "mode", "not as a whole, in train mode", edit("model.train()", "model.training = True")),
    Wrong(STEP, "a new optimizer each time", "update", "lost what it remembers", edit("    optimizer.zero_grad()", "    optimizer = type(optimizer)(model.parameters(), lr=1.0, momentum=0.5)\n    optimizer.zero_grad()")),
    Wrong(STEP, "softmax before the loss", "loss", "softmax comes before", edit("model(src, decoder_input), labels", "model(src, decoder_input).softmax(-1), labels")),
    Wrong(STEP, "learns the source", "loss", "source is learned", edit("teacher_forcing(tgt)", "teacher_forcing(src)")),
    Wrong(STEP, "clipped to ten", "clipping", "wrong values", edit("model.parameters(), max_grad_norm", "model.parameters(), 10.0")),
    Wrong(EVALUATE, "gradients off for ever", "mode", "switched off for everybody", edit("    with torch.no_grad():\n", "    torch.set_grad_enabled(False)\n    if True:\n")),
    Wrong(EVALUATE, "only the model's own flag restored", "mode", "not as a whole, in it afterwards", edit("model.train(was_training)", "model.training = was_training")),
    Wrong(EVALUATE, "only the model's own flag set", "mode", "or a part of it, in train mode", edit("model.eval()", "model.training = False")),
    Wrong(EVALUATE, "parameters frozen", "mode", "are frozen", edit("    model.eval()", "    for p in model.parameters():\n        p.requires_grad_(False)\n    model.eval()")),
    Wrong(EVALUATE, "BOS counted", "values", "BOS is counted", edit("tokens += real.sum().item()", "tokens += (tgt != pad_id).sum().item()")),
    Wrong(EVALUATE, "perplexity", "values", "perplexity", edit("return loss / tokens,", "return math.exp(loss / tokens),")),
    Wrong(EVALUATE, "padding marked in place", "values", "changes `tgt`", edit("            logits = model", "            labels[labels == pad_id] = -100\n            logits = model", "labels != pad_id", "labels != -100")),
]

NEXT, GREEDY, MATCH, CACHED = "next_tokens", "greedy_decode", "exact_match", "cached_attention"
LOOP = "while tokens.size(1) <= max_len and not ended.all():"
FILLED = "following = following.masked_fill(ended, pad_id)"
ENDED = "ended = ended | (following == eos_id)"
JOIN_KEYS = "key = torch.cat([cache[0], key], dim=-2)  # (batch, num_heads, length + 1, d_k)"
JOIN_VALUES = "value = torch.cat([cache[1], value], dim=-2)"

LESSON_7 = [
    Wrong(NEXT, "the first position", "", "prediction at the first position", edit("logits[:, -1]", "logits[:, 0]")),
    Wrong(NEXT, "the last but one", "", "last position but one", edit("logits[:, -1]", "logits[:, -2]")),
    Wrong(NEXT, "the least probable", "", "least probable", edit("argmax", "argmin")),
    Wrong(NEXT, "all positions", "", "predictions of all positions", edit("logits[:, -1].argmax", "logits.argmax")),
    Wrong(NEXT, "dimension kept", "", "last dimension is kept", edit("argmax(dim=-1)", "argmax(dim=-1, keepdim=True)")),
    Wrong(NEXT, "max for argmax", "", "largest logit is returned", edit("argmax(dim=-1)", "max(dim=-1).values")),
    Wrong(NEXT, "the first row for all", "", "prediction of the first", edit("logits[:, -1].argmax(dim=-1)", "logits[:1, -1].argmax(dim=-1).expand(len(tokens))")),
    Wrong(NEXT, "over the rows", "", "", edit("argmax(dim=-1)", "argmax(dim=0)")),
    Wrong(NEXT, "a Python number", "", "", edit("argmax(dim=-1)", "argmax(dim=-1)[0].item()")),
    Wrong(NEXT, "encodes again", "", "runs the encoder again", edit("model.decode(tokens, memory, src)", "model(src, tokens)")),
    Wrong(NEXT, "source for target", "", "given to the decoder: 2", edit("model.decode(tokens, memory, src)", "model.decode(src, memory, src)")),
    Wrong(NEXT, "probabilities rounded", "", "", edit("logits[:, -1].argmax(dim=-1)", "logits[:, -1].softmax(-1).round()")),
    Wrong(GREEDY, "rows go on", "tokens", "go on after their EOS", edit(FILLED, "following = following")),
    Wrong(GREEDY, "filled with EOS", "tokens", "filled with EOS", edit("masked_fill(ended, pad_id)", "masked_fill(ended, eos_id)")),
    Wrong(GREEDY, "no BOS", "tokens", "BOS is left out", edit("return tokens", "return tokens[:, 1:]")),
    Wrong(GREEDY, "EOS not written", "tokens", "EOS is left out", edit("return tokens", "return tokens.masked_fill(tokens == eos_id, pad_id)")),
    Wrong(GREEDY, "one row stops all", "tokens", "first row that ends stops all", edit("not ended.all()", "not ended.any()")),
    Wrong(GREEDY, "stops before EOS is appended", "tokens", "the last token is missing", edit(f"            {FILLED}\n", f"            {FILLED}\n            if (ended | (following == eos_id)).all():\n                break\n")),
    Wrong(GREEDY, "ended only at the moment", "tokens", "forgotten after one step of padding", edit(ENDED, "ended = following == eos_id")),
    Wrong(GREEDY, "the first row for all", "tokens", "tokens of the first", edit("next_tokens(model, tokens, memory, src)", "next_tokens(model, tokens, memory, src)[:1].expand(len(src))")),
    Wrong(GREEDY, "begins with PAD", "tokens", "wrong shape", edit("(len(src), 1), bos_id", "(len(src), 1), pad_id")),
    Wrong(GREEDY, "only for one row", "tokens", "", edit("(len(src), 1), bos_id", "(1, 1), bos_id")),
    Wrong(GREEDY, "copies the source", "tokens", "wrong shape", edit("    model.train(was_training)\n    return tokens", "    model.train(was_training)\n    return F.pad(src, (1, 3), value=bos_id)")),
    Wrong(
        GREEDY,
        "the target from one call",
        "tokens",
        "",
        source="""def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
    with torch.no_grad():
        return model(src, src).argmax(-1)""",
    ),
    Wrong(GREEDY, "special tokens fixed", "tokens", "bos_id=7", edit("following == eos_id", "following == 2", "(len(src), 1), bos_id", "(len(src), 1), 1", "ended, pad_id", "ended, 0"), hidden=True),
    Wrong(GREEDY, "BOS counted", "length", "BOS counts as one", edit("tokens.size(1) <= max_len", "tokens.size(1) < max_len")),
    Wrong(GREEDY, "one too many", "length", "one token too many", edit("tokens.size(1) <= max_len", "tokens.size(1) <= max_len + 1")),
    Wrong(GREEDY, "max_len fixed", "length", "wrong shape", edit("tokens.size(1) <= max_len", "tokens.size(1) <= 10")),
    Wrong(GREEDY, "encodes at every step", "mode", "The encoder runs 6 times", edit("next_tokens(model, tokens, memory, src)", "next_tokens(model, tokens, model.encode(src), src)")),
    Wrong(GREEDY, "train mode", "mode", "runs in train mode", edit("    model.eval()\n", "    model.train()\n")),
    Wrong(GREEDY, "mode as it comes", "mode", "runs in train mode", edit("    model.eval()\n", "")),
    Wrong(GREEDY, "with gradients", "mode", "with gradients enabled", edit("with torch.no_grad():", "with torch.enable_grad():")),
    Wrong(GREEDY, "stays in eval mode", "mode", "was in train mode is not", edit("    model.train(was_training)\n", "")),
    Wrong(GREEDY, "always back to training", "mode", "was in eval mode is not", edit("model.train(was_training)", "model.train()")),
    Wrong(MATCH, "tokens counted", "", "tokens are counted, not whole rows", edit(".all(dim=1)", "")),
    Wrong(MATCH, "real tokens counted", "", "real tokens are counted", edit("(predicted == expected).all(dim=1).float().mean().item()", "(predicted == expected)[expected != pad_id].float().mean().item()")),
    Wrong(MATCH, "cut to the narrower", "", "not looked at", edit("max(predicted.size(1), expected.size(1))", "min(predicted.size(1), expected.size(1))")),
    Wrong(MATCH, "padding not compared", "", "not what was written behind them", edit("(predicted == expected).all", "((predicted == expected) | (expected == pad_id)).all")),
    Wrong(MATCH, "one right token is enough", "", "single right token", edit(".all(dim=1)", ".any(dim=1)")),
    Wrong(MATCH, "all rows or nothing", "", "all rows have to be right", edit(".all(dim=1)", ".all()")),
    Wrong(MATCH, "counted", "", "right rows are counted", edit(".float().mean()", ".sum()")),
    Wrong(MATCH, "wrong ones", "", "wrong rows are counted", edit("return (predicted", "return 1 - (predicted")),
    Wrong(MATCH, "percent", "", "percentage", edit("return (predicted", "return 100 * (predicted")),
    Wrong(MATCH, "columns for rows", "", "", edit(".all(dim=1)", ".all(dim=0)")),
    Wrong(MATCH, "widths must agree", "", "", edit("    width = max(predicted.size(1), expected.size(1))\n", "    width = predicted.size(1)\n    if predicted.shape != expected.shape:\n        return 0.0\n")),
    Wrong(MATCH, "pad id fixed", "", "pad_id=9", edit("value=pad_id", "value=0"), hidden=True),
    Wrong(MATCH, "one number for each row", "", "should be one number", edit(".float().mean().item()", ".float()")),
    Wrong(CACHED, "the newest only", "", "wrong values", edit(JOIN_KEYS, "pass", JOIN_VALUES, "pass"), also="only the newest key"),
    Wrong(CACHED, "newest first", "", "the newest one stands first", edit("[cache[0], key]", "[key, cache[0]]", "[cache[1], value]", "[value, cache[1]]")),
    Wrong(CACHED, "keys newest first, values last", "", "not in the same order", edit("[cache[0], key]", "[key, cache[0]]")),
    Wrong(CACHED, "joined along the heads", "", "", edit("dim=-2", "dim=1")),
    Wrong(CACHED, "only keys joined", "", "raised", edit(JOIN_VALUES, "pass")),
    Wrong(CACHED, "returns the old cache", "", "the cache is the one that came", edit("return output, (key, value)", "return output, cache or (key, value)")),
    Wrong(CACHED, "keys and values exchanged", "", "exchanged in the cache", edit("(key, value)\n", "(value, key)\n").__class__((("return output, (key, value)", "return output, (value, key)"),) )),
    Wrong(CACHED, "output only", "", "should return the output and the cache", edit("return output, (key, value)", "return output")),
    Wrong(CACHED, "weights for the output", "", "wrong shape", edit("output, _ = ", "_, output = ")),
    Wrong(CACHED, "values of the keys", "", "keys stand in the place of values", edit("scaled_dot_product_attention(query, key, value)", "scaled_dot_product_attention(query, key, key)")),
    Wrong(CACHED, "fails at first", "", "raised TypeError", edit("    if cache is not None:\n        key", "    if True:\n        key")),
    Wrong(CACHED, "the newest left out", "", "newest key is not attended to", edit("scaled_dot_product_attention(query, key, value)", "scaled_dot_product_attention(query, key[..., :-1, :], value[..., :-1, :]) if cache else (value, None)")),
    Wrong(CACHED, "no scale", "", "not divided by √d_k", edit("scaled_dot_product_attention(query, key, value)", "(query @ key.mT).softmax(-1) @ value, None")),
    Wrong(
        CACHED,
        "a cache of its own, whatever it is given",
        "",
        "another second token",
        source="""_kept = {}

def cached_attention(query, key, value, cache=None):
    if cache is None:
        _kept.clear()
        _kept['k'], _kept['v'] = key, value
    else:
        _kept['k'], _kept['v'] = torch.cat([_kept['k'], key], -2), torch.cat([_kept['v'], value], -2)
    return scaled_dot_product_attention(query, _kept['k'], _kept['v'])[0], (_kept['k'], _kept['v'])""",
        hidden=True,
    ),
]
LESSON_7 += [
    Wrong(NEXT, "sampled", "", "wrong values", edit("logits[:, -1].argmax(dim=-1)", "logits[:, -1].softmax(-1).multinomial(1)[:, 0]")),
    Wrong(GREEDY, "a loop without an end", "length", "Does your loop end?", edit("while tokens.size(1) <= max_len and not ended.all():", "while not ended.all():")),
    Wrong(GREEDY, "BOS as wide as the source", "length", "wrong shape", edit("torch.full((len(src), 1), bos_id", "torch.full(src.shape, bos_id")),
    Wrong(GREEDY, "nothing returned", "mode", "is None", edit("    model.train(was_training)\n    return tokens", "    model.train(was_training)")),
    Wrong(GREEDY, "gradients off for ever", "mode", "switched off for everybody", edit("    with torch.no_grad():\n", "    torch.set_grad_enabled(False)\n    if True:\n")),
    Wrong(GREEDY, "only the model's own flag restored", "mode", "not as a whole, in it afterwards", edit("model.train(was_training)", "model.training = was_training")),
    Wrong(MATCH, "only the predicted is padded", "", "only what is predicted is made as wide", edit("max(predicted.size(1), expected.size(1))", "expected.size(1)")),
    Wrong(MATCH, "only the expected is padded", "", "only what is expected is made as wide", edit("max(predicted.size(1), expected.size(1))", "predicted.size(1)")),
    Wrong(CACHED, "a causal mask", "", "hidden by a causal mask", edit("scaled_dot_product_attention(query, key, value)", "(F.scaled_dot_product_attention(query, key, value, is_causal=True), None)")),
    Wrong(CACHED, "no cache returned", "", "should be a pair", edit("return output, (key, value)", "return output, None")),
    Wrong(CACHED, "keys for values in the cache", "", "one of them stands for both", edit("return output, (key, value)", "return output, (key, key)")),
]
LESSON_7 += [
    Wrong(NEXT, "only the last token fed", "", "given to the decoder: 1", edit("model.decode(tokens,", "model.decode(tokens[:, -1:],")),
    Wrong(NEXT, "never PAD", "", "PAD, token 0, is never chosen", edit("logits[:, -1].argmax(dim=-1)", "logits[:, -1, 1:].argmax(dim=-1) + 1")),
    Wrong(NEXT, "never PAD or BOS", "", "PAD, token 0, is never chosen", edit("logits[:, -1].argmax(dim=-1)", "logits[:, -1, 2:].argmax(dim=-1) + 2")),
    Wrong(NEXT, "the largest in size", "", "largest logit without its sign", edit("logits[:, -1]", "logits[:, -1].abs()")),
    Wrong(NEXT, "the course's own", "", "finished `parts.next_tokens`", source="def next_tokens(model, tokens, memory, src):\n    return parts.next_tokens(model, tokens, memory, src)"),
    Wrong(NEXT, "the course's own under another name", "", "finished `parts.next_tokens`", source="from autograder.parts import next_tokens as ready\n\ndef next_tokens(model, tokens, memory, src):\n    return ready(model, tokens, memory, src)"),
    Wrong(GREEDY, "the course's own", "tokens", "finished `parts.greedy_decode`", source="greedy_decode = parts.greedy_decode"),
    Wrong(GREEDY, "what is written is not read", "tokens", "", edit("next_tokens(model, tokens, memory, src)", "next_tokens(model, torch.full_like(tokens, bos_id), memory, src)")),
    Wrong(GREEDY, "the source as what has been written", "tokens", "", edit("next_tokens(model, tokens, memory, src)", "next_tokens(model, F.pad(src, (1, max_len), value=bos_id)[:, : tokens.size(1)], memory, src)")),
    Wrong(GREEDY, "never ends", "tokens", "never end, and go on", edit(FILLED, "following = following", ENDED, "pass")),
    Wrong(GREEDY, "one step", "tokens", "", edit("            ended = ended | (following == eos_id)\n", "            break\n")),
    Wrong(GREEDY, "squeezed", "tokens", "two dimensions", edit("    return tokens", "    return tokens.squeeze()")),
    Wrong(GREEDY, "zeros behind the end", "tokens", "something else than pad_id=5", edit("    return tokens", "    return F.pad(tokens, (0, max_len + 1 - tokens.size(1)))"), hidden=True),
    Wrong(MATCH, "sums compared", "", "sums of the rows", edit("(predicted == expected).all(dim=1)", "(predicted.sum(1) == expected.sum(1))")),
    Wrong(MATCH, "sorted rows", "", "in any order", edit("(predicted == expected)", "(predicted.sort(1).values == expected.sort(1).values)")),
    Wrong(MATCH, "the first token not looked at", "", "first token is not looked at", edit("(predicted == expected)", "(predicted == expected)[:, 1:]")),
    Wrong(CACHED, "a window of five", "", "wrong values", edit("scaled_dot_product_attention(query, key, value)", "scaled_dot_product_attention(query, key[..., -5:, :], value[..., -5:, :])")),
]
LESSON_6 += [
    Wrong(EVALUATE, "a deep copy in train mode", "mode", "in train mode", edit("    was_training = model.training\n    model.eval()\n", "    import copy\n    model, was_training = copy.deepcopy(model), model.training\n")),
]

WRONG = {
    "01_attention": LESSON_1,
    "02_multi_head_attention": LESSON_2,
    "03_positional_encoding": LESSON_3,
    "04_encoder_decoder_blocks": LESSON_4,
    "05_transformer": LESSON_5,
    "06_training": LESSON_6,
    "07_greedy_decoding": LESSON_7,
}
