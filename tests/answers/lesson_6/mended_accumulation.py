"""Answers to `mended_accumulation`, lesson 6's hunt."""

from answers.writing import body, edit, edits, whole

AS_IT_IS = """
    optimizer.zero_grad()
    mean_loss = 0.0
    for src_piece, tgt_piece in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
        logits = model(src_piece, tgt_piece[:, :-1]).flatten(0, 1)
        labels = tgt_piece[:, 1:].flatten()
        loss = F.cross_entropy(logits, labels, ignore_index=0) / num_pieces
        loss.backward()
        mean_loss += loss.item()
    optimizer.step()
    return mean_loss
"""

WRONG = {
    "counts what the decoder is given": edit("tgt[:, 1:] != 0", "tgt[:, :-1] != 0").fails("", "not those that it has to predict"),
    "padding is learned": edit(", ignore_index=0", "").fails("", "padding counts as a label, though"),
    "smoothed": edit(", ignore_index=0", ", ignore_index=0, label_smoothing=0.1").fails("", "labels are smoothed"),
    "as it is": body(AS_IT_IS).fails("", "mean losses of the pieces are averaged"),
    "not divided by the pieces": body(AS_IT_IS.replace(" / num_pieces\n", "\n")).fails("", "mean losses of the pieces are added up"),
    "divided by the piece's own tokens": edit("(tgt[:, 1:] != 0).sum()", "(labels != 0).sum()").fails("", "mean losses of the pieces are added up"),
    "own tokens, and the pieces": edit("(tgt[:, 1:] != 0).sum()", "(labels != 0).sum() / num_pieces").fails("", "mean losses of the pieces are averaged"),
    "summed and not divided": edit("loss = loss / …", "").fails("", "added up and not divided"),
    "each piece weighs as much as it has sentences": body(AS_IT_IS.replace("/ num_pieces\n", "* len(tgt_piece) / len(tgt)\n")).fails(
        "", "as much as it has sentences"
    ),
    "divided by the sentences": edit("(tgt[:, 1:] != 0).sum()", "len(tgt)").fails("", "number of sentences"),
    "divided by all positions": edit("(tgt[:, 1:] != 0).sum()", "tgt[:, 1:].numel()").fails("", "padding included"),
    "BOS is counted": edit("(tgt[:, 1:] != 0)", "(tgt != 0)").fails("", "BOS is counted"),
    "padding counts": edits(("ignore_index=0, ", ""), ("(tgt[:, 1:] != 0).sum()", "tgt[:, 1:].numel()")).fails("", "padding counts as a label"),
    "the sum over all real tokens of the source": edit("(tgt[:, 1:] != 0)", "(src != 0)").fails("", "tokens of the source are counted"),
    "the first label is not counted": edit("(tgt[:, 1:] != 0).sum()", "(tgt[:, 2:] != 0).sum()").fails("", "one token less for each sentence"),
    "BOS is counted, and one taken off": edit("(tgt[:, 1:] != 0).sum()", "((tgt != 0).sum() - 1)").fails("", "wrong values"),
    "a target that is shifted the wrong way is counted": edit("(tgt[:, 1:] != 0).sum()", "(tgt.roll(1, 1)[:, :-1] != 0).sum()").fails("", "wrong values"),
    "divided once more": edit("(tgt[:, 1:] != 0).sum()", "(tgt[:, 1:] != 0).sum() / num_pieces").fails("", "once more"),
    "cleared before each piece": edits(("optimizer.zero_grad()", ""), ("logits =", "optimizer.zero_grad()\n…")).fails("", "cleared before each piece"),
    "never cleared": edit("optimizer.zero_grad()", "").fails("", "gradients of the first step are added"),
    "the whole batch at once": edit(
        "losses …0).sum()", "loss = F.cross_entropy(model(src, tgt[:, :-1]).flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=0)", on="one backward in the end"
    ).fails("", "sentences go through the model at once"),
    "the loss right, the gradients not": body("""
        optimizer.zero_grad()
        total = 0.0
        for s, t in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
            loss = F.cross_entropy(model(s, t[:, :-1]).flatten(0, 1), t[:, 1:].flatten(), ignore_index=0)
            (loss / num_pieces).backward()
            total += loss.item() * (t[:, 1:] != 0).sum().item()
        optimizer.step()
        return total / (tgt[:, 1:] != 0).sum().item()
    """).fails("", "mean losses of the pieces are averaged"),
    "the gradients right, the loss not": edit(
        "mean_loss += loss.item()", "mean_loss += F.cross_entropy(logits, labels, ignore_index=0).item() / num_pieces"
    ).fails("", "mean losses of the pieces are averaged"),
    "the loss of the last piece": edit("mean_loss +=", "mean_loss =").fails("", "only the last piece"),
    "a tensor": edits(("mean_loss += loss.item()", "mean_loss += loss.detach()")).fails("", "is a tensor, not a Python number"),
    "no gradients": edit("loss.backward()", "").fails("", "not moved at all"),
    "no step": edit("optimizer.step()", "").fails("", "not moved at all"),
    "a step for each piece": edits(("optimizer.step()", ""), ("loss.backward()", "…\noptimizer.step()")).fails(
        "", "wrong value", names="the optimizer takes a step after"
    ),
    "mean over the lengths of the longest": edit("(tgt[:, 1:] != 0).sum()", "(len(tgt) * (tgt != 0).sum(1).max())").fails("", "wrong value"),
    "steps with train_step": body("return train_step(model, optimizer, src, tgt, smoothing=0.0, max_grad_norm=1e9)"),
    "one backward in the end": body("""
        optimizer.zero_grad()
        losses = [
            F.cross_entropy(model(s, t[:, :-1]).flatten(0, 1), t[:, 1:].flatten(), ignore_index=0, reduction="none").sum()
            for s, t in zip(src.chunk(num_pieces), tgt.chunk(num_pieces))
        ]
        loss = sum(losses) / (tgt[:, 1:] != 0).sum()
        loss.backward()
        optimizer.step()
        return loss.item()
    """).fails("", "still waits for `backward`"),
    "a sentence at a time": body("""
        for parameter in model.parameters():
            parameter.grad = None
        count = tgt[:, 1:].count_nonzero().item()
        losses = []
        for i in range(len(tgt)):
            log_probs = model(src[i : i + 1], tgt[i : i + 1, :-1]).log_softmax(-1)
            labels = tgt[i : i + 1, 1:]
            right = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            loss = -right[labels != 0].sum() / count
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
        return sum(losses)
    """).fails("", "more often in a step than there are pieces"),
}

