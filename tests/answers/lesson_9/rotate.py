from answers.writing import body, edit, edits, whole

HALVES = ("first, second =…", "first, second = x.chunk(2, dim=-1)")
WOVEN = "torch.stack([left, right], dim=-1).flatten(-2)"

WRONG = {
    "a positive exponent": edit("(-torch.arange", "(torch.arange").fails("values", "the exponent is positive"),
    "halves": edits(HALVES, (WOVEN, "torch.cat([left, right], dim=-1)")).fails("values", "not with its neighbour"),
    "halves taken, neighbours put back": edits(HALVES).fails("values", "put back as neighbours"),
    "neighbours taken, halves put back": edit(WOVEN, "torch.cat([left, right], dim=-1)").fails("values", "put back as two halves"),
    "backwards": edits(("cos() - second", "cos() + second"), ("right = first", "right = -first")).fails("values", "the other way round"),
    "i without the 2": edit("torch.arange(0, d_k, 2, device=x.device)", "torch.arange(d_k // 2, device=x.device)").fails("values", "pair i has 2i in it"),
    "the 2 twice": edit("-torch.arange", "-2 * torch.arange").fails("values", "−4i / d_k, not"),
    "half of d_k": edit("/ d_k)", "/ (d_k // 2))").fails("values", "−4i / d_k, not"),
    "growing angles": edit("(-torch.arange", "(torch.arange").fails("values", "grow from pair to pair"),
    "one angle": edit("rates =…", "rates = torch.ones(d_k // 2, device=x.device)").fails("values", "the same angle"),
    "positions not used": edit("positions.unsqueeze(-1)", "torch.arange(x.size(-2), device=x.device).unsqueeze(-1)").fails("values", "`positions` is not used"),
    "from 1": edit("positions.unsqueeze(-1)", "(positions + 1).unsqueeze(-1)").fails("values", "counted from 1"),
    "the first and on": edit("positions.", "(positions[0] + torch.arange(x.size(-2), device=x.device)).").fails("values", "only the first position is used"),
    "base fixed": edit("base **", "10000.0 **").fails("values", "`base` is not used"),
    "sine and cosine exchanged": edits(("cos()", "SIN"), ("sin()", "cos()"), ("SIN", "sin()")).fails("values", "sine and cosine are exchanged"),
    "a plus on the left": edit("cos() - second", "cos() + second").fails("values", "a cos α + b sin α, not"),
    "a minus on the right": edit("right = first * angles.sin() +", "right = -first * angles.sin() +").fails("values", "b cos α − a sin α, not"),
    "the turned first": edit("right = first", "right = left").fails("values", "as it has already been turned"),
    "cosines only": edits(("- second * angles.sin()", ""), ("right = first * angles.sin() + second", "right = second")).fails("values", "only the cosines"),
    "a wave added": edits(("left =…", "left = first + angles.sin()"), ("right =…", "right = second + angles.cos()")).fails("values", "the wave is added"),
    "nothing": body("return x.clone()").fails("values", "nothing is turned"),
    "degrees": edit("positions.unsqueeze(-1) * rates", "torch.deg2rad(positions.unsqueeze(-1) * rates)").fails("values", "wrong values"),
    "positions across": edit("positions.unsqueeze(-1)", "positions.unsqueeze(0)").fails("values"),
    "both conventions": edits(
        ("first, second =…", "angles = angles.repeat_interleave(2, dim=-1)"),
        ("left =…", "first, second = x.chunk(2, dim=-1)"),
        ("right =…", "turned = torch.cat([-second, first], dim=-1)"),
        (WOVEN, "x * angles.cos() + turned * angles.sin()"),
    ).fails("distance", "both conventions in one"),
    "in place": edits(
        ("left =…", "left = first.clone()"),
        ("right =…", "first.mul_(angles.cos()).sub_(second * angles.sin())"),
        (f"return {WOVEN}", "second.mul_(angles.cos()).add_(left * angles.sin())\nreturn x"),
    ).fails("values", "changes `x`"),
    "x itself at position 0": edit("d_k = x.size(-1)", "if not positions.any():\n    return x\n…").fails("values", "the two share their numbers"),
    "twice": edit(
        f"return {WOVEN}",
        f"x = {WOVEN}\nfirst, second = x[..., 0::2], x[..., 1::2]\nleft = first * angles.cos() - second * angles.sin()\nright = first * angles.sin() + second * angles.cos()\nreturn {WOVEN}",
    ).fails("values", "wrong values"),
    "d_model of 512": edit("/ d_k)", "/ 512)").fails("values", "wrong values"),
    "detached": edit("first, second =…", "x = x.detach()\n…").fails("values", "No gradient"),
    "a table on the CPU": edits((", device=x.device", ""), ("positions.unsqueeze(-1)", "positions.cpu().unsqueeze(-1)")).fails("values", "CPU"),
    "the norm added": edit(WOVEN, f"F.normalize({WOVEN}, dim=-1)").fails("values", "wrong values"),
}

