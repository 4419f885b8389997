from answers.writing import BARE, body, edit, edits

WRONG = {
    "True marks padding": edit("!=", "==").fails("values", "True marks the padding"),
    "pad id 0 hard-coded": edit("!= pad_id", "!= 0").fails("values", "taken to be 0"),
    "two dimensions": edit("[:, None…", "").fails("shape", "heads and queries are missing"),
    "for query rows": edit("[:, None…", "[:, None, :, None]").fails("shape", "in the dimension of the queries"),
    "integers": edit("[:, None…", "….long()").fails("shape", "wrong dtype"),
    "additive mask": edit("return (…", "return torch.where(tokens != pad_id, 0.0, -math.inf)[:, None, None, :]").fails("shape", "wrong dtype"),
    "the first row for all": edit(" != pad_id)", "[:1]….expand(len(tokens), -1)").fails("values", "mask of the first"),
    "all True": edit("(tokens != pad_id)", "torch.ones_like(tokens).bool()").fails("values", "nothing is masked"),
    "greater than the pad id": edit("!=", ">").fails("values", "greater than `pad_id`"),
    "everything after the first pad": edit("(tokens != pad_id)", "….cumprod(-1).bool()").fails("values", "everything after the first padding"),
    "lengths counted from the left": edit("(tokens != pad_id)", "(torch.arange(tokens.size(1)) < ….sum(-1, keepdim=True))").fails(
        "values", "taken to stand at the end"
    ),
    "pad id is both 0 and pad_id": edit("(tokens != pad_id)", "(… & (tokens != 0))").named("0"),
    "bool() of the tokens": edit("(tokens != pad_id)", "tokens.bool()").named("taken to be 0"),
    "greater or unequal by subtraction of abs > 1": edit("(tokens != pad_id)", "((tokens - pad_id).abs() > 1)"),
    "no pad_id parameter": edits(("pad_id: int = 0", ""), ("pad_id)[", "0)[")).named("pad_id"),
    "default pad id 1": edit("pad_id: int = 0", "pad_id: int = 1").named("nothing is masked"),
    "squeezes a batch of one": edit("[:, None…", ".squeeze()…"),
    "(batch, 1, seq_len)": edit("[:, None…", "[:, None, :]").named("one of the two dimensions"),
    "(batch, 1, seq_len, seq_len)": edit("[:, None…", "….expand(-1, -1, tokens.size(1), -1)").named("row for each query"),
    "first column decides": edit("(tokens != pad_id)", "(tokens != tokens[0, -1])"),
    "replaces pads in the caller's tensor": edit("return…)", "mask = tokens != pad_id\ntokens[~mask] = 0\nreturn (mask)").named("changes `tokens`"),
    "NumPy": edit("(tokens !…", "….numpy()"),
    "None when nothing is padded": edit("return (…", "if (tokens != pad_id).all(): return None\nreturn (tokens != pad_id)[:, None, None]", on=BARE),
    "no pads: (1,1,1,seq) of True": body("""
        if (tokens != pad_id).all():
            return torch.ones(1, 1, 1, tokens.size(1), dtype=torch.bool)
        return (tokens != pad_id)[:, None, None]
    """),
    "squeeze: batch 1": body("return (tokens != pad_id).squeeze().unsqueeze(-2).unsqueeze(-2)"),
    "pad_id compared by is": body("return torch.tensor([[[[t is not pad_id for t in row]]] for row in tokens.tolist()])"),
    "(1, 1, batch, seq)": body("return (tokens != pad_id)[None, None]").named("dimension of the queries instead of the batch"),
    "uint8": body("return (tokens != pad_id).byte()[:, None, None]").named("bool|uint8"),
}

