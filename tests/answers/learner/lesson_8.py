"""One learner's answers to lesson 8, cell by cell; they run in its notebook, not here."""


# %% merge_pair
def merge_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Join the neighbours that are the two pieces of `pair`, from left to right."""
    out = []
    skip = False
    for k, piece in enumerate(pieces):
        if skip:
            skip = False
        elif k + 1 < len(pieces) and (piece, pieces[k + 1]) == pair:
            out.append(piece + pieces[k + 1])
            skip = True
        else:
            out.append(piece)
    return out


# %% learn_merges
def learn_merges(words: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Learn which pairs of pieces to join, the most frequent first."""
    from collections import Counter

    split = [(list(word), count) for word, count in words.items()]
    found = []
    for _ in range(num_merges):
        counter = Counter()
        for pieces, count in split:
            for a, b in zip(pieces[:-1], pieces[1:]):
                counter[a, b] += count
        if len(counter) == 0:
            return found
        highest = max(counter.values())
        pair = sorted(p for p in counter if counter[p] == highest)[0]
        found.append(pair)
        split = [(merge_pair(pieces, pair), count) for pieces, count in split]
    return found


# %% predict_pieces
predicted_pieces = "9"


# %% Tokenizer
class Tokenizer:
    """Cut text into pieces with ids, and put it together again."""

    def __init__(self, merges: list[tuple[str, str]], alphabet: list[str]) -> None:
        self.merges = merges
        self.to_piece = {3: "�"}
        for piece in list(alphabet) + [a + b for a, b in merges]:
            self.to_piece[len(self.to_piece) + 3] = piece
        self.to_id = {piece: i for i, piece in self.to_piece.items()}
        self.vocab_size = 4 + len(alphabet) + len(merges)

    def encode(self, text: str) -> list[int]:
        """Text → ids, without BOS and EOS; 3 for a letter that is not in the alphabet."""
        pieces = [c for c in text]
        for pair in self.merges:
            if pair[0] in pieces and pair[1] in pieces:
                pieces = merge_pair(pieces, pair)
        return [self.to_id[p] if p in self.to_id else 3 for p in pieces]

    def decode(self, ids: list[int]) -> str:
        """Ids → text; 0, 1 and 2 are nothing, 3 is �."""
        return "".join(self.to_piece[i] for i in ids if i > 2)


# %% make_batches
def make_batches(pairs, max_tokens: int, seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Put pairs of similar length together, and pad each batch to its longest rows."""
    rng = random.Random(seed)
    shuffled = list(pairs)
    rng.shuffle(shuffled)
    shuffled.sort(key=lambda p: len(p[0]))
    batches, current, longest = [], [], 0
    for src, tgt in shuffled:
        size = max(len(src), len(tgt))
        if size > max_tokens:
            raise ValueError(f"a pair of {size} ids does not fit into {max_tokens}")
        if max(longest, size) * (len(current) + 1) > max_tokens:
            batches.append(current)
            current, longest = [], 0
        current.append((src, tgt))
        longest = max(longest, size)
    if current:
        batches.append(current)
    rng.shuffle(batches)
    return [(padded([s for s, _ in b]), padded([t for _, t in b])) for b in batches]


# %% predict_padding
predicted_padding = "30"

# %% predict_rates
predicted_rates = "20, 40, 50"

# %% predict_exact
predicted_exact = "95"


# %% sequence_scores
def sequence_scores(totals: torch.Tensor, lengths: torch.Tensor, length_penalty: float = 0.6) -> torch.Tensor:
    """Divide log-probabilities by their length penalty."""
    penalty = ((lengths + 5) / 6).pow(length_penalty)
    return totals / penalty


# %% best_candidates
def best_candidates(log_probs, totals, lengths, ended, length_penalty=0.6, pad_id=0):
    """Choose how the sequences of a beam go on."""
    batch, beam, vocab = log_probs.shape
    log_probs = log_probs.masked_fill(ended[:, :, None], float("-inf"))
    log_probs[:, :, pad_id] = torch.where(ended, torch.zeros_like(totals), log_probs[:, :, pad_id])
    sums = totals[:, :, None] + log_probs
    new_lengths = torch.where(ended, lengths, lengths + 1)
    scores = sequence_scores(sums, new_lengths[:, :, None], length_penalty)
    _, index = scores.view(batch, -1).topk(beam, dim=-1)
    parents = torch.div(index, vocab, rounding_mode="floor")
    return parents, index % vocab, sums.view(batch, -1).gather(-1, index)


# %% predict_beam
predicted_beam = "20 and 5"


# %% beam_search
def beam_search(model, src, beam_size, max_len, length_penalty=0.6, bos_id=1, eos_id=2, pad_id=0) -> tuple[torch.Tensor, torch.Tensor]:
    """Write a target for every source, following the `beam_size` best beginnings (§6.1)."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        memory = model.encode(src).repeat_interleave(beam_size, dim=0)
        sources = src.repeat_interleave(beam_size, dim=0)
        tokens = src.new_full((len(src), beam_size, 1), bos_id)
        totals = memory.new_full((len(src), beam_size), -math.inf)
        totals[:, 0] = 0.0
        lengths = torch.zeros_like(totals, dtype=torch.long)
        ended = torch.zeros_like(totals, dtype=torch.bool)
        rows = torch.arange(len(src), device=src.device)[:, None]
        while tokens.size(-1) <= max_len and not ended.all():
            logits = model.decode(tokens.view(len(src) * beam_size, -1), memory, sources)
            log_probs = torch.log_softmax(logits[:, -1], -1).view(len(src), beam_size, -1)
            parents, new, totals = best_candidates(log_probs, totals, lengths, ended, length_penalty, pad_id)
            tokens = torch.cat([tokens[rows, parents], new[:, :, None]], 2)
            ended = ended[rows, parents]
            lengths = lengths[rows, parents] + (~ended).long()
            ended = ended | (new == eos_id)
        scores = sequence_scores(totals, lengths, length_penalty)
        best = scores.argmax(-1, keepdim=True)
        tokens = tokens[rows, best].squeeze(1)
        scores = scores.gather(1, best).squeeze(1)
    model.train(was_training)
    return tokens, scores


# %% predict_parts
predicted_parts = "20 %, 40 %, 50 %, 0 %, 0 %"
