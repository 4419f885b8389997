"""Exercise `Transformer`: its cases and its slips."""

import functools
import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.lesson_5.shared import FUTURE, IN_TRAINING, Model, one_of_each, still
from autograder.exercises.shared import few, possible, sizes, some
from autograder.parts.model import LearnersTransformer

SMALL = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 6, "max_len": 90}
IN_BATCH = "A mask lets padding in or belongs to another sentence, or something else goes over all positions."
STILL = "encoder.layers", "decoder.layers", "positional_encoding"
SETTINGS = {"num_heads": 8, "num_layers": 6, "d_model": 512, "d_ff": 2048, "dropout": 0.1, "max_len": 5000, "pad_id": 0}


def part_cases(answer: Model, *, seed: int = 0) -> None:
    """The parts have the sizes, depths, heads and rates asked for, and refuse what is too long."""
    check.defaults("Transformer", answer, **SETTINGS, share_embeddings=False)
    ranges = {
        "num_layers": (1, 3),
        "num_heads": (1, 3),
        "d_ff": (1, 9),
        "max_len": (1, 9),
        "src": (4, 9),
        "tgt": (10, 15),
    }
    for index, size in enumerate(sizes(seed, 1, **ranges)):
        num_layers, num_heads, d_ff, max_len, *vocabularies = size.values()
        size = {"d_model": 2 * num_heads, "num_heads": num_heads, "num_layers": num_layers, "d_ff": d_ff}
        dropout = (index + seed) % 7 / 10
        with check.case(src_vocab_size=vocabularies[0], tgt_vocab_size=vocabularies[1], **size, max_len=max_len):
            model = answer(*vocabularies, **size, dropout=dropout, max_len=max_len)
            for name, of in {"encoder": parts.EncoderLayer, "decoder": parts.DecoderLayer}.items():
                check.layers(f"model.{name}.layers", model.get_submodule(f"{name}.layers"), of, num_layers)
            right: Any = parts.Transformer(*vocabularies, max_len=1, **size)  # type: ignore[arg-type, misc]
            check.parameters("model", model, parts.parameters_of(**dict(right.named_children())))
            check.settings("model", model, num_heads=num_heads, dropout=dropout)
            _refuses_what_is_too_long(model, max_len)


def _refuses_what_is_too_long(model: Any, max_len: int) -> None:
    """Both sides do, unless they add no positions, which the values say."""
    longest, too_long = torch.full((1, max_len), 3), torch.full((1, max_len + 1), 3)
    memory = model.eval().encode(longest)
    model.decode(longest, memory, longest)
    because = f"{max_len + 1} tokens are more than max_len={max_len}, which goes to `positional_encoding`"
    for call, run in {
        "model.encode(src)": lambda: model.encode(too_long),
        "model.decode(tgt, memory, src)": lambda: model.decode(too_long, memory, longest),
    }.items():
        if not _is_blind(run):
            check.raises(call, ValueError, run, because=because)


def _is_blind(run: Callable[[], Tensor]) -> bool:
    """Whether a sentence of equal words gets equal vectors, (1, seq_len, …): their places play no part."""
    try:
        states = run()
    except Exception:
        return False
    return torch.allclose(states, states[:, :1], atol=1e-4)


def value_cases(answer: Model, *, seed: int = 0) -> None:
    """Predictions without padding: of any length with one layer, of the first token with more, in both modes.

    The last position of one layer, and the only one of several, is the same with and without a causal mask.
    """
    for num_layers, dtype in some(seed, ((1, torch.float32), (2, torch.float64), (4, torch.float32))):
        model = answer(12, 9, **SMALL | {"num_layers": num_layers}, dropout=0.5)
        model = still(data.randomized(model, seed=seed), *STILL).to(dtype)
        twin = parts.transformer_twin(model)
        for index, size in enumerate(sizes(seed, num_layers == 1, batch=(1, 3), src_len=(1, 9), tgt_len=(1, 70))):
            batch, src_len, tgt_len = size.values()
            src = _words(batch, src_len, 12, seed + index)
            tgt = _words(batch, tgt_len if num_layers == 1 else 1, 9, seed + index + 50)
            expected = twin(src, tgt)[:, -1].log_softmax(-1)
            for training in (False, True) if num_layers == 1 else (index % 2 == 1,):
                model.train(training)
                case = check.case(num_layers=num_layers, src=src, tgt=tgt, dtype=dtype)
                with case, check.unchanged(src=src, tgt=tgt):
                    _predicts(model, src, tgt, expected, training)
        with check.case(num_layers=num_layers, src=src, tgt=tgt, dtype=dtype):
            _all_learn(model, src, tgt)
    _leaves_nothing_on_the_cpu(answer(12, 9, **SMALL).to("meta"), src.to("meta"), tgt.to("meta"))


