from answers.writing import BARE, body, edit, edits

BASES = {
    "stacked": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p = torch.arange(max_len)[:, None]
            s = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            return torch.stack([torch.sin(p * s), torch.cos(p * s)], -1).flatten(1)
    """,
    "every other column": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            e = torch.zeros(max_len, d_model)
            e[:, 0::2] = torch.sin(p * s)
            e[:, 1::2] = torch.cos(p * s)
            return e
    """,
}

WRONG = {
    "no cosine": edit("encoding[:, 1::2] = torch.cos(position * speed)", "").fails("values", "the cosine is missing"),
    "cosine over the sine": edit("1::2", "0::2").fails("values", "written over the sine"),
    "joined and reshaped": edit("return encoding", "return torch.stack([encoding[:, 0::2], encoding[:, 1::2]]).reshape(max_len, d_model)").fails(
        "values", "joined row by row"
    ),
    "divides by half the width": edit("/ d_model)", "/ (d_model // 2))").fails("values", "exponent is doubled"),
    "exp without its minus": edit("10000.0…", "torch.exp(torch.arange(0, d_model, 2) * math.log(10000.0) / d_model)").fails("values", "lacks its minus sign"),
    "doubled exponent": edit("10000.0…", "10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)").fails("values", "exponent is doubled"),
    "doubled exponent of every column by itself": body("""
        angle = torch.arange(max_len)[:, None] / 10000 ** (2 * torch.arange(d_model) / d_model)
        return torch.where(torch.arange(d_model) % 2 == 0, angle.sin(), angle.cos())
    """).fails("values", "each column takes its own number"),
    "exponent without parentheses": edit("10000.0…", "10000.0 ** -2 * torch.arange(d_model // 2) / d_model").fails("values", "needs parentheses"),
    "halves at tensor2tensor's speeds": body("""
        speed = torch.exp(torch.arange(d_model // 2) * -(math.log(10000) / (d_model // 2 - 1)))
        angle = torch.arange(max_len)[:, None] * speed
        return torch.cat([angle.sin(), angle.cos()], dim=1)
    """).fails("values", "all sines come before all cosines"),
    "minus sign of the exponent forgotten": edit("10000.0…", "torch.exp(torch.arange(0, d_model, 2) * (math.log(10000.0) / d_model))").named("minus sign"),
    "`encoding_angle` of the pair's number": body("""
        encoding = torch.zeros(max_len, d_model)
        for position in range(max_len):
            for i in range(d_model // 2):
                encoding[position, 2 * i] = math.sin(encoding_angle(position, i, d_model))
                encoding[position, 2 * i + 1] = math.cos(encoding_angle(position, i, d_model))
        return encoding
    """).fails("values", "number of the pair"),
    "halved exponent": edit("10000.0…", "10000.0 ** (-torch.arange(d_model // 2) / d_model)").fails("values", "exponent is halved"),
    "cosine with its own column": edit("torch.cos…", "torch.cos(position * 10000.0 ** (-torch.arange(1, d_model, 2) / d_model))").fails(
        "values", "speed of its own column"
    ),
    "halves": edits(("0::2", ": d_model // 2"), ("1::2", "d_model // 2 :")).fails("values", "all sines come first"),
    "swapped": edits(("0::2", "1::2"), ("[:, 1::2] = torch.cos", "[:, 0::2] = torch.cos")).fails("values", "sine and cosine are swapped"),
    "all sines": edit("torch.cos", "torch.sin").fails("values", "every column is a sine"),
    "all cosines": edit("torch.sin", "torch.cos").fails("values", "every column is a cosine"),
    "positions from 1": edit("torch.arange(max_len)", "torch.arange(1, max_len + 1)").fails("values", "start at 1"),
    "multiplied instead of divided": edit("10000.0 ** (-", "10000.0 ** (").fails("values", "multiplied by"),
    "base 1000": edit("10000.0", "1000.0").fails("values", "base is 1000 "),
    "integer division": edit("10000.0…", "10000.0 ** (-(torch.arange(0, d_model, 2) // d_model))").fails("values", "`//`"),
    "angles without sine and cosine": edits(("torch.sin…", "position * speed"), ("torch.cos…", "position * speed")).fails(
        "values", "sine and cosine are missing"
    ),
    "float64": edit("return encoding", "….double()").fails("shape", "wrong dtype"),
    "NumPy": edit("return encoding", "….numpy()").fails("shape", "should be a torch.Tensor"),
    "leading dimension": edit("return encoding", "…[None]").fails("shape", "wrong shape"),
    "transposed": edit("return encoding", "….T").fails("shape", "wrong shape"),
    "d_model - 2 below (tensor2tensor)": edit("/ d_model)", "/ (d_model - 2))").named("d_model − 2"),
    "natural base e": edit("10000.0…", "torch.exp(-torch.arange(0, d_model, 2) / d_model)").named("base"),
    "log10 for log": edit("10000.0…", "torch.exp(-torch.arange(0, d_model, 2) * math.log10(10000.0) / d_model)"),
    "columns reversed (slow to fast)": edit("return encoding", "….flip(1)"),
    "fast and slow exchanged": edit(") / d_model)", ").flip(0…  # (d_model / 2,)").named("slow to fast"),
    "rows reversed": edit("return encoding", "….flip(0)"),
    "positions divided by max_len": edit("torch.arange(max_len)", "(… / max_len)"),
    "sizes exchanged": edit("max_len: int, d_model: int", "d_model: int, max_len: int"),
    "sine of degrees": edit("position * speed)", "torch.deg2rad(…)"),
    "half precision arithmetic": edits(
        ("torch.arange(max_len…", "torch.arange(max_len).unsqueeze(1).half()"), ("10000.0…", "(10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).half()")
    ),
    "cosine from the sine by √(1 − sin²): sign lost": edit("torch.cos…", "torch.sqrt(1 - torch.sin(position * speed) ** 2)"),
    "speeds rounded to 3 decimals": edit("encoding = torch.zeros", "speed = (speed * 1000).round() / 1000\n…"),
    "learned table": edit("return encoding", "return nn.Embedding(max_len, d_model).weight"),
    "scaled by √d_model": edit("return encoding", "… * d_model**0.5").named("√d_model"),
    "centred": edit("return encoding", "… - encoding.mean(0)"),
    "sine only in odd places by a bug of the loop": body("""
        encoding = torch.zeros(max_len, d_model)
        for pos in range(max_len):
            for i in range(0, d_model, 2):
                angle = pos / 10000 ** (2 * i / d_model)
                encoding[pos, i] = math.sin(angle)
                encoding[pos, i + 1] = math.cos(angle)
        return encoding
    """).named("exponent is doubled"),
    "loop with i over pairs but columns i and i+1": edit("0, d_model,", "d_model //", on="sine only in odd places by a bug of the loop"),
    "annotated-transformer's line with 2i in the next column": edit(
        "angle =…cos(angle)",
        "encoding[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))\nencoding[pos, i + 1] = math.cos(pos / 10000 ** (2 * (i + 1) / d_model))",
        on="sine only in odd places by a bug of the loop",
    ).named("doubled"),
    "the exponent doubled and the cosine's own column": edits(
        ("10000.0…", "10000.0 ** (-torch.arange(0, 2 * d_model, 4) / d_model)"),
        ("torch.cos…", "torch.cos(position * 10000.0 ** (-torch.arange(1, d_model, 2) / d_model))"),
    ),
    "float16 pos precision: bfloat16 arange": edit(")[:,None]", ", dtype=torch.bfloat16….float()", on="every other column"),
    "requires grad": edit("(1)", "(1).requires_grad_()", on="stacked").named("grad"),
    "half precision speeds": edits(
        ("s = 10000…", "s = (10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).half()"), ("), torch.cos(p * s", ".float()….float()"), on="stacked"
    ),
    "max_len 1 squeezed": edit("(1)", "(1).squeeze()", on="stacked").named("shape"),
    "order of args swapped, same shape guard": edit("/ d_model", "/ max_len", on="stacked"),
    "seeds the RNG": edits(("p = torch", "torch.manual_seed(0)\n…"), ("(1)", "(1).float()"), on="stacked"),
    "row 0 empty": edit("return encoding", "encoding[0] = 0.0\nreturn encoding").fails("values", "row 0 is all 0"),
    "base 100": edit("10000.0", "100.0").fails("values", "or the base is 100"),
    "base 1e8": edit("10000.0", "1e8").fails("values", "or the base is squared"),
}

