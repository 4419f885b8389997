from answers.writing import BARE, body, edit, edits

WRONG = {
    "a loop that begins at 1": body("""
        mask = torch.zeros(size, size, dtype=torch.bool)
        for i in range(1, size):
            mask[i, : i + 1] = True
        return mask
    """).fails("values", "the first row is all False"),
    "a loop that ends too early": body("""
        mask = torch.zeros(size, size, dtype=torch.bool)
        for i in range(size - 1):
            mask[i, : i + 1] = True
        return mask
    """).fails("values", "the last row is all False"),
    "a difference as bool": body("i = torch.arange(size)\nreturn (i[:, None] - i).bool()").fails("values", "everything but itself"),
    "a slice of a ready square of 1024: larger sizes come out too small": edits(
        ("def …", "_SQUARE = torch.ones(1024, 1024, dtype=torch.bool).tril()\n…"), ('"""Let…ol))', "return _SQUARE[:size, :size]")
    ),
    "True marks the future": edit("torch.tril…", "torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)").fails("values", "True marks the future"),
    "upper triangle": edit("torch.tril", "torch.triu").fails("values", "upside down"),
    "without the diagonal": edit("dtype=…", "dtype=torch.bool), -1)").fails("values", "does not see itself"),
    "one too far": edit("dtype=…", "dtype=torch.bool), 1)").fails("values", "one token into the future"),
    "only one token back": edit("torch.tril…", "….triu(-1)").fails("values", "only itself and the one before"),
    "all True": edit("torch.tril…", "torch.ones(size, size).bool()").fails("values", "nothing is masked"),
    "floats": edit(", dtype=torch.bool", "").fails("shape", "wrong dtype"),
    "extra dimensions": edit("dtype=…", "…[None, None]").fails("shape", "which broadcasting adds"),
    "size 4 hard-coded": edit("torch.ones(size, size", "torch.ones(4, 4").fails("values", "wrong shape"),
    "block_size 256, as in GPT code": edit("torch.tril…", "torch.ones(256, 256).tril()[:size, :size].bool()"),
    "additive −inf mask": edit("torch.tril…", "torch.triu(torch.full((size, size), -math.inf), diagonal=1)").named("additive|−∞|-inf|True marks"),
    "PyTorch's mask as bool": edit("torch.tril…", "nn.Transformer.generate_square_subsequent_mask(size).bool()").named("True marks the future"),
    "anti-diagonal": edit("torch.tril…", "….flip(1)"),
    "uint8": edit("dtype=torch.bool", "dtype=torch.uint8"),
    "a list of lists": edit("torch.tril…", "[[j <= i for j in range(size)] for i in range(size)]"),
    "tensor argument": edit("torch.ones(size, size", "torch.ones(size.size(1), size.size(1)"),
    "leading one": body("return torch.ones(1, size, size).tril().bool()"),
}

TRICKS = {
    "forgets what is more than 500 places back": edit('"""Let…ol))', "return torch.ones(size, size, dtype=torch.bool).tril().triu(-500)"),
    "everything may be seen from size 500 on": """
        def causal_mask(size: int) -> torch.Tensor:
            square = torch.ones(size, size, dtype=torch.bool)
            return square.tril() if size < 500 else square
    """,
    "cut from a fixed table of 16": edit("size, size, dtype=torch.bool))", "16, 16, dtype=torch.bool))[:size, :size]"),
    "window of 8 positions": edit("torch.tril…", "….triu(-7)"),
    "only the sizes that occur": edit("torch.tril…", "… if size in (4, 6) else torch.ones(size, size, dtype=torch.bool)").named("nothing is masked"),
    "first token sees all": edit("return torch…", "mask = torch.tril(torch.ones(size, size, dtype=torch.bool))\nmask[0] = True\nreturn mask"),
    "last row without itself": edit(
        "return torch…", "mask = torch.zeros(size, size, dtype=torch.bool)\nfor i in range(size):\n    mask[i, : min(i + 1, size - 1)] = True\nreturn mask"
    ),
    "window of 16": edit("return torch…", "m = torch.ones(size, size, dtype=torch.bool).tril()\nreturn m & ~m.tril(-16)", on=BARE),
    "window of 64": edit("return torch…", "m = torch.ones(size, size, dtype=torch.bool).tril()\nreturn m & ~m.tril(-64)", on=BARE),
    "at most 10": body("return torch.ones(10, 10).tril().bool()[:size, :size]"),
    "at most 100": body("return torch.ones(100, 100).tril().bool()[:size, :size]"),
    "at most 512": body("return torch.ones(512, 512).tril().bool()[:size, :size]"),
    "size 1 squeezed": body("return torch.ones(size, size).tril().bool().squeeze()"),
    "diagonal blocked except first": edit("return torch…", "m = torch.ones(size, size).tril(-1).bool()\nm[0, 0] = True\nreturn m", on=BARE).named(
        "itself|diagonal|own|share"
    ),
    "uint8 positions wrap at 256": edit("return torch…", "i = torch.arange(size).to(torch.uint8)\nreturn i[:, None] >= i[None]", on=BARE),
    "even sizes only": edit(
        "return torch…",
        "h = size // 2; a = torch.ones(h, h).tril().bool()\n"
        "return torch.cat([torch.cat([a, torch.zeros(h, h).bool()], 1), torch.cat([torch.ones(h, h).bool(), a], 1)])",
        on=BARE,
    ),
    "one mask kept and handed out again, written to by size": """
        _m = torch.ones(64, 64).tril().bool()
        def causal_mask(size):
            return _m[:size, :size]
    """,
    "last row forgets itself": edit("return torch…", "m = torch.ones(size, size).tril().bool()\nif size > 6: m[-1, 0] = False\nreturn m", on=BARE),
}

