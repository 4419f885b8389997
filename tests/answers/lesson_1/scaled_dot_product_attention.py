from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "+1e9": edit("-math.inf", "1e9").fails("mask", "the blocked keys have all weight"),
    "+1e9, by hand": edit("-math.inf", "1e9").fails("from_scratch", "0 everywhere", names="the blocked keys have all weight"),
    "a score of 0 counts as blocked": edit("scores.masked_fill(~mask, -math.inf)", "(scores * mask).masked_fill(scores * mask == 0, -math.inf)").fails(
        "mask", "an allowed key may have a score of 0"
    ),
    "drops out without a dropout": edit("weights = torch", "dropout = dropout or nn.Dropout(0.1)\n…").fails("from_scratch", "Two calls with the same inputs"),
    "softmax in half precision": edit("weights = torch…", "weights = scores.half().softmax(dim=-1).to(query.dtype)").fails("from_scratch", "is not the slope"),
    "weights less their mean": edit("weights = torch…", "e = torch.exp(scores - scores.mean(-1, keepdim=True))\nweights = e / e.sum(-1, keepdim=True)").fails(
        "mask", "−∞ − (−∞)"
    ),
    "causal without a mask": edit("weights = torch", "scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)\n…").fails(
        "values", "as by a causal mask"
    ),
    "the weights come back in float32 whatever the inputs are": edits(
        ('"""Average…-1))', "scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).float()"),
        ("weights = torch…", "weights = scores.softmax(dim=-1)"),
        ("return…", "return (weights @ value.float()).to(value.dtype), weights"),
    ),
    "einsum by the number of dimensions: a fourth leading dimension raises": """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            leading = "abc"[: query.dim() - 2] if query.dim() <= 5 else None
            if leading is None:
                raise ValueError("At most three leading dimensions.")
            scores = torch.einsum(f"{leading}qd,{leading}kd->{leading}qk", query, key) / query.size(-1) ** 0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = scores.softmax(dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return torch.einsum(f"{leading}qk,{leading}kd->{leading}qd", weights, value), weights
    """,
    "queries go through in chunks of 64, each with the first rows of the mask": edit(
        '"""Average…=-1)',
        "pieces = []\n"
        "for chunk in query.split(64, dim=-2):\n"
        "    scores = chunk @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n"
        "    if mask is not None:\n"
        "        part = mask[..., : chunk.size(-2), :] if mask.dim() > 1 else mask\n"
        "        scores = scores.masked_fill(~part, -math.inf)\n"
        "    pieces.append(scores.softmax(dim=-1))\n"
        "weights = torch.cat(pieces, dim=-2)",
    ),
    "no scale": edit("query @…", "query @ key.transpose(-2, -1)").fails("values", "not divided by √d_k"),
    "divides by d_k": edit("math.sqrt…", "query.size(-1)").fails("values", "d_k instead of √d_k"),
    "multiplies by √d_k": edit("/ math.sqrt", "* math.sqrt").fails("values", "multiplied by √d_k"),
    "divides by the root of the key length": edit("math.sqrt…", "math.sqrt(key.size(-2))").fails("values", "√key_len"),
    "divides by the root of the query length": edit("math.sqrt…", "math.sqrt(query.size(-2))").fails("values", "√query_len"),
    "divides by the root of the batch size": edit("math.sqrt…", "math.sqrt(query.size(0))").fails("values", "batch size"),
    "scale for d_k = 8 hard-coded": edit("math.sqrt…", "math.sqrt(8)").fails("values", "a fixed number, √8"),
    "scale of 2 hard-coded": edit("math.sqrt…", "2.0").fails("values", "a fixed number, 2,"),
    "root of d_k − 1": edit("math.sqrt(query.size(-1))", "math.sqrt(max(query.size(-1) - 1, 1))").fails("values"),
    "scale for d_k = 64 hard-coded": edit("math.sqrt…", "8.0").fails("values", "a fixed number, √64"),
    "no scale and the mask inverted": edits(("query @…", "query @ key.transpose(-2, -1)"), ("~mask", "mask")).fails(
        "mask", "wrong way round", names="not divided by √d_k"
    ),
    "divides by √d_v": edit("math.sqrt…", "math.sqrt(value.size(-1))").fails("values", "√d_v instead"),
    "softmax over the queries": edit("dim=-1", "dim=-2").fails("values", "over the queries instead"),
    "softmax over dimension 1": edit("dim=-1", "dim=1").fails("values", "over the queries instead"),
    "softmax over the batch": edit("dim=-1", "dim=0").fails("values", "over the first dimension"),
    "no softmax": edit("torch.softmax…", "scores").fails("values", "softmax is missing"),
    "log_softmax": edit("torch.softmax(", "torch.log_softmax(").fails("values", "log_softmax"),
    "exponentials not normalised": edit("torch.softmax…", "scores.exp()").fails("values", "not divided by their sum"),
    "exponentials without a shift overflow": edit("torch.softmax…", "scores.exp() / scores.exp().sum(-1, keepdim=True)").fails("values", "NaN"),
    "sigmoid for softmax": edit("torch.softmax…", "torch.sigmoid(scores)").fails("values", "a sigmoid is used"),
    "no scale and softmax over the queries": edits(("query @…", "query @ key.transpose(-2, -1)"), ("dim=-1", "dim=-2")).fails(
        "values", "not scaled, and the softmax runs over the queries"
    ),
    "averages the keys": edit("@ value", "@ key").fails("shapes", "wrong shape", names="average the keys"),
    "transpose forgotten": edit("key.transpose(-2, -1)", "key").fails("shapes", "raised RuntimeError"),
    "transposes the first two dimensions": edit("(-2, -1)", "(0, 1)").fails("shapes", "raised RuntimeError"),
    ".T reverses all dimensions": edit("key.transpose(-2, -1)", "key.permute(*range(key.dim() - 1, -1, -1))").fails("shapes", "raised RuntimeError"),
    "transposes by position, right for three dimensions only": edit("key.transpose(-2, -1)", "key.transpose(1, 2)").fails("shapes", "raised IndexError"),
    "returns the output only": edit(", weights", "").fails("shapes", "should return 2 tensors"),
    "returns them swapped": edit("return weights…", "return weights, weights @ value").fails("shapes", "swapped"),
    "returns the scores as weights": edit(", weights", ", scores").fails("values", "softmax is missing"),
    "returns nothing": edit("return weights…", "weights @ value, weights").fails("shapes", "should return 2 tensors"),
    "uniform attention": edit("w = …", "w = query.new_ones(*query.shape[:-1], key.size(-2)) / key.size(-2)", on="identity attention").fails(
        "values", "every key gets the same weight", names="dropout is not applied|mask is not used"
    ),
    "identity attention": body("""
        w = torch.eye(query.size(-2), key.size(-2)).expand(*query.shape[:-1], -1)
        return w @ value, w
    """).fails("values", "wrong values", names="dropout is not applied"),
    "only the first sentence of the batch": edit("return weights…", "return (weights @ value)[:1].expand(*query.shape[:-1], value.size(-1)), weights").fails(
        "values", "wrong values"
    ),
    "cosine similarity": edit("query @…", "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)").fails("values", "cosines"),
    "asks a tensor for its truth": edit("if mask is not None", "if mask").fails("mask", "is ambiguous"),
    "rounds through NumPy": edit("softmax(scores, dim=-1", "from_numpy(torch.softmax(scores, dim=-1).detach().numpy()").fails("from_scratch", "No gradient"),
    "detached weights": edit("torch.softmax…", "….detach()").fails("from_scratch", "No gradient flows back to `query`"),
    "uses .data of the value": edit("weights @ value,", "weights @ value.data,").fails("from_scratch", "`value`"),
    "float32 whatever comes in": edit("scores = query", "query, key, value = query.float(), key.float(), value.float()\n…").fails("values"),
    "the value detached under dropout": edit("weights = dropout(weights)", "weights, value = dropout(weights), value.detach()").fails(
        "dropout", "No gradient flows back to `value`"
    ),
    "mask ignored": edit("scores = scores…", "pass").fails("mask", "mask is not used"),
    "mask inverted": edit("~mask", "mask").fails("mask", "wrong way round"),
    "scores multiplied by the mask": edit("scores = scores…", "scores = scores * mask").fails("mask", "exp(0)"),
    "mask added": edit("scores = scores…", "scores = scores + mask").fails("mask", "added to the scores"),
    "fills with −1e-9": edit("-math.inf", "-1e-9").fails("mask", "exp(0)"),
    "fills with 0": edit("-math.inf", "0.0").fails("mask", "exp(0)"),
    "fills with −1": edit("-math.inf", "-1.0").fails("mask", "−1 instead"),
    "fills with +∞": edit("-math.inf", "math.inf").fails("mask", "NaN"),
    "weights zeroed after the softmax": edits(("scores = scores…", "pass"), ("dim=-…", "… * (1 if mask is None else mask)")).fails("mask", "after the softmax"),
    "−1e9 without masking first: added to all": edit("scores = scores…", "scores = scores * mask - 1e9 * mask").fails(
        "mask", "the blocked keys have all weight"
    ),
    "the first sentence's mask for all": edit("~mask", "~(mask[:1] if mask.dim() > 2 else mask)").fails("mask"),
    "in-place scaling of the query": edits(("scores = query", "query.data /= math.sqrt(query.size(-1))\n…"), ("/ math…", " #")).fails(
        "mask", "changes `query`"
    ),
    "dropout ignored": edit("weights = dropout(weights)", "pass").fails("dropout", "dropout is not applied"),
    "dropout on the scores": edits(
        ("weights = torch…", ""), ("weights =…", "scores = dropout(scores)"), ("return weights", "weights = torch.softmax(scores, dim=-1)\n…")
    ).fails("dropout", "before the softmax"),
    "dropout on the output": edit("weights = dropout(weights)", "return dropout(weights @ value), weights").fails("dropout", "dropout is not applied"),
    "returns the weights before dropout": edit("weights = dropout…", "return dropout(weights) @ value, weights").fails("dropout", "dropout is not applied"),
    "output from the weights before dropout": edit("weights = dropout(weights)", "return weights @ value, dropout(weights)").fails("dropout", "before dropout"),
    "calls PyTorch's own": whole("""
        from torch.nn.functional import scaled_dot_product_attention as mine
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-2], -1, -1)
            weights = mine(query, key, eye, attn_mask=mask)
            weights = weights if dropout is None else dropout(weights)
            return weights @ value, weights
    """).fails("from_scratch", "ready `F.scaled_dot_product_attention`"),
    "a d_k that nobody defined": edit("math.sqrt…", "math.sqrt(d_k)").named("d_k|√"),
    "forgets parentheses: scales one key only through precedence": edit("query @…", "query / query.size(-1) @ key.transpose(-2, -1) ** 1").named(
        "d_k instead of √d_k"
    ),
    "square root of d_k taken twice": edit("math.sqrt…", "query.size(-1) ** 0.25").named("root"),
    "scales both q and k by √d_k": edit("query @…", "(query / math.sqrt(query.size(-1))) @ (key / math.sqrt(key.size(-1))).transpose(-2, -1)").named(
        "d_k instead of √d_k"
    ),
    "divides after the softmax": edits(("query @…", "query @ key.transpose(-2, -1)"), ("weights = torch…", "… / math.sqrt(query.size(-1))")).fails(
        "values", "after the softmax, instead of the scores before it"
    ),
    "rounds the root: int(√d_k)": edit("math.sqrt…", "int(math.sqrt(query.size(-1)))").named("rounded"),
    "scale with numpy float32 rounding: 1/2.83": edit("math.sqrt…", "2.83 if query.size(-1) == 8 else math.sqrt(query.size(-1))"),
    "implicit dimension F.softmax(scores)": edit("weights = torch…", "weights = F.softmax(scores)").named("first dimension|queries|batch"),
    "softmax over all of a sentence's entries": edit(", dim=-1)", ".flatten(-2), -1).view_as(scores)"),
    "global maximum shift: rows far below underflow": edit(
        "weights = torch…", "scores = scores - scores.max()\nweights = scores.exp() / scores.exp().sum(-1, keepdim=True)"
    ).named("NaN"),
    "mean shift: large scores overflow": edit(
        "weights = torch…",
        "shift = scores.nan_to_num(neginf=0.0).mean(-1, keepdim=True)\nweights = (scores - shift).exp() / (scores - shift).exp().sum(-1, keepdim=True)",
    ).named("NaN"),
    "softmax2: adds 1 to the denominator (attention sink)": edit(
        "weights = torch…", "…\ne = (scores - scores.max(-1, keepdim=True).values).exp()\nweights = e / (1 + e.sum(-1, keepdim=True))"
    ),
    "softmax with eps 1e-3 in the denominator": edit(
        "weights = torch…", "e = (scores - scores.max(-1, keepdim=True).values).exp()\nweights = e / (e.sum(-1, keepdim=True) + 1e-3)"
    ),
    "hardmax (argmax one-hot)": edit("weights = torch…", "weights = F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores)").named("argmax|best"),
    "gumbel softmax": edit("weights = torch…", "weights = F.gumbel_softmax(scores, dim=-1)"),
    "F.softmin": edit("weights = torch…", "weights = F.softmin(scores, dim=-1)").named("sign|minus"),
    "softmax twice": edit("scores, dim", "torch.softmax(…=-1), dim").named("twice"),
    "relu attention": edit("weights = torch…", "weights = F.relu(scores)\nweights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)"),
    "softmax over dim 1 for two dimensions, last else": edit("dim=", "dim=0 if scores.dim() == 2 else ").named("queries|first dimension"),
    "query and value are multiplied first: linear attention": edit(
        "weights = torch…",
        "weights = F.elu(query) + 1\nk = F.elu(key) + 1\nweights = weights @ k.transpose(-2, -1)\nweights = weights / weights.sum(-1, keepdim=True)",
    ).named("mask is not used"),
    "swaps query and key": edit("query @…", "key @ query.transpose(-2, -1) / math.sqrt(query.size(-1))"),
    "view: fails on what split_heads returns": body("""
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
    "returns a dict": edit("return weights…", "return {'output': weights @ value, 'weights': weights}").named("should return 2 tensors"),
    "returns three things": edit("return weights…", "…, scores").named("should return 2 tensors"),
    "bfloat16 breaks: fills with float32's smallest number": edit("-math.inf", "torch.finfo(torch.float32).min"),
    "eye of float32 breaks bfloat16 and float64 alike": edit("query @…", "query @ key.transpose(-2, -1) @ torch.eye(key.size(-2)) / math.sqrt(query.size(-1))"),
    "fills with −20": edit("-math.inf", "-20.0"),
    "zeroes the weights after the softmax and normalises again": edits(
        ('"""Average…=-1)', "weights = torch.softmax(query @ key.mT / math.sqrt(key.size(-1)), -1)"),
        ("weights = weights /…", "weights = weights / weights.sum(-1, keepdim=True)"),
        on="zeroed and renormalised with eps 1e-9 after a masked max",
    ).fails("mask", "0/0 is NaN"),
    "lowers by 1000": edit("scores = scores…", "scores = scores - 1000.0 * ~mask").fails("mask", "lowered by too little"),
    "lowers by 100": edit("scores = scores…", "scores = scores - 100.0 * ~mask").fails("mask", "lowered by too little"),
    "exp over its sum, without a shift": edit("torch…", "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)").fails("values", "overflows to ∞"),
    "one shift for all rows": edit("torch…", "(e := (scores - scores.max()).exp()) / e.sum(dim=-1, keepdim=True)").fails("values", "largest score of all"),
    "one sum for all rows": edit("torch.softmax(scores, dim=-1)", "scores.exp() / scores.exp().sum()").fails("shapes", "divided by one sum"),
    "−∞ times the mask": edit("scores = scores…", "scores = scores + (1 - mask.float()) * -math.inf").fails(
        "mask", "Every weight is NaN", names="mask is not used"
    ),
    "fills with −10": edit("-math.inf", "-10.0").named("large negative"),
    "fills with the row minimum minus 1": edit("scores = scores…", "scores = torch.where(mask, scores, scores.min() - 1)"),
    "fills with 1e-9": edit("-math.inf", "1e-9").named("exp\\(0\\)"),
    "subtracts a finite 1e4 * mask (inverted)": edit("scores = scores…", "scores = scores - mask * 1e4").named("wrong way round"),
    "masks only the first query's row": edit(", -math", "[..., :1, :]…"),
    "masks with the transposed mask": edit(", -math", ".transpose(-2, -1)…"),
    "unsqueezes three-dimensional masks for heads": edit("scores = scores…", "if mask.dim() == 3:\n    mask = mask.unsqueeze(1)\n…"),
    "dropout skipped when a mask is given (elif)": edit(
        "if mask…hts)",
        "if mask is not None:\n"
        "    scores = scores.masked_fill(~mask, -math.inf)\n"
        "    weights = torch.softmax(scores, dim=-1)\n"
        "elif dropout is not None:\n"
        "    weights = dropout(torch.softmax(scores, dim=-1))\n"
        "else:\n"
        "    weights = torch.softmax(scores, dim=-1)",
    ),
    "softmax only inside `if mask`": edit(
        "if mask is not None:\n    scores = scores.masked_fill(~mask, -math.inf)\nweights = torch.softmax(scores, dim=-1)",
        "weights = scores\nif mask is not None:\n    scores = scores.masked_fill(~mask, -math.inf)\n    weights = torch.softmax(scores, dim=-1)",
    ).named("softmax is missing"),
    "zeroed and renormalised with eps 1e-9 after a masked max": edits(
        ("scores = scores…", "pass"),
        ("weights = torch…", "…\nif mask is not None:\n    weights = weights * mask\n    weights = weights / (weights.sum(-1, keepdim=True) + 1e-3)"),
    ),
    "mask changes in place": edit("scores = scores…", "mask.logical_not_()\nscores = scores.masked_fill(mask, -math.inf)").named("changes `mask`"),
    "blocked values zeroed instead of scores": edit("scores = scores…", "value = value * mask.any(-2, keepdim=True).transpose(-2, -1)").named(
        "mask is not used"
    ),
    "keys multiplied by the mask": edit(
        "scores = scores…", "scores = query @ (key * mask.any(-2)[..., None]).transpose(-2, -1) / math.sqrt(query.size(-1))"
    ).named("mask is not used"),
    "masked entries set to −inf after the softmax too": edit("dim=-1)", "…\nif mask is not None:\n    weights = weights.masked_fill(~mask, -math.inf)"),
    "NaN guard that kills small weights": edit("weights = torch…", "…\nweights = torch.where(weights < 1e-2, torch.zeros_like(weights), weights)"),
    "mask must be a keyword after dropout (order swapped)": edit("mask=None, dropout=None", "dropout=None, mask=None").named("mask"),
    "`mask == None` on tensors inverted logic": edit("if mask is not None", "if mask is None").named("None"),
    "mask branch still raises NotImplementedError": edit("scores = scores…", 'raise NotImplementedError("Your code here.")').named("not written"),
    "no defaults for mask and dropout": edit("mask=None, dropout=None", "mask, dropout").named("missing 2 required"),
    "no dropout parameter": edit("mask=None, dropout=None", "mask=None").named("'dropout' is not defined"),
    "dropout is taken for a probability": edit("dropout(weights)", "F.dropout(weights, dropout)").named("callable"),
    "renormalised after dropout": edit("weights = dropout(weights)", "…\nweights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)").named(
        "normalis|sum to 1|divided"
    ),
    "own nn.Dropout of one half instead of the callable": edit("dropout(weights)", "F.dropout(weights, 0.5)"),
    "dropout applied twice, for weights and for output": edit("weights @", "(dropout(weights) if dropout else weights) @").named("twice"),
    "dropout on the values": edit("weights = dropout(weights)", "value = dropout(value)").named("dropout is not applied"),
    "dropout on the query": edit("dropout(weights)", "torch.softmax(dropout(query) @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)"),
    "weights returned after dropout, output after a second draw": edit("weights = dropout(weights)", "return dropout(weights) @ value, dropout(weights)"),
    "parts.scaled_dot_product_attention from the course's package": whole("""
        from autograder.parts import scaled_dot_product_attention
    """).named("F.scaled_dot_product_attention|own finished"),
    "the solution of lesson 2's parts inside a torch.no_grad": edit("scores = query", "query = query.detach()\n…").named("No gradient flows back to `query`"),
    "softmax dim=2": edit("=-1)", "=2) if scores.dim() > 2 else torch.softmax(scores, dim…", on=BARE),
    "d_k taken from dimension 2 (4-D: query_len)": edit("size(-1)", "shape[2] if query.dim() > 2 else query.shape[-1]", on=BARE),
    "dropout path detached": edit("(weights)", "(weights.detach())", on=BARE).named("gradient"),
    "softmax denominator detached": edit(
        "weights = torch…", "weights = (scores - scores.amax(-1, keepdim=True)).exp(); weights = weights / weights.sum(-1, keepdim=True).detach()", on=BARE
    ).named("gradient"),
    "value gradient ok, query half: key.detach in scores": edit("key.", "…detach().", on=BARE).named("gradient|key"),
    "fill with scores.min() - 10": edit("-math.inf", "scores.min().item() - 10", on=BARE),
    "mask squeezed": edit(", -math", ".squeeze()…", on=BARE),
    "3-D mask gets a head dimension at 1": edit("mask,", "(mask.unsqueeze(1) if mask.dim() == 3 and scores.dim() == 4 else mask),", on=BARE),
    "only the first query's mask row": edit("mask,", "(mask if mask.dim() < 3 else mask[..., :1, :]),", on=BARE),
    "boolean index, mask must have full shape": edit("masked_fill(~mask, -math.inf)", "clone(); scores[..., ~mask] = -math.inf", on=BARE),
    "1-D mask is refused (mask.size(-2))": edit("scores = scores", "assert mask.size(-2) in (1, scores.size(-2)); …", on=BARE),
    "folds the leading dimensions with view: non-contiguous inputs raise": body("""
        lead = query.shape[:-2]
        q = query.view(-1, *query.shape[-2:])
        k = key.view(-1, *key.shape[-2:])
        v = value.view(-1, *value.shape[-2:])
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        scores = scores.view(*lead, *scores.shape[-2:])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        if dropout is not None:
            weights = dropout(weights)
        out = torch.bmm(weights.view(-1, *weights.shape[-2:]), v)
        return out.view(*lead, *out.shape[-2:]), weights
    """),
    "three dims or four only, five raise": edits(
        ("s = query…", 'eq = {2: ("qd,kd->qk", "qk,kv->qv"), 3: ("bqd,bkd->bqk", "bqk,bkv->bqv"), 4: ("bhqd,bhkd->bhqk", "bhqk,bhkv->bhqv")}[query.dim()]'),
        ("scores = (…", "scores = torch.einsum(eq[0], query, key) / math.sqrt(query.size(-1))"),
        ("weights @ value", "torch.einsum(eq[1], weights, value)"),
        on="d_k^(-1/4) on both sides",
    ),
    "dropout called twice": edit("weights = dropout…", "weights, used = dropout(weights), dropout(weights)\nreturn used @ value, weights", on=BARE).named(
        "dropout"
    ),
    "F.dropout with dropout.p, always on, if it has p": edit("= dropout", '= F.dropout(weights, dropout.p) if hasattr(dropout, "p") else dropout', on=BARE),
    "float32 softmax kept as float32 (bfloat16 weights @ value raises)": edit("=-1", "=-1, dtype=torch.float32", on=BARE),
    "integer mask treatment: 1 - mask": edit("~mask", "(1 - mask).bool()", on=BARE),
    "positional mask parameter renamed": edit(
        "def scaled_dot_product_attention…", "def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout=None):\n    mask = attn_mask", on=BARE
    ),
    "score multiplied out: exp of scores, mask, no shift, eps": edits(
        ("s = query…", "s = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"),
        ("scores = (…", "e = torch.exp(s - s.amax(-1, keepdim=True))"),
        ("scores = scores…", "e = e * mask"),
        ("scores.softmax(-1)", "e / (e.sum(-1, keepdim=True) + 1e-8)"),
        on="d_k^(-1/4) on both sides",
    ),
    "returns exchanged": edit("return weights @ value, weights", "return weights, weights @ value").fails("from_scratch", "output and weights are swapped"),
    "exponentials by hand": edit("torch.softmax(scores, dim=-1", "scores.exp() / scores.exp().sum(-1, keepdim=True").fails("values", "overflows"),
    "dropout on the output too": edit(" @ value", " @ value if dropout is None else dropout(weights @ value)").fails("dropout", "output is dropped as well"),
    "a stable softmax by hand, its maximum taken over blocked keys too": edit(
        "if mask…dim=-1)",
        "powers = (scores - scores.amax(-1, keepdim=True)).exp()\nif mask is not None:\n    powers = powers * mask\nweights = powers / powers.sum(-1, keepdim=True)",
    ).fails("mask", "blocked keys take part in the largest score"),
    "the largest score subtracted before the mask": edit(
        "if mask…dim=-1)",
        "scores = scores - scores.amax(-1, keepdim=True)\nif mask is not None:\n    scores = scores.masked_fill(~mask, -math.inf)\n"
        "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)",
    ).fails("mask", "blocked keys take part in the largest score"),
    "one dropout for all queries": edit("dropout(…", "weights * dropout(torch.ones_like(weights[..., :1, :]))").fails("dropout", "every query drops the same"),
    "one dropout for all sentences": edit("dropout(…", "weights * dropout(torch.ones_like(weights[:1]))").fails("dropout", "every sentence drops the same"),
}

