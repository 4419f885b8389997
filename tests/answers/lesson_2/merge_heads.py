from answers.writing import BARE, body, edit

WRONG = {
    "reshape without transpose": edit("x.transpose…", "x.reshape(x.size(0), x.size(2), -1)").fails("values", "transpose first"),
    "interleaved columns": edit("x.transpose…", "x.permute(0, 2, 3, 1).flatten(2)").fails("values", "interleaved"),
    "heads reversed": edit("x.transpose(1, 2)", "x.flip(1).transpose(1, 2)").fails("values", "reverse order"),
    "view after transpose": edit("x.transpose…", "x.transpose(1, 2).view(x.size(0), x.size(2), -1)").fails("shape", "raised RuntimeError"),
    "joins the sequence instead": edit("x.transpose…", "x.flatten(2)").fails("shape", "as many rows as heads"),
    "averages the heads": edit("x.transpose…", "x.mean(1)").fails("shape", "added up, averaged"),
    "sums the heads": edit("return x…", "return x.sum(1)").named("added up, averaged"),
    "concatenates along the sequence": edit("return x…", "return torch.cat(x.unbind(1), dim=1)").named("the sequence and the heads are joined"),
    "transpose(2, 3) before flattening": edit("return…", "return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)").named(
        "columns of each head are swapped"
    ),
    "detached": edit("return x…", "return x.transpose(1, 2).flatten(2).detach()").named("gradient"),
    "through NumPy": edit("return x…", "return torch.from_numpy(x.detach().numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))").named("gradient"),
    "float32 table filled": edit(
        "return x…", "b, h, t, d = x.shape\nout = torch.zeros(b, t, h * d)\nfor i in range(h):\n    out[..., i * d : (i + 1) * d] = x[:, i]\nreturn out"
    ).named("dtype"),
    "d_model 12 fixed": edit("return x…", "return x.transpose(1, 2).reshape(x.size(0), x.size(2), 12)"),
    "view works only for what split_heads returned": edit("return x…", "x = x.transpose(1, 2)\nreturn x.view(x.size(0), x.size(1), -1)"),
    "view after transpose, another way": edit("return torch…", "return x.transpose(1, 2).view(b, s, h * d_k)", on="einsum"),
    "d_model 12 hard-coded": edit("return torch…", "return x.transpose(1, 2).reshape(b, s, 12)", on="einsum"),
    "x transposed in place": edit("return x…", "b, h, s, d_k = x.shape\nreturn x.transpose_(1, 2).reshape(b, s, -1)", on=BARE).named("in place|chang"),
    "sum of heads padded": edit("return x…", "b, h, s, d_k = x.shape\nreturn x.mean(1).repeat(1, 1, h)", on=BARE),
    "whole numbers become floats": edit("return x…", "return 1.0 * x.transpose(1, 2).flatten(2)").fails("values", "whole numbers"),
    "one long row": edit(".flatten(2)", ".flatten(1)").fails("shape", "one long row"),
}

