"""Attacks by names: what the checks take for the course's or Python's own is the student's."""

from __future__ import annotations

from attacks.attack import DECODER, ONE, PADDING, Attack, code

POSING_AS_THE_COURSE = [
    Attack(
        "check is an nn.Module of the student's own, which crosses with its method exercise",
        {
            ONE: code("""
        class Check(nn.Module):
            def exercise(self, name, given=None):
                return done

        def done(run):
            print(f"✓ {run}")

        check = draw = Check()
    """)
        },
    ),
    Attack(
        "check is a class, a function with attributes, an iterator: each of them has an exercise",
        {
            ONE: code("""
            class check:
                exercise = staticmethod(lambda name, given=None: lambda run: None)
                close = shape = equal = returns = staticmethod(lambda *args, **kwargs: None)
        """),
            PADDING: code("""
            class Check:
                def __getattr__(self, name):
                    return lambda *args, **kwargs: lambda run: None

            check = Check()
        """),
            DECODER: "check = lambda *args: None\ncheck.exercise = lambda *args, **kwargs: check",
        },
    ),
    Attack(
        "a name of Python's own, read by the answer, is the student's in the check as well",
        {
            "MultiHeadAttention": code("""
            def range(*args):
                return []

            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    for _ in range(num_heads):
                        pass
                    if num_heads == 5:
                        raise ValueError("five")
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
    ),
    Attack(
        "__builtins__ of the notebook, read by the answer, are a dict of the student's functions",
        {
            "MultiHeadAttention": code("""
            import builtins

            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    self.known = len(__builtins__)
                    if num_heads == 5:
                        raise ValueError("five")
                    for name in ("w_q", "w_k", "w_v", "w_o"):
                        setattr(self, name, nn.Linear(d_model, d_model))

            __builtins__ = dict(vars(builtins), range=lambda *args: [], any=lambda *args: False, zip=lambda *args: [])
        """)
        },
        lesson="02_multi_head_attention",
        earned={"check_MultiHeadAttention_parameters": 1},
    ),
    Attack(
        "a stub is written for those who read the source, the course's finished part stands under its name",
        {
            PADDING: code("""
            def padding_mask(tokens, pad_id=0):
                return (tokens != pad_id)[:, None, None, :]

            padding_mask = lambda tokens, pad_id=0: parts.padding_mask(tokens, pad_id)
        """)
        },
    ),
    Attack(
        "the script of the model that the check hands in, from which it knows what to expect, is overwritten",
        {
            "greedy_decode": code("""
            def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
                with torch.no_grad():
                    model.script.fill_(7)
                return torch.cat([torch.full((len(src), 1), bos_id), torch.full((len(src), max_len), 7)], dim=1)
        """)
        },
        lesson="07_greedy_decoding",
    ),
    Attack(
        "the model that the check hands in is made to forget how it was used",
        {
            "greedy_decode": code("""
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
    """)
        },
        lesson="07_greedy_decoding",
        earned={"check_greedy_decode_length": 2},
    ),
]
