from answers.writing import body, edit, whole

WRONG = {
    "scaled once more": edit("model.tgt_embedding(tokens)", "… * math.sqrt(model.output_projection.in_features)").fails("", "once more; it does that itself"),
    "position alone": edit("x = model.tgt…", "…\nx = torch.zeros_like(x)").fails("", "only its position goes in"),
    "summed": edit("[:, -1:]", ".sum(1, keepdim=True)").fails("", "all tokens are added up"),
    "averaged": edit("[:, -1:]", ".mean(1, keepdim=True)").fails("", "all tokens are averaged"),
    "the layers run, and do not count": edit("return", "run(x)\nrun = lambda x: x\n…").fails("", "what `run` returns is not used"),
    "residual": edit("run(x)", "x + run(x)").fails("", "added to what it returns"),
    "the bug, untouched": body("""
        newest = tokens[:, -1:]
        x = model.tgt_embedding(newest)
        x = model.positional_encoding(x)
        x = run(x)
        return model.output_projection(x)[:, -1].argmax(dim=-1)
    """).fails("", "at position 0, whatever came before", names="position 0"),
    "all positions go through the layers": edit("[:, -1:]", "").fails("", "not the shape of what", names="all positions go through the layers,"),
    "the first position": edit("[:, -1:]", "[:, :1]").fails("", "it is the first token, not the newest"),
    "no place": edit("model.positional_encoding(x)[:, -1:]", "x[:, -1:]").fails("", "not placed at all"),
    "one place too far": body("""
        x = model.tgt_embedding(torch.cat([tokens[:, :1], tokens], dim=1))
        return model.output_projection(run(model.positional_encoding(x)[:, -1:]))[:, -1].argmax(-1)
    """).fails("", "one position too far"),
    "one place too early": body("""
        x = model.tgt_embedding(tokens[:, -1:]) + model.positional_encoding.encoding[max(tokens.size(1) - 2, 0)]
        return model.output_projection(run(x))[:, -1].argmax(-1)
    """).fails("", "one position too early"),
    "placed twice": body("""
        x = model.positional_encoding(model.tgt_embedding(tokens[:, -1:]))
        x = x + model.positional_encoding.encoding[tokens.size(1) - 1]
        return model.output_projection(run(x))[:, -1].argmax(-1)
    """).fails("", "placed twice"),
    "one call for each token": edit("return", "for t in range(tokens.size(1) - 1):\n    run(x)\n…").fails("", "is called 4 times for one token"),
    "the layers left out": edit("run(x)", "x").fails("", "is called 0 times"),
    "logits": edit(".argmax(dim=-1)", "").fails("", "wrong shape"),
    "one column": edit("[:, -1].argmax(dim=-1)", ".argmax(dim=-1)").fails("", "wrong shape"),
    "the least probable": edit("argmax", "argmin").fails("", "wrong"),
    "places for the batch": edit("model.positional_encoding(x)[:, -1:]", "model.positional_encoding(x.transpose(0, 1)).transpose(0, 1)[:, -1:]").fails(""),
    "float32 places": body("""
        x = model.tgt_embedding(tokens[:, -1:]).float() + model.positional_encoding.encoding[tokens.size(1) - 1].float()
        return model.output_projection(run(x))[:, -1].argmax(dim=-1)
    """).fails(""),
}

TRICKS = {
    "in 32 bits": edit(".argmax(dim=-1)", ".argmax(dim=-1).int()").fails("", "wrong dtype"),
    "leaves eval mode behind": edit("x = model.tgt…", "model.eval()\n…").fails("", "out of train mode"),
    "a counter of its own": whole("""
        _calls = [0]
        def mended_next(model, run, tokens):
            x = model.tgt_embedding(tokens[:, -1:]) + model.positional_encoding.encoding[_calls[0] % 40]
            _calls[0] += 1
            return model.output_projection(run(x))[:, -1].argmax(dim=-1)
    """).fails("", "wrong values"),
    "places up to 8": edit("model.positional_encoding(x)[:, -1:]", "model.positional_encoding(x[:, -8:])[:, -1:]").fails(""),
}

RIGHT = {
    "the row of the encoding": body("""
        x = model.tgt_embedding(tokens[:, -1:])
        x = x + model.positional_encoding.encoding[tokens.size(1) - 1]
        return model.output_projection(run(x)).argmax(dim=-1)[:, 0]
    """),
    "the newest, as often as there are tokens": body("""
        newest = model.tgt_embedding(tokens[:, -1:])
        placed = model.positional_encoding(newest.expand(-1, tokens.shape[1], -1))
        logits = model.output_projection(run(placed[:, -1:]))
        return logits.squeeze(1).argmax(-1)
    """),
    "zeros before it": body("""
        x = model.tgt_embedding(tokens[:, -1:])
        x = F.pad(x, (0, 0, tokens.size(1) - 1, 0))
        x = model.positional_encoding(x).narrow(1, tokens.size(1) - 1, 1)
        return model.output_projection(run(x)).squeeze(1).max(dim=-1).indices
    """),
    "what the encoding adds": body("""
        all_tokens = model.tgt_embedding(tokens)
        added = model.positional_encoding(torch.zeros_like(all_tokens))
        return model.output_projection(run((all_tokens + added)[:, -1].unsqueeze(1)))[:, 0].topk(1).indices[:, 0]
    """),
    "a helper for the placed vector, torch.split": """
        def newest_vector(model, tokens: torch.Tensor) -> torch.Tensor:
            return model.positional_encoding(model.tgt_embedding(tokens)).split(1, dim=1)[-1]
        def mended_next(model, run, tokens) -> torch.Tensor:
            return model.output_projection(run(newest_vector(model, tokens))).argmax(dim=-1).flatten()
    """,
    "takes the last vector by index and gives it back its dimension": """
        def mended_next(model, run, tokens) -> torch.Tensor:
            everything = model.tgt_embedding(tokens)
            everything = model.positional_encoding(everything)
            last = everything[:, tokens.shape[1] - 1].unsqueeze(1)
            hidden = run(last)
            scores = model.output_projection(hidden[:, -1])
            return scores.topk(1, dim=-1).indices[:, 0]
    """,
}
