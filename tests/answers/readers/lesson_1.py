"""Right answers to lesson 1 by readers who had seen nothing but its text; each runs in the notebook, not here."""

# %% attend_one_query · a lambda with log_softmax and exp
attend_one_query = lambda query, key, value: torch.log_softmax(key.matmul(query), 0).exp().matmul(value)


# %% attend_one_query · computes the weights in float64 and goes back to the dtype of the values
def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    scores = torch.mv(key.to(torch.float64), query.to(torch.float64))
    weights = scores.softmax(0)
    output = torch.mv(value.to(torch.float64).t(), weights)
    return output.to(value.dtype)


# %% attend_one_query · two einsums and a softmax
def attend_one_query(query, key, value):
    weights = F.softmax(torch.einsum("d,kd->k", query, key), dim=-1)
    return torch.einsum("k,kv->v", weights, value)


# %% attend_one_query · a loop over the keys makes the scores, another adds the weighted values
def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    scores = []
    for one_key in key:
        scores.append((query * one_key).sum())
    weights = torch.softmax(torch.stack(scores), dim=0)
    output = 0
    for weight, one_value in zip(weights, value):
        output = output + weight * one_value
    return output


# %% attend_one_query · the formulas word by word, exponentials over their sum, without a shift
def attend_one_query(query, key, value):
    exponentials = [torch.exp(query @ k) for k in key]
    total = sum(exponentials)
    return sum((e / total * v for e, v in zip(exponentials, value)))


# %% attend_one_query · the query as a matrix with one row, squeezed at the end
def attend_one_query(query, key, value):
    scores = query.unsqueeze(0) @ key.transpose(0, 1)
    return (scores.softmax(dim=1) @ value).squeeze(0)


# %% attend_one_query · one pass over the keys with a running maximum
def attend_one_query(query, key, value):
    largest, total, output = (None, 0.0, 0.0)
    for k, v in zip(key, value):
        score = torch.dot(query, k)
        new = score if largest is None else torch.maximum(largest, score)
        if largest is not None:
            shrink = torch.exp(largest - new)
            total, output = (total * shrink, output * shrink)
        e = torch.exp(score - new)
        total, output, largest = (total + e, output + e * v, new)
    return output / total


# %% attend_one_query · softmax by hand, with the largest score taken off first
def attend_one_query(query, key, value):
    scores = key @ query
    e = torch.exp(scores - scores.max())
    weights = e / e.sum()
    return (weights[:, None] * value).sum(dim=0)


# %% causal_mask · compares places of queries and keys
def causal_mask(size):
    places = torch.arange(size)
    return places[:, None] >= places


# %% causal_mask · counts ones from the right over the unit matrix
def causal_mask(size):
    return torch.eye(size).flip(1).cumsum(dim=1).flip(1) > 0


# %% causal_mask · tril_indices, with an optional device
def causal_mask(size: int, device=None) -> torch.Tensor:
    mask = torch.zeros(size, size, dtype=torch.bool, device=device)
    rows, columns = torch.tril_indices(size, size, device=device)
    mask[rows, columns] = True
    return mask


# %% causal_mask · two loops over a tensor of False
def causal_mask(size):
    mask = torch.zeros((size, size), dtype=torch.bool)
    for query in range(size):
        for key in range(query + 1):
            mask[query, key] = True
    return mask


# %% causal_mask · a list of lists of Python's booleans
def causal_mask(size):
    return torch.tensor([[j <= i for j in range(size)] for i in range(size)], dtype=torch.bool)


# %% causal_mask · everything but the triangle above the diagonal
def causal_mask(size):
    return ~torch.triu(torch.full((size, size), True), diagonal=1)


# %% causal_mask · the lower triangle of ones
def causal_mask(size: int) -> torch.Tensor:
    return torch.ones(size, size, dtype=torch.bool).tril()


# %% decoder_mask · compares places on the tokens' device without earlier answers
def decoder_mask(tokens, pad_id=0):
    places = torch.arange(tokens.shape[-1], device=tokens.device)
    past = places.unsqueeze(-1) >= places
    real = tokens.not_equal(pad_id)
    return torch.logical_and(real[:, None, None], past[None, None])


