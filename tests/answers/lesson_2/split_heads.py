from answers.writing import body, edit, edits, whole

WRONG = {
    "slices from the number of the head on": body(
        "d_k = x.size(-1) // num_heads\nreturn torch.stack([x[..., i : i + d_k] for i in range(num_heads)], dim=1)"
    ).fails("values", "begins at column i instead"),
    "windows that overlap": body("return x.unfold(2, x.size(-1) // num_heads, num_heads).transpose(1, 2)[:, :num_heads]").fails(
        "values", "begins at column i · num_heads"
    ),
    "a loop that begins at 1": body("""
        heads = x.new_zeros(len(x), num_heads, x.size(1), x.size(-1) // num_heads)
        for i in range(1, num_heads):
            heads[:, i] = x.chunk(num_heads, dim=-1)[i]
        return heads
    """).fails("values", "the first head is never filled"),
    "sequence first, as in fairseq": body("""
        batch, seq_len, d_model = x.shape
        heads = x.reshape(seq_len, batch * num_heads, d_model // num_heads).transpose(0, 1)
        return heads.reshape(batch, num_heads, seq_len, -1)
    """).fails("values", "the sequence before the batch"),
    "reshape without transpose": edit(
        "x = x…1, 2)", "return x.reshape(batch, num_heads, seq_len, d_model // num_heads)  # (batch, num_heads, seq_len, d_k)"
    ).fails("values", "cuts across tokens"),
    "interleaved columns": edit(
        "x = x…1, 2)", "return x.view(batch, seq_len, d_model // num_heads, num_heads).permute(0, 3, 1, 2)  # (batch, num_heads, seq_len, d_k)"
    ).fails("values", "every num_heads-th column"),
    "heads after the sequence": edit("return x…", "return x").fails("shape", "heads still stand after"),
    "d_k and heads mixed up": edit("x.view…", "x.view(batch, seq_len, d_model // num_heads, num_heads)").fails("shape", "d_k are exchanged"),
    "transposed before the cut": edit(
        "x = x…1, 2)", "return x.transpose(1, 2).reshape(batch, num_heads, seq_len, d_model // num_heads)  # (batch, num_heads, seq_len, d_k)"
    ).fails("values", "exchanged before"),
    "heads reversed": edit("return x…", "return x.transpose(1, 2).flip(1)").fails("values", "reverse order"),
    "the first block for every head": edit("return…", "return x[:, :, :1].expand(-1, -1, num_heads, -1).transpose(1, 2)").fails("values", "first d_k columns"),
    "three heads hard-coded": edit("x = x…1, 2)", "return torch.stack(x.split(4, dim=-1), dim=1)  # (batch, num_heads, seq_len, d_k)").fails("values"),
    "a list of heads": edit("return x…", "return list(x.transpose(1, 2))").fails("shape", "should be a torch.Tensor"),
    "x.split(num_heads)": edit("x = x…1, 2)", "return torch.stack(x.split(num_heads, dim=-1), dim=1)  # (batch, num_heads, seq_len, d_k)").named(
        "d_k are exchanged"
    ),
    "heads first": edit("transpose(1, 2)", "permute(2, 0, 1, 3)  # (batch, num_heads, seq_len, d_k)").named("before the batch"),
    "permuted to (batch, heads, d_k, seq)": edit("transpose(1, 2)", "permute(0, 2, 3, 1)  # (batch, num_heads, seq_len, d_k)").named(
        "columns of each head are exchanged"
    ),
    "right strides, wrong words: transpose(0, 1)": edit("(1, 2)", "(0, 1)  # (batch, num_heads, seq_len, d_k)"),
    "folded into the batch": edit("return x…", "return x.transpose(1, 2).flatten(0, 1)"),
    "tokens of each head reversed": edit("return x…", "return x.transpose(1, 2).flip(2)"),
    "columns inside each head reversed": edit("return x…", "return x.transpose(1, 2).flip(3)"),
    "normalised by the number of heads": edit("return x…", "return x.transpose(1, 2) / num_heads"),
    "detached": edit("return x…", "return x.transpose(1, 2).detach()").named("gradient"),
    "through NumPy (crashes on a graph)": edit(
        "x = x.view(batch, seq_len, num_heads, d_model // num_heads)  # (batch, seq_len, num_heads, d_k)\nreturn x.transpose(1, 2)",
        "import numpy as np\nreturn torch.tensor(np.stack(np.split(x.numpy(), num_heads, axis=-1), axis=1))",
    ).named("gradient|numpy"),
    "under torch.no_grad": edit("def split_heads", "@torch.no_grad()\n…").named("gradient"),
    "float32 whatever comes in": edit(
        "x = x…1, 2)",
        "heads = torch.zeros(batch, num_heads, seq_len, d_model // num_heads)\n"
        "for i in range(num_heads):\n"
        "    heads[:, i] = x[:, :, i * (d_model // num_heads) : (i + 1) * (d_model // num_heads)]\n"
        "return heads  # (batch, num_heads, seq_len, d_k)",
    ).named("dtype"),
    "view(-1): contiguous inputs only": edit(
        "x = x…1, 2)", "return x.view(-1, num_heads, d_model // num_heads).unflatten(0, (batch, seq_len)).transpose(1, 2)  # (batch, num_heads, seq_len, d_k)"
    ),
    "as_strided with the strides of a contiguous input": edit(
        "x = x.view(batch, seq_len, num_heads, d_model // num_heads)  # (batch, seq_len, num_heads, d_k)\nreturn x.transpose(1, 2)",
        "d_k = d_model // num_heads\nreturn x.as_strided((batch, num_heads, seq_len, d_k), (seq_len * d_model, d_k, d_model, 1))",
    ),
    "swapped arguments": edit("x: torch.Tensor, num_heads: int", "num_heads, x"),
    "no num_heads argument, 3 fixed": edits(("(x: torch.Tensor, num_heads: int)", "(x)"), ("num_heads", "3")),
    "cut right for seq_len 5 only": edit("x = x…1, 2)", "return x.view(batch, 5, num_heads, -1).transpose(1, 2)  # (batch, num_heads, seq_len, d_k)"),
    "heads 3 hard-coded": edit("return x…", "return x.view(b, s, 3, 4).transpose(1, 2)", on="one head squeezed"),
    "d_k 4 hard-coded": edit("return x…", "return x.view(b, s, -1, 4).transpose(1, 2)", on="one head squeezed"),
    "stack at the end": edit("dim=1", "dim=-1", on="stack of chunks").named("heads stand last"),
    "x reshaped in place": edit("return x…", "x.resize_(b, s, num_heads, d_k)\nreturn x.transpose(1, 2)", on="one head squeezed").named("in place|chang"),
    "view of the flat memory: non-contiguous raises": edit("return x…", "return x.view(-1).view(b, s, num_heads, d_k).transpose(1, 2)", on="one head squeezed"),
    "whole numbers become floats": edit("return x…", "return 1.0 * x.transpose(1, 2)").fails("values", "whole numbers"),
}

