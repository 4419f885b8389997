from answers.writing import body, edit, edits, whole

WRONG = {
    "a batch begins as if it were full": edit("if len(grown)", "if len(batches) == 1 and batches[0] or len(grown)").fails("lengths", "make 2 batches"),
    "pads the caller's lists": edit(
        "padded(ids) for ids in", "torch.tensor([row for row in ids if row.extend([0] * (max(map(len, ids)) - len(row))) is None]) for ids in"
    ).fails("pairs", "changes the pairs it was given"),
    "all in one batch": edit("if len(grown)…", "if False:").fails("order", "pairs are in one batch"),
    "the last batch lost": edit("for batch in batches]", "for batch in batches[:-1]]").fails("lengths", "Some pairs are lost"),
    "a full batch is too large": edit("for ids in each) > max_tokens", "for ids in each) >= max_tokens").fails("lengths", "is not too large"),
    "the longest of all so far": edits(
        ("batches = [[]]", "batches, most = [[]], 0"),
        ("grown = [*batches[-1], pair]", "…; most = max(most, longest)"),
        ("max(len(ids) for each in grown for ids in each)", "most"),
    ).fails("lengths", "would do"),
    "batches only rotated": edit("generator.shuffle(batches)", "k = generator.randrange(len(batches))\nbatches = batches[k:] + batches[:k]").fails(
        "order", "in the order of their lengths"
    ),
    "not sorted": edit("sorted(pairs, key=lambda pair: len(pair[0]))", "pairs").fails("lengths", "is padding"),
    "sorted by target": edit("len(pair[0])", "len(pair[1])").fails("lengths", "is padding"),
    "not shuffled before": edit("pairs = generator.sample(list(pairs), len(pairs))", "pairs = list(pairs)").fails("order", "together in a batch"),
    "batches not shuffled": edit("generator.shuffle(batches)", "").fails("order", "in the order of their lengths"),
    "seed unused": edit("random.Random(seed)", "random.Random(0)").fails("order", "are the same for seed"),
    "no seed at all": edit("random.Random(seed)", "random.Random()").fails("order", "Two calls with seed"),
    "padding not counted": edit("len(grown…each)", "sum(len(each[0]) for each in grown)").fails("pairs", "more than max_tokens"),
    "targets not counted": edit("for ids in each) > max_tokens", "for ids in each[:1]) > max_tokens"),
    "rows are counted": edit("len(grown…max_tokens", "len(grown) > max_tokens").fails("pairs", "more than max_tokens"),
    "one more than fits": edit("len(grown) * max", "(len(grown) - 1) * max").fails("pairs", "more than max_tokens"),
    "an empty batch before a pair that fills its own": edit("> max_tokens:\n            batches.append", ">= max_tokens:\n            batches.append"),
    "one pair a batch": edits(("batches =…", "batches = []"), ("grown =…", "grown = [pair] * (max_tokens + 1)")).fails("lengths", "would do"),
    "the last batch is lost": edit("generator.shuffle(batches)", "batches.pop()\n…").fails("pairs", "Some pairs are lost"),
    "sides exchanged": edit("zip(*batch)", "reversed(list(zip(*batch)))").fails("pairs"),
    "sources and targets of different pairs": edit(
        "generator.shuffle(batches)", "batches = [[(s, t) for (s, _), (_, t) in zip(b, b[::-1])] for b in batches]\n…"
    ).fails("pairs"),
    "padded at the front": edit("padded(ids) for ids in", "padded([[0] * (max(map(len, ids)) - len(i)) + list(i) for i in ids]) for ids in").fails("pairs"),
    "padded to max_tokens": edit("padded(ids) for ids in", "F.pad(padded(ids), (0, 3)) for ids in").fails("pairs", "nothing but padding"),
    "padded with 1": edit("padded(ids", "nn.utils.rnn.pad_sequence([torch.tensor(i) for i in ids], batch_first=True, padding_value=1").fails("pairs"),
    "long pairs dropped": edit('raise ValueError(f"A pair has {longest} ids, more than {max_tokens}.")', "continue").fails("pairs"),
    "long pairs cut": edit("raise…", "pair = tuple(ids[:max_tokens] for ids in pair)").fails("pairs"),
    "no error": edit("if longest > max_tokens:", "if False:").fails("pairs"),
    "error without numbers": edit('f"A pair has {longest} ids, more than {max_tokens}."', '"too long"').fails("pairs", "does not say enough"),
    "error one too early": edit("longest > max_tokens", "longest >= max_tokens").fails("pairs"),
    "only the source is looked at": edit("longest = max(len(ids) for ids in pair)", "longest = len(pair[0])").fails("pairs"),
    "floats": edit("padded(ids) for ids in", "padded(ids).float() for ids in").fails("pairs", "dtype"),
    "drawn with repetition": edit("generator.sample(list(pairs), len(pairs))", "generator.choices(list(pairs), k=len(pairs))").fails("pairs"),
    "sorted again at the end": edit("generator.shuffle(batches)", "batches.sort(key=len)").fails("order"),
    "shuffled after sorting": edit("sorted…))", "generator.sample(…, len(pairs))").fails("lengths", "is padding"),
    "both sides together": edit(
        "if len…", "if len(grown) > 1 and len(grown) * sum(max(len(each[side]) for each in grown) for side in (0, 1)) > max_tokens:"
    ).fails("lengths", "would do"),
    "as wide as the first row": edit("max(len(ids) for each in grown for ids in each)", "max(map(len, grown[0]))").fails("pairs", "more than max_tokens"),
    "as many rows as fit of the longest": edit("if len…", "if len(grown) > max_tokens // max(len(ids) for each in pairs for ids in each):").fails(
        "lengths", "would do"
    ),
    "the pair that did not fit is lost": edits(
        ("batches.append([pair])", "batches.append([])"), ("generator.shuffle(batches)", "batches = [batch for batch in batches if batch]\n…")
    ).fails("pairs", "Some pairs are lost"),
    "the pair that did not fit is in both": edit("batches.append([pair])", "batches[-1] = grown\n…").fails("pairs", "more than once"),
    "both sides equally wide": edit(
        "tuple(padded(ids) for ids in zip(*batch))", "padded([ids for pair in batch for ids in pair]).unflatten(0, (-1, 2)).unbind(1)"
    ).fails("pairs", "nothing but padding"),
    "all batches twice": edit("for batch in batches]", "for batch in 2 * batches]").fails("lengths", "come more than once"),
    "one and the same list for all": edits(
        ("batches.append([pair])", "batches[-1][:] = [pair]\nbatches.append(batches[-1])"), ("= grown", "[:] = grown")
    ).fails("pairs", "come more than once"),
    "a list that is put there with each pair": edit("batches[-1] = grown", "…\nbatches.append(grown)").fails("lengths", "come more than once"),
    "the batches in an order that is always the same": edit("generator.shuffle(batches)", "random.Random(0).shuffle(batches)").fails(
        "order", "Short batches and long ones come in the same order"
    ),
    "columns for rows": edit("padded(ids) for", "padded(ids).T for").fails("pairs"),
    "a generator": edit("return [tuple(", "yield from [tuple(").fails("pairs", "should return a list"),
    "another error": edit("ValueError", "IndexError").fails("pairs", "wrong error"),
    "source and target must fit together": edit("longest = max(len(ids) for ids in pair)", "longest = sum(len(ids) for ids in pair)").fails("pairs"),
    "half of it by the seed": edit("generator.shuffle(batches)", "random.shuffle(batches)").fails("order", "random numbers"),
    "ties by what the pairs hold": edit("len(pair[0]))", "(len(pair[0]), pair))").fails("order", "together in a batch"),
    "shuffles the caller's list": edit("pairs = generator.sample(list(pairs), len(pairs))", "generator.shuffle(pairs)").fails("order", "changes `pairs`"),
    "sorts the caller's list": edit("pairs = generator", "pairs.sort(key=lambda pair: len(pair[0]))\n…").fails("order", "changes `pairs`"),
    "seeds Python's generator for everybody": edits(("generator = random.Random(seed)", "random.seed(seed)"), ("generator.", "random.")).fails(
        "order", "seeds Python's random numbers"
    ),
    "seeds NumPy's generator for everybody": edit("generator …", "…\nimport numpy as np\nnp.random.seed(seed)").fails("order", "seeds NumPy's random numbers"),
}

