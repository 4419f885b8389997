from answers.writing import BARE, body, edit, edits

WRONG = {
    "last pair left out": edit("*blocks", "*blocks[:-1], torch.zeros(2, 2)").fails("values", "the last 2 × 2 matrix is not filled"),
    "first pair only": edit("return torch…", "return torch.block_diag(blocks[0], torch.eye(d_model - 2))").fails("values", "only the first pair turns"),
    "added to the identity": edit("return torch…", "return torch.eye(d_model) + torch.block_diag(*blocks)").fails("values", "added to the identity"),
    "at every column": body("""
        matrix = torch.zeros(d_model, d_model)
        for column in range(d_model - 1):
            angle = encoding_angle(offset, column, d_model)
            sine, cosine = math.sin(angle), math.cos(angle)
            matrix[column : column + 2, column : column + 2] = torch.tensor([[cosine, sine], [-sine, cosine]])
        return matrix
    """).fails("values", "written at every column"),
    "turns back": edit("sine], [-", "-sine], [").fails("values", "wrong way"),
    "the second cosine forgotten": edit("[-sine, cosine]", "[-sine, 0.0]").fails("values", "second cosine"),
    "one speed for all": edit("offset /…", "offset").fails("values", "speed of the first"),
    "doubled exponent": edit("even / d_model", "2 * …").fails("values", "exponent is doubled"),
    "halved exponent": edit("even / d_model", "even / 2 / d_model").fails("values", "exponent is halved"),
    "offset left out": edit("angle = offset /", "angle = bool(offset) /").fails("values", "offset does not enter"),
    "halved exponent, and turns back": edits(("even / d_model", "even / 2 / d_model"), ("sine], [-", "-sine], [")).fails(
        "values", "and the rotation turns the wrong way", names="exponent is halved|turns the wrong way"
    ),
    "doubled exponent, and turns back": edits(("even / d_model", "2 * …"), ("sine], [-", "-sine], [")).fails(
        "values", "and the rotation turns the wrong way", names="exponent is doubled|turns the wrong way"
    ),
    "one speed for all, and turns back": edits(("offset /…", "offset"), ("sine], [-", "-sine], [")).fails("values", "speed of the first, and the wrong way"),
    "forward only": edit("angle = offset /", "angle = abs(offset) /").fails("values", "negative offset moves forward"),
    "identity": edit("angle =…", "angle = 0.0").fails("values", "nothing is shifted"),
    "cosines only": edit("sine], [-sine", "0], [0").fails("values", "only the diagonal"),
    "same signs": edit("-sine, cosine", "sine, cosine").fails("values", "same sign"),
    "sine and cosine swapped": edit("[cosine, sine], [-sine, cosine]", "[sine, cosine], [-cosine, sine]").fails("values", "sine and cosine are swapped"),
    "for halves": edit("return…", "order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])\n…[order][:, order]").fails(
        "values", "rotations stand for halves"
    ),
    "a 2 × 2 matrix": edit("torch.block_diag(*blocks)", "blocks[0]").fails("shape", "wrong shape"),
    "transposed blocks for negative offsets twice": edit("offset /", "-abs(offset) /").named("wrong way"),
    "a shift of rows (permutation matrix)": body("return torch.eye(d_model).roll(offset, 0)").named("rolled"),
    "integer angle": edit("angle =…", "angle = offset // 10000 ** (even / d_model)").named("only the first pair turns"),
    "upper minus for odd pairs only": edit("sine], [-sine", "sine if even % 4 == 0 else -… if even % 4 == 0 else sine"),
    "only the first pair turned": edit("angle =…", "angle = offset if even == 0 else 0.0").fails("values", "only the first pair turns"),
    "degrees": edit("angle =…", "angle = math.radians(offset / 10000 ** (even / d_model))"),
    "scaled by the offset": edit("cosine,", "cosine * max(1, offset),"),
    "a stack of blocks": edit("torch.block_diag(*blocks)", "torch.stack(blocks)"),
    "a NumPy matrix": edit("return torch…", "….numpy()"),
    "doubled exponent through encoding_angle(offset, 2·even, …)": edit("angle =…", "angle = encoding_angle(offset, 2 * even, d_model)").named(
        "exponent is doubled"
    ),
    "pair number handed to encoding_angle": edit("angle =…", "angle = encoding_angle(offset, even // 2, d_model)").fails("values", "number of the pair"),
    "arguments of encoding_angle exchanged": edit("angle =…", "angle = encoding_angle(even, offset, d_model)").named("column and offset"),
    "offset off by one": edit("angle = offset /", "angle = (offset + 1) /").named("one"),
    "angle uses abs offset; sign patched only for first pair": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = torch.zeros(d_model, d_model)
            for e in range(0, d_model, 2):
                a = offset / 10000 ** (e / d_model)
                c, s = math.cos(a), math.sin(a)
                m[e, e] = m[e + 1, e + 1] = c
                m[e, e + 1] = s if (e == 0 or offset > 0) else -s
                m[e + 1, e] = -m[e, e + 1]
            return m
    """,
    "matrix_power with negative exponent inverse": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = torch.zeros(d_model, d_model)
            for e in range(0, d_model, 2):
                a = 1 / 10000 ** (e / d_model)
                m[e, e] = m[e + 1, e + 1] = math.cos(a)
                m[e, e + 1] = math.sin(a)
                m[e + 1, e] = math.sin(a)
            return torch.matrix_power(m, offset)
    """,
    "bfloat16": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = torch.zeros(d_model, d_model, dtype=torch.bfloat16)
            for e in range(0, d_model, 2):
                a = offset / 10000 ** (e / d_model)
                m[e : e + 2, e : e + 2] = torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
            return m
    """,
    "determinant lost in half (cos approx)": edits(
        ("m = torch…", "m=torch.zeros(d_model,d_model)"),
        ("m[e :…", "s=math.sin(a); c=math.sqrt(1-s*s)\nm[e:e+2,e:e+2]=torch.tensor([[c,s],[-s,c]])"),
        on="bfloat16",
    ),
    "base 100": edit("10000", "100").fails("values", "or the base is 100"),
    "base 1e8": edit("10000", "1e8").fails("values", "or the base is squared"),
    "base 1000": edit("10000", "1000").fails("values", "base is 1000 "),
}

TRICKS = {
    "eight columns only": edit("range(0, d_model, 2)", "range(0, 8, 2)"),
    "offset 3 and −5 tabled": edit("angle = offset /", "angle = (offset if offset in (0, 3, -5) else 0) /"),
    "rounded to two decimals": edit("return torch…", "return (torch.block_diag(*blocks) * 100).round() / 100"),
    "rounded to four decimals": edit("return torch…", "return (torch.block_diag(*blocks) * 1e4).round() / 1e4"),
    "the sign of the lower row lost in the slowest pair": edit("[-sine, cosine]", "[-sine if even + 2 < d_model or d_model == 2 else sine, cosine]"),
    "small angles taken for 0": edit("sine, cosine = math", "angle = angle if abs(angle) > 4e-3 else 0.0\n…"),
    "small-angle approximation: sine = angle, cosine = 1": edit(
        "sine, cosine =…", "sine, cosine = (angle, 1.0) if abs(angle) < 0.1 else (math.sin(angle), math.cos(angle))"
    ),
    "least squares on the encoding in float32": body("""
        encoding = parts.sinusoidal_encoding(60, d_model)
        start, stop = max(0, -offset), 60 - max(0, offset)
        a, b = encoding[start:stop], encoding[start + offset : stop + offset]
        return torch.linalg.lstsq(a, b, driver="gelsd").solution.T
    """),
    "d_model 8 hard-coded in exponent": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            b = []
            for e in range(0, d_model, 2):
                a = offset / 10000 ** (e / 8)
                b.append(torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
            return torch.block_diag(*b)
    """,
    "offset int-truncated / mod 10": edits(
        ("b = [", "offset = int(math.fmod(offset, 10))\n…"), ("/ 8", "/ d_model"), on="d_model 8 hard-coded in exponent"
    ).named("offset"),
    "requires grad / Parameter": edits(("/ 8", "/ d_model"), ("torch.block_diag(*b)", "nn.Parameter(…)"), on="d_model 8 hard-coded in exponent"),
    "global m reused (aliasing)": edits(
        ("def shift_matrix", "_M={}\n…"), ("m = torch…", "if d_model not in _M: _M[d_model]=torch.zeros(d_model,d_model)\nm=_M[d_model]"), on="bfloat16"
    ).named("first|alias"),
    "the same tensor for every caller": edit("def shift_matrix", "import functools\n@functools.cache\n…").fails("values", "share their numbers"),
    "offsets beyond 100 start anew": edit("angle = offset /", "angle = math.fmod(offset, 100) /").fails("values", "wrong values"),
}

