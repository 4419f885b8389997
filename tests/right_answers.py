"""Other right answers: each must earn all points of its exercise, and silently."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Right:
    """One right answer that is not the solution: what is different, and its whole source."""

    exercise: str
    what: str
    source: str


def right(exercise: str, what: str, source: str) -> Right:
    """A right answer, its source given indented."""
    return Right(exercise, what, dedent(source).strip())


def attention(what: str, body: str) -> Right:
    """A right `scaled_dot_product_attention` with this body."""
    head = "def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):\n"
    lines = dedent(body).strip().splitlines()
    return Right("scaled_dot_product_attention", what, head + "\n".join(f"    {line}" for line in lines))


LESSON_1 = [
    right(
        "attend_one_query",
        "a matrix product",
        """
        def attend_one_query(query, key, value):
            return torch.softmax(key @ query, 0) @ value
    """,
    ),
    right(
        "attend_one_query",
        "loops with math.exp",
        """
        def attend_one_query(query, key, value):
            weights = [math.exp(sum(float(q) * float(k) for q, k in zip(query, row))) for row in key]
            output = torch.zeros(value.shape[1])
            for weight, row in zip(weights, value):
                output += weight / sum(weights) * row
            return output
    """,
    ),
    right(
        "attend_one_query",
        "einsum",
        """
        def attend_one_query(query, key, value):
            return torch.einsum("k,kv->v", torch.einsum("d,kd->k", query, key).softmax(-1), value)
    """,
    ),
    attention(
        "matmul, masked with −1e9",
        """
        scores = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = F.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return torch.matmul(weights, value), weights
    """,
    ),
    attention(
        "einsum, torch.where, the dtype's smallest number",
        """
        scores = torch.einsum("...qd,...kd->...qk", query, key).div(math.sqrt(key.size(-1)))
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        weights = weights if dropout is None else dropout(weights)
        return torch.einsum("...qk,...kv->...qv", weights, value), weights
    """,
    ),
    attention(
        "query scaled first, exp of log_softmax, −1e4",
        """
        scores = (query / query.size(-1) ** 0.5) @ key.mT
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -1e4)
        weights = torch.log_softmax(scores, -1).exp()
        if dropout:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    attention(
        "softmax by hand, shifted by the maximum",
        """
        scores = query @ key.swapaxes(-1, -2) / torch.sqrt(torch.tensor(query.size(-1), dtype=query.dtype))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        if dropout is not None:
            weights = dropout(weights)
        return weights.matmul(value), weights
    """,
    ),
    attention(
        "additive mask",
        """
        import numpy as np
        scores = query @ key.transpose(-2, -1) / np.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return [weights @ value, weights]
    """,
    ),
    attention(
        "in place on tensors of its own",
        """
        scores = query @ key.transpose(-2, -1)
        scores /= math.sqrt(query.size(-1))
        if mask is not None:
            scores.masked_fill_(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    attention(
        "index assignment on a clone",
        """
        scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).clone()
        if mask is not None:
            scores[~mask.expand_as(scores)] = -1e20
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    attention(
        "folded to three dimensions for bmm",
        """
        leading = query.shape[:-2]
        q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        scores = scores.reshape(*leading, *scores.shape[-2:])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        output = torch.bmm(weights.reshape(-1, *weights.shape[-2:]), v)
        return output.reshape(*leading, *output.shape[-2:]), weights
    """,
    ),
    attention(
        "a loop over the queries",
        """
        rows = []
        for i in range(query.size(-2)):
            row = (query[..., i : i + 1, :] * key).sum(-1) / math.sqrt(query.size(-1))
            if mask is not None:
                full = mask.expand(*query.shape[:-1], key.size(-2))
                row = row.masked_fill(~full[..., i, :], -math.inf)
            rows.append(row.softmax(-1))
        weights = torch.stack(rows, dim=-2)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    attention(
        "warns, and prints on stderr",
        """
        import sys
        import warnings
        warnings.warn("slow")
        print("debugging", file=sys.stderr)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    attention(
        "products in the other order",
        """
        scores = (key @ query.transpose(-2, -1)).transpose(-2, -1) / query.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return (value.transpose(-2, -1) @ weights.transpose(-2, -1)).transpose(-2, -1), weights
    """,
    ),
    attention(
        "double precision inside",
        """
        scores = query.double() @ key.double().transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1).to(query.dtype)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """,
    ),
    right(
        "padding_mask",
        "unsqueeze and ne",
        """
        def padding_mask(tokens, pad_id=0):
            return tokens.ne(pad_id).unsqueeze(1).unsqueeze(2)
    """,
    ),
    right(
        "padding_mask",
        "logical_not and view",
        """
        def padding_mask(tokens, pad_id=0):
            return torch.logical_not(tokens == pad_id).view(tokens.shape[0], 1, 1, -1)
    """,
    ),
    right(
        "padding_mask",
        "loops",
        """
        def padding_mask(tokens, pad_id=0):
            rows = [[[[bool(token != pad_id) for token in row]]] for row in tokens]
            return torch.tensor(rows)
    """,
    ),
    right(
        "causal_mask",
        "compares positions",
        """
        def causal_mask(size):
            position = torch.arange(size)
            return position[None, :] <= position[:, None]
    """,
    ),
    right(
        "causal_mask",
        "no future",
        """
        def causal_mask(size):
            return ~torch.triu(torch.ones(size, size), diagonal=1).bool()
    """,
    ),
    right(
        "causal_mask",
        "tril then bool",
        """
        def causal_mask(size):
            return torch.ones(size, size).tril() == 1
    """,
    ),
    right(
        "causal_mask",
        "NumPy",
        """
        def causal_mask(size):
            import numpy as np
            return torch.from_numpy(np.tril(np.ones((size, size), dtype=bool)))
    """,
    ),
    right(
        "causal_mask",
        "loops",
        """
        def causal_mask(size):
            mask = torch.zeros(size, size, dtype=torch.bool)
            for i in range(size):
                mask[i, : i + 1] = True
            return mask
    """,
    ),
    right(
        "causal_mask",
        "PyTorch's own, converted",
        """
        def causal_mask(size):
            return nn.Transformer.generate_square_subsequent_mask(size) == 0
    """,
    ),
    right(
        "decoder_mask",
        "written out",
        """
        def decoder_mask(tokens, pad_id=0):
            past = torch.ones(tokens.size(1), tokens.size(1), device=tokens.device).tril().bool()
            return (tokens != pad_id)[:, None, None, :] & past[None, None]
    """,
    ),
    right(
        "decoder_mask",
        "logical_and",
        """
        def decoder_mask(tokens, pad_id=0):
            return torch.logical_and(padding_mask(tokens, pad_id), causal_mask(tokens.shape[-1]).to(tokens.device))
    """,
    ),
    right(
        "decoder_mask",
        "a product",
        """
        def decoder_mask(tokens, pad_id=0):
            return padding_mask(tokens, pad_id) * causal_mask(tokens.size(1)).to(tokens.device)
    """,
    ),
    right(
        "decoder_mask",
        "padding queries blocked as well",
        """
        def decoder_mask(tokens, pad_id=0):
            keys = padding_mask(tokens, pad_id)
            return keys & keys.transpose(-2, -1) & causal_mask(tokens.size(1)).to(tokens.device)
    """,
    ),
]


