"""One learner's answers to lesson 2, cell by cell; they run in its notebook, not here."""

# %% predict_tell_apart
predicted_tell_apart = "two"

# %% predict_row_1
predicted_row_1 = "cat"


# %% split_heads
def split_heads(x, num_heads):
    """(batch, seq_len, d_model) -> (batch, num_heads, seq_len, d_k)"""
    batch, seq_len, d_model = x.shape
    return x.view(batch, seq_len, num_heads, d_model // num_heads).transpose(1, 2)


# %% predict_view
predicted_view = "no"


# %% merge_heads
def merge_heads(x):
    """(batch, num_heads, seq_len, d_k) -> (batch, seq_len, d_model)"""
    batch, num_heads, seq_len, d_k = x.shape
    return x.transpose(1, 2).reshape(batch, seq_len, num_heads * d_k)


# %% MultiHeadAttention
class MultiHeadAttention(nn.Module):
    """Several attentions side by side."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q = split_heads(self.w_q(query), self.num_heads)
        k = split_heads(self.w_k(key), self.num_heads)
        v = split_heads(self.w_v(value), self.num_heads)
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(out))


# %% predict_parameters
predicted_parameters = "8 times"

# %% predict_one_head
predicted_one_head = "0.5"


# %% mended_weights
def mended_weights(query, key, is_word):
    batch, num_heads, query_len, d_k = query.shape
    query = query.reshape(batch * num_heads, query_len, d_k)
    key = key.reshape(batch * num_heads, -1, d_k)  # (batch · num_heads, key_len, d_k)
    allowed = is_word.repeat(1, num_heads).reshape(batch * num_heads, -1).unsqueeze(1)
    scores = query @ key.transpose(1, 2) / math.sqrt(d_k)
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return weights.reshape(batch, num_heads, query_len, -1)
