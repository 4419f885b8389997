from answers.writing import body, edit, edits

WRONG = {
    "the source cut to the target's length": edit("model(src,", "model(src[:, : decoder_input.size(1)],").fails("values", "wrong value"),
    "the first rows and columns alone": edit("decoder_input, labels =", "src, tgt = src[:8], tgt[:8, :16]\n…").fails("values", "wrong value"),
    "batches averaged": body("""
        was, losses, hits = model.training, [], []
        model.eval()
        with torch.no_grad():
            for src, tgt in batches:
                given, labels = teacher_forcing(tgt)
                logits, real = model(src, given), labels != pad_id
                losses.append(F.cross_entropy(logits[real], labels[real]).item())
                hits.append((logits.argmax(-1) == labels)[real].float().mean().item())
        model.train(was)
        return sum(losses) / len(losses), sum(hits) / len(hits)
    """).fails("values", "tokens of small batches weigh more"),
    "padding counts": edit("real =…", "real = torch.ones_like(labels, dtype=torch.bool)").fails("values", "padding counts as a label"),
    "padding counts among the hits": edit("[real].", ".").fails("values", "hits on padding count"),
    "divided by all positions": edit("tokens +…", "tokens += real.numel()").fails("values", "number of all positions"),
    "smoothed": edit('reduction="sum"', "…, label_smoothing=0.1").fails("values", "the labels are smoothed"),
    "sums not divided": edit("loss /…", "loss, hits").fails("values", "summed, not averaged"),
    "last batch only": edits(("loss += F", "loss = F"), ("hits += (", "hits = ("), ("tokens += real", "tokens = real")).fails("values", "only the last batch"),
    "returns after the first batch": edit("tokens +…", "…\nbreak").fails("values", "only the first batch counts"),
    "an accuracy that is always 1": edit("hits / tokens", "1.0").fails("values", "wrong value"),
    "percent": edit("hits / tokens", "100 * …").fails("values", "percentage"),
    "hits of the last batch only": edit("hits += (", "hits = (").fails("values", "the hits of the last batch alone"),
    "tokens of the last batch only": edit("tokens += real", "tokens = real").fails("values", "the tokens of the last batch alone"),
    "errors": edit("logits.argmax(-1) == labels", "logits.argmax(-1) != labels").fails("values", "errors are counted"),
    "whole sentences": edits(
        ("hits +…", "hits += ((logits.argmax(-1) == labels) | ~real).all(-1).sum().item()\nrows = locals().get('rows', 0) + len(tgt)"),
        ("hits / tokens", "hits / rows"),
    ).fails("values", "whole sentences are counted"),
    "argmax over the positions": edit("argmax(-1)", "argmax(1)").fails("values", "raised"),
    "exchanged results": edit("loss /…", "hits / tokens, loss / tokens").fails("values", "loss and accuracy are exchanged"),
    "tensors": edit("loss /…", "torch.tensor(loss / tokens), torch.tensor(hits / tokens)").fails("values", "is a tensor, not a Python number"),
    "no shift": edit("decoder_input, labels…", "decoder_input = labels = tgt").fails("values", "the labels are not shifted"),
    "train mode": edit("model.eval()", "").fails("mode", "in train mode"),
    "with gradients": edit("with torch…", "with torch.enable_grad():").fails("mode", "with gradients enabled"),
    "always ends in train mode": edit("(was_training)", "()").fails("mode", "left the model, or a part of it, in train mode"),
    "stays in eval mode": edit("model.train(…", "").fails("mode", "it was in train mode before"),
    "pad id fixed": edit("labels != pad_id", "labels != 0").fails("values", "taken to be 0"),
    "runs over the batches twice": edit("with torch", "count = sum(1 for _ in batches)\n…").fails("values", "raised ZeroDivisionError"),
    "asks for the length": edit("with torch", "count = len(batches)\n…").fails("values", "TypeError"),
    "gradients off for ever": edit("with torch…", "torch.set_grad_enabled(False)\nif True:").fails("mode", "switches gradients off for everybody"),
    "only the model's own flag restored": edit("model.train(…", "model.training = was_training").fails("mode", "left the model, or a part of it, in eval mode"),
    "only the model's own flag set": edit("eval()", "training = False").fails("mode", "or a part of it, in train mode"),
    "parameters frozen": edit("model.eval()", "for p in model.parameters():\n    p.requires_grad_(False)\n…").fails("mode", "are frozen"),
    "BOS counted": edit("tokens +…", "tokens += (tgt != pad_id).sum().item()").fails("values", "BOS is counted"),
    "perplexity": edit("return loss / tokens,", "return math.exp(loss / tokens),").fails("values", "perplexity"),
    "padding marked in place": edits(("logits = model", "labels[labels == pad_id] = -100\n…"), (" != pad_id", " != -100")).fails("values", "changes `tgt`"),
    "a deep copy in train mode": edit("was_training =…eval()", "import copy\n\nmodel, was_training = copy.deepcopy(model), model.training").fails(
        "mode", "in train mode"
    ),
    "unfreezes frozen parameters": edits(("model.eval()", "…\nmodel.requires_grad_(False)"), ("model.train(…", "…\nmodel.requires_grad_(True)")).named(
        "frozen|requires_grad"
    ),
    "switches gradients on for a caller who had them off": edits(
        ("with torch…", "torch.set_grad_enabled(False)\nif True:"), ("model.train(…", "…\ntorch.set_grad_enabled(True)")
    ).named("grad"),
    "index into batches": edit("for src…", "for i in range(len(batches)):\n    src, tgt = batches[i]").named("iterable"),
    "pops the caller's list": edit("for src…", "while batches:\n    src, tgt = batches.pop(0)"),
    "uses encode and decode": edit("logits =…", "logits = model.decode(decoder_input, model.encode(src), src)"),
    "pad hard-coded only in the loss": edit("[real], labels[real]", ".flatten(0, 1), labels.flatten(), ignore_index=0").named("pad_id"),
    "seeds": edit("model.eval()", "…\ntorch.manual_seed(0)").named("seed"),
    "accuracy as tensor": edit("hits / tokens", "torch.tensor(…)").named("number"),
    "whole sentences, over the tokens": edit("hits +…", "hits += ((logits.argmax(-1) == labels) | ~real).all(-1).sum().item()").fails("values", "wrong value"),
    "the greatest of all logits": edit("argmax(-1)", "argmax()").fails("values", "wrong value"),
    "hits at the last position": edit("hits +…", "hits += (logits[:, -1].argmax(-1) == labels[:, -1]).sum().item()").fails("values", "wrong value"),
    "one hit a batch": edit("[real].sum().item()", "[real].any().item()").fails("values", "wrong value"),
    "EOS not counted, but learned": edit("tokens += real", "tokens += (real & (labels != 2))").fails("values", "EOS is not counted, though"),
    "`pad_id` not handed on": edit("F.cross…", "label_smoothed_loss(logits, labels, smoothing=0.0).item() * real.sum().item()").fails(
        "values", "`pad_id` is not handed on"
    ),
    "rounded to three digits": edit("return loss…", "return round(loss / tokens, 3), round(hits / tokens, 3)"),
    "rounded to two digits": edit("return loss…", "return round(loss / tokens, 2), round(hits / tokens, 2)"),
    "EOS not counted": edit("real =…", "real = (labels != pad_id) & (labels != 2)").fails("values", "EOS is left out"),
    "tokens that are not 0 counted": edits(
        ("loss +=…", 'loss += F.cross_entropy(logits.mT, labels, ignore_index=pad_id, reduction="sum").item()'), ("tokens += real", "tokens += (labels != 0)")
    ).fails("values", "number of labels that are not 0"),
    "divided by the sentences": edit("tokens += …", "tokens += len(src)").fails("values", "number of sentences"),
    "tokens given counted": edit("tokens += real", "tokens += (decoder_input != pad_id)").fails("values", "not those that it has to predict"),
    "real where the input is": edit("real = labels", "real = decoder_input").fails("values", "at which the model is given a real token"),
    "compared with the input": edit("== labels)", "== decoder_input)").fails("values", "compared with what it is given"),
    "accuracy of the last batch only": edits(("hits +=", "hits ="), ("hits / tokens", "hits / real.sum().item()")).named("only the last batch counts"),
    "loss weighted by rows": edits(('").item()', "… / real.sum().item() * len(src)"), ("tokens,", "tokens * 1,")),
    "top-2 accuracy": edit("argmax(-1) == labels)", "topk(2, -1).indices == labels[..., None]).any(-1)"),
    "log of the softmax, and a little": edit("F.cross…", "-(logits[real].softmax(-1) + 1e-9).log().gather(-1, labels[real][:, None]).sum().item()").fails(
        "values", "wrong value"
    ),
    "one row is no batch": edit("for src…", "…\n    if len(src) == 1:\n        continue").fails("values", "wrong value"),
    "eval mode only where the model is in train mode": edit("model.eval()", "if was_training:\n    …").fails("mode", "in train mode or with gradients"),
    "measures no model twice": edits(
        ("def evaluate", "known = []\n…"),
        ("was_training =", "for one, result in known:\n    if one is model:\n        return result\n…"),
        ("return loss / tokens, hits / tokens", "known.append((model, (loss / tokens, hits / tokens)))\nreturn known[-1][1]"),
    ).fails("values", "from before the parameters changed"),
    "padding of the source becomes 0": edit("logits =", "src = torch.where(src == pad_id, 0, src)\n…").fails("values", "wrong value"),
}