def _predicts(model: Any, src: Tensor, tgt: Tensor, expected: Tensor, training: bool) -> None:
    """Logits (batch, tgt_len, tgt_vocab_size) of the whole, and of its halves."""
    mode = "model.train()" if training else "model"
    logits = model(src, tgt)
    vocab_size = expected.size(-1)
    check.shape(f"{mode}(src, tgt)", logits, batch=len(src), tgt_len=tgt.size(1), tgt_vocab_size=vocab_size)
    check.dtype(f"{mode}(src, tgt)", logits, expected.dtype)
    last = logits[:, -1].log_softmax(-1)
    if training:
        check.stays("log_softmax(model(src, tgt))[:, -1]", last, expected, **IN_TRAINING)
    check.close("log_softmax(model(src, tgt))[:, -1]", last, expected)
    memory = model.encode(src)
    with check.unchanged(memory=memory):
        again = model.decode(tgt, memory, src)
    check.close("model.decode(tgt, model.encode(src), src)", again, logits)
    check.mode(f"{mode}(src, tgt)", model, training)


def _leaves_nothing_on_the_cpu(model: Any, src: Tensor, tgt: Tensor) -> None:
    """A model on a device where tensors have no numbers makes its new tensors there."""
    try:
        model(src, tgt)
    except Exception as error:
        verdict = "With model and tokens on another device, some tensor is still made on the CPU."
        check.true("device" not in str(error), verdict, "Make new tensors with `device=tgt.device`.")


def _all_learn(model: Any, src: Tensor, tgt: Tensor) -> None:
    """In both modes a gradient reaches every part."""
    weights = {name: p for name, p in model.named_parameters() if "layers." not in name and p.requires_grad}
    for name in ("encoder", "decoder"):
        weights |= one_of_each(f"{name}.layers", model.get_submodule(f"{name}.layers"))
    for training in (False, True):
        check.gradients_reach(weights, model.train(training)(src, tgt))


