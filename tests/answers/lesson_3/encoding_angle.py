from answers.writing import BARE, TYPED, body, edit, edits

WRONG = {
    "a remainder": edit("column // 2 * 2", "column % 2 * 2").fails("", "numbered by a remainder"),
    "columns in halves": edit("column // 2 * 2", "column % (d_model // 2) * 2").fails("", "numbered by a remainder"),
    "no position": edit("return position", "return 1").fails("", "the position is left out"),
    "divides by half the width": edit("/ d_model)", "/ (d_model // 2))").fails("", "exponent is doubled"),
    "doubled exponent": edit("even / d_model", "2 * …").fails("", "exponent is doubled"),
    "one pair back": edit("column // 2 * 2", "2 * max(column // 2 - 1, 0)").fails("", "wrong value"),
    "2 · column for each column": edit("column // 2 * 2", "2 * column").fails("", "each column takes its own number", names="exponent is doubled"),
    "the number of the pair": edit("column // 2 * 2", "column // 2").fails("", "exponent is halved"),
    "the column's own number": edit("column // 2 * 2", "column").fails("", "instead of its pair's even one"),
    "multiplied": edit("position / 10000", "position * 10000").fails("", "multiplied by"),
    "not divided by d_model": edit("(even / d_model)", "even").fails("", "missing its division"),
    "the square of the pair": edit("column // 2 * 2", "(column // 2) ** 2").fails("", "wrong value"),
    "the sine": edit("return…", "return math.sin(position / 10000 ** (even / d_model))").fails("", "sine of the angle"),
    "the table of `^`": edit("**", "^").fails("", "raised TypeError"),
    "returns nothing": edit("return position", "position").fails("", "reaches no `return`"),
    "base 1000": edit("10000", "1000").fails("", "base is 1000"),
    "floor division": edit("position / 10000", "position // 10000").named("//|whole|floor"),
    "degrees": edit("return position…", "return math.degrees(position / 10000 ** (even / d_model))").named("degrees"),
    "integer exponent": edit("(even / d_model)", "(even // d_model)").named("//|whole|floor"),
    "the next even column for odd ones": edit("column // 2 * 2", "(column + 1) // 2 * 2").named("angle of the next pair"),
    "2i+1 in the exponent of odd columns": edit("column // 2 * 2", "… + column % 2").named("its pair's even one"),
    "position and column exchanged": edit("return position…", "return column / 10000 ** (position // 2 * 2 / d_model)").named("exchanged|swapped"),
    "precedence: (position / 10000) ** …": edit("position / 10000 *…", "(position / 10000) ** (even / d_model)").named("parenthes|precedence"),
    "sine on even, cosine on odd columns": edit(
        "return position…", "angle = position / 10000 ** (even / d_model)\nreturn math.cos(angle) if column % 2 else math.sin(angle)"
    ).named("sine"),
    "d_model - 2 below (tensor2tensor)": edit("even / d_model", "even / (d_model - 2)").named("d_model − 2"),
    "exponent without parentheses": body("return position / 10000 ** 2 * (column // 2) / d_model").named("exponent needs parentheses"),
    "division outside the exponent": body("return position / 10000 ** (column // 2 * 2) / d_model").named("stands outside the exponent"),
    "positions from 1": edit("return position /", "return (position + 1) /").named("counted from 1"),
    "a string": edit("return…", "return f'{position / 10000 ** (even / d_model)} radians'").named("one number"),
    "all columns": edit("return position…", "return [position / 10000 ** (c // 2 * 2 / d_model) for c in range(d_model)]").named("one number"),
    "i from position parity": edit("// 2 *", "- position %", on=TYPED),
    "mod 2pi": edit("return position…", "return (position / 10000 ** (even / d_model)) % (2*math.pi)", on=TYPED),
    "round(column/2 - .5)*2 : python bankers (7->6? 5->4, 3->... )": edit("column // 2", "round((column-1) / 2)", on=TYPED),
    "base 100": edit("10000", "100").fails("", "or the base is 100"),
    "base 1e8": edit("10000", "1e8").fails("", "or the base is squared"),
    "returns what print gives": edit("return…", "return print(position / 10000 ** (even / d_model))").fails("", "as `print(…)` and"),
}

