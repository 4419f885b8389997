"""Answers to `learn_merges`, lesson 8."""

from answers.writing import body, edit

WRONG = {
    "each word counts once": edit("+ words[word]", "+ 1").fails("", "each word counts once"),
    "each pair once a word": edit("zip(pieces, pieces[1:])", "set(zip(pieces, pieces[1:]))").fails("", "once for each word, not once for each place"),
    "ties to the last": edit("min(counts, key=lambda pair: (-counts[pair], pair))", "max(counts, key=lambda pair: (counts[pair], pair))").fails(
        "", "comes last in order"
    ),
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
    "one too many": edit("len(merges) < num_merges", "len(merges) <= num_merges").fails(""),
    "no end": edit("if not counts:\n            return merges", "").fails(""),
    "ties to the longer piece": edit("(-counts[pair], pair)", "(-counts[pair], -len(pair[0] + pair[1]), pair)").fails(""),
    "ties by the joined text": edit("(-counts[pair], pair)", '(-counts[pair], "".join(pair))'),
    "the first word only": edit("counts[pair] = counts.get(pair, 0) + words[word]", "counts[pair] = words[word]").fails(""),
    "pairs two apart": edit("zip(pieces, pieces[1:])", "zip(pieces, pieces[2:])").fails(""),
    "every other pair": edit("zip(pieces, pieces[1:])", "zip(pieces[::2], pieces[1::2])").fails(""),
    "counts of before are kept": edit("counts = {}", "counts = dict(counts) if merges else {}").fails("", names="again and again"),
    "pairs that occur once are left": edit("if not counts:", "if not counts or max(counts.values()) < 2:").fails(""),
    "words joined first": body("""
        return learn_merges.__wrapped__(words, num_merges) if hasattr(learn_merges, "__wrapped__") else []
    """).fails(""),
    "sets of pieces": edit("merges.append(best)", "merges.append(set(best))").fails(""),
}

TRICKS = {
    "three merges at most": edit("len(merges) < num_merges", "len(merges) < min(num_merges, 5)"),
    "letters only": edit("for pair in zip(pieces, pieces[1:]):", "for pair in (p for p in zip(pieces, pieces[1:]) if len(p[0]) == 1 or len(p[1]) == 1):"),
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
}
