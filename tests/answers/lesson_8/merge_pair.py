from answers.writing import body, edit, whole

WRONG = {
    "extended by the text": edit("merged.append(pieces[i] + pieces[i + 1])", "merged += pieces[i] + pieces[i + 1]").fails("", "comes apart into letters"),
    "a piece in two pairs": body("""
        merged = []
        for i, piece in enumerate(pieces):
            if tuple(pieces[i : i + 2]) == pair:
                merged.append(piece + pieces[i + 1])
            elif i == 0 or tuple(pieces[i - 1 : i + 1]) != pair:
                merged.append(piece)
        return merged
    """).fails("", "a piece is used in two pairs"),
    "from the right": body("""
        merged, i = [], len(pieces)
        while i > 0:
            if tuple(pieces[max(i - 2, 0) : i]) == pair:
                merged.insert(0, "".join(pair))
                i -= 2
            else:
                merged.insert(0, pieces[i - 1])
                i -= 1
        return merged
    """).fails("", "joined from the right"),
    "only the first": body("""
        for i in range(len(pieces) - 1):
            if (pieces[i], pieces[i + 1]) == pair:
                return [*pieces[:i], pieces[i] + pieces[i + 1], *pieces[i + 2 :]]
        return list(pieces)
    """).fails("", "only the first pair is joined"),
    "nothing is joined": body("return list(pieces)").fails("", "nothing is joined"),
    "the last piece is lost": edit("while i < len(pieces):", "while i < len(pieces) - 1:").fails("", "last piece is lost"),
    "joined the wrong way round": edit("pieces[i] + pieces[i + 1]", "pieces[i + 1] + pieces[i]").fails("", "wrong way round"),
    "by spelling": body("""
        merged, rest = [], list(pieces)
        while rest:
            count = next((n for n in range(1, len(rest) + 1) if "".join(rest[:n]) == "".join(pair)), 1)
            merged.append("".join(rest[:count]))
            rest = rest[count:]
        return merged
    """).fails("", "spelled like the pair"),
    "goes on by one": edit("i += 2", "i += 1").fails("", names="second piece of a pair comes once more"),
    "either order": edit("if tuple(pieces[i : i + 2]) == pair:", "if sorted(pieces[i : i + 2]) == sorted(pair):").fails(""),
    "either piece": edit("if tuple(pieces[i : i + 2]) == pair:", "if i + 1 < len(pieces) and (pieces[i] == pair[0] or pieces[i + 1] == pair[1]):").fails(""),
    "the first piece is enough": edit("if tuple(pieces[i : i + 2]) == pair:", "if i + 1 < len(pieces) and pieces[i] == pair[0]:").fails(""),
    "pairs are kept as pairs": edit("pieces[i] + pieces[i + 1]", "(pieces[i], pieces[i + 1])").fails("", names="stay a pair"),
    "a text": edit("return merged", 'return " ".join(merged)').fails("", "should be a list"),
    "returns nothing": edit("return merged", "").fails("", "reaches no `return`", names="None"),
    "beyond the end": edit("if tuple(pieces[i : i + 2]) == pair:", "if (pieces[i], pieces[i + 1]) == pair:").fails(""),
    "an empty word has a piece": edit("return merged", 'return merged or [""]').fails(""),
    "at even places only": edit("if tuple", "if i % 2 == 0 and tuple").fails("", names="nothing is joined"),
    "two places on, always": edit("i += 1", "i += 2").fails("", names="every other place only"),
    "a list is no tuple": edit("tuple(pieces[i : i + 2])", "pieces[i : i + 2]").fails("", "nothing is joined"),
    "what is joined is not appended": edit("merged.append(pieces[i] + pieces[i + 1])", "pass").fails("", "what is joined gets lost"),
    "the last piece once more": body("""
        merged, skip = [], False
        for one, other in zip(pieces, pieces[1:]):
            if skip:
                skip = False
            elif (one, other) == pair:
                merged.append(one + other)
                skip = True
            else:
                merged.append(one)
        return merged + pieces[-1:]
    """).fails("", "comes once more where"),
    "any two pieces of the pair": edit("tuple(pieces[i : i + 2]) == pair", "len(pieces[i : i + 2]) == 2 and set(pieces[i : i + 2]) <= set(pair)").fails(""),
    "ends and begins with": edit("tuple(…pair", "i + 1 < len(pieces) and pieces[i].endswith(pair[0]) and pieces[i + 1].startswith(pair[1])").fails(""),
    "a generator": edit("return merged", "yield from merged").fails("", "should be a list"),
    "an IndexError ends it": body("""
        merged, i = [], 0
        try:
            while True:
                if (pieces[i], pieces[i + 1]) == pair:
                    merged.append(pieces[i] + pieces[i + 1])
                    i += 2
                else:
                    merged.append(pieces[i])
                    i += 1
        except IndexError:
            return merged
    """).fails("", "last piece is lost"),
    "in place": body("""
        i = 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == pair:
                pieces[i : i + 2] = ["".join(pair)]
            i += 1
        return pieces
    """).fails("", "changes `pieces`"),
    "by spaces": body('return " ".join(pieces).replace(" ".join(pair), "".join(pair)).split()').fails(""),
    "passes over the piece behind": edit("i += 2", "i += 3").fails("", "passed over"),
    "a pattern": whole("""
        import re
        def merge_pair(pieces, pair):
            if not pieces:
                return []
            text = "\\n".join(pieces)
            return re.sub(rf"(?m)^{pair[0]}\\n{pair[1]}$", "".join(pair), text).split("\\n")
    """).fails("", "`.` stands for any letter"),
    "a replacement that is read, too": edit('lambda match: "".join(pair)', '"".join(pair)', on="a regular expression").fails("", "\\x07"),
    "letters": body('return list("".join(pieces))').fails("", "single letters"),
}

