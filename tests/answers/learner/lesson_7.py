"""One learner's answers to lesson 7, cell by cell; they run in its notebook, not here."""


# %% next_tokens
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    """Choose the most probable next token of every row."""
    logits = model.decode(tokens, memory, src)
    return logits[:, -1].argmax(dim=-1)


# %% predict_runs
predicted_runs = "1 and 20"


# %% greedy_decode
def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    """Write a target for every source, always with the most probable next token (§3)."""
    was_training = model.training
    model.eval()
    batch = src.size(0)
    tokens = torch.full((batch, 1), bos_id, device=src.device)
    finished = torch.zeros(batch, dtype=torch.bool, device=src.device)
    with torch.no_grad():
        memory = model.encode(src)
        while tokens.size(1) <= max_len and not finished.all():
            new = next_tokens(model, tokens, memory, src)
            new = torch.where(finished, pad_id, new)
            finished |= new == eos_id
            tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


# %% predict_exact
predicted_exact = "66"


# %% exact_match
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
    """Compute the fraction of rows that are right to the last token."""
    width = max(predicted.size(1), expected.size(1))
    predicted, expected = (F.pad(x, (0, width - x.size(1)), value=pad_id) for x in (predicted, expected))
    return (predicted == expected).all(dim=1).float().mean().item()


# %% predict_whole
predicted_whole = "30"

# %% predict_longer
predicted_longer = "80"


# %% cached_attention
def cached_attention(query, key, value, cache=None):
    """Attend from the newest token to itself and all tokens before it."""
    if cache is not None:
        old_keys, old_values = cache
        key = torch.cat([old_keys, key], dim=2)
        value = torch.cat([old_values, value], dim=2)
    output, _ = scaled_dot_product_attention(query, key, value)
    return output, (key, value)


# %% mended_next
def mended_next(model, run, tokens) -> torch.Tensor:
    """Choose the next token of every row, with a cache."""
    x = model.tgt_embedding(tokens)
    x = model.positional_encoding(x)[:, -1:]
    x = run(x)
    return model.output_projection(x)[:, -1].argmax(dim=-1)


# %% predict_parts
predicted_parts = "20, 40, 70, 0, 0"
