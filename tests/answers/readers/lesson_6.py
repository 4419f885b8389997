"""Right answers to lesson 6 by readers who had seen nothing but its text; each runs in the notebook, not here."""


# %% evaluate · no_grad as decorator, mode restored in finally, loss from mean times count
@torch.no_grad()
def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    mode = model.training
    sums = [0.0, 0.0, 0]
    try:
        model.eval()
        for src, tgt in batches:
            decoder_input, labels = teacher_forcing(tgt)
            logits = model(src, decoder_input)
            real = labels.ne(pad_id)
            n = int(real.sum())
            sums[0] += float(label_smoothed_loss(logits, labels, pad_id, smoothing=0.0)) * n
            sums[1] += int((logits.argmax(dim=-1)[real] == labels[real]).sum())
            sums[2] += n
    finally:
        model.train(mode)
    return (sums[0] / sums[2], sums[1] / sums[2])


# %% evaluate · switches gradients off and back by hand with set_grad_enabled
def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    mode, grad = (model.training, torch.is_grad_enabled())
    model.eval()
    torch.set_grad_enabled(False)
    try:
        loss_sum = correct = seen = 0
        for src, tgt in batches:
            decoder_input, labels = teacher_forcing(tgt)
            logits = model(src, decoder_input)
            keep = labels.flatten() != pad_id
            flat, wanted = (logits.flatten(0, 1)[keep], labels.flatten()[keep])
            loss_sum += F.cross_entropy(flat, wanted, reduction="sum").item()
            correct += (flat.max(dim=-1).indices == wanted).sum().item()
            seen += wanted.numel()
    finally:
        torch.set_grad_enabled(grad)
        model.train(mode)
    return (loss_sum / seen, correct / seen)


# %% evaluate · collects the losses and hits of every real token, then averages
def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    losses, hits = ([], [])
    before = model.training
    model.train(False)
    with torch.no_grad():
        for src, tgt in batches:
            logits = model(src, tgt[:, :-1])
            labels = tgt[:, 1:]
            real = labels != pad_id
            logits, labels = (logits[real], labels[real])
            losses += F.cross_entropy(logits, labels, reduction="none").tolist()
            hits += (logits.argmax(1) == labels).tolist()
    if before:
        model.train()
    return (math.fsum(losses) / len(losses), sum(hits) / len(hits))


# %% evaluate · a helper for one batch, log_softmax and gather
def _measure(model, src, tgt, pad_id):
    decoder_input, labels = teacher_forcing(tgt)
    log_p = model(src, decoder_input).log_softmax(-1)
    real = labels != pad_id
    nll = -log_p.gather(-1, labels[..., None]).squeeze(-1)
    hit = log_p.argmax(-1).eq(labels)
    return (nll[real].sum().item(), hit[real].sum().item(), real.sum().item())


def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    was = model.training
    model.eval()
    with torch.no_grad():
        measured = [_measure(model, src, tgt, pad_id) for src, tgt in batches]
    model.train(mode=was)
    loss, hits, tokens = (sum(column) for column in zip(*measured))
    return (loss / tokens, hits / tokens)


# %% evaluate · sums over all batches, one division at the end
def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    was_training = model.training
    model.eval()
    total, right, count = (0.0, 0, 0)
    with torch.no_grad():
        for src, tgt in batches:
            decoder_input, labels = teacher_forcing(tgt)
            logits = model(src, decoder_input)
            total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum").item()
            real = labels != pad_id
            right += ((logits.argmax(-1) == labels) & real).sum().item()
            count += real.sum().item()
    model.train(was_training)
    return (total / count, right / count)


# %% fit · an inner generator, all arguments by position, a no-op without a schedule
def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
    advance = (lambda: None) if schedule is None else schedule.step

    def steps():
        for src, tgt in batches:
            target_device = next(model.parameters()).device
            yield train_step(model, optimizer, src.to(target_device), tgt.to(target_device), 0, 0.1, max_grad_norm)
            advance()

    return list(steps())


# %% fit · an inner function for one batch, called in a list comprehension
def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
    where = next(iter(model.parameters())).device

    def one(src, tgt):
        loss = train_step(model, optimizer, src.to(where), tgt.to(where), max_grad_norm=max_grad_norm)
        if schedule is not None:
            schedule.step()
        return loss

    return [one(src, tgt) for src, tgt in batches]


