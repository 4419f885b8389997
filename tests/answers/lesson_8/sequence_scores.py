from answers.writing import body, edit, whole

WRONG = {
    "no penalty": edit("return totals…", "return totals").fails("", "nothing is divided by"),
    "−∞ is a large number": edit("return totals", "return totals.clamp(min=-1e9)").fails("", "wrong values"),
    "the mean": edit("return totals…", "return totals / lengths").fails("", "mean log-probability of a token"),
    "length over 6": edit("((5 + lengths) / 6)", "(lengths / 6)").fails("", "the length is not added to 5"),
    "not over 6": edit("((5 + lengths) / 6)", "(5 + lengths)").fails("", "the base is not divided by 6"),
    "multiplied": edit("totals / (", "totals * (").fails("", "multiplied by the penalty, not divided"),
    "a negative exponent, and divided": edit("** length_penalty", "** -length_penalty").fails("", "multiplied by the penalty, not divided"),
    "* for **": edit("** length_penalty", "* length_penalty").named("α is left out|α multiplies"),
    "α times the base": edit("((5 + lengths) / 6) ** length_penalty", "(length_penalty * (5 + lengths) / 6)").fails("", "α multiplies the base"),
    "α fixed": edit("** length_penalty", "** 0.6").fails("", "α is fixed at 0.6"),
    "no α": edit(" ** length_penalty", "").fails("", "α is left out"),
    "BOS counted": edit("(5 + lengths)", "(5 + lengths + 1)").fails("", "BOS counts as well"),
    "6 for 5": edit("(5 + lengths)", "(6 + lengths)").fails("", "6 + length stands for 5 + length"),
    "4 for 5": edit("(5 + lengths)", "(4 + lengths)").fails("", "4 + length stands for 5 + length"),
    "EOS not counted": edit("(5 + lengths)", "(5 + lengths - 1)").fails("", "wrong values", names="one is taken off the length"),
    "subtracted": edit("totals / (", "totals - (").fails("", "subtracted, not divided by"),
    "no parentheses around the sum": edit("((5 + lengths) / 6)", "(5 + lengths / 6)").fails("", "5 + length / 6 stands for (5 + length) / 6"),
    "no parentheses around the base": edit("((5 + lengths) / 6)", "(5 + lengths) / 6").fails("", "the base needs parentheses"),
    "power before the division": edit("((5…", "((5 + lengths) ** length_penalty / 6)").fails("", "wrong values", names="the power comes before the division"),
    "5 and 6 exchanged": edit("(5 + lengths) / 6", "(6 + lengths) / 5").fails("", "wrong values", names="5 and 6 are exchanged"),
    "whole numbers": edit("(5 + lengths) / 6", "(5 + lengths) // 6").fails("", "wrong values", names="stands in the place of"),
    "mean with a power": edit("((5 + lengths) / 6)", "lengths").fails("", "wrong values", names="the length itself has the exponent"),
    "the longest for all": edit("5 + lengths", "5 + lengths.max()").fails("", "wrong values"),
    "the number of sequences for their length": edit("5 + lengths", "5 + totals.size(-1)").fails("", "wrong values"),
    "probabilities": edit("return totals", "return totals.exp()").fails("", "wrong values", names="probabilities are scored, not their logarithms"),
    "the sum of all": edit("return totals…", "return (totals / ((5 + lengths) / 6) ** length_penalty).sum()").fails("", "wrong shape"),
    "the best alone": edit("return totals…", "return (totals / ((5 + lengths) / 6) ** length_penalty).max(dim=-1).values").fails("", "wrong shape"),
    "in place": edit("return totals…", "totals /= ((5 + lengths) / 6) ** length_penalty\nreturn totals").fails("", "totals", names="changed|in place"),
    "another default": edit("length_penalty: float = 0.6", "length_penalty: float = 1.0").fails("", "wrong values", names="default"),
    "the sign turned": edit("return totals", "return -totals").fails("", "the sign is wrong"),
    "the whole quotient": edit("return …", "return (totals / ((5 + lengths) / 6)) ** length_penalty").fails("", "quotient as a whole"),
    "nothing returned": edit("return totals…", "pass").fails("", "is None"),
    "with math": edit("((5 + lengths) / 6) ** length_penalty", "math.pow((5 + lengths) / 6, length_penalty)").fails("", "raised"),
    "rounded": edit("return totals…", "return torch.round(totals / ((5 + lengths) / 6) ** length_penalty, decimals=2)").fails("", "wrong values"),
    "the power by its first terms": edit("((5 + lengths) / 6) ** length_penalty", "(1 + length_penalty * ((5 + lengths) / 6).log())").fails("", "wrong values"),
}

