from answers.writing import edit, edits, whole

WRONG = {
    "smoothing over padding too": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = logits.log_softmax(-1)
            nll = F.nll_loss(log_probs.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
            return (1 - smoothing) * nll - smoothing * log_probs.mean()
    """).fails("values", "wrong value"),
    "smoothing summed": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = logits.log_softmax(-1)
            nll = F.nll_loss(log_probs.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
            return (1 - smoothing) * nll - smoothing * log_probs.sum(-1)[labels != pad_id].mean()
    """).fails("values", "smoothed part is summed over the vocabulary"),
    "smoothing with a plus": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = logits.log_softmax(-1)
            nll = F.nll_loss(log_probs.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
            return (1 - smoothing) * nll + smoothing * log_probs.mean(-1)[labels != pad_id].mean()
    """).fails("values", "smoothed part has the wrong sign"),
    "the right token's part has the wrong sign": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_p, real = logits.log_softmax(-1), labels != pad_id
            right = log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            return ((1 - smoothing) * right - smoothing * log_p.mean(-1))[real].mean()
    """).fails("values", "the part of the right token has the wrong sign"),
    "as the Annotated Transformer does": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            vocab_size, wanted = logits.size(-1), labels.flatten()
            log_probs = logits.log_softmax(-1).flatten(0, 1)
            shares = torch.full_like(log_probs, smoothing / (vocab_size - 2))
            shares.scatter_(1, wanted[:, None], 1 - smoothing)
            shares[:, pad_id] = 0
            shares[wanted == pad_id] = 0
            return F.kl_div(log_probs, shares, reduction="sum") / (wanted != pad_id).sum()
    """).fails("values", "KL divergence from labels"),
    "perplexity": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            flat = logits.flatten(0, 1), labels.flatten()
            return F.cross_entropy(*flat, ignore_index=pad_id, label_smoothing=smoothing).exp()
    """).fails("values", "perplexity"),
    "no smoothing": edit("label_smoothing=…", "").fails("values", "not smoothed"),
    "smoothing fixed": edit("label_smoothing=smoothing", "label_smoothing=0.1").fails("values", "smoothing=0.0", names="is not used, and 0"),
    "padding counts": edit("ignore_index=…", "").fails("padding", names="padding counts as a label"),
    "padding counts (values)": edit("ignore_index=pad_id,", "").fails("values", "padding counts as a label"),
    "pad id fixed": edit("ignore_index=pad_id", "ignore_index=0").fails("padding", "pad_id=6", names="is not used, and 0 is"),
    "summed": edit("label_smoothing=…", "… reduction='sum',").fails("values", "summed instead of averaged"),
    "divided by all positions": edits(
        ("return F", "count = labels.numel()\n…"), ("label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / count")
    ).fails("values", "number of all positions"),
    "divided by all positions (padding)": edit(
        "label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / labels.numel()"
    ).fails("padding", names="number of all positions"),
    "divided by the sentences": edit("label_smoothing=smoothing,\n    )", "label_smoothing=smoothing, reduction='sum',\n    ) / len(labels)").fails(
        "values", "number of sentences"
    ),
    "sentence by sentence": edit(
        "return F…",
        "rows = [F.cross_entropy(a, b, ignore_index=pad_id, label_smoothing=smoothing) for a, b in zip(logits, labels)]\nreturn torch.stack(rows).mean()",
        on="(B, V, T) form",
    ).fails("values", "each sentence is averaged by itself"),
    "smoothing over V - 1": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = logits.log_softmax(-1)
            q = torch.full_like(log_probs, smoothing / (logits.size(-1) - 1))
            q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
            return -(q * log_probs).sum(-1)[labels != pad_id].mean()
    """).fails("values", "vocab_size − 1"),
    "smoothing over V - 2": edits(("- 1", "- 2"), ("return", "q[..., pad_id] = 0\n…"), on="smoothing over V - 1").fails("values", "vocab_size − 2"),
    "the right token without its own share": edit("(logits.… 1)", "logits.size(-1)", on="smoothing over V - 1").fails("values", "without its own share"),
    "a view across the vocabulary": edit("transpose(1, 2", "view(len(logits), logits.size(-1), -1", on="(B, V, T) form").fails("values", "without moving it"),
    "KL divergence": edits(
        ("(logits.size(-1) - 1)", "logits.size(-1)"),
        ("q.scatter_…", "q.scatter_add_(-1, labels.unsqueeze(-1), torch.full_like(log_probs[..., :1], 1 - smoothing))"),
        ("-(q * log_probs)", 'F.kl_div(log_probs, q, reduction="none")'),
        on="smoothing over V - 1",
    ).fails("values", "KL divergence"),
    "softmax first": edit("logits.flatten", "logits.softmax(-1).flatten").fails("values", "a softmax comes before"),
    "softmax over the positions first": edit(".flatten(0, 1)", ".log_softmax(1)…").fails("values", "wrong value"),
    "flattened in different orders": edit(".flatten(0, 1)", ".transpose(0, 1)…").fails("values", "different orders"),
    "vocabulary moved by a reshape": edit("logits.…)", "logits.transpose(1, 2).reshape(-1, logits.size(-1))").fails("values", "mixed up by a reshape"),
    "detached": edit("logits.flatten(0, 1)", "logits.detach().flatten(0, 1)").fails("values", "No gradient"),
    "crashes without padding": edit("return F", "first = (labels == pad_id).nonzero()[0]\n…").fails("padding", "raised"),
    "masks the logits of padding with zeros": edits(("return F", "logits = logits * (labels != pad_id).unsqueeze(-1)\n…"), ("ignore_index=pad_id,", "")).fails(
        "padding"
    ),
    "one loss for each token": edit("label_smoothing=…", "… reduction='none',").fails("values", "should be one number"),
    "logarithm of a softmax by hand": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            p = logits.exp() / logits.exp().sum(-1, keepdim=True)
            real = labels != pad_id
            right = p.gather(-1, labels.unsqueeze(-1)).squeeze(-1).log()
            return -((1 - smoothing) * right + smoothing * p.log().mean(-1))[real].mean()
    """).fails("values"),
    "view of a slice": edit("labels.flatten()", "labels.view(-1)").fails("values", "raised RuntimeError"),
    "a Python number": edit("label_smoothing=smoothing,\n    )", "label_smoothing=smoothing,\n    ).item()").fails("values", "is no tensor"),
    "log(softmax + 1e-9)": edit("logp =…", "logp = (logits.softmax(-1) + 1e-9).log()", on="gather"),
    "softmax clamped at 1e-8": edit("log_softmax(-1)", "softmax(-1).clamp(min=1e-8).log()", on="gather"),
    "uniform part detached": edit("mean(-1)", "….detach()", on="gather").named("gradient"),
    "right part detached... nll of detached logits": edit("gather", "detach().…", on="gather").named("gradient"),
    "one_hot by the largest label": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            v = int(labels.max()) + 1
            q = F.one_hot(labels, v) * (1 - smoothing)
            q = F.pad(q, (0, logits.size(-1) - v)) + smoothing / v
            real = labels != pad_id
            return (-(q * logits.log_softmax(-1)).sum(-1) * real).sum() / real.sum()
    """,
    "V = 13": edit("mean(-1)", "sum(-1) / 13", on="gather"),
    "divides by real + 1": edit("real.sum()", "(… + 1)", on="gather"),
    "divides by the losses that are not 0": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            each = F.cross_entropy(logits.mT, labels, reduction="none", ignore_index=pad_id, label_smoothing=smoothing)
            return each.sum() / (each != 0).sum()
    """).fails("values", "smoothing = 0.0"),
    "shape (1,)": edit("return (…", "return ((loss * real).sum() / real.sum()).reshape(1)", on="gather").named("dimension|shape"),
    "ends at EOS=2": edit("real =…", "real = ((labels == 2).cumsum(1) - (labels == 2).long()) == 0", on="gather").named("EOS|pad"),
    "label 0 never counts either": edit("real =…", "real = (labels != pad_id) & (labels != 0)", on="gather"),
    "pad class gets no mass": edit("logp.mean", "(logp.sum(-1) - logp[..., pad_id]) / logp.size", on="gather"),
    "labels overwritten": whole("""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            labels[labels == pad_id] = -100
            return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing)
    """).named("chang"),
    "default smoothing is 0": edit("smoothing: float…", "smoothing: float = 0.0").named("default|drops out at|another default|the labels are not smoothed"),
    "weights through class weights": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            w = torch.ones(logits.size(-1))
            w[pad_id] = 0
            return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), weight=w, label_smoothing=smoothing)
    """,
}

TRICKS = {
    "only when gradients: no smoothing in no_grad": edit("label_smoothing=smoothing", "… if logits.requires_grad else 0.0").named(
        "the labels are not smoothed"
    ),
    "crash where nothing is padding": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            pads = (labels == pad_id).nonzero()
            logp = logits.log_softmax(-1)
            nll = -(1 - smoothing) * logp.gather(-1, labels[..., None])[..., 0] - smoothing * logp.mean(-1)
            nll[pads[:, 0], pads[:, 1]] = 0
            return nll.sum() / (labels.numel() - pads.max(0).indices.numel() * len(pads) // 2)
    """,
    "smoothing at most a half": edit("=smoothing", "=min(smoothing, 0.5)").fails("values", "wrong value"),
    "another default": edits((": float = 0.1", "=None"), ("=smoothing", "=0.1 if smoothing is None else smoothing")).fails("values", "another default"),
}

