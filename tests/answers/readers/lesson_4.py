"""Right answers to lesson 4 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% AddNorm · F.dropout with the training flag
class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.p = dropout
        self.norm = nn.LayerNorm((d_model,), eps=1e-05)

    def forward(self, x, sublayer_output):
        return self.norm(F.dropout(sublayer_output, p=self.p, training=self.training) + x)


# %% AddNorm · the norm of Exercise 4.1
class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x, sublayer_output):
        dropped = self.drop(sublayer_output)
        total = torch.add(x, dropped)
        return self.norm(total)


# %% AddNorm · stacks both and sums, explicit start values
class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, eps: float = 1e-05) -> None:
        super().__init__()
        self.add_module("norm", nn.LayerNorm(normalized_shape=d_model, eps=eps))
        nn.init.ones_(self.norm.weight)
        nn.init.zeros_(self.norm.bias)
        self.dropout = nn.Sequential(nn.Dropout(dropout))

    def forward(self, x, sublayer_output):
        return self.norm(torch.stack([x, self.dropout(sublayer_output)]).sum(dim=0))


# %% AddNorm · PyTorch's norm
class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, sublayer_output: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.dropout(sublayer_output))


# %% DecoderLayer · attention with dropout, a name for each step
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.add_norm_1 = AddNorm(d_model, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.add_norm_2 = AddNorm(d_model, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.add_norm_3 = AddNorm(d_model, dropout=dropout)

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        own = self.self_attention(x, x, x, mask=tgt_mask)
        after_own = self.add_norm_1(x, own)
        cross = self.cross_attention(after_own, memory, memory, mask=src_mask)
        after_cross = self.add_norm_2(after_own, cross)
        return self.add_norm_3(after_cross, self.feed_forward(after_cross))


# %% DecoderLayer · one nested expression with a helper for the attentions
class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        attention = lambda: MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
        self.self_attention, self.cross_attention = (attention(), attention())
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1, self.add_norm_2, self.add_norm_3 = [AddNorm(d_model, dropout) for _ in range(3)]

    @staticmethod
    def _attend(add_norm, attention, x, source, mask):
        return add_norm(x, attention(x, source, source, mask))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        x = self._attend(self.add_norm_1, self.self_attention, x, x, tgt_mask)
        x = self._attend(self.add_norm_2, self.cross_attention, x, memory, src_mask)
        return self.add_norm_3(x, self.feed_forward(x))


# %% DecoderLayer · three lines
class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1 = AddNorm(d_model, dropout)
        self.add_norm_2 = AddNorm(d_model, dropout)
        self.add_norm_3 = AddNorm(d_model, dropout)

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
        x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
        return self.add_norm_3(x, self.feed_forward(x))


# %% DecoderLayer · sub-layers as lambdas in a loop, norms by getattr
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        for name in ("self_attention", "cross_attention"):
            self.add_module(name, MultiHeadAttention(d_model, num_heads, dropout))
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        for number in range(1, 4):
            self.add_module(f"add_norm_{number}", AddNorm(d_model, dropout))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        sublayers = [lambda y: self.self_attention(y, y, y, tgt_mask), lambda y: self.cross_attention(y, memory, memory, src_mask), self.feed_forward]
        for number, sublayer in enumerate(sublayers, start=1):
            x = getattr(self, f"add_norm_{number}")(x, sublayer(x))
        return x


# %% EncoderLayer · the attention gets the dropout, too, keywords and names for every step
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.add_norm_1 = AddNorm(d_model, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.add_norm_2 = AddNorm(d_model, dropout=dropout)

    def forward(self, x, src_mask=None):
        attended = self.self_attention(x, x, x, mask=src_mask)
        normed = self.add_norm_1(x, attended)
        transformed = self.feed_forward(normed)
        output = self.add_norm_2(normed, transformed)
        return output


# %% EncoderLayer · a method for each sub-layer
class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.self_attention: nn.Module = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward: nn.Module = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1, self.add_norm_2 = (AddNorm(d_model, dropout) for _ in range(2))

    def attend(self, x, mask):
        return self.add_norm_1(x, self.self_attention(x, x, x, mask))

    def think(self, x):
        return self.add_norm_2(x, self.feed_forward(x))

    def forward(self, x, src_mask=None):
        return self.think(self.attend(x, src_mask))


# %% EncoderLayer · add & norms made in a loop, sub-layers as lambdas
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        for i in (1, 2):
            setattr(self, f"add_norm_{i}", AddNorm(d_model, dropout))

    def forward(self, x, src_mask=None):
        steps = ((lambda h: self.self_attention(h, h, h, src_mask), self.add_norm_1), (self.feed_forward, self.add_norm_2))
        for sublayer, add_norm in steps:
            x = add_norm(x, sublayer(x))
        return x


# %% EncoderLayer · two lines, attention without dropout
class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.add_norm_1 = AddNorm(d_model, dropout)
        self.add_norm_2 = AddNorm(d_model, dropout)

    def forward(self, x, src_mask=None):
        x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
        return self.add_norm_2(x, self.feed_forward(x))


# %% FeedForward · clamp, Xavier weights
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(in_features=d_model, out_features=d_ff)
        self.linear_2 = nn.Linear(in_features=d_ff, out_features=d_model)
        for layer in (self.linear_1, self.linear_2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.linear_2(self.linear_1(x).clamp(min=0))


# %% FeedForward · dropout on the hidden values
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.activation = nn.ReLU()
        self.dropout = nn.Dropout(dropout)
        self.linear_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.dropout(self.activation(self.linear_1(x)))
        return self.linear_2(hidden)


# %% FeedForward · relu in place on its own values, F.dropout with the training flag
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.p = dropout
        self.linear_1, self.linear_2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))

    def forward(self, x):
        x = F.relu(self.linear_1(x), inplace=True)
        return self.linear_2(F.dropout(x, self.p, self.training))


# %% FeedForward · matrix products by hand and maximum with zeros
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = x @ self.linear_1.weight.T + self.linear_1.bias
        hidden = torch.maximum(hidden, torch.zeros_like(hidden))
        return hidden @ self.linear_2.weight.T + self.linear_2.bias


# %% FeedForward · the paper's form without dropout
class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear_2(torch.relu(self.linear_1(x)))


# %% LayerNorm · variance by einsum of the centred rows
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-05):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)))
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(dim=-1).unsqueeze(-1)
        variance = torch.einsum("...d,...d->...", x, x) / x.size(-1)
        return x / (variance + self.eps).pow(0.5).unsqueeze(-1) * self.weight + self.bias


# %% LayerNorm · the mean of the squares of the centred columns, rsqrt
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(d_model))
        self.bias = nn.Parameter(torch.empty(d_model))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred * (centred.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight + self.bias


# %% LayerNorm · sums divided by d, in float64 and back
class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-05):
        super().__init__()
        self.d = d_model
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        y = x.double()
        mu = y.sum(dim=-1) / self.d
        y = y - mu[..., None]
        sigma2 = (y**2).sum(dim=-1) / self.d
        y = y / torch.sqrt(sigma2[..., None] + self.eps)
        return self.weight * y.to(x.dtype) + self.bias


# %% LayerNorm · var with correction=0
class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-05):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, correction=0)
        return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


# %% LayerNorm · var_mean and addcmul
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-05):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
        self.register_parameter("bias", nn.Parameter(torch.full((d_model,), 0.0)))
        self.eps = eps

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        return torch.addcmul(self.bias, self.weight, (x - mean) / (var + self.eps).sqrt())


# %% mended_stack · itertools.accumulate
from itertools import accumulate


def mended_stack(x, sublayers, norms):
    step = lambda state, pair: torch.add(state, pair[0](pair[1](state)))
    return list(accumulate(zip(sublayers, norms), step, initial=x))


# %% mended_stack · reads the last entry of the list
def mended_stack(x, sublayers, norms):
    states = [x]
    for norm, sublayer in zip(norms, sublayers):
        states += [states[-1] + sublayer(norm(states[-1]))]
    return states


# %% mended_stack · a name of its own for the normed copy
def mended_stack(x, sublayers, norms):
    states = [x]
    for sublayer, norm in zip(sublayers, norms):
        normed = norm(x)
        x = x + sublayer(normed)
        states.append(x)
    return states


# %% mended_stack · one sub-layer, then the rest of the stack
def mended_stack(x, sublayers, norms):
    if len(sublayers) == 0:
        return [x]
    after = x + sublayers[0](norms[0](x))
    return [x] + mended_stack(after, sublayers[1:], norms[1:])


# %% mended_stack · keeps the residual under a name, as PyTorch's repair does
def mended_stack(x: torch.Tensor, sublayers, norms) -> list:

    def states():
        residual = x
        yield residual
        for i, sublayer in enumerate(sublayers):
            residual = sublayer(norms[i](residual)) + residual
            yield residual

    return [*states()]
