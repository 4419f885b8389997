from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "the last row": edit("logits[:, -1]", "logits[-1]").fails("", "last row is taken"),
    "softmax over the rows": edit("logits[:, -1]", "….softmax(0)").fails(""),
    "special tokens cut off": edit("logits[:, -1]", "logits[:, -1, 3:]").fails("", "first word gets the number 0"),
    "the first position": edit("logits[:, -1]", "logits[:, 0]").fails("", "prediction at the first position"),
    "the last but one": edit("logits[:, -1]", "logits[:, -2]").fails("", "last position but one"),
    "the least probable": edit("argmax", "argmin").fails("", "least probable"),
    "all positions": edit("logits[:, -1].argmax", "logits.argmax").fails("", "predictions of all positions"),
    "dimension kept": edit("argmax(dim=-1)", "argmax(dim=-1, keepdim=True)").fails("", "dimension of size 1 is kept"),
    "max for argmax": edit("argmax(dim=-1)", "max(dim=-1).values").fails("", "largest logit is returned"),
    "the first row for all": edit("logits[:…", "logits[:1, -1].argmax(dim=-1).expand(len(tokens))").fails("", "prediction of the first"),
    "over the rows": edit("argmax(dim=-1)", "argmax(dim=0)").fails("", "goes over the rows"),
    "a Python number": edit("argmax(dim=-1)", "…[0].item()").fails(""),
    "encodes again": edit(".decode(tokens, memory, src)", "(src, tokens)").fails("", "runs the encoder again"),
    "source for target": edit("(tokens, memory, src)", "(src, memory, src)").fails("", "given to the decoder: 2"),
    "probabilities rounded": edit("logits[:…", "logits[:, -1].softmax(-1).round()").fails(""),
    "sampled": edit("logits[:…", "logits[:, -1].softmax(-1).multinomial(1)[:, 0]").fails("", "wrong values"),
    "only the last token fed": edit("model.decode(tokens,", "model.decode(tokens[:, -1:],").fails("", "given to the decoder: 1"),
    "never PAD": edit("logits[:…", "logits[:, -1, 1:].argmax(dim=-1) + 1").fails("", "PAD, token 0, is never chosen"),
    "never PAD or BOS": edit("logits[:…", "logits[:, -1, 2:].argmax(dim=-1) + 2").fails("", "PAD, token 0, is never chosen"),
    "the largest in size": edit("logits[:, -1]", "….abs()").fails("", "largest logit without its sign"),
    "squeeze: batch of one": edit("return logits…", "….squeeze()").named("batch|dimension|shape"),
    "sampling at low temperature": edit("return logits…", "return torch.multinomial((10 * logits[:, -1]).softmax(-1), 1).squeeze(1)"),
    "memory replaced by zeros": edit("model.decode(tokens, memory, src)", "model.decode(tokens, torch.zeros_like(memory), src)").named("memory"),
    "tokens handed as src": edit("model.decode(tokens, memory, src)", "model.decode(tokens, memory, tokens)"),
    "switches to train at the end": edit("return logits…", "model.train()\n…").named("mode"),
    "last position that is not 0": edit("return logits…", "last = (tokens != 0).sum(1) - 1\nreturn logits[torch.arange(len(tokens)), last].argmax(-1)").named(
        "pad|last"
    ),
    "the second best when the best repeats": edit(
        "return logits…", "best = logits[:, -1].topk(2).indices\nreturn torch.where(best[:, 0] == tokens[:, -1], best[:, 1], best[:, 0])"
    ).named("repeat"),
    "sum over positions": edit("return logits…", "return logits.sum(1).argmax(dim=-1)"),
    "rounded logits": edit("return logits…", "return logits[:, -1].round().argmax(dim=-1)"),
    "16 bits": edit("logits[:, -1]", "….half()").fails("", "where two tokens are nearly as probable"),
    "bfloat16": edit("logits[:, -1]", "….bfloat16()").fails("", "where two tokens are nearly as probable"),
    "softmax over positions": edit("return logits…", "return logits.softmax(1)[:, -1].argmax(dim=-1)").fails("", "softmax goes over the positions"),
}

TRICKS = {
    "leaves eval mode behind": edit("logits =…", "model.eval()\n…").fails("", "out of train mode"),
    "on the CPU": edit(".argmax(dim=-1)", ".argmax(dim=-1).cpu()").fails("", "is on the device cpu"),
    "the course's own": body("return parts.next_tokens(model, tokens, memory, src)").fails("", "finished `parts.next_tokens`"),
    "the course's own under another name": whole("""
        from autograder.parts import next_tokens as ready
        def next_tokens(model, tokens, memory, src):
            return ready(model, tokens, memory, src)
    """).fails("", "finished `parts.next_tokens`"),
    "argmax of first 9 ids": edit("return logits…", "return logits[:, -1, :9].argmax(dim=-1)"),
    "tokens trimmed to 8 newest": edit("model.decode(tokens,", "model.decode(tokens[:, -8:],").named("tokens"),
}

RIGHT = {
    "topk": body("return model.decode(tokens, memory, src)[:, -1, :].topk(1).indices[:, 0]"),
    "probabilities, max": edits(
        ("probs = F", "probabilities = torch"), ("_, best…", "_, best = probabilities[:, tokens.shape[1] - 1].max(dim=1)"), on="max, softmax, no_grad"
    ),
    "row by row": edit("return logits…", "return torch.stack([row[-1].argmax() for row in logits])", on=BARE),
    "max, softmax, no_grad": """
        @torch.no_grad()
        def next_tokens(model, tokens, memory, src):
            probs = F.softmax(model.decode(tokens, memory, src), dim=-1)
            _, best = probs[:, -1].max(dim=-1)
            return best
    """,
    "log-probabilities": edit("logits[:, -1]", "….log_softmax(-1)"),
    "sort": body("z = model.decode(tokens, memory, src).log_softmax(-1)\nreturn z.select(1, z.size(1) - 1).sort(dim=1, descending=True)[1][:, 0]"),
    "loop": body("z = model.decode(tokens, memory, src)\nreturn torch.tensor([int(row[-1].argmax()) for row in z], device=tokens.device)"),
    "argmax everywhere, last": body("return torch.argmax(model.decode(tokens, memory, src), -1)[:, -1]"),
    "keywords unused; by length": edits(("src):", "…\n    length = tokens.shape[1]"), ("[:, -1].argmax(dim=-1)", "[:, length - 1].argmax(1)"), on=BARE),
    "inference mode": """
        @torch.inference_mode()
        def next_tokens(model, tokens, memory, src):
            return model.decode(tokens, memory, src)[:, -1].argmax(-1).clone()
    """,
    "argsort of transposed": edits(("(tokens, memory, src)", "….transpose(0, 1)[-1]"), ("[:, -1].argmax(dim=-1)", ".argsort(-1)[:, -1]"), on=BARE),
}
