from answers.writing import BARE, body, edit, edits

WRONG = {
    "or for and": edit("& past", "| past").fails("values", "either rule"),
    "padding only": edit("& past", "& torch.ones_like(past)").fails("values", "only the padding"),
    "future only": edit("padding_mask(…", "past.expand(len(tokens), 1, -1, -1)").fails("values", "the future is blocked, but"),
    "padding blocks rows": edit("padding_mask(tokens, pad_id)", "….mT").fails("values", "the future is blocked, but"),
    "pad id not passed on": edit("tokens, pad_id", "tokens").fails("values", "taken to be 0"),
    "0 is padding, too": edit("& past", "& past & (tokens != 0)[:, None, None, :]").fails("values", "0 is taken for padding, too"),
    "padding overwritten in the tokens": edit("past =…", "tokens.masked_fill_(tokens == pad_id, 0)\npad_id = 0\n…").fails("values", "changes `tokens`"),
    "True marks what is blocked": edit("padding_mask(…", "~(…)").fails("values", "marks what is blocked"),
    "three dimensions": edit("padding_mask(…", "(…)[:, 0]").fails("shape", "for heads is missing"),
    "the first sentence for all": edit("padding_mask(…", "(…)[:1].expand(len(tokens), -1, -1, -1)").fails("values", "padding of the first"),
    "flipped triangle": edit("& past", "….mT").fails("values", "upside down"),
    "returns nothing": edit("return padding_mask", "padding_mask").fails("shape", "is None"),
    "not moved to the tokens' device": edit(".to(…", "").fails("values", "CPU"),
    "the length of the batch": edit("causal_mask(tokens.size(1))", "causal_mask(tokens.size(0))"),
    "len(tokens)": edit("causal_mask(tokens.size(1))", "causal_mask(len(tokens))"),
    "xor": edit("& past", "^ past").fails("values", "exactly one of the rules"),
    "the sum of both": edit("& past", "+ past").named("either rule"),
    "equality of both": edit("& past", "== past"),
    "additive": edit(
        "return…", "return torch.zeros(len(tokens), 1, tokens.size(1), tokens.size(1)).masked_fill(~(padding_mask(tokens, pad_id) & past), -math.inf)"
    ).named("additive|True marks what is blocked"),
    "integers by product": edit("return padding_mask…", "return padding_mask(tokens, pad_id).int() * past.int()"),
    "real queries only on top, keys forgotten": edit(") & past", ").transpose(-2, -1… & past").named("the future is blocked, but"),
    "pads are only blocked at the end of a row": edit("padding_mask(…", "((tokens != pad_id).flip(-1).cumsum(-1).flip(-1) > 0)[:, None, None, :] & past").named(
        "the future is blocked, but"
    ),
    "causal mask one too wide": edit("& past", "….logical_or(torch.eye(tokens.size(1)).roll(1, 1).bool())").named("future"),
    "batch dimension squeezed": edit("padding_mask(…", "(…).squeeze(0)"),
    "keys and queries exchanged": edit("padding_mask(…", "(…).transpose(-2, -1)"),
    "result on the CPU": body("return padding_mask(tokens, pad_id).cpu() & causal_mask(tokens.size(1))").named("device"),
    "batch as size": body("return padding_mask(tokens, pad_id) & causal_mask(tokens.size(0)).to(tokens.device)"),
    "padding queries see nothing": edit("& past", "& past & padding_mask(tokens, pad_id).mT").fails("values", "allows no key"),
    "padding queries see nothing, by the places of real tokens": body("""
        real = (tokens != pad_id).float()
        return (real[:, None, :, None] @ real[:, None, None, :]).bool() & causal_mask(tokens.size(1)).to(tokens.device)
    """).fails("values", "allows no key"),
    "padding queries see themselves alone, but not at the end": body("""
        keys, places = padding_mask(tokens, pad_id), torch.arange(tokens.size(1), device=tokens.device)
        own = (places[:, None] == places) & (places < tokens.size(1) - 1) & ~keys.mT
        return keys & keys.mT & causal_mask(tokens.size(1)).to(tokens.device) | own
    """).fails("values", "allows no key"),
    "length based": body("""
        n = tokens.size(1)
        return (torch.arange(n, device=tokens.device) < (tokens != pad_id).sum(1)[:, None])[
            :, None, None
        ] & causal_mask(n).to(tokens.device)
    """).fails("values", "taken to stand at the end"),
    "pads changed in place": body("""
        p = padding_mask(tokens, pad_id)
        tokens[tokens == pad_id] = 0
        return p & causal_mask(tokens.size(1)).to(tokens.device)
    """).named("in place|chang"),
    "diagonal opened also for padding in the middle of real (key pad seen by later): column of last real": edit(
        "past =…& past",
        "return (padding_mask(tokens, pad_id) | torch.eye(tokens.size(1), dtype=torch.bool, device=tokens.device).roll(1, 0)) & causal_mask(tokens.size(1)).to(tokens.device)",
        on=BARE,
    ),
    "rows of leading pads: real queries all hidden too (cumprod over keys)": edit(
        "past =…& past",
        "return (padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)).cummin(-1).values if False else padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device) & (tokens[:, :1] != pad_id)[:, None, None]",
        on=BARE,
    ),
}

