"""Right answers to lesson 2 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% MultiHeadAttention · F.linear with the layers' weights, an extra optional argument
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, keep_weights=True):
        super(MultiHeadAttention, self).__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.keep_weights = keep_weights
        self.dropout = nn.Dropout(dropout)
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def heads(self, layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        return split_heads(F.linear(x, layer.weight, layer.bias), self.num_heads)

    def forward(self, query, key, value, mask=None):
        q = self.heads(self.w_q, query)
        k = self.heads(self.w_k, key)
        v = self.heads(self.w_v, value)
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        if self.keep_weights:
            self.attention_weights = weights.detach()
        out = merge_heads(out)
        return F.linear(out, self.w_o.weight, self.w_o.bias)


# %% MultiHeadAttention · layers made in a loop, an assert, a list of projected tensors
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        assert d_model % num_heads == 0, (d_model, num_heads)
        for name in "qkvo":
            setattr(self, f"w_{name}", nn.Linear(d_model, d_model))
        self.h = num_heads
        self.drop = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = [split_heads(layer(t), self.h) for layer, t in zip((self.w_q, self.w_k, self.w_v), (query, key, value))]
        heads, used = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.drop)
        self.attention_weights = used.detach().clone()
        return self.w_o(merge_heads(heads))


# %% MultiHeadAttention · the table of shapes line by line
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide {d_model} columns.")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights = None

    def forward(self, query, key, value, mask=None):
        query = split_heads(self.w_q(query), self.num_heads)
        key = split_heads(self.w_k(key), self.num_heads)
        value = split_heads(self.w_v(value), self.num_heads)
        output, weights = scaled_dot_product_attention(query, key, value, mask, self.dropout)
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(output))


# %% MultiHeadAttention · widens the mask to all heads and queries before the call
class MultiHeadAttention(nn.Module):
    attention_weights = None

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if not (d_model / num_heads).is_integer():
            raise ValueError("cannot split")
        self.add_module("w_q", nn.Linear(d_model, d_model))
        self.add_module("w_k", nn.Linear(d_model, d_model))
        self.add_module("w_v", nn.Linear(d_model, d_model))
        self.add_module("w_o", nn.Linear(d_model, d_model))
        self.add_module("drop", nn.Dropout(dropout))
        self.num_heads = num_heads

    def forward(self, query, key, value, mask=None):
        q = split_heads(self.w_q(query), self.num_heads)
        k = split_heads(self.w_k(key), self.num_heads)
        v = split_heads(self.w_v(value), self.num_heads)
        if mask is not None:
            mask = mask.expand(q.size(0), self.num_heads, q.size(2), k.size(2))
        output, weights = scaled_dot_product_attention(q, k, v, mask, dropout=self.drop)
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(output))


# %% MultiHeadAttention · the weights in a private attribute behind a property
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError("The heads do not divide the width.")
        make = lambda: nn.Linear(d_model, d_model, bias=True)
        self.w_q, self.w_k, self.w_v, self.w_o = (make(), make(), make(), make())
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self._weights = None

    @property
    def attention_weights(self):
        return self._weights

    def forward(self, query, key, value, mask=None):
        split = lambda x: split_heads(x, self.num_heads)
        output, weights = scaled_dot_product_attention(split(self.w_q(query)), split(self.w_k(key)), split(self.w_v(value)), mask, self.dropout)
        with torch.no_grad():
            self._weights = weights.clone()
        return self.w_o(merge_heads(output))


# %% MultiHeadAttention · Xavier weights and zero biases, helper method, no dropout module at rate 0
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        d_k, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError("num_heads has to divide d_model")
        self.d_model, self.num_heads, self.d_k = (d_model, num_heads, d_k)
        self.w_q = self._layer()
        self.w_k = self._layer()
        self.w_v = self._layer()
        self.w_o = self._layer()
        self.dropout = nn.Dropout(dropout) if dropout > 0 else None

    def _layer(self):
        layer = nn.Linear(self.d_model, self.d_model)
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
        return layer

    def forward(self, query, key, value, mask=None):
        attended, weights = scaled_dot_product_attention(
            query=split_heads(self.w_q(query), self.num_heads),
            key=split_heads(self.w_k(key), self.num_heads),
            value=split_heads(self.w_v(value), self.num_heads),
            mask=mask,
            dropout=self.dropout,
        )
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(attended))


# %% mended_weights · four dimensions and a mask that broadcasts
def mended_weights(query, key, is_word):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return scores.masked_fill(~is_word[:, None, None, :], -math.inf).softmax(dim=-1)


# %% mended_weights · expands the mask over the heads and folds it like the query
def mended_weights(query, key, is_word):
    batch, num_heads, query_len, d_k = query.shape
    fold = lambda t: t.reshape(batch * num_heads, -1, d_k)
    allowed = is_word[:, None, None].expand(-1, num_heads, 1, -1).reshape(batch * num_heads, 1, -1)
    scores = torch.bmm(fold(query), fold(key).mT) * d_k ** (-0.5)
    weights = torch.where(allowed, scores, -torch.inf).softmax(-1)
    return weights.unflatten(0, (batch, num_heads))


# %% mended_weights · folds with the heads outside, where repeat is right, and turns the result back
def mended_weights(query, key, is_word):
    batch, num_heads, query_len, d_k = query.shape
    query = query.transpose(0, 1).reshape(num_heads * batch, query_len, d_k)
    key = key.transpose(0, 1).reshape(num_heads * batch, -1, d_k)
    allowed = is_word.repeat(num_heads, 1).unsqueeze(1)
    scores = query @ key.transpose(1, 2) / math.sqrt(d_k)
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return weights.reshape(num_heads, batch, query_len, -1).transpose(0, 1)


# %% mended_weights · repeat_interleave in place of repeat
def mended_weights(query, key, is_word):
    batch, num_heads, query_len, d_k = query.shape
    query = query.reshape(batch * num_heads, query_len, d_k)
    key = key.reshape(batch * num_heads, -1, d_k)
    allowed = is_word.repeat_interleave(num_heads, dim=0).unsqueeze(1)
    scores = query @ key.transpose(1, 2) / math.sqrt(d_k)
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return weights.reshape(batch, num_heads, query_len, -1)


# %% mended_weights · repeats the mask along the columns and reshapes it
def mended_weights(query, key, is_word):
    batch, num_heads, query_len, d_k = query.shape
    key_len = key.size(2)
    q, k = (query.flatten(0, 1), key.flatten(0, 1))
    allowed = is_word.repeat(1, num_heads).reshape(batch * num_heads, 1, key_len)
    scores = torch.einsum("nqd,nkd->nqk", q, k) / math.sqrt(d_k)
    weights = F.softmax(scores.masked_fill(allowed.logical_not(), -1000000000.0), dim=-1)
    return weights.view(batch, num_heads, query_len, key_len)


# %% mended_weights · sentence by sentence and head by head
def mended_weights(query, key, is_word):
    sentences = []
    for q, k, real in zip(query, key, is_word):
        heads = []
        for one_q, one_k in zip(q, k):
            scores = (one_q @ one_k.T / one_q.size(-1) ** 0.5).masked_fill(~real, -torch.inf)
            heads.append(scores.softmax(dim=1))
        sentences.append(torch.stack(heads))
    return torch.stack(sentences)


# %% merge_heads · the heads joined along the columns
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


# %% merge_heads · contiguous before view
def merge_heads(x):
    b, h, s, d = x.size()
    y = x.transpose(1, 2).contiguous()
    return y.view(b, s, -1)


# %% merge_heads · einsum, then the rows as a list
def merge_heads(x):
    swapped = torch.einsum("bhsd->bshd", x)
    return torch.stack([sentence.flatten(1) for sentence in swapped])


# %% merge_heads · fills the columns of each head in a loop
def merge_heads(x):
    batch, num_heads, seq_len, d_k = x.shape
    merged = torch.zeros(batch, seq_len, num_heads * d_k, dtype=x.dtype, device=x.device)
    for head in range(num_heads):
        merged[:, :, head * d_k : (head + 1) * d_k] = x[:, head]
    return merged


# %% merge_heads · permute and flatten
def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)


# %% merge_heads · transpose and reshape
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    batch, num_heads, seq_len, d_k = x.shape
    return x.transpose(1, 2).reshape(batch, seq_len, num_heads * d_k)


# %% split_heads · chunks of columns, stacked as heads
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


# %% split_heads · a permutation written as einsum
def split_heads(x, num_heads):
    b, s, d = x.size()
    return torch.einsum("bshd->bhsd", x.reshape(b, s, num_heads, d // num_heads))


# %% split_heads · an empty tensor of the same dtype and device, filled head by head
def split_heads(x, num_heads):
    batch, seq_len, d_model = x.shape
    d_k = int(d_model / num_heads)
    out = x.new_empty(batch, num_heads, seq_len, d_k)
    for head in range(num_heads):
        start = head * d_k
        out[:, head] = x[..., start : start + d_k]
    return out


# %% split_heads · slices of columns in a list comprehension, joined along a new dimension
def split_heads(x, num_heads):
    d_k = x.size(-1) // num_heads
    heads = [x[:, :, i * d_k : (i + 1) * d_k].unsqueeze(1) for i in range(num_heads)]
    return torch.cat(heads, dim=1)


# %% split_heads · columns to the front first, then cut, then the places back
def split_heads(x, num_heads):
    columns = x.transpose(1, 2)
    return columns.unflatten(1, (num_heads, columns.size(1) // num_heads)).transpose(2, 3).contiguous()


# %% split_heads · unflatten and movedim
def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).movedim(2, 1)


# %% split_heads · windows of d_k columns with unfold
def split_heads(x, num_heads):
    d_k = x.shape[2] // num_heads
    return x.unfold(2, d_k, d_k).permute(0, 2, 1, 3)


# %% split_heads · view, then transpose
def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    batch, seq_len, d_model = x.shape
    return x.view(batch, seq_len, num_heads, d_model // num_heads).transpose(1, 2)
