"""Answers that readers of lesson 8 wrote, each below a line that names its exercise; they run in a lesson, not here."""


# %% merge_pair · skips the second of a pair
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


# %% merge_pair · an index, and the piece that it is at, perhaps joined
def merge_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Join the neighbours that are the two pieces of `pair`, from left to right."""
    first, second = pair
    result: list[str] = []
    position = 0
    last = len(pieces) - 1
    while position <= last:
        current = pieces[position]
        if position < last and current == first and pieces[position + 1] == second:
            current = first + second
            position += 1
        result.append(current)
        position += 1
    return result


# %% learn_merges · Counter, sorted ties, returns early
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


# %% learn_merges · helper functions, pieces and counts in two lists
def count_pairs(splits, frequencies):
    totals = {}
    for split, frequency in zip(splits, frequencies):
        for left, right in zip(split, split[1:]):
            totals.setdefault((left, right), 0)
            totals[(left, right)] += frequency
    return totals


def best_of(totals):
    ranked = sorted(totals.items(), key=lambda item: item[0])
    ranked.sort(key=lambda item: item[1], reverse=True)
    return ranked[0][0]


def learn_merges(words: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Learn which pairs of pieces to join, the most frequent first."""
    splits = [list(word) for word in words.keys()]
    frequencies = list(words.values())
    merges: list[tuple[str, str]] = []
    for _ in range(num_merges):
        totals = count_pairs(splits, frequencies)
        if totals == {}:
            break
        merges.append(best_of(totals))
        for index, split in enumerate(splits):
            splits[index] = merge_pair(split, merges[-1])
    return merges


# %% Tokenizer · two dictionaries
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


# %% Tokenizer · alphabet and merges by arithmetic, constants at the top
PAD, BOS, EOS, UNK = range(4)


class Tokenizer:
    """Cut text into pieces with ids, and put it together again."""

    def __init__(self, merges: list[tuple[str, str]], alphabet: list[str]) -> None:
        self.merges = list(merges)
        self.alphabet = list(alphabet)
        self.vocab_size = UNK + 1 + len(self.alphabet) + len(self.merges)
        self.vocab: dict[str, int] = {}
        for letter in self.alphabet:
            self.vocab[letter] = len(self.vocab) + UNK + 1
        for number, (left, right) in enumerate(self.merges):
            self.vocab[left + right] = UNK + 1 + len(self.alphabet) + number
        self.inverse = {number: piece for piece, number in self.vocab.items()}

    def encode(self, text: str) -> list[int]:
        """Text → ids, without BOS and EOS; 3 for a letter that is not in the alphabet."""
        tokens = list(text)
        for merge in self.merges:
            tokens = merge_pair(tokens, merge)
        return [self.vocab.get(token, UNK) for token in tokens]

    def decode(self, ids: list[int]) -> str:
        """Ids → text; 0, 1 and 2 are nothing, 3 is �."""
        text = []
        for number in ids:
            if number in (PAD, BOS, EOS):
                continue
            text.append("\ufffd" if number == UNK else self.inverse[number])
        return "".join(text)


# %% make_batches · sorts by source, fills and flushes
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


# %% make_batches · indices, both widths, torch for what is random
def make_batches(pairs, max_tokens: int, seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Put pairs of similar length together, and pad each batch to its longest rows."""
    generator = torch.Generator().manual_seed(seed)
    for source, target in pairs:
        if max(len(source), len(target)) > max_tokens:
            raise ValueError(f"max_tokens={max_tokens} is too small for a pair of {len(source)} and {len(target)} ids")
    indices = torch.randperm(len(pairs), generator=generator).tolist()
    indices = sorted(indices, key=lambda index: (len(pairs[index][0]), len(pairs[index][1])))
    groups: list[list[int]] = []
    source_width = target_width = 0
    for index in indices:
        source, target = pairs[index]
        wider_source = max(source_width, len(source))
        wider_target = max(target_width, len(target))
        rows = len(groups[-1]) + 1 if groups else 0
        if rows and rows * wider_source <= max_tokens and rows * wider_target <= max_tokens:
            groups[-1].append(index)
            source_width, target_width = wider_source, wider_target
        else:
            groups.append([index])
            source_width, target_width = len(source), len(target)
    batches = []
    for number in torch.randperm(len(groups), generator=generator):
        chosen = [pairs[index] for index in groups[number]]
        batches.append((padded([source for source, _ in chosen]), padded([target for _, target in chosen])))
    return batches


# %% sequence_scores · pow
def sequence_scores(totals: torch.Tensor, lengths: torch.Tensor, length_penalty: float = 0.6) -> torch.Tensor:
    """Divide log-probabilities by their length penalty."""
    penalty = ((lengths + 5) / 6).pow(length_penalty)
    return totals / penalty


# %% sequence_scores · multiplies by the inverse power, in floats
def sequence_scores(totals: torch.Tensor, lengths: torch.Tensor, length_penalty: float = 0.6) -> torch.Tensor:
    """Divide log-probabilities by their length penalty."""
    base = (5.0 + lengths.to(totals.dtype)) / 6.0
    return totals * torch.pow(base, -length_penalty)


# %% best_candidates · masked_fill, then the padding column
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


# %% best_candidates · candidates in one row from the start, sorted
def best_candidates(log_probs, totals, lengths, ended, length_penalty=0.6, pad_id=0):
    """Choose how the sequences of a beam go on."""
    batch, beam_size, vocab_size = log_probs.shape
    is_pad = torch.arange(vocab_size, device=log_probs.device) == pad_id
    free = torch.zeros(vocab_size, dtype=log_probs.dtype, device=log_probs.device).masked_fill(~is_pad, -math.inf)
    steps = torch.where(ended[..., None], free, log_probs)
    all_totals = (totals[..., None] + steps).reshape(batch, beam_size * vocab_size)
    all_lengths = (lengths + (~ended).long()).repeat_interleave(vocab_size, dim=1)
    scores = sequence_scores(all_totals, all_lengths, length_penalty)
    order = scores.argsort(dim=1, descending=True)[:, :beam_size]
    tokens = order.remainder(vocab_size)
    parents = (order - tokens) // vocab_size
    return parents, tokens, torch.take_along_dim(all_totals, order, dim=1)


# %% beam_search · indexes rows
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


# %% beam_search · flat rows, found by an offset
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
        while tokens.size(-1) <= max_len and not ended.all():
            flat = tokens.reshape(len(src) * beam_size, tokens.size(-1))
            last = model.decode(flat, memory, sources)[:, -1, :]
            log_probs = F.log_softmax(last, dim=-1).reshape(len(src), beam_size, last.size(-1))
            parents, newest, totals = best_candidates(log_probs, totals, lengths, ended, length_penalty=length_penalty, pad_id=pad_id)
            offset = torch.arange(len(src), device=src.device).unsqueeze(1) * beam_size
            rows = (parents + offset).flatten()
            flat = torch.cat((flat[rows], newest.reshape(-1, 1)), dim=1)
            tokens = flat.reshape(len(src), beam_size, flat.size(1))
            went_on = ~ended.flatten()[rows].reshape(len(src), beam_size)
            lengths = lengths.flatten()[rows].reshape(len(src), beam_size) + went_on.to(lengths.dtype)
            ended = ~went_on | newest.eq(eos_id)
        scores = sequence_scores(totals, lengths, length_penalty)
        winner = scores.argmax(dim=1)
        each = torch.arange(len(src), device=src.device)
        tokens, scores = tokens[each, winner], scores[each, winner]
    model.train(was_training)
    return tokens, scores
