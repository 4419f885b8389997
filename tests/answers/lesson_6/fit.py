from answers.writing import BARE, body, edit, edits

WRONG = {
    "one loss, the last": edit("return losses", "return losses[-1]").fails("losses", "should return 4 numbers"),
    "the mean loss": edit("return losses", "return sum(losses) / len(losses)").fails("losses", "should return 4 numbers"),
    "returns nothing": edit("return losses", "").fails("losses", "should return 4 numbers"),
    "tensors": edit("losses.append(train_step(…))", "losses.append(torch.tensor(train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)))").fails(
        "losses", "is a tensor, not a Python number"
    ),
    "newest first": edit("append(", "insert(0, ").fails("losses", "the opposite order"),
    "running means": edit("return losses", "return [sum(losses[:i]) / i for i in range(1, len(losses) + 1)]").fails("losses", "the mean of all so far"),
    "running sums": edit("return losses", "return [sum(losses[:i]) for i in range(1, len(losses) + 1)]").fails("losses", "the sum of all so far"),
    "returns after the first batch": edit("return losses", "    …").fails("losses", "should return 4 numbers"),
    "stops one batch early": edit("for src…", "for src, tgt in list(batches)[:-1]:").fails("losses", "should return 4 numbers", names="from the last batch"),
    "two steps a batch": edit("losses.append(", "train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)\n…").fails("steps", "wrong value"),
    "always the first batch": edit("for src, tgt in batches:", "batches = list(batches)\nfor src, tgt in batches[:1] * len(batches):").fails("losses"),
    "backwards through the batches": edit("for src, tgt in batches:", "for src, tgt in reversed(list(batches)):").fails("losses"),
    "losses without steps": edit(
        "losses.append(…", "with torch.no_grad():\n    labels = tgt[:, 1:]\n    losses.append(label_smoothed_loss(model(src, tgt[:, :-1]), labels).item())"
    ).fails("losses", "hardly moves from batch to batch", names="not moved at all"),
    "all batches first": edit("in batches:", "in list(batches):").fails("steps", "before the step on the previous one"),
    "asks for the length": edit("for src, tgt in batches:", "for i in range(len(batches)):\n    src, tgt = batches[i]").fails("steps", "TypeError"),
    "a new optimizer for each batch": edit("losses.append(", "optimizer = type(optimizer)(model.parameters(), lr=optimizer.param_groups[0]['lr'])\n…").fails(
        "steps", "wrong value", names="schedule does not step"
    ),
    "fetches one batch ahead": edit(
        "losses …rm))",
        "losses, batches = [], iter(batches)\n"
        "ahead = next(batches, None)\n"
        "while ahead is not None:\n"
        "    (src, tgt), ahead = ahead, next(batches, None)\n"
        "    losses.append(train_step(model, optimizer, src.to(device), tgt.to(device), max_grad_norm=max_grad_norm))",
        on=BARE,
    ).fails("steps", "before the step on the previous one"),
    "the schedule never steps": edit("schedule.step()", "pass").fails("schedule", "does not step from batch to batch"),
    "the schedule steps once, in the end": edits(("if schedule…step()", ""), ("return losses", "if schedule is not None:\n    schedule.step()\n…")).fails(
        "schedule", "does not step from batch to batch"
    ),
    "the schedule steps first": edits(("if schedule…step()", ""), ("losses.append(", "if schedule is not None:\n    schedule.step()\n…")).fails(
        "schedule", "steps before the first batch"
    ),
    "the schedule steps twice": edit("schedule.step()", "…\n…").fails("schedule", "steps twice a batch"),
    "the schedule steps, and the rate is halved": edit("schedule.step()", "…\nfor group in optimizer.param_groups:\n    group['lr'] /= 2").fails(
        "schedule", "wrong values"
    ),
    "the schedule steps between batches only": edits(
        ("if schedule…step()", ""), ("losses.append(", "if schedule is not None and losses:\n    schedule.step()\n…")
    ).fails("schedule", "with this schedule the rate is"),
    "a schedule is required": edit("if schedule is not None:", "if True:").fails("losses", "AttributeError"),
    "max_grad_norm is not passed on": edit(", max_grad_norm=max_grad_norm", "").fails("clipping", "not passed on"),
    "max_grad_norm in the place of pad_id": edit("max_grad_norm=max_grad_norm", "max_grad_norm").fails("losses"),
    "clips after the step": edit(", max_grad_norm=max_grad_norm))", "))\nnn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)").fails(
        "clipping", "not passed on"
    ),
    "learns in eval mode": edit("model.train()", "", on="without train_step").fails("steps", "is in eval mode while `fit` trains it"),
    "clips by value": edit("clip_grad_norm_", "clip_grad_value_", on="without train_step").fails("clipping", "wrong value"),
    "no clipping": edit("max_grad_norm=max_grad_norm", "max_grad_norm=1e9").fails("clipping", "wrong value"),
    "a rate of its own": edit("losses.append(", "optimizer.param_groups[0]['lr'] = 0.5\n…").fails("losses"),
    "seeds": edit("losses = []", "…\ntorch.manual_seed(0)").named("seed"),
    "smoothing switched off": edit("max_grad_norm=max_grad_norm", "smoothing=0.0, …").fails("losses", "wrong value"),
    "the batches stay on the CPU": edit("src, tgt = src.to(device), tgt.to(device)", "").fails("steps", "leaves src or tgt on the CPU"),
    "only the source is moved": edit("src, tgt = src.to(device), tgt.to(device)", "src = src.to(device)").fails("steps", "leaves src or tgt on the CPU"),
    "always on the CPU": edit("next(model.parameters()).device", '"cpu"').fails("steps", "leaves src or tgt on the CPU"),
    "the rates instead of the losses": edit(
        "losses.append(…", "train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)\nlosses.append(optimizer.param_groups[0]['lr'])"
    ).fails("losses", "wrong value"),
}

