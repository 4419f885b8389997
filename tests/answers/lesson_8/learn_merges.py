from answers.writing import BARE, body, edit, edits

WRONG = {
    "last pairs not counted": edit("pieces[1:]", "pieces[1:-1]").fails("", "last pair of each word is not counted"),
    "counts overwritten": edit("counts.get(pair, 0) + words[word]", "words[word]").fails(""),
    "lists for pairs": edit("merges.append(best)", "merges.append(list(best))").fails("", "pairs that are lists"),
    "each word counts once": edit("+ words[word]", "+ 1").fails("", "each word counts once"),
    "each pair once a word": edit("zip(pieces, pieces[1:])", "set(zip(pieces, pieces[1:]))").fails("", "once for each word, not once for each place"),
    "ties to the last": edit("min…", "max(counts, key=lambda pair: (counts[pair], pair))").fails("", "comes last in order"),
    "ties to the first met": edit("min(counts, key=lambda pair: (-counts[pair], pair))", "max(counts, key=counts.get)").fails("", "met first"),
    "the least frequent": edit("-counts[pair]", "counts[pair]").fails("", "least frequent"),
    "counted once at the beginning": body("""
        counts = {}
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + count
        return sorted(counts, key=lambda pair: (-counts[pair], pair))[:num_merges]
    """).fails("", "counted once at the beginning"),
    "never cut anew": edit("cut = {word: merge_pair…", "pass").fails("", "again and again"),
    "pieces, not pairs": edit("merges.append(best)", 'merges.append("".join(best))').fails("", "merged pieces are returned"),
    "one too few": edit("len(merges) < num_merges", "len(merges) < num_merges - 1").fails("", "one merge too few"),
    "one too many": edit("len(merges) < num_merges", "len(merges) <= num_merges").fails("", names="one merge too many"),
    "no end": edit("if not counts:\n            return merges", "").fails(""),
    "ties to the longer piece": edit("(-counts[pair], pair)", "(-counts[pair], -len(pair[0] + pair[1]), pair)").fails(""),
    "ties by the joined text": edit("(-counts[pair], pair)", '(-counts[pair], "".join(pair))'),
    "the first word only": edit("counts[pair] = counts.get(pair, 0) + words[word]", "counts[pair] = words[word]").fails(""),
    "pairs two apart": edit("zip(pieces, pieces[1:])", "zip(pieces, pieces[2:])").fails(""),
    "every other pair": edit("zip(pieces, pieces[1:])", "zip(pieces[::2], pieces[1::2])").fails(""),
    "counts of before are kept": edit("counts = {}", "counts = dict(counts) if merges else {}").fails("", names="counts of earlier rounds are kept"),
    "pairs that occur once are left": edit("if not counts:", "if not counts or max(counts.values()) < 2:").fails("", names="occur only once"),
    "words joined first": body("""
        pieces = [letter for word, count in words.items() for letter in word * count]
        merges = []
        while len(merges) < num_merges and len(pieces) > 1:
            counts = {}
            for pair in zip(pieces, pieces[1:]):
                counts[pair] = counts.get(pair, 0) + 1
            merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
            pieces = merge_pair(pieces, merges[-1])
        return merges
    """).fails(""),
    "sets of pieces": edit("merges.append(best)", "merges.append(set(best))").fails(""),
    "cut from the letters each time": edit("merge_pair…()", "merge_pair(list(word), best) for word in cut").fails("", names="begins with letters"),
    "the end of a word marked": edit("list(word) for", '[*word, "</w>"] for').fails("", names="mark at their end"),
    "pairs that overlap count once": edit(
        "for pair…",
        "last = None\n"
        "for i, pair in enumerate(zip(pieces, pieces[1:])):\n"
        "    if pair[0] == pair[1] and last == (i - 1, pair):\n"
        "        continue\n"
        "    last = i, pair",
    ).fails("", names="once for each word, not once for each place"),
    "ties by the pair from behind": edit("pair))", "pair[::-1]))").fails(""),
    "ties by the first piece alone": edit("pair))", "pair[0]))").fails(""),
    "no order in a pair": edit("counts[pair] = counts.get(pair, 0)", "pair = tuple(sorted(pair))\n…").fails(""),
    "one merge at least": edits(
        ("cut = {word: list…ges:", "cut, merges = {word: list(word) for word in words}, []\nwhile True:"),
        (
            "best …n merges",
            "merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))\n"
            "cut = {word: merge_pair(pieces, merges[-1]) for word, pieces in cut.items()}\n"
            "if len(merges) == num_merges:\n"
            "    return merges",
        ),
        on=BARE,
    ).fails(""),
    "all that tie at a time": edit(
        "merges.append(best)", "merges.extend(sorted(pair for pair in counts if counts[pair] == counts[best])[: num_merges - len(merges)])"
    ).fails(""),
    "the first place in each word only": edit(
        "cut = {word: merge_pair…",
        """for word, pieces in cut.items():
    for i in range(len(pieces) - 1):
        if (pieces[i], pieces[i + 1]) == best:
            cut[word] = [*pieces[:i], "".join(best), *pieces[i + 2 :]]
            break""",
    ).fails(""),
    "joins by a pattern": edits(
        ("cut = {word: list", "import re\n…"),
        ("merge_pair(pieces, best)", 're.sub(rf"(?<!\\S){best[0]} {best[1]}(?!\\S)", lambda _: "".join(best), " ".join(pieces)).split()'),
    ).fails("", "not what it should be"),
    "empties the words": edit("merges = []", "…\nwords, given = dict(words), words\ngiven.clear()").fails("", "changes `words`"),
}