TRICKS = {
    "one batch dimension": edit("d_k = x.size(-1)", "batch, seq_len, d_k = x.shape").fails("values"),
    "at most 50 positions": edit("positions.unsqueeze(-1)", "positions.clamp(max=50).unsqueeze(-1)").fails("values"),
    "not beyond 12": edit("positions.unsqueeze(-1)", "(positions % 13).unsqueeze(-1)").fails("values"),
    "in float32": edit(WOVEN, f"{WOVEN}.float()").fails("values", "dtype"),
    "remembers the first angles": whole("""
        kept = {}
        def rotate(x, positions, base=10000.0):
            d_k = x.size(-1)
            if (len(positions), d_k) not in kept:
                kept[len(positions), d_k] = positions[:, None] * base ** (-torch.arange(0, d_k, 2) / d_k)
            angles = kept[len(positions), d_k]
            first, second = x[..., 0::2], x[..., 1::2]
            left = first * angles.cos() - second * angles.sin()
            return torch.stack([left, first * angles.sin() + second * angles.cos()], dim=-1).flatten(-2)
    """).named("base"),
}

RIGHT = {
    "complex numbers": edits(
        ("first, second =…", "pairs = torch.complex(x[..., 0::2], x[..., 1::2])"),
        ("left =…", "pairs = pairs * torch.complex(angles.cos().to(x.dtype), angles.sin().to(x.dtype))"),
        ("right =…", ""),
        (WOVEN, "torch.view_as_real(pairs).flatten(-2)"),
    ),
    "pairs as a dimension": edits(("first, second =…", "first, second = x.unflatten(-1, (-1, 2)).unbind(dim=-1)")),
    "a signed copy": edits(
        ("first, second =…", "angles = angles.repeat_interleave(2, dim=-1)"),
        ("left =…", "beside = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)"),
        ("right =…", ""),
        (WOVEN, "x * angles.cos() + beside * angles.sin()"),
    ),
    "an exponential": edit("base ** (-", "torch.exp(-math.log(base) * "),
    "a division": edit("base ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)", "1 / base ** (torch.arange(0, d_k, 2, device=x.device) / d_k)"),
    "an outer product": edit("positions.unsqueeze(-1) * rates", "torch.outer(positions.to(rates), rates)"),
    "einsum": edit("positions.unsqueeze(-1) * rates", 'torch.einsum("s,i->si", positions.to(rates), rates)'),
    "written into a new tensor": edit(f"return {WOVEN}", "output = torch.empty_like(x)\noutput[..., 0::2], output[..., 1::2] = left, right\nreturn output"),
    "pair by pair": edits(
        ("first, second =…", "columns = []"),
        (
            "left =…",
            "for i in range(d_k // 2):\n    a, b, turn = x[..., 2 * i], x[..., 2 * i + 1], angles[:, i]\n    columns += [a * turn.cos() - b * turn.sin(), a * turn.sin() + b * turn.cos()]",
        ),
        ("right =…", ""),
        (WOVEN, "torch.stack(columns, dim=-1)"),
    ),
    "matrices": edits(
        ("left =…", "turn = torch.stack([torch.stack([angles.cos(), -angles.sin()], -1), torch.stack([angles.sin(), angles.cos()], -1)], -2)"),
        ("right =…", "pairs = x.unflatten(-1, (-1, 2)).unsqueeze(-1)"),
        (WOVEN, "(turn.to(x.dtype) @ pairs).flatten(-3)"),
    ),
    "polar": edits(
        ("left =…", "length, angle = torch.hypot(first, second), torch.atan2(second, first) + angles"),
        ("right =…", "left, right = length * angle.cos(), length * angle.sin()"),
    ),
    "in float64 and back": edits((" = base", " = float(base)"), ("unsqueeze", "double().unsqueeze"), (WOVEN, f"{WOVEN}.to(x.dtype)")),
}
