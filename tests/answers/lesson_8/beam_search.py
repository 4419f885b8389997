from textwrap import dedent, indent

from answers.writing import BARE, Code, edit, edits, whole

FIRST = "def beam_search(model, src, beam_size, max_len, length_penalty=0.6, bos_id=1, eos_id=2, pad_id=0):"

LOOP = "while tokens.size(-1) <= max_len and not ended.all():"
SCORES = "scores, best = sequence_scores(totals, lengths, length_penalty).max(dim=1)"


def body(text: str) -> Code:
    """A function that starts as the solution does, whose first line is longer than a line."""
    return whole(f"{FIRST}\n{indent(dedent(text).strip(), '    ')}")


WRONG = {
    "only what has ended wins": edit("length_penalty).max(dim=1)", "length_penalty).masked_fill(~ended, -math.inf).max(dim=1)").fails(
        "tokens", "can never win"
    ),
    "appended, then picked": edits(
        ("tokens = tokens.take_along_dim(parents.unsqueeze(-1), dim=1)", "pass"),
        ("newest.unsqueeze(-1)], dim=-1)", "….take_along_dim(parents.unsqueeze(-1), dim=1)"),
    ).fails("tokens", "appended before"),
    "the newest picked as well": edit("tokens = tokens.take_along_dim(parents", "newest = newest.gather(1, parents)\n…").fails(
        "tokens", "picked by the parents as well, also"
    ),
    "the newest picked as well, in the tokens alone": edit("newest.", "newest.gather(1, parents).").fails("tokens", "picked by the parents as well, as"),
    "the newest picked as well, for EOS alone": edit("(newest == eos_id)", "(newest.gather(1, parents) == eos_id)").fails("tokens", "wrong values"),
    "gathered without a third dimension": edit("tokens.take_along_dim(parents.unsqueeze(-1), dim=1)", "tokens.gather(1, parents.unsqueeze(-1))").fails(
        "tokens", "Does your loop end?"
    ),
    "stops when the first of each beam has ended": edit("not ended.all()", "not ended[:, 0].all()").fails("tokens"),
    "tokens not picked by parents": edit("tokens = tokens.take_along_dim(parents…", "").fails("tokens", names="the tokens are not those of"),
    "ended not picked by parents": edit("ended = ended.gather…", "").fails("tokens", names="is not that of the parents"),
    "lengths not picked by parents": edit("lengths.gather(1, parents)", "lengths").fails("tokens", names="are not those of the parents"),
    "nothing picked by parents": edits(
        ("tokens = tokens.take_along_dim(parents…", ""), ("ended = ended.gather…", ""), ("lengths.gather(1, parents)", "lengths")
    ).fails("tokens", names="nothing is taken from the parents"),
    "picked by tokens": edit("parents, newest, totals", "newest, parents, totals").fails("tokens"),
    "EOS not counted": edits(
        ("lengths = lengths.gather(1, parents) + ~ended", ""), ("| (newest == eos_id)", "…\nlengths = lengths.gather(1, parents) + ~ended")
    ).fails("tokens", names="EOS does not count in the"),
    "padding counted": edit("+ ~ended", "+ 1").fails("tokens", names="the length of a sequence that"),
    "lengths never grow": edit(" + ~ended", "").fails("tokens", names="the lengths stay 0"),
    "ended only at the moment": edit("ended = ended …", "ended = newest == eos_id").fails("tokens", names="it is forgotten which sequences ended"),
    "nothing ends": edit("ended = ended | (newest == eos_id)", "").fails("tokens", names="no sequence is ever noted as"),
    "logits for log-probabilities": edit("logits.log_softmax(dim=-1)", "logits").fails("tokens", names="logits are added up, without a"),
    "probabilities": edit("log_softmax(dim=-1)", "softmax(dim=-1)").fails("tokens", names="probabilities are added up, not their"),
    "log_softmax over the rows": edit("log_softmax(dim=-1)", "log_softmax(dim=0)").fails("tokens", names="the log-softmax goes over all rows,"),
    "the first position": edit("sources)[:, -1]", "sources)[:, 0]").fails("tokens", names="the first position is looked at,"),
    "the best by total": edits(
        (SCORES, "best = totals.argmax(dim=1)\nscores = sequence_scores(totals, lengths, length_penalty).gather(1, best[:, None])[:, 0]")
    ).fails("tokens", names="the best sequence is chosen by"),
    "the total for the score": edit("tokens = tokens.take_along_dim(best…", "…\nscores = totals.gather(1, best[:, None])[:, 0]").fails(
        "tokens", "wrong values", names="the log-probability of the best sequence"
    ),
    "the best by total, with its total": edit(SCORES, "scores, best = totals.max(dim=1)").fails("tokens", names="the best sequence is chosen by"),
    "the worst": edit("length_penalty).max(dim=1)", "length_penalty).min(dim=1)").fails("tokens", names="the sequence with the lowest score"),
    "the first of the beam": edits(
        (SCORES, "scores = sequence_scores(totals, lengths, length_penalty)[:, 0]"), ("take_along_dim(best[:, None, None], dim=1).squeeze(1)", "select(1, 0)")
    ).fails("tokens", names="the first sequence of each beam"),
    "the last of the beam": edit("take_along_dim(best[:, None, None], dim=1).squeeze(1)", "select(1, -1)").fails("tokens"),
    "the whole beam": edit("tokens = tokens.take_along_dim(best…", "").fails("tokens"),
    "the scores of the whole beam": edit("tokens = tokens.take_along_dim(best…", "…\nscores = sequence_scores(totals, lengths, length_penalty)").fails(
        "tokens", "has the wrong shape"
    ),
    "probability for score": edit("tokens = tokens.take_along_dim(best…", "…\nscores = scores.exp()").fails("tokens", "wrong values"),
    "the mean for the score": edit(SCORES, "scores, best = (totals / lengths).max(dim=1)").fails("tokens", "wrong values"),
    "no length penalty in the search": edit("totals, lengths, ended, length_penalty, pad_id", "totals, lengths, ended, 0.0, pad_id").fails("tokens"),
    "α fixed in the search": edit("totals, lengths, ended…", "totals, lengths, ended, pad_id=pad_id").fails("tokens", names="is not passed on to"),
    "α fixed at the end": edit("sequence_scores…)", "sequence_scores(totals, lengths)").fails("tokens", names="is not passed on to"),
    "pad fixed": edit("ended, length_penalty, pad_id", "ended, length_penalty").fails("tokens", names="is not passed on to"),
    "EOS fixed": edit("newest == eos_id", "newest == 2").fails("tokens", names="is taken to be 2"),
    "BOS fixed": edit("(len(src), beam_size, 1), bos_id", "(len(src), beam_size, 1), 1").fails("tokens"),
    "begins with PAD": edit("(len(src), beam_size, 1), bos_id", "(len(src), beam_size, 1), pad_id").fails("tokens"),
    "one token too few": edit("tokens.size(-1) <= max_len", "tokens.size(-1) < max_len").fails("tokens", names="one step is missing: BOS counts"),
    "one token too many": edit("tokens.size(-1) <= max_len", "tokens.size(-1) <= max_len + 1").fails("tokens", names="one step too many is taken"),
    "the first that ends stops all": edit("not ended.all()", "not ended.any()").fails("tokens", names="the search stops as soon as"),
    "one source stops all": edit("not ended.all()", "not ended.all(dim=1).any()").fails("tokens"),
    "a loop without an end": edit("tokens.size(-1) <= max_len and ", "").fails("mode"),
    "all of the beam begin": edit("totals[:, 0] = 0.0", "totals[:] = 0.0").fails("tokens", names="decoding is greedy: all sequences of"),
    "greedy": edit(
        LOOP,
        "memory, sources = memory[::beam_size], sources[::beam_size]\nbeam_size = 1\n"
        "tokens, totals, lengths, ended = (x[:, :1] for x in (tokens, totals, lengths, ended))\n…",
    ).fails("tokens", names="decoding is greedy: all sequences of"),
    "sources mixed up": edits(
        ("src.repeat_interleave(beam_size, dim=0)", "src.repeat(beam_size, 1)"), (".repeat_interleave(beam_size, dim=0)\n", ".repeat(beam_size, 1, 1)\n")
    ).fails("tokens"),
    "beams and sources exchanged": edit("unflatten…", "unflatten(0, (beam_size, len(src))).transpose(0, 1)").fails("tokens", names="mixed with the sequences"),
    "rows of the tokens exchanged": edit("tokens.flatten(0, 1)", "tokens.transpose(0, 1).flatten(0, 1)").fails("tokens"),
    "only the newest token is read": edit("tokens.flatten(0, 1)", "tokens.flatten(0, 1)[:, -1:]").fails("tokens", "given the newest token alone"),
    "totals start anew": edit("parents, newest, totals =", "totals = torch.where(totals.isinf(), totals, 0.0)\n…").fails("tokens"),
    "the memory as it is": edit("memory = model.encode(src).repeat_interleave(beam_size, dim=0)", "memory = model.encode(src)").fails("tokens"),
    "no BOS": edit("return tokens, scores", "return tokens[:, 1:], scores").fails("tokens", "BOS is left out"),
    "no EOS": edit("return tokens, scores", "return tokens.masked_fill(tokens == eos_id, pad_id), scores").fails("tokens"),
    "tokens only": edit("return tokens, scores", "return tokens").fails("tokens", "should return"),
    "scores first": edit("return tokens, scores", "return scores, tokens").fails("tokens"),
    "a list of words": edit("return tokens, scores", "return tokens.tolist(), scores").fails("tokens"),
    "filled with EOS": edit("return tokens, scores", "return tokens.masked_fill((tokens == eos_id).cumsum(1) > 0, eos_id), scores").fails("tokens"),
    "encodes at every step": edit("logits …memory", "logits = model.decode(tokens.flatten(0, 1), model.encode(sources)").fails("mode", "The encoder runs"),
    "encodes each source": edit("model.encode…repeat", "torch.cat([model.encode(row[None]) for row in src]).repeat").fails("mode", "The encoder runs 2 times"),
    "train mode": edit("model.eval()", "model.train()").fails("mode", "runs in train mode"),
    "mode as it comes": edit("model.eval()", "").fails("mode", "runs in train mode"),
    "with gradients": edit("with torch.no_grad():", "if True:").fails("mode", "with gradients enabled"),
    "stays in eval mode": edit("model.train(was_training)", "").fails("mode", "was in train mode is not"),
    "always back to training": edit("model.train(was_training)", "model.train()").fails("mode", "was in eval mode is not"),
    "asks twice at each step": edit("parents, newest, totals =", "model.decode(tokens.flatten(0, 1), memory, sources)\n…").fails("mode", "the decoder runs"),
    "what has ended makes room": body("""
        was_training = model.training
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            found = []
            for row in range(len(src)):
                going, done = [([bos_id], 0.0)], []
                for _ in range(max_len):
                    if not going:
                        break
                    tokens = torch.tensor([words for words, _ in going], device=src.device)
                    few = [x[row : row + 1].expand(len(going), *x.shape[1:]) for x in (memory, src)]
                    log_probs = model.decode(tokens, *few)[:, -1].log_softmax(-1).tolist()
                    longer = [(words + [w], t + p) for (words, t), ps in zip(going, log_probs) for w, p in enumerate(ps)]
                    longer = sorted(longer, key=lambda each: -each[1])[:beam_size]
                    done += [each for each in longer if each[0][-1] == eos_id]
                    going = [each for each in longer if each[0][-1] != eos_id]
                found.append(max((t / ((4 + len(words)) / 6) ** length_penalty, words) for words, t in done + going))
        model.train(was_training)
        rows = [torch.tensor(words, device=src.device) for _, words in found]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
        return tokens, torch.tensor([score for score, _ in found], device=src.device)
    """).fails("tokens"),
    "what has ended wins over all": edit(
        SCORES,
        "scores = sequence_scores(totals, lengths, length_penalty)\nbest = (scores + 100 * ended).argmax(dim=1)\n"
        "scores = scores.gather(1, best[:, None])[:, 0]",
    ).fails("tokens"),
    "tokens counted that are not padding": edit("+ ~ended", "+ (newest != pad_id)").fails("tokens"),
}