RIGHT = {
    "assignment to blocks": body("""
        m = torch.zeros(d_model, d_model)
        for i in range(d_model // 2):
            a = offset / 10000 ** (2 * i / d_model)
            m[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(
                [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
            )
        return m
    """),
    "diagonals, in double precision": body("""
        angle = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        matrix = torch.diag(angle.cos().repeat_interleave(2))
        even = torch.arange(0, d_model, 2)
        matrix[even, even + 1] = angle.sin()
        matrix[even + 1, even] = -angle.sin()
        return matrix
    """),
    "solved from the encoding": body("""
        blocks = []
        for even in range(0, d_model, 2):
            a = encoding_angle(offset, even, d_model)
            here = torch.tensor([[0.0, math.sin(0.5)], [1.0, math.cos(0.5)]], dtype=torch.float64)
            there = torch.tensor(
                [[math.sin(a), math.sin(a + 0.5)], [math.cos(a), math.cos(a + 0.5)]], dtype=torch.float64
            )
            blocks.append(there @ torch.linalg.inv(here))
        return torch.block_diag(*blocks).float()
    """),
    "matrix_exp of a generator": body("""
        w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        g = torch.zeros(d_model, d_model)
        i = torch.arange(0, d_model, 2)
        g[i, i + 1], g[i + 1, i] = w, -w
        return torch.matrix_exp(offset * g)
    """),
    "a power of the one-step matrix": edit(
        "blocks =…blocks)",
        "step = torch.block_diag(*[torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])\n"
        "                          for a in (encoding_angle(1, 2 * i, d_model) for i in range(d_model // 2))])\n"
        "return torch.linalg.matrix_power(step, offset)",
        on=BARE,
    ),
    "repeated products, transposed for negative offsets": body("""
        one = torch.zeros(d_model, d_model)
        for e in range(0, d_model, 2):
            a = 10000 ** (-e / d_model)
            one[e, e] = one[e + 1, e + 1] = math.cos(a)
            one[e, e + 1], one[e + 1, e] = math.sin(a), -math.sin(a)
        result = torch.eye(d_model)
        for _ in range(abs(offset)):
            result = result @ (one if offset > 0 else one.T)
        return result
    """),
    "complex numbers": body("""
        z = torch.exp(1j * offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
        m = torch.diag_embed(z.real.repeat_interleave(2))
        s = torch.stack([z.imag, torch.zeros_like(z.imag)], 1).flatten()[:-1]
        return m + torch.diag(s, 1) - torch.diag(s, -1)
    """),
    "Kronecker products": body("""
        m = torch.zeros(d_model, d_model)
        for i in range(d_model // 2):
            a = encoding_angle(offset, 2 * i, d_model)
            one = torch.zeros(d_model // 2, d_model // 2)
            one[i, i] = 1
            m += torch.kron(one, torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
        return m
    """),
    "least squares in float64 on far-apart positions": body("""
        w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        def table(p):
            a = p[:, None] * w
            return torch.stack([a.sin(), a.cos()], -1).flatten(1)
        p = torch.arange(0, 60000, 37, dtype=torch.float64)
        return torch.linalg.lstsq(table(p), table(p + offset)).solution.T
    """),
    "float64 NumPy, cast": body("""
        import numpy as np
        m = np.zeros((d_model, d_model))
        for c in range(d_model):
            a = offset / np.power(10000, (c - c % 2) / d_model)
            m[c, c] = np.cos(a)
            m[c, c + 1 if c % 2 == 0 else c - 1] = np.sin(a) * (1 if c % 2 == 0 else -1)
        return torch.from_numpy(m.astype(np.float32))
    """),
    "block_diag comprehension via encoding_angle": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            rot = lambda a: torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
            return torch.block_diag(*(rot(encoding_angle(offset, 2 * i, d_model)) for i in range(d_model // 2)))
    """,
    "vectorised assignment": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            m = torch.zeros(d_model, d_model)
            e = torch.arange(0, d_model, 2)
            m[e, e] = m[e + 1, e + 1] = a.cos()
            m[e, e + 1] = a.sin()
            m[e + 1, e] = -a.sin()
            return m
    """,
    "diag_embed": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            s = torch.stack([a.sin(), torch.zeros_like(a)], -1).flatten()[:-1]
            return torch.diag(a.cos().repeat_interleave(2)) + torch.diag(s, 1) - torch.diag(s, -1)
    """,
    "float64 result": edit(
        '"""Make…cks)',
        "a = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)\n"
        "return torch.block_diag(*torch.stack([torch.stack([a.cos(), a.sin()], -1), torch.stack([-a.sin(), a.cos()], -1)], 1))",
    ),
    "matrix_exp of generator": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            g = torch.block_diag(*[torch.tensor([[0.0, x], [-x, 0.0]], dtype=torch.float64) for x in w.tolist()])
            return torch.matrix_exp(offset * g).float()
    """,
    "kron free: numpy": edits(
        ("def shift_matrix", "import numpy as np\n…"),
        ("m = torch…", "m = np.zeros((d_model, d_model), dtype=np.float32)"),
        ("m[e :…", "m[e:e+2, e:e+2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]"),
        ("return m", "return torch.from_numpy(m)"),
        on="bfloat16",
    ),
    "matrix power float64": edit(
        '"""Make…cks)',
        "w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)\n"
        "m = torch.block_diag(*[torch.tensor([[math.cos(x), math.sin(x)], [-math.sin(x), math.cos(x)]], dtype=torch.float64) for x in w.tolist()])\n"
        "return torch.matrix_power(m if offset >= 0 else m.T, abs(offset)).float()",
    ),
    "nested lists": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = [[0.0] * d_model for _ in range(d_model)]
            for r in range(d_model):
                a = encoding_angle(offset, r, d_model)
                m[r][r] = math.cos(a)
                m[r][r ^ 1] = -math.sin(a) if r % 2 else math.sin(a)
            return torch.tensor(m)
    """,
    "scipy-like: complex view": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            z = torch.polar(torch.ones(d_model // 2), offset / 10000 ** (torch.arange(0, d_model, 2) / d_model))
            b = torch.stack([z.real, z.imag, -z.imag, z.real], -1).view(-1, 2, 2)
            out = torch.zeros(d_model // 2, 2, d_model // 2, 2)
            idx = torch.arange(d_model // 2)
            out[idx, :, idx] = b
            return out.reshape(d_model, d_model)
    """,
    "from sinusoidal tables: E(k) rows by own table": """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = torch.tensor([encoding_angle(offset, c, d_model) for c in range(d_model)])
            J = torch.block_diag(*[torch.tensor([[0.0, 1.0], [-1.0, 0.0]])] * (d_model // 2))
            return torch.diag(a.cos()) + torch.diag(a.sin()) @ J
    """,
    "block_diag of small matrices": body("""
        def rotation(angle):
            c, s = (math.cos(angle), math.sin(angle))
            return torch.tensor([[c, s], [-s, c]])
        angles = (offset / 10000 ** (2 * i / d_model) for i in range(d_model // 2))
        return torch.block_diag(*map(rotation, angles))
    """),
}