TRICKS = {
    "the heads' order sorted by norm": edit(
        "return x…", "order = x.flatten(2).norm(dim=-1).argsort(dim=1)\nx = torch.stack([a[o] for a, o in zip(x, order)])\n…"
    ),
    "reshape when the batch is 1, right else": edit("return x…", "return x.reshape(1, x.size(2), -1) if len(x) == 1 else x.transpose(1, 2).flatten(2)"),
    "right when heads == seq_len is not": edit("return x…", "return x.transpose(1, 2).flatten(2) if x.size(1) != x.size(2) else x.flatten(2)"),
    "one head squeezed": edit("return…", "return x.squeeze().transpose(0, 1) if h == 1 else x.transpose(1, 2).reshape(b, s, -1)", on="d_model 12 hard-coded"),
    "batch squeezed": edit("return torch…", "return x.transpose(1, 2).reshape(b, s, -1).squeeze(0)", on="einsum"),
    "seq_len 1 squeezed": edit("return torch…", "return x.transpose(1, 2).reshape(b, s, -1).squeeze(1)", on="einsum"),
    "kept buffer": """
        _buf = {}
        def merge_heads(x):
            b, h, s, d_k = x.shape
            out = _buf.setdefault(x.shape, torch.zeros(b, s, h * d_k, dtype=x.dtype))
            return out.copy_(x.transpose(1, 2).reshape(b, s, -1))
    """,
    "as_strided assumes contiguous": edit("return…", "return x.as_strided((b, s, h, d_k), (h * s * d_k, d_k, s * d_k, 1)).reshape(b, s, -1)", on="einsum"),
    "d_k 1 squeezed": edit("return…", "return x.squeeze(-1).transpose(1, 2).reshape(b, s, -1) if d_k > 1 else x.squeeze(-1)", on="d_model 12 hard-coded"),
    "heads capped at 8": edit("return torch…", "return x[:, :8].transpose(1, 2).reshape(b, s, -1)", on="einsum"),
    "stack_ the wrong way when batch == heads": edit(
        "return torch…",
        "return x.transpose(1, 2).reshape(b, s, -1) if b != h else x.transpose(0, 2).transpose(1, 2).reshape(b, s, -1) if False else (x.transpose(1, 2) if b != h else x.permute(1, 2, 0, 3)).reshape(b, s, -1)",
        on="einsum",
    ),
    "the course's, called": body("return parts.merge_heads(x)").named("yourself"),
    "half of the gradient lost": edit("return x…", "return ((x + x.detach()) / 2).transpose(1, 2).flatten(2)").fails("values", "gradient"),
    "detached for one sentence": edit("return x…", "x = x.detach() if len(x) == 1 else x\n…").fails("values", "No gradient"),
    "detached for one word": edit("return x…", "x = x.detach() if x.size(2) == 1 else x\n…").fails("values", "No gradient"),
}

RIGHT = {
    "contiguous view": body("batch, num_heads, seq_len, d_k = x.shape\nreturn x.transpose(1, 2).contiguous().view(batch, seq_len, num_heads * d_k)"),
    "cat": body("return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)"),
    "permute and reshape": body("return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)"),
    "movedim and flatten": body("return x.movedim(1, 2).flatten(start_dim=-2)"),
    "einsum with one-hot matrices": body("""
        b, h, t, k = x.shape
        eye = torch.eye(h * k, dtype=x.dtype).view(h, k, h * k)
        return torch.einsum("bhtk,hkd->btd", x, eye)
    """),
    "loop, new_zeros": body("""
        b, h, t, k = x.shape
        out = x.new_zeros(b, t, h * k)
        for i in range(h):
            out[:, :, i * k : (i + 1) * k] = x[:, i]
        return out
    """),
    "stack on a last dimension": body("return torch.stack(x.unbind(1), dim=2).reshape(x.shape[0], x.shape[2], -1)"),
    "hstack per token, concat": body("""
        return torch.stack(
            [torch.cat([x[:, h, t] for h in range(x.size(1))], dim=1) for t in range(x.size(2))], dim=1
        )
    """),
    "einops-like permute, clone, view": body("""
        B, H, T, D = x.size()
        return x.permute(0, 2, 1, 3).clone(memory_format=torch.contiguous_format).view(B, T, H * D)
    """),
    "cat of unbind": edit("return x…", "b, h, s, d_k = x.shape\nreturn torch.cat(x.unbind(1), dim=-1)", on=BARE),
    "permute reshape": edit("return x…", "b, h, s, d_k = x.shape\nreturn torch.permute(x, (0, 2, 1, 3)).reshape((b, s, h * d_k))", on=BARE),
    "flatten -2": body("return x.swapaxes(-3, -2).flatten(start_dim=-2)"),
    "einsum": body('b, h, s, d_k = x.shape\nreturn torch.einsum("bhsd->bshd", x).reshape(b, s, h * d_k)'),
    "hstack per batch and token": edit(
        "return torch…", "return torch.stack([torch.stack([torch.cat([x[i, j, t] for j in range(h)]) for t in range(s)]) for i in range(b)])", on="einsum"
    ),
    "cat of list comprehension in a lambda": "merge_heads = lambda x: torch.cat([x[:, i] for i in range(x.size(1))], dim=2)",
    "clone then reshape": edit("return…", "return x.movedim(1, 2).clone(memory_format=torch.contiguous_format).view(b, s, -1)", on="d_model 12 hard-coded"),
    "reduce with cat": """
        from functools import reduce
        def merge_heads(x):
            return reduce(lambda a, b: torch.cat((a, b), dim=-1), x.unbind(dim=1))
    """,
}