TRICKS = {
    "zeros": edit("return encoding", "return torch.zeros(max_len, d_model)").fails("values", "wrong values"),
    "width 12 hard-coded": edit("2) / d_model", "2) / 12").fails("values"),
    "at most 64 positions, then repeats": edit("torch.arange(max_len)", "(… % 64)"),
    "random table": edit("return encoding", "return torch.randn(max_len, d_model)"),
    "table repeats after 512 rows": edit("p=torch…", "p=(torch.arange(max_len)%512)[:,None]", on="every other column"),
    "cached by max_len": """
        _T = {}
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            if max_len not in _T:
                p = torch.arange(max_len)[:, None]
                s = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
                _T[max_len] = torch.stack([torch.sin(p * s), torch.cos(p * s)], -1).flatten(1)
            return _T[max_len]
    """,
    "sine small-angle approximated in slow columns": edit(
        "return torch…", "a=p*s\nreturn torch.stack([torch.where(s<0.01,a,torch.sin(a)).expand_as(a),torch.cos(a)],-1).flatten(1)", on="stacked"
    ),
    "d_model 2 wrong: speed d//2-1": edits(
        ("p = torch", "h=d_model//2\n…"),
        ("s = 10000…", "s=torch.exp(-math.log(10000)*torch.arange(h)*2/d_model) if h>1 else torch.tensor([1e-4])"),
        on="stacked",
    ),
    "modifies global default dtype": edits(("p = torch", "torch.set_default_dtype(torch.float64)\n…"), ("(1)", "(1).float()"), on="stacked").named(
        "default|drops out at|another default"
    ),
    "the same tensor for every caller": edit("def sinusoidal_encoding", "import functools\n@functools.cache\n…").fails("values", "share their numbers"),
}

