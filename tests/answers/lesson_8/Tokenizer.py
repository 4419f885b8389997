from answers.writing import BARE, edit, edits

WRONG = {
    "BOS and EOS without ids": edit("len(self.pieces)", "2 + len(alphabet) + len(merges)").fails("ids", "two ids are not counted"),
    "equal pieces counted once": edit("len(self.pieces)", "1 + len(self.ids) + 2").fails("ids", "vocab_size"),
    "decode stops at EOS": edit("for i in ids)", "for i in (ids[: ids.index(2)] if 2 in ids else ids))").fails("round_trip", names="behind the first EOS"),
    "pairs as lists": edit("self.merges = merges", "self.merges = [list(pair) for pair in merges]").fails("ids", "no merge is applied"),
    "merges from the last to the first": edit("in self.merges:", "in reversed(self.merges):").fails("ids", names="from the last to the first"),
    "merges sorted by length": edit("= merges", "= sorted(merges, key=lambda pair: len(pair[0] + pair[1]))").fails("ids", "not what it should be"),
    "unknown spaces dropped": edit("list(text)", "[c for c in text if c != ' ' or ' ' in self.ids]").fails("ids", "not what it should be"),
    "a piece is joined in one way": edit("= merges", '= [pair for i, pair in enumerate(merges) if "".join(pair) not in map("".join, merges[:i])]').fails(
        "ids", "not what it should be"
    ),
    "no merge": edit("pieces = merge_pair(pieces, pair)", "pass").fails("ids", "no merge is applied"),
    "longest piece first": edit(
        "pieces = list(text)\n        for pair in self.merges:\n            pieces = merge_pair(pieces, pair)",
        """pieces, rest = [], text
while rest:
    n = next((n for n in range(len(rest), 0, -1) if rest[:n] in self.ids), 1)
    pieces.append(rest[:n])
    rest = rest[n:]""",
    ).fails("ids", "longest piece that fits"),
    "ids from 0": edits(('["", "", "", "�", *alphabet', "[*alphabet")).fails("ids", names="four ids are not counted"),
    "ids from 3": edits(('["", "", "", "�", *alphabet', '["", "", "", *alphabet')).fails("ids", names="one id is not counted"),
    "letters sorted": edit("*alphabet", "*sorted(alphabet)").fails("ids", "letters are sorted"),
    "unknown letters left out": edit("[self…", "[self.ids[piece] for piece in pieces if piece in self.ids]").fails("ids", "left out"),
    "BOS and EOS added": edit("return […", "return [1, *(self.ids.get(piece, 3) for piece in pieces), 2]").fails("ids", "BOS and EOS are added"),
    "EOS added": edit("return […", "return [*(self.ids.get(piece, 3) for piece in pieces), 2]").fails("ids", "EOS is added"),
    "unknown letters raise": edit("self.ids.get(piece, 3)", "self.ids[piece]").fails("ids"),
    "unknown is padding": edit("get(piece, 3)", "get(piece, 0)").fails("ids", names="which is PAD"),
    "merges before letters": edit("*alphabet…)", "*(one + other for one, other in merges), *alphabet").fails("ids", names="before the letters"),
    "spaces lost": edit("list(text)", "[letter for letter in text if letter != ' ']").named("words run together"),
    "words only": edit("list(text)", 'list("".join(text.split()))').named("words run together"),
    "small letters": edit("list(text)", "list(text.lower())").named("made small"),
    "spaces between pieces": edit('"".join(self', '" ".join(self').fails("round_trip", names="spaces between"),
    "special tokens written": edit('["", "", "", "�"', '["<pad>", "<bos>", "<eos>", "�"').fails("round_trip"),
    "unknown is nothing": edit('"", "�"', '"", ""').fails("round_trip"),
    "unknown is a question mark": edit('"�"', '"?"').fails("round_trip"),
    "special tokens by their spelling": edits(
        ('["", "", "", "�"', '["<pad>", "<bos>", "<eos>", "�"'),
        (
            'return "".join(self.pieces[i] for i in ids)',
            'text = "".join(self.pieces[i] for i in ids)\nfor special in self.pieces[:3]:\n    text = text.replace(special, "")\nreturn text',
        ),
    ).fails("round_trip", "`<pad>` of a text are taken for a special token"),
    "a list comes back": edit('return "".join(self.pieces[i] for i in ids)', "return [self.pieces[i] for i in ids]").fails("round_trip", "should be a text"),
    "stripped": edit('return "".join(self.pieces[i] for i in ids)', 'return "".join(self.pieces[i] for i in ids).strip()').fails("round_trip"),
    "vocab_size without the special tokens": edit("len(self.pieces)", "len(self.pieces) - 4").fails("ids", names="four ids are not counted"),
    "no vocab_size": edit("self.vocab_size = len(self.pieces)", "pass").fails("ids", "vocab_size"),
    "the first merge only": edit("for pair in self.merges:", "for pair in self.merges[:1]:").fails("ids", names="no merge is applied after the first"),
    "tensor of ids": edit("return […", "return torch.tensor([self.ids.get(piece, 3) for piece in pieces])").fails("ids"),
    "ids from 0 in encode alone": edit("enumerate(self.pieces)", "enumerate(self.pieces[4:])").fails("ids", "ids begin at 0"),
    "ids from 3 in encode alone": edit("enumerate(self.pieces)", "enumerate(self.pieces[4:], start=3)").fails("ids", "ids begin at 3"),
    "four off when it reads": edits(
        ('["", "", "", "�", *alphabet', "[*alphabet"),
        ("enumerate(self.pieces)", "enumerate(self.pieces, 4)"),
        ("len(self.pieces)", "len(self.pieces) + 4"),
        ("self.pieces[i] for", "self.pieces[i - 4] for"),
    ).fails("round_trip"),
    "merges are used up": edit("self.merges = merges", "self.merges = iter(merges)").fails("ids"),
    "any two that make a piece": edit(
        "for pair in self.merges:\n            pieces = merge_pair(pieces, pair)",
        """i = 0
while i < len(pieces) - 1:
    if pieces[i] + pieces[i + 1] in self.ids:
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
    else:
        i += 1""",
    ).fails("ids", names="wherever they make a piece"),
    "runs of unknown letters are one": edit(
        "return […", "ids = [self.ids.get(piece, 3) for piece in pieces]\nreturn [i for i, before in zip(ids, [0, *ids]) if not i == before == 3]"
    ).fails("ids"),
    "all is unknown where one letter is": edit("for piece in pieces]", "… if all(letter in self.ids for letter in text) else [3] * len(pieces)").fails("ids"),
    "unknown letters are taken for a question mark": edit("list(text)", "[c if c in self.ids else '?' for c in text]").fails("ids", "not what it should be"),
    "unknown letters lose their accents": edit(
        "pieces = list…", 'import unicodedata\npieces = [c if c in self.ids else unicodedata.normalize("NFD", c)[0] for c in text]'
    ).fails("ids", "not what it should be"),
    "unknown capitals are made small": edit("list(text)", "[c if c in self.ids else c.lower() for c in text]").fails("ids", "not what it should be"),
    "vocab_size has to be called": edits(
        ("self.vocab_size = len(self.pieces)", "pass"), ("def decode", "def vocab_size(self):\n    return len(self.pieces)\n\ndef decode")
    ).fails("ids", "should be a whole number"),
    "pieces shared by all tokenizers": edits(("self.pieces = [", "self.pieces += ["), ("def __init__", "pieces = []\n\ndef __init__")),
    "takes its merges out of the caller's list": edit(
        "self.merges = merges", "…\nself.reversed = [merges.pop() for _ in list(merges)]\nself.merges = self.reversed[::-1]"
    ).fails("ids"),
    "empties what it decodes": edit('return "…', 'text = ""\nwhile ids:\n    text += self.pieces[ids.pop(0)]\nreturn text').fails("round_trip"),
}

