"""One learner's answers to lesson 4, cell by cell; they run in its notebook, not here."""

# %% predict_deviation
predicted_deviation = "1, and 1"


# %% LayerNorm
class LayerNorm(nn.Module):
    """Normalise each position."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        var = (centred**2).mean(dim=-1, keepdim=True)
        return self.weight * centred / torch.sqrt(var + self.eps) + self.bias


# %% FeedForward
class FeedForward(nn.Module):
    """Linear, ReLU, linear."""

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = torch.relu(self.linear_1(x))
        return self.linear_2(self.dropout(hidden))


# %% predict_alike
predicted_alike = "0.1 with, 1.0 without"


# %% AddNorm
class AddNorm(nn.Module):
    """LayerNorm(x + Dropout(s))"""

    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer_output):
        return self.norm(x + self.dropout(sublayer_output))


# %% EncoderLayer
class EncoderLayer(nn.Module):
    """Self-attention and feed-forward."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1 = AddNorm(d_model, dropout)
        self.add_norm_2 = AddNorm(d_model, dropout)

    def forward(self, x, src_mask=None):
        attended = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
        return self.add_norm_2(attended, self.feed_forward(attended))


# %% predict_shape
predicted_shape = "(4, 6)"


# %% DecoderLayer
class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1 = AddNorm(d_model, dropout)
        self.add_norm_2 = AddNorm(d_model, dropout)
        self.add_norm_3 = AddNorm(d_model, dropout)

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
        x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
        return self.add_norm_3(x, self.feed_forward(x))


# %% predict_gradient
predicted_gradient = "post-norm"


# %% mended_stack
def mended_stack(x, sublayers, norms):
    states = [x]
    for sublayer, norm in zip(sublayers, norms):
        x = x + sublayer(norm(x))
        states.append(x)
    return states