def layer(what: str, *, init: str = "", forward: str) -> Right:
    """A right `MultiHeadAttention`; `init` stands behind the layers."""
    source = f"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        {init or "pass"}

    def forward(self, query, key, value, mask=None):
{chr(10).join("        " + line for line in dedent(forward).strip().splitlines())}
"""
    return Right("MultiHeadAttention", what, source.strip())


LESSON_2 = [
    right(
        "split_heads",
        "reshape and permute",
        """
        def split_heads(x, num_heads):
            return x.reshape(*x.shape[:2], num_heads, -1).permute(0, 2, 1, 3)
    """,
    ),
    right(
        "split_heads",
        "chunk and stack",
        """
        def split_heads(x, num_heads):
            return torch.stack(torch.chunk(x, num_heads, dim=2), dim=1)
    """,
    ),
    right(
        "split_heads",
        "unflatten",
        """
        def split_heads(x, num_heads):
            return x.unflatten(-1, (num_heads, x.size(-1) // num_heads)).transpose(1, 2).contiguous()
    """,
    ),
    right(
        "split_heads",
        "a loop over the heads",
        """
        def split_heads(x, num_heads):
            d_k = x.size(-1) // num_heads
            heads = x.new_empty(x.size(0), num_heads, x.size(1), d_k)
            for i in range(num_heads):
                heads[:, i] = x[:, :, i * d_k : (i + 1) * d_k]
            return heads
    """,
    ),
    right(
        "merge_heads",
        "contiguous view",
        """
        def merge_heads(x):
            batch, num_heads, seq_len, d_k = x.shape
            return x.transpose(1, 2).contiguous().view(batch, seq_len, num_heads * d_k)
    """,
    ),
    right(
        "merge_heads",
        "cat",
        """
        def merge_heads(x):
            return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)
    """,
    ),
    right(
        "merge_heads",
        "permute and reshape",
        """
        def merge_heads(x):
            return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)
    """,
    ),
    layer(
        "everything inline",
        init="self.dropout = nn.Dropout(dropout)",
        forward="""
        q, k, v = [w(x).view(x.size(0), x.size(1), self.h, self.d_k).transpose(1, 2)
                   for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))]
        scores = q @ k.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = self.dropout(scores.softmax(-1))
        self.attention_weights = weights.detach()
        return self.w_o((weights @ v).transpose(1, 2).reshape(query.size(0), -1, self.h * self.d_k))
    """,
    ),
    layer(
        "a loop over the heads",
        init="self.dropout = nn.Dropout(dropout)",
        forward="""
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, kept = [], []
        for i in range(self.h):
            columns = slice(i * self.d_k, (i + 1) * self.d_k)
            own = None
            if mask is not None:
                own = mask.expand(query.size(0), self.h, query.size(1), key.size(1))[:, i]
            output, weights = scaled_dot_product_attention(
                q[..., columns], k[..., columns], v[..., columns], own, self.dropout
            )
            outputs.append(output)
            kept.append(weights.detach())
        self.attention_weights = torch.stack(kept, dim=1)
        return self.w_o(torch.cat(outputs, dim=-1))
    """,
    ),
    layer(
        "heads folded into the batch",
        init="self.dropout = nn.Dropout(dropout)",
        forward="""
        def fold(x):
            return split_heads(x, self.h).reshape(-1, x.size(1), self.d_k)
        full = None
        if mask is not None:
            full = mask.expand(query.size(0), self.h, query.size(1), key.size(1)).flatten(0, 1)
        output, weights = scaled_dot_product_attention(
            fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value)), full, self.dropout
        )
        self.attention_weights = weights.detach().view(-1, self.h, query.size(1), key.size(1))
        return self.w_o(merge_heads(output.view(-1, self.h, query.size(1), self.d_k)))
    """,
    ),
    layer(
        "heads last, einsum, F.dropout with the mode",
        forward="""
        q = self.w_q(query).unflatten(-1, (self.h, self.d_k))
        k = self.w_k(key).unflatten(-1, (self.h, self.d_k))
        v = self.w_v(value).unflatten(-1, (self.h, self.d_k))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k**-0.5
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        self.attention_weights = weights.detach().clone()
        return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))
    """,
    ),
    right(
        "MultiHeadAttention",
        "layers made in another order, an assertion",
        """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0, "d_model must be a multiple of num_heads"
                self.num_heads = num_heads
                self.drop = nn.Dropout(p=dropout)
                self.w_o = nn.Linear(d_model, d_model, bias=True)
                self.w_v = nn.Linear(d_model, d_model, bias=True)
                self.w_k = nn.Linear(d_model, d_model, bias=True)
                self.w_q = nn.Linear(d_model, d_model, bias=True)

            def forward(self, query, key, value, mask=None):
                q, k, v = (split_heads(w(x), self.num_heads)
                           for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value)))
                x, w = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.drop)
                self.attention_weights = w.detach()
                return self.w_o(merge_heads(x))
    """,
    ),
]

TOO_LONG = 'raise ValueError(f"{x.shape[1]} > {max_len}")'

LESSON_3 = [
    right(
        "TokenEmbedding",
        "scale kept, padding_idx",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
                self.scale = d_model**0.5

            def forward(self, tokens):
                return self.scale * self.embedding(tokens)
    """,
    ),
    right(
        "TokenEmbedding",
        "one-hot product",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens):
                table = self.embedding.weight
                return F.one_hot(tokens, len(table)).to(table.dtype) @ table * table.size(1) ** 0.5
    """,
    ),
    right(
        "TokenEmbedding",
        "F.embedding",
        """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens):
                return F.embedding(tokens, self.embedding.weight) * math.sqrt(self.embedding.embedding_dim)
    """,
    ),
    right(
        "encoding_angle",
        "exp and log",
        """
        def encoding_angle(position, column, d_model):
            return position * math.exp(-(column - column % 2) * math.log(10000) / d_model)
    """,
    ),
    right(
        "encoding_angle",
        "pairs counted",
        """
        def encoding_angle(position, column, d_model):
            i = column // 2
            return position / math.pow(10000, 2 * i / d_model)
    """,
    ),
    right(
        "encoding_angle",
        "a NumPy number",
        """
        def encoding_angle(position, column, d_model):
            import numpy as np
            return np.float64(position) / np.power(10000.0, (column - column % 2) / d_model)
    """,
    ),
    right(
        "sinusoidal_encoding",
        "two loops",
        """
        def sinusoidal_encoding(max_len, d_model):
            encoding = torch.zeros(max_len, d_model)
            for position in range(max_len):
                for column in range(d_model):
                    wave = math.cos if column % 2 else math.sin
                    encoding[position, column] = wave(encoding_angle(position, column, d_model))
            return encoding
    """,
    ),
    right(
        "sinusoidal_encoding",
        "exp and log",
        """
        def sinusoidal_encoding(max_len, d_model):
            encoding = torch.zeros(max_len, d_model)
            position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
            encoding[:, 0::2] = torch.sin(position * div_term)
            encoding[:, 1::2] = torch.cos(position * div_term)
            return encoding
    """,
    ),
    right(
        "sinusoidal_encoding",
        "NumPy, cast at the end",
        """
        def sinusoidal_encoding(max_len, d_model):
            import numpy as np
            angle = np.arange(max_len)[:, None] / 10000 ** (np.arange(d_model) // 2 * 2 / d_model)
            angle[:, 0::2] = np.sin(angle[:, 0::2])
            angle[:, 1::2] = np.cos(angle[:, 1::2])
            return torch.tensor(angle, dtype=torch.float32)
    """,
    ),
    right(
        "sinusoidal_encoding",
        "stack and flatten",
        """
        def sinusoidal_encoding(max_len, d_model):
            angle = torch.outer(torch.arange(max_len).float(), 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model))
            return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(max_len, d_model)
    """,
    ),
    right(
        "sinusoidal_encoding",
        "the cosine as a shifted sine",
        """
        def sinusoidal_encoding(max_len, d_model):
            column = torch.arange(d_model, dtype=torch.float64)
            speed = 10000 ** (-(column - column % 2) / d_model)
            return torch.sin(torch.arange(max_len)[:, None] * speed + column % 2 * math.pi / 2).float()
    """,
    ),
    right(
        "PositionalEncoding",
        "a leading dimension, sliced in two",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.dropout = nn.Dropout(p=dropout)
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).unsqueeze(0))

            def forward(self, x):
                if x.size(1) > self.encoding.size(1):
                    raise ValueError(f"length {x.size(1)} is more than the maximum, {self.encoding.size(1)}")
                x = x + self.encoding[:, : x.size(1), :]
                return self.dropout(x)
    """,
    ),
    right(
        "PositionalEncoding",
        "not persistent, F.dropout with the mode",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.max_len, self.p = max_len, dropout
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model), persistent=False)

            def forward(self, x):
                if x.shape[1] > self.max_len:
                    raise ValueError("sequence of {} tokens for {} positions".format(x.shape[1], self.max_len))
                return F.dropout(x + self.encoding[: x.shape[1]].requires_grad_(False), self.p, self.training)
    """,
    ),
    right(
        "PositionalEncoding",
        "the table written out",
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                pe = torch.zeros(max_len, d_model)
                position = torch.arange(max_len)[:, None]
                speed = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
                pe[:, 0::2], pe[:, 1::2] = torch.sin(position * speed), torch.cos(position * speed)
                self.register_buffer("encoding", pe)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                n = x.size(-2)
                if n > len(self.encoding):
                    raise ValueError(f"{n} tokens, {len(self.encoding)} positions")
                return self.dropout(torch.add(x, self.encoding.narrow(0, 0, n)))
    """,
    ),
    right(
        "shift_matrix",
        "assignment to blocks",
        """
        def shift_matrix(offset, d_model):
            m = torch.zeros(d_model, d_model)
            for i in range(d_model // 2):
                a = offset / 10000 ** (2 * i / d_model)
                m[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(
                    [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
                )
            return m
    """,
    ),
    right(
        "shift_matrix",
        "diagonals, in double precision",
        """
        def shift_matrix(offset, d_model):
            angle = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            matrix = torch.diag(angle.cos().repeat_interleave(2))
            even = torch.arange(0, d_model, 2)
            matrix[even, even + 1] = angle.sin()
            matrix[even + 1, even] = -angle.sin()
            return matrix
    """,
    ),
    right(
        "shift_matrix",
        "solved from the encoding",
        """
        def shift_matrix(offset, d_model):
            blocks = []
            for even in range(0, d_model, 2):
                a = encoding_angle(offset, even, d_model)
                here = torch.tensor([[0.0, math.sin(0.5)], [1.0, math.cos(0.5)]], dtype=torch.float64)
                there = torch.tensor([[math.sin(a), math.sin(a + 0.5)], [math.cos(a), math.cos(a + 0.5)]],
                                     dtype=torch.float64)
                blocks.append(there @ torch.linalg.inv(here))
            return torch.block_diag(*blocks).float()
    """,
    ),
    right(
        "LearnedPositionalEncoding",
        "the first rows of the weight",
        f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                max_len = self.position.num_embeddings
                if x.shape[1] > max_len:
                    {TOO_LONG}
                return self.dropout(x + self.position.weight[: x.shape[1]])
    """,
    ),
    right(
        "LearnedPositionalEncoding",
        "positions expanded to the batch",
        f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.max_len = max_len
                self.position = nn.Embedding(max_len, d_model)
                self.drop = nn.Dropout(dropout)

            def forward(self, x):
                max_len = self.max_len
                if x.shape[1] > max_len:
                    {TOO_LONG}
                positions = torch.arange(x.shape[1], device=x.device).expand(x.shape[0], -1)
                return self.drop(self.position(positions) + x)
    """,
    ),
]


