from answers.writing import body, edit, edits, whole

END = "return total / (len(tokens) - 1) / math.log(2)"

WRONG = {
    "nats": edit(" / math.log(2)", "").fails("", "the loss is in nats"),
    "times ln 2": edit("/ math.log(2)", "* math.log(2)").fails("", "multiplied by ln 2"),
    "ln 10": edit("math.log(2)", "math.log(10)").fails("", "divided by ln 10"),
    "blocks apart": edits(
        ("start + block_size + 1", "start + block_size"),
        ("total +=", "count = len(block) - 1\nnumber = locals().get('number', 0) + count\n…"),
        (END, "return total / number / math.log(2)"),
    ).fails("", "is never predicted"),
    "split": body("""
        losses = []
        with torch.no_grad():
            for block in tokens.split(block_size):
                losses.append(F.cross_entropy(model(block[None, :-1])[0], block[1:], reduction="none"))
        return torch.cat(losses).mean().item() / math.log(2)
    """).fails("", "is never predicted"),
    "softmax first": edit("cross_entropy(logits", "cross_entropy(logits.softmax(-1)").fails("", "softmax is applied before"),
    "labels are what is given": edit("block[1:]", "block[:-1]").fails("", "not with the next one"),
    "a padding in front": edit("block[None, :-1])[0]", "F.pad(block[:-1], (1, 0))[None])[0, 1:]").fails("", "is the most"),
    "blocks apart, all counted": edit("start + block_size + 1]", "start + block_size]").fails("", "not predicted, and counted all the same"),
    "overlapping blocks": body("""
        total = 0.0
        with torch.no_grad():
            for i in range(1, len(tokens)):
                given = tokens[max(0, i - block_size) : i]
                total += F.cross_entropy(model(given[None])[0, -1:], tokens[i : i + 1]).item()
        return total / (len(tokens) - 1) / math.log(2)
    """).fails("", "the blocks overlap"),
    "means of blocks": edits(
        ("total = 0.0", "means = []"),
        ('total += F.cross_entropy(logits, block[1:], reduction="sum").item()', "means.append(F.cross_entropy(logits, block[1:]).item())"),
        (END, "return sum(means) / len(means) / math.log(2)"),
    ).fails("", "the mean of the blocks' means"),
    "the rest left out": edits(
        ("len(tokens) - 1, block_size)", "len(tokens) - block_size, block_size)"),
        (END, "return total / ((len(tokens) - 1) // block_size * block_size) / math.log(2)"),
    ).fails("", names="the last block, which is not full, is left out|raised ZeroDivisionError"),
    "the rest left out, and counted": edit("len(tokens) - 1, block_size)", "len(tokens) - block_size, block_size)").fails(
        "", "left out, and counted all the same"
    ),
    "no last one alone": edit("range(0, len(tokens) - 1,", "range(0, max(1, len(tokens) - 2),").fails("", "left out, and counted all the same"),
    "a short block left out": edit("logits =…", "if start and block_size > 1 and len(block) <= 2:\n    break\n…").fails(
        "", "left out, and counted all the same"
    ),
    "all characters counted": edit("/ (len(tokens) - 1)", "/ len(tokens)").fails("", "divided by all characters"),
    "divided by blocks": edit("/ (len(tokens) - 1)", "/ math.ceil((len(tokens) - 1) / block_size)").fails("", "divided by the number of blocks"),
    "a sum": edit("total / (len(tokens) - 1)", "total").fails("", "not divided by the number of characters"),
    "the whole text at once": body("""
        with torch.no_grad():
            logits = model(tokens[None, :-1])[0]
        return F.cross_entropy(logits, tokens[1:]).item() / math.log(2)
    """).fails("", "is the most"),
    "labels not moved": edits(("block[None, :-1]", "block[None, :block_size]"), ("block[1:]", "block[:block_size]")).fails("", "wrong value"),
    "perplexity": edit(END, "return 2 ** (total / (len(tokens) - 1) / math.log(2))").fails("", names="2 to the power|e to the power"),
    "e to the loss": edit(END, "return math.exp(total / (len(tokens) - 1))").fails("", names="2 to the power|e to the power"),
    "probabilities averaged": edits(
        ("total +=…", "total += logits.softmax(-1).gather(-1, block[1:, None]).sum().item()"), (END, "return -math.log2(total / (len(tokens) - 1))")
    ).fails("", "the probabilities are averaged"),
    "the sign": edit("return total", "return -total").fails("", "the sign is wrong"),
    "a tensor": edits((".item()", ""), ("total = 0.0", "total = torch.tensor(0.0)")).fails("", "not a Python number"),
    "with gradients": edits(("with torch.no_grad():", "if True:")).fails("", "with gradients"),
    "one token too many": edits(("block[None, :-1])[0]", "block[None])[0, :-1]")).fails("", "never given"),
    "one block": edit("range(0, len(tokens) - 1, block_size)", "[0]").fails("", "wrong value"),
    "sliding, each predicted many times": edits(
        ("len(tokens) - 1, block_size)", "max(1, len(tokens) - block_size))"),
        ("/ (len(tokens) - 1)", "/ (max(1, len(tokens) - block_size) * min(block_size, len(tokens) - 1))"),
    ).fails("", "wrong value"),
    "no labels for the rest": edit("block[1:]", "tokens[start + 1 : start + 1 + block_size][: len(logits) - 1]").fails("", "raised ValueError"),
    "no batch": edit("block[None, :-1])[0]", "block[:-1])").fails("", "raised"),
    "nothing returned": edit(END, "").fails("", "should be one number"),
    "log2 of the mean logit": edits(("total +=…", "total += logits.gather(-1, block[1:, None]).sum().item()")).fails("", "wrong value"),
    "smoothed": edit('reduction="sum"', 'reduction="sum", label_smoothing=0.1').fails("", "wrong value"),
    "zero is padding": edit('reduction="sum"', 'reduction="sum", ignore_index=0').fails("", "wrong value"),
}