# %% decoder_mask · not (padding or future)
def decoder_mask(tokens, pad_id=0):
    is_pad = ~padding_mask(tokens, pad_id)
    is_future = ~causal_mask(tokens.size(-1)).to(device=tokens.device)
    return ~(is_pad | is_future)


# %% decoder_mask · fills the padding into copies of the causal mask
def decoder_mask(tokens, pad_id=0):
    n, s = tokens.size()
    squares = causal_mask(s).to(tokens.device).repeat(n, 1, 1, 1)
    return squares.masked_fill((tokens == pad_id).view(n, 1, 1, s), False)


# %% decoder_mask · booleans multiplied
def decoder_mask(tokens, pad_id=0):
    causal = causal_mask(tokens.size(1)).to(tokens.device)
    return padding_mask(tokens, pad_id) * causal


# %% decoder_mask · builds the square one query at a time
def decoder_mask(tokens, pad_id=0):
    real = tokens != pad_id
    places = torch.arange(tokens.size(1), device=tokens.device)
    rows = [real & (places <= i) for i in range(tokens.size(1))]
    return torch.stack(rows, dim=1).unsqueeze(1)


# %% decoder_mask · widens the padding mask and keeps its lower triangle
def decoder_mask(tokens, pad_id=0):
    batch, seq_len = tokens.shape
    padding = padding_mask(tokens, pad_id=pad_id).expand(batch, 1, seq_len, seq_len)
    return torch.tril(padding)


# %% decoder_mask · both functions and &
def decoder_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    future = causal_mask(tokens.size(1)).to(tokens.device)
    return padding_mask(tokens, pad_id) & future


# %% mended_nearby_attention · bias and causal mask in one matrix
def mended_nearby_attention(x):
    places = torch.arange(len(x), device=x.device, dtype=x.dtype)
    distance = places[:, None] - places
    bias = (-distance / 4).where(distance >= 0, -math.inf)
    weights = torch.softmax(torch.addmm(bias, x, x.t(), alpha=x.shape[1] ** (-0.5)), -1)
    return (weights.matmul(x), weights)


# %% mended_nearby_attention · einsum, where, and a softmax by hand along the last dimension
def mended_nearby_attention(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    n = x.size(0)
    i = torch.arange(n, device=x.device)
    distance = i.view(n, 1) - i.view(1, n)
    scores = torch.einsum("id,jd->ij", x, x) * x.size(-1) ** (-0.5) - 0.25 * distance
    scores = torch.where(distance >= 0, scores, -torch.inf)
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    return (torch.einsum("ij,jd->id", weights, x), weights)


# %% mended_nearby_attention · the one line, along the rows
def mended_nearby_attention(x):
    places = torch.arange(len(x), device=x.device)
    distance = places[:, None] - places
    scores = x @ x.T / math.sqrt(x.size(1)) - distance / 4
    scores = scores.masked_fill(distance < 0, -math.inf)
    weights = scores.softmax(dim=1)
    return (weights @ x, weights)


# %% mended_nearby_attention · keeps dim=0 but on the transposed scores, and turns the weights back
def mended_nearby_attention(x):
    places = torch.arange(len(x), device=x.device)
    distance = places - places[:, None]
    scores = x @ x.T / math.sqrt(x.size(1)) - distance / 4
    scores = scores.masked_fill(distance < 0, -math.inf)
    weights = scores.softmax(dim=0).T
    return (weights @ x, weights)


# %% mended_nearby_attention · a loop in which each word sees only the words up to itself
def mended_nearby_attention(x):
    n, d = x.shape
    rows = []
    for i in range(n):
        back = torch.arange(i, -1, -1, device=x.device, dtype=x.dtype)
        scores = x[: i + 1] @ x[i] / d**0.5 - back / 4
        rows.append(F.pad(F.softmax(scores, dim=0), (0, n - 1 - i)))
    weights = torch.stack(rows)
    return (weights @ x, weights)


# %% padding_mask · comparison and None indices
def padding_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (tokens != pad_id)[:, None, None, :]


# %% padding_mask · starts from all True and blocks the padding
def padding_mask(tokens: torch.LongTensor, pad_id: int = 0) -> torch.BoolTensor:
    mask = torch.ones_like(tokens, dtype=torch.bool)
    mask[tokens == pad_id] = False
    return mask.unflatten(0, (-1, 1, 1))


# %% padding_mask · a loop over the sentences
def padding_mask(tokens, pad_id=0):
    rows = [torch.logical_not(row == pad_id)[None, None] for row in tokens]
    return torch.stack(rows)


# %% padding_mask · ne and two unsqueezes
def padding_mask(tokens, pad_id=0):
    return tokens.ne(pad_id).unsqueeze(-2).unsqueeze(-2)


# %% padding_mask · where with False and True, reshaped
def padding_mask(tokens, pad_id=0):
    batch, seq_len = tokens.shape
    is_real = torch.where(tokens == pad_id, False, True)
    return is_real.reshape(batch, 1, 1, seq_len)


# %% scaled_dot_product_attention · an additive bias of zeros and minus infinities in a helper, type hints
from typing import Callable, Optional, Tuple


def _bias(mask: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(like).masked_fill(~mask, -math.inf)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: Optional[torch.Tensor] = None,
    dropout: Optional[Callable[[torch.Tensor], torch.Tensor]] = None,
) -> Tuple[torch.Tensor, torch.Tensor]:
    scores = query / math.sqrt(query.shape[-1]) @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores + _bias(mask, scores)
    weights = (dropout or (lambda w: w))(scores.softmax(dim=-1))
    return (weights @ value, weights)


# %% scaled_dot_product_attention · products by broadcasting and summing instead of matrix products
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)
    scores = scores / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill_(torch.logical_not(mask), -torch.inf)
    weights = nn.Softmax(dim=-1)(scores)
    if dropout is not None:
        weights = dropout(weights)
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2)
    return (output, weights)