def norm(what: str, forward: str) -> Right:
    """A right `LayerNorm` with this forward."""
    lines = "\n".join("        " + line for line in dedent(forward).strip().splitlines())
    source = f"""
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
{lines}
"""
    return Right("LayerNorm", what, source.strip())


LESSON_4 = [
    norm(
        "rsqrt and var_mean",
        """
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias
    """,
    ),
    norm(
        "mean of squares",
        """
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).mean(-1, keepdim=True)
        return torch.addcmul(self.bias, self.weight, centred / (variance + self.eps) ** 0.5)
    """,
    ),
    norm(
        "sums by hand",
        """
        d = x.shape[-1]
        mean = x.sum(-1, keepdim=True) / d
        deviation = (((x - mean) ** 2).sum(-1, keepdim=True) / d + self.eps).sqrt()
        return (x - mean) / deviation * self.weight + self.bias
    """,
    ),
    norm(
        "a loop over the leading dimensions",
        """
        rows = [self.weight * (row - row.mean()) / (row.var(unbiased=False) + self.eps).sqrt() + self.bias
                for row in x.reshape(-1, x.size(-1))]
        return torch.stack(rows).reshape(x.shape)
    """,
    ),
    right(
        "FeedForward",
        "clamp, no dropout, as in the paper",
        """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.linear_1 = nn.Linear(d_model, d_ff)

            def forward(self, x):
                return self.linear_2(self.linear_1(x).clamp(min=0))
    """,
    ),
    right(
        "FeedForward",
        "F.relu, dropout at the end as well",
        """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
                self.relu, self.drop = nn.ReLU(), nn.Dropout(dropout)

            def forward(self, x):
                return self.drop(self.linear_2(self.drop(self.relu(self.linear_1(x)))))
    """,
    ),
    right(
        "FeedForward",
        "torch.maximum and F.linear",
        """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

            def forward(self, x):
                hidden = F.linear(x, self.linear_1.weight, self.linear_1.bias)
                return self.linear_2(torch.maximum(hidden, torch.zeros_like(hidden)))
    """,
    ),
    right(
        "AddNorm",
        "the learner's own norm",
        """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.dropout = nn.Dropout(dropout)
                self.norm = LayerNorm(d_model)

            def forward(self, x, sublayer_output):
                return self.norm(self.dropout(sublayer_output) + x)
    """,
    ),
    right(
        "AddNorm",
        "F.dropout with the mode",
        """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.p, self.norm = dropout, nn.LayerNorm(d_model)

            def forward(self, x, sublayer_output):
                return self.norm(torch.add(x, F.dropout(sublayer_output, self.p, self.training)))
    """,
    ),
    right(
        "EncoderLayer",
        "mask by name, parts in another order, no dropout in the attention",
        """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.self_attention = MultiHeadAttention(d_model, num_heads)

            def forward(self, x, src_mask=None):
                attended = self.self_attention(x, x, x, mask=src_mask)
                y = self.add_norm_1(x, attended)
                return self.add_norm_2(y, self.feed_forward(y))
    """,
    ),
    right(
        "EncoderLayer",
        "keyword arguments throughout",
        """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
                self.feed_forward = FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout)
                self.add_norm_1, self.add_norm_2 = (AddNorm(d_model=d_model, dropout=dropout) for _ in range(2))

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(query=x, key=x, value=x, mask=src_mask))
                return self.add_norm_2(x=x, sublayer_output=self.feed_forward(x))
    """,
    ),
    right(
        "DecoderLayer",
        "written out",
        """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                for i in (1, 2, 3):
                    setattr(self, f"add_norm_{i}", AddNorm(d_model, dropout))

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                own = self.self_attention(x, x, x, mask=tgt_mask)
                y = self.add_norm_1(x, own)
                seen = self.cross_attention(query=y, key=memory, value=memory, mask=src_mask)
                z = self.add_norm_2(y, seen)
                return self.add_norm_3(z, self.feed_forward(z))
    """,
    ),
    right(
        "DecoderLayer",
        "an inner function",
        """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                def attend(attention, query, source, mask):
                    return attention(query, source, source, mask)

                x = self.add_norm_1(x, attend(self.self_attention, x, x, tgt_mask))
                x = self.add_norm_2(x, attend(self.cross_attention, x, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """,
    ),
]


