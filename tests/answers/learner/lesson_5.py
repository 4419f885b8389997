"""One learner's answers to lesson 5, cell by cell; they run in its notebook, not here."""

# %% predict_lists
predicted_lists = "0, 20, 60"  # between the quotes: three numbers, for the three ways in turn


# %% Encoder
class Encoder(nn.Module):
    """A stack of encoder layers (§3.1)."""

    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))

    def forward(self, x, src_mask=None):
        """Encode: (batch, src_len, d_model) → the same shape; in the mask True = may attend."""
        for layer in self.layers:
            x = layer(x, src_mask)
        return x


class Decoder(nn.Module):
    """A stack of decoder layers (§3.1)."""

    def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        """Decode under both masks."""
        for layer in self.layers:
            x = layer(x, memory, src_mask=src_mask, tgt_mask=tgt_mask)
        return x


# %% predict_masks
predicted_masks = "the cross-attention, 4 x 6"  # between the quotes


# %% Transformer
class Transformer(nn.Module):
    """The encoder-decoder Transformer (§3)."""

    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False
    ):
        super().__init__()
        self.pad_id = pad_id
        if share_embeddings and src_vocab_size != tgt_vocab_size:
            raise ValueError("to share embeddings both vocabularies must have the same size")
        self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
        self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            shared = self.src_embedding.embedding.weight
            self.tgt_embedding.embedding.weight = shared
            self.output_projection.weight = shared

    def encode(self, src):
        """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
        embedded = self.positional_encoding(self.src_embedding(src))
        return self.encoder(embedded, padding_mask(src, self.pad_id))

    def decode(self, tgt, memory, src):
        """Predict the next token at every position of the target."""
        embedded = self.positional_encoding(self.tgt_embedding(tgt))
        hidden = self.decoder(embedded, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
        return self.output_projection(hidden)

    def forward(self, src, tgt):
        """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
        return self.decode(tgt, self.encode(src), src)


# %% predict_loss
predicted_loss = "10 and 4.6"


# %% initialize_parameters
def initialize_parameters(model: nn.Module) -> None:
    """Draw every matrix of the model from Xavier's uniform distribution, in place; vectors stay."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)


# %% count_parameters
def count_parameters(model: nn.Module) -> int:
    """Count the trainable numbers of a model, those of a shared parameter once."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def expected_parameters(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    """Work out how many parameters a Transformer has whose embeddings are shared."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    enc_layer = attention + feed_forward + 2 * norm
    dec_layer = 2 * attention + feed_forward + 3 * norm
    return num_layers * (enc_layer + dec_layer) + vocab_size * d_model + vocab_size


# %% predict_memory
predicted_memory = "3.4 GB"


# %% count_multiplications
def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):
    """Count the multiplications in the matrix products of one prediction."""

    def attention(q_len, k_len):
        projections = (2 * q_len + 2 * k_len) * d_model**2
        scores = q_len * k_len * d_model
        return projections + 2 * scores

    def ff(n):
        return 2 * n * d_model * d_ff

    enc_layer = attention(src_len, src_len) + ff(src_len)
    dec_layer = attention(tgt_len, tgt_len) + attention(tgt_len, src_len) + ff(tgt_len)
    return num_layers * (enc_layer + dec_layer) + tgt_len * d_model * vocab_size


# %% predict_length
predicted_length = "2560"


# %% mended_load
def mended_load(saved, vocab_size, d_model):
    """Load two ends that share one matrix."""
    with torch.device("meta"):
        ends = shared_ends(vocab_size, d_model)
    for name, tensor in saved.items():
        layer, key = name.split(".")
        setattr(ends[layer], key, nn.Parameter(tensor.clone()))
    ends.output.weight = ends.embedding.weight
    return ends