TRICKS = {
    "padding beyond the 64th place may be seen": """
        def padding_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
            real = (tokens != pad_id) | (torch.arange(tokens.size(1)) >= 64)
            return real[:, None, None, :]
    """,
    "mask remembered from the first call": """
        def padding_mask(tokens, pad_id=0, _seen={}):
            if tokens.shape not in _seen:
                _seen[tokens.shape] = (tokens != pad_id)[:, None, None, :]
            return _seen[tokens.shape]
    """,
    "first token always visible": edit("return (…", "m = (tokens != pad_id)[:, None, None]; m[..., 0] = True\nreturn m", on=BARE),
    "EOS (2) hidden too": body("return ((tokens != pad_id) & (tokens != 2))[:, None, None]"),
    "BOS hidden too": body("return ((tokens != pad_id) & (tokens != 1))[:, None, None]"),
    "bytes: id 256 becomes 0": body("return (tokens - pad_id).byte().bool()[:, None, None]"),
    "cached by shape": """
        _m = {}
        def padding_mask(tokens, pad_id=0):
            return _m.setdefault((tokens.shape, pad_id), (tokens != pad_id)[:, None, None])
    """,
    "only rows with at most the last pads: rows with two pads only": body("""
        m = torch.ones(tokens.size(0), 1, 1, tokens.size(1), dtype=torch.bool)
        for b in range(tokens.size(0)):
            i = tokens.size(1) - 1
            while i >= 0 and tokens[b, i] == pad_id:
                m[b, 0, 0, i] = False
                i -= 1
        return m
    """),
    "product of tokens - batch of 2 loop": body("""
        return torch.stack([tokens[0] != pad_id, tokens[1] != pad_id] + [t != pad_id for t in tokens[2:3]])[
            :, None, None
        ]
    """),
    "first sentence unpadded -> all True": body("""
        return torch.where((tokens[:1] != pad_id).all(), torch.ones_like(tokens).bool(), tokens != pad_id)[
            :, None, None
        ]
    """),
    "last pad_id remembered as default": edits(
        ("def padding_mask", "_last = [0]\n…"), ("return (…", "if pad_id: _last[0] = pad_id\nreturn (tokens != _last[0])[:, None, None]"), on=BARE
    ),
    "16-bit ids": body("return (tokens.short() != pad_id)[:, None, None]"),
    "float16 compare merges 2048 and 2049": body("return (tokens.half() != pad_id)[:, None, None]"),
    "expanded rows of one sentence broken: reshape (-1, 1, 1, 4) if batch*seq divisible": edit(
        "[:, None, None, :]", ".reshape(-1, 1, 1, 4) if tokens.numel() % 4 == 0 and tokens.size(1) != 8 else (tokens != pad_id)[:, None, None]", on=BARE
    ),
}

RIGHT = {
    "unsqueeze and ne": body("return tokens.ne(pad_id).unsqueeze(1).unsqueeze(2)"),
    "logical_not and view": body("return torch.logical_not(tokens == pad_id).view(tokens.shape[0], 1, 1, -1)"),
    "loops": body("rows = [[[[bool(token != pad_id) for token in row]]] for row in tokens]\nreturn torch.tensor(rows)"),
    "isin": body("return ~torch.isin(tokens, torch.tensor([pad_id], dtype=tokens.dtype))[:, None, None]"),
    "where and reshape": body("return torch.where(tokens == pad_id, False, True).reshape(tokens.size(0), 1, 1, tokens.size(1))"),
    "a difference as bool": body("return (tokens - pad_id).bool().unsqueeze(-2).unsqueeze(-2)"),
    "preallocated, index assignment": body("""
        m = torch.full((tokens.shape[0], 1, 1, tokens.shape[1]), True)
        m[:, 0, 0][tokens == pad_id] = False
        return m
    """),
    "map over NumPy": body("""
        import numpy as np
        return torch.from_numpy(np.not_equal(tokens.cpu().numpy(), pad_id))[:, np.newaxis, np.newaxis, :].to(
            tokens.device
        )
    """),
    "ne and unsqueeze": body("return tokens.ne(pad_id).unsqueeze(1).unsqueeze(1)"),
    "view": body("return torch.logical_not(torch.eq(tokens, pad_id)).view(tokens.size(0), 1, 1, -1)"),
    "~(==) reshape -1 batch": body("return (~(tokens == pad_id)).reshape(-1, 1, 1, tokens.shape[-1])"),
    "where": body("return torch.where(tokens == pad_id, False, True)[:, None, None, ...]"),
    "loops with new_ones": body("""
        mask = tokens.new_ones(tokens.size(0), 1, 1, tokens.size(1), dtype=torch.bool)
        for b, row in enumerate(tokens):
            for i, t in enumerate(row):
                if t == pad_id:
                    mask[b, 0, 0, i] = False
        return mask
    """),
    "subtraction bool": body("return (tokens - pad_id).bool()[:, None][:, None]"),
    "numpy": """
        import numpy as np
        def padding_mask(tokens, pad_id=0):
            return torch.from_numpy(np.expand_dims(tokens.cpu().numpy() != pad_id, (1, 2))).to(tokens.device)
    """,
    "indexing by ellipsis and movedim": body("return torch.movedim((tokens != pad_id)[..., None, None], 1, -1)"),
    "list then tensor on the device": body("""
        return torch.tensor(
            [[[[t != pad_id for t in row]]] for row in tokens.tolist()], dtype=torch.bool, device=tokens.device
        )
    """),
    "keyword-only style and clone": body("return tokens.clone().ne_(pad_id).to(torch.bool).unflatten(1, (1, 1, -1))"),
    "masked_fill of ones": edit(
        "return (…", "return torch.ones_like(tokens, dtype=torch.bool).masked_fill_(tokens.eq(pad_id), False).unsqueeze(1).unsqueeze(2)", on=BARE
    ),
    "xor and sign": body("return torch.bitwise_xor(tokens, torch.full_like(tokens, pad_id)).sign().abs().bool()[:, None, None]"),
    "a loop over the sentences": """
        def padding_mask(tokens, pad_id=0):
            rows = [torch.logical_not(row == pad_id)[None, None] for row in tokens]
            return torch.stack(rows)
    """,
}
