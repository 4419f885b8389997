from answers.writing import BARE, body, edit, edits

WRONG = {
    "max for min": edit("min(", "max(").fails("", "`max` stands in the place"),
    "warm-up to the power of −0.5": edit("warmup_steps**-1.5", "warmup_steps**-0.5").fails("", "exponent −0.5"),
    "no d_model": edit("d_model**-0.5 * ", "").fails("", "not multiplied by d_model^−0.5"),
    "d_model within the minimum": edit("d_model**-0.5 * min(", "min(d_model**-0.5, ").fails("", "not multiplied by d_model^−0.5"),
    "√d_model": edit("d_model**-0.5", "d_model**0.5").fails("", "d_model has the exponent 0.5"),
    "1 / d_model": edit("d_model**-0.5", "d_model**-1").fails("", "exponent −1 instead"),
    "no warm-up": edit("min(…", "step**-0.5").fails("", "no warm-up"),
    "never falls": edit("min(…", "step * warmup_steps**-1.5").fails("", "never falls"),
    "stays at the peak": edit("min(step**-0.5,", "min(warmup_steps**-0.5,").fails("", "stays at its peak"),
    "falls with 1 / step": edit("step**-0.5,", "warmup_steps**0.5 / step,").fails("", "1 / step instead of its root"),
    "step 0 fails": edit("step =…", "").fails("", "ZeroDivisionError"),
    "step 0 has the rate 0": edit("step =…", "if step == 0:\n    return 0.0").fails("", "learning_rate(0, 64, 100)", names="step 0 is given the rate"),
    "steps counted from 0": edit("step =…", "step = step + 1").fails("", "one is added to `step`"),
    "warm-up fixed": edit("warmup_steps**-1.5", "100**-1.5").fails("", "wrong values"),
    "warm-up to the power of −1": edit("warmup_steps**-1.5", "warmup_steps**-1").fails("", "exponent −1 instead of −1.5"),
    "warm-up of the paper": edit("warmup_steps**-1.5", "4000**-1.5").fails("", "and 4000 is"),
    "twice as fast": edit("return d_model", "return 2 * d_model").fails("", "has the factor 2"),
    "falls with 1 / step from the first": edit("step**-0.5,", "step**-1,").fails("", "step has the exponent −1"),
    "minus in front": edit("d_model**-0.5", "-d_model**0.5").fails("", "is −√d_model"),
    "no step above 1": edit("max(step, 1)", "min(step, 1)").fails("", "every step has the rate of step 1"),
    "step forgotten in the warm-up": edit("step * warmup_steps", "warmup_steps").fails("", "factor step is missing"),
    "sum for minimum": edit("min(…", "(step**-0.5 + step * warmup_steps**-1.5)").fails("", "added instead"),
    "rounded to six digits": edits(("return d_model", "return round(d_model"), ("warmup_steps**-1.5)", "…, 6)")),
    "d_model 64": edit("d_model**-0.5", "64**-0.5"),
    "step 0 gives the peak": edit("step =…", "step = step or warmup_steps"),
    "warm-up in integers of 100": body("""
        step = max(step, 1)
        if step <= warmup_steps:
            return d_model**-0.5 * step * warmup_steps**-1.5
        return d_model**-0.5 * (step - warmup_steps) ** -0.5
    """),
}

TRICKS = {
    "floor at 1e-5": edits(("return d_model", "return max(1e-5, d_model"), ("warmup_steps**-1.5)", "…)")),
    "linear fall after 16 warm-ups": edit("return", "if step > 16 * warmup_steps:\n    return 0.0\nreturn"),
    "a string? no: negative powers of int tensors": edit(
        "if step =…step)",
        "step = torch.tensor(max(step, 1))\n"
        "return float(d_model**-0.5 * torch.minimum(step**-0.5, step / warmup_steps**1.5)) if step != warmup_steps else float((d_model*warmup_steps)**-0.5 * 1.0005)",
        on="if and else",
    ),
    "step // warmup": edit("step * warmup_steps**-1.5", "(step * 100 // warmup_steps) / 100 * warmup_steps**-0.5"),
}

RIGHT = {
    "if and else": body("""
        if step == 0:
            step = 1
        if step < warmup_steps:
            return step / (math.sqrt(d_model) * warmup_steps**1.5)
        return 1 / math.sqrt(d_model * step)
    """),
    "NumPy": """
        import numpy as np
        def learning_rate(step, d_model, warmup_steps):
            step = np.maximum(step, 1.0)
            rise = step * np.power(float(warmup_steps), -1.5)
            return np.power(d_model, -0.5) * np.minimum(np.power(step, -0.5), rise)
    """,
    "branches, math.pow": edits(("== 0", "< 1"), ("return step…", "return math.pow(d_model, -0.5) * step * math.pow(warmup_steps, -1.5)"), on="if and else"),
    "torch item": body("s = torch.tensor(float(step)).clamp(min=1)\nreturn (d_model**-0.5 * torch.minimum(s.rsqrt(), s * warmup_steps**-1.5)).item()"),
    "sorted, or": body("s = step or 1\nreturn sorted([s**-0.5, s * warmup_steps**-1.5])[0] / d_model**0.5"),
    "lru_cache": edits(
        ("def learning_rate", "import functools\n@functools.lru_cache(None)\n…"),
        ("max(step, 1)", "1 if step == 0 else step"),
        ("return d_model…", "return (d_model ** (-0.5)) * min(step ** (-0.5), step * (warmup_steps ** (-1.5)))"),
        on=BARE,
    ),
    "Fraction-free: exp/log": body("""
        s = step if step > 0 else 1
        return math.exp(
            -0.5 * math.log(d_model) + min(-0.5 * math.log(s), math.log(s) - 1.5 * math.log(warmup_steps))
        )
    """),
}
