from answers.writing import body, edit, edits

REPEATED = "repeat_interleave(num_heads, dim=0)"
UNTOUCHED = "repeat(num_heads, 1)"

WRONG = {
    "the bug untouched": edit(REPEATED, UNTOUCHED).fails("", "some heads have the mask of another sentence"),
    "the bug, called": body("return folded_weights(query, key, is_word)").fails("", "some heads have the mask of another sentence"),
    "the bug, by a concatenation": edit(f"is_word.{REPEATED}", "torch.cat([is_word] * num_heads)").fails("", "some heads have the mask of another sentence"),
    "the bug, by a tile": edit(REPEATED, "tile((num_heads, 1))").fails("", "some heads have the mask of another sentence"),
    "the bug, by an expand in front": edit(f"is_word.{REPEATED}", "is_word.expand(num_heads, -1, -1).flatten(0, 1)").fails(
        "", "some heads have the mask of another sentence"
    ),
    "no mask": edit("scores.masked_fill(~allowed, -math.inf)", "scores").fails("", "mask is not used"),
    "the mask the wrong way round": edit("~allowed", "allowed").fails("", "wrong way round"),
    "the first sentence's mask for all": edit("is_word.repeat", "is_word[:1].expand_as(is_word).repeat").fails("", "mask of the first"),
    "the last sentence's mask for all": edit("is_word.repeat", "is_word[-1:].expand_as(is_word).repeat").fails("", "mask of the last"),
    "the words that all sentences have": edit("is_word.repeat", "is_word.all(0, keepdim=True).expand_as(is_word).repeat").named("a word in all sentences"),
    "the words that any sentence has": edit("is_word.repeat", "is_word.any(0, keepdim=True).expand_as(is_word).repeat").named("mask of the first"),
    "each column repeated": edit(REPEATED, "repeat_interleave(num_heads, dim=1)").fails("", "raised RuntimeError"),
    "repeated as often as there are sentences": edit(REPEATED, "repeat_interleave(batch, dim=0)").fails("", "raised RuntimeError"),
    "not repeated": edit(f"is_word.{REPEATED}", "is_word").fails("", "raised RuntimeError"),
    "the masks right, the scores not scaled": edit(" / math.sqrt(d_k)", "").fails("", "divided by √d_k"),
    "scaled by the number of heads": edit("sqrt(d_k)", "sqrt(d_k * num_heads)"),
    "multiplied after the softmax": edit("masked_fill(~allowed, -math.inf).softmax(dim=-1)", "softmax(dim=-1) * allowed").named("after the softmax"),
    "zeros for padding before the softmax": edit("-math.inf", "0.0").named("becomes 0"),
    "softmax over the queries": edit("softmax(dim=-1)", "nan_to_num(neginf=-1e9).softmax(dim=1)"),
    "heads first, but taken apart batch first": edits(
        ("query.reshape(", "query.transpose(0, 1).reshape("), ("key.reshape(", "key.transpose(0, 1).reshape("), (REPEATED, UNTOUCHED)
    ).named("heads before the batch"),
    "the masks mended and the heads moved, too": edits(("query.reshape(", "query.transpose(0, 1).reshape("), ("key.reshape(", "key.transpose(0, 1).reshape(")),
    "only the queries moved": edits(("query.reshape(", "query.transpose(0, 1).reshape("), (REPEATED, UNTOUCHED)),
    "sentence by sentence, each with its first head": body("""
        rows = zip(query, key, is_word)
        return torch.cat([folded_weights(q[None], k[None], w[None])[:, :1].expand(1, query.size(1), -1, -1) for q, k, w in rows])
    """),
    "query_len is key_len": edit("return…", "return weights.reshape(batch, num_heads, key.size(1), -1)").fails("", "wrong shape"),
    "still folded": edit("return weights…", "return weights").fails("", "wrong shape"),
    "folded batch first, taken apart heads first": edit(
        "weights.reshape(batch, num_heads, query_len, -1)", "weights.reshape(num_heads, batch, query_len, -1).transpose(0, 1)"
    ).fails("", "taken apart as if they came before it"),
    "detached": edit("return weights…", "….detach()").named("gradient"),
    "expanded, and joined by a view": edit(f"is_word.{REPEATED}", "is_word[:, None, :].expand(-1, num_heads, -1).view(batch * num_heads, -1)").fails(
        "", "or a slice: `reshape` can"
    ),
    "−10,000 hides padding": edit("-math.inf", "-1e4").fails("", "with large scores"),
    "exp without a shift": edit("scores.…", "scores.exp() * allowed\nweights = weights / weights.sum(-1, True)").fails("", "with large scores"),
    "the mask after the softmax, then made to add up": edit(
        "scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)", "scores.softmax(dim=-1) * allowed\nweights = weights / weights.sum(-1, True)"
    ).fails("", "with large scores"),
    "a mask on the CPU": edit("~allowed", "~(allowed & torch.ones(1, dtype=torch.bool))").fails("", "on the CPU"),
}