# %% fit · an iterator and while True
def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
    losses: list[float] = []
    iterator = iter(batches)
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return losses
        device_of_model = next(model.parameters()).device
        src, tgt = (part.to(device_of_model) for part in batch)
        loss = train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)
        losses.append(loss)
        if schedule:
            schedule.step()


# %% fit · a for loop with append
def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
    place = next(model.parameters()).device
    losses = []
    for src, tgt in batches:
        src, tgt = (src.to(place), tgt.to(place))
        losses.append(train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm))
        if schedule is not None:
            schedule.step()
    return losses


# %% label_smoothed_loss · F.cross_entropy on flattened batch and positions
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


# %% label_smoothed_loss · the vocabulary moved to dimension 1, nothing flattened
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)


# %% label_smoothed_loss · logsumexp minus logits, reduction written out with a float mask
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    real = (labels != pad_id).to(logits.dtype)
    log_z = logits.logsumexp(dim=-1)
    hit = torch.take_along_dim(logits, labels[..., None], dim=-1)[..., 0]
    each = log_z - (1 - smoothing) * hit - smoothing * logits.mean(-1)
    return (each * real).sum() / real.sum()


# %% label_smoothed_loss · nn.CrossEntropyLoss on the real tokens alone
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    real = labels.ne(pad_id)
    return nn.CrossEntropyLoss(label_smoothing=smoothing)(logits[real], labels[real])


# %% label_smoothed_loss · builds q explicitly and sums with einsum
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    vocab_size = logits.size(-1)
    real = labels != pad_id
    log_p = logits[real].log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / vocab_size)
    q = q.scatter_add(1, labels[real][:, None], torch.full_like(log_p[:, :1], 1 - smoothing))
    return -torch.einsum("nv,nv->", q, log_p) / real.sum()


# %% label_smoothed_loss · log_softmax, gather and mean over the real tokens
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    log_p = F.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    even = log_p.mean(dim=-1)
    loss = -(1 - smoothing) * right - smoothing * even
    return loss[labels != pad_id].mean()


# %% learning_rate · if and else instead of the minimum
def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    if step < 1:
        step = 1
    if step <= warmup_steps:
        factor = step / (warmup_steps * math.sqrt(warmup_steps))
    else:
        factor = 1 / math.sqrt(step)
    return factor / math.sqrt(d_model)


# %% learning_rate · max and min, as in the text
def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    step = max(step, 1)
    return d_model ** (-0.5) * min(step ** (-0.5), step * warmup_steps ** (-1.5))


# %% learning_rate · the peak times the share of it
def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    s = step or 1
    peak = 1 / math.sqrt(d_model * warmup_steps)
    return peak * min(s / warmup_steps, math.sqrt(warmup_steps / s))


# %% learning_rate · math.pow and sorted
def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    s = step if step > 0 else 1
    both = sorted([math.pow(s, -0.5), s * math.pow(warmup_steps, -1.5)])
    return float(math.pow(d_model, -0.5) * both[0])


# %% mended_accumulation · an inner function, log_softmax on the real tokens
def mended_accumulation(model, optimizer, src, tgt, num_pieces):
    inputs, labels = (tgt[:, :-1], tgt[:, 1:])
    count = torch.count_nonzero(labels)

    def part(s, given, asked):
        real = asked != 0
        log_p = model(s, given)[real].log_softmax(-1)
        loss = -log_p[torch.arange(len(log_p), device=s.device), asked[real]].sum() / count
        loss.backward()
        return loss.item()

    optimizer.zero_grad()
    pieces = zip(src.chunk(num_pieces), inputs.chunk(num_pieces), labels.chunk(num_pieces))
    mean_loss = sum((part(*piece) for piece in pieces))
    optimizer.step()
    return mean_loss


# %% mended_accumulation · sums first, the gradients are divided once before the step
def mended_accumulation(model, optimizer, src, tgt, num_pieces):
    optimizer.zero_grad()
    total, count = (0.0, 0)
    for src_piece, tgt_piece in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
        logits = model(src_piece, tgt_piece[:, :-1]).flatten(0, 1)
        labels = tgt_piece[:, 1:].flatten()
        loss = F.cross_entropy(logits, labels, ignore_index=0, reduction="sum")
        loss.backward()
        total += loss.item()
        count += (labels != 0).sum().item()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= count
    optimizer.step()
    return total / count