TRICKS = {
    "a query may see keys more than 80 places in its future": """
        def decoder_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
            places = torch.arange(tokens.size(1), device=tokens.device)
            ahead = places - places[:, None]
            return padding_mask(tokens, pad_id) & ((ahead <= 0) | (ahead > 80))
    """,
    "no pads: (1, 1, S, S)": body("""
        c = causal_mask(tokens.size(1)).to(tokens.device)
        if not (tokens == pad_id).any():
            return c[None, None]
        return padding_mask(tokens, pad_id) & c
    """),
    "first column always visible": edit("return m…", "m[..., 0] = True\nreturn m", on="unpadded first column: pad rows kept, seq_len 1"),
    "cached by shape": """
        _m = {}
        def decoder_mask(tokens, pad_id=0):
            return _m.setdefault(
                (tokens.shape, pad_id), padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
            )
    """,
    "causal only where there is padding (any)": edit(
        "return m…",
        "return m if (tokens == pad_id).any() else padding_mask(tokens, pad_id).expand(-1, -1, tokens.size(1), -1)",
        on="unpadded first column: pad rows kept, seq_len 1",
    ),
    "at most 64 positions": edits(
        ("past =…", "n = tokens.size(1)"), ("& past", "& torch.ones(64, 64, dtype=torch.bool, device=tokens.device).tril()[:n, :n]"), on=BARE
    ),
    "unpadded first column: pad rows kept, seq_len 1": body("""
        m = padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
        return m if tokens.size(1) > 1 else m[..., 0]
    """),
    "EOS key hidden": edit("(padding_mask(tokens, pad_id))", "(tokens.device) & (tokens != 2)[:, None, None]", on="type_as / to(other)"),
    "BOS key hidden": edit("(padding_mask(tokens, pad_id))", "(tokens.device) & (tokens != 1)[:, None, None]", on="type_as / to(other)"),
}

