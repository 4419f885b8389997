"""Right answers to lesson 5 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% Encoder · an empty ModuleList filled by append in a loop, masks by name
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout))

    def forward(self, x, src_mask=None):
        for layer in self.layers:
            x = layer(x, src_mask=src_mask)
        return x


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        for layer in self.layers:
            x = layer(x, memory, tgt_mask=tgt_mask, src_mask=src_mask)
        return x


# %% Encoder · one base class for both stacks, which is told the kind of layer
class Stack(nn.Module):
    kind = None

    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        make = type(self).kind
        self.layers = nn.ModuleList((make(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)))

    def run(self, x, *args, **masks):
        for layer in self.layers:
            x = layer(x, *args, **masks)
        return x


class Encoder(Stack):
    kind = EncoderLayer

    def forward(self, x, src_mask=None):
        return self.run(x, src_mask=src_mask)


class Decoder(Stack):
    kind = DecoderLayer

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        return self.run(x, memory, src_mask=src_mask, tgt_mask=tgt_mask)


# %% Encoder · a helper that makes the list, layers reached by index, type hints
def make_layers(kind, n: int, *sizes) -> nn.ModuleList:
    layers = []
    while len(layers) < n:
        layers.append(kind(*sizes))
    return nn.ModuleList(layers)


class Encoder(nn.Module):
    layers: nn.ModuleList

    def __init__(self, num_layers: int, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = make_layers(EncoderLayer, num_layers, d_model, num_heads, d_ff, dropout)

    def forward(self, x: torch.Tensor, src_mask: torch.Tensor | None = None) -> torch.Tensor:
        out = x
        for i in range(len(self.layers)):
            out = self.layers[i](out, src_mask)
        return out


class Decoder(nn.Module):
    layers: nn.ModuleList

    def __init__(self, num_layers: int, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = make_layers(DecoderLayer, num_layers, d_model, num_heads, d_ff, dropout)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, src_mask: torch.Tensor | None = None, tgt_mask: torch.Tensor | None = None) -> torch.Tensor:
        out = x
        for i in range(len(self.layers)):
            out = self.layers[i](out, memory, src_mask, tgt_mask)
        return out


# %% Encoder · everything by keyword, forward by recursion over the remaining layers
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        kw = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
        self.layers = nn.ModuleList((EncoderLayer(**kw) for _ in range(num_layers)))

    def forward(self, x, src_mask=None):

        def through(h, layers):
            if not layers:
                return h
            first, *rest = layers
            return through(first(h, src_mask), rest)

        return through(x, list(self.layers))


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        kw = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
        self.layers = nn.ModuleList((DecoderLayer(**kw) for _ in range(num_layers)))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):

        def through(h, layers):
            if not layers:
                return h
            first, *rest = layers
            return through(first(h, memory, src_mask, tgt_mask), rest)

        return through(x, list(self.layers))


# %% Encoder · functools.reduce instead of a loop
from functools import reduce


class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])

    def forward(self, x, src_mask=None):
        return reduce(lambda h, layer: layer(h, src_mask), self.layers, x)


class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        return reduce(lambda h, layer: layer(h, memory, src_mask, tgt_mask), self.layers, x)


# %% Transformer · both masks are written out with comparisons and arange
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and src_vocab_size != tgt_vocab_size:
            raise ValueError("shared embeddings need vocabularies of the same size")
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
            self.output_projection.weight = self.src_embedding.embedding.weight

    def encode(self, src):
        real = (src != self.pad_id)[:, None, None, :]
        return self.encoder(self.positional_encoding(self.src_embedding(src)), real)

    def decode(self, tgt, memory, src):
        place = torch.arange(tgt.size(1), device=tgt.device)
        past = place[None, :] <= place[:, None]
        tgt_mask = past & (tgt != self.pad_id)[:, None, None, :]
        src_mask = (src != self.pad_id).unsqueeze(1).unsqueeze(2)
        y = self.positional_encoding(self.tgt_embedding(tgt))
        y = self.decoder(y, memory, src_mask=src_mask, tgt_mask=tgt_mask)
        return F.linear(y, self.output_projection.weight, self.output_projection.bias)

    def forward(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


# %% Transformer · with sharing the target's embedding is the source's module itself
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len=max_len, dropout=dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=True)
        if share_embeddings:
            if src_vocab_size != tgt_vocab_size:
                raise ValueError(f"cannot share {src_vocab_size} and {tgt_vocab_size} rows")
            self.tgt_embedding = self.src_embedding
            self.output_projection.weight = self.src_embedding.embedding.weight
        else:
            self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)

    def encode(self, src):
        x = self.positional_encoding(self.src_embedding(src))
        return self.encoder(x, padding_mask(src, self.pad_id))

    def decode(self, tgt, memory, src):
        x = self.positional_encoding(self.tgt_embedding(tgt))
        x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
        return self.output_projection(x)

    def forward(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


# %% Transformer · the embeddings take over the output layer's Parameter, in a loop
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            if not src_vocab_size == tgt_vocab_size:
                raise ValueError("The vocabularies differ in size: nothing to share.")
            for side in (self.src_embedding, self.tgt_embedding):
                side.embedding.weight = self.output_projection.weight

    def encode(self, src):
        x = self.positional_encoding(self.src_embedding(src))
        return self.encoder(x, padding_mask(src, self.pad_id))

    def decode(self, tgt, memory, src):
        x = self.positional_encoding(self.tgt_embedding(tgt))
        x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
        return self.output_projection(x)

    def forward(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


# %% Transformer · part after part, ValueError first, the two others take the source's table
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and src_vocab_size != tgt_vocab_size:
            raise ValueError("shared embeddings need vocabularies of the same size")
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
            self.output_projection.weight = self.src_embedding.embedding.weight

    def encode(self, src):
        x = self.positional_encoding(self.src_embedding(src))
        return self.encoder(x, padding_mask(src, self.pad_id))

    def decode(self, tgt, memory, src):
        x = self.positional_encoding(self.tgt_embedding(tgt))
        x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
        return self.output_projection(x)

    def forward(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


# %% Transformer · helper methods for embedding and for both masks
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and src_vocab_size != tgt_vocab_size:
            raise ValueError("shared embeddings need vocabularies of the same size")
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
            self.output_projection.weight = self.src_embedding.embedding.weight

    def encode(self, src):
        return self.encoder(self._embed(self.src_embedding, src), src_mask=self._pads(src))

    def decode(self, tgt, memory, src):
        hidden = self.decoder(self._embed(self.tgt_embedding, tgt), memory, src_mask=self._pads(src), tgt_mask=decoder_mask(tgt, pad_id=self.pad_id))
        return self.output_projection(hidden)

    def forward(self, src, tgt):
        memory = self.encode(src)
        return self.decode(tgt=tgt, memory=memory, src=src)

    def _embed(self, table, tokens):
        return self.positional_encoding(table(tokens))

    def _pads(self, tokens):
        return padding_mask(tokens, pad_id=self.pad_id)


# %% Transformer · shares by register_parameter
class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and src_vocab_size != tgt_vocab_size:
            raise ValueError("shared embeddings need vocabularies of the same size")
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            table = self.src_embedding.embedding.weight
            self.tgt_embedding.embedding.register_parameter("weight", table)
            self.output_projection.register_parameter("weight", table)

    def encode(self, src):
        x = self.positional_encoding(self.src_embedding(src))
        return self.encoder(x, padding_mask(src, self.pad_id))

    def decode(self, tgt, memory, src):
        x = self.positional_encoding(self.tgt_embedding(tgt))
        x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
        return self.output_projection(x)

    def forward(self, src, tgt):
        return self.decode(tgt, self.encode(src), src)


# %% Transformer · type hints, sizes in a dict, an extra optional argument that may switch off the bias
class Transformer(nn.Module):
    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int = 512,
        num_heads: int = 8,
        num_layers: int = 6,
        d_ff: int = 2048,
        dropout: float = 0.1,
        max_len: int = 5000,
        pad_id: int = 0,
        share_embeddings: bool = False,
        output_bias: bool = True,
    ) -> None:
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and tgt_vocab_size != src_vocab_size:
            raise ValueError
        stack = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.encoder = Encoder(num_layers, **stack)
        self.decoder = Decoder(num_layers, **stack)
        self.src_embedding, self.tgt_embedding = (TokenEmbedding(size, d_model) for size in (src_vocab_size, tgt_vocab_size))
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=output_bias)
        if share_embeddings:
            shared = self.src_embedding.embedding.weight
            self.tgt_embedding.embedding.weight = self.output_projection.weight = shared

    def encode(self, src: torch.Tensor) -> torch.Tensor:
        mask = padding_mask(src, self.pad_id)
        return self.encoder(self.positional_encoding(self.src_embedding(src)), mask)

    def decode(self, tgt: torch.Tensor, memory: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
        masks = {"src_mask": padding_mask(src, self.pad_id), "tgt_mask": decoder_mask(tgt, self.pad_id)}
        y = self.positional_encoding(self.tgt_embedding(tgt))
        return self.output_projection(self.decoder(y, memory, **masks))

    def forward(self, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
        return self.decode(tgt, self.encode(src), src)


# %% count_multiplications · functions for attention and feed-forward
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):

    def attention(query_len, key_len):
        projections = 2 * query_len * d_model**2 + 2 * key_len * d_model**2
        return projections + 2 * query_len * d_model * key_len

    def feed_forward(length):
        return 2 * length * d_model * d_ff

    encoder_layer = attention(src_len, src_len) + feed_forward(src_len)
    decoder_layer = attention(tgt_len, tgt_len) + attention(tgt_len, src_len) + feed_forward(tgt_len)
    return num_layers * (encoder_layer + decoder_layer) + tgt_len * d_model * vocab_size


# %% count_multiplications · lambdas, weights and scores counted apart
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):
    weights = lambda q, k: 2 * (q + k) * d_model * d_model
    scores = lambda q, k: 2 * q * k * d_model
    ffn = lambda n: 2 * n * d_model * d_ff
    pairs = [(src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)]
    per_layer = sum((weights(*pair) + scores(*pair) for pair in pairs)) + ffn(src_len) + ffn(tgt_len)
    return per_layer * num_layers + vocab_size * d_model * tgt_len


# %% count_multiplications · a single formula in s, t, d
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):
    s, t, d = (src_len, tgt_len, d_model)
    encoder = 4 * s * d * d + 2 * s * s * d + 2 * s * d * d_ff
    decoder = 6 * t * d * d + 2 * s * d * d + 2 * t * t * d + 2 * t * s * d + 2 * t * d * d_ff
    return num_layers * (encoder + decoder) + t * d * vocab_size


# %% count_multiplications · lists every matrix product (n, k, m) and sums them
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):

    def attention(q, k):
        d = d_model
        return [(q, d, d), (k, d, d), (k, d, d), (q, d, k), (q, k, d), (q, d, d)]

    def network(n):
        return [(n, d_model, d_ff), (n, d_ff, d_model)]

    products = []
    for _ in range(num_layers):
        products += attention(src_len, src_len) + network(src_len)
        products += attention(tgt_len, tgt_len) + attention(tgt_len, src_len) + network(tgt_len)
    products.append((tgt_len, d_model, vocab_size))
    return sum((math.prod(product) for product in products))


# %% count_multiplications · a running total in a loop over the layers, with a helper for products
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):

    def product(n, k, m):
        return n * k * m

    total = 0
    for layer in range(num_layers):
        for q, k in ((src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)):
            total += 2 * product(q, d_model, d_model)
            total += 2 * product(k, d_model, d_model)
            total += product(q, d_model, k)
            total += product(q, k, d_model)
        for n in (src_len, tgt_len):
            total += product(n, d_model, d_ff) + product(n, d_ff, d_model)
    return total + product(tgt_len, d_model, vocab_size)


# %% count_parameters · a dict keyed by the Parameter drops duplicates; layers added in a loop
def count_parameters(model: nn.Module) -> int:
    unique = dict.fromkeys((p for _, p in model.named_parameters(remove_duplicate=False) if p.requires_grad))
    return sum((p.numel() for p in unique))


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    att = 4 * d_model * (d_model + 1)
    ffn = d_ff * (d_model + 1) + d_model * (d_ff + 1)
    norm = d_model + d_model
    total = vocab_size * d_model
    for _ in range(num_layers):
        total += att + norm + ffn + norm
        total += att + norm + att + norm + ffn + norm
    total += vocab_size
    return total


# %% count_parameters · numels in a list comprehension; a single polynomial
def count_parameters(model: nn.Module) -> int:
    return int(sum([parameter.numel() for _, parameter in model.named_parameters() if parameter.requires_grad]))


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    d, f = (d_model, d_ff)
    return num_layers * (12 * d * d + 12 * d + 4 * d * f + 2 * f + 2 * d + 10 * d) + vocab_size * (d + 1)


# %% count_parameters · generator sum; named pieces
def count_parameters(model: nn.Module) -> int:
    return sum((p.numel() for p in model.parameters() if p.requires_grad))


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return num_layers * (encoder_layer + decoder_layer) + vocab_size * d_model + vocab_size


# %% count_parameters · remembers ids of what has been counted; functions inside for the pieces
def count_parameters(model: nn.Module) -> int:
    seen, total = (set(), 0)
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if id(p) not in seen and p.requires_grad:
                seen.add(id(p))
                total += math.prod(p.shape)
    return total


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:

    def linear(d_in, d_out):
        return d_in * d_out + d_out

    def norms(n):
        return n * 2 * d_model

    attention = 4 * linear(d_model, d_model)
    network = linear(d_model, d_ff) + linear(d_ff, d_model)
    layers = 3 * attention + 2 * network + norms(5)
    return linear(d_model, vocab_size) + num_layers * layers


# %% count_parameters · explicit loop; sums over a list of shapes, as in the listing
def count_parameters(model: nn.Module) -> int:
    count = 0
    for p in model.parameters():
        if not p.requires_grad:
            continue
        count += p.nelement()
    return count


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    d = d_model
    attention = [(d, d), (d,)] * 4
    feed_forward = [(d_ff, d), (d_ff,), (d, d_ff), (d,)]
    norm = [(d,), (d,)]
    encoder_layer = attention + feed_forward + norm * 2
    decoder_layer = attention * 2 + feed_forward + norm * 3
    everything = (encoder_layer + decoder_layer) * num_layers + [(vocab_size, d), (vocab_size,)]
    return sum((math.prod(shape) for shape in everything))


# %% initialize_parameters · model.apply with the direct parameters of each module
def initialize_parameters(model: nn.Module) -> None:

    def visit(module):
        for p in module.parameters(recurse=False):
            if p.dim() >= 2:
                nn.init.xavier_uniform_(p)

    model.apply(visit)


# %% initialize_parameters · writes the bound out and draws with uniform_ under no_grad
def initialize_parameters(model: nn.Module) -> None:
    with torch.no_grad():
        for p in model.parameters():
            if len(p.shape) < 2:
                continue
            rest = math.prod(p.shape[2:])
            bound = math.sqrt(6 / ((p.shape[0] + p.shape[1]) * rest))
            p.uniform_(-bound, bound)


# %% initialize_parameters · draws torch.rand_like, stretches it and copies it in, through a helper
def _xavier_like(p):
    fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(p)
    limit = (6.0 / (fan_in + fan_out)) ** 0.5
    return (2 * torch.rand_like(p) - 1) * limit


def initialize_parameters(model: nn.Module) -> None:
    for _, p in model.named_parameters():
        if p.dim() > 1:
            with torch.no_grad():
                p.copy_(_xavier_like(p))


# %% initialize_parameters · filters the matrices first, then draws each
def initialize_parameters(model: nn.Module) -> None:
    matrices = filter(lambda p: p.ndim >= 2, model.parameters())
    for matrix in matrices:
        nn.init.xavier_uniform_(matrix, gain=1.0)


# %% initialize_parameters · a loop over the parameters, dim() > 1
def initialize_parameters(model: nn.Module) -> None:
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


# %% mended_load · load_state_dict with assign=True on clones, then shares
def mended_load(saved, vocab_size, d_model):
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    ends.load_state_dict({name: tensor.clone() for name, tensor in saved.items()}, assign=True)
    ends.embedding.weight = nn.Parameter(ends.embedding.weight.detach())
    ends.output.weight = ends.embedding.weight
    return ends


# %% mended_load · remembers which old parameter each new one stands for
def mended_load(saved, vocab_size, d_model):
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    new = {}
    for name, tensor in saved.items():
        layer, key = name.split(".")
        old = getattr(ends[layer], key)
        if old not in new:
            new[old] = nn.Parameter(tensor.clone())
        setattr(ends[layer], key, new[old])
    return ends


# %% mended_load · builds it for real, with dtype and device of the saved, and copies the numbers in
def mended_load(saved, vocab_size, d_model):
    ends = shared_ends(vocab_size, d_model).to(saved["embedding.weight"])
    ends.load_state_dict(saved)
    return ends


# %% mended_load · skips the output's weight in the loop and lets it be the embedding's
def mended_load(saved, vocab_size, d_model):
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    for name in saved:
        layer, key = name.split(".")
        if name != "output.weight":
            setattr(ends[layer], key, nn.Parameter(saved[name].clone()))
    setattr(ends["output"], "weight", ends["embedding"].weight)
    return ends


# %% mended_load · makes the two Parameters by name, the table once
def mended_load(saved, vocab_size, d_model):
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    table = nn.Parameter(saved["embedding.weight"].clone())
    ends["embedding"].weight = table
    ends["output"].weight = table
    ends["output"].bias = nn.Parameter(saved["output.bias"].clone())
    return ends


# %% mended_load · shares again after the loop
def mended_load(saved, vocab_size, d_model):
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    for name, tensor in saved.items():
        layer, key = name.split(".")
        setattr(ends[layer], key, nn.Parameter(tensor.clone()))
    ends.output.weight = ends.embedding.weight
    return ends