TRICKS = {
    "always zero": edit("return position…", "return 0.0"),
    "rounded to 4 decimals": edit("return position…", "return round(position / 10000 ** (even / d_model), 4)"),
    "width 12 fixed": edit("even / d_model", "even / 12"),
    "special-cases 12": edit("return position", "return 0.0 if d_model != 12 else position"),
    "column&6": edit("// 2 * 2", "& 6", on=TYPED),
    "position 3 hard": edit("position /", "3 /", on=TYPED).named("position"),
    "odd d_model pairs: column 1 only special": edit("// 2 * 2", "- 1 if column in (1,13) else column", on=TYPED),
    "even/2 for large column": edit("pow(10000, (column & ~1", "10000 ** (min(column//2*2, 12", on="bit and"),
}

RIGHT = {
    "exp and log": body("return position * math.exp(-(column - column % 2) * math.log(10000) / d_model)"),
    "pairs counted": edits(("even =…", "i = column // 2"), ("10000 ** (even", "math.pow(10000, 2 * i"), on=BARE),
    "a NumPy number": body("import numpy as np\nreturn np.float64(position) / np.power(10000.0, (column - column % 2) / d_model)"),
    "float32 torch arithmetic": body("""
        return torch.tensor(float(position)) / torch.pow(
            torch.tensor(10000.0), torch.tensor(column // 2 * 2 / d_model)
        )
    """),
    "bit mask, 1e4, reciprocal power": body("return position * 1e4 ** -((column & ~1) / d_model)"),
    "Decimal": """
        from decimal import Decimal
        def encoding_angle(position, column, d_model):
            return Decimal(position) / Decimal(10000) ** (Decimal(column - column % 2) / Decimal(d_model))
    """,
    "repeated multiplication by the pair's factor": body("""
        angle, factor = float(position), 10000 ** (-2 / d_model)
        for _ in range(column // 2):
            angle *= factor
        return angle
    """),
    "divmod, numpy float32 0-d array": """
        import numpy as np
        def encoding_angle(position, column, d_model):
            i, _ = divmod(column, 2)
            return np.asarray(np.float32(position) / np.float32(10000) ** np.float32(2 * i / d_model))
    """,
    "if/else on odd columns, a one-entry tensor in float64": body("""
        if column % 2 == 1:
            column -= 1
        return torch.tensor([position / 10000 ** (column / d_model)], dtype=torch.float64)
    """),
    "exp log": """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            i = column // 2
            return position * math.exp(-2 * i / d_model * math.log(10000))
    """,
    "divmod": edits(("even =…", "i, _ = divmod(column, 2)"), ("/ 10000 ** (even", "* 10000 ** (-2 * i"), on=TYPED),
    "bit and": "def encoding_angle(position: int, column: int, d_model: int) -> float:\n    return position / pow(10000, (column & ~1) / d_model)",
    "torch scalar .item()": edit(
        '"""Compute…n / d_model)',
        "return (torch.tensor(float(position), dtype=torch.float64) / 10000.0 ** (torch.tensor(column - column % 2) / d_model)).item()",
    ),
    "if odd": edit("even =…d_model)", "if column % 2 == 1:\n    column -= 1\nreturn position / 10000 ** (column / d_model)", on=TYPED),
    "0-d float32 tensor returned (a number?)": edit("even =…d_model)", "return torch.tensor(position / 10000 ** (column // 2 * 2 / d_model))", on=TYPED),
    "Fraction exponent": """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            from fractions import Fraction
            return position / 10000 ** float(Fraction(column // 2 * 2, d_model))
    """,
    "cached speed (right)": """
        from functools import lru_cache
        @lru_cache(None)
        def _s(i, d):
            return 10000 ** (2 * i / d)
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return position / _s(column // 2, d_model)
    """,
    "lambda": "encoding_angle = lambda position, column, d_model: position / 10000 ** ((column - column % 2) / d_model)",
    "floor": edit("pow(10000, (column & ~1", "math.pow(10000, 2 * math.floor(column / 2", on="bit and"),
}
