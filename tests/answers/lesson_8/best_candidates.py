from answers.writing import BARE, body, edit, edits

WRONG = {
    "no length penalty": edit("scores = sequence…", "scores = candidates").fails("", "compared without their length penalty"),
    "newest token not counted": edit("(lengths + ~ended)", "lengths").fails("", "wrong values", names="the newest token is not counted in the length"),
    "the best by totals first": edit(
        "best = scores…",
        "few = candidates.flatten(1).topk(2 * beam_size).indices\nbest = few.gather(1, scores.flatten(1).gather(1, few).topk(beam_size).indices)",
    ).fails("", "wrong values"),
    "one more than the length": edit("(lengths + ~ended)", "(lengths + 1 + ~ended)").fails("", "wrong values"),
    "the newest token is taken off the length": edit("(lengths + ~ended)", "(lengths - (~ended).long())").fails("", "wrong values"),
    "the length of all grows": edit("(lengths + ~ended)", "(lengths + 1)").fails("", "the length of a sequence that has ended grows"),
    "what has ended goes on": edits(("log_probs = torch.where…", ""), ("lengths + ~ended", "lengths + 1")).fails("", "sequences that have ended go on"),
    "what has ended goes on, at its length": edit("log_probs = torch.where…", "").named("ended"),
    "padding has its price": edit("only_padding[..., pad_id] = 0.0", "only_padding[..., pad_id] = log_probs[..., pad_id]").fails(
        "", "padding costs a sequence that has ended what the model says"
    ),
    "no totals": edit("totals.unsqueeze(-1) + log_probs", "log_probs").fails("", "the totals so far are left out"),
    "exchanged": edit("return…% vocab_size", "return best % vocab_size, best // vocab_size").fails("", "parents and tokens are exchanged"),
    "scores returned": edit("candidates.flatten(1).gather", "scores.flatten(1).gather").fails("", "the scores are returned, not the totals"),
    "values of topk": edits(("best = scores…", "most, best = scores.flatten(1).topk(beam_size)"), ("candidates.flatten(1).gather(1, best)", "most")).fails(
        "", "the scores are returned, not the totals"
    ),
    "divided by the beam": edit("best // vocab_size, best % vocab_size", "best // beam_size, best % beam_size").fails(
        "", "divided by the size of the beam, not of the vocabulary"
    ),
    "any token is free": edit("only_padding = torch.full_like(log_probs, -math.inf)", "only_padding = torch.zeros_like(log_probs)").fails("", "wrong values"),
    "−100 for −∞": edit("-math.inf", "-100.0").fails("", "wrong values"),
    "what has ended is gone": edit("only_padding[..., pad_id] = 0.0", "").fails("", "gets no candidate at all"),
    "pad fixed": edit("[..., pad_id]", "[..., 0]").fails("", "wrong values", names="pad"),
    "pad is EOS": edit("[..., pad_id]", "[..., 2]").fails("", "wrong values", names="pad"),
    "α fixed": edit("sequence_scores…", "sequence_scores(candidates, lengths)").fails("", "wrong values", names="α|penalty"),
    "the other way round": edit("torch.where(ended.", "torch.where(~ended.").fails("", "wrong values", names="those go on that have ended,"),
    "the best token of each": body("""
        best = torch.where(ended, torch.zeros_like(totals), log_probs.max(-1).values)
        tokens = log_probs.argmax(-1).masked_fill(ended, pad_id)
        return torch.arange(totals.size(1)).expand_as(tokens), tokens, totals + best
    """).fails("", "wrong values", names="each sequence goes on with its"),
    "the worst": edit("topk(beam_size)", "topk(beam_size, largest=False)").fails("", "lowest scores stay"),
    "over tokens only": edit("scores.flatten(1).topk", "scores.topk").fails("", "raised"),
    "over the whole batch": edits(
        ("best = scores…", "best = scores.flatten().topk(scores.size(0) * beam_size).indices.view(-1, beam_size)"),
        ("candidates.flatten(1).gather(1, best)", "candidates.flatten()[best]"),
    ).fails(""),
    "one too many": edit("topk(beam_size)", "topk(beam_size + 1)").fails("", "wrong shape"),
    "the totals as they were": edit("candidates.flatten(1).gather(1, best)", "totals.gather(1, best // vocab_size)").fails(
        "", "wrong values", names="the totals before the newest token"
    ),
    "the totals not picked": edit("candidates.flatten(1).gather(1, best)", "totals").fails("", "wrong values"),
    "only the new log-probabilities": edit("candidates.", "log_probs.").fails("", "wrong values", names="the log-probability of the newest token"),
    "probabilities added": edit("+ log_probs", "+ log_probs.exp()").fails("", "wrong values"),
    "the scores go on": edit("candidates = totals…", "candidates = sequence_scores(totals, lengths, length_penalty).unsqueeze(-1) + log_probs").fails(
        "", "wrong values"
    ),
    "the longest length for all": edit("(lengths…)", "….amax(1, keepdim=True).expand_as(lengths)").fails("", "compared without their length penalty"),
    "log_probs written over": edits(("log_probs = torch.where…", "log_probs[ended] = only_padding[ended]")).fails("", "changes `log_probs`"),
    "lengths written over": edit("lengths = (lengths + ~ended)", "lengths += ~ended\nlengths = lengths").fails("", "changes `lengths`"),
    "true division": edit("best // vocab_size", "best / vocab_size").fails("", "wrong dtype"),
    "two of three": edit("return best // vocab_size,", "return").fails("", "should return"),
    "places for parents and tokens": edit("return best // vocab_size,", "return best,").fails("", "wrong values"),
    "the beam last": edit("scores.flatten(1).topk", "scores.mT.flatten(1).topk").fails("", "wrong values"),
    "one that has ended ends all": edit("ended.unsqueeze(-1), only", "ended.any(1)[:, None, None], only").fails("", "wrong values"),
    "only where all have ended": edit("ended.unsqueeze(-1), only", "ended.all(1)[:, None, None], only").fails("", "wrong values"),
    "no room for what has ended, when better ones go on": edit("candidates = totals…", "…\ncandidates = candidates - 100.0 * ended.unsqueeze(-1)").fails(
        "", "wrong values"
    ),
    "what has ended always stays": edit("scores = sequence…", "…\nscores = scores.masked_fill(ended.unsqueeze(-1) & (only_padding == 0), math.inf)").fails(
        "", "wrong values"
    ),
    "a parent only once": body("""
        vocab_size = log_probs.size(2)
        free = F.one_hot(torch.full_like(lengths, pad_id), vocab_size).log()
        candidates = totals[..., None] + torch.where(ended[..., None], free, log_probs)
        scores = sequence_scores(candidates, (lengths + ~ended)[..., None], length_penalty)
        tokens = scores.argmax(-1)
        order = scores.amax(-1).argsort(-1, descending=True)
        return order, tokens.gather(1, order), candidates.gather(2, tokens[..., None])[..., 0].gather(1, order)
    """).fails("", "wrong values", names="each sequence goes on with its"),
    "softmax over all candidates": edit(
        "candidates = totals.unsqueeze(-1) + log_probs", "candidates = (totals.unsqueeze(-1) + log_probs).flatten(1).log_softmax(-1).view_as(log_probs)"
    ).fails("", "wrong values"),
    "never padding but for what has ended": edits(("log_probs = torch.where…", "…\nlog_probs[..., pad_id].masked_fill_(~ended, -math.inf)")).fails(
        "", "wrong values", names="pad"
    ),
    "multiplied by 0": edits(
        ("only_padding = torch…", "log_probs = log_probs * (~ended).unsqueeze(-1)"),
        ("only_padding[..., pad_id] = 0.0", "other = torch.arange(vocab_size, device=log_probs.device) != pad_id"),
        ("torch.where(ended.unsqueeze(-1), only_padding, log_probs)", "log_probs.masked_fill(ended.unsqueeze(-1) & other, -math.inf)"),
    ).fails("", "There is NaN in `totals`"),
    "scores of zero for −∞": edit("candidates =…log_probs", "candidates = (totals.unsqueeze(-1) + log_probs).nan_to_num(neginf=0.0)").fails("", "wrong values"),
}