TRICKS = {
    "eval mode for the model and its children": edit("model.eval()", "for part in [model, *model.children()]:\n    part.training = False").fails(
        "mode", "in train mode"
    ),
    "restored for the model and its children": edit("model.train(…", "for part in [model, *model.children()]:\n    part.training = was_training").fails(
        "mode", "in eval mode"
    ),
    "dropout switched off for good": edit("model.eval()", "…\nfor part in model.modules():\n    if isinstance(part, nn.Dropout):\n        part.p = 0.0").fails(
        "mode", "changes the rate of a dropout"
    ),
    "no token costs more than 50": edit('reduction="sum").item()', 'reduction="none").clamp(max=50).sum().item()').fails("values", "wrong value"),
    "rounded to 4 digits": edit("loss / tokens", "round(loss / tokens, 4)").fails("values", "almost sure"),
    "at most 2 batches": edit("for src…", "for _, (src, tgt) in zip(range(2), batches):").named("the last batch is left out"),
    "cuts every batch to the width of the first": edit("for src…", "…\n    width = locals().get('width', tgt.size(1))\n    tgt = tgt[:, :width]"),
}

RIGHT = {
    "everything collected, then one mean": """
        @torch.no_grad()
        def evaluate(model, batches, pad_id=0):
            mode = model.training
            model.eval()
            losses, hits = [], []
            for src, tgt in batches:
                given, labels = teacher_forcing(tgt)
                logits = model(src, given)
                each = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
                losses += each[labels != pad_id].tolist()
                hits += (logits.argmax(dim=2) == labels)[labels != pad_id].tolist()
            model.train(mode)
            return sum(losses) / len(losses), sum(hits) / len(hits)
    """,
    "inference mode, weighted means, tensors until the end": body("""
        state = model.training
        model.train(False)
        total, correct, count = torch.zeros(()), torch.zeros(()), 0
        try:
            with torch.inference_mode():
                for src, tgt in batches:
                    labels = tgt[:, 1:]
                    logits = model(src, tgt[:, :-1])
                    n = (labels != pad_id).sum().item()
                    mean = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
                    total += mean * n
                    correct += ((logits.max(-1).indices == labels) & (labels != pad_id)).sum()
                    count += n
        finally:
            model.train(state)
        return (total / count).item(), (correct / count).item()
    """),
    "NumPy numbers": """
        import numpy as np
        def evaluate(model, batches, pad_id=0):
            was = model.training
            model.eval()
            losses, hits = [np.zeros(0)], [np.zeros(0)]
            with torch.no_grad():
                for src, tgt in batches:
                    given, labels = teacher_forcing(tgt)
                    real = labels.ne(pad_id)
                    log_probs = model(src, given)[real].log_softmax(-1)
                    losses.append(-log_probs.gather(1, labels[real][:, None])[:, 0].numpy())
                    hits.append((log_probs.argmax(1) == labels[real]).numpy())
            model.train() if was else model.eval()
            return np.concatenate(losses).mean(), np.concatenate(hits).mean()
    """,
    "decorator": edits(
        ("losses, hits…", "total = correct = count = 0"),
        (
            "given,…)[labels != pad_id].tolist()",
            "x, y = teacher_forcing(tgt)\n"
            "logits = model(src, x)\n"
            "mask = y.ne(pad_id)\n"
            "total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=pad_id, reduction='sum').item()\n"
            "correct += ((logits.argmax(-1) == y) & mask).sum().item()\n"
            "count += mask.sum().item()",
        ),
        ("return sum…", "return total / count, correct / count"),
        on="everything collected, then one mean",
    ),
    "inference_mode, try/finally, smoothed loss with 0": edits(
        ("state …), 0", "was = model.training\nmodel.eval()\nloss = hits = n = 0.0"),
        (
            "labels =…+= n",
            "x, y = teacher_forcing(tgt)\n"
            "z = model(src, x)\n"
            "real = int((y != pad_id).sum())\n"
            "loss += float(label_smoothed_loss(z, y, pad_id, 0.0)) * real\n"
            "hits += int((z.max(-1)[1].eq(y) & y.ne(pad_id)).sum())\n"
            "n += real",
        ),
        ("finally…t / count).item()", "finally:\n    model.train(was)\nreturn loss / n, hits / n"),
        on="inference mode, weighted means, tensors until the end",
    ),
    "mode of every module": body("""
        modes = {m: m.training for m in model.modules()}
        model.eval()
        preds, labs, losses = [], [], []
        with torch.no_grad():
            for src, tgt in iter(batches):
                z = model(src, tgt[:, :-1])
                y = tgt[:, 1:]
                r = y != pad_id
                preds.append(z.topk(1, -1).indices[..., 0][r])
                labs.append(y[r])
                losses.append(F.nll_loss(z.log_softmax(-1)[r], y[r], reduction="none"))
        for m, t in modes.items():
            m.training = t
        p, y = torch.cat(preds), torch.cat(labs)
        return torch.cat(losses).mean().item(), (p == y).double().mean().item()
    """),
    "returns a list; weighted means": body("""
        was = model.training
        _ = model.eval()
        rows = []
        with torch.no_grad():
            for src, tgt in batches:
                x, y = teacher_forcing(tgt)
                z, r = model(src, x), y != pad_id
                n = r.sum().item()
                rows.append(
                    (n, F.cross_entropy(z[r], y[r]).item(), (z[r].argmax(-1) == y[r]).float().mean().item())
                )
        model.train(mode=was)
        n = sum(r[0] for r in rows)
        return [sum(r[0] * r[k] for r in rows) / n for k in (1, 2)]
    """),
    "set_grad_enabled restored": body("""
        grad, mode = torch.is_grad_enabled(), model.training
        torch.set_grad_enabled(False)
        model.eval()
        a = b = c = 0
        for batch in batches:
            src, tgt = batch
            x, y = teacher_forcing(tgt)
            z = model(src, x).flatten(0, 1)
            y = y.flatten()
            keep = (y != pad_id).nonzero().squeeze(1)
            z, y = z[keep], y[keep]
            a += F.cross_entropy(z, y, reduction="sum").item()
            b += (z.argmax(1) == y).sum().item()
            c += keep.numel()
        torch.set_grad_enabled(grad)
        model.train(mode)
        return a / c, b / c
    """),
    "helper generator and sums": edits(
        (
            "@torch.…",
            "def _each(model, batches, pad_id):\n"
            "    for src, tgt in batches:\n"
            "        x, y = teacher_forcing(tgt)\n"
            "        with torch.no_grad():\n"
            "            z = model(src, x)\n"
            "        keep = y.flatten() != pad_id\n"
            "        each = F.cross_entropy(z.flatten(0, 1), y.flatten(), reduction='none')[keep]\n"
            "        yield each.sum().item(), (z.argmax(dim=2).flatten() == y.flatten())[keep].sum().item(), keep.sum().item()",
        ),
        ("losses,…)[labels != pad_id].tolist()", "loss, hits, n = map(sum, zip(*_each(model, batches, pad_id)))"),
        ("return sum…", "return loss / n, hits / n"),
        on="everything collected, then one mean",
    ),
    "accumulates tensors on the device": body("""
        was = model.training
        model.eval()
        l = h = n = 0
        with torch.no_grad():
            for src, tgt in batches:
                x, y = teacher_forcing(tgt)
                lp = model(src, x).log_softmax(-1)
                w = (y != pad_id).to(lp.dtype)
                l = l - (lp.gather(-1, y[..., None])[..., 0] * w).sum()
                h = h + ((lp.argmax(-1) == y) * w).sum()
                n = n + w.sum()
        model.train(was)
        return (l / n).item(), float(h / n)
    """),
    "collects the losses and hits of every real token, then averages": """
        def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
            losses, hits = ([], [])
            before = model.training
            model.train(False)
            with torch.no_grad():
                for src, tgt in batches:
                    logits = model(src, tgt[:, :-1])
                    labels = tgt[:, 1:]
                    real = labels != pad_id
                    logits, labels = (logits[real], labels[real])
                    losses += F.cross_entropy(logits, labels, reduction="none").tolist()
                    hits += (logits.argmax(1) == labels).tolist()
            if before:
                model.train()
            return (math.fsum(losses) / len(losses), sum(hits) / len(hits))
    """,
    "no_grad as decorator, mode restored in finally, loss from mean times count": """
        @torch.no_grad()
        def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
            mode = model.training
            sums = [0.0, 0.0, 0]
            try:
                model.eval()
                for src, tgt in batches:
                    decoder_input, labels = teacher_forcing(tgt)
                    logits = model(src, decoder_input)
                    real = labels.ne(pad_id)
                    n = int(real.sum())
                    sums[0] += float(label_smoothed_loss(logits, labels, pad_id, smoothing=0.0)) * n
                    sums[1] += int((logits.argmax(dim=-1)[real] == labels[real]).sum())
                    sums[2] += n
            finally:
                model.train(mode)
            return (sums[0] / sums[2], sums[1] / sums[2])
    """,
    "a helper for one batch, log_softmax and gather": """
        def _measure(model, src, tgt, pad_id):
            decoder_input, labels = teacher_forcing(tgt)
            log_p = model(src, decoder_input).log_softmax(-1)
            real = labels != pad_id
            nll = -log_p.gather(-1, labels[..., None]).squeeze(-1)
            hit = log_p.argmax(-1).eq(labels)
            return (nll[real].sum().item(), hit[real].sum().item(), real.sum().item())
        def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
            was = model.training
            model.eval()
            with torch.no_grad():
                measured = [_measure(model, src, tgt, pad_id) for src, tgt in batches]
            model.train(mode=was)
            loss, hits, tokens = (sum(column) for column in zip(*measured))
            return (loss / tokens, hits / tokens)
    """,
}