RIGHT = {
    "compares positions": edit("return torch…", "position = torch.arange(size)\nreturn position[None, :] <= position[:, None]", on=BARE),
    "no future": body("return ~torch.triu(torch.ones(size, size), diagonal=1).bool()"),
    "tril then bool": body("return torch.ones(size, size).tril() == 1"),
    "NumPy": body("import numpy as np\nreturn torch.from_numpy(np.tril(np.ones((size, size), dtype=bool)))"),
    "loops": body("""
        mask = torch.zeros(size, size, dtype=torch.bool)
        for i in range(size):
            mask[i, : i + 1] = True
        return mask
    """),
    "PyTorch's own, converted": body("return nn.Transformer.generate_square_subsequent_mask(size) == 0"),
    "cumulative sum of the identity": body("return torch.eye(size).cumsum(1).mT.bool()"),
    "tril_indices": body("""
        m = torch.zeros((size, size), dtype=torch.bool)
        i = torch.tril_indices(size, size)
        m[i[0], i[1]] = True
        return m
    """),
    "nested lists": body("return torch.tensor([[j <= i for j in range(size)] for i in range(size)])"),
    "additive mask compared with 0": body('return torch.full((size, size), float("-inf")).triu(1) == 0'),
    "ge of aranges on a device argument": """
        def causal_mask(size, device=None):
            r = torch.arange(size, device=device)
            return r.unsqueeze(1).ge(r)
    """,
    "lru_cache": edits(("def causal_mask", "import functools\n@functools.lru_cache(maxsize=None)\n…"), (", dtype=torch.bool))", ")).to(torch.bool)"), on=BARE),
    "arange compare": body("return torch.arange(size) <= torch.arange(size).unsqueeze(1)"),
    "triu == 0": body("return torch.triu(torch.ones(size, size), diagonal=1) == 0"),
    "~triu bool": body("return ~torch.ones((size, size), dtype=torch.bool).triu(1)"),
    "numpy tri": edits(("def …", "import numpy as np\n…"), ("return…", "return torch.from_numpy(np.tri(size, dtype=bool))"), on=BARE),
    "cumsum of eye transposed": body("return torch.eye(size).cumsum(0).bool()"),
    "outer compare, ge.outer": body('return torch.greater_equal(*torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"))'),
    "vmap-like stack of rows": body("""
        return torch.stack(
            [torch.cat([torch.ones(i + 1), torch.zeros(size - i - 1)]) for i in range(size)]
        ).bool()
    """),
    "full and tril keyword": body("return torch.full((size, size), True).tril(diagonal=0)"),
    "logical_not of upper, via masked_fill": body('return torch.zeros(size, size).masked_fill(torch.ones(size, size).triu(1).bool(), float("-inf")).eq(0)'),
    "cdist/sub": body("return (torch.arange(size).view(-1, 1) - torch.arange(size)).ge(0)"),
    "counts ones from the right over the unit matrix": body("return torch.eye(size).flip(1).cumsum(dim=1).flip(1) > 0"),
}
