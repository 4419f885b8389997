"""Answers to `make_batches`, lesson 8."""

from answers.writing import body, edit, edits

WRONG = {
    "not sorted": edit("sorted(pairs, key=lambda pair: len(pair[0]))", "pairs").fails("lengths", "is padding"),
    "sorted by target": edit("len(pair[0])", "len(pair[1])").fails("lengths", "is padding"),
    "not shuffled before": edit("pairs = generator.sample(list(pairs), len(pairs))", "pairs = list(pairs)").fails("order", "together in a batch"),
    "batches not shuffled": edit("generator.shuffle(batches)", "").fails("order", "in the order of their lengths"),
    "seed unused": edit("random.Random(seed)", "random.Random(0)").fails("order", "are the same for seed"),
    "no seed at all": edit("random.Random(seed)", "random.Random()").fails("order", "Two calls with seed"),
    "padding not counted": edit("len(grown) * max(len(ids) for each in grown for ids in each)", "sum(len(each[0]) for each in grown)").fails(
        "pairs", "more than max_tokens"
    ),
    "targets not counted": edit("for ids in each) > max_tokens", "for ids in each[:1]) > max_tokens"),
    "rows are counted": edit("len(grown) * max(len(ids) for each in grown for ids in each) > max_tokens", "len(grown) > max_tokens").fails(
        "pairs", "more than max_tokens"
    ),
    "one more than fits": edit("len(grown) * max", "(len(grown) - 1) * max").fails("pairs", "more than max_tokens"),
    "one fewer than fits": edit("> max_tokens:\n            batches.append", ">= max_tokens:\n            batches.append"),
    "one pair a batch": edit("batches[-1] = grown", "batches.append([pair])"),
    "the last batch is lost": edit("generator.shuffle(batches)", "batches.pop()\n…").fails("pairs", "Some pairs are lost"),
    "sides exchanged": edit("zip(*batch)", "reversed(list(zip(*batch)))").fails("pairs"),
    "sources and targets of different pairs": edit(
        "generator.shuffle(batches)", "batches = [[(s, t) for (s, _), (_, t) in zip(b, b[::-1])] for b in batches]\n…"
    ).fails("pairs"),
    "padded at the front": edit("padded(ids) for ids in", "padded([[0] * (max(map(len, ids)) - len(i)) + list(i) for i in ids]) for ids in").fails("pairs"),
    "padded to max_tokens": edit("padded(ids) for ids in", "F.pad(padded(ids), (0, 3)) for ids in").fails("pairs", "nothing but padding"),
    "padded with 1": edit(
        "padded(ids) for ids in", "nn.utils.rnn.pad_sequence([torch.tensor(i) for i in ids], batch_first=True, padding_value=1) for ids in"
    ).fails("pairs"),
    "long pairs dropped": edit('raise ValueError(f"A pair has {longest} ids, more than {max_tokens}.")', "continue").fails("pairs"),
    "long pairs cut": edit('raise ValueError(f"A pair has {longest} ids, more than {max_tokens}.")', "pair = tuple(ids[:max_tokens] for ids in pair)").fails(
        "pairs"
    ),
    "no error": edit("if longest > max_tokens:", "if False:").fails("pairs"),
    "error without numbers": edit('f"A pair has {longest} ids, more than {max_tokens}."', '"too long"').fails("pairs", "does not say enough"),
    "error one too early": edit("longest > max_tokens", "longest >= max_tokens").fails("pairs"),
    "only the source is looked at": edit("longest = max(len(ids) for ids in pair)", "longest = len(pair[0])").fails("pairs"),
    "floats": edit("padded(ids) for ids in", "padded(ids).float() for ids in").fails("pairs", "dtype"),
    "drawn with repetition": edit("generator.sample(list(pairs), len(pairs))", "generator.choices(list(pairs), k=len(pairs))").fails("pairs"),
    "sorted again at the end": edit("generator.shuffle(batches)", "batches.sort(key=len)").fails("order"),
}

