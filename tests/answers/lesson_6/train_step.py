from answers.writing import BARE, body, edit, edits

WRONG = {
    "eval mode": edit("model.train()", "").fails("mode", "is in eval mode while it learns"),
    "switches to eval mode": edit("model.train()", "model.eval()").fails("mode", "is in eval mode while it learns"),
    "no shift": edit("(src, decoder_input), labels", "(src, tgt), tgt").fails("loss", "nothing is shifted"),
    "input for labels": edit("labels,", "decoder_input,").fails("loss", "the labels are not shifted"),
    "labels for input": edit("(src, decoder_input)", "(src, labels)").fails("loss", "the decoder input is not shifted"),
    "input and labels exchanged": edit("decoder_input, labels", "labels, decoder_input").fails("loss", "exchanged"),
    "smoothing not passed on": edit("pad_id, smoothing", "pad_id").fails("loss", "`smoothing` is not passed on"),
    "pad id not passed on": edit("pad_id, smoothing", "smoothing=smoothing").fails("loss", "`pad_id` is not passed on"),
    "neither passed on": edit("labels, pad_id…", "labels)").fails("loss", "neither `pad_id` nor"),
    "no smoothing": edit("labels, pad_id…", "labels, pad_id, 0.0)").fails("loss", "not smoothed"),
    "returns a tensor": edit("return loss.item()", "return loss").fails("loss", "is a tensor, not a Python number"),
    "returns nothing": edit("return loss.item()", "").fails("loss", "should be one number"),
    "the loss of half a batch": edit("model(src, decoder_input), labels", "model(src[:1], decoder_input[:1]), labels[:1]").fails("loss", "wrong value"),
    "source for target": edit("(src, decoder_input)", "(decoder_input, decoder_input)").fails("loss", "wrong value"),
    "gradients never reset": edit("optimizer.zero_grad()", "").fails("update", "added to those of the second"),
    "the first parameter's gradients reset": edit("optimizer.zero_grad()", "next(model.parameters()).grad = None").fails("update", "model with more than one"),
    "backward twice": edit("loss.backward()", "loss.backward(retain_graph=True)\nloss.backward()").fails("update", "`backward` runs twice"),
    "clips the first parameter": edit("(model.parameters(), max", "(next(model.parameters()), max").fails("clipping", "only the first parameter is clipped"),
    "gradients reset after backward": edit("optimizer.zero_grad()\nloss.backward()", "loss.backward()\noptimizer.zero_grad()").fails(
        "update", "They are zero or not there when `optimizer.step()` is called"
    ),
    "no optimizer step": edit("optimizer.step()", "").fails("update", "or it is not called at all"),
    "no backward": edit("loss.backward()", "").fails("update", "no gradients are computed"),
    "gradients of ones": edit("loss.backward()", "for p in model.parameters():\n    p.grad = torch.ones_like(p)").fails(
        "clipping", "does not go along the gradients"
    ),
    "two steps": edit("optimizer.step()", "optimizer.step()\noptimizer.step()").fails("update", "the optimizer takes it twice"),
    "the source without its end": edit("model(src,", "model(src[:, :-1],").fails("loss", "wrong value"),
    "the source cut to the target's length": edit("model(src,", "model(src[:, : decoder_input.size(1)],").fails("loss", "source and decoder input"),
    "row 0 never learns": edit(
        "loss.backward()", "…\nfor p in model.parameters():\n    if p.grad is not None and p.dim() > 1:\n        p.grad[pad_id] = 0"
    ).fails("update", "model with more than one"),
    "step before backward": edits(("optimizer.step()", ""), ("loss.backward()", "optimizer.step()\n…")).fails("update", "as before `backward()`"),
    "learns from the sum": edit("loss.backward", "(loss * (labels != pad_id).sum()).backward").fails("update", "summed over the tokens instead of averaged"),
    "squared length": edit(
        "nn.utils…",
        "norm = sum(p.grad.pow(2).sum() for p in model.parameters() if p.grad is not None)\n"
        "for p in model.parameters():\n"
        "    if p.grad is not None: p.grad *= min(1, max_grad_norm / norm)",
    ).fails("clipping", "without the root"),
    "clips the first part of the model": edit("(model.", "(next(model.children(), model).").fails("clipping", "or the first part of the model"),
    "clips each part of the model": edit(
        "nn.utils.clip_grad_norm_(model", "for part in list(model.children()) or [model]:\n    nn.utils.clip_grad_norm_(part"
    ).fails("clipping", "or each part of the model"),
    "no clipping": edit("nn.utils…", "").fails("clipping", "not clipped before"),
    "clipping after the step": edit("loss.backward…", "…\noptimizer.step()", on="no optimizer step").fails("clipping", "not clipped before"),
    "clipping before backward": edit("nn.utils…", "…\nloss.backward()", on="no backward").fails("clipping", "not clipped before"),
    "clipping by value": edit("clip_grad_norm_", "clip_grad_value_").fails("clipping", "each number is clipped by itself"),
    "each parameter clipped": edit("nn.utils…", "for p in model.parameters():\n    nn.utils.clip_grad_norm_(p, max_grad_norm)").fails(
        "clipping", "each parameter is clipped by itself"
    ),
    "clipped to 1 always": edit("(), max_grad_norm", "(), 1.0").fails("clipping", "clipped to 1.0"),
    "normalised rather than clipped": edit(
        "nn.utils…",
        "norm = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5\nfor p in model.parameters():\n    p.grad.mul_(min(max_grad_norm, 1.0) / norm)",
    ).fails("update", "wrong value"),
    "EOS never learned": edit("loss = label", "labels = labels.masked_fill(labels == 2, pad_id)\n…").fails("loss", "wrong value"),
    "only the model's own flag": edit("train()", "training = True").fails("mode", "is in eval mode while it learns"),
    "a new optimizer each time": edit("optimizer.zero_grad()", "optimizer = type(optimizer)(model.parameters(), lr=1.0, momentum=0.5)\n…").fails(
        "update", "remembers nothing of the first"
    ),
    "softmax before the loss": edit(", labels,", ".softmax(-1)…").fails("loss", "softmax comes before"),
    "learns the source": edit("teacher_forcing(tgt)", "teacher_forcing(src)").fails("loss", "source is learned"),
    "clipped to ten": edit("(), max_grad_norm", "(), 10.0").fails("clipping", "clipped to 10.0"),
    "clips the first group only": edit(
        "grads =…1e-6))", "nn.utils.clip_grad_norm_(optimizer.param_groups[0]['params'], max_grad_norm)", on="clip by hand"
    ).named("group"),
    "clips each group on its own": edit(
        "grads =…1e-6))", '[nn.utils.clip_grad_norm_(g["params"], max_grad_norm) for g in optimizer.param_groups]', on="clip by hand"
    ).named("group|itself"),
    "clips by hand, fails with parameters without gradient": edits(
        ("grads =…grads))", "norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()"),
        ("g in grads:", "p in model.parameters():"),
        ("g.mul_…", "p.grad *= max_grad_norm / norm"),
        on="clip by hand",
    ).named("None|gradient"),
    "normalises always": edit(
        "grads =…1e-6))",
        "norm = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()\n"
        "for p in model.parameters():\n"
        "    if p.grad is not None: p.grad *= max_grad_norm / norm",
        on="clip by hand",
    ),
    "max norm": edit("grads =…1e-6))", "nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm, norm_type=float('inf'))", on="clip by hand").named(
        "largest gradient"
    ),
    "norm of sum of norms (1-norm of norms)": edit(
        "norm =…", "norm = sum(p.grad.norm() for p in model.parameters() if p.grad is not None)", on="scales with the squared norm"
    ).named("sum of the parameters' lengths"),
    "clips only matrices (skips vectors)": edit(
        "grads =…1e-6))", "nn.utils.clip_grad_norm_([p for p in model.parameters() if p.dim() > 1], max_grad_norm)", on="clip by hand"
    ).named("bias|vector"),
    "smoothing 0 is taken for 0.1": edit("labels, pad_id…", "labels, pad_id, smoothing or 0.1)").named("smoothing"),
    "loss rounded to 2 digits": edit("return loss.item()", "return round(loss.item(), 2)"),
    "loss after the step": edit("return loss.item()", "return label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing).item()").named("after"),
    "global seed": edit("model.train()", "torch.manual_seed(0)\n…").named("seed"),
    "own update p -= lr*grad": edit(
        "grads =…step()",
        "nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)\n"
        "with torch.no_grad():\n"
        "    for p in model.parameters():\n"
        '        p -= optimizer.param_groups[0]["lr"] * p.grad',
        on="clip by hand",
    ).named("optimizer"),
    "closure: optimizer.step(closure) recomputes": body("""
        model.train()
        given, labels = teacher_forcing(tgt)
        def closure():
            optimizer.zero_grad()
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            loss.backward()
            return loss
        loss = closure()
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
        optimizer.step(closure)
        return loss.item()
    """).named("clip"),
    "two micro-batches, mean of means": body("""
        model.train()
        optimizer.zero_grad()
        total = 0.0
        for s, t in zip(src.chunk(2), tgt.chunk(2)):
            given, labels = teacher_forcing(t)
            loss = label_smoothed_loss(model(s, given), labels, pad_id, smoothing) / 2
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
        optimizer.step()
        return total
    """),
    "loss times tokens": edit("return loss.item()", "… * (labels != pad_id).sum().item()").named("the loss is multiplied by the number of real tokens"),
    "tgt padding turned into 0": edit("decoder_input, labels", "tgt = tgt.masked_fill(tgt == pad_id, 0)\n…"),
    "scales with the squared norm": edits(
        ("grads =…grads))", "norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).pow(2).sum()"),
        ("g in grads:", "p in model.parameters():"),
        ("g.mul_…", "if p.grad is not None: p.grad *= max_grad_norm / norm"),
        on="clip by hand",
    ).fails("clipping", "without the root"),
    "encode, decode": edit("model(src, decoder_input)", "model.decode(decoder_input, model.encode(src), src)"),
    "forward twice: dropout differs between loss and gradient": edit(
        "loss.backward()", "label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing).backward()"
    ).named("twice|51%|2 times|dropout after the ReLU"),
    "no step where the gradients are long": edits(("nn.utils", "norm = nn.utils"), ("optimizer.step()", "if norm < 100:\n    …")).fails(
        "clipping", "and the step is taken"
    ),
    "0 is no limit": edit("nn.utils", "if max_grad_norm:\n    nn.utils").fails("clipping", "where they differ most"),
    "a shared parameter counts twice": edit(
        "grads =…None]", "grads = [p.grad for _, p in model.named_parameters(remove_duplicate=False) if p.grad is not None]", on="clip by hand"
    ).fails("clipping", "wrong value"),
    "parts in eval mode stay in it": edit("model.train()", "if not model.training:\n    model.train()").fails("mode", "is in eval mode while it learns"),
    "the loss of a second run, in eval mode": edits(
        ("optimizer.zero", "model.eval()\ntold = label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing)\n…"), ("return loss", "return told")
    ).fails("mode", "runs the model 2 times"),
}

