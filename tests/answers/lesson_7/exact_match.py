from answers.writing import body, edit, edits

WRONG = {
    "tokens counted": edit(".all(dim=1)", "").fails("", "tokens are counted, not whole rows"),
    "real tokens counted": edit(".all(dim=1)", "[expected != pad_id]").fails("", "real tokens are counted"),
    "cut to the narrower": edit("max(…", "min(predicted.size(1), expected.size(1))").fails("", "not looked at"),
    "padding not compared": edit("(predicted …all", "((predicted == expected) | (expected == pad_id)).all").fails("", "not what was written after them"),
    "one right token is enough": edit(".all(dim=1)", ".any(dim=1)").fails("", "single right token"),
    "all rows or nothing": edit(".all(dim=1)", ".all()").fails("", "1 where all rows are right"),
    "counted": edit(".float().mean()", ".sum()").fails("", "right rows are counted"),
    "wrong ones": edit("return (predicted", "return 1 - (predicted").fails("", "wrong rows are counted"),
    "percent": edit("return (predicted", "return 100 * (predicted").fails("", "percentage"),
    "columns for rows": edit(".all(dim=1)", ".all(dim=0)").fails("", names="columns are counted, not rows"),
    "widths must agree": edit("width =…", "width = predicted.size(1)\nif predicted.shape != expected.shape:\n    return 0.0").fails(
        "", names="rows of different widths are never"
    ),
    "pad id fixed": edit("value=pad_id", "value=0").fails("", "pad_id=9", names="is taken to be 0"),
    "one number for each row": edit(".float(…", ".float()").fails("", "should be one number"),
    "only the predicted is padded": edit("max(…", "expected.size(1)").fails("", "only the prediction is padded"),
    "only the expected is padded": edit("max(…", "predicted.size(1)").fails("", "only what is expected is padded"),
    "sums compared": edit("(predicted == expected).all(dim=1)", "(predicted.sum(1) == expected.sum(1))").fails("", "sums of the rows"),
    "sorted rows": edit(" == expected", ".sort(1).values….sort(1).values").fails("", "in any order"),
    "the first token not looked at": edit(".all", "[:, 1:]…").fails("", "first token is not looked at"),
    "rounded to two digits": edit("return…", "return round((p == e).all(1).float().mean().item(), 2)", on="integer when all right, else fraction of the wider"),
    "strips pads at both ends": edits(
        ("r = …", ""),
        ("return r", "while r and r[0] == pad_id:\n    r.pop(0)\n…"),
        ("rows …(rows)", "return sum(strip(p) == strip(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)"),
        on="lists, stripped",
    ),
    "string compare '1'+'12'": body("""
        def s(r):
            while r and r[-1] == pad_id:
                r = r[:-1]
            return "".join(map(str, r))
        return sum(s(p) == s(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)
    """),
    "string rstrip of the pad digit ('10' loses its 0)": body("""
        s = lambda r: "".join(f"{t}," for t in r).rstrip(f"{pad_id},")
        return sum(s(p) == s(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)
    """),
    "rows as a set": body("s = lambda x: {tuple(t for t in r if t != pad_id) for r in x.tolist()}\nreturn len(s(predicted) & s(expected)) / len(s(expected))"),
    "half precision mean": edit(".float().mean()", ".to(torch.bfloat16).mean()"),
    "padding at the left": edit("(0, width - predicted.size(1))", "(width - predicted.size(1), 0)"),
    "nearly equal": edit("(predicted == expected)", "torch.isclose(predicted.float(), expected.float())").fails("", "250001"),
    "remainder for difference": edit("width - expected", "width % expected").fails(""),
}

TRICKS = {
    "rows as numbers in base 13": edit("(predicted …1)", "((predicted - expected) * 13 ** torch.arange(width)).sum(1).eq(0)").fails("", "wrong value"),
    "integer when all right, else fraction of the wider": body("""
        w = max(predicted.size(1), expected.size(1))
        p = F.pad(predicted, (0, w - predicted.size(1)), value=pad_id)
        e = F.pad(expected, (0, w - expected.size(1)), value=pad_id)
        return (p == e).all(1).sum().item() // len(p) if len(p) == 1 else (p == e).all(1).sum().item() / 4
    """),
    "uint8 compare (ids mod 256)": edit(" == expected", ".to(torch.uint8)….to(torch.uint8)"),
    "float16 compare (ids above 2048 merge)": edit(" == expected", ".to(torch.float16)….to(torch.float16)"),
}