def model(what: str, *edits: str) -> Right:
    """A right `Transformer`: a plain one with some text replaced."""
    text = dedent(PLAIN_MODEL).strip()
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return Right("Transformer", what, text)


PLAIN_MODEL = """
    class Transformer(nn.Module):
        def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048,
                     dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False):
            super().__init__()
            self.pad_id = pad_id
            self.output_projection = nn.Linear(d_model, tgt_vocab_size)
            self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
            self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
            self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
            if share_embeddings:
                if src_vocab_size != tgt_vocab_size:
                    raise ValueError("share_embeddings needs one vocabulary")
                self.src_embedding.embedding.weight = self.output_projection.weight
                self.tgt_embedding.embedding.weight = self.output_projection.weight

        def encode(self, src):
            return self.encoder(self.positional_encoding(self.src_embedding(src)), src_mask=self.pads(src))

        def pads(self, tokens):
            return padding_mask(tokens, self.pad_id)

        def decode(self, tgt, memory, src):
            x = self.positional_encoding(self.tgt_embedding(tgt))
            x = self.decoder(x, memory, tgt_mask=decoder_mask(tgt, self.pad_id), src_mask=self.pads(src))
            return self.output_projection(x)

        def forward(self, src, tgt):
            memory = self.encode(src)
            return self.decode(tgt, memory, src)
"""