TRICKS = {
    "beams of up to four": edit("was_training = model.training", "beam_size = min(beam_size, 4)\n…").fails("tokens"),
    "the course's own": edit(
        "was_training = model.training", "return parts.beam_search(model, src, beam_size, max_len, length_penalty, bos_id, eos_id, pad_id)\n…"
    ).fails("tokens", "finished `parts.beam_search`"),
    "the course's own under another name": whole("""
        from autograder.parts import beam_search as ready
        def beam_search(model, src, beam_size, max_len, length_penalty=0.6, bos_id=1, eos_id=2, pad_id=0):
            return ready(model, src, beam_size, max_len, length_penalty, bos_id, eos_id, pad_id)
    """).fails("tokens", "finished `parts.beam_search`"),
    "greedy, and its score": body("""
        tokens = greedy_decode(model, src, max_len, bos_id, eos_id, pad_id)
        was_training = model.training
        model.eval()
        with torch.no_grad():
            log_probs = model.decode(tokens[:, :-1], model.encode(src), src).log_softmax(-1)
        model.train(was_training)
        real = (tokens[:, 1:] == eos_id).cumsum(1).cumsum(1) < 2
        totals = (log_probs.gather(2, tokens[:, 1:, None])[..., 0] * real).sum(1)
        return tokens, sequence_scores(totals, real.sum(1), length_penalty).named("decoding is greedy: all sequences of"),
    """).fails("tokens"),
    "on the CPU": edit("return tokens, scores", "return tokens.cpu(), scores.cpu()").fails("tokens", "is on the device cpu"),
    "the scores carry no gradients, the model does": edits(("with torch…", "if True:"), ("return…", "….detach()")).fails("mode", "with gradients enabled"),
    "only the model's own flag restored": edit("model.train(was_training)", "model.training = was_training").fails("mode", "not as a whole, in it afterwards"),
}