TRICKS = {
    "the whole batch, on a copy": whole("""
        import copy

        def mended_accumulation(model, optimizer, src, tgt, num_pieces):
            twin = copy.deepcopy(model)
            logits = twin(src, tgt[:, :-1]).flatten(0, 1)
            loss = F.cross_entropy(logits, tgt[:, 1:].flatten(), ignore_index=0)
            loss.backward()
            optimizer.zero_grad()
            (0 * model(src[:1], tgt[:1, :-1]).sum()).backward()
            for p, q in zip(model.parameters(), twin.parameters()):
                if q.grad is not None:
                    (0 * p.sum()).backward()
                    p.grad.copy_(q.grad)
            optimizer.step()
            return loss.item()
    """).fails(""),
    "a shorter batch, cut to fit": edit("for src_piece", "src, tgt = src[:-1], tgt[:-1]\n…").fails("", "wrong value"),
    "at most 4 pieces": edit("optimizer.zero_grad()", "…\nnum_pieces = min(num_pieces, 4)").fails("", "go through the model at once"),
    "the optimizer forgets": edit("optimizer.zero_grad()", "…\noptimizer.state.clear()").fails("", "wrong value"),
    "only the first group divided": edits(
        ("loss = loss /…", ""),
        ("optimizer.step()", "for p in optimizer.param_groups[0]['params']:\n    p.grad /= (tgt[:, 1:] != 0).sum()\n…"),
        ("return mean_loss", "return mean_loss / (tgt[:, 1:] != 0).sum().item()"),
    ).fails("", "a parameter after the step"),
    "clipped to 10": edit("optimizer.step()", "nn.utils.clip_grad_norm_(model.parameters(), 10.0)\n…").fails("", "wrong value"),
    "rounded to 4 digits": edit("return mean_loss", "return round(mean_loss, 4)").fails("", "almost sure"),
    "dropout switched off for good": edit(
        "optimizer.zero_grad()", "…\nfor part in model.modules():\n    if isinstance(part, nn.Dropout):\n        part.p = 0.0"
    ).fails("", "changes the rate of a dropout"),
    "eval mode": edit("optimizer.zero_grad()", "…\nmodel.eval()").fails("", "in train mode out of it"),
}

RIGHT = {
    "pieces of nearly equal size": edits(("src.chunk", "src.tensor_split"), ("tgt.chunk", "tgt.tensor_split")),
    "weighted means": edits((', reduction="sum")', ")"), ("loss = loss / …", "loss = loss * (labels != 0).sum() / (tgt[:, 1:] != 0).sum()")),
    "sums, divided in the end": body("""
        optimizer.zero_grad()
        total, tokens = 0.0, 0
        for s, t in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
            logits, labels = model(s, t[:, :-1]), t[:, 1:]
            loss = F.cross_entropy(logits.movedim(-1, 1), labels, ignore_index=0, reduction="sum")
            loss.backward()
            total, tokens = total + loss.item(), tokens + (labels != 0).sum().item()
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad /= tokens
        optimizer.step()
        return total / tokens
    """),
    "by the course's loss": edits(("loss = F…", "loss = label_smoothed_loss(logits[None], labels[None], 0, 0.0) * (labels != 0).sum()")),
    "an inner function, log_softmax on the real tokens": body("""
        inputs, labels = (tgt[:, :-1], tgt[:, 1:])
        count = torch.count_nonzero(labels)
        def part(s, given, asked):
            real = asked != 0
            log_p = model(s, given)[real].log_softmax(-1)
            loss = -log_p[torch.arange(len(log_p), device=s.device), asked[real]].sum() / count
            loss.backward()
            return loss.item()
        optimizer.zero_grad()
        pieces = zip(src.chunk(num_pieces), inputs.chunk(num_pieces), labels.chunk(num_pieces))
        mean_loss = sum((part(*piece) for piece in pieces))
        optimizer.step()
        return mean_loss
    """),
}