LESSON_5 = [
    right(
        "Encoder",
        "append in a loop, ranges instead of layers",
        """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList()
                for _ in range(num_layers):
                    self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=dropout))

            def forward(self, x, src_mask=None):
                for i in range(len(self.layers)):
                    x = self.layers[i](x, src_mask=src_mask)
                return x
    """,
    ),
    right(
        "Encoder",
        "deep copies of one layer, as PyTorch does it",
        """
        import copy

        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                layer = EncoderLayer(d_model, num_heads, d_ff, dropout)
                self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])

            def forward(self, x, src_mask=None):
                output = x
                for layer in self.layers:
                    output = layer(output, src_mask)
                return output
    """,
    ),
    right(
        "Decoder",
        "reduce, keyword arguments",
        """
        from functools import reduce

        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.num_layers = num_layers
                layers = [DecoderLayer(d_model, num_heads, d_ff, dropout) for i in range(num_layers)]
                self.layers = nn.ModuleList(layers)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                return reduce(lambda y, layer: layer(y, memory, tgt_mask=tgt_mask, src_mask=src_mask), self.layers, x)
    """,
    ),
    right(
        "Decoder",
        "an iterator",
        """
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList()
                while len(self.layers) < num_layers:
                    self.layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout))

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                for _, layer in self.layers.named_children():
                    x = layer(x, memory, src_mask, tgt_mask)
                return x
    """,
    ),
    model("other order of parts, tied from the output"),
    model(
        "the parts stand in a container as well",
        "self.pad_id = pad_id",
        "self.pad_id = pad_id\n        self.stacks = nn.ModuleDict()",
        "if share_embeddings:",
        "self.stacks.update({'one': self.encoder, 'two': self.decoder})\n        if share_embeddings:",
    ),
    model(
        "log-probabilities for logits",
        "return self.output_projection(x)",
        "return self.output_projection(x).log_softmax(-1)",
    ),
    model("masks by hand", "return padding_mask(tokens, self.pad_id)", "return (tokens != self.pad_id)[:, None, None]"),
    model(
        "masks by hand, padded queries blocked from nothing",
        "tgt_mask=decoder_mask(tgt, self.pad_id)",
        "tgt_mask=self.pads(tgt) & torch.ones(tgt.size(1), tgt.size(1), device=tgt.device).tril().bool()",
    ),
    model(
        "an embedding helper",
        "self.positional_encoding(self.tgt_embedding(tgt))",
        "self.embed(tgt)",
        "def pads",
        "def embed(self, tokens):\n        return self.positional_encoding(self.tgt_embedding(tokens))\n\n    def pads",
    ),
    right(
        "initialize_parameters",
        "by hand, without gradients",
        """
        def initialize_parameters(model):
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if len(p.shape) >= 2:
                        fan_in, fan_out = p.shape[1], p.shape[0]
                        p.uniform_(-1, 1).mul_(math.sqrt(6 / (fan_in + fan_out)))
            return model
    """,
    ),
    right(
        "initialize_parameters",
        "apply",
        """
        def initialize_parameters(model):
            def draw(module):
                for p in module.parameters(recurse=False):
                    if p.ndim > 1:
                        torch.nn.init.xavier_uniform_(p.data)
            model.apply(draw)
    """,
    ),
    right(
        "count_parameters",
        "a set of identities",
        """
        def count_parameters(model):
            seen = {id(p): p for module in model.modules() for p in module._parameters.values() if p is not None}
            return sum(math.prod(p.shape) for p in seen.values() if p.requires_grad)
    """,
    ),
    right(
        "count_parameters",
        "NumPy",
        """
        import numpy as np

        def count_parameters(model):
            return np.sum([p.nelement() for _, p in model.named_parameters() if p.requires_grad], dtype=int)
    """,
    ),
]

