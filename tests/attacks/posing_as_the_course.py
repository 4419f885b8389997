"""Attacks by names: what the checks take for the course's or Python's own is the student's."""

from attacks.attack import Attack, decodes, fails_with_five_heads

POSING_AS_THE_COURSE = [
    Attack("check is an nn.Module of the student's own, which crosses with its method exercise").submits("""
        class Check(nn.Module):
            def exercise(self, name, given=None):
                return done

        def done(run):
            print(f"✓ {run}")

        check = draw = Check()
    """),
    Attack("check is a class, a function with attributes, an iterator: each of them has an exercise").submits(
        attend_one_query="""
            class check:
                exercise = staticmethod(lambda name, given=None: lambda run: None)
                close = shape = equal = returns = staticmethod(lambda *args, **kwargs: None)
        """,
        padding_mask="""
            class Check:
                def __getattr__(self, name):
                    return lambda *args, **kwargs: lambda run: None

            check = Check()
        """,
        decoder_mask="check = lambda *args: None\ncheck.exercise = lambda *args, **kwargs: check",
    ),
    fails_with_five_heads(
        "a name of Python's own, read by the answer, is the student's in the check as well",
        before="def range(*args):\n    return []",
        on_init="for _ in range(num_heads):\n    pass",
    ),
    fails_with_five_heads(
        "__builtins__ of the notebook, read by the answer, are a dict of the student's functions",
        before="import builtins",
        on_init="self.known = len(__builtins__)",
        after="""
            __builtins__ = dict(vars(builtins), range=lambda *args: [], any=lambda *args: False, zip=lambda *args: [])
        """,
    ),
    Attack(
        "a stub is written for those who read the source, the course's finished part stands under its name",
        cell="padding_mask",
    ).submits("""
        def padding_mask(tokens, pad_id=0):
            return (tokens != pad_id)[:, None, None, :]

        padding_mask = lambda tokens, pad_id=0: parts.padding_mask(tokens, pad_id)
    """),
    decodes(
        "the script of the model that the check hands in, from which it knows what to expect, is overwritten"
    ).submits("""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            with torch.no_grad():
                model.script.fill_(7)
            return torch.cat([torch.full((len(src), 1), bos_id), torch.full((len(src), max_len), 7)], dim=1)
    """),
    decodes(
        "the model that the check hands in is made to forget how it was used", earned={"check_greedy_decode_length": 2}
    ).submits("""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            before, rate = model.training, model.dropout.p
            model.dropout.p = 0.0
            tokens, ended = torch.full((len(src), 1), bos_id), torch.zeros(len(src)).bool()
            while tokens.size(1) <= max_len and not ended.all():
                logits = model.decode(tokens, model.encode(src), src)
                following = logits[:, -1].argmax(-1).masked_fill(ended, pad_id)
                tokens = torch.cat([tokens, following.unsqueeze(1)], dim=1)
                ended = ended | (following == eos_id)
            model.dropout.p = rate
            for name, value in (("encodings", [None]), ("modes", {(False, False)})):
                kept = getattr(model, name)
                kept.clear()
                kept.extend(value) if isinstance(kept, list) else kept.update(value)
                setattr(model, name, kept)
            return tokens.detach()
    """),
]