TRICKS = {
    "sorted": edit("return losses", "return sorted(losses, reverse=True)").fails("losses"),
    "a rate that decays without a schedule": edit("if …", "if schedule is None:\n    optimizer.param_groups[0]['lr'] *= 0.99\nelse:").fails("losses"),
    "skips losses that are small": edit("return losses", "return [loss for loss in losses if loss > 2.2]").fails("losses"),
    "at most 20 batches": edit("for src, tgt in batches:", "for _, (src, tgt) in zip(range(20), batches):"),
    "at most 100 batches": edit("for src…", "for _, (src, tgt) in zip(range(100), batches):").fails("losses", "as many losses as there are batches"),
    "stops at a loss that is not finite": edit("if schedule is", "if not math.isfinite(losses[-1]):\n    break\n…").fails("losses", "as many losses as"),
    "the optimizer forgets": edit("losses = []", "…\noptimizer.state.clear()").fails("losses", "two calls in a row"),
    "the rate starts anew": edit("losses …", "…\nfor g in optimizer.param_groups:\n    g['lr'] = g.get('initial_lr', g['lr'])").fails("schedule", "and 1 more"),
    "the schedule starts anew": edit("schedule.step()", "schedule.step(len(losses))").fails("schedule", "and 1 more"),
    "no step of the schedule after an equal loss": edit(" None", " None and losses[-2:-1] != losses[-1:]").fails("schedule", "wrong values in the rates"),
    "moves the model to the batch": edit("src, tgt = src.to(device), tgt.to(device)", "model.to(src.device)").fails("steps", "never calls the model"),
    "dropout switched off for good": edit("losses = []", "…\nfor part in model.modules():\n    if isinstance(part, nn.Dropout):\n        part.p = 0.0").fails(
        "steps", "changes the rate of a dropout"
    ),
    "unfreezes": edit("losses = []", "…\nmodel.requires_grad_(True)").fails("steps", "freezes or unfreezes"),
}

RIGHT = {
    "keeps the rates": edit("schedule.step()", "…\nrate = schedule.get_last_lr()[0]"),
    "bare": edit("losses", "all_losses", on=BARE),
    "by a generator of losses": body("""
        def steps():
            where = next(iter(model.parameters())).device
            for batch in batches:
                src, tgt = (tokens.to(where) for tokens in batch)
                yield train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)
                if schedule:
                    schedule.step()
        return [*steps()]
    """),
    "a while loop": body("""
        losses, left = [], iter(batches)
        while True:
            try:
                src, tgt = next(left)
            except StopIteration:
                return losses
            device = list(model.parameters())[0].device
            src, tgt = src.to(device=device), tgt.to(device=device)
            loss = train_step(model, optimizer, src, tgt, 0, 0.1, max_grad_norm)
            losses += [loss]
            if schedule is not None:
                schedule.step()
    """),
    "enumerate, and a schedule that does nothing": body("""
        step = schedule.step if schedule is not None else lambda: None
        losses = {}
        for i, (src, tgt) in enumerate(batches):
            device = next(model.parameters()).device
            losses[i] = train_step(model, optimizer, src.to(device), tgt.to(device), max_grad_norm=max_grad_norm)
            step()
        return list(losses.values())
    """),
    "without train_step": body("""
        losses = []
        for batch in batches:
            src, tgt = [tokens.to(next(model.parameters()).device) for tokens in batch]
            model.train()
            decoder_input, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, decoder_input), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            if schedule is not None:
                schedule.step()
            losses.append(loss.item())
        return losses
    """),
    "a tuple of NumPy numbers": edits(("return losses", "import numpy as np\nreturn tuple(np.array(losses))"), on=BARE),
    "an iterator and while True": """
        def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
            losses: list[float] = []
            iterator = iter(batches)
            while True:
                try:
                    batch = next(iterator)
                except StopIteration:
                    return losses
                device_of_model = next(model.parameters()).device
                src, tgt = (part.to(device_of_model) for part in batch)
                loss = train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)
                losses.append(loss)
                if schedule:
                    schedule.step()
    """,
}