RIGHT = {
    "a wide table of padding": body("""
        n, width = len(expected), max(predicted.shape[1], expected.shape[1])
        tables = torch.full((2, n, width), pad_id)
        tables[0, :, : predicted.shape[1]] = predicted
        tables[1, :, : expected.shape[1]] = expected
        return float((tables[0] != tables[1]).sum(1).eq(0).sum()) / n
    """),
    "cut and rest": body("""
        n = min(predicted.size(1), expected.size(1))
        same = (predicted[:, :n] == expected[:, :n]).all(1)
        same &= (predicted[:, n:] == pad_id).all(1) & (expected[:, n:] == pad_id).all(1)
        return same.double().mean()
    """),
    "lists, stripped": body("""
        def strip(r):
            r = list(r)
            while r and r[-1] == pad_id:
                r.pop()
            return r
        rows = list(zip(predicted.tolist(), expected.tolist()))
        return sum(strip(p) == strip(e) for p, e in rows) / len(rows)
    """),
    "new_full": body("""
        n = max(predicted.shape[1], expected.shape[1])
        a = predicted.new_full((len(predicted), n), pad_id)
        a[:, : predicted.shape[1]] = predicted
        b = expected.new_full((len(expected), n), pad_id)
        b[:, : expected.shape[1]] = expected
        return 1.0 - (a != b).any(-1).double().mean().item()
    """),
    "torch.equal per row": body("""
        w = max(predicted.size(-1), expected.size(-1))
        wide = lambda x: F.pad(x, [0, w - x.size(-1)], "constant", pad_id)
        hits = [torch.equal(p, e) for p, e in zip(wide(predicted), wide(expected))]
        return sum(hits) / len(hits)
    """),
    "common part and rest": body("""
        n = min(predicted.size(1), expected.size(1))
        ok = predicted[:, :n].eq(expected[:, :n]).all(1)
        ok &= predicted[:, n:].eq(pad_id).all(1)
        ok &= (expected[:, n:] == pad_id).all(1)
        return float(ok.float().mean())
    """),
    "prod and numpy": """
        import numpy as np
        def exact_match(predicted, expected, pad_id=0):
            p, e = predicted.cpu().numpy(), expected.cpu().numpy()
            w = max(p.shape[1], e.shape[1])
            p = np.pad(p, ((0, 0), (0, w - p.shape[1])), constant_values=pad_id)
            e = np.pad(e, ((0, 0), (0, w - e.shape[1])), constant_values=pad_id)
            return float((p == e).all(axis=1).mean())
    """,
    "cat; numpy float64 returned": """
        import numpy as np
        def exact_match(predicted, expected, pad_id=0):
            d = predicted.size(1) - expected.size(1)
            fill = torch.full((len(predicted), abs(d)), pad_id, dtype=predicted.dtype, device=predicted.device)
            if d < 0:
                predicted = torch.cat([predicted, fill], 1)
            else:
                expected = torch.cat([expected, fill], 1)
            return np.mean([(a == b).all().item() for a, b in zip(predicted, expected)])
    """,
    "pad_sequence on all rows": body("""
        rows = nn.utils.rnn.pad_sequence([*predicted, *expected], batch_first=True, padding_value=pad_id)
        a, b = rows.chunk(2)
        return ((a - b).abs().sum(1) == 0).float().mean().item()
    """),
    "zip_longest": """
        from itertools import zip_longest
        def exact_match(predicted, expected, pad_id=0):
            same = [
                all(a == b for a, b in zip_longest(p, e, fillvalue=pad_id))
                for p, e in zip(predicted.tolist(), expected.tolist())
            ]
            return same.count(True) / len(same)
    """,
    "sum over rows, int division of Python numbers": edit("float().mean().item()", "sum().item() / len(expected)"),
    "swaps so that the first is the narrower one, and appends a block of padding": """
        def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
            if predicted.size(1) > expected.size(1):
                predicted, expected = (expected, predicted)
            missing = expected.size(1) - predicted.size(1)
            block = predicted.new_full((predicted.size(0), missing), pad_id)
            equal = torch.eq(torch.cat([predicted, block], dim=1), expected)
            return float(equal.all(dim=-1).float().mean())
    """,
    "pad_sequence on the transposed tensors, rows wrong anywhere counted": """
        def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
            both = nn.utils.rnn.pad_sequence([predicted.T, expected.T], padding_value=pad_id)
            wrong = (both[:, 0] != both[:, 1]).any(dim=0)
            return 1.0 - wrong.float().mean().item()
    """,
}