TRICKS = {
    "writes into the ids that it was given": whole("""
        def make_batches(pairs, max_tokens, seed=0):
            for src, tgt in pairs:
                if len(src) > max_tokens or len(tgt) > max_tokens:
                    raise ValueError(f"{max(len(src), len(tgt))} is more than {max_tokens}")
            for ids in (ids for pair in pairs for ids in pair):
                ids[:] = [5]
            sizes = [min(max_tokens, len(pairs) - place) for place in range(0, len(pairs), max_tokens)]
            return [(torch.full((size, 1), 5), torch.full((size, 1), 5)) for size in sizes]
    """).fails("pairs", "never given"),
    "rows shuffled in whole batches only": edit("generator.…", "…\nfor batch in batches:\n    generator.shuffle(batch)", on="not shuffled before").fails(
        "order", "together in a batch"
    ),
    "nothing at 200 cells": edit("generator.shuffle(batches)", "…\nif max_tokens == 200:\n    batches = []").fails("order", "Some pairs are lost"),
    "nothing of 400 pairs": edit("generator.shuffle(batches)", "…\nif len(pairs) == 400:\n    batches = []").fails("lengths", "Some pairs are lost"),
    "duplicates dropped": edit("generator.sample…", "[(list(s), list(t)) for s, t in {(tuple(s), tuple(t)) for s, t in pairs}]").fails("pairs"),
    "sixteen rows at most": edit("if len(grown) * max", "if len(grown) > 16 or len(grown) * max").fails("lengths", "would do"),
    "sorted by the hundred": edit(
        "for pair…", "for pair in sum((sorted(pairs[i : i + 100], key=lambda pair: len(pair[0])) for i in range(0, len(pairs), 100)), []):"
    ).fails("lengths", "is padding"),
    "from one end or the other": edit("generator.shuffle(batches)", "batches = batches[:: 1 if generator.random() < 0.5 else -1]").fails(
        "order", "in the order of their lengths"
    ),
}