# %% scaled_dot_product_attention · softmax in float64, weights back in the dtype of the query, optional scale
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None, scale=None):
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float64).to(query.dtype)
    weights = dropout(weights) if dropout is not None else weights
    return (weights @ value, weights)


# %% scaled_dot_product_attention · einsum, and where with the smallest number of the dtype
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * key.shape[-1] ** (-0.5)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if dropout is None else dropout(weights)
    return (torch.einsum("...qk,...kv->...qv", weights, value), weights)


# %% scaled_dot_product_attention · adds the logarithm of the mask, 0 or minus infinity
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = query.matmul(key.transpose(-1, -2)).div(math.sqrt(key.size(-1)))
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = scores.log_softmax(dim=-1).exp()
    if dropout:
        weights = dropout(weights)
    return (weights.matmul(value), weights)


# %% scaled_dot_product_attention · a loop over the queries, which are stacked in the end
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    if mask is not None:
        shape = torch.broadcast_shapes(mask.shape, query.shape[:-1] + key.shape[-2:-1])
        mask = mask.expand(shape)
    rows = []
    for i in range(query.size(-2)):
        score = (key * query[..., i : i + 1, :]).sum(-1) / query.size(-1) ** 0.5
        if mask is not None:
            score = score.masked_fill(~mask[..., i, :], -torch.inf)
        rows.append(score.softmax(-1))
    weights = torch.stack(rows, dim=-2)
    if dropout is not None:
        weights = dropout(weights)
    return (weights @ value, weights)


# %% scaled_dot_product_attention · scales the query first and masks with -1e9
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    query = query / query.shape[-1] ** 0.5
    scores = torch.matmul(query, key.mT)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -1000000000.0)
    p = F.softmax(scores, dim=-1)
    if dropout is not None:
        p = dropout(p)
    return (torch.matmul(p, value), p)


# %% scaled_dot_product_attention · exponentials by hand, the maximum taken over the visible keys
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):

    def softmax(scores):
        e = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
        return e / e.sum(dim=-1, keepdim=True)

    scores = query @ key.swapaxes(-1, -2) / query.size(-1) ** 0.5
    if mask is not None:
        blocked = mask.logical_not()
        scores = scores.masked_fill(blocked, -torch.inf)
    weights = softmax(scores)
    if callable(dropout):
        weights = dropout(weights)
    return (weights @ value, weights)


# %% scaled_dot_product_attention · masked_fill with minus infinity
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return (weights @ value, weights)