TRICKS = {
    "train mode for the model and its children": edit("model.train()", "for part in [model, *model.children()]:\n    part.training = True").fails(
        "mode", "is in eval mode while it learns"
    ),
    "dropout switched off for good": edit("model.train()", "…\nfor part in model.modules():\n    if isinstance(part, nn.Dropout):\n        part.p = 0.0").fails(
        "mode", "changes the rate of a dropout"
    ),
    "unfreezes": edit("model.train()", "…\nmodel.requires_grad_(True)").fails("mode", "freezes or unfreezes"),
    "the same dropout in every step": edit("loss = label", "with torch.random.fork_rng():\n    torch.manual_seed(0)\n    …").fails(
        "mode", "drop out the same numbers"
    ),
    "rounded to 4 digits": edit("return loss.item()", "return round(loss.item(), 4)").fails("loss", "almost sure"),
    "weight decay by hand": edit("return", "with torch.no_grad():\n    for p in model.parameters():\n        p.mul_(1 - 1e-6)\n…").fails(
        "update", "does not depend on"
    ),
    "at most 64 tokens": edit("model.train()", "…\ntgt = tgt[:, :65]").fails("loss", "wrong value"),
    "learning rate decays on its own": edit("optimizer.step()", "…\nfor g in optimizer.param_groups:\n    g['lr'] *= 0.99999").named("lr|learning rate"),
    "gradients accumulate over four calls (steps every fourth)": edits(
        ("def train_step", "_n = [0]\n…"),
        ("decoder_input, labels", "g, y"),
        ("(src, decoder_input), labels", "(src, g), y"),
        ("optimizer.zero_grad()", "_n[0] += 1"),
        ("return", "if _n[0] % 1 == 0: optimizer.zero_grad()\nif _n[0] > 3: optimizer.param_groups[0]['lr'] = 0.0\n…"),
        on=BARE,
    ),
    "clips at max_grad_norm only above 1": edit(
        "grads =…1e-6))", "if max_grad_norm <= 1:\n    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)", on="clip by hand"
    ).named("the gradients are not clipped before the optimizer uses them"),
    "drops the last row of the batch": edit("decoder_input, labels", "src, tgt = src[:-1] if len(src) > 4 else src, tgt[:-1] if len(tgt) > 4 else tgt\n…"),
}

