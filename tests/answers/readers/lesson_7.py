"""Right answers to lesson 7 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% cached_attention · softmax and weighted sum by einsum
def cached_attention(query, key, value, cache=None):
    keys = key if cache is None else torch.cat((cache[0], key), dim=-2)
    values = value if cache is None else torch.cat((cache[1], value), dim=-2)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) / math.sqrt(query.size(-1))
    output = torch.einsum("bhqk,bhkd->bhqd", scores.softmax(dim=-1), values)
    return (output, (keys, values))


# %% cached_attention · appends, attends, returns the longer cache
def cached_attention(query, key, value, cache=None):
    if cache is not None:
        keys, values = cache
        key = torch.cat([keys, key], dim=2)
        value = torch.cat([values, value], dim=2)
    output, _ = scaled_dot_product_attention(query, key, value)
    return (output, (key, value))


# %% cached_attention · an empty cache for the first token, so there is one path only
def cached_attention(query, key, value, cache=None):
    if cache is None:
        cache = (key[:, :, :0], value[:, :, :0])
    past_keys, past_values = cache
    keys = torch.concat([past_keys, key], dim=2)
    values = torch.concat([past_values, value], dim=2)
    weights = torch.softmax(query @ keys.transpose(-2, -1) * query.shape[-1] ** (-0.5), dim=-1)
    return (weights @ values, (keys, values))


# %% cached_attention · PyTorch's own attention, without is_causal
def cached_attention(query, key, value, cache=None):
    if cache is None:
        longer = (key, value)
    else:
        longer = tuple((torch.cat(pair, dim=2) for pair in zip(cache, (key, value))))
    return (F.scaled_dot_product_attention(query, *longer), longer)


# %% cached_attention · a helper that appends, type hints, output by index
def _append(past: torch.Tensor | None, newest: torch.Tensor) -> torch.Tensor:
    return newest if past is None else torch.cat([past, newest], dim=newest.dim() - 2)


def cached_attention(query, key, value, cache=None):
    keys = _append(cache[0] if cache else None, key)
    values = _append(cache[1] if cache else None, value)
    return (scaled_dot_product_attention(query, keys, values)[0], (keys, values))


# %% exact_match · compares the overlap, and asks for padding in the rest of both
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
    n = min(predicted.shape[1], expected.shape[1])
    same = (predicted[:, :n] == expected[:, :n]).all(dim=1)
    same &= (predicted[:, n:] == pad_id).all(dim=1)
    same &= (expected[:, n:] == pad_id).all(dim=1)
    return same.sum().item() / same.numel()


# %% exact_match · pads both to the larger width
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
    width = max(predicted.size(1), expected.size(1))
    predicted = F.pad(predicted, (0, width - predicted.size(1)), value=pad_id)
    expected = F.pad(expected, (0, width - expected.size(1)), value=pad_id)
    return (predicted == expected).all(dim=1).float().mean().item()


# %% exact_match · pad_sequence on the transposed tensors, rows wrong anywhere counted
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
    both = nn.utils.rnn.pad_sequence([predicted.T, expected.T], padding_value=pad_id)
    wrong = (both[:, 0] != both[:, 1]).any(dim=0)
    return 1.0 - wrong.float().mean().item()


# %% exact_match · Python lists without their trailing padding
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:

    def strip(row):
        row = list(row)
        while row and row[-1] == pad_id:
            row.pop()
        return row

    pairs = zip(predicted.tolist(), expected.tolist())
    return sum((strip(a) == strip(b) for a, b in pairs)) / len(predicted)


# %% exact_match · swaps so that the first is the narrower one, and appends a block of padding
def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
    if predicted.size(1) > expected.size(1):
        predicted, expected = (expected, predicted)
    missing = expected.size(1) - predicted.size(1)
    block = predicted.new_full((predicted.size(0), missing), pad_id)
    equal = torch.eq(torch.cat([predicted, block], dim=1), expected)
    return float(equal.all(dim=-1).float().mean())


# %% greedy_decode · no_grad as decorator, while loop, mode restored in finally
@torch.no_grad()
def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    before = model.training
    model.eval()
    try:
        memory = model.encode(src)
        out = src.new_full((len(src), 1), bos_id)
        active = torch.ones(len(src), dtype=torch.bool, device=src.device)
        while active.any() and out.size(1) <= max_len:
            best = next_tokens(model, out, memory, src)
            best = torch.where(active, best, torch.full_like(best, pad_id))
            out = torch.hstack((out, best.unsqueeze(1)))
            active &= best.ne(eos_id)
    finally:
        model.train(before)
    return out


# %% greedy_decode · a helper that calls itself until all rows have ended
def _continue(model, tokens, done, memory, src, room, eos_id, pad_id):
    if room == 0 or done.all():
        return tokens
    new = next_tokens(model, tokens, memory, src).where(~done, torch.tensor(pad_id, device=src.device))
    tokens = torch.cat((tokens, new.view(-1, 1)), dim=-1)
    return _continue(model, tokens, done | (new == eos_id), memory, src, room - 1, eos_id, pad_id)


def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    mode = model.training
    model.eval()
    with torch.no_grad():
        start = torch.tensor([[bos_id]] * src.size(0), device=src.device)
        done = torch.tensor([False] * src.size(0), device=src.device)
        written = _continue(model, start, done, model.encode(src), src, max_len, eos_id, pad_id)
    model.train(mode)
    return written


# %% greedy_decode · a list of columns, stacked for each step; ended found by looking for EOS
def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    training = model.training
    model.train(False)
    columns = [torch.full((src.size(0),), bos_id, device=src.device)]
    with torch.no_grad():
        memory = model.encode(src)
        ended = torch.zeros_like(columns[0], dtype=torch.bool)
        while len(columns) - 1 < max_len and (not ended.all()):
            column = next_tokens(model, torch.stack(columns, dim=1), memory, src)
            column[ended] = pad_id
            columns.append(column)
            ended = torch.stack(columns[1:], dim=1).eq(eos_id).any(dim=1)
    model.train(training)
    return torch.stack(columns, dim=1)


# %% greedy_decode · for loop with a boolean of the rows that have ended
def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    was_training = model.training
    model.eval()
    with torch.no_grad():
        memory = model.encode(src)
        tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
        ended = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
        for _ in range(max_len):
            new = next_tokens(model, tokens, memory, src)
            new = new.masked_fill(ended, pad_id)
            tokens = torch.cat([tokens, new[:, None]], dim=1)
            ended = ended | (new == eos_id)
            if ended.all():
                break
    model.train(was_training)
    return tokens


# %% greedy_decode · fills a table of padding column by column and cuts it at the end
def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0) -> torch.Tensor:
    mode = model.training
    model.eval()
    batch = src.shape[0]
    table = torch.full((batch, max_len + 1), pad_id, dtype=torch.long, device=src.device)
    table[:, 0] = bos_id
    width = 1
    with torch.no_grad():
        memory = model.encode(src)
        writing = torch.ones(batch, dtype=torch.bool, device=src.device)
        while width <= max_len and bool(writing.any()):
            chosen = next_tokens(model, table[:, :width], memory, src)
            table[writing, width] = chosen[writing]
            writing = writing & (chosen != eos_id)
            width += 1
    model.train(mode)
    return table[:, :width].clone()


# %% mended_next · takes the last vector by index and gives it back its dimension
def mended_next(model, run, tokens) -> torch.Tensor:
    everything = model.tgt_embedding(tokens)
    everything = model.positional_encoding(everything)
    last = everything[:, tokens.shape[1] - 1].unsqueeze(1)
    hidden = run(last)
    scores = model.output_projection(hidden[:, -1])
    return scores.topk(1, dim=-1).indices[:, 0]


# %% mended_next · narrow instead of a slice, max instead of argmax
def mended_next(model, run, tokens) -> torch.Tensor:
    placed = model.positional_encoding(model.tgt_embedding(tokens))
    newest = placed.narrow(1, placed.size(1) - 1, 1)
    logits = model.output_projection(run(newest)).squeeze(1)
    return logits.max(dim=-1).indices


# %% mended_next · pads the newest with zero vectors in front, so it stands at its place
def mended_next(model, run, tokens) -> torch.Tensor:
    x = model.tgt_embedding(tokens[:, -1:])
    x = F.pad(x, (0, 0, tokens.size(1) - 1, 0))
    x = model.positional_encoding(x)[:, -1:]
    return torch.argmax(model.output_projection(run(x))[:, 0, :], dim=1)


# %% mended_next · embeds and places all tokens, takes the last
def mended_next(model, run, tokens) -> torch.Tensor:
    x = model.positional_encoding(model.tgt_embedding(tokens))[:, -1:]
    x = run(x)
    return model.output_projection(x)[:, -1].argmax(dim=-1)


# %% mended_next · a helper for the placed vector, torch.split
def newest_vector(model, tokens: torch.Tensor) -> torch.Tensor:
    return model.positional_encoding(model.tgt_embedding(tokens)).split(1, dim=1)[-1]


def mended_next(model, run, tokens) -> torch.Tensor:
    return model.output_projection(run(newest_vector(model, tokens))).argmax(dim=-1).flatten()


# %% next_tokens · argmax everywhere, then the last column
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    return torch.argmax(model.decode(tokens, memory, src), dim=2)[:, -1]


# %% next_tokens · argmax of the last position
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    logits = model.decode(tokens, memory, src)
    return logits[:, -1].argmax(dim=-1)


# %% next_tokens · max with dim, its indices
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    last = model.decode(tokens, memory, src).select(1, -1)
    _, best = last.max(dim=1)
    return best


# %% next_tokens · a loop over the rows of the batch
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    best = [row[-1].argmax() for row in model.decode(tokens, memory, src)]
    return torch.stack(best)


# %% next_tokens · topk of one, squeezed along its own dimension
def next_tokens(model, tokens, memory, src) -> torch.Tensor:
    logits = model.decode(tokens, memory, src)
    return logits[:, tokens.size(1) - 1, :].topk(1, dim=-1).indices.squeeze(-1)