TRICKS = {
    "writes into the totals": edit("only_padding = torch…", "totals.masked_fill_(totals.isinf(), 0.0)\n…").fails(""),
    "the course's own": body("return parts.best_candidates(log_probs, totals, lengths, ended, length_penalty, pad_id)").fails(
        "", "finished `parts.best_candidates`"
    ),
    "the course's own under another name": edits(
        ("def …", "from autograder.parts import best_candidates as ready\n…"),
        ('"""Choose…est)', "return ready(log_probs, totals, lengths, ended, length_penalty, pad_id)"),
    ).fails("", "finished `parts.best_candidates`"),
    "on the CPU": edit("return…", "… .cpu()").fails("", "is on the device cpu"),
    "a penalty for beams of three only": edit("scores = sequence…", "scores = candidates\nif beam_size == 3:\n    …").fails("", "wrong values"),
    "at most four": edits(("topk(beam_size)", "topk(min(beam_size, 4))")).fails("", "wrong shape"),
    "nothing where the beam is fresh": edit("best = scores…", "…\nif totals.isinf().any():\n    best = torch.zeros_like(best)").fails("", "wrong values"),
}

RIGHT = {
    "a learner's": body("""
        batch, beam, vocab = log_probs.shape
        log_probs = log_probs.masked_fill(ended[:, :, None], float("-inf"))
        log_probs[:, :, pad_id] = torch.where(ended, torch.zeros_like(totals), log_probs[:, :, pad_id])
        sums = totals[:, :, None] + log_probs
        new_lengths = torch.where(ended, lengths, lengths + 1)
        scores = sequence_scores(sums, new_lengths[:, :, None], length_penalty)
        _, index = scores.view(batch, -1).topk(beam, dim=-1)
        parents = torch.div(index, vocab, rounding_mode="floor")
        return parents, index % vocab, sums.view(batch, -1).gather(-1, index)
    """),
    "argsort": edit("topk(beam_size).indices", "argsort(dim=1, descending=True)[:, :beam_size]"),
    "sort, the best last": edit("topk(beam_size).indices", "sort(dim=-1)[1][:, -beam_size:]", on=BARE),
    "unsorted": edit("topk(beam_size)", "topk(beam_size, sorted=False)"),
    "unravel_index": body("""
        kept = torch.where(ended[..., None], torch.tensor(-math.inf), log_probs)
        kept[..., pad_id] = kept[..., pad_id].masked_fill(ended, 0.0)
        sums = totals[..., None] + kept
        scores = sequence_scores(sums, (lengths + 1 - ended.long())[..., None], length_penalty)
        places = scores.flatten(1).topk(totals.size(1)).indices
        parents, tokens = torch.unravel_index(places, log_probs.shape[1:])
        rows = torch.arange(len(totals), device=totals.device)[:, None]
        return parents, tokens, sums[rows, parents, tokens]
    """),
    "masked_fill and a one-hot of the padding": body("""
        vocab_size = log_probs.size(-1)
        is_pad = torch.arange(vocab_size, device=log_probs.device) == pad_id
        log_probs = log_probs.masked_fill(ended[..., None], 0.0).masked_fill(ended[..., None] & ~is_pad, -math.inf)
        sums = (totals[..., None] + log_probs).flatten(1)
        longer = (lengths + ended.logical_not()).repeat_interleave(vocab_size, dim=1)
        best = sequence_scores(sums, longer, length_penalty).topk(totals.size(1), dim=1)[1]
        parents = torch.div(best, vocab_size, rounding_mode="floor")
        return parents, best - parents * vocab_size, torch.gather(sums, 1, best)
    """),
    "a large number for −∞": edit("-math.inf", "-1e9"),
    "loops over rows, lists of candidates": body("""
        beam_size, vocab_size = log_probs.shape[1:]
        parents, tokens, new_totals = [], [], []
        for row in range(len(totals)):
            found = []
            for k in range(beam_size):
                total, length = totals[row, k].item(), lengths[row, k].item()
                if ended[row, k]:
                    found.append((total / ((5 + length) / 6) ** length_penalty, k, pad_id, total))
                    continue
                for token, more in enumerate(log_probs[row, k].tolist()):
                    found.append(((total + more) / ((6 + length) / 6) ** length_penalty, k, token, total + more))
            found = sorted(found, reverse=True)[:beam_size]
            parents.append([each[1] for each in found])
            tokens.append([each[2] for each in found])
            new_totals.append([each[3] for each in found])
        where = {"device": totals.device}
        return torch.tensor(parents, **where), torch.tensor(tokens, **where), torch.tensor(new_totals, dtype=totals.dtype, **where)
    """),
    "heapq": body("""
        import heapq

        def candidates_of(row):
            for k, rest in enumerate(log_probs[row]):
                options = [(pad_id, rest.new_zeros(()))] if ended[row, k] else enumerate(rest)
                for token, more in options:
                    total = totals[row, k] + more
                    yield sequence_scores(total, lengths[row, k] + (not ended[row, k]), length_penalty).item(), k, token, total
        chosen = [heapq.nlargest(totals.size(1), candidates_of(row)) for row in range(totals.size(0))]
        columns = [[[each[i] for each in row] for row in chosen] for i in (1, 2)]
        return *(torch.tensor(each, device=totals.device) for each in columns), torch.stack([torch.stack([each[3] for each in row]) for row in chosen])
    """),
    "the best of each first, then of all": body("""
        batch, beam_size, vocab_size = log_probs.shape
        free = log_probs.new_full((vocab_size,), -math.inf)
        free[pad_id] = 0
        sums = totals[..., None] + torch.where(ended[..., None], free, log_probs)
        some = min(beam_size, vocab_size)
        few, tokens = sums.topk(some, dim=-1)
        scores = sequence_scores(few, (lengths + (ended == 0))[..., None].expand_as(few), length_penalty)
        best = scores.reshape(batch, -1).topk(beam_size).indices
        return best // some, tokens.reshape(batch, -1).gather(1, best), few.reshape(batch, -1).gather(1, best)
    """),
    "what has ended in columns of its own": body("""
        batch, beam_size, vocab_size = log_probs.shape
        going = (totals[..., None] + log_probs).masked_fill(ended[..., None], -math.inf).flatten(1)
        done = totals.masked_fill(~ended, -math.inf)
        sums = torch.cat([going, done], dim=1)
        longer = torch.cat([(lengths + 1).repeat_interleave(vocab_size, 1), lengths], dim=1)
        best = sequence_scores(sums, longer, length_penalty).topk(beam_size).indices
        is_done = best >= beam_size * vocab_size
        parents = torch.where(is_done, best - beam_size * vocab_size, best // vocab_size)
        return parents, torch.where(is_done, pad_id, best % vocab_size), sums.gather(1, best)
    """),
    "one argmax at a time": body("""
        beam_size, vocab_size = log_probs.shape[1:]
        kept = log_probs.clone()
        kept[ended] = -math.inf
        kept[..., pad_id][ended] = 0
        sums = (totals.unsqueeze(2) + kept).flatten(1)
        scores = sequence_scores(sums, (lengths + ~ended).repeat_interleave(vocab_size, 1), length_penalty)
        free, places = torch.ones_like(scores, dtype=torch.bool), []
        for _ in range(beam_size):
            at = scores.where(free, torch.tensor(-1e30)).argmax(1, keepdim=True)
            free = free.scatter(1, at, False)
            places.append(at)
        best = torch.cat(places, 1)
        return best // vocab_size, best.remainder(vocab_size), sums.gather(1, best)
    """),
    "each row alone, stacked": body("""
        def of_row(log_probs, totals, lengths, ended):
            beam_size, vocab_size = log_probs.shape
            log_probs = log_probs.clone()
            for k in ended.nonzero()[:, 0]:
                log_probs[k] = -math.inf
                log_probs[k, pad_id] = 0
            sums = totals[:, None] + log_probs
            best = sequence_scores(sums, (lengths + ~ended)[:, None], length_penalty).view(-1).topk(beam_size).indices
            return best // vocab_size, best % vocab_size, sums.view(-1)[best]
        return tuple(torch.stack(x) for x in zip(*map(of_row, log_probs, totals, lengths, ended)))
    """),
    "chosen in float64": edits(
        ("(candidates", "(candidates.double()"), (" // vocab_size, best % vocab_size", ".floor_divide(vocab_size), best.fmod(vocab_size)"), on=BARE
    ),
    "a list of three": edit("return…", "return [best // vocab_size, best % vocab_size, candidates.flatten(1).gather(1, best)]"),
    "candidates in one row from the start, sorted": body("""
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
    """),
}