LESSON_6 = [
    right(
        "teacher_forcing",
        "narrow and slicing from the end",
        """
        def teacher_forcing(tgt):
            n = tgt.shape[1]
            return tgt.narrow(1, 0, n - 1), tgt[:, -(n - 1):]
    """,
    ),
    right(
        "teacher_forcing",
        "EOS is never an input",
        """
        def teacher_forcing(tgt):
            decoder_input = tgt.masked_fill(tgt == 2, 0)[:, :-1]
            return decoder_input, tgt[:, 1:].clone()
    """.replace("tgt.masked_fill(tgt == 2, 0)[:, :-1]", "torch.where(tgt[:, 1:] == 0, 0, tgt[:, :-1])"),
    ),
    right(
        "teacher_forcing",
        "a list of loops",
        """
        def teacher_forcing(tgt):
            rows = tgt.tolist()
            return torch.tensor([row[:-1] for row in rows]), torch.tensor([row[1:] for row in rows])
    """,
    ),
    right(
        "label_smoothed_loss",
        "classes second",
        """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            loss = nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)
            return loss(logits.permute(0, 2, 1), labels)
    """,
    ),
    right(
        "label_smoothed_loss",
        "only the real tokens",
        """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            real = labels != pad_id
            return F.cross_entropy(logits[real], labels[real], label_smoothing=smoothing)
    """,
    ),
    right(
        "label_smoothed_loss",
        "by hand",
        """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            log_probs = F.log_softmax(logits, dim=-1)
            nll = -log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -log_probs.mean(dim=-1)
            mask = (labels != pad_id).to(logits.dtype)
            return (((1 - smoothing) * nll + smoothing * uniform) * mask).sum() / mask.sum()
    """,
    ),
    right(
        "label_smoothed_loss",
        "a distribution of labels",
        """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.shape[-1]
            q = F.one_hot(labels, V) * (1 - smoothing) + smoothing / V
            tokens = -(q * logits.log_softmax(-1)).sum(-1)
            return tokens.masked_select(labels.ne(pad_id)).mean()
    """,
    ),
    right(
        "learning_rate",
        "if and else",
        """
        def learning_rate(step, d_model, warmup_steps):
            if step == 0:
                step = 1
            if step < warmup_steps:
                return step / (math.sqrt(d_model) * warmup_steps ** 1.5)
            return 1 / math.sqrt(d_model * step)
    """,
    ),
    right(
        "learning_rate",
        "a tensor",
        """
        def learning_rate(step, d_model, warmup_steps):
            step = torch.tensor(float(step)).clamp(min=1)
            return torch.minimum(step.rsqrt(), step * warmup_steps ** -1.5) / d_model ** 0.5
    """,
    ),
    right(
        "learning_rate",
        "NumPy",
        """
        import numpy as np

        def learning_rate(step, d_model, warmup_steps):
            step = np.maximum(step, 1.0)
            rise = step * np.power(float(warmup_steps), -1.5)
            return np.power(d_model, -0.5) * np.minimum(np.power(step, -0.5), rise)
    """,
    ),
    right(
        "train_step",
        "zero_grad first, loss as float",
        """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            optimizer.zero_grad(set_to_none=False)
            model.train()
            given, labels = teacher_forcing(tgt)
            logits = model(src, given)
            loss = label_smoothed_loss(logits, labels, pad_id=pad_id, smoothing=smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)
            optimizer.step()
            return float(loss)
    """,
    ),
    right(
        "train_step",
        "zero_grad last, everything by hand",
        """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train(True)
            logits, labels = model(src, tgt[:, :-1]), tgt[:, 1:]
            loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)
            loss.backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
            for g in grads:
                g.mul_(min(1.0, max_grad_norm / (norm.item() + 1e-6)))
            optimizer.step()
            optimizer.zero_grad()
            return loss.detach().cpu().numpy().item()
    """,
    ),
    right(
        "train_step",
        "mode restored afterwards",
        """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            before = model.training
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            model.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            model.train(before)
            return loss.item()
    """,
    ),
    right(
        "evaluate",
        "everything collected, then one mean",
        """
        @torch.no_grad()
        def evaluate(model, batches, pad_id=0):
            mode = model.training
            model.eval()
            losses, hits = [], []
            for src, tgt in batches:
                given, labels = teacher_forcing(tgt)
                logits = model(src, given)
                each = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
                losses += each[labels != pad_id].tolist()
                hits += (logits.argmax(dim=2) == labels)[labels != pad_id].tolist()
            model.train(mode)
            return sum(losses) / len(losses), sum(hits) / len(hits)
    """,
    ),
    right(
        "evaluate",
        "inference mode, weighted means, tensors until the end",
        """
        def evaluate(model, batches, pad_id=0):
            state = model.training
            model.train(False)
            total, correct, count = torch.zeros(()), torch.zeros(()), 0
            try:
                with torch.inference_mode():
                    for src, tgt in batches:
                        labels = tgt[:, 1:]
                        logits = model(src, tgt[:, :-1])
                        n = (labels != pad_id).sum().item()
                        mean = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
                        total += mean * n
                        correct += ((logits.max(-1).indices == labels) & (labels != pad_id)).sum()
                        count += n
            finally:
                model.train(state)
            return (total / count).item(), (correct / count).item()
    """,
    ),
    right(
        "evaluate",
        "NumPy numbers",
        """
        import numpy as np

        def evaluate(model, batches, pad_id=0):
            was = model.training
            model.eval()
            losses, hits = [np.zeros(0)], [np.zeros(0)]
            with torch.no_grad():
                for src, tgt in batches:
                    given, labels = teacher_forcing(tgt)
                    real = labels.ne(pad_id)
                    log_probs = model(src, given)[real].log_softmax(-1)
                    losses.append(-log_probs.gather(1, labels[real][:, None])[:, 0].numpy())
                    hits.append((log_probs.argmax(1) == labels[real]).numpy())
            model.train() if was else model.eval()
            return np.concatenate(losses).mean(), np.concatenate(hits).mean()
    """,
    ),
]

