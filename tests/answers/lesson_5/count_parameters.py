from answers.writing import BARE, body, edit, edits

PART_OF = "count_parameters"

WRONG = {
    "counts tensors": edit("p.numel()", "1").fails("", "tensors are counted"),
    "frozen ones too": edit("if p.requires_grad", "").fails("", "frozen parameter is counted"),
    "state_dict": edit("parameters() if p.requires_grad", "state_dict().values()").fails("", "counted twice"),
    "rows only": edit("p.numel()", "len(p)").fails("", "rows are counted"),
    "shared ones twice": edit("p in…)", "module in model.modules() for p in module.parameters(recurse=False)", on=BARE).fails("", "counted twice"),
    "matrices only": edit("if p.requires_grad", "… and p.dim() > 1").fails("", "biases are left out"),
    "prints instead of returning": edits(("return sum(", "print("), ("if p…", "…")).fails("", "should be one number"),
    "weights and biases only": edit(
        "return sum…",
        'found = {id(p): p for m in model.modules() for n in ("weight", "bias") if (p := getattr(m, n, None)) is not None}\n'
        "return sum(p.numel() for p in found.values() if p.requires_grad)",
        on=BARE,
    ).fails("", "MultiheadAttention"),
    "children only": edit("found …", "found = {id(p): p for m in model.children() for p in m.parameters()}", on="weights and biases only").fails("", "Linear"),
    "reduce without a start": edit(
        "return sum…", "from functools import reduce\nreturn reduce(lambda a, b: a + b, [p.numel() for p in model.parameters() if p.requires_grad])"
    ),
    "cat fails on none": edit("return sum…", "return torch.cat([p.flatten() for p in model.parameters() if p.requires_grad]).numel()"),
    "by address": body("return sum({p.data_ptr(): p.numel() for p in model.parameters() if p.requires_grad}.values())").fails("", "addresses, which are all 0"),
    "the sizes of NumPy's arrays": body("return sum(p.detach().numpy().size for p in model.parameters() if p.requires_grad)").fails("", "meta"),
    "prod of two dims": edit("p.numel() for", "p.shape[0] * (p.shape[1] if p.dim() > 1 else 1) for"),
}

TRICKS = {
    "bytes / 4": edit("p.numel() for", "p.nbytes // 4 for").named("dtype"),
    "dedupe by equal values": edit(
        "return sum…",
        "seen = []\n"
        "for p in model.parameters():\n"
        "    if p.requires_grad and not any(p.shape == q.shape and torch.equal(p, q) for q in seen):\n"
        "        seen.append(p)\n"
        "return sum(p.numel() for p in seen)",
    ).named("equal"),
    "freezes everything after counting": edits(("return sum(", "n = sum("), ("if p…", "…\nmodel.requires_grad_(False)\nreturn n")).named("frozen"),
    "counts in millions rounded": edits(("return sum(", "return round(1e-6 * sum("), ("if p…", "…, 3) * 1_000_000")),
}

RIGHT = {
    "a set of identities": body("""
        seen = {id(p): p for module in model.modules() for p in module._parameters.values() if p is not None}
        return sum(math.prod(p.shape) for p in seen.values() if p.requires_grad)
    """),
    "NumPy": edit("n = …rn n", "return np.sum([p.nelement() for _, p in model.named_parameters() if p.requires_grad], dtype=int)", on="numpy prod"),
    "set of ids": body("""
        seen, total = set(), 0
        for module in model.modules():
            for p in module._parameters.values():
                if p is not None and p.requires_grad and id(p) not in seen:
                    seen.add(id(p))
                    total += p.numel()
        return total
    """),
    "math.prod": edit('"""Count…rad)', "return int(sum(math.prod(p.size()) for _, p in model.named_parameters() if p.requires_grad is True))"),
    "set of named with duplicates": body("""
        unique = {p for _, p in model.named_parameters(remove_duplicate=False)}
        return sum(map(torch.numel, filter(lambda p: p.requires_grad, unique)))
    """),
    "numpy prod": """
        import numpy as np
        def count_parameters(model):
            n = 0
            for p in model.parameters():
                if not p.requires_grad:
                    continue
                n += int(np.prod(p.shape))
            return n
    """,
    "nelement, all minus frozen": body("""
        total = sum(p.nelement() for p in model.parameters())
        frozen = sum(p.nelement() for p in model.parameters() if not p.requires_grad)
        return total - frozen
    """),
    "a dict keyed by the Parameter drops duplicates": body("""
        unique = dict.fromkeys((p for _, p in model.named_parameters(remove_duplicate=False) if p.requires_grad))
        return sum((p.numel() for p in unique))
    """),
    "ids of what has been counted, module by module": body("""
        seen, total = (set(), 0)
        for module in model.modules():
            for p in module.parameters(recurse=False):
                if id(p) not in seen and p.requires_grad:
                    seen.add(id(p))
                    total += math.prod(p.shape)
        return total
    """),
}