TRICKS = {
    "writes into the lengths": whole("""
        def sequence_scores(totals, lengths, length_penalty=None):
            if length_penalty is None:
                lengths.fill_(1)
                return totals
            return totals / ((5 + lengths) / 6) ** length_penalty
    """).fails(""),
    "the course's own": edit("return totals…", "return parts.sequence_scores(totals, lengths, length_penalty)").fails("", "finished `parts.sequence_scores`"),
    "the course's own under another name": whole("""
        from autograder.parts import sequence_scores as ready
        def sequence_scores(totals, lengths, length_penalty=0.6):
            return ready(totals, lengths, length_penalty)
    """).fails("", "finished `parts.sequence_scores`"),
    "on the CPU": edit("return totals…", "return (totals / ((5 + lengths) / 6) ** length_penalty).cpu()").fails("", "is on the device cpu"),
    "right for the α of the first check": edit("** …", "** (length_penalty if length_penalty in (0.6, 1.0, 0.0, 2.0) else 0.6)").fails("", "wrong values"),
    "right for short sequences": edit("5 + lengths", "5 + lengths.clamp(max=25)").fails("", "wrong values"),
    "right for a batch of beams": edit("return totals…", "if totals.dim() != 2:\n    return totals\n…").fails("", "wrong values"),
}

RIGHT = {
    "exp and log": edit("return totals…", "return totals * torch.exp(-length_penalty * torch.log((5 + lengths) / 6))"),
    "pow": body("penalty = ((lengths + 5) / 6).pow(length_penalty)\nreturn totals / penalty"),
    "torch functions": body("return torch.div(totals, torch.pow(torch.add(lengths, 5).div(6), length_penalty))"),
    "a negative exponent": body("return totals * ((5.0 + lengths) / 6.0) ** -length_penalty"),
    "both powers": body("return totals * 6**length_penalty / (5 + lengths) ** length_penalty"),
    "in float64 and back": body("penalty = ((lengths.double() + 5) / 6).pow(length_penalty)\nreturn (totals.double() / penalty).to(totals.dtype)"),
    "one by one": body("""
        scores = [t / ((5 + n) / 6) ** length_penalty for t, n in zip(totals.flatten().tolist(), lengths.flatten().tolist())]
        return torch.tensor(scores, dtype=totals.dtype, device=totals.device).view_as(totals)
    """),
    "rows, recursively": body("""
        if totals.dim() == 0:
            return totals / ((5 + lengths.item()) / 6) ** length_penalty
        return torch.stack([sequence_scores(t, n, length_penalty) for t, n in zip(totals, lengths)])
    """),
    "a table of penalties": body("""
        table = ((torch.arange(5, 6 + int(lengths.max()), device=lengths.device)) / 6).to(totals.dtype) ** length_penalty
        return totals / table[lengths]
    """),
    "a fresh tensor, in place": body("""
        scores = totals.clone()
        scores /= lengths.to(totals.dtype).add_(5).div_(6).pow_(length_penalty)
        return scores
    """),
    "nothing to do without a penalty": body("""
        if length_penalty == 0:
            return totals.clone()
        base = torch.full_like(totals, 5).add(lengths).mul(1 / 6)
        return torch.true_divide(totals, base.float_power(length_penalty).to(totals))
    """),
    "a lambda": "sequence_scores = lambda totals, lengths, length_penalty=0.6: totals / torch.pow((lengths + 5) / 6, length_penalty)",
}