RIGHT = {
    "two loops": body("""
        encoding = torch.zeros(max_len, d_model)
        for position in range(max_len):
            for column in range(d_model):
                wave = math.cos if column % 2 else math.sin
                encoding[position, column] = wave(encoding_angle(position, column, d_model))
        return encoding
    """),
    "exp and log": body("""
        encoding = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        encoding[:, 0::2] = torch.sin(position * div_term)
        encoding[:, 1::2] = torch.cos(position * div_term)
        return encoding
    """),
    "NumPy, cast at the end": body("""
        import numpy as np
        angle = np.arange(max_len)[:, None] / 10000 ** (np.arange(d_model) // 2 * 2 / d_model)
        angle[:, 0::2] = np.sin(angle[:, 0::2])
        angle[:, 1::2] = np.cos(angle[:, 1::2])
        return torch.tensor(angle, dtype=torch.float32)
    """),
    "stack and flatten": body("""
        angle = torch.outer(torch.arange(max_len).float(), 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model))
        return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(max_len, d_model)
    """),
    "the cosine as a shifted sine": body("""
        column = torch.arange(d_model, dtype=torch.float64)
        speed = 10000 ** (-(column - column % 2) / d_model)
        return torch.sin(torch.arange(max_len)[:, None] * speed + column % 2 * math.pi / 2).float()
    """),
    "rotation from row to row, float32": body("""
        w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
        s, c = torch.zeros_like(w), torch.ones_like(w)
        rows = []
        for _ in range(max_len):
            rows.append(torch.stack([s, c], -1).flatten())
            s, c = s * w.cos() + c * w.sin(), c * w.cos() - s * w.sin()
        return torch.stack(rows)
    """),
    "complex exponentials": body("""
        w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        z = torch.exp(1j * torch.arange(max_len)[:, None] * w)
        return torch.stack([z.imag, z.real], -1).reshape(max_len, d_model)
    """),
    "complex64 powers": body("""
        w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        z = torch.polar(torch.ones_like(w), w)[None].repeat(max_len, 1).cumprod(0) / torch.polar(
            torch.ones_like(w), w
        )
        return torch.view_as_real(z).flip(-1).flatten(1).float()
    """),
    "repeat_interleave, a phase of π/2 on odd columns": body("""
        column = torch.arange(d_model)
        speed = torch.exp(-(column // 2 * 2) * (math.log(10000.0) / d_model))
        return torch.sin(torch.arange(max_len).float()[:, None] * speed + (column % 2) * (math.pi / 2))
    """),
    "torch.where over all columns": body("""
        c = torch.arange(d_model)
        angle = torch.arange(max_len)[:, None] / 10000 ** ((c - c % 2) / d_model)
        return torch.where(c % 2 == 0, angle.sin(), angle.cos())
    """),
    "nested lists and math": edit(
        "position =…return encoding",
        "return torch.tensor([[(math.sin, math.cos)[j % 2](i / 10000 ** ((j - j % 2) / d_model)) for j in range(d_model)] for i in range(max_len)])",
        on=BARE,
    ),
    "column by column with encoding_angle": body("""
        columns = []
        for c in range(d_model):
            angles = torch.tensor([encoding_angle(p, c, d_model) for p in range(max_len)])
            columns.append(torch.cos(angles) if c % 2 else torch.sin(angles))
        return torch.stack(columns, dim=1)
    """),
    "empty table, slices, linspace exponents, logspace": body("""
        table = torch.empty((max_len, d_model), dtype=torch.float32)
        steps = d_model // 2
        speed = torch.logspace(0, -4 * (steps - 1) / steps, steps)
        angles = torch.outer(torch.linspace(0, max_len - 1, max_len), speed)
        table[:, ::2], table[:, 1::2] = angles.sin(), angles.cos()
        return table
    """),
    "half the exponents written as 2i over arange(d_model)": body("""
        speed = (10000.0 ** (-2 * torch.arange(d_model) / d_model))[: d_model // 2]
        angle = torch.arange(max_len).unsqueeze(1) * speed
        return torch.stack((angle.sin(), angle.cos()), 2).view(max_len, d_model)
    """),
    "float32 exponent by cumulative products": body("""
        speed = torch.full((d_model // 2,), 10000.0 ** (-2 / d_model)).cumprod(0).roll(1)
        speed[0] = 1.0
        pe = torch.zeros(max_len, d_model)
        angle = torch.arange(max_len)[:, None] * speed
        pe[:, 0::2] = angle.sin()
        pe[:, 1::2] = angle.cos()
        return pe
    """),
    "stack flatten": edit("[torch.sin(p * s), torch.cos(p * s)], -", "(torch.sin(p*s), torch.cos(p*s)), dim=-", on="stacked"),
    "double loop": edit(
        '"""Make…n encoding',
        "return torch.tensor([[(math.cos if c % 2 else math.sin)(encoding_angle(p, c, d_model)) for c in range(d_model)] for p in range(max_len)])",
    ),
    "numpy float64 cast": """
        import numpy as np
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p = np.arange(max_len)[:, None]
            i = np.arange(d_model)[None] // 2 * 2
            a = p / np.power(10000, i / d_model)
            a[:, 0::2] = np.sin(a[:, 0::2])
            a[:, 1::2] = np.cos(a[:, 1::2])
            return torch.from_numpy(a).float()
    """,
    "complex exponential": edit(
        '"""Make…n encoding',
        "w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)\n"
        "z = torch.polar(torch.ones(max_len, d_model // 2, dtype=torch.float64), torch.outer(torch.arange(max_len, dtype=torch.float64), w))\n"
        "return torch.stack([z.imag, z.real], -1).reshape(max_len, d_model).float()",
    ),
    "exp log outer sin phase": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            c = torch.arange(d_model)
            w = torch.exp(-math.log(10000.0) * (c // 2 * 2) / d_model)
            return torch.sin(torch.outer(torch.arange(max_len).float(), w) + math.pi / 2 * (c % 2))
    """,
    "repeat_interleave": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = torch.pow(10000.0, -torch.arange(0, d_model, 2).float() / d_model).repeat_interleave(2)
            a = torch.arange(max_len).float().unsqueeze(1) * w
            a[:, ::2].sin_()
            a[:, 1::2].cos_()
            return a
    """,
    "view_as_real of exp(i) swapped": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            z = torch.exp(1j * torch.outer(torch.arange(max_len).float(), w))
            return torch.view_as_real(z).flip(-1).flatten(1)
    """,
    "meshgrid": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p, i = torch.meshgrid(torch.arange(max_len), torch.arange(d_model // 2), indexing="ij")
            a = p / 10000 ** (2 * i / d_model)
            out = torch.empty(max_len, d_model)
            out[:, ::2], out[:, 1::2] = a.sin(), a.cos()
            return out
    """,
    "einsum + rearranged cat (transpose)": edit(
        '"""Make…n encoding',
        "a = torch.einsum('p,i->pi', torch.arange(max_len).double(), torch.logspace(0, -4 * (d_model - 2) / d_model, d_model // 2, dtype=torch.float64))\n"
        "return torch.cat([a.sin().T[:, None], a.cos().T[:, None]], 1).reshape(d_model, max_len).T.float()",
    ),
    "recurrence by rotation, float64": """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            r = torch.complex(w.cos(), w.sin())
            z = torch.ones_like(r)
            rows = []
            for _ in range(max_len):
                rows.append(torch.stack([z.imag, z.real], -1).flatten())
                z = z * r
            return torch.stack(rows).float()
    """,
    "vmap": edit(
        '"""Make…n encoding',
        "c = torch.arange(d_model)\n"
        "f = lambda p: torch.where(c % 2 == 0, torch.sin(p / 10000 ** (c // 2 * 2 / d_model)), torch.cos(p / 10000 ** (c // 2 * 2 / d_model)))\n"
        "return torch.vmap(f)(torch.arange(max_len))",
    ),
    "no_grad decorator": edit("def sinusoidal_encoding", "@torch.no_grad()\n…", on="every other column"),
    "hands as complex numbers": body("""
        i = torch.arange(d_model // 2, dtype=torch.float64)
        angles = torch.arange(max_len).double()[:, None] / 10000 ** (2 * i / d_model)
        hands = torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(hands).flip(-1).reshape(max_len, d_model).to(torch.float32)
    """),
}
