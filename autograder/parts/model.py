"""Parts of lesson 5: the stacks and the whole model."""

import functools
from typing import Protocol

from torch import Tensor, nn

from autograder.parts.attention import TensorFunction, decoder_mask, padding_mask
from autograder.parts.blocks import DecoderLayer, EncoderLayer
from autograder.parts.position import PositionalEncoding, TokenEmbedding


class _Stack(nn.Module):
    """What `nn.TransformerEncoder` and `nn.TransformerDecoder` are without a norm at the end: layers one by one."""

    __call__: TensorFunction
    layer: type[EncoderLayer | DecoderLayer]

    def __init__(self, num_layers: int, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = nn.ModuleList([self.layer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])

    def forward(self, x: Tensor, *others: Tensor | None, **masks: Tensor | None) -> Tensor:
        """(batch, seq_len, d_model) → the same shape; a layer's other arguments go to all of them."""
        return functools.reduce(lambda y, layer: layer(y, *others, **masks), self.layers, x)


class Encoder(_Stack):
    """num_layers times `EncoderLayer` (§3.1): `forward(x, src_mask=None)`."""

    layer = EncoderLayer


class Decoder(_Stack):
    """num_layers times `DecoderLayer` (§3.1): `forward(x, memory, src_mask=None, tgt_mask=None)`."""

    layer = DecoderLayer


class Transformer(nn.Module):
    """The encoder-decoder Transformer (§3), made of the parts above, matrices drawn by Xavier's rule.

    Args:
        src_vocab_size, tgt_vocab_size: numbers of tokens.
        max_len: positions of the longest sequence.
        pad_id: the token that nothing attends to.
        share_embeddings: one matrix for both embeddings and the output layer (§3.4).

    Raises:
        ValueError: with share_embeddings, the vocabularies differ in size.
    """

    __call__: TensorFunction

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
    ) -> None:
        super().__init__()
        if share_embeddings and tgt_vocab_size != src_vocab_size:
            raise ValueError(f"{src_vocab_size} source and {tgt_vocab_size} target tokens cannot share embeddings.")
        sizes = (num_layers, d_model, num_heads, d_ff, dropout)
        self.pad_id = pad_id
        self.src_embedding, self.tgt_embedding = (
            TokenEmbedding(vocab_size, d_model) for vocab_size in (src_vocab_size, tgt_vocab_size)
        )
        self.positional_encoding = PositionalEncoding(d_model, max_len=max_len, dropout=dropout)
        self.encoder, self.decoder = Encoder(*sizes), Decoder(*sizes)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            for tied in (self.tgt_embedding.embedding, self.output_projection):
                tied.weight = self.src_embedding.embedding.weight
        initialize_parameters(self)

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) token ids → memory (batch, src_len, d_model)."""
        embedded = self.positional_encoding(self.src_embedding(src))
        return self.encoder(embedded, src_mask=padding_mask(src, self.pad_id))

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len) token ids and the memory of `src` → logits (batch, tgt_len, tgt_vocab_size)."""
        embedded = self.positional_encoding(self.tgt_embedding(tgt))
        masks = {"src_mask": padding_mask(src, self.pad_id), "tgt_mask": decoder_mask(tgt, self.pad_id)}
        logits: Tensor = self.output_projection(self.decoder(embedded, memory, **masks))
        return logits

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, src_len) and (batch, tgt_len) → logits (batch, tgt_len, tgt_vocab_size)."""
        memory = self.encode(src)
        return self.decode(tgt, memory, src)


def initialize_parameters(model: nn.Module) -> None:
    """Draw every matrix of a model anew by Xavier's rule; vectors stay as they are.

    The three that PyTorch stacks in one are drawn apart, as those of a learner are: as one, they would begin smaller.
    """
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            for matrix in parameter.detach().chunk(3 if name.endswith("in_proj_weight") else 1):
                nn.init.xavier_uniform_(matrix)


class LearnersTransformer(Protocol):
    """A learner's own Transformer, under the contract's names, made of the parts of this package."""

    pad_id: int
    src_embedding: TokenEmbedding
    tgt_embedding: TokenEmbedding
    positional_encoding: PositionalEncoding
    encoder: Encoder
    decoder: Decoder
    output_projection: nn.Linear