LESSON_6 += [
    right(
        "teacher_forcing",
        "a new column of BOS",
        """
        def teacher_forcing(tgt):
            labels = tgt[:, 1:]
            return F.pad(labels[:, :-1], (1, 0), value=1), labels
    """,
    ),
    right(
        "teacher_forcing",
        "labels are what is not BOS",
        """
        def teacher_forcing(tgt):
            assert (tgt[:, 0] == 1).all()
            bos = torch.ones_like(tgt[:, :1])
            return torch.cat([bos, tgt[:, 1:-1]], dim=1), tgt[tgt != 1].reshape(len(tgt), -1)
    """,
    ),
]

LESSON_7 = [
    right(
        "next_tokens",
        "topk",
        """
        def next_tokens(model, tokens, memory, src):
            return model.decode(tokens, memory, src)[:, -1, :].topk(1).indices[:, 0]
    """,
    ),
    right(
        "next_tokens",
        "probabilities, max",
        """
        @torch.no_grad()
        def next_tokens(model, tokens, memory, src):
            probabilities = torch.softmax(model.decode(tokens, memory, src), dim=-1)
            _, best = probabilities[:, tokens.shape[1] - 1].max(dim=1)
            return best
    """,
    ),
    right(
        "next_tokens",
        "row by row",
        """
        def next_tokens(model, tokens, memory, src):
            logits = model.decode(tokens, memory, src)
            return torch.stack([row[-1].argmax() for row in logits])
    """,
    ),
    right(
        "greedy_decode",
        "for and break, try and finally",
        """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            training = model.training
            model.eval()
            try:
                with torch.inference_mode():
                    memory = model.encode(src)
                    out = src.new_full((src.size(0), 1), bos_id)
                    done = torch.zeros_like(out[:, 0], dtype=torch.bool)
                    for _ in range(max_len):
                        new = model.decode(out, memory, src)[:, -1].argmax(-1)
                        new = torch.where(done, torch.full_like(new, pad_id), new)
                        out = torch.cat((out, new[:, None]), 1)
                        done |= new.eq(eos_id)
                        if done.all():
                            break
                    return out
            finally:
                model.train(training)
    """,
    ),
    right(
        "greedy_decode",
        "a prepared tensor, filled to the end",
        """
        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            mode = model.training
            model.train(False)
            memory = model.encode(src)
            out = torch.full((len(src), max_len + 1), pad_id, dtype=torch.long, device=src.device)
            out[:, 0] = bos_id
            alive = torch.ones(len(src), dtype=torch.bool, device=src.device)
            for t in range(1, max_len + 1):
                new = next_tokens(model, out[:, :t], memory, src)
                out[alive, t] = new[alive]
                alive = alive & (new != eos_id)
            model.train(mode)
            return out
    """,
    ),
    right(
        "greedy_decode",
        "row by row, padded at the end",
        """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory, rows = model.encode(src), []
                for i in range(len(src)):
                    row = [bos_id]
                    while len(row) <= max_len and (len(row) == 1 or row[-1] != eos_id):
                        tokens = torch.tensor([row], device=src.device)
                        row.append(int(next_tokens(model, tokens, memory[i : i + 1], src[i : i + 1])))
                    rows.append(row)
            width = max(map(len, rows))
            model.train(was)
            return torch.tensor([row + [pad_id] * (width - len(row)) for row in rows], device=src.device)
    """,
    ),
    right(
        "greedy_decode",
        "columns in a list",
        """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                columns = [torch.full((src.shape[0],), bos_id, device=src.device)]
                unfinished = torch.ones_like(columns[0])
                while len(columns) < max_len + 1 and unfinished.sum() > 0:
                    new = next_tokens(model, torch.stack(columns, 1), memory, src)
                    new = new * unfinished + pad_id * (1 - unfinished)
                    columns.append(new)
                    unfinished = unfinished * (new != eos_id)
            if was:
                model.train()
            return torch.stack(columns, dim=1)
    """,
    ),
    right(
        "exact_match",
        "a wide table of padding",
        """
        def exact_match(predicted, expected, pad_id=0):
            n, width = len(expected), max(predicted.shape[1], expected.shape[1])
            tables = torch.full((2, n, width), pad_id)
            tables[0, :, : predicted.shape[1]] = predicted
            tables[1, :, : expected.shape[1]] = expected
            return float((tables[0] != tables[1]).sum(1).eq(0).sum()) / n
    """,
    ),
    right(
        "exact_match",
        "lists without their padding",
        """
        def exact_match(predicted, expected, pad_id=0):
            def trimmed(row):
                row = row.tolist()
                while row and row[-1] == pad_id:
                    row.pop()
                return row
            return sum(trimmed(a) == trimmed(b) for a, b in zip(predicted, expected)) / len(expected)
    """,
    ),
    right(
        "exact_match",
        "cut and rest",
        """
        def exact_match(predicted, expected, pad_id=0):
            n = min(predicted.size(1), expected.size(1))
            same = (predicted[:, :n] == expected[:, :n]).all(1)
            same &= (predicted[:, n:] == pad_id).all(1) & (expected[:, n:] == pad_id).all(1)
            return same.double().mean()
    """,
    ),
    right(
        "cached_attention",
        "by hand, lists for tuples",
        """
        def cached_attention(query, key, value, cache=None):
            keys = key if cache is None else torch.cat((cache[0], key), 2)
            values = value if cache is None else torch.cat((cache[1], value), 2)
            weights = (query @ keys.transpose(2, 3) / math.sqrt(query.shape[-1])).softmax(-1)
            return [weights @ values, [keys, values]]
    """,
    ),
    right(
        "cached_attention",
        "PyTorch's function, einsum-free",
        """
        def cached_attention(query, key, value, cache=None):
            if cache:
                key, value = (torch.cat(pair, dim=-2) for pair in zip(cache, (key, value)))
            return F.scaled_dot_product_attention(query, key, value), (key, value)
    """,
    ),
]