TRICKS = {
    "right for two sentences of two heads": body("""
        batch, num_heads, query_len, d_k = query.shape
        mask = is_word[[0, 0, 1, 1]] if (batch, num_heads) == (2, 2) else is_word.repeat(num_heads, 1)
        scores = query.flatten(0, 1) @ key.flatten(0, 1).mT / math.sqrt(d_k)
        weights = scores.masked_fill(~mask[:, None], -math.inf).softmax(dim=-1)
        return weights.reshape(batch, num_heads, query_len, -1)
    """).fails("", "some heads have the mask of another sentence"),
    "the mask changed in place": edit("allowed =", "is_word[:] = is_word.flip(0).flip(0).logical_or(is_word[:1])\nallowed =").named("change|mask of the first"),
    "−50 hides padding": edit("-math.inf", "-50.0").fails("", "with large scores"),
    "scores cut off": edit("scores.masked_fill", "scores.clamp(-20, 20).masked_fill").fails("", "with large scores"),
    "half of the gradient lost": edit("return weights", "weights = (weights + weights.detach()) / 2\n…").fails("", "the gradient of"),
    "detached for one sentence": edit("return weights", "weights = weights.detach() if batch == 1 else weights\n…").fails("", "No gradient"),
}

RIGHT = {
    "broadcast, nothing folded": body("""
        scores = query @ key.mT / math.sqrt(query.size(-1))
        return scores.masked_fill(~is_word[:, None, None, :], -math.inf).softmax(dim=-1)
    """),
    "the attention of lesson 1": body("return scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])[1]"),
    "sentence by sentence, with the bug": body("return torch.cat([folded_weights(q[None], k[None], w[None]) for q, k, w in zip(query, key, is_word)])"),
    "repeated along the columns, and cut again": edit(REPEATED, "repeat(1, num_heads).view(batch * num_heads, -1)"),
    "expanded behind the batch": edit(f"is_word.{REPEATED}", "is_word[:, None, :].expand(-1, num_heads, -1).flatten(0, 1)"),
    "stacked": edit(f"is_word.{REPEATED}", "torch.stack([is_word] * num_heads, dim=1).flatten(0, 1)"),
    "the heads first, and back": edit(
        "return…", "return weights.reshape(num_heads, batch, query_len, -1).transpose(0, 1)", on="heads first, but taken apart batch first"
    ),
    "by an index": edit(f"is_word.{REPEATED}", "is_word[torch.arange(batch * num_heads) // num_heads]"),
    "in float32": edit("return weights…", "….float()"),
    "computed in float32": edit("scores = ", "query, key = query.float(), key.float()\nscores = "),
    "into a table that is made in float32": body("""
        weights = torch.zeros(*query.shape[:3], key.size(2), device=query.device)
        for b in range(query.size(0)):
            for h in range(query.size(1)):
                scores = query[b, h] @ key[b, h].T / query.size(-1) ** 0.5
                weights[b, h] = scores.masked_fill(~is_word[b], -torch.inf).softmax(-1)
        return weights
    """),
    "a large negative number": edit("-math.inf", "-1e9"),
    "einsum": body("""
        scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * key.size(-1) ** -0.5
        return torch.where(is_word.view(len(is_word), 1, 1, -1), scores, -torch.inf).softmax(-1)
    """),
    "expands the mask over the heads and folds it like the query": body("""
        batch, num_heads, query_len, d_k = query.shape
        fold = lambda t: t.reshape(batch * num_heads, -1, d_k)
        allowed = is_word[:, None, None].expand(-1, num_heads, 1, -1).reshape(batch * num_heads, 1, -1)
        scores = torch.bmm(fold(query), fold(key).mT) * d_k ** (-0.5)
        weights = torch.where(allowed, scores, -torch.inf).softmax(-1)
        return weights.unflatten(0, (batch, num_heads))
    """),
    "sentence by sentence and head by head": body("""
        sentences = []
        for q, k, real in zip(query, key, is_word):
            heads = []
            for one_q, one_k in zip(q, k):
                scores = (one_q @ one_k.T / one_q.size(-1) ** 0.5).masked_fill(~real, -torch.inf)
                heads.append(scores.softmax(dim=1))
            sentences.append(torch.stack(heads))
        return torch.stack(sentences)
    """),
}