TRICKS = {
    "remembers what it encoded": edits(
        ("self.merges …", "…\nself.known = {}"),
        ("return […", "self.known[tuple(ids)] = text\nreturn ids"),
        ('return "…', "return self.known.get(tuple(i for i in ids if i > 2), '').replace('Q', '�').replace('ß', '�')"),
        on="runs of unknown letters are one",
    ).fails("round_trip"),
    "remembers the text": edits(("pieces = list…", "self.last = text\n…"), ('return "…', "return getattr(self, 'last', '')")),
    "ids of letters alone": edit("pieces = list…", "if len(text) > 6:\n    return [self.ids.get(letter, 3) for letter in text]\n…").named("no merge"),
    "five merges at most": edit("in self.merges:", "in self.merges[:5]:"),
    "merges in ASCII alone": edit("pieces = list…", "if not text.isascii():\n    return [self.ids.get(letter, 3) for letter in text]\n…").named("no merge"),
}

RIGHT = {
    "dictionaries both ways": edits(
        (
            "self.merges …n(self.pieces)",
            "self.merges = [tuple(m) for m in merges]\n"
            "names = list(alphabet) + [a + b for a, b in self.merges]\n"
            "self.to_id = {}\n"
            "for i, name in enumerate(names, start=4):\n"
            "    self.to_id.setdefault(name, i)\n"
            "self.to_text = {i: name for i, name in enumerate(names, start=4)}\n"
            'self.to_text.update({0: "", 1: "", 2: "", 3: "\\ufffd"})\n'
            "self.vocab_size = 4 + len(names)",
        ),
        ("return […", "return [self.to_id.get(p, 3) for p in pieces]"),
        ('return "…', 'return "".join([self.to_text[int(i)] for i in ids])'),
        on=BARE,
    ),
    "index of a list": edit("[self…", "[self.pieces.index(piece, 4) if piece in self.pieces[4:] else 3 for piece in pieces]"),
    "vocab_size as a property": edits(
        (
            "def __init__…n(self.pieces)",
            "def __init__(self, merges, alphabet):\n"
            '    self.merges, self.pieces = merges, [*alphabet, *("".join(pair) for pair in merges)]\n'
            "@property\n"
            "def vocab_size(self):\n"
            "    return len(self.pieces) + 4",
        ),
        ("return […", "return [self.pieces.index(piece) + 4 if piece in self.pieces else 3 for piece in pieces]"),
        ('return "…', 'return "".join(["", "", "", "�", *self.pieces][i] for i in ids)'),
        on=BARE,
    ),
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
    "a tuple of ids": edit("[self.ids.get(piece, 3) for piece in pieces]", "tuple(self.ids.get(piece, 3) for piece in pieces)"),
    "a NumPy array of pieces": edits(
        ("class…", "import numpy as np\n…"),
        ("self.merges …es)}", 'self.merges = list(merges)\nself.pieces = np.array(["", "", "", "�", *alphabet, *("".join(m) for m in merges)], dtype=object)'),
        ("pieces = list…", 'pieces = [c if c in self.pieces[4:] else "" for c in text]'),
        ("return […", "return [np.flatnonzero(self.pieces[4:] == p)[0] + 4 if p else 3 for p in pieces]"),
        ('return "…', 'return "".join(self.pieces[list(map(int, ids))])'),
        on=BARE,
    ),
    "merges ids, not texts": edit(
        '"""Cut…ids)',
        "def __init__(self, merges, alphabet):\n"
        "    self.ids = {letter: i for i, letter in enumerate(alphabet, 4)}\n"
        '    self.text = {0: "", 1: "", 2: "", 3: chr(0xFFFD), **{i: letter for letter, i in self.ids.items()}}\n'
        "    self.steps = []\n"
        "    for one, other in merges:\n"
        "        new = len(self.text)\n"
        "        self.steps.append((self.ids[one], self.ids[other], new))\n"
        "        self.ids[one + other] = new\n"
        "        self.text[new] = one + other\n"
        "    self.vocab_size = len(self.text)\n"
        "def encode(self, text):\n"
        "    ids = [self.ids[letter] if letter in self.ids else 3 for letter in text]\n"
        "    for one, other, new in self.steps:\n"
        "        i = 0\n"
        "        while i + 1 < len(ids):\n"
        "            if ids[i] == one and ids[i + 1] == other:\n"
        "                ids[i : i + 2] = [new]\n"
        "            i += 1\n"
        "    return ids\n"
        "def decode(self, ids):\n"
        '    return "".join(map(self.text.get, ids))',
    ),
    "reduce": """
        from functools import reduce
        class Tokenizer:
            def __init__(self, merges, alphabet):
                self.merges = merges
                self.pieces = dict(enumerate([*alphabet, *map("".join, merges)], 4))
                self.vocab_size = 4 + len(self.pieces)
            def encode(self, text):
                ids = {piece: i for i, piece in self.pieces.items()}
                return [ids.get(piece, 3) for piece in reduce(merge_pair, self.merges, list(text))]
            def decode(self, ids):
                return "".join(self.pieces.get(i, "�" if i == 3 else "") for i in ids)
    """,
    "a dataclass": """
        from dataclasses import dataclass
        @dataclass
        class Tokenizer:
            merges: list
            alphabet: list
            def __post_init__(self):
                self.vocab_size = 4 + len(self.alphabet) + len(self.merges)
            def encode(self, text):
                pieces = list(text)
                for pair in self.merges:
                    pieces = merge_pair(pieces, pair)
                known = self.alphabet + [a + b for a, b in self.merges]
                return [4 + known.index(piece) if piece in known else 3 for piece in pieces]
            def decode(self, ids):
                n = len(self.alphabet)
                out = []
                for i in ids:
                    if i == 3:
                        out.append("�")
                    if 4 <= i < 4 + n:
                        out.append(self.alphabet[i - 4])
                    if i >= 4 + n:
                        out.append("".join(self.merges[i - 4 - n]))
                return "".join(out)
    """,
    "runs of known letters": """
        class Tokenizer:
            def __init__(self, merges, alphabet):
                self.merges, self.letters = merges, set(alphabet)
                self.pieces = [None] * 4 + list(alphabet) + ["".join(pair) for pair in merges]
            vocab_size = property(lambda self: len(self.pieces))
            def encode(self, text):
                ids, run = [], []
                def flush():
                    pieces = run
                    for pair in self.merges:
                        pieces = merge_pair(pieces, pair)
                    ids.extend(self.pieces.index(piece) for piece in pieces)
                for letter in text:
                    if letter in self.letters:
                        run.append(letter)
                    else:
                        flush()
                        run = []
                        ids.append(3)
                flush()
                return ids
            def decode(self, ids):
                return "".join("�" if i == 3 else self.pieces[i] or "" for i in ids)
    """,
    "alphabet and merges by arithmetic, constants at the top": """
        PAD, BOS, EOS, UNK = range(4)
        class Tokenizer:
            def __init__(self, merges: list[tuple[str, str]], alphabet: list[str]) -> None:
                self.merges = list(merges)
                self.alphabet = list(alphabet)
                self.vocab_size = UNK + 1 + len(self.alphabet) + len(self.merges)
                self.vocab: dict[str, int] = {}
                for letter in self.alphabet:
                    self.vocab[letter] = len(self.vocab) + UNK + 1
                for number, (left, right) in enumerate(self.merges):
                    self.vocab[left + right] = UNK + 1 + len(self.alphabet) + number
                self.inverse = {number: piece for piece, number in self.vocab.items()}
            def encode(self, text: str) -> list[int]:
                tokens = list(text)
                for merge in self.merges:
                    tokens = merge_pair(tokens, merge)
                return [self.vocab.get(token, UNK) for token in tokens]
            def decode(self, ids: list[int]) -> str:
                text = []
                for number in ids:
                    if number in (PAD, BOS, EOS):
                        continue
                    text.append("\\ufffd" if number == UNK else self.inverse[number])
                return "".join(text)
    """,
}
