from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "padding where it goes on": edit("masked_fill(ended", "masked_fill(~ended").fails("tokens", "only 0 follows BOS"),
    "rows go on": edit("following = following…", "following = following").fails("tokens", "go on after their EOS", names="rows never end"),
    "filled with EOS": edit("masked_fill(…", "masked_fill(ended, eos_id)").fails("tokens", "filled with EOS"),
    "no BOS": edit("return tokens", "…[:, 1:]").fails("tokens", "BOS is left out"),
    "EOS not written": edit("return tokens", "….masked_fill(tokens == eos_id, pad_id)").fails("tokens", "EOS is left out"),
    "one row stops all": edit("not ended.all()", "not ended.any()").fails("tokens", "one row that ends stops all"),
    "the last row stops all": edit("not ended.all()", "not ended[-1]").fails("tokens", "one row that ends stops all"),
    "stops before EOS is appended": edit("following = following…", "…\nif (ended | (following == eos_id)).all():\n    break").fails(
        "tokens", "the last token is missing"
    ),
    "ended only at the moment": edit("ended = ended…", "ended = following == eos_id").fails("tokens", "forgotten after one step of padding"),
    "the first row for all": edit("next_tokens(…", "…[:1].expand(len(src))").fails("tokens", "tokens of the first"),
    "begins with PAD": edit("(len(src), 1), bos_id", "(len(src), 1), pad_id").fails("tokens", "wrong shape"),
    "only for one row": edit("(len(src), 1), bos_id", "(1, 1), bos_id").fails("tokens"),
    "the target from one call": edit(
        "training …ing)", "with torch.no_grad():\n    return model(src, src).argmax(-1)", on="for and break, try and finally"
    ).fails("tokens"),
    "special tokens fixed": edits(("bos_id,", "1,"), ("ended, pad_id", "ended, 0"), ("= eos_id", "= 2")).fails("tokens", "bos_id="),
    "BOS counted": edit("tokens.size(1) <= max_len", "tokens.size(1) < max_len").fails("length", "BOS counts as one"),
    "one too many": edit("tokens.size(1) <= max_len", "… + 1").fails("length", "one token too many"),
    "max_len fixed": edit("tokens.size(1) <= max_len", "tokens.size(1) <= 10").fails("length", "not the shape of the words"),
    "encodes at every step": edit("memory,", "model.encode(src),").fails("mode", "The encoder runs 6 times"),
    "train mode": edit("model.eval()", "model.train()").fails("mode", "runs in train mode"),
    "mode as it comes": edit("model.eval()", "").fails("mode", "runs in train mode"),
    "with gradients": edit("with torch…", "with torch.enable_grad():").fails("mode", "with gradients enabled"),
    "asks the model, and does not listen": edit(
        "memory …s_id)", "tokens = torch.full((len(src), 1), bos_id)\nnext_tokens(model, tokens, model.encode(src), src)", on=BARE
    ).fails("mode", "are not those that the model says"),
    "stays in eval mode": edit("model.train(…", "").fails("mode", "was in train mode is not"),
    "always back to training": edit("model.train(…", "model.train()").fails("mode", "was in eval mode is not"),
    "a loop without an end": edit("while tokens…", "while not ended.all():").fails("length", "Does your loop end?"),
    "BOS as wide as the source": edit("(len(src), 1)", "src.shape").fails("length", "not the shape of the words"),
    "nothing returned": edit("return tokens", "").fails("tokens", "is None"),
    "gradients off for ever": edit("with torch…", "torch.set_grad_enabled(False)\nif True:").fails("mode", "switches gradients off for everybody"),
    "only the model's own flag restored": edit("model.train(…", "model.training = was_training").fails("mode", "not as a whole, in it afterwards"),
    "what is written is not read": edit("model, tokens", "model, torch.full_like(tokens, bos_id)").fails("tokens"),
    "the source as what has been written": edit("model, tokens", "model, F.pad(src, (1, max_len), value=bos_id)[:, : tokens.size(1)]").fails("tokens"),
    "never ends": edits(("following = following…", "following = following"), ("ended = ended…", "pass")).fails("tokens", "never end, and go on"),
    "one step": edit("ended = ended…", "break").fails("tokens"),
    "squeezed": edit("return tokens", "….squeeze()").fails("tokens", "two dimensions"),
    "zeros behind the end": edit("return tokens", "return F.pad(tokens, (0, max_len + 1 - tokens.size(1)))").fails("tokens", "something other than pad_id="),
    "returns early at EOS, mode not restored where max_len ends it": edit(
        "break…was)", "model.train(was)\nreturn tokens", on="after max_len EOS is forced"
    ).named("mode"),
    "mode not restored when all end early": edit("break", "return tokens", on="for/break").named("mode"),
    "a predicted pad ends a row": edit("new == eos_id", "(…) | (new == pad_id)", on="for/break").named("pad"),
    "do-while: max_len 0 gives one token": edits(
        (
            "tokens = torch.full…, new)",
            "tokens = torch.full((len(src), 1), bos_id, device=src.device)\n"
            "done = torch.zeros(len(src), dtype=torch.bool, device=src.device)\n"
            "while True:\n"
            "    new = next_tokens(model, tokens, memory, src).masked_fill(done, pad_id)",
        ),
        ("all()", "… or tokens.size(1) > max_len"),
        on="for/break",
    ).named("max_len"),
    "pads by multiplication (0)": edit("new = torch…", "new = new * ~done", on="for/break").named("pad_id"),
    "eos hard-coded": edit("= eos_id", "= 2", on="for/break").named("eos_id"),
    "gradients turned on at the end for a caller without": edits(
        ("with torch…", "torch.set_grad_enabled(False)\nif True:"), ("(was)", "…\ntorch.set_grad_enabled(True)"), on="for/break"
    ).named("grad"),
    "tokens on the CPU": edits(("long, device=src.device", "long"), ("bool, device=src.device", "bool"), on="for/break").named("device"),
    "freezes parameters": edit("eval()", "…\nmodel.requires_grad_(False)", on="for/break").named("frozen"),
    "rows one by one, encoder per row": body("""
        rows = []
        was = model.training
        model.eval()
        with torch.no_grad():
            for s in src:
                s = s[None]
                memory = model.encode(s)
                t = torch.full((1, 1), bos_id, device=src.device)
                while t.size(1) <= max_len and t[0, -1] != eos_id:
                    t = torch.cat([t, next_tokens(model, t, memory, s)[:, None]], 1)
                rows.append(t[0])
        model.train(was)
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    """).named("encoder"),
    "after max_len EOS is forced": edit("model.train(", "tokens[~done, -1] = eos_id\n…", on="for/break").named("EOS"),
    "seed": edit("eval()", "…\ntorch.manual_seed(0)", on="for/break").named("seed"),
    "padding of the source is cut from src only": edit("was =", "src = src[:, :int((src != pad_id).sum(1).min())]\n…", on="for/break"),
    "the same memory of row 0 for all": edit("(src)", "(src)[:1].expand(len(src), -1, -1)", on="for/break"),
    "memory zeroed (not used)": edit("model.encode(src)", "torch.zeros_like(…)", on="for/break").named("memory"),
    "encoder before eval": edits(("model.eval()", ""), ("(src)", "…\nmodel.eval()"), on="for/break").named("mode|dropout"),
    "first row decides": edit(".all()", "[0]", on="for/break"),
    "ended rows are never fed: pads before them shift (left padding)": edit("return tokens", "….flip(1)", on="for/break"),
    "int32 tokens": edits(("long", "int32"), ("new)", "….int()"), on="for/break").named("dtype"),
    "hooks of model: dropout p set to 0": edit("eval()", "…\nfor m in model.modules():\n    if isinstance(m, nn.Dropout): m.p = 0.0", on="for/break").named(
        "dropout"
    ),
    "own argmax that forbids pad": edit(
        "new = next_tokens…", "new = model.decode(tokens, memory, src)[:, -1].index_fill(-1, torch.tensor([pad_id]), -1e9).argmax(-1)", on="for/break"
    ).named("pad"),
    "min length of 1: EOS not allowed first": edits(
        ("_ in", "i in"),
        (", new)", ", new)\nif i == 0: new = torch.where(new == eos_id, model.decode(tokens, memory, src)[:, -1].topk(2).indices[:, 1], new)"),
        on="for/break",
    ),
    "ended rows on the CPU": edit("dtype=torch.bool, device=src.device", "dtype=torch.bool").fails("tokens", "uses a tensor on the CPU"),
    "what is written on the CPU": edit("bos_id, device=src.device", "bos_id").fails("tokens", "uses a tensor on the CPU"),
    "at the limit EOS is forced on rows beside ended ones": edit("model.train(…", "if ended.any():\n    tokens[~ended, -1] = eos_id\n…").fails(
        "length", "get an EOS in place of their last token"
    ),
    "at the limit padding is forced on rows beside ended ones": edit("model.train(…", "if ended.any():\n    tokens[~ended, -1] = pad_id\n…").fails(
        "length", "get padding in place of their last token"
    ),
    "cut off at the end of the longest row that has ended": edit(
        "model.train(…", "if ended.any():\n    tokens = tokens[:, : int((tokens[ended] == eos_id).int().argmax(1).max()) + 1]\n…"
    ).fails("length", "cut off where the last of those that have ended"),
    "rows that have ended come first": edit("model.train(…", "tokens = tokens[ended.long().argsort(descending=True)]\n…").fails("length", "wrong values"),
    "as many tokens as there are rows, less one": edit("<= max_len", "< min(len(src), max_len + 1)").fails("tokens", "wrong shape"),
    "twice as many tokens as there are rows": edit("<= max_len", "<= min(2 * len(src), max_len)").fails("tokens", "wrong shape"),
    "a word that comes again and again is taken for the end": edit(
        "ended = ended…", "…\nif tokens.size(1) > 4:\n    ended = ended | (tokens[:, -4:] == tokens[:, -1:]).all(1)"
    ).fails("tokens", "wrong shape"),
    "ended rows begin again": edit("ended |", "ended ^").fails("tokens", "something other than pad_id=3"),
}

