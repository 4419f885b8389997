"""Right answers to lesson 0 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% pairwise_dots · loops over rows, joined with stack
def pairwise_dots(x, y):
    rows = []
    for i in range(x.shape[-2]):
        entries = []
        for j in range(y.shape[-2]):
            entries.append((x[..., i, :] * y[..., j, :]).sum(dim=-1))
        rows.append(torch.stack(entries, dim=-1))
    return torch.stack(rows, dim=-2)


# %% hide · arithmetic free of NaN
def hide(scores, allowed, value=-torch.inf):
    replacement = torch.zeros_like(scores) + value
    keep = allowed.expand_as(scores)
    return torch.where(keep, scores * 1, replacement)


# %% swap_groups · einops by hand
def swap_groups(x, groups):
    batch, length = x.shape[:2]
    pieces = x.reshape(batch, length, groups, -1)
    out = torch.stack([pieces[:, :, g] for g in range(groups)])
    return out.transpose(0, 1)


# %% Scale · other ways to register
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_parameter("factor", nn.Parameter(torch.full((size,), 1.0)))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        with torch.no_grad():
            self.calls.add_(1)
        return torch.einsum("...d,d->...d", x, self.factor)