# %% mended_accumulation · sum of each piece divided by the tokens of the whole batch
def mended_accumulation(model, optimizer, src, tgt, num_pieces):
    optimizer.zero_grad()
    mean_loss = 0.0
    tokens = (tgt[:, 1:] != 0).sum()
    for src_piece, tgt_piece in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
        logits = model(src_piece, tgt_piece[:, :-1]).flatten(0, 1)
        labels = tgt_piece[:, 1:].flatten()
        loss = F.cross_entropy(logits, labels, ignore_index=0, reduction="sum") / tokens
        loss.backward()
        mean_loss += loss.item()
    optimizer.step()
    return mean_loss


# %% mended_accumulation · the mean of a piece, weighted by its share of the tokens
def mended_accumulation(model, optimizer, src, tgt, num_pieces):
    optimizer.zero_grad()
    all_real = int(tgt[:, 1:].ne(0).sum())
    mean_loss = 0.0
    for s, t in zip(torch.chunk(src, num_pieces, dim=0), torch.chunk(tgt, num_pieces, dim=0)):
        labels = t[:, 1:]
        share = int(labels.ne(0).sum()) / all_real
        piece_mean = F.cross_entropy(model(s, t[:, :-1]).transpose(1, 2), labels, ignore_index=0)
        (share * piece_mean).backward()
        mean_loss += share * piece_mean.item()
    optimizer.step()
    return mean_loss


# %% teacher_forcing · a Python loop over pairs of columns
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    columns = list(tgt.unbind(dim=1))
    given, asked = ([], [])
    for now, after in zip(columns, columns[1:]):
        given.append(now)
        asked.append(after)
    return (torch.stack(given, dim=1), torch.stack(asked, dim=1))


# %% teacher_forcing · index_select with aranges on the target's device
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    places = torch.arange(tgt.shape[1], device=tgt.device)
    decoder_input = tgt.index_select(1, places[:-1])
    labels = tgt.index_select(1, places[1:])
    return (decoder_input, labels)


# %% teacher_forcing · narrow along dimension 1
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    n = tgt.size(1) - 1
    return (tgt.narrow(1, 0, n), tgt.narrow(dim=1, start=1, length=n))


# %% teacher_forcing · two slices
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (tgt[:, :-1], tgt[:, 1:])


# %% teacher_forcing · rolls the target by one, then drops the last column of both
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    ahead = torch.roll(tgt, shifts=-1, dims=1)
    return (tgt[..., :-1].clone(), ahead[..., :-1].clone())


# %% train_step · torch.autograd.grad, gradients put in place by hand
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
    model.train()
    decoder_input, labels = teacher_forcing(tgt)
    loss = label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing)
    params = [p for p in model.parameters() if p.requires_grad]
    for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
        p.grad = g
    torch.nn.utils.clip_grad_norm_(params, max_norm=max_grad_norm)
    optimizer.step()
    return loss.item()


# %% train_step · clips by hand, writing the norm out
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
    model.train()
    model.zero_grad(set_to_none=True)
    decoder_input, labels = teacher_forcing(tgt)
    loss = label_smoothed_loss(model(src, decoder_input), labels, pad_id=pad_id, smoothing=smoothing)
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    length = torch.sqrt(sum(((g**2).sum() for g in grads)))
    if length > max_grad_norm:
        for g in grads:
            g.mul_(max_grad_norm / length)
    optimizer.step()
    return float(loss.detach())


# %% train_step · without the two earlier functions: slices and cross_entropy
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
    model.train(True)
    optimizer.zero_grad(set_to_none=False)
    logits = model(src, tgt[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), tgt[:, 1:].reshape(-1), ignore_index=pad_id, label_smoothing=smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(list(model.parameters()), max_grad_norm)
    optimizer.step()
    return loss.detach().cpu().item()


# %% train_step · as the text says, zero_grad first
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
    model.train()
    decoder_input, labels = teacher_forcing(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, labels, pad_id, smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


# %% train_step · inner function for the loss; gradients cleared before and after
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:

    def compute_loss() -> torch.Tensor:
        decoder_input, labels = teacher_forcing(tgt)
        return label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing)

    model.train()
    optimizer.zero_grad()
    loss = compute_loss()
    value = loss.item()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm, norm_type=2.0)
    optimizer.step()
    optimizer.zero_grad()
    return value