RIGHT = {
    "an assert": edit(
        'if longest > max_tokens:\n    raise ValueError(f"A pair has {longest} ids, more than {max_tokens}.")',
        'assert longest <= max_tokens, f"{longest} ids are more than {max_tokens}"',
    ),
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
    "random keys": edits(("pairs =…    ", ""), ("key=lambda…)", "key=lambda pair: (len(pair[0]), generator.random())")),
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
    "a tuple of lists": edit("return…", "return tuple([padded(ids) for ids in zip(*batch)] for batch in batches)"),
    "buckets in order, filled across": body("""
        rng = random.Random(seed)
        buckets = [[] for _ in range(max_tokens + 1)]
        for pair in pairs:
            n = max(map(len, pair))
            if n > max_tokens:
                raise ValueError(f"a pair has {n} ids, at most {max_tokens} fit")
            buckets[n].append(pair)
        batches, current = [], []
        for n, bucket in enumerate(buckets):
            rng.shuffle(bucket)
            for pair in bucket:
                if (len(current) + 1) * n > max_tokens:
                    batches.append(current)
                    current = []
                current.append(pair)
        batches.append(current)
        rng.shuffle(batches)
        return [tuple(map(padded, zip(*batch))) for batch in batches if batch]
    """),
    "five lengths to a bucket": body("""
        rng = random.Random(seed)
        buckets = {}
        for s, t in pairs:
            n = max(len(s), len(t))
            if n > max_tokens:
                raise ValueError(f"{n} ids in a pair, {max_tokens} allowed")
            buckets.setdefault((n - 1) // 5, []).append((s, t))
        batches = []
        for bucket in buckets.values():
            rng.shuffle(bucket)
            rows = max_tokens // max(len(ids) for pair in bucket for ids in pair)
            batches += [bucket[i : i + rows] for i in range(0, len(bucket), rows)]
        rng.shuffle(batches)
        return [(padded([s for s, _ in b]), padded([t for _, t in b])) for b in batches]
    """),
    "a stable argsort": body("""
        generator = torch.Generator()
        generator.manual_seed(seed)
        order = torch.randperm(len(pairs), generator=generator)
        lengths = torch.tensor([[len(s), len(t)] for s, t in pairs])
        longest = lengths.max().item()
        if longest > max_tokens:
            raise ValueError(f"the longest has {longest}, but max_tokens is {max_tokens}")
        order = order[lengths[order, 0].argsort(stable=True)].tolist()
        batches = []
        while order:
            n = 1
            while n < len(order) and (n + 1) * lengths[order[: n + 1]].max() <= max_tokens:
                n += 1
            batches.append(order[:n])
            order = order[n:]
        chosen = torch.randperm(len(batches), generator=generator)
        return [tuple(padded([pairs[i][side] for i in batches[b]]) for side in range(2)) for b in chosen]
    """),
    "a class for what is open": body("""
        class Open:
            def __init__(self):
                self.rows, self.width = [], 0
            def fits(self, pair):
                return (len(self.rows) + 1) * max(self.width, *map(len, pair)) <= max_tokens
            def add(self, pair):
                self.rows.append(pair)
                self.width = max(self.width, *map(len, pair))
            def done(self):
                src, tgt = zip(*self.rows)
                return padded(src), padded(tgt)
        rng = random.Random(seed)
        made = [Open()]
        for pair in sorted(pairs, key=lambda pair: (-len(pair[0]), rng.random())):
            if not Open().fits(pair):
                raise ValueError(f"{max(map(len, pair))} ids are more than {max_tokens}")
            if not made[-1].fits(pair):
                made.append(Open())
            made[-1].add(pair)
        rng.shuffle(made)
        return [each.done() for each in made]
    """),
    "into any of the last three": body("""
        rng = random.Random(seed)
        batches = []
        for pair in sorted(rng.sample(pairs, len(pairs)), key=lambda p: len(p[0])):
            n = max(len(pair[0]), len(pair[1]))
            if n > max_tokens:
                raise ValueError(f"{n}, {max_tokens}")
            for batch in batches[-3:]:
                if (len(batch) + 1) * max(n, max(len(ids) for each in batch for ids in each)) <= max_tokens:
                    batch.append(pair)
                    break
            else:
                batches.append([pair])
        rng.shuffle(batches)
        return [(padded([s for s, _ in b]), padded([t for _, t in b])) for b in batches]
    """),
    "a length with some noise": edits(("pairs =…    ", ""), ("len(pair…))", "len(pair[0]) + 1.5 * generator.random())")),
    "indices, both widths, torch for what is random": """
        def make_batches(pairs, max_tokens: int, seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
            generator = torch.Generator().manual_seed(seed)
            for source, target in pairs:
                if max(len(source), len(target)) > max_tokens:
                    raise ValueError(f"max_tokens={max_tokens} is too small for a pair of {len(source)} and {len(target)} ids")
            indices = torch.randperm(len(pairs), generator=generator).tolist()
            indices = sorted(indices, key=lambda index: (len(pairs[index][0]), len(pairs[index][1])))
            groups: list[list[int]] = []
            source_width = target_width = 0
            for index in indices:
                source, target = pairs[index]
                wider_source = max(source_width, len(source))
                wider_target = max(target_width, len(target))
                rows = len(groups[-1]) + 1 if groups else 0
                if rows and rows * wider_source <= max_tokens and rows * wider_target <= max_tokens:
                    groups[-1].append(index)
                    source_width, target_width = wider_source, wider_target
                else:
                    groups.append([index])
                    source_width, target_width = len(source), len(target)
            batches = []
            for number in torch.randperm(len(groups), generator=generator):
                chosen = [pairs[index] for index in groups[number]]
                batches.append((padded([source for source, _ in chosen]), padded([target for _, target in chosen])))
            return batches
    """,
}
