"""A learner's own answers and predictions of lesson 0, by the ids of the cells."""


# %% pairwise_dots
def pairwise_dots(x, y):
    return torch.matmul(x, y.transpose(-1, -2))


# %% predict_true_entries
predicted_true_entries = "10"


# %% hide
def hide(scores, allowed, value=-torch.inf):
    return torch.where(allowed, scores, value)


# %% predict_first_rows
predicted_first_rows = "0 1 and 0 3"


# %% swap_groups
def swap_groups(x, groups):
    batch, length, width = x.shape
    x = x.reshape(batch, length, groups, width // groups)
    return x.permute(0, 2, 1, 3)


# %% predict_gradient
predicted_gradient = "10"


# %% Scale
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(size))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        self.calls += 1
        return self.factor * x