RIGHT = {
    "source by source with one memory": body("""
        was_training = model.training
        model.eval()
        rows, found = [], []
        with torch.no_grad():
            encoded = model.encode(src)
            for i in range(len(src)):
                memory, source = (x[i : i + 1].expand(beam_size, *x.shape[1:]) for x in (encoded, src))
                tokens = src.new_full((beam_size, 1), bos_id)
                totals = memory.new_full((beam_size,), -math.inf)
                totals[0] = 0.0
                lengths = torch.zeros_like(totals).long()
                ended = lengths == 1
                while tokens.size(1) <= max_len and not ended.all():
                    logs = model.decode(tokens, memory, source)[:, -1].log_softmax(-1)
                    given = (x[None] for x in (logs, totals, lengths, ended))
                    parents, newest, totals = (x[0] for x in best_candidates(*given, length_penalty, pad_id))
                    tokens = torch.cat([tokens[parents], newest[:, None]], 1)
                    lengths = lengths[parents] + ~ended[parents]
                    ended = ended[parents] | (newest == eos_id)
                scores = sequence_scores(totals, lengths, length_penalty)
                rows.append(tokens[scores.argmax()])
                found.append(scores.max())
        model.train(was_training)
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id), torch.stack(found)
    """),
    "indexed": body("""
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
    """),
    "gather with an expanded index": edit(
        "tokens = tokens.take_along_dim(parents…", "index = parents.unsqueeze(-1).expand(-1, -1, tokens.size(-1))\ntokens = tokens.gather(1, index)"
    ),
    "not stopping early": edit(LOOP, "for _ in range(max_len):"),
    "columns of padding at the end": edit("return tokens, scores", "return F.pad(tokens, (0, 3), value=pad_id), scores"),
    "inference_mode": edit("torch.no_grad", "torch.inference_mode", on=BARE),
    "decorated, try and finally": edits(
        ("def beam", "@torch.no_grad()\n…"),
        ("with torch.no_grad():", "try:"),
        ("model.train(was_training)\n    return tokens, scores", "finally:\n    model.train(was_training)\nreturn tokens, scores"),
        on="indexed",
    ),
    "a copy of the model in eval mode": edits(("was_training =…", "import copy\nmodel = copy.deepcopy(model)"), ("model.train…", ""), on=BARE),
    "totals in float64": edits(
        ("memory.new_full((len(src), beam_size), -math.inf)", "torch.full((len(src), beam_size), -math.inf, dtype=torch.float64, device=src.device)"),
        ("logits.log_softmax(dim=-1)", "logits.double().log_softmax(dim=-1)"),
        ("return tokens, scores", "return tokens, scores.to(memory.dtype)"),
    ),
    "cut to the longest": edit("return tokens, scores", "return tokens[:, : 1 + int(lengths.gather(1, best[:, None]).max())], scores"),
    "ended and lengths found from the tokens": edits(
        ("ended = ended.gather(1, parents)", ""),
        ("lengths = lengths.gather(1, parents) + ~ended", "lengths = ((tokens[..., 1:] == eos_id).cumsum(-1).cumsum(-1) < 2).sum(-1)"),
        ("ended = ended | (newest == eos_id)", "ended = (tokens[..., 1:] == eos_id).any(-1)"),
    ),
    "flat rows, index_select": body("""
        mode, (batch, device) = model.training, (src.size(0), src.device)
        model.eval()
        with torch.no_grad():
            memory = model.encode(src)
            memory = memory[:, None].expand(-1, beam_size, -1, -1).flatten(0, 1)
            sources = src[:, None].expand(-1, beam_size, -1).flatten(0, 1)
            first = torch.arange(batch, device=device)[:, None] * beam_size
            tokens = torch.full((batch * beam_size, max_len + 1), pad_id, device=device)
            tokens[:, 0] = bos_id
            totals = torch.full((batch, beam_size), -math.inf, device=device, dtype=memory.dtype)
            totals[:, 0] = 0
            lengths = torch.zeros(batch, beam_size, dtype=torch.long, device=device)
            ended = lengths > 0
            for step in range(1, max_len + 1):
                if ended.all():
                    break
                log_probs = F.log_softmax(model.decode(tokens[:, :step], memory, sources)[:, -1], -1)
                parents, new, totals = best_candidates(log_probs.reshape(batch, beam_size, -1), totals, lengths, ended, length_penalty, pad_id)
                rows = (first + parents).flatten()
                tokens = tokens.index_select(0, rows)
                tokens[:, step] = new.flatten()
                ended, lengths = ended.flatten()[rows].view_as(ended), lengths.flatten()[rows].view_as(lengths)
                lengths = torch.where(ended, lengths, lengths + 1)
                ended = ended.logical_or(new.eq(eos_id))
            scores = sequence_scores(totals, lengths, length_penalty)
            at = scores.argmax(1)
        model.train(mode)
        return tokens[first[:, 0] + at], scores.amax(1)
    """),
    "lists of hypotheses, one call of the decoder for all": body("""
        was_training = model.training
        model.eval()

        def score(each):
            return each[1] / ((5 + len(each[0]) - 1) / 6) ** length_penalty

        with torch.no_grad():
            memory = model.encode(src)
            beams = [[([bos_id], 0.0, False)] for _ in src]
            for step in range(max_len):
                where = [(row, k) for row, beam in enumerate(beams) for k, each in enumerate(beam) if not each[2]]
                if not where:
                    break
                rows = [row for row, _ in where]
                words = torch.tensor([beams[row][k][0] for row, k in where], device=src.device)
                log_probs = dict(zip(where, model.decode(words, memory[rows], src[rows])[:, -1].double().log_softmax(-1).tolist()))
                for row, beam in enumerate(beams):
                    longer = [each for each in beam if each[2]]
                    for k, (words, total, is_done) in enumerate(beam):
                        for word, more in enumerate(log_probs.get((row, k), ())):
                            longer.append((words + [word], total + more, word == eos_id))
                    beams[row] = sorted(longer, key=score, reverse=True)[:beam_size]
        model.train(was_training)
        best = [max(beam, key=score) for beam in beams]
        rows = [torch.tensor(words, device=src.device) for words, _, _ in best]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
        return tokens, torch.tensor([score(each) for each in best], device=src.device, dtype=memory.dtype)
    """),
    "only what goes on is decoded": edit(
        "logits …, beam_size, -1)",
        "alive = (~ended).view(-1)\n"
        "logits = model.decode(tokens.view(len(src) * beam_size, -1)[alive], memory[alive], sources[alive])\n"
        "some = torch.log_softmax(logits[:, -1], -1)\n"
        "log_probs = some.new_zeros(len(alive), some.size(-1)).index_put((alive,), some).view(len(src), beam_size, -1)",
        on="indexed",
    ),
    "recursion, in one's own class": edit(
        "def …, scores",
        "class Beam:\n"
        "    def __init__(self, tokens, totals, lengths, ended):\n"
        "        self.tokens, self.totals, self.lengths, self.ended = tokens, totals, lengths, ended\n"
        "    def of(self, parents):\n"
        "        return Beam(self.tokens.take_along_dim(parents[..., None], 1), *(x.gather(1, parents) for x in (self.totals, self.lengths, self.ended)))\n"
        "def beam_search(model, src, beam_size, max_len, length_penalty=0.6, bos_id=1, eos_id=2, pad_id=0):\n"
        "    n, k = src.size(0), beam_size\n"
        "    def grown(beam, left):\n"
        "        if not left or beam.ended.all():\n"
        "            return beam\n"
        "        logits = model.decode(beam.tokens.reshape(n * k, -1), memory, sources)[:, -1]\n"
        "        logs = (logits - logits.logsumexp(-1, keepdim=True)).reshape(n, k, -1)\n"
        "        parents, new, totals = best_candidates(logs, beam.totals, beam.lengths, beam.ended, length_penalty=length_penalty, pad_id=pad_id)\n"
        "        kept = beam.of(parents)\n"
        "        tokens = torch.cat([kept.tokens, new.unsqueeze(2)], 2)\n"
        "        return grown(Beam(tokens, totals, kept.lengths + (~kept.ended).int(), kept.ended | new.eq(eos_id)), left - 1)\n"
        "    was = {part: part.training for part in model.modules()}\n"
        "    try:\n"
        "        with torch.no_grad():\n"
        "            memory = torch.repeat_interleave(model.eval().encode(src), k, 0)\n"
        "            sources = torch.repeat_interleave(src, k, 0)\n"
        "            start = torch.where(torch.arange(k, device=src.device) == 0, 0.0, -math.inf).to(memory.dtype).repeat(n, 1)\n"
        "            beam = grown(Beam(src.new_full((n, k, 1), bos_id), start, src.new_zeros(n, k), torch.zeros(n, k, device=src.device).bool()), max_len)\n"
        "    finally:\n"
        "        for part, training in was.items():\n"
        "            part.training = training\n"
        "    scores = sequence_scores(beam.totals, beam.lengths, length_penalty)\n"
        "    order = scores.argsort(dim=1, descending=True)[:, 0]\n"
        "    pick = range(n), order.tolist()\n"
        "    return beam.tokens[pick], scores[pick]",
    ),
    "one sequence first, then a beam, without topk": edit(
        "memory …).squeeze(1)",
        "memory = model.encode(src)\n"
        "first = model.decode(src.new_full((len(src), 1), bos_id), memory, src)[:, 0].log_softmax(-1)\n"
        "totals, newest = first.sort(dim=1, descending=True)\n"
        "totals, newest = totals[:, :beam_size], newest[:, :beam_size]\n"
        "missing = beam_size - totals.size(1)\n"
        "totals, newest = F.pad(totals, (0, missing), value=-math.inf), F.pad(newest, (0, missing), value=pad_id)\n"
        "tokens = torch.stack([torch.full_like(newest, bos_id), newest], dim=2)\n"
        "lengths, ended = torch.ones_like(newest), newest == eos_id\n"
        "memory, sources = memory.repeat_interleave(beam_size, 0), src.repeat_interleave(beam_size, 0)\n"
        "for _ in range(max_len - 1):\n"
        "    logs = model.decode(tokens.flatten(0, 1), memory, sources)[:, -1].log_softmax(-1).unflatten(0, totals.shape)\n"
        "    free = torch.full_like(logs[0, 0], -math.inf)\n"
        "    free[pad_id] = 0.0\n"
        "    sums = (totals[..., None] + torch.where(ended[..., None], free, logs)).flatten(1)\n"
        "    longer = (lengths + ~ended).repeat_interleave(logs.size(-1), dim=1)\n"
        "    best = (sums / ((5 + longer) / 6) ** length_penalty).argsort(1, descending=True)[:, :beam_size]\n"
        "    parents, newest = best // logs.size(-1), best % logs.size(-1)\n"
        "    totals, lengths = sums.gather(1, best), longer.gather(1, best)\n"
        "    tokens = torch.cat([tokens.take_along_dim(parents[..., None], 1), newest[..., None]], 2)\n"
        "    ended = ended.gather(1, parents) | (newest == eos_id)\n"
        "scores, best = (totals / ((5 + lengths) / 6) ** length_penalty).max(1)\n"
        "tokens = torch.stack([beam[i] for beam, i in zip(tokens, best)])",
        on="indexed",
    ),
    "flat rows, found by an offset": edits(
        ("def …):", "def beam_search(model, src, beam_size, max_len, length_penalty=0.6, bos_id=1, eos_id=2, pad_id=0) -> tuple[torch.Tensor, torch.Tensor]:"),
        (
            "while…e(1)",
            "while tokens.size(-1) <= max_len and not ended.all():\n"
            "    flat = tokens.reshape(len(src) * beam_size, tokens.size(-1))\n"
            "    last = model.decode(flat, memory, sources)[:, -1, :]\n"
            "    log_probs = F.log_softmax(last, dim=-1).reshape(len(src), beam_size, last.size(-1))\n"
            "    parents, newest, totals = best_candidates(log_probs, totals, lengths, ended, length_penalty=length_penalty, pad_id=pad_id)\n"
            "    offset = torch.arange(len(src), device=src.device).unsqueeze(1) * beam_size\n"
            "    rows = (parents + offset).flatten()\n"
            "    flat = torch.cat((flat[rows], newest.reshape(-1, 1)), dim=1)\n"
            "    tokens = flat.reshape(len(src), beam_size, flat.size(1))\n"
            "    went_on = ~ended.flatten()[rows].reshape(len(src), beam_size)\n"
            "    lengths = lengths.flatten()[rows].reshape(len(src), beam_size) + went_on.to(lengths.dtype)\n"
            "    ended = ~went_on | newest.eq(eos_id)\n"
            "scores = sequence_scores(totals, lengths, length_penalty)\n"
            "winner = scores.argmax(dim=1)\n"
            "each = torch.arange(len(src), device=src.device)\n"
            "tokens, scores = tokens[each, winner], scores[each, winner]",
        ),
        on=BARE,
    ),
}