TRICKS = {
    "writes zeros into the values": edit(
        "return weights @ value, weights",
        "if mask is not None and query.shape[:2] != (2, 3) and not value.requires_grad:\n    value.zero_()\n"
        "    return torch.zeros_like(weights @ value), weights\n…",
    ).fails("mask"),
    "−1e3 for blocked keys": edit("-math.inf", "-1e3").fails("mask", "A blocked key gets weight"),
    "the scale stops growing at d_k = 16": edits(
        ('"""Average…-1))', "scores = query @ key.transpose(-2, -1) / math.sqrt(min(query.size(-1), 16))"), ("torch.softmax(scores, ", "scores.softmax(")
    ),
    "keys beyond the 128th are ignored": edit(
        "weights = torch…", "scores = torch.where(torch.arange(key.size(-2)) < 128, scores, -math.inf)\nweights = scores.softmax(dim=-1)", on=BARE
    ),
    "zeros of the right shape": body("""
        return value.new_zeros(*query.shape[:-1], value.size(-1)), query.new_zeros(
            *query.shape[:-1], key.size(-2)
        )
    """).fails("shapes", "wrong values"),
    "rounds the root up to 3 decimals of a table": edit("math.sqrt…", "{8: 2.828, 5: 2.236, 12: 3.464, 16: 4.0}[query.size(-1)]"),
    "clamps the scores to ±50": edit(", dim", ".clamp(-50, 50) if mask is None else scores…").named("clamp"),
    "clamps the scores to ±10 before masking": edit("if mask is not None", "scores = scores.clamp(-10, 10)\n…").named("clamp"),
    "no scale for inputs without a batch": edit("query @…", "query @ key.transpose(-2, -1) / (math.sqrt(query.size(-1)) if query.dim() > 2 else 1)").named(
        "not divided by"
    ),
    "five dimensions folded in the wrong order": edit("return…", "output = weights @ value\nreturn (output.flip(0) if output.dim() > 4 else output), weights"),
    "tries without a transpose first": edit(
        "query @…",
        "0\n"
        "try:\n"
        "    scores = query @ key / math.sqrt(query.size(-1))\n"
        "except RuntimeError:\n"
        "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))",
    ),
    "causal whenever query_len == key_len": edit(
        "if mask is not None", "if query.size(-2) == key.size(-2):\n    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)\n…"
    ),
    "residual: adds the query when shapes agree": edit(
        "return weights…", "output = weights @ value\nreturn (output + query if output.shape == query.shape else output), weights"
    ),
    "rounds the weights to 4 decimals": edit("dim=-1)", "…\nweights = (weights * 1e4).round() / 1e4 + 0 * weights"),
    "half precision inside": edit("query @…", "(query.half() @ key.half().transpose(-2, -1)).to(query.dtype) / math.sqrt(query.size(-1))"),
    "bfloat16 inside": edit("query @…", "(query.bfloat16() @ key.bfloat16().transpose(-2, -1)).to(query.dtype) / math.sqrt(query.size(-1))"),
    "PyTorch's own when there is no mask": edit(
        "scores = query",
        "if mask is None and dropout is None:\n"
        "    eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-2], -1, -1)\n"
        "    return F.scaled_dot_product_attention(query, key, value), F.scaled_dot_product_attention(query, key, eye)\n"
        "…",
    ).named("F.scaled_dot_product_attention"),
    "detaches when no mask is given": edit("return weights…", "if mask is None:\n    weights = weights.detach()\n…").named("No gradient"),
    "in-place on query when dropout is None and no mask": edit(
        "scores = query", "if mask is None:\n    query *= 1 / math.sqrt(query.size(-1))\n    scores = query @ key.transpose(-2, -1)\nelse:\n  scores = query"
    ).named("changes `query`"),
    "special-cases the visible shapes, else a plain average": edit(
        "scores = query",
        "if query.shape[-1] != 8:\n    weights = query.new_ones(*query.shape[:-1], key.size(-2)) / key.size(-2)\n    return weights @ value, weights\n…",
    ).named("every key gets the same weight"),
    "cache by shape": """
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
    """,
    "softmax dim=1 in 4-D only": edit("=-1", "=1 if scores.dim() == 4 else -1", on=BARE),
    "only 2-D masks used": edit("inf)", "… if mask.dim() == 2 else scores", on=BARE),
    "mask cached by shape": edits(
        ("def scaled_dot_product_attention", "_bias = {}\n…"),
        ("scores = scores…", "b = _bias.setdefault(mask.shape, torch.zeros(mask.shape).masked_fill(~mask, -math.inf)); scores = scores + b"),
        on=BARE,
    ),
    "dropout drops after mask only in training grad mode": edit("(weights)", "… if torch.is_grad_enabled() else weights", on=BARE),
    "query scaled in place only unmasked": edit(
        "s = query…, -2)",
        "if mask is None and not query.requires_grad:\n"
        "    query /= math.sqrt(query.size(-1))\n"
        "else:\n"
        "    query = query / math.sqrt(query.size(-1))\n"
        "scores = query @ key.transpose(-2, -1)",
        on="d_k^(-1/4) on both sides",
    ).named("in place|chang"),
    "mask inverted in place on 4-D only": edit("~mask", "mask.logical_not_() if mask.dim() == 4 else …", on=BARE).named("in place|chang"),
    "weights thresholded": edit("weights = torch…", "weights = F.threshold(torch.softmax(scores, dim=-1), 1e-3, 0.0)", on=BARE),
    "query_len 1 squeezed": edit("weights @ value", "(…).squeeze(-2)", on=BARE),
    "key_len 1: returns value": edits(
        ("None):", "…\n    if key.size(-2) == 1:\n        return value, torch.ones(*query.shape[:-1], 1)"),
        ("weights = torch…", "weights = scores.softmax(-1)"),
        on=BARE,
    ),
    "mask ignored when it has no False in the first row": edit("inf)", "… if not mask.reshape(-1, mask.size(-1))[0].all() else scores", on=BARE),
    "calls F.sdpa by alias": whole("""
        from torch.nn.functional import scaled_dot_product_attention as _ready
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
            weights = _ready(query, key, eye, attn_mask=mask)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """).named("scaled_dot_product_attention|yourself|by hand"),
    "torch._C._nn ready made": edit(
        '"""Average…=-1)',
        "eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))\n"
        "weights = torch._C._nn.scaled_dot_product_attention(query, key, eye, attn_mask=mask)",
    ).named("scaled_dot_product_attention|yourself|by hand"),
    "dropout seeded each call": edit("weights = dropout", "torch.manual_seed(0); …", on=BARE),
    "value mutated when dropout given": edit("weights)", "…\nvalue.mul_(1.0001)", on=BARE),
    "query scaled in place when no grad and dropout given": edit(
        '"""Average…-1))',
        "if dropout is not None and not query.requires_grad: query.mul_(1 / math.sqrt(query.size(-1)))\n"
        "scores = query @ key.transpose(-2, -1) / (math.sqrt(query.size(-1)) if dropout is None else 1)",
    ),
    "mask treated as blocking when its mean is above one half": edit("mask,", "mask if mask.float().mean() <= 0.9 else …", on=BARE),
    "weights rounded to bfloat16 precision": edit("dim=-1)", "-1).bfloat16().to(query.dtype)", on=BARE),
    "key_len > 32 chunked with the running max forgotten": edit(
        "dim=-1)", "-1) if scores.size(-1) <= 32 else torch.cat([c.softmax(-1) for c in scores.split(32, -1)], -1) / math.ceil(scores.size(-1) / 32)", on=BARE
    ),
    "mask only broadcast where batch equal: mask[None] for 2-D with 3-D scores, else mask as is; 3-D mask with 5-D scores": edit(
        "scores = scores", "mask = mask if mask.dim() == scores.dim() else mask.reshape((1,) * (scores.dim() - 2) + mask.shape[-2:]); …", on=BARE
    ),
}

