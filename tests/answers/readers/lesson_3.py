"""Right answers to lesson 3 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% LearnedPositionalEncoding · looks positions up on the input's device
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        self.position = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seq_len, max_len = (x.size(1), self.position.num_embeddings)
        if seq_len > max_len:
            raise ValueError(f"A sequence of length {seq_len} is longer than the table, {max_len}.")
        positions = torch.arange(seq_len, device=x.device)
        return self.dropout(x + self.position(positions))


# %% LearnedPositionalEncoding · an index for each word of the batch, made from the input
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        self.max_len = max_len
        self.position = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("seq_len {} exceeds max_len {}".format(x.size(1), self.max_len))
        grid = torch.ones(x.shape[:2], dtype=torch.long, device=x.device).cumsum(dim=1) - 1
        return self.dropout(torch.add(x, self.position(grid)))


# %% LearnedPositionalEncoding · the first rows of the weight, small start values
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.position = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.position.weight, std=0.02)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        n = x.shape[1]
        if n > len(self.position.weight):
            raise ValueError(f"{n} positions, but only {len(self.position.weight)} rows")
        return self.drop(x + self.position.weight[:n])


# %% LearnedPositionalEncoding · position numbers kept in a buffer outside the state, uniform start values
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.position = nn.Embedding(max_len, d_model)
        self.position.weight.data.uniform_(-0.1, 0.1)
        self.register_buffer("numbers", torch.arange(max_len), persistent=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        length, limit = (x.size(1), self.numbers.numel())
        if length > limit:
            raise ValueError(f"{length} is more than {limit}")
        rows = F.embedding(self.numbers[:length], self.position.weight)
        return self.dropout(rows[None] + x)


# %% PositionalEncoding · buffer and dropout on the sum
class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seq_len, max_len = (x.size(1), self.encoding.size(0))
        if seq_len > max_len:
            raise ValueError(f"A sequence of length {seq_len} is longer than the table, {max_len}.")
        return self.dropout(x + self.encoding[:seq_len])


# %% PositionalEncoding · F.dropout with the module's own training flag
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.p = dropout
        self.register_buffer("encoding", parts.sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        n, limit = (x.size(-2), self.encoding.size(0))
        if n > limit:
            raise ValueError(f"{n} > {limit}")
        return F.dropout(x + self.encoding[:n], p=self.p, training=self.training)


# %% PositionalEncoding · makes the table itself, narrow and an explicit batch dimension
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.max_len = max_len
        self.drop = nn.Dropout(p=dropout)
        angles = torch.arange(max_len).double()[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
        table = torch.empty(max_len, d_model)
        table[:, ::2], table[:, 1::2] = (angles.sin(), angles.cos())
        self.register_buffer("encoding", table)

    def _check(self, length):
        if length > self.max_len:
            raise ValueError("got %d positions, but there are only %d" % (length, self.max_len))

    def forward(self, x):
        self._check(x.shape[1])
        rows = self.encoding.narrow(0, 0, x.shape[1])
        return self.drop(x.add(rows.unsqueeze(0)))


# %% PositionalEncoding · adds sentence by sentence and stacks
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(1) > self.encoding.size(0):
            raise ValueError(f"{x.size(1)} words do not fit into {self.encoding.size(0)} rows")
        rows = self.encoding[: x.size(1)]
        return self.dropout(torch.stack([sentence + rows for sentence in x]))


# %% PositionalEncoding · takes the rows by index on the input's device, keywords for the table
class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("encoding", sinusoidal_encoding(max_len=max_len, d_model=d_model))

    def forward(self, x):
        batch, seq_len, _ = x.shape
        if not seq_len <= len(self.encoding):
            raise ValueError(f"seq_len={seq_len!r} max_len={len(self.encoding)}")
        places = torch.arange(seq_len, device=x.device).expand(batch, seq_len)
        return self.dropout(x + self.encoding[places])


# %% TokenEmbedding · F.embedding and the width of the table
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens):
        table = self.embedding.weight
        return F.embedding(tokens, table).mul(table.shape[1] ** 0.5)


# %% TokenEmbedding · one-hot vectors times the table
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens):
        table = self.embedding.weight
        one_hot = F.one_hot(tokens, len(table)).to(table.dtype)
        return one_hot @ table * math.sqrt(self.embedding.embedding_dim)


# %% TokenEmbedding · the table times the root of the width
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.d_model = d_model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.embedding(tokens) * math.sqrt(self.d_model)


# %% TokenEmbedding · initialised with 1/root, rows taken by indexing
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)
        nn.init.normal_(self.embedding.weight, mean=0.0, std=d_model ** (-0.5))
        self.scale = d_model**0.5

    def forward(self, tokens):
        return self.scale * self.embedding.weight[tokens]


# %% encoding_angle · exp and log, the even column by bits
def encoding_angle(position, column, d_model):
    return position * math.exp(-math.log(10000.0) * (column & ~1) / d_model)


# %% encoding_angle · integer division for the pair
def encoding_angle(position: int, column: int, d_model: int) -> float:
    pair = column // 2
    return position / 10000 ** (2 * pair / d_model)


# %% encoding_angle · an odd column asks for the angle of its neighbour
def encoding_angle(position, column, d_model):
    if column % 2 == 1:
        return encoding_angle(position, column - 1, d_model)
    return float(position) / 10000.0 ** (column / d_model)


# %% encoding_angle · the even column by taking the remainder off
def encoding_angle(position, column, d_model):
    even = column - column % 2
    return position * math.pow(10000, -even / d_model)


# %% encoding_angle · a float64 tensor turned into a number
def encoding_angle(position, column, d_model):
    exponent = torch.tensor(2 * (column // 2), dtype=torch.float64) / d_model
    return (position / torch.tensor(10000.0, dtype=torch.float64).pow(exponent)).item()


# %% mended_places · places by index, the middle dimension squeezed
def mended_places(tokens, embedding, table):
    seq_len = tokens.size(-1)
    places = table.squeeze(1).index_select(0, torch.arange(seq_len, device=table.device))
    return torch.add(places, embedding[tokens], alpha=math.sqrt(embedding.size(1)))


# %% mended_places · word by word
def mended_places(tokens, embedding, table):
    root = math.sqrt(embedding.size(1))
    sentences = []
    for sentence in tokens:
        rows = [embedding[token] * root + table[place, 0] for place, token in enumerate(sentence)]
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


# %% mended_places · adds with the words first and turns the result back
def mended_places(tokens, embedding, table):
    d_model = embedding.size(1)
    words = embedding[tokens.T] * math.sqrt(d_model)
    places = table[: len(words)]
    return (words + places).transpose(0, 1)


# %% mended_places · rows for the words, without the middle dimension
def mended_places(tokens, embedding, table):
    d_model = embedding.size(1)
    words = embedding[tokens] * math.sqrt(d_model)
    places = table[: words.size(1), 0]
    return words + places


# %% mended_places · the first two dimensions of the rows exchanged
def mended_places(tokens, embedding, table):
    words = F.embedding(tokens, embedding) * embedding.shape[-1] ** 0.5
    return words + table[: tokens.shape[1]].transpose(0, 1)


# %% shift_matrix · block_diag of small matrices
def shift_matrix(offset, d_model):

    def rotation(angle):
        c, s = (math.cos(angle), math.sin(angle))
        return torch.tensor([[c, s], [-s, c]])

    angles = (offset / 10000 ** (2 * i / d_model) for i in range(d_model // 2))
    return torch.block_diag(*map(rotation, angles))


# %% shift_matrix · three diagonals made from vectors of sines and cosines
def shift_matrix(offset, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = offset * 10000.0 ** (-even / d_model)
    cos = angles.cos().repeat_interleave(2)
    upper = torch.stack([angles.sin(), torch.zeros_like(angles)], dim=1).flatten()[:-1]
    return (torch.diag(cos) + torch.diag(upper, 1) - torch.diag(upper, -1)).float()


# %% shift_matrix · the matrix exponential of the speeds
def shift_matrix(offset, d_model):
    speeds = [1 / 10000 ** (c / d_model) for c in range(0, d_model, 2)]
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    generator = torch.block_diag(*[speed * turn for speed in speeds])
    return torch.matrix_exp(offset * generator).to(torch.float32)


# %% shift_matrix · assigns 2 x 2 squares
def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
    matrix = torch.zeros(d_model, d_model)
    for column in range(0, d_model, 2):
        angle = encoding_angle(offset, column, d_model)
        sin, cos = (math.sin(angle), math.cos(angle))
        matrix[column : column + 2, column : column + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    return matrix


# %% shift_matrix · assigns with strided index tensors
def shift_matrix(offset, d_model):
    m = torch.zeros(d_model, d_model)
    even = torch.arange(0, d_model, 2)
    angles = torch.tensor([parts.encoding_angle(offset, c, d_model) for c in even.tolist()])
    m[even, even] = m[even + 1, even + 1] = angles.cos()
    m[even, even + 1] = angles.sin()
    m[even + 1, even] = -angles.sin()
    return m


# %% sinusoidal_encoding · hands as complex numbers
def sinusoidal_encoding(max_len, d_model):
    i = torch.arange(d_model // 2, dtype=torch.float64)
    angles = torch.arange(max_len).double()[:, None] / 10000 ** (2 * i / d_model)
    hands = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(hands).flip(-1).reshape(max_len, d_model).to(torch.float32)


# %% sinusoidal_encoding · the form with exp and log in float32
def sinusoidal_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


# %% sinusoidal_encoding · computed in float64, pairs stacked and flattened
def sinusoidal_encoding(max_len, d_model):
    positions = torch.arange(max_len, dtype=torch.float64)
    speeds = torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.outer(positions, speeds)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


# %% sinusoidal_encoding · two loops around encoding_angle
def sinusoidal_encoding(max_len, d_model):
    rows = []
    for position in range(max_len):
        row = []
        for column in range(d_model):
            angle = encoding_angle(position, column, d_model)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


# %% sinusoidal_encoding · positions as a column times speeds as a row
def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
    positions = torch.arange(max_len)[:, None]
    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(max_len, d_model)
    table[:, 0::2] = torch.sin(positions * speeds)
    table[:, 1::2] = torch.cos(positions * speeds)
    return table


# %% sinusoidal_encoding · all columns at once, where chooses sine or cosine
def sinusoidal_encoding(max_len, d_model):
    column = torch.arange(d_model)
    exponent = (column - column % 2) / d_model
    angles = torch.arange(max_len).unsqueeze(1) / torch.pow(10000, exponent)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())