TRICKS = {
    "zeros": edit("return x…", "return torch.zeros_like(x.transpose(1, 2))").fails("values", "wrong values"),
    "the last head of every sentence from the first sentence": edit("return x…", "x = x.transpose(1, 2).clone()\nx[1:, -1] = x[:1, -1]\nreturn x"),
    "single reshape when s == num_heads": edit("num_heads > 1 else x", "s != num_heads else x.view(b, num_heads, s, d_k)", on="one head squeezed"),
    "one head squeezed": body("""
        b, s, d = x.shape
        d_k = d // num_heads
        return x.view(b, s, num_heads, d_k).transpose(1, 2) if num_heads > 1 else x
    """),
    "num_heads 1: unsqueeze at the wrong place": edit("else x", "….unsqueeze(2)", on="one head squeezed"),
    "cached by shape": edits(
        ("def split_heads", "_c = {}\n…"),
        ("return x…", "return _c.setdefault((x.shape, num_heads), x.view(b, s, num_heads, d_k).transpose(1, 2))"),
        on="one head squeezed",
    ),
    "chunk along the sequence": edit("-1), dim=1)", "1), dim=1) if s % num_heads == 0 else x.view(b, s, num_heads, d_k).transpose(1, 2)", on="stack of chunks"),
    "transposes last two as well for square d_k == s": edit(
        "transpose…", "permute(0, 2, 1, 3) if d_k != s else x.view(b, s, num_heads, d_k).permute(0, 2, 3, 1)", on="one head squeezed"
    ),
    "batch 1 squeezed": edit("num_heads > 1 else x", "b > 1 else x.view(s, num_heads, d_k).transpose(0, 1)", on="one head squeezed"),
    "calls the course's": whole("""
        import autograder.parts as ap
        def split_heads(x, num_heads):
            return ap.split_heads(x, num_heads)
    """).named("yourself"),
    "kept buffer, dtype-aware: an earlier result changes at the next call": edits(
        ("def split_heads", "_buf = {}\n…"),
        (
            "return x…",
            "y = x.view(b, s, num_heads, d_k).transpose(1, 2); k = (y.shape, y.dtype, x.requires_grad)\n"
            "if k in _buf and not x.requires_grad: _buf[k].copy_(y)\n"
            "else: _buf[k] = y.clone()\n"
            "return _buf[k]",
        ),
        on="one head squeezed",
    ),
    "shape decided by size: seq_len 1 squeezed": edit("num_heads > 1 else x", "s > 1 else x.view(b, num_heads, d_k)", on="one head squeezed"),
    "requires d_model <= 64": edit("return x…", "return x[..., :64].reshape(b, s, num_heads, -1).transpose(1, 2)", on="one head squeezed"),
    "num_heads capped at 8": edit("return x…", "return x.view(b, s, min(num_heads, 8), -1).transpose(1, 2)", on="one head squeezed"),
    "num_heads == d_model (d_k 1) squeezed": edit("(1, 2) if num_heads…", "(1, 2).squeeze(-1)", on="one head squeezed"),
    "only single reshape when batch is 1": edit("num_heads > 1 else x", "b > 1 else x.view(1, num_heads, s, d_k)", on="one head squeezed"),
    "half of the gradient lost": edit("return x…", "return ((x + x.detach()) / 2).transpose(1, 2)").fails("values", "gradient"),
}