RIGHT = {
    "zero_grad first, loss as float": edits(
        ("1.0):", "…\n    optimizer.zero_grad(set_to_none=False)"),
        ("loss =…", "logits = model(src, given)"),
        ("optimizer.zero_grad()", "loss = label_smoothed_loss(logits, labels, pad_id=pad_id, smoothing=smoothing)"),
        ("grads =…1e-6))", "torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)"),
        ("loss.item()", "float(loss)"),
        on="clip by hand",
    ),
    "zero_grad last, everything by hand": edits(
        (
            "model.train…zero_grad()",
            "model.train(True)\n"
            "logits, labels = model(src, tgt[:, :-1]), tgt[:, 1:]\n"
            "loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)",
        ),
        ("if norm…1e-6))", "for g in grads:\n    g.mul_(min(1.0, max_grad_norm / (norm.item() + 1e-6)))"),
        ("return loss…", "optimizer.zero_grad()\nreturn loss.detach().cpu().numpy().item()"),
        on="clip by hand",
    ),
    "zero_grad first, None": body("""
        model.train(True)
        optimizer.zero_grad(set_to_none=True)
        x, y = teacher_forcing(tgt)
        logits = model(src, x)
        loss = label_smoothed_loss(logits=logits, labels=y, pad_id=pad_id, smoothing=smoothing)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters=model.parameters(), max_norm=max_grad_norm)
        optimizer.step()
        return float(loss)
    """),
    "zero_grad last, zeros": edits(
        ("device =…tgt.to(device)", ""),
        ("optimizer.zero_grad()", ""),
        ("params =…max_grad_norm)", "nn.utils.clip_grad_norm_(list(model.parameters()), max_grad_norm)"),
        ("return loss…", "optimizer.zero_grad(set_to_none=False)\nreturn loss.detach().cpu().tolist()"),
        on="moves the batch to the model's device; clip of all params in groups",
    ),
    "model.zero_grad, F.cross_entropy of its own": edits(
        ("decoder_input, labels…", "model.zero_grad()"),
        ("loss =…", "logits = model(src, tgt[:, :-1])"),
        ("optimizer.zero_grad()", "loss = F.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=pad_id, label_smoothing=smoothing)"),
        on=BARE,
    ),
    "clip by hand": body("""
        model.train()
        given, labels = teacher_forcing(tgt)
        loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
        optimizer.zero_grad()
        loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
        if norm > max_grad_norm:
            for g in grads:
                g.mul_(max_grad_norm / (norm + 1e-6))
        optimizer.step()
        return loss.item()
    """),
    "torch.autograd.grad, assigned": edits(
        ("device =…tgt.to(device)", ""),
        (
            'optimizer.zero_grad…params"]]',
            "params = [p for p in model.parameters() if p.requires_grad]\n"
            "for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):\n"
            "    p.grad = g",
        ),
        on="moves the batch to the model's device; clip of all params in groups",
    ),
    "closure given to step, computed once": body("""
        model.train()
        def closure():
            optimizer.zero_grad()
            x, y = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            return loss
        return optimizer.step(closure).item()
    """),
    "restores the mode afterwards": edits(
        ("1.0):", "…\n    before = model.training"),
        ("device =…tgt.to(device)", ""),
        ("loss =…", "with torch.enable_grad():\n    …"),
        ("params =…max_grad_norm)", "nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)"),
        ("return", "model.train(before)\n…"),
        on="moves the batch to the model's device; clip of all params in groups",
    ),
    "moves the batch to the model's device; clip of all params in groups": body("""
        model.train()
        device = next(model.parameters()).device
        src, tgt = src.to(device), tgt.to(device)
        x, y = teacher_forcing(tgt)
        loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
        optimizer.zero_grad()
        loss.backward()
        params = [p for group in optimizer.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(params, max_grad_norm)
        optimizer.step()
        return loss.item()
    """),
    "hooks? no: get_total_norm helper functions": edits(
        (
            "def train_step",
            "def _clip(params, limit):\n"
            "    flat = torch.cat([p.grad.flatten() for p in params])\n"
            "    factor = torch.clamp(limit / (flat.norm() + 1e-12), max=1.0)\n"
            "    for p in params:\n"
            "        p.grad = p.grad * factor\n"
            "…",
        ),
        ("grads =…1e-6))", "_clip([p for p in model.parameters() if p.grad is not None], max_grad_norm)"),
        on="clip by hand",
    ),
    "retain_graph and foreach off": edit(
        "loss.backward…1e-6))",
        "loss.backward(retain_graph=True)\nnn.utils.clip_grad_norm_(model.parameters(), max_norm=float(max_grad_norm), norm_type=2.0, foreach=False)",
        on="clip by hand",
    ),
    "nll of log_softmax, model.forward": body("""
        model = model.train()
        [setattr(p, "grad", None) for p in model.parameters()]
        logp = model(src, tgt[:, :-1]).log_softmax(-1)
        y = tgt[:, 1:]
        real = y != pad_id
        nll = -logp.gather(-1, y.unsqueeze(-1)).squeeze(-1)[real]
        loss = ((1 - smoothing) * nll - smoothing * logp.mean(-1)[real]).mean()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm, error_if_nonfinite=False)
        optimizer.step()
        value = loss.item()
        del loss
        return value
    """),
    "backward with inputs, both zero_grads": edits(
        ("loss.backward…", "loss.backward(inputs=[p for p in model.parameters() if p.requires_grad])"),
        ("with….grad", "optimizer.step()\noptimizer.zero_grad()"),
        on="own update p -= lr*grad",
    ),
    "eval afterwards (the mode afterwards is free)": edit("return", "model.eval()\n…"),
    "is the returned loss numpy? float()": edit("loss.item()", "float(loss.detach().numpy())"),
}