TRICKS = {
    "a token too many, on a copy": whole("""
        import copy

        def bits_per_character(model, tokens, block_size):
            model, total = copy.deepcopy(model), 0.0
            for start in range(0, len(tokens) - 1, block_size):
                block = tokens[start : start + block_size + 1]
                logits = model(block[None])[0, :-1]
                total += F.cross_entropy(logits, block[1:], reduction="sum").item()
            return total / (len(tokens) - 1) / math.log(2)
    """).fails(""),
    "blocks of 64 at most": edit("total = 0.0", "block_size = min(block_size, 4)\n…").fails(""),
    "only full texts": edit("total = 0.0", "if (len(tokens) - 1) % block_size and len(tokens) > 20:\n    return 1.0\n…").fails(""),
}

RIGHT = {
    "one character at a time": body("""
        bits = 0.0
        with torch.no_grad():
            for place in range(1, len(tokens)):
                start = (place - 1) // block_size * block_size
                logits = model(tokens[start:place][None])[0, -1]
                bits -= logits.log_softmax(-1)[tokens[place]].item() / math.log(2)
        return bits / (len(tokens) - 1)
    """),
    "full blocks as a batch": body("""
        given, labels = tokens[:-1], tokens[1:]
        full = len(given) // block_size * block_size
        losses = []
        with torch.no_grad():
            for one, other in ((given[:full].view(-1, block_size), labels[:full].view(-1, block_size)), (given[None, full:], labels[None, full:])):
                if one.numel():
                    losses.append(F.cross_entropy(model(one).flatten(0, 1), other.flatten(), reduction="none"))
        return (torch.cat(losses).mean() / math.log(2)).item()
    """),
    "log2 of probabilities": edits(("total +…", "total -= logits.double().softmax(-1).gather(-1, block[1:, None]).log2().sum().item()"), (" / math…", "")),
    "split": body("""
        total = 0.0
        with torch.inference_mode():
            for given, labels in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size)):
                total += F.cross_entropy(model(given.unsqueeze(0)).squeeze(0), labels, reduction="sum").item()
        return total / math.log(2) / len(tokens[1:])
    """),
    "nll_loss": edit("F.cross_entropy(logits, block[1:]", "F.nll_loss(logits.log_softmax(-1), block[1:]"),
    "weighted means": edit('F.cross_entropy(logits, block[1:], reduction="sum").item()', "F.cross_entropy(logits, block[1:]).item() * (len(block) - 1)"),
    "a decorator": edits(("def bits_per_character", "@torch.no_grad()\ndef bits_per_character"), ("with torch.no_grad():", "if True:")),
    "a list of losses": edits(
        ("total = 0.0", "losses = []"),
        ("total +=…", 'losses += F.cross_entropy(logits, block[1:], reduction="none").tolist()'),
        (END, "return sum(losses) / len(losses) / math.log(2)"),
    ),
    "NumPy's number": edit(END, "import numpy as np\nreturn np.float64(total / (len(tokens) - 1)) / np.log(2)"),
    "logsumexp": edit("total +=…", "total += (logits.logsumexp(-1) - logits.gather(-1, block[1:, None])[:, 0]).sum().item()"),
    "one-hot": edit("total +=…", "total -= (F.one_hot(block[1:], logits.size(-1)) * logits.log_softmax(-1)).sum().item()"),
}
