"""One learner's answers to lesson 3, cell by cell; they run in its notebook, not here."""

# %% predict_size
predicted_size = "0.04"


# %% TokenEmbedding
class TokenEmbedding(nn.Module):
    """Token vectors times sqrt(d_model)."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.d_model)


# %% predict_change
predicted_change = "a lot, 0.5"


# %% encoding_angle
def encoding_angle(position, column, d_model):
    """angle of the pair of this column"""
    exponent = 2 * (column // 2) / d_model
    return position / 10000**exponent


# %% sinusoidal_encoding
def sinusoidal_encoding(max_len, d_model):
    """(max_len, d_model)"""
    table = torch.zeros(max_len, d_model)
    positions = torch.arange(max_len)[:, None]
    speeds = 1 / 10000 ** (2 * torch.arange(d_model // 2) / d_model)
    angles = positions * speeds
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


# %% predict_round
predicted_round = "10000"


# %% PositionalEncoding
class PositionalEncoding(nn.Module):
    """Add the encoding of each position."""

    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.shape[1]
        if seq_len > len(self.encoding):
            raise ValueError(f"sequence of {seq_len} is longer than the table ({len(self.encoding)})")
        return self.dropout(x + self.encoding[:seq_len])


# %% predict_turn
predicted_turn = "90"


# %% shift_matrix
def shift_matrix(offset, d_model):
    """block diagonal rotation"""
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        angle = encoding_angle(offset, 2 * i, d_model)
        c, s = math.cos(angle), math.sin(angle)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return M


# %% LearnedPositionalEncoding
class LearnedPositionalEncoding(nn.Module):
    """A learned vector for each position."""

    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.position = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.shape[1]
        max_len = self.position.num_embeddings
        if seq_len > max_len:
            raise ValueError(f"sequence of length {seq_len} is longer than max_len = {max_len}")
        return self.dropout(x + self.position(torch.arange(seq_len, device=x.device)))


# %% predict_longer
predicted_longer = "95"


# %% mended_places
def mended_places(tokens, embedding, table):
    d_model = embedding.size(1)
    words = embedding[tokens] * math.sqrt(d_model)
    places = table[: words.size(1)].squeeze()
    return words + places