TRICKS = {
    "modes of the model and its children alone": edits(("model.eval()", "for part in [model, *model.children()]:\n    part.training = False")).fails(
        "mode", "in train mode"
    ),
    "unfreezes": edit("return tokens", "model.requires_grad_(True)\n…").fails("mode", "no longer frozen"),
    "copies the source": edit("model.train(…tokens", "model.train(was_training)\nreturn F.pad(src, (1, 4), value=bos_id)").fails("tokens", "wrong values"),
    "the course's own": whole("greedy_decode = parts.greedy_decode").fails("tokens", "finished `parts.greedy_decode`"),
    "never more than 20": edit("(max_len)", "(min(max_len, 20))", on="for/break").named("max_len"),
    "never more than twice the source": edit("(max_len)", "(min(max_len, 2 * src.size(1) + 2))", on="for/break").named("max_len|source"),
    "memory cached by shape": edits(
        ("def greedy_decode", "_MEM = {}\n…"),
        ("memory =…", "key = tuple(src.shape)\nif key not in _MEM:\n    _MEM[key] = model.encode(src)\nmemory = _MEM[key]"),
        on="for/break",
    ),
}

RIGHT = {
    "for and break, try and finally": body("""
        training = model.training
        model.eval()
        try:
            with torch.inference_mode():
                memory = model.encode(src)
                out = src.new_full((src.size(0), 1), bos_id)
                done = torch.zeros_like(out[:, 0], dtype=torch.bool)
                for _ in range(max_len):
                    new = model.decode(out, memory, src)[:, -1].argmax(-1)
                    new = torch.where(done, torch.full_like(new, pad_id), new)
                    out = torch.cat((out, new[:, None]), 1)
                    done |= new.eq(eos_id)
                    if done.all():
                        break
                return out
        finally:
            model.train(training)
    """),
    "a prepared tensor, filled to the end": """
        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            mode = model.training
            model.train(False)
            memory = model.encode(src)
            out = torch.full((len(src), max_len + 1), pad_id, dtype=torch.long, device=src.device)
            out[:, 0] = bos_id
            alive = torch.ones(len(src), dtype=torch.bool, device=src.device)
            for t in range(1, max_len + 1):
                new = next_tokens(model, out[:, :t], memory, src)
                out[alive, t] = new[alive]
                alive = alive & (new != eos_id)
            model.train(mode)
            return out
    """,
    "row by row, padded at the end": body("""
        was = model.training
        model.eval()
        with torch.no_grad():
            memory, rows = model.encode(src), []
            for i in range(len(src)):
                row = [bos_id]
                while len(row) <= max_len and (len(row) == 1 or row[-1] != eos_id):
                    tokens = torch.tensor([row], device=src.device)
                    row.append(int(next_tokens(model, tokens, memory[i : i + 1], src[i : i + 1])))
                rows.append(row)
        width = max(map(len, rows))
        model.train(was)
        return torch.tensor([row + [pad_id] * (width - len(row)) for row in rows], device=src.device)
    """),
    "columns in a list": body("""
        was = model.training
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            columns = [torch.full((src.shape[0],), bos_id, device=src.device)]
            unfinished = torch.ones_like(columns[0])
            while len(columns) < max_len + 1 and unfinished.sum() > 0:
                new = next_tokens(model, torch.stack(columns, 1), memory, src)
                new = new * unfinished + pad_id * (1 - unfinished)
                columns.append(new)
                unfinished = unfinished * (new != eos_id)
        if was:
            model.train()
        return torch.stack(columns, dim=1)
    """),
    "a deep copy decodes": """
        import copy
        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            model = copy.deepcopy(model).eval()
            memory, tokens = model.encode(src), torch.full_like(src[:, :1], bos_id)
            while tokens.size(1) <= max_len:
                ended = (tokens == eos_id).any(dim=1)
                if ended.all():
                    break
                chosen = next_tokens(model, tokens, memory, src).masked_fill(ended, pad_id)
                tokens = torch.hstack([tokens, chosen[:, None]])
            return tokens
    """,
    "for/break": body("""
        was = model.training
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
            done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
            for _ in range(max_len):
                new = next_tokens(model, tokens, memory, src)
                new = torch.where(done, pad_id, new)
                tokens = torch.cat([tokens, new[:, None]], 1)
                done |= new == eos_id
                if done.all():
                    break
        model.train(was)
        return tokens
    """),
    "preallocated, full width": body("""
        was = model.training
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            out = src.new_full((src.shape[0], max_len + 1), pad_id)
            out[:, 0] = bos_id
            alive = torch.ones_like(out[:, 0], dtype=torch.bool)
            for t in range(1, max_len + 1):
                if not alive.any():
                    break
                new = next_tokens(model, out[:, :t], memory, src)
                out[alive, t] = new[alive]
                alive = alive & new.ne(eos_id)
        model.train(was)
        return out
    """),
    "never stops early, cleans afterwards": body("""
        was = model.training
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            t = torch.full_like(src[:, :1], bos_id)
            for _ in range(max_len):
                t = torch.cat((t, next_tokens(model, t, memory, src).unsqueeze(-1)), dim=-1)
        ended = (t[:, 1:] == eos_id).long().cumsum(1)
        after = F.pad(ended, (1, 0))[:, :-1] > 0
        after = F.pad(after, (1, 0))[:, : t.size(1)]
        t[after] = pad_id
        model.train(was)
        return t
    """),
    "rows one by one with one memory": body("""
        was = model.training
        model.eval()
        rows = []
        with torch.no_grad():
            memory = model.encode(src)
            for i in range(len(src)):
                t = torch.tensor([[bos_id]], device=src.device)
                while t.size(1) < max_len + 1:
                    new = next_tokens(model, t, memory[i : i + 1], src[i : i + 1])
                    t = torch.cat([t, new.view(1, 1)], 1)
                    if new.item() == eos_id:
                        break
                rows.append(t[0])
        model.train(was)
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    """),
    "only living rows decoded": body("""
        was = model.training
        model.eval()
        try:
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((len(src), 1), bos_id, dtype=torch.long, device=src.device)
                alive = torch.arange(len(src), device=src.device)
                for _ in range(max_len):
                    if alive.numel() == 0:
                        break
                    new = torch.full((len(src),), pad_id, dtype=torch.long, device=src.device)
                    chosen = next_tokens(model, tokens[alive], memory[alive], src[alive])
                    new[alive] = chosen
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    alive = alive[chosen != eos_id]
        finally:
            model.train(was)
        return tokens
    """),
    "no_grad decorator, list of columns, stack": """
        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            memory = model.encode(src)
            cols = [torch.full((src.size(0),), bos_id, device=src.device)]
            open_ = torch.ones(src.size(0), dtype=torch.bool, device=src.device)
            while len(cols) <= max_len and bool(open_.any()):
                new = next_tokens(model=model, tokens=torch.stack(cols, 1), memory=memory, src=src)
                cols.append(torch.where(open_, new, torch.full_like(new, pad_id)))
                open_ = open_ & (new != eos_id)
            model.train(was)
            return torch.stack(cols, dim=1)
    """,
    "context manager of its own, own argmax": """
        from contextlib import contextmanager
        @contextmanager
        def evaluating(model):
            modes = [(m, m.training) for m in model.modules()]
            model.eval()
            try:
                with torch.no_grad():
                    yield
            finally:
                for m, t in modes:
                    m.training = t
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            with evaluating(model):
                memory = model.encode(src)
                t = src.new_full((len(src), 1), bos_id)
                for i in range(max_len):
                    t = torch.cat([t, model.decode(t, memory, src)[:, -1:].argmax(-1)], 1)
                    seen = (t[:, 1:] == eos_id).cumsum(1).cumsum(1) > 1
                    t[:, 1:][seen] = pad_id
                    if (t[:, 1:] == eos_id).any(1).all():
                        break
            return t
    """,
    "generator": """
        def _steps(model, tokens, memory, src, n):
            for _ in range(n):
                new = yield tokens
                tokens = torch.cat([tokens, new.unsqueeze(1)], 1)
            yield tokens
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((len(src), 1), bos_id, device=src.device)
                gen = _steps(model, tokens, memory, src, max_len)
                tokens = next(gen)
                ended = torch.zeros(len(src), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new[ended] = pad_id
                    ended.logical_or_(new == eos_id)
                    tokens = gen.send(new)
                    if ended.all():
                        break
            model.train(was)
            return tokens
    """,
    "inference_mode decorator": edits(("def greedy_decode", "@torch.inference_mode()\n…"), ("with torch…", "if True:"), on="for/break"),
    "stops late, trailing columns of padding": edit("done.", "(new == eos_id).", on="for/break"),
    "recursion": body("""
        was = model.training
        model.eval()
        def write(tokens, ended, left):
            if left == 0 or ended.all():
                return tokens
            new = next_tokens(model, tokens, memory, src).where(~ended, pad_id)
            return write(torch.hstack([tokens, new[:, None]]), ended | (new == eos_id), left - 1)
        with torch.no_grad():
            memory = model.encode(src)
            tokens = torch.tensor([[bos_id]] * len(src), device=src.device)
            tokens = write(tokens, torch.zeros(len(src), device=src.device).bool(), max_len)
        model.train(was)
        return tokens
    """),
    "python sets of ended rows": body("""
        was = model.training
        model.eval()
        rows, ended = [[bos_id] for _ in src], set()
        with torch.no_grad():
            memory = model.encode(src)
            while len(rows[0]) - 1 < max_len and len(ended) < len(rows):
                new = next_tokens(model, torch.tensor(rows, device=src.device), memory, src).tolist()
                for i, t in enumerate(new):
                    rows[i].append(pad_id if i in ended else t)
                    if t == eos_id:
                        ended.add(i)
        if was:
            model.train()
        return torch.tensor(rows, device=src.device)
    """),
    "zeros, fills by index_put, int counter": body("""
        training = model.training
        model.train(False)
        with torch.set_grad_enabled(False):
            memory, n = model.encode(src), src.size(0)
            lengths = torch.zeros(n, dtype=torch.long, device=src.device)
            tokens, step = torch.ones(n, 1, dtype=torch.long, device=src.device) * bos_id, 0
            while step < max_len and (lengths == 0).any():
                step += 1
                nxt = next_tokens(model, tokens, memory, src)
                nxt = nxt * (lengths == 0) + pad_id * (lengths > 0)
                lengths[(nxt == eos_id) & (lengths == 0)] = step
                tokens = torch.column_stack([tokens, nxt])
        model.train(training)
        return tokens
    """),
    "a list of columns, stacked for each step; ended found by looking for EOS": """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
            training = model.training
            model.train(False)
            columns = [torch.full((src.size(0),), bos_id, device=src.device)]
            with torch.no_grad():
                memory = model.encode(src)
                ended = torch.zeros_like(columns[0], dtype=torch.bool)
                while len(columns) - 1 < max_len and (not ended.all()):
                    column = next_tokens(model, torch.stack(columns, dim=1), memory, src)
                    column[ended] = pad_id
                    columns.append(column)
                    ended = torch.stack(columns[1:], dim=1).eq(eos_id).any(dim=1)
            model.train(training)
            return torch.stack(columns, dim=1)
    """,
}