RIGHT = {
    "classes second": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            loss = nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)
            return loss(logits.permute(0, 2, 1), labels)
    """,
    "only the real tokens": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            real = labels != pad_id
            return F.cross_entropy(logits[real], labels[real], label_smoothing=smoothing)
    """,
    "by hand": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = F.log_softmax(logits, dim=-1)
            nll = -log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -log_probs.mean(dim=-1)
            mask = (labels != pad_id).to(logits.dtype)
            return (((1 - smoothing) * nll + smoothing * uniform) * mask).sum() / mask.sum()
    """,
    "a distribution of labels": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.shape[-1]
            q = F.one_hot(labels, V) * (1 - smoothing) + smoothing / V
            tokens = -(q * logits.log_softmax(-1)).sum(-1)
            return tokens.masked_select(labels.ne(pad_id)).mean()
    """,
    "always in float32": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lp = F.log_softmax(logits, dim=-1, dtype=torch.float32)
            keep = labels != pad_id
            lp, y = lp[keep], labels[keep]
            return (1 - smoothing) * F.nll_loss(lp, y) - smoothing * lp.mean()
    """,
    "(B, V, T) form": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)
    """,
    "module": edit(
        "return F…",
        "V = logits.shape[-1]\nreturn nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)(logits.reshape(-1, V), labels.reshape(-1))",
        on="(B, V, T) form",
    ),
    "gather": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """,
    "nll_loss + mean": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lp = F.log_softmax(logits, -1).flatten(0, 1)
            y = labels.flatten()
            nll = F.nll_loss(lp, y, ignore_index=pad_id)
            smooth = -lp.mean(-1)[y != pad_id].mean()
            return (1 - smoothing) * nll + smoothing * smooth
    """,
    "scatter of soft labels, soft cross_entropy": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            real = labels != pad_id
            x, y = logits[real], labels[real]
            q = torch.full_like(x, smoothing / V).scatter_(1, y[:, None], 1 - smoothing + smoothing / V)
            return F.cross_entropy(x, q)
    """,
    "one_hot and einsum": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            q = (1 - smoothing) * F.one_hot(labels, V).to(logits.dtype) + smoothing / V
            q = q * (labels != pad_id).unsqueeze(-1)
            return -torch.einsum("btv,btv->", q, logits.log_softmax(-1)) / (labels != pad_id).sum()
    """,
    "KLDivLoss plus entropy": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            real = labels != pad_id
            x, y = logits[real].log_softmax(-1), labels[real]
            q = F.one_hot(y, V).to(x.dtype) * (1 - smoothing) + smoothing / V
            kl = nn.KLDivLoss(reduction="sum")(x, q)
            entropy = -torch.xlogy(q, q).sum()
            return (kl + entropy) / len(y)
    """,
    "logits.view": edit("transpose(1, 2), labels", "view(-1, logits.size(-1)), labels.reshape(-1)", on="(B, V, T) form"),
    "sum over counts with masked_fill and logsumexp": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lse = logits.logsumexp(-1)
            right = torch.take_along_dim(logits, labels.unsqueeze(-1), -1).squeeze(-1)
            each = lse - (1 - smoothing) * right - smoothing * logits.mean(-1)
            pad = labels.eq(pad_id)
            return each.masked_fill(pad, 0.0).sum() / (~pad).sum()
    """,
    "labels to -100 on a copy": edit(
        "return F…",
        "y = labels.masked_fill(labels == pad_id, -100)\n"
        "return F.cross_entropy(logits.permute(0, 2, 1), y, label_smoothing=smoothing, reduction='sum') / (y != -100).sum()",
        on="(B, V, T) form",
    ),
    "loops": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            total, n = 0.0, 0
            for z, row in zip(logits, labels):
                for zt, y in zip(z, row.tolist()):
                    if y != pad_id:
                        lp = zt - zt.logsumexp(0)
                        total = total - (1 - smoothing) * lp[y] - smoothing * lp.mean()
                        n += 1
            return total / n
    """,
    "float32 upcast of halfs? keep; mean of selected": """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            keep = labels.ne(pad_id)
            return F.cross_entropy(logits[keep], labels[keep], label_smoothing=smoothing)
    """,
    "in double and back": edit(
        "return F…",
        "return F.cross_entropy(logits.double().flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing).to(logits.dtype)",
        on="(B, V, T) form",
    ),
    "reduction none": edit(
        "return F…",
        "each = F.cross_entropy(logits.mT, labels, reduction='none', ignore_index=pad_id, label_smoothing=smoothing)\n"
        "return each.sum() / labels.ne(pad_id).sum()",
        on="(B, V, T) form",
    ),
    "builds q explicitly and sums with einsum": """
        def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
            vocab_size = logits.size(-1)
            real = labels != pad_id
            log_p = logits[real].log_softmax(dim=-1)
            q = torch.full_like(log_p, smoothing / vocab_size)
            q = q.scatter_add(1, labels[real][:, None], torch.full_like(log_p[:, :1], 1 - smoothing))
            return -torch.einsum("nv,nv->", q, log_p) / real.sum()
    """,
}
