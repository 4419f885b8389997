"""One learner's answers to lesson 1, cell by cell; they run in its notebook, not here."""

# %% predict_chased
predicted_chased = "some"


# %% attend_one_query
def attend_one_query(query, key, value):
    """Average the values, each weighted by how well its key matches the query."""
    exps = [torch.exp(torch.dot(query, k)) for k in key]
    total = sum(exps)
    result = torch.zeros(len(value[0]))
    for e, v in zip(exps, value):
        result += e / total * v
    return result


# %% predict_upper_row
predicted_upper_row = "even out"

# %% predict_way
predicted_way = "3"

# %% predict_third_key
predicted_third_key = "0.0"


# %% scaled_dot_product_attention
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    """softmax(query key^T / sqrt(d_k)) value"""
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    if dropout:
        weights = dropout(weights)
    return weights @ value, weights


# %% padding_mask
def padding_mask(tokens, pad_id=0):
    """True where a token is real."""
    return (tokens != pad_id)[:, None, None]


# %% predict_leak
predicted_leak = "B"


# %% causal_mask
def causal_mask(size):
    """Position i may look at 0..i."""
    return torch.tril(torch.ones(size, size)).bool()


# %% decoder_mask
def decoder_mask(tokens, pad_id=0):
    """Real and not in the future."""
    future = causal_mask(tokens.shape[1]).to(tokens.device)
    return padding_mask(tokens, pad_id) & future


# %% mended_nearby_attention
def mended_nearby_attention(x):
    places = torch.arange(len(x), device=x.device)
    distance = places[:, None] - places
    scores = x @ x.T / math.sqrt(x.size(1)) - distance / 4
    scores = scores.masked_fill(distance < 0, -math.inf)
    weights = scores.softmax(dim=1)
    return weights @ x, weights