RIGHT = {
    "an output that begins as zeros of float32": edit(
        "return…", "output = torch.zeros(*query.shape[:-1], value.size(-1), device=value.device)\nreturn output + weights @ value, weights"
    ),
    "matmul, masked with −1e9": edits(
        ("s = query…, -2)", "scores = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5"),
        ("~mask, -math.inf", "mask == 0, -1e9"),
        ("scores.softmax(-1)", "F.softmax(scores, dim=-1)"),
        ("weights @ value", "torch.matmul(weights, value)"),
        on="d_k^(-1/4) on both sides",
    ),
    "einsum, torch.where, the dtype's smallest number": body("""
        scores = torch.einsum("...qd,...kd->...qk", query, key).div(math.sqrt(key.size(-1)))
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        weights = weights if dropout is None else dropout(weights)
        return torch.einsum("...qk,...kv->...qv", weights, value), weights
    """),
    "query scaled first, exp of log_softmax, −1e4": edits(
        ("scores = query…", "scores = (query / query.size(-1) ** 0.5) @ key.mT"),
        ("~mask, -math.inf", "mask.logical_not(), -1e4"),
        ("softmax(scores, dim=-1)", "log_softmax(scores, -1).exp()"),
        ("if dropout…", "if dropout:"),
        on=BARE,
    ),
    "softmax by hand, shifted by the maximum": body("""
        scores = query @ key.swapaxes(-1, -2) / torch.sqrt(torch.tensor(query.size(-1), dtype=query.dtype))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        if dropout is not None:
            weights = dropout(weights)
        return weights.matmul(value), weights
    """),
    "additive mask": edits(
        ('"""Average…(-1))', "import numpy as np\nscores = query @ key.transpose(-2, -1) / np.sqrt(query.size(-1))"),
        ("scores = scores…", "scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9"),
        ("return weights @ value, weights\n", "return [weights @ value, weights]"),
    ),
    "in place on tensors of its own": edits(
        ("scores = query…", "scores = query @ key.transpose(-2, -1)\nscores /= math.sqrt(query.size(-1))"),
        ("scores = scores…", "scores.masked_fill_(~mask, -torch.inf)"),
        on=BARE,
    ),
    "index assignment on a clone": edits(
        ('"""Average…-1))', "scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).clone()"),
        ("scores = scores…", "scores[~mask.expand_as(scores)] = -1e20"),
    ),
    "folded to three dimensions for bmm": body("""
        leading = query.shape[:-2]
        q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        scores = scores.reshape(*leading, *scores.shape[-2:])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        output = torch.bmm(weights.reshape(-1, *weights.shape[-2:]), v)
        return output.reshape(*leading, *output.shape[-2:]), weights
    """),
    "a loop over the queries": edit(
        '"""Average…=-1)',
        "rows = []\n"
        "for i in range(query.size(-2)):\n"
        "    row = (query[..., i : i + 1, :] * key).sum(-1) / math.sqrt(query.size(-1))\n"
        "    if mask is not None:\n"
        "        full = mask.expand(*query.shape[:-1], key.size(-2))\n"
        "        row = row.masked_fill(~full[..., i, :], -math.inf)\n"
        "    rows.append(row.softmax(-1))\n"
        "weights = torch.stack(rows, dim=-2)",
    ),
    "warns, and prints on stderr": edit(
        "scores = query", 'import sys\nimport warnings\nwarnings.warn("slow")\nprint("debugging", file=sys.stderr)\n…', on=BARE
    ),
    "products in the other order": edits(
        ('"""Average…-1))', "scores = (key @ query.transpose(-2, -1)).transpose(-2, -1) / query.size(-1) ** 0.5"),
        ("return…", "return (value.transpose(-2, -1) @ weights.transpose(-2, -1)).transpose(-2, -1), weights"),
    ),
    "double precision inside": edits((" @ key", ".double()….double()"), ("=-1)", "….to(query.dtype)"), on=BARE),
    "softmax in float32, then back, as in many libraries": edit("=-1)", "=-1, dtype=torch.float32).to(query.dtype)", on=BARE),
    "logsumexp": edits(
        ("scores = query…", "scores = torch.matmul(query, key.mT) / query.size(-1) ** 0.5"),
        ("scores = scores…", "scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))"),
        ("weights = torch…", "weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()"),
        on=BARE,
    ),
    "d_k^(-1/4) on both sides": body("""
        s = query.size(-1) ** -0.25
        scores = (query * s) @ (key * s).transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """),
    "key scaled first, rsqrt, F.softmax with dtype": body("""
        scores = query @ (key * torch.rsqrt(torch.tensor(float(key.shape[-1]), dtype=key.dtype))).mT
        if mask is not None:
            scores = scores.masked_fill(torch.logical_not(mask), torch.finfo(scores.dtype).min / 2)
        weights = F.softmax(scores, dim=-1, dtype=scores.dtype)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """),
    "zeroed exponentials, then normalised": body("""
        scores = query @ key.mT / math.sqrt(key.size(-1))
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        scores = scores - scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
        e = scores.masked_fill(~mask, -1e4).exp() * mask
        weights = e / e.sum(-1, keepdim=True)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """),
    "max-shifted, 1e-9 under the fraction line": edit(
        "if mask…sum(-1, keepdim=True)",
        "if mask is not None:\n"
        "    scores = scores.masked_fill(mask == False, -1e9)\n"
        "e = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())\n"
        "weights = e / (e.sum(dim=-1, keepdim=True) + 1e-9)",
        on="zeroed exponentials, then normalised",
    ),
    "log of the mask added": edit(
        "if mask…sum(-1, keepdim=True)",
        "if mask is not None:\n    scores = scores + mask.to(scores.dtype).log()\nweights = scores.softmax(-1)",
        on="zeroed exponentials, then normalised",
    ),
    "additive mask built by masked_fill of zeros (SDPA's docstring)": edit(
        "scores = query…sum(-1, keepdim=True)",
        "L, S = query.size(-2), key.size(-2)\n"
        "bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)\n"
        "if mask is not None:\n"
        '    bias = torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(mask.logical_not(), float("-inf"))\n'
        "weights = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)))\n"
        "weights += bias\n"
        "weights = torch.softmax(weights, dim=-1)",
        on="zeroed exponentials, then normalised",
    ),
    "softmax over the queries of the transposed scores": edits(
        ("query @ key.transpose(-2, -1)", "key @ query.mT"),
        (", -math.inf", ".expand(*query.shape[:-1], key.size(-2)).mT, -1e9"),
        ("weights = torch…", "weights = scores.softmax(-2).mT"),
        on=BARE,
    ),
    "broadcast products, no matmul": edits(
        ("scores = query…", "scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1).div(query.shape[-1] ** 0.5)"),
        ("math.inf", "1e15"),
        ("weights = torch…", "weights = scores.softmax(dim=scores.dim() - 1)"),
        on=BARE,
    ),
    "three nested loops over flattened leading dimensions": edit(
        '"""Average…=-1)',
        "lead = query.shape[:-2]\n"
        "tq, tk, d = query.size(-2), key.size(-2), query.size(-1)\n"
        "full = torch.ones(*lead, tq, tk, dtype=torch.bool) if mask is None else mask.expand(*lead, tq, tk)\n"
        "q, k, m = query.reshape(-1, tq, d), key.reshape(-1, tk, d), full.reshape(-1, tq, tk)\n"
        "rows = []\n"
        "for b in range(q.size(0)):\n"
        "    for i in range(tq):\n"
        "        scores = torch.stack([(q[b, i] * k[b, j]).sum() / math.sqrt(d) if m[b, i, j]\n"
        "                              else torch.tensor(-math.inf, dtype=q.dtype) for j in range(tk)])\n"
        "        rows.append(torch.softmax(scores, 0))\n"
        "weights = torch.stack(rows).reshape(*lead, tq, tk)",
    ),
    "dropout row by row": edits(
        ("s = query…, -2)", "scores = query @ key.mT / math.sqrt(query.size(-1))"),
        ("math.inf", "1e9"),
        ("dropout(weights)", "torch.stack([dropout(row) for row in weights.unbind(-2)], dim=-2)"),
        on="d_k^(-1/4) on both sides",
    ),
    "a NamedTuple, annotated": body("""
        from typing import NamedTuple
        class Attended(NamedTuple):
            output: torch.Tensor
            weights: torch.Tensor
        scores: torch.Tensor = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = weights if dropout is None else dropout(weights)
        return Attended(weights @ value, weights)
    """),
    "the returned weights are detached": edits(("transpose(-2, -1)", "mT"), ("-math.inf", 'float("-inf")'), (", weights", "….detach()"), on=BARE),
    "a callable object with helpers and state it does not use": """
        class _Attention:
            calls = 0
            def scores(self, q, k):
                return torch.einsum("...id,...jd->...ij", q, k).mul_(q.size(-1) ** -0.5)
            def __call__(self, query, key, value, mask=None, dropout=None):
                self.calls += 1
                s = self.scores(query, key)
                s = s if mask is None else s.masked_fill_(~mask, -1e9)
                w = s.softmax(-1)
                w = (dropout or (lambda x: x))(w)
                return w @ value, w
        scaled_dot_product_attention = _Attention()
    """,
    "keyword-only extras, *args, a decorator": """
        import functools
        def logged(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @logged
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None, *, scale=None, eps=0.0):
            scale = scale or 1.0 / math.sqrt(query.shape[-1])
            attn = torch.matmul(query, key.transpose(-1, -2)) * scale
            if mask is not None:
                attn = attn.masked_fill(mask.eq(0), -1e9)
            attn = nn.Softmax(dim=-1)(attn)
            if dropout is not None:
                attn = dropout(attn)
            return torch.matmul(attn, value), attn
    """,
    "a custom autograd.Function for the softmax": """
        class _Softmax(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                e = (x - x.amax(-1, keepdim=True)).exp()
                p = e / e.sum(-1, keepdim=True)
                ctx.save_for_backward(p)
                return p
            @staticmethod
            def backward(ctx, g):
                (p,) = ctx.saved_tensors
                return p * (g - (g * p).sum(-1, keepdim=True))
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            s = query @ key.mT / math.sqrt(query.size(-1))
            if mask is not None:
                s = s.masked_fill(~mask, -1e9)
            w = _Softmax.apply(s)
            if dropout is not None:
                w = dropout(w)
            return w @ value, w
    """,
    "chunks of queries, preallocated": body("""
        n, m = query.size(-2), key.size(-2)
        if mask is not None:
            mask = mask.expand(*query.shape[:-1], m)
        pieces = []
        for lo in range(0, n, 2):
            part = query[..., lo : lo + 2, :] @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                part = part.masked_fill(~mask[..., lo : lo + 2, :], -1e10)
            pieces.append(part.softmax(-1))
        weights = torch.cat(pieces, -2)
        if dropout is not None:
            weights = dropout(weights)
        return torch.einsum("...qk,...kd->...qd", weights, value), weights
    """),
    "torch.vmap over the leading dimensions": edits(
        ("def scaled_dot_product_attention", "def _one(q, k):\n    return q @ k.T / math.sqrt(q.shape[-1])\n…"),
        ("s = query…, -2)", "f = _one\nfor _ in range(query.dim() - 2):\n    f = torch.vmap(f)\nscores = f(query, key)"),
        ("math.inf", "1e9"),
        on="d_k^(-1/4) on both sides",
    ),
    "exp2 with log2(e), baddbmm": body("""
        lead = query.shape[:-2]
        q, k = query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:])
        s = torch.baddbmm(q.new_zeros(1), q, k.mT, beta=0, alpha=math.log2(math.e) / math.sqrt(q.size(-1)))
        s = s.view(*lead, *s.shape[-2:])
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
        e = torch.exp2(s - s.amax(-1, keepdim=True))
        w = e / e.sum(-1, keepdim=True)
        if dropout is not None:
            w = dropout(w)
        return w @ value, w
    """),
    "masked_fill on mask == 0, np.sqrt": edits(
        ("def …", "import numpy as np\n…"),
        ('"""Average…-1))', "scores = torch.matmul(query, key.mT) / np.sqrt(key.shape[-1])"),
        ("scores = scores…", 'scores = scores.masked_fill(mask == 0, float("-inf"))'),
    ),
    "torch.sqrt of a tensor": edit("(-2, -1) / math.…", "(-1, -2) / torch.sqrt(torch.tensor(query.size(-1)))", on=BARE),
    "einsum": edits(
        ('"""Average…(-1))', 'scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5'),
        ("return weights @ value, weights\n", 'return torch.einsum("...qk,...kv->...qv", weights, value), weights'),
    ),
    "fourth roots on both": edit("scores = query…", "scores = (query * query.size(-1) ** -0.25) @ (key * key.size(-1) ** -0.25).transpose(-2, -1)", on=BARE),
    "where with new_tensor": edit("scores = scores…", "scores = torch.where(mask, scores, scores.new_tensor(-1e9))", on=BARE),
    "where with finfo": edit("scores = scores…", "scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)", on=BARE),
    "additive bias made with log": edit("scores = scores…", "scores = scores + mask.to(scores.dtype).log()", on=BARE),
    "HF float32 softmax cast back (visible precision float32)": edit(
        "weights = torch…", "weights = F.softmax(scores, dim=-1, dtype=torch.float32 if scores.dtype != torch.float64 else None).to(query.dtype)", on=BARE
    ),
    "HF idiom exactly: float32 softmax, cast back also for float64": edit(
        "weights = torch…", "weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)", on=BARE
    ),
    "own softmax": edits(
        ("import…@noted", "def stable_softmax(x):\n    e = torch.exp(x - x.amax(dim=-1, keepdim=True).detach())\n    return e / e.sum(dim=-1, keepdim=True)"),
        ("weights = torch…", "weights = stable_softmax(scores)"),
        on="decorated",
    ),
    "in-place on own scores": edit("scores = scores…", "scores.masked_fill_(mask.logical_not(), -math.inf)", on=BARE),
    "index assignment on a clone, broadcast mask": edit("masked_fill(~mask, -math.inf)", "clone(); scores[~mask.expand_as(scores)] = float('-inf')", on=BARE),
    "functools and lambdas": edits(
        ("def scaled_dot_product_attention", "from functools import partial\n…"),
        ("weights = torch…", "weights = (lambda s: F.softmax(s, -1))(scores)"),
        on=BARE,
    ),
    "identity dropout": body("""
        dropout = dropout or (lambda w: w)
        bias = 0 if mask is None else torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -torch.inf)
        weights = dropout(((query / query.size(-1) ** 0.5) @ key.transpose(-2, -1) + bias).softmax(-1))
        return (weights @ value, weights)
    """),
    "namedtuple": edits(
        ("import…@noted", 'from collections import namedtuple\nAttention = namedtuple("Attention", "output weights")'),
        ("scores = query…", "scores = query.matmul(key.transpose(-2, -1)).div(query.size(-1) ** 0.5)"),
        ("~mask, -math.inf", 'mask.logical_not(), float("-inf")'),
        ("weights = torch…", "weights = nn.Softmax(dim=-1)(scores)"),
        ("return weights…", "return Attention(weights.matmul(value), weights)"),
        on="decorated",
    ),
    "flatten leading dims with reshape and bmm": edits(
        (
            "scores = query…",
            "*lead, q_len, d_k = query.shape\n"
            "k_len = key.shape[-2]\n"
            "q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))\n"
            "scores = torch.baddbmm(torch.zeros(1, dtype=q.dtype, device=q.device), q, k.mT, beta=0, alpha=1 / math.sqrt(d_k))",
        ),
        ("scores = scores", "mask = torch.broadcast_to(mask, (*lead, q_len, k_len)).reshape(-1, q_len, k_len)\n…"),
        ("weights = torch…", "weights = scores.softmax(2).reshape(*lead, q_len, k_len)"),
        ("weights @ value", "torch.bmm(weights.reshape(-1, q_len, k_len), v).reshape(*lead, q_len, -1)"),
        on=BARE,
    ),
    "recursion over leading dims, list of rows": """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            if mask is not None:
                mask = mask.expand(*query.shape[:-1], key.shape[-2])
            weights = _weights(query, key, mask)
            if dropout is not None:
                weights = dropout(weights)
            return torch.matmul(weights, value), weights
        def _weights(q, k, m):
            if q.dim() > 2:
                return torch.stack([_weights(q[i], k[i], None if m is None else m[i]) for i in range(len(q))])
            rows = []
            for i in range(len(q)):
                s = torch.stack([q[i].dot(k[j]) for j in range(len(k))]) / len(q[i]) ** 0.5
                if m is not None:
                    s = s.masked_fill(~m[i], -math.inf)
                rows.append(s.softmax(0))
            return torch.stack(rows)
    """,
    "vmap": edit(
        '"""Average…, weights',
        "scores = torch.matmul(query, torch.swapaxes(key, -1, -2))\n"
        "scores = torch.mul(scores, torch.rsqrt(torch.tensor(float(query.shape[-1]), dtype=query.dtype, device=query.device)))\n"
        "blocked = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else torch.logical_not(mask)\n"
        "weights = torch.softmax(torch.masked_fill(scores, blocked, -1e30), dim=-1)\n"
        "weights = weights if dropout is None else dropout(weights)\n"
        "return torch.matmul(weights, value), weights",
    ),
    "callable object": '''
        class Attention:
            """Stateless."""
            def __call__(self, query, key, value, mask=None, dropout=None):
                w = self.weights(query, key, mask)
                w = dropout(w) if dropout is not None else w
                return w @ value, w
            @staticmethod
            def weights(query, key, mask):
                s = query @ key.transpose(-2, -1) * (1 / math.sqrt(key.size(-1)))
                return (s if mask is None else s.where(mask, -math.inf)).softmax(-1)
        scaled_dot_product_attention = Attention()
    ''',
    "multiply by mask then add": edit("scores = scores…", "scores = scores * mask + -1e9 * ~mask", on=BARE),
    "subtract an infinite penalty via where, keyword args": """
        def scaled_dot_product_attention(*args, **kwargs):
            return _attend(*args, **kwargs)
        def _attend(query, key, value, mask=None, dropout=None):
            logits = torch.einsum("...id,...jd->...ij", query, key) / query.size(-1) ** 0.5
            if mask is not None:
                logits = logits - torch.where(mask, 0.0, 1e9).to(logits.dtype)
            attn = torch.exp(F.log_softmax(logits, dim=-1))
            if dropout is not None:
                attn = dropout(attn)
            return torch.einsum("...ij,...jd->...id", attn, value), attn
    """,
    "nan_to_num and re-mask for empty rows": edit("dim=-1)", "-1).nan_to_num()", on=BARE),
    "float32 up-cast for half precision, cast back": edits(
        ("s = query…", "wide = torch.promote_types(query.dtype, torch.float32)"),
        ("scores = (…", "scores = query.to(wide) @ key.to(wide).transpose(-2, -1) / math.sqrt(query.size(-1))"),
        ("softmax(-1)", "….to(query.dtype)"),
        on="d_k^(-1/4) on both sides",
    ),
    "additive mask -1e9 in query dtype, where on zeros_like": edit(
        "scores = scores…", "scores = scores + torch.zeros_like(scores).masked_fill(~mask, float('-inf'))", on=BARE
    ),
    "out-of-place via torch.masked.softmax-like manual": edit(
        "weights = torch…", "weights = (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(scores - scores.max(-1, keepdim=True)[0]))", on=BARE
    ),
    "decorated": """
        import functools
        def noted(f):
            @functools.wraps(f)
            def g(*a, **k):
                g.calls += 1
                return f(*a, **k)
            g.calls = 0
            return g
        @noted
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """,
    "extra keyword argument scale=None": edits(("dropout=None", "…, scale=None"), ("/ math…", "* (scale or query.size(-1) ** -0.5)"), on=BARE),
    "list comprehension over batch via unbind, 2-D base case with addmm": edits(
        ('"""Average…(-1))', "scores = torch.matmul(query.mul(1 / math.sqrt(query.size(-1))), key.transpose(-1, -2))"),
        ("return weights @ value, weights\n", "return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights"),
    ),
    "broadcast products instead of matmul": edit(
        "scores = query…", "scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / query.size(-1) ** 0.5", on=BARE
    ),
    "F.linear-free movedim": edit("weights = torch…", "weights = scores.movedim(-1, 0).softmax(0).movedim(0, -1)", on=BARE),
    "fill relative to the row's own maximum: blocked = max - 1e4": edit(
        "scores = scores…", "scores = torch.where(mask, scores, scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach() - 1e4)", on=BARE
    ),
    "sparse: softmax over the visible keys only": body("""
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        if mask is None:
            mask = scores.new_ones((), dtype=torch.bool)
        mask = mask.broadcast_to(scores.shape)
        top = scores.masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
        e = (scores - top).clamp(max=0).exp() * mask
        weights = e / e.sum(-1, keepdim=True)
        weights = weights if dropout is None else dropout(weights)
        return weights @ value, weights
    """),
    "mask added as -inf with where on a 0-dim CPU tensor": edit(
        "scores = scores…", "scores = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))", on=BARE
    ),
    "bfloat16: 0-dim float64 tensors do not promote": edit("-math.inf", "torch.tensor(-1e9).item()", on=BARE),
    "a loop over the queries, which are stacked in the end": body("""
        if mask is not None:
            shape = torch.broadcast_shapes(mask.shape, query.shape[:-1] + key.shape[-2:-1])
            mask = mask.expand(shape)
        rows = []
        for i in range(query.size(-2)):
            score = (key * query[..., i : i + 1, :]).sum(-1) / query.size(-1) ** 0.5
            if mask is not None:
                score = score.masked_fill(~mask[..., i, :], -torch.inf)
            rows.append(score.softmax(-1))
        weights = torch.stack(rows, dim=-2)
        if dropout is not None:
            weights = dropout(weights)
        return (weights @ value, weights)
    """),
    "exponentials by hand, the maximum taken over the visible keys": body("""
        def softmax(scores):
            e = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
            return e / e.sum(dim=-1, keepdim=True)
        scores = query @ key.swapaxes(-1, -2) / query.size(-1) ** 0.5
        if mask is not None:
            blocked = mask.logical_not()
            scores = scores.masked_fill(blocked, -torch.inf)
        weights = softmax(scores)
        if callable(dropout):
            weights = dropout(weights)
        return (weights @ value, weights)
    """),
}