TRICKS = {
    "five merges at most": edit("len(merges) < num_merges", "len(merges) < min(num_merges, 5)"),
    "letters only": edit("for pair in zip(pieces, pieces[1:]):", "for pair in (p for p in zip(pieces, pieces[1:]) if len(p[0]) == 1 or len(p[1]) == 1):"),
    "pieces of four letters at most": edit("zip(pieces, pieces[1:])", "(pair for pair in zip(pieces, pieces[1:]) if len(pair[0] + pair[1]) < 5)"),
    "the seven most frequent words": edit("for word in words}", "for word in sorted(words, key=words.get)[-7:]}"),
}

RIGHT = {
    "Counter": """
        from collections import Counter
        def learn_merges(words, num_merges):
            cut, merges = {w: tuple(w) for w in words}, []
            for _ in range(num_merges):
                counter = Counter()
                for w, pieces in cut.items():
                    for i in range(len(pieces) - 1):
                        counter[pieces[i], pieces[i + 1]] += words[w]
                if not counter:
                    break
                top = max(counter.values())
                merges.append(min(p for p, n in counter.items() if n == top))
                cut = {w: tuple(merge_pair(list(p), merges[-1])) for w, p in cut.items()}
            return merges
    """,
    "sorted": edit("min(counts, key=lambda pair: (-counts[pair], pair))", "sorted(sorted(counts), key=lambda pair: -counts[pair])[0]"),
    "a sorted max": edit("min(counts, key=lambda pair: (-counts[pair], pair))", "max(sorted(counts), key=counts.get)"),
    "defaultdict": """
        from collections import defaultdict
        def learn_merges(words, num_merges):
            cut = [(list(word), count) for word, count in words.items()]
            merges = []
            while len(merges) < num_merges:
                counts = defaultdict(int)
                for pieces, count in cut:
                    for a, b in zip(pieces, pieces[1:]):
                        counts[(a, b)] += count
                if len(counts) == 0:
                    return merges
                best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
                cut = [(merge_pair(pieces, best), count) for pieces, count in cut]
                merges += [best]
            return merges
    """,
    "recursion on the words' pieces": body("""
        def go(cut, left):
            counts = {}
            for pieces, n in cut:
                for p in zip(pieces, pieces[1:]):
                    counts[p] = counts.get(p, 0) + n
            if not counts or left == 0:
                return []
            best = min(counts, key=lambda p: (-counts[p], p))
            return [best, *go([(merge_pair(list(pieces), best), n) for pieces, n in cut], left - 1)]
        return go([(list(w), n) for w, n in words.items()], num_merges)
    """),
    "each time from the beginning": body("""
        merges = []
        for _ in range(num_merges):
            counts = {}
            for word, count in words.items():
                pieces = list(word)
                for pair in merges:
                    pieces = merge_pair(pieces, pair)
                for pair in zip(pieces, pieces[1:]):
                    counts[pair] = counts.get(pair, 0) + count
            if counts:
                merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        return merges
    """),
    "tuples of pieces as keys": body("""
        cut = {tuple(word): count for word, count in words.items()}
        merges = []
        for _ in range(num_merges):
            counts = {}
            for pieces, count in cut.items():
                for i in range(1, len(pieces)):
                    counts.setdefault(pieces[i - 1 : i + 1], []).append(count)
            if not counts:
                break
            best = min(counts, key=lambda pair: (-sum(counts[pair]), pair))
            merges.append(best)
            cut = {tuple(merge_pair(list(pieces), best)): count for pieces, count in cut.items()}
        return merges
    """),
    "a heap": """
        import heapq
        def learn_merges(words, num_merges):
            cut, merges = {word: list(word) for word in words}, []
            while len(merges) < num_merges:
                counts = {}
                for word in cut:
                    for a, b in zip(cut[word], cut[word][1:]):
                        counts[a, b] = counts.get((a, b), 0) - words[word]
                heap = [(count, pair) for pair, count in counts.items()]
                heapq.heapify(heap)
                if not heap:
                    break
                merges.append(heapq.heappop(heap)[1])
                for word in cut:
                    cut[word] = merge_pair(cut[word], merges[-1])
            return merges
    """,
    "counts are kept, changed words counted anew": """
        from collections import Counter
        from itertools import pairwise
        def learn_merges(words, num_merges):
            cut = {word: list(word) for word in words}
            counts = Counter()
            for word in words:
                for pair in pairwise(cut[word]):
                    counts[pair] += words[word]
            merges = []
            while len(merges) < num_merges and +counts:
                best = min(+counts, key=lambda pair: (-counts[pair], pair))
                merges.append(best)
                for word, pieces in cut.items():
                    joined = merge_pair(pieces, best)
                    if len(joined) < len(pieces):
                        for pair in pairwise(pieces):
                            counts[pair] -= words[word]
                        for pair in pairwise(joined):
                            counts[pair] += words[word]
                        cut[word] = joined
            return merges
    """,
    "a helper, and words without the pair are left": """
        def _pairs(cut, words):
            counts = {}
            for word, pieces in cut.items():
                for i in range(len(pieces) - 1):
                    pair = pieces[i], pieces[i + 1]
                    if pair not in counts:
                        counts[pair] = 0
                    counts[pair] += words[word]
            return counts
        def learn_merges(words, num_merges):
            cut = dict(zip(words, map(list, words)))
            merges = []
            for _ in range(num_merges):
                if counts := _pairs(cut, words):
                    top = None
                    for pair in counts:
                        if top is None or counts[pair] > counts[top] or counts[pair] == counts[top] and pair < top:
                            top = pair
                    merges.append(top)
                    for word, pieces in cut.items():
                        if "".join(top) in word:
                            cut[word] = merge_pair(pieces, top)
            return merges
    """,
    "groupby": """
        from itertools import groupby
        def learn_merges(words, num_merges):
            cut, merges = [(list(w), n) for w, n in words.items()], ()
            while len(merges) < num_merges:
                seen = sorted((pair, n) for pieces, n in cut for pair in zip(pieces, pieces[1:]))
                counted = [(-sum(n for _, n in group), pair) for pair, group in groupby(seen, key=lambda each: each[0])]
                if not counted:
                    break
                merges += (min(counted)[1],)
                cut = [(merge_pair(pieces, merges[-1]), n) for pieces, n in cut]
            return merges
    """,
    "words as often as they occur": body("""
        cut = [list(word) for word, count in words.items() for _ in range(count)]
        merges = []
        while len(merges) < num_merges:
            pairs = [pair for pieces in cut for pair in zip(pieces, pieces[1:])]
            if not pairs:
                break
            merges.append(max(sorted(set(pairs)), key=pairs.count))
            cut = [merge_pair(pieces, merges[-1]) for pieces in cut]
        return merges
    """),
    "helper functions, pieces and counts in two lists": """
        def count_pairs(splits, frequencies):
            totals = {}
            for split, frequency in zip(splits, frequencies):
                for left, right in zip(split, split[1:]):
                    totals.setdefault((left, right), 0)
                    totals[(left, right)] += frequency
            return totals
        def best_of(totals):
            ranked = sorted(totals.items(), key=lambda item: item[0])
            ranked.sort(key=lambda item: item[1], reverse=True)
            return ranked[0][0]
        def learn_merges(words: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
            splits = [list(word) for word in words.keys()]
            frequencies = list(words.values())
            merges: list[tuple[str, str]] = []
            for _ in range(num_merges):
                totals = count_pairs(splits, frequencies)
                if totals == {}:
                    break
                merges.append(best_of(totals))
                for index, split in enumerate(splits):
                    splits[index] = merge_pair(split, merges[-1])
            return merges
    """,
}