def future_cases(answer: Model, *, seed: int = 0) -> None:
    """What is predicted for a beginning is predicted for it in any longer target, in both modes."""
    model = still(data.randomized(answer(12, 9, **SMALL, dropout=0.0), seed=seed), *STILL)
    for index, size in enumerate(sizes(seed, 2, batch=(1, 3), src_len=(1, 9), tgt_len=(2, 30))):
        batch, src_len, tgt_len = size.values()
        src, tgt = _words(batch, src_len, 12, seed + index), _words(batch, tgt_len, 9, seed + index + 50)
        for training in (False, True):
            model.train(training)
            for shown in {1, tgt_len // 2, tgt_len - 1} - {0}:
                with check.case(src=src, tgt=tgt, training=training):
                    whole, beginning = model(src, tgt).clone(), model(src, tgt[:, :shown]).clone()
                    _require_finite(beginning)
                    gives_the_same_again(model, src, tgt, whole)
                    name = f"model(src, tgt)[:, :{shown}]"
                    when = f"tgt goes on behind position {shown - 1}"
                    check.stays(name, whole[:, :shown], beginning, when=when, slip=FUTURE)


def gives_the_same_again(model: Any, src: Tensor, tgt: Tensor, logits: Tensor) -> None:
    """Without dropout, the same sentences get the same logits the next time: else nothing can be said of masks."""
    again = model(src, tgt).nan_to_num()
    slip = "Something is drawn anew in each call, as by a dropout of your own, or kept from one call to the next."
    check.stays("model(src, tgt)", again, logits.nan_to_num(), when="it is asked again", slip=slip)


def padding_cases(answer: Model, *, seed: int = 0) -> None:
    """Sentences get the same logits alone and padded in any batch, and nothing depends on a pad, wherever it stands."""
    generator = random.Random(seed)
    shapes = (1, 3), (2, 3), (3, 5), (3, 5), (4, 9)
    for place, pad_id in enumerate((0, 4, 8)):
        model = answer(12, 9, **SMALL, dropout=0.0, pad_id=pad_id)
        model = still(data.randomized(model, seed=seed), *STILL)
        if pad_id == 4:
            _keeps_nothing(answer, model, pad_id)
        for src, tgt in _gaps(pad_id, seed):
            with check.case(src=src, tgt=tgt, pad_id=pad_id):
                if not pad_id:
                    every_query_sees(model.eval(), src, tgt)
                _ignores_pads(model.eval(), src, tgt, pad_id)
        for batch, longest in some(seed, shapes[place :: place + 1]):
            src, tgt = (_padded(batch, longest, size, pad_id, generator) for size in (12, 9))
            alone = [model.eval()(_real(s, pad_id), _real(t, pad_id))[0] for s, t in zip(src, tgt, strict=True)]
            _require_finite(*alone)
            with check.case(src=src, tgt=tgt, pad_id=pad_id):
                memory, whole = model.encode(src), model(src, tgt)
                model.encode(src[-1:].clamp(min=1))  # what another sentence leaves behind plays no part
                with check.unchanged(memory=memory):
                    check.close("model.decode(tgt, model.encode(src), src)", model.decode(tgt, memory, src), whole)
                for training in (False, True):
                    together = model.train(training)(src, tgt)
                    for row, logits in enumerate(alone):
                        name = f"model(src, tgt)[{row}, :{len(logits)}]"
                        slip = f"Alone, without padding, this sentence gets other logits. {IN_BATCH}"
                        check.stays(name, together[row, : len(logits)], logits, when="it is padded", slip=slip)


def every_query_sees(model: Any, src: Tensor, tgt: Tensor) -> None:
    """No mask that reaches a layer of the model blocks all keys of a query: of such a row, softmax makes NaN."""
    masks: list[tuple[str, Tensor]] = []

    def note(layer: nn.Module, args: Any, options: Any) -> None:
        given = inspect.signature(layer.forward).bind(*args, **options).arguments
        masks.extend((name, mask) for name, mask in given.items() if "mask" in name and isinstance(mask, Tensor))

    layers = *model.encoder.layers, *model.decoder.layers
    hooks = [layer.register_forward_pre_hook(note, with_kwargs=True) for layer in layers]
    try:
        model(src, tgt)
    finally:
        for hook in hooks:
            hook.remove()
    for name, mask in masks:
        blind = ~mask.bool().any(dim=-1)
        verdict = f"A `{name}` that the model hands to a layer leaves some query no key at all, so softmax makes NaN."
        rows = blind.reshape(-1, blind.size(-1))
        of_pads = any(torch.equal(rows, tokens.eq(model.pad_id)) for tokens in (src, tgt))
        slip = "These queries are the padding's own; to hide it, block its columns, (batch, 1, 1, seq_len)."
        check.true(not blind.any(), verdict, slip if of_pads else None)


def _keeps_nothing(answer: Model, model: Any, pad_id: int) -> None:
    """The last prediction is right, whatever was computed before, for sentences of one shape or with other weights.

    Right is what a model of its own, of the same numbers, predicts for the sentence without padding.
    """
    src, tgt = torch.tensor([[5, 0, 7, 3]]), torch.tensor([[5, 6, 3]])
    padded = src.clone()
    padded[0, 2:] = pad_id
    for seed, sources in enumerate(((padded, src), (src, padded))):
        filled: Any = data.randomized(model.eval(), seed=seed)
        for source in sources:
            with check.case(src=source, tgt=tgt, pad_id=pad_id), torch.no_grad():
                fresh = _copied(filled, answer(12, 9, **SMALL, dropout=0.0, pad_id=pad_id)).eval()
                slips = {slip: v[:, -1] for slip, v in padding_slips(filled, source, tgt, pad_id).items()}
                before, name = fresh(_real(source, pad_id), tgt)[:, -1], "model(src, tgt)[:, -1]"
                slip = "It keeps something of an earlier call, or padding counts somewhere, as in an attention."
                after = model(source, tgt)[:, -1]
                check.stays(name, after, before, when="src is padded, after other calls", slip=slip, mistakes=slips)


def _ignores_pads(model: Any, src: Tensor, tgt: Tensor, pad_id: int) -> None:
    """The last logits of one source and target depend on all their tokens but the pads."""
    logits = model(src, tgt)[:, -1]
    _require_finite(logits)
    logits = logits[:, torch.arange(logits.size(-1)) != pad_id]  # the pad's own depends on how an output layer holds it
    check.true(logits.requires_grad, "No gradient flows through `model(src, tgt)`, so nothing there could learn.")
    for name, tokens in {"src_embedding": src, "tgt_embedding": tgt}.items():
        weight = model.get_submodule(name).embedding.weight
        if weight is model.output_projection.weight:
            continue  # another check says so, and every logit depends on it
        (gradient,) = torch.autograd.grad(logits.square().sum(), weight, retain_graph=True, allow_unused=True)
        if gradient is None:
            continue  # likewise
        check.true(gradient.isfinite().all(), f"The gradient of the logits in `{name}` contains NaN.")
        reached = gradient.abs().sum(dim=-1) > 0  # (vocab_size,)
        verdict = f"The logits depend on how `{name}` embeds pad_id={pad_id}: some mask lets padding in."
        check.true(not reached[pad_id], verdict)
        for token in set(tokens.flatten().tolist()) - {pad_id}:
            verdict = f"The last logits do not depend on token {token} in `{name}`, though pad_id is {pad_id}."
            check.true(reached[token], verdict)


def sharing_cases(answer: Model, *, seed: int = 0) -> None:
    """Sharing leaves two matrices fewer, and the model computes what it would with equal copies."""
    for vocab_size, pad_id in some(seed, ((4, 0), (7 + seed % 3, 3), (12, 0))):
        with check.case(vocab_size=vocab_size, pad_id=pad_id):
            model = answer(vocab_size, vocab_size, **SMALL, pad_id=pad_id, share_embeddings=True)
            apart = answer(vocab_size, vocab_size, **SMALL, pad_id=pad_id)
            tied = apart.output_projection.weight is apart.tgt_embedding.embedding.weight
            check.true(not tied, "Without share_embeddings the output layer shares the embedding of the target.")
            bias = model.output_projection.bias is not None or apart.output_projection.bias is None
            check.true(bias, "With sharing, the output layer has lost its bias.")
            fewer = len(list(apart.parameters())) - len(list(model.parameters()))
            check.true(fewer == 2, f"Sharing leaves {fewer} parameters fewer; two should go.")
            weight = model.src_embedding.embedding.weight
            check.true(weight.requires_grad, "The shared parameter is frozen: its `requires_grad` is False.")
            model = data.randomized(model, seed=seed).eval()
            src, tgt = _words(2, 4, vocab_size, seed), _words(2, 3, vocab_size, seed + 1)
            src, tgt = (tokens.masked_fill(tokens == pad_id, 1) for tokens in (src, tgt))
            apart = _copied(model, apart).eval()
            output, expected = model(src, tgt), apart(src, tgt)
            check.shape("model(src, tgt)", output, batch=2, tgt_len=3, tgt_vocab_size=vocab_size)
            _require_finite(expected)
            told = bool((expected.amax(dim=-1) - expected.amin(dim=-1) > 1e-3).all())
            check.true(told, "`model(src, tgt)` gives every word of the vocabulary the same logit.")
            if apart.output_projection.bias is not None:
                unused = torch.allclose(output, expected - apart.output_projection.bias)
                check.true(not unused, "With shared embeddings the bias of the output layer is left out.")
            check.close("`model(src, tgt)` with shared embeddings, and apart with the same numbers", output, expected)
            _learns_for_all(model, apart, src, tgt)
    for one, other in ((11, 13), (13, 11), (5, 6 + few(seed))):
        answer(one, other, **SMALL)
        call, because = (
            f"Transformer({one}, {other}, share_embeddings=True)",
            f"the vocabularies differ, {one} and {other}",
        )
        build = functools.partial(answer, one, other, **SMALL, share_embeddings=True)
        check.raises(call, (ValueError, AssertionError), build, because=because)


def _learns_for_all(model: Any, apart: Any, src: Tensor, tgt: Tensor) -> None:
    """The gradient of the shared matrix is the sum of those that its three copies in `apart` get."""
    copies = [apart.src_embedding.embedding, apart.tgt_embedding.embedding, apart.output_projection]
    weights = [copy.weight for copy in copies]
    expected = torch.autograd.grad(apart(src, tgt).logsumexp(-1).sum(), weights, allow_unused=True)
    used = [gradient for gradient in expected if gradient is not None]  # that all are, the values say
    weight = model.src_embedding.embedding.weight
    for training in (False, True):
        output = still(model.train(training), *STILL)(src, tgt)
        check.gradients_reach({"model.src_embedding.embedding.weight": weight}, output)
        (gradient,) = torch.autograd.grad(output.logsumexp(-1).sum(), weight)
        name = "the gradient of the shared matrix, summed over its three jobs"
        check.close(name, gradient, torch.stack(used).sum(dim=0), rtol=1e-3, atol=1e-3)


def _require_finite(*logits: Tensor) -> None:
    """No logit of sentences that hold words is NaN or infinite; of such logits nothing else can be said."""
    finite = all(each.isfinite().all() for each in logits)
    check.true(finite, "`model(src, tgt)` contains NaN or infinite numbers.", "The check of the values: start there.")


def _copied(source: nn.Module, target: nn.Module) -> Any:
    """The model `target` with the numbers of `source`, each name with those of its own."""
    numbers = dict(source.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name, parameter in target.named_parameters(remove_duplicate=False):
            parameter.copy_(numbers[name])
    return target


def _words(batch: int, seq_len: int, vocab_size: int, seed: int) -> Tensor:
    """Draw tokens (batch, seq_len) that are not 0."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(1, vocab_size, (batch, seq_len), generator=generator)


def _padded(batch: int, longest: int, vocab_size: int, pad_id: int, generator: random.Random) -> Tensor:
    """Draw sentences (batch, longest) of any length from one up, padded at the end, perhaps all of them."""
    words = [word for word in range(vocab_size) if word != pad_id]
    lengths = [generator.randint(1, longest) for _ in range(batch)]
    rows = [[generator.choice(words) for _ in range(length)] + [pad_id] * (longest - length) for length in lengths]
    return torch.tensor(rows)


def _real(tokens: Tensor, pad_id: int) -> Tensor:
    """A sentence (longest,) without its padding, as a batch of one."""
    return tokens[tokens != pad_id][None]


def _gaps(pad_id: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """A source and a target with pads between their words, and 0 among these unless it is the pad."""
    first, *others = [token for token in (1, 0, 2, 3, 5, 6, 7) if token != pad_id]
    yield torch.tensor([[first, pad_id, others[0]]]), torch.tensor([[first, pad_id, others[0]]])
    src = [others[1 + seed % 2], first, others[0], pad_id, others[3], pad_id]
    yield torch.tensor([src]), torch.tensor([[others[0], others[1], pad_id, first, others[2]]])


@torch.no_grad()
def value_slips(model: LearnersTransformer, src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """Logits of badly joined parts, for src (batch, src_len) and tgt (batch, tgt_len) without padding.

    Args:
        model: the learner's own, in eval mode; its vocabulary of the source is the larger one.
    """
    place = model.positional_encoding
    source, target = model.src_embedding(src), model.tgt_embedding(tgt)
    placed, placed_target, scale = place(source), place(target), source.size(-1) ** 0.5
    causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()

    def logits(source: Tensor = placed, target: Tensor = placed_target, memory: Tensor | None = None) -> Tensor:
        memory = model.encoder(source) if memory is None else memory
        result: Tensor = model.output_projection(model.decoder(target, memory, tgt_mask=causal))
        return result

    right = logits()
    decoded = model.decoder(placed_target, model.encoder(placed), tgt_mask=causal)
    slips = {
        "no positions are added, neither to the source nor to the target": logits(source, target),
        "no positions are added to the source": logits(source),
        "no positions are added to the target": logits(target=target),
        "positions are added twice": logits(place(placed), place(placed_target)),
        "the embeddings are multiplied by √d_model once more; they do that themselves": logits(
            place(scale * source), place(scale * target)
        ),
        "the source is multiplied by √d_model once more; `src_embedding` does that itself": logits(
            place(scale * source)
        ),
        "the target is multiplied by √d_model once more; `tgt_embedding` does that itself": logits(
            target=place(scale * target)
        ),
        "the output of the decoder is divided by √d_model": model.output_projection(decoded / scale),
        "a sigmoid is applied to the logits": right.sigmoid(),
        "a softmax goes over the positions, not over the vocabulary": right.softmax(1),
        "the embeddings are multiplied by √d_model after the positions have been added": logits(
            scale * placed, scale * placed_target
        ),
        "the embeddings are not multiplied by √d_model, as `embedding` is called inside them": logits(
            place(source / scale), place(target / scale)
        ),
        "the source is not multiplied by √d_model": logits(place(source / scale)),
        "the target is not multiplied by √d_model": logits(target=place(target / scale)),
        "the target is embedded with `src_embedding`": logits(target=place(model.src_embedding(tgt))),
        "the encoder is left out: the memory is the embedded source": logits(memory=placed),
        "the decoder is left out": model.output_projection(placed_target),
        "a softmax is applied to the logits": right.softmax(-1),
        "a ReLU is applied to the logits": right.relu(),
    }
    if model.output_projection.bias is not None:
        slips["the bias of the output layer is left out"] = right - model.output_projection.bias
    return possible(slips, right)


@torch.no_grad()
def padding_slips(model: LearnersTransformer, src: Tensor, tgt: Tensor, pad_id: int = 0) -> dict[str, Tensor]:
    """Logits of a model that does not hide the padding of src (batch, src_len) everywhere."""
    keys = torch.ne(src, pad_id)[:, None, None, :]
    past = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()
    source = model.positional_encoding(model.src_embedding(src))
    target = model.positional_encoding(model.tgt_embedding(tgt))

    def logits(encoder_mask: Tensor | None, cross_mask: Tensor | None, tgt_mask: Tensor = past) -> Tensor:
        memory = model.encoder(source, src_mask=encoder_mask)
        result: Tensor = model.output_projection(model.decoder(target, memory, cross_mask, tgt_mask))
        return result

    slips = {
        "the encoder gets no mask, so words attend to padding": logits(None, keys),
        "the cross-attention gets no mask, so the target attends to the padding of the source": logits(keys, None),
        "neither the encoder nor the cross-attention gets the mask of the source": logits(None, None),
        "all sentences get the source mask of the first": logits(keys[:1], keys[:1]),
        "all sentences get the target mask of the first": logits(keys, keys, past & tgt[0].ne(pad_id)),
    }
    if pad_id:
        zeros = torch.ne(src, 0)[:, None, None, :]
        slip = "`pad_id` does not reach `padding_mask`"
        slips[f"{slip}, which hides token 0 instead"] = logits(zeros, zeros)
        slips[f"{slip} in `encode`, so that words attend to padding, and not to token 0"] = logits(zeros, keys)
        slips[f"{slip} in `decode`, so that the target attends to padding, and not to token 0"] = logits(keys, zeros)
    return possible(slips, logits(keys, keys))


@torch.no_grad()
def future_slips(model: LearnersTransformer, src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """Logits of a model whose decoder sees the future, for src (batch, src_len) and tgt (batch, tgt_len) unpadded."""
    memory = model.encoder(model.positional_encoding(model.src_embedding(src)))
    target = model.positional_encoding(model.tgt_embedding(tgt))
    later = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool)
    masks = {
        "the decoder sees the future: it gets no causal mask, or one that hides nothing": None,
        "the mask of the decoder is one diagonal off, so a position sees the one after it": later.tril(1),
        "the causal mask is upside down, so a position sees itself and the future": later.triu(),
    }
    return {slip: model.output_projection(model.decoder(target, memory, tgt_mask=mask)) for slip, mask in masks.items()}
