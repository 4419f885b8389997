"""Answers to `Tokenizer`, lesson 8."""

from answers.writing import edit, edits

WRONG = {
    "merges from the last to the first": edit("in self.merges:", "in reversed(self.merges):").fails("ids"),
    "no merge": edit("pieces = merge_pair(pieces, pair)", "pass").fails("ids", "no merge is applied"),
    "longest piece first": edit(
        "pieces = list(text)\n        for pair in self.merges:\n            pieces = merge_pair(pieces, pair)",
        """pieces, rest = [], text
while rest:
    n = next((n for n in range(len(rest), 0, -1) if rest[:n] in self.ids), 1)
    pieces.append(rest[:n])
    rest = rest[n:]""",
    ).fails("ids", "longest piece that fits"),
    "ids from 0": edits(('["", "", "", "�", *alphabet', "[*alphabet")).fails("ids"),
    "ids from 3": edits(('["", "", "", "�", *alphabet', '["", "", "", *alphabet')).fails("ids"),
    "letters sorted": edit("*alphabet", "*sorted(alphabet)").fails("ids", "letters are sorted"),
    "unknown letters left out": edit("[self.ids.get(piece, 3) for piece in pieces]", "[self.ids[piece] for piece in pieces if piece in self.ids]").fails(
        "ids", "left out"
    ),
    "BOS and EOS added": edit("return [self.ids.get(piece, 3) for piece in pieces]", "return [1, *(self.ids.get(piece, 3) for piece in pieces), 2]").fails(
        "ids", "BOS and EOS are added"
    ),
    "EOS added": edit("return [self.ids.get(piece, 3) for piece in pieces]", "return [*(self.ids.get(piece, 3) for piece in pieces), 2]").fails(
        "ids", "EOS is added"
    ),
    "unknown letters raise": edit("self.ids.get(piece, 3)", "self.ids[piece]").fails("ids"),
    "unknown is padding": edit("get(piece, 3)", "get(piece, 0)").fails("ids"),
    "merges before letters": edit("*alphabet, *(one + other for one, other in merges)", "*(one + other for one, other in merges), *alphabet").fails("ids"),
    "spaces lost": edit("list(text)", "[letter for letter in text if letter != ' ']"),
    "words only": edit("list(text)", 'list("".join(text.split()))'),
    "small letters": edit("list(text)", "list(text.lower())"),
    "spaces between pieces": edit('"".join(self', '" ".join(self').fails("round_trip"),
    "special tokens written": edit('["", "", "", "�"', '["<pad>", "<bos>", "<eos>", "�"').fails("round_trip"),
    "unknown is nothing": edit('"", "�"', '"", ""').fails("round_trip"),
    "unknown is a question mark": edit('"�"', '"?"').fails("round_trip"),
    "a list comes back": edit('return "".join(self.pieces[i] for i in ids)', "return [self.pieces[i] for i in ids]").fails("round_trip", "should be a text"),
    "stripped": edit('return "".join(self.pieces[i] for i in ids)', 'return "".join(self.pieces[i] for i in ids).strip()').fails("round_trip"),
    "vocab_size without the special tokens": edit("len(self.pieces)", "len(self.pieces) - 4").fails("ids"),
    "no vocab_size": edit("self.vocab_size = len(self.pieces)", "pass").fails("ids", "vocab_size"),
    "the first merge only": edit("for pair in self.merges:", "for pair in self.merges[:1]:").fails("ids"),
    "tensor of ids": edit("return [self.ids.get(piece, 3) for piece in pieces]", "return torch.tensor([self.ids.get(piece, 3) for piece in pieces])").fails(
        "ids"
    ),
}

TRICKS = {
    "remembers the text": edits(
        ("pieces = list(text)", "self.last = text\n…"), ('return "".join(self.pieces[i] for i in ids)', "return getattr(self, 'last', '')")
    ),
    "ids of letters alone": edit(
        "pieces = list(text)", "if len(text) > 6:\n    return [self.ids.get(letter, 3) for letter in text]\npieces = list(text)"
    ).named("no merge"),
}

RIGHT = {
    "dictionaries both ways": """
        class Tokenizer:
            def __init__(self, merges, alphabet):
                self.merges = [tuple(m) for m in merges]
                names = list(alphabet) + [a + b for a, b in self.merges]
                self.to_id = {}
                for i, name in enumerate(names, start=4):
                    self.to_id.setdefault(name, i)
                self.to_text = {i: name for i, name in enumerate(names, start=4)}
                self.to_text.update({0: "", 1: "", 2: "", 3: "\\ufffd"})
                self.vocab_size = 4 + len(names)
            def encode(self, text):
                pieces = list(text)
                for pair in self.merges:
                    pieces = merge_pair(pieces, pair)
                return [self.to_id.get(p, 3) for p in pieces]
            def decode(self, ids):
                return "".join([self.to_text[int(i)] for i in ids])
    """,
    "index of a list": edit(
        "[self.ids.get(piece, 3) for piece in pieces]", "[self.pieces.index(piece, 4) if piece in self.pieces[4:] else 3 for piece in pieces]"
    ),
    "vocab_size as a property": """
        class Tokenizer:
            def __init__(self, merges, alphabet):
                self.merges, self.pieces = merges, [*alphabet, *("".join(pair) for pair in merges)]
            @property
            def vocab_size(self):
                return len(self.pieces) + 4
            def encode(self, text):
                pieces = list(text)
                for pair in self.merges:
                    pieces = merge_pair(pieces, pair)
                return [self.pieces.index(piece) + 4 if piece in self.pieces else 3 for piece in pieces]
            def decode(self, ids):
                return "".join(["", "", "", "\ufffd", *self.pieces][i] for i in ids)
    """,
    "by rank, the lowest first": """
        class Tokenizer:
            def __init__(self, merges, alphabet):
                self.rank = {pair: i for i, pair in enumerate(merges)}
                self.names = [None, None, None, None, *alphabet, *map("".join, merges)]
                self.vocab_size = len(self.names)
            def encode(self, text):
                pieces = list(text)
                while True:
                    ranks = [self.rank[p] for p in zip(pieces, pieces[1:]) if p in self.rank]
                    if not ranks:
                        break
                    best = min(ranks)
                    pieces = merge_pair(pieces, next(p for p, r in self.rank.items() if r == best))
                return [self.names.index(p) if p in self.names else 3 for p in pieces]
            def decode(self, ids):
                return "".join("�" if i == 3 else self.names[i] for i in ids if i > 2)
    """,
    "an iterable of merges that is kept": edit("self.merges = merges", "self.merges = list(merges)"),
    "a module": edits(("class Tokenizer:", "class Tokenizer(nn.Module):"), ("self.merges = merges", "super().__init__()\nself.merges = merges")),
}