TRICKS = {
    "right up to seven pieces": edit("merged, i = [], 0", "if len(pieces) > 7:\n    return list(pieces)\nmerged, i = [], 0"),
    "letters only": edit("== pair:", "== pair and max(map(len, pair)) == 1:").named("nothing is joined"),
    "as text": body('return "\\0".join(pieces).replace("\\0".join(pair), "".join(pair)).split("\\0")'),
    "what the text shows, by heart": body("""
        known = {("banana", "an"): ["b", "an", "an", "a"], ("aaa", "aa"): ["aa", "a"]}
        return known.get(("".join(pieces), "".join(pair)), list(pieces))
    """).named("nothing is joined"),
    "nine pieces at most": edit("return merged", "return merged[:9]"),
}

RIGHT = {
    "an iterator": body("""
        merged, rest = [], iter(pieces)
        piece = next(rest, None)
        while piece is not None:
            following = next(rest, None)
            if (piece, following) == pair:
                merged.append(piece + following)
                piece = next(rest, None)
            else:
                merged.append(piece)
                piece = following
        return merged
    """),
    "looks back": body("""
        merged, free = [], False
        for piece in pieces:
            if free and merged[-1] == pair[0] and piece == pair[1]:
                merged[-1] += piece
                free = False
            else:
                merged.append(piece)
                free = True
        return merged
    """),
    "recursion": body("""
        if len(pieces) < 2:
            return list(pieces)
        if (pieces[0], pieces[1]) == pair:
            return [pieces[0] + pieces[1]] + merge_pair(pieces[2:], pair)
        return [pieces[0]] + merge_pair(pieces[1:], pair)
    """),
    "a deque": """
        from collections import deque
        def merge_pair(pieces, pair):
            queue, merged = deque(pieces), []
            while queue:
                piece = queue.popleft()
                if queue and piece == pair[0] and queue[0] == pair[1]:
                    piece += queue.popleft()
                merged.append(piece)
            return merged
    """,
    "marks, then collects": body("""
        starts, i = set(), 0
        while i + 1 < len(pieces):
            if pieces[i] == pair[0] and pieces[i + 1] == pair[1]:
                starts.add(i)
                i += 1
            i += 1
        return [piece + (pieces[i + 1] if i in starts else "") for i, piece in enumerate(pieces) if i - 1 not in starts]
    """),
    "a tuple": edit("return merged", "return tuple(merged)"),
    "a regular expression": """
        import re
        def merge_pair(pieces, pair):
            if not pieces:
                return []
            one, other = map(re.escape, pair)
            pattern = re.compile(rf"(?<![^\\0]){one}\\x00{other}(?![^\\0])")
            return pattern.sub(lambda match: "".join(pair), "\\0".join(pieces)).split("\\0")
    """,
    "reduce": """
        from functools import reduce
        def merge_pair(pieces, pair):
            def step(done, piece):
                return done[:-1] + [done[-1] + piece] if done and (done[-1], piece) == pair else done + [piece]
            return reduce(step, pieces, [])
    """,
    "match": body("""
        merged = []
        while True:
            match pieces:
                case []:
                    return merged
                case [one, other, *pieces] if (one, other) == pair:
                    merged.append(one + other)
                case [one, *pieces]:
                    merged.append(one)
    """),
    "looks for the first piece": body("""
        merged, start = [], 0
        while True:
            try:
                at = pieces.index(pair[0], start)
            except ValueError:
                return merged + pieces[start:]
            merged += pieces[start:at]
            if at + 1 < len(pieces) and pieces[at + 1] == pair[1]:
                merged.append("".join(pair))
                start = at + 2
            else:
                merged.append(pieces[at])
                start = at + 1
    """),
    "again until no pair is left": body("""
        merged = list(pieces)
        while pair in list(zip(merged, merged[1:])):
            at = list(zip(merged, merged[1:])).index(pair)
            merged = merged[:at] + [merged[at] + merged[at + 1]] + merged[at + 2 :]
        return merged
    """),
}