TRICKS = {
    "rows shuffled in whole batches only": edits(
        ("pairs = generator.sample(list(pairs), len(pairs))", "pairs = list(pairs)"),
        ("generator.shuffle(batches)", "…\nfor batch in batches:\n    generator.shuffle(batch)"),
    ).fails("order", "together in a batch"),
    "duplicates dropped": edit("generator.sample(list(pairs), len(pairs))", "[(list(s), list(t)) for s, t in {(tuple(s), tuple(t)) for s, t in pairs}]").fails(
        "pairs"
    ),
}

RIGHT = {
    "torch's permutation": body("""
        generator = torch.Generator().manual_seed(seed)
        pairs = [pairs[i] for i in torch.randperm(len(pairs), generator=generator)]
        pairs.sort(key=lambda pair: max(len(pair[0]), len(pair[1])))
        batches, current = [], []
        for pair in pairs:
            size = max(len(pair[0]), len(pair[1]))
            if size > max_tokens:
                raise ValueError(f"{size} > {max_tokens}")
            widest = max([size] + [max(len(s), len(t)) for s, t in current])
            if current and widest * (len(current) + 1) > max_tokens:
                batches.append(current)
                current = []
            current = current + [pair]
        if current:
            batches.append(current)
        order = torch.randperm(len(batches), generator=generator).tolist()
        return [(padded([s for s, _ in batches[i]]), padded([t for _, t in batches[i]])) for i in order]
    """),
    "by the sum, each side on its own": body("""
        rng = random.Random(seed)
        order = list(range(len(pairs)))
        rng.shuffle(order)
        order.sort(key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        for s, t in pairs:
            if len(s) > max_tokens or len(t) > max_tokens:
                raise ValueError(f"one pair has {max(len(s), len(t))} ids but max_tokens={max_tokens}")
        batches, rows, ws, wt = [], [], 0, 0
        for i in order:
            s, t = pairs[i]
            if rows and ((len(rows) + 1) * max(ws, len(s)) > max_tokens or (len(rows) + 1) * max(wt, len(t)) > max_tokens):
                batches.append(rows)
                rows, ws, wt = [], 0, 0
            rows.append(i)
            ws, wt = max(ws, len(s)), max(wt, len(t))
        batches.append(rows)
        rng.shuffle(batches)
        return [(padded([pairs[i][0] for i in rows]), padded([pairs[i][1] for i in rows])) for rows in batches if rows]
    """),
    "longest first": edit("key=lambda pair: len(pair[0])", "key=lambda pair: -len(pair[0])"),
    "random keys": edits(
        ("pairs = generator.sample(list(pairs), len(pairs))\n", ""), ("key=lambda pair: len(pair[0])", "key=lambda pair: (len(pair[0]), generator.random())")
    ),
    "NumPy": """
        import numpy as np
        def make_batches(pairs, max_tokens, seed=0):
            rng = np.random.default_rng(seed)
            shuffled = [pairs[i] for i in rng.permutation(len(pairs))]
            shuffled = sorted(shuffled, key=lambda p: (len(p[0]), len(p[1])))
            groups = []
            for p in shuffled:
                n = max(map(len, p))
                if n > max_tokens:
                    raise ValueError(f"{n} ids do not fit into {max_tokens}")
                if groups and (len(groups[-1]) + 1) * max(n, *(max(map(len, q)) for q in groups[-1])) <= max_tokens:
                    groups[-1].append(p)
                else:
                    groups.append([p])
            def table(rows):
                out = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
                for k, row in enumerate(rows):
                    out[k, : len(row)] = torch.tensor(row)
                return out
            return [(table([s for s, _ in groups[g]]), table([t for _, t in groups[g]])) for g in rng.permutation(len(groups))]
    """,
    "a tuple of lists": edit(
        "return [tuple(padded(ids) for ids in zip(*batch)) for batch in batches]", "return tuple([padded(ids) for ids in zip(*batch)] for batch in batches)"
    ),
}