RIGHT = {
    "written out": body("""
        past = torch.ones(tokens.size(1), tokens.size(1), device=tokens.device).tril().bool()
        return (tokens != pad_id)[:, None, None, :] & past[None, None]
    """),
    "logical_and": body("return torch.logical_and(padding_mask(tokens, pad_id), causal_mask(tokens.shape[-1]).to(tokens.device))"),
    "a product": body("return padding_mask(tokens, pad_id) * causal_mask(tokens.size(1)).to(tokens.device)"),
    "blocked masks joined by or": body("""
        blocked = (tokens == pad_id)[:, None, None, :] | torch.triu(
            torch.ones(tokens.size(1), tokens.size(1), device=tokens.device), 1
        ).bool()
        return ~blocked
    """),
    "tril of the expanded padding mask": edits(("past =…", "t = tokens.shape[1]"), (") & past", ").expand(-1, 1, t, t).tril()"), on=BARE),
    "minimum of both": body("""
        a, b = padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device)
        return torch.minimum(a.int(), b.int()).bool()
    """),
    "padding queries may see themselves": body("""
        m = padding_mask(tokens, pad_id=pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
        return m | (
            torch.eye(tokens.size(1), device=tokens.device).bool() & (tokens == pad_id)[:, None, :, None]
        )
    """),
    "padding queries see everything": body("""
        m = padding_mask(tokens, pad_id=pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
        return m | (tokens == pad_id)[:, None, :, None]
    """),
    "where with a zero tensor, expand of causal first": body("""
        past = causal_mask(tokens.shape[-1]).to(tokens.device)
        return past[None, None] * (tokens != pad_id).view(-1, 1, 1, tokens.shape[-1])
    """),
    "own masks, arange": body("""
        i = torch.arange(tokens.size(1), device=tokens.device)
        return (i[:, None] >= i)[None, None] & (tokens != pad_id)[:, None, None]
    """),
    "logical_and, keywords": edit(
        "past =…& past",
        "return torch.logical_and(padding_mask(tokens=tokens, pad_id=pad_id), causal_mask(size=tokens.shape[-1]).to(device=tokens.device))",
        on=BARE,
    ),
    "padding queries see the first real token alone": body("""
        keys = padding_mask(tokens, pad_id)
        first = keys & (keys.cumsum(-1) == 1)
        return torch.where(keys.mT, keys, first) & causal_mask(tokens.size(1)).to(tokens.device)
    """),
    "where a sentence begins with padding, padding sees nothing": edit(
        "& past", "& past & (padding_mask(tokens, pad_id).mT | (tokens[:, :1] != pad_id)[:, None, None])"
    ),
    "diagonal opened so no row is empty": body("""
        return (
            padding_mask(tokens, pad_id) | torch.eye(tokens.size(1), dtype=torch.bool, device=tokens.device)
        ) & causal_mask(tokens.size(1)).to(tokens.device)
    """),
    "minimum": body("return torch.minimum(padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device))"),
    "de Morgan": body("return ~(~padding_mask(tokens, pad_id) | ~causal_mask(tokens.size(1)).to(tokens.device))"),
    "masked_fill": edit(
        "past =…& past",
        "return causal_mask(tokens.size(1)).to(tokens.device).expand(tokens.size(0), 1, -1, -1).masked_fill(~padding_mask(tokens, pad_id), False)",
        on=BARE,
    ),
    "reduce over *args": edits(
        ("def decoder_mask", "from functools import reduce\nimport operator\n…"),
        ("past =…", "masks = padding_mask(tokens, pad_id), causal_mask(tokens.size(-1)).to(tokens.device)"),
        ("return padding_mask…", "return reduce(operator.and_, masks)"),
        on=BARE,
    ),
    "list of sentences stacked": body("return torch.stack([(causal_mask(len(t)).to(t.device) & (t != pad_id))[None] for t in tokens])"),
    "loops over lists, on the tokens' device": edit(
        "past =…& past",
        "return torch.tensor([[[[t != pad_id and j <= i for j, t in enumerate(r)] for i in range(len(r))]] for r in tokens.tolist()], device=tokens.device)",
        on=BARE,
    ),
    "branch on the presence of padding": body("""
        p, c = padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device)
        return (p & c) if (tokens == pad_id).any() else c.expand(tokens.size(0), 1, -1, -1)
    """),
    "new_zeros and loops": body("""
        batch, n = tokens.shape
        mask = torch.zeros(batch, 1, n, n, dtype=torch.bool, device=tokens.device)
        for i in range(n):
            mask[:, 0, i, : i + 1] = tokens[:, : i + 1] != pad_id
        return mask
    """),
    "type_as / to(other)": body("return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(padding_mask(tokens, pad_id))"),
    "with torch.device context": body("""
        p = padding_mask(tokens, pad_id)
        with tokens.device:
            c = torch.ones(tokens.size(1), tokens.size(1)).tril().bool()
        return p & c
    """),
    "causal mask by to(device=..., non_blocking)": edit(
        "past =…& past",
        "return causal_mask(tokens.size(1)).to(device=tokens.device, non_blocking=True)[None, None].logical_and(padding_mask(tokens, pad_id))",
        on=BARE,
    ),
    "cuda-only via .type: p.new_tensor of the causal mask's list": body("""
        p = padding_mask(tokens, pad_id)
        return p & p.new_tensor(causal_mask(tokens.size(1)).tolist())
    """),
    "empty rows see their past": edit(
        "return m…",
        "return torch.where(m.any(-1, keepdim=True) | (tokens != pad_id)[:, None, :, None], m, causal_mask(tokens.size(1)).to(tokens.device))",
        on="unpadded first column: pad rows kept, seq_len 1",
    ),
    "cached causal by size and device": """
        from functools import lru_cache
        @lru_cache
        def _past(n, device):
            return causal_mask(n).to(device)
        def decoder_mask(tokens, pad_id=0):
            return padding_mask(tokens, pad_id) & _past(tokens.size(1), tokens.device)
    """,
    "compares places on the tokens' device without earlier answers": """
        def decoder_mask(tokens, pad_id=0):
            places = torch.arange(tokens.shape[-1], device=tokens.device)
            past = places.unsqueeze(-1) >= places
            real = tokens.not_equal(pad_id)
            return torch.logical_and(real[:, None, None], past[None, None])
    """,
    "fills the padding into copies of the causal mask": """
        def decoder_mask(tokens, pad_id=0):
            n, s = tokens.size()
            squares = causal_mask(s).to(tokens.device).repeat(n, 1, 1, 1)
            return squares.masked_fill((tokens == pad_id).view(n, 1, 1, s), False)
    """,
    "builds the square one query at a time": """
        def decoder_mask(tokens, pad_id=0):
            real = tokens != pad_id
            places = torch.arange(tokens.size(1), device=tokens.device)
            rows = [real & (places <= i) for i in range(tokens.size(1))]
            return torch.stack(rows, dim=1).unsqueeze(1)
    """,
    "widens the padding mask and keeps its lower triangle": """
        def decoder_mask(tokens, pad_id=0):
            batch, seq_len = tokens.shape
            padding = padding_mask(tokens, pad_id=pad_id).expand(batch, 1, seq_len, seq_len)
            return torch.tril(padding)
    """,
}
