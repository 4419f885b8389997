"""One learner's answers to lesson 6, cell by cell; they run in its notebook, not here."""


# %% teacher_forcing
def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Split a target into what the decoder is given and what it has to predict (§3.1)."""
    return tgt[:, :-1], tgt[:, 1:]


# %% predict_confidence
predicted_confidence = "0.91"


# %% label_smoothed_loss
def label_smoothed_loss(logits: torch.Tensor, labels: torch.Tensor, pad_id: int = 0, smoothing: float = 0.1) -> torch.Tensor:
    """Cross-entropy with smoothed labels (§5.4), averaged over the tokens that are not padding."""
    vocab_size = logits.shape[-1]
    return F.cross_entropy(logits.reshape(-1, vocab_size), labels.reshape(-1), ignore_index=pad_id, label_smoothing=smoothing)


# %% learning_rate
def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Compute the paper's learning rate (§5.3): a linear warm-up, then a fall with the root of the step."""
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


# %% predict_gradient
predicted_gradient = "3"


# %% train_step
def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
    """Train the model on one batch (§5), in train mode."""
    model.train()
    optimizer.zero_grad()
    decoder_input, labels = teacher_forcing(tgt)
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, labels, pad_id, smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


# %% fit
def fit(model, batches, optimizer, schedule=None, max_grad_norm=1.0) -> list[float]:
    """Train the model on each batch once, in order."""
    device = next(model.parameters()).device
    losses = []
    for src, tgt in batches:
        src, tgt = src.to(device), tgt.to(device)
        loss = train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)
        losses.append(loss)
        if schedule is not None:
            schedule.step()
    return losses


# %% predict_mean
predicted_mean = "1.9"


# %% evaluate
def evaluate(model, batches, pad_id=0) -> tuple[float, float]:
    """Measure a model on batches, in eval mode and without gradients."""
    was_training = model.training
    model.eval()
    total_loss, correct, num_tokens = 0.0, 0, 0
    with torch.no_grad():
        for src, tgt in batches:
            decoder_input, labels = teacher_forcing(tgt)
            logits = model(src, decoder_input)
            real = labels != pad_id
            n = real.sum().item()
            total_loss += label_smoothed_loss(logits, labels, pad_id, smoothing=0.0).item() * n
            correct += ((logits.argmax(-1) == labels) & real).sum().item()
            num_tokens += n
    model.train(was_training)
    return total_loss / num_tokens, correct / num_tokens


# %% predict_look
predicted_look = "3"

# %% predict_leak
predicted_leak = "0"


# %% mended_accumulation
def mended_accumulation(model, optimizer, src, tgt, num_pieces):
    """Take one step on a batch that is cut into pieces; return the mean loss."""
    optimizer.zero_grad()
    mean_loss = 0.0
    num_tokens = (tgt[:, 1:] != 0).sum()
    for src_piece, tgt_piece in zip(src.chunk(num_pieces), tgt.chunk(num_pieces)):
        logits = model(src_piece, tgt_piece[:, :-1]).flatten(0, 1)
        labels = tgt_piece[:, 1:].flatten()
        loss = F.cross_entropy(logits, labels, ignore_index=0, reduction="sum") / num_tokens
        loss.backward()
        mean_loss += loss.item()
    optimizer.step()
    return mean_loss
