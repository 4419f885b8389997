"""Answers to `merge_pair`, lesson 8."""

from answers.writing import body, edit

WRONG = {
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
    "goes on by one": edit("i += 2", "i += 1").fails(""),
    "either order": edit("if tuple(pieces[i : i + 2]) == pair:", "if sorted(pieces[i : i + 2]) == sorted(pair):").fails(""),
    "either piece": edit("if tuple(pieces[i : i + 2]) == pair:", "if i + 1 < len(pieces) and (pieces[i] == pair[0] or pieces[i + 1] == pair[1]):").fails(""),
    "the first piece is enough": edit("if tuple(pieces[i : i + 2]) == pair:", "if i + 1 < len(pieces) and pieces[i] == pair[0]:").fails(""),
    "pairs are kept as pairs": edit("pieces[i] + pieces[i + 1]", "(pieces[i], pieces[i + 1])").fails(""),
    "a text": edit("return merged", 'return " ".join(merged)').fails("", "should be a list"),
    "returns nothing": edit("return merged", "").fails("", "Is there a `return`", names="None"),
    "beyond the end": edit("if tuple(pieces[i : i + 2]) == pair:", "if (pieces[i], pieces[i + 1]) == pair:").fails(""),
    "an empty word has a piece": edit("return merged", 'return merged or [""]').fails(""),
    "at even places only": edit("if tuple", "if i % 2 == 0 and tuple").fails("", names="nothing is joined"),
}

TRICKS = {
    "right up to five pieces": edit("merged, i = [], 0", "if len(pieces) > 7:\n    return list(pieces)\nmerged, i = [], 0"),
    "letters only": edit("== pair:", "== pair and max(map(len, pair)) == 1:").named("nothing is joined"),
    "as text": body("""
        return "\\0".join(pieces).replace("\\0".join(pair), "".join(pair)).split("\\0")
    """),
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
}