RIGHT = {
    "reshape and permute": body("return x.reshape(*x.shape[:2], num_heads, -1).permute(0, 2, 1, 3)"),
    "chunk and stack": body("return torch.stack(torch.chunk(x, num_heads, dim=2), dim=1)"),
    "unflatten": body("return x.unflatten(-1, (num_heads, x.size(-1) // num_heads)).transpose(1, 2).contiguous()"),
    "a loop over the heads": body("""
        d_k = x.size(-1) // num_heads
        heads = x.new_empty(x.size(0), num_heads, x.size(1), d_k)
        for i in range(num_heads):
            heads[:, i] = x[:, :, i * d_k : (i + 1) * d_k]
        return heads
    """),
    "einops-like loop over tokens": body("b, t, d = x.shape\nreturn torch.stack([x[:, i].reshape(b, num_heads, d // num_heads) for i in range(t)], dim=2)"),
    "tensor_split": body("return torch.stack(torch.tensor_split(x, num_heads, dim=-1)).movedim(0, 1)"),
    "split by d_k, list comprehension, cat of unsqueezed": body("""
        d_k = x.shape[-1] // num_heads
        return torch.cat([part.unsqueeze(1) for part in x.split(d_k, -1)], 1)
    """),
    "unfold": body("d_k = x.size(2) // num_heads\nreturn x.unfold(2, d_k, d_k).transpose(1, 2)"),
    "index_select": body("""
        d_k = x.size(-1) // num_heads
        return torch.stack(
            [x.index_select(-1, torch.arange(i * d_k, (i + 1) * d_k)) for i in range(num_heads)], 1
        )
    """),
    "a product with one-hot matrices": body("""
        d = x.size(-1)
        eye = torch.eye(d, dtype=x.dtype).view(d, num_heads, -1)
        return torch.einsum("btd,dhk->bhtk", x, eye)
    """),
    "swapaxes, contiguous, -1": body("return x.reshape(len(x), -1, num_heads, x.shape[-1] // num_heads).swapaxes(1, 2).contiguous()"),
    "stack of chunks": body("""
        b, s, d = x.shape
        d_k = d // num_heads
        return torch.stack(x.chunk(num_heads, dim=-1), dim=1)
    """),
    "stack of slices": edit("return…", "return torch.stack([x[..., i * d_k : (i + 1) * d_k] for i in range(num_heads)], 1)", on="heads 3 hard-coded"),
    "einsum for the transpose": edit("return x…", "return torch.einsum('bshd->bhsd', x.reshape(b, s, num_heads, d_k))", on="one head squeezed"),
    "gather with index": edit("return…", "return x[:, :, torch.arange(d, device=x.device).view(num_heads, d_k)].movedim(2, 1)", on="heads 3 hard-coded"),
    "loop over batches": edit("return…", "return torch.stack([row.view(s, num_heads, d_k).swapaxes(0, 1) for row in x.contiguous()])", on="d_k 4 hard-coded"),
    "keyword names, type hints, -1 for the batch": """
        def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
            *lead, s, d = x.size()
            return x.reshape(-1, s, num_heads, d // num_heads).permute(0, 2, 1, 3)
    """,
}