LESSON_7 += [
    right(
        "greedy_decode",
        "a deep copy decodes",
        """
        import copy

        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            model = copy.deepcopy(model).eval()
            memory, tokens = model.encode(src), torch.full_like(src[:, :1], bos_id)
            while tokens.size(1) <= max_len:
                ended = (tokens == eos_id).any(dim=1)
                if ended.all():
                    break
                chosen = next_tokens(model, tokens, memory, src).masked_fill(ended, pad_id)
                tokens = torch.hstack([tokens, chosen[:, None]])
            return tokens
    """,
    ),
]
LESSON_5 += [
    right(
        "Decoder",
        "a mask with four dimensions, cut to size",
        """
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                layers = []
                for i in range(num_layers):
                    layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout))
                    self.add_module(f"layer_{i}", layers[-1])
                self.layers = nn.ModuleList(layers)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                if tgt_mask is not None:
                    assert tgt_mask.dim() == 4
                    tgt_mask = tgt_mask[:, :, : x.size(1), : x.size(1)]
                for layer in self.layers:
                    x = layer(x, memory, src_mask, tgt_mask)
                return x
    """,
    ),
]

RIGHT = {
    "01_attention": LESSON_1,
    "02_multi_head_attention": LESSON_2,
    "03_positional_encoding": LESSON_3,
    "04_encoder_decoder_blocks": LESSON_4,
    "05_transformer": LESSON_5,
    "06_training": LESSON_6,
    "07_greedy_decoding": LESSON_7,
}
