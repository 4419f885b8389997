from answers.writing import BARE, edit, edits, whole

PART_OF = "Encoder"

WRONG = {
    "a Python list": edit("= nn.ModuleList", "= list").fails("decoder_layers", "PyTorch finds no layers in a plain list"),
    "encoder layers": edit("DecoderLayer(", "EncoderLayer(").fails("decoder_layers", "layers of the class DecoderLayer"),
    "one layer many times": edit(
        "nn.ModuleList(\n    DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)\n)",
        "nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)",
    ).fails("decoder_layers", "all layers share their parameters"),
    "dropout not handed on": edit("d_ff, dropout)", "d_ff)").fails("decoder_layers", "drop out at"),
    "no masks": edit("layer(…", "layer(x, memory)").fails("decoder_values", "no mask is handed"),
    "no target mask": edit("layer(…", "layer(x, memory, src_mask)").fails("decoder_values", "`tgt_mask` is not handed"),
    "no source mask": edit("layer(…", "layer(x, memory, None, tgt_mask)").fails("decoder_values", "`src_mask` is not handed"),
    "masks exchanged": edit("src_mask, tgt_mask)", "tgt_mask, src_mask)").fails("decoder_values", "ValueError"),
    "the memory is overwritten": edit("= layer", "= memory …").fails("decoder_values"),
    "each layer reads the input": edits(("x = layer", "y = layer"), ("return x", "return y")).fails("decoder_values", "reads the input of the stack"),
    "the last layer alone": edit("in self.layers:", "in self.layers[-1:]:").fails("decoder_values", "only the last layer counts"),
    "reversed": edit("in self.layers:", "in reversed(self.layers):").fails("decoder_values", "reverse order"),
    "a norm at the end": edits(("self.layers =…range(num_layers)\n)", "…\nself.norm = nn.LayerNorm(d_model)"), ("return x", "return self.norm(x)")).fails(
        "decoder_layers", "should not have"
    ),
    "one head": edit("(d_model, num_heads", "(d_model, 1").fails("decoder_layers", "With num_heads=3"),
    "memory detached": edit(", src_mask,", ".detach()…").fails("decoder_values", "No gradient flows back to `memory`"),
    "both masks or none": edit("for layer in", "if src_mask is None or tgt_mask is None:\n    src_mask = tgt_mask = None\n…").fails(
        "decoder_values", "decoder(x, memory, "
    ),
    "masks for the first layer only": edit("x = layer…", "x, src_mask, tgt_mask = layer(x, memory, src_mask, tgt_mask), None, None").fails(
        "decoder_values", "handed to the first layer only"
    ),
    "src_mask only in the first layer": edits(("for layer…", "for i, layer in enumerate(self.layers):"), ("src_mask,", "src_mask if i == 0 else None,")).named(
        "mask"
    ),
    "tgt_mask only in the first layer": edits(("for layer…", "for i, layer in enumerate(self.layers):"), ("tgt_mask)", "tgt_mask if i == 0 else None)")).named(
        "mask"
    ),
    "causal mask on top for cross attention if none": edit(
        "for layer…", "if tgt_mask is None:\n    tgt_mask = torch.tril(torch.ones(x.size(1), x.size(1), dtype=torch.bool))\n…"
    ).named("mask"),
    "frozen memory: layer norm of memory": edit("for layer…", "memory = F.layer_norm(memory, memory.shape[-1:])\n…").named("norm|memory"),
    "defaults to no dropout": edit("dropout=0.1", "dropout=0.0").named("dropout"),
    "forward's arguments exchanged": edit("src_mask=None, tgt_mask=None", "tgt_mask=None, src_mask=None").named("mask"),
    "cross-attends only in last layer": edit(
        "for layer…ask)",
        "for i, layer in enumerate(self.layers):\n"
        "    x = layer(x, memory if i == len(self.layers)-1 else x, src_mask if i == len(self.layers)-1 else None, tgt_mask)",
    ).named("memory"),
    "tgt_mask required": edit("src_mask=None, tgt_mask=None", "src_mask, tgt_mask").named("mask|argument"),
    "num_layers for num_heads": edit("Layer(d_model, num_heads,", "Layer(d_model, num_layers,").fails("decoder_layers", "With num_heads=3"),
}

TRICKS = {
    "the course's own": whole("Decoder = parts.Decoder").fails("decoder_layers", "course's own finished"),
    "a class of the course's own": whole("class Decoder(parts.Decoder):\n    pass").fails("decoder_layers", "course's own finished"),
    "at least two layers": edit("range(…", "range(max(num_layers, 2))").fails("decoder_layers", "wrong number of layers"),
    "at most three layers": edit("range(…", "range(min(num_layers, 3))").fails("decoder_layers", "wrong number of layers"),
    "causal in evaluation only": edit("src_mask, tgt_mask)", "src_mask, None if self.training else tgt_mask)").fails("decoder_values", "The future leaks"),
    "memory's gradient only through the first layer": edits(
        ("for layer…", "for i, layer in enumerate(self.layers):"), (", src_mask,", " if i == 0 else memory.detach()…")
    ).named("gradient"),
    "memory's gradient only through the last layer": edits(
        ("for layer…", "for i, layer in enumerate(self.layers):"), ("memory, src_mask,", "memory if i == len(self.layers)-1 else memory.detach(), src_mask,")
    ).named("gradient"),
    "memory detached while training": edit("for layer…", "if self.training:\n    memory = memory.detach()\n…").named("gradient"),
    "no src_mask while training": edit("src_mask,", "None if self.training else …").named("mask"),
    "memory follows x when the sizes fit": edit("tgt_mask)", "…\nif x.shape == memory.shape:\n    memory = x").named("memory"),
    "masks exchanged when the lengths are equal": edit(
        "src_mask, tgt_mask)", "tgt_mask, src_mask) if x.size(1) == memory.size(1) else layer(x, memory, …"
    ).named("mask"),
    "x in place": edit("x = layer…", "x.data = layer(x, memory, src_mask, tgt_mask).data"),
    "batch of one gets no masks": edit("for layer…", "if len(x) == 1:\n    src_mask = tgt_mask = None\n…").named("mask"),
    "x detached between layers when training": edit("(x,", "(x.detach() if self.training else x,").named("gradient"),
    "memory kept from first call": edit(
        "for layer in self.layers:\n    x = layer(x, memory, src_mask, tgt_mask)\nreturn x",
        "self.memory = getattr(self, 'memory', memory)\n"
        "if self.memory.shape != memory.shape: self.memory = memory\n"
        "for layer in self.layers:\n"
        "    x = layer(x, self.memory, src_mask, tgt_mask)\n"
        "return x",
    ).named("memory"),
}

RIGHT = {
    "reduce, keyword arguments": edits(
        ("partial, reduce", "reduce"),
        (
            "make =…num_layers))",
            "self.num_layers = num_layers\n"
            "layers = [DecoderLayer(d_model, num_heads, d_ff, dropout) for i in range(num_layers)]\n"
            "self.layers = nn.ModuleList(layers)",
        ),
        ("h, l: l(h, memory, src_mask, tgt_mask)", "y, layer: layer(y, memory, tgt_mask=tgt_mask, src_mask=src_mask)"),
        on="partial",
    ),
    "an iterator": edits(
        (
            "layers = […(layers)",
            "self.layers = nn.ModuleList()\nwhile len(self.layers) < num_layers:\n    self.layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout))",
        ),
        ("if tgt_mask…layers:", "for _, layer in self.layers.named_children():"),
        on="a mask with four dimensions, cut to size",
    ),
    "a mask with four dimensions, cut to size": """
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                layers = []
                for i in range(num_layers):
                    layers.append(DecoderLayer(d_model, num_heads, d_ff, dropout))
                    self.add_module(f"layer_{i}", layers[-1])
                self.layers = nn.ModuleList(layers)
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                if tgt_mask is not None:
                    assert tgt_mask.dim() == 4
                    tgt_mask = tgt_mask[:, :, : x.size(1), : x.size(1)]
                for layer in self.layers:
                    x = layer(x, memory, src_mask, tgt_mask)
                return x
    """,
    "keywords": edits(
        ("DecoderLayer(…", "[DecoderLayer(d_model, num_heads, d_ff, dropout=dropout) for _ in range(num_layers)]"),
        ("None):", "…\n    out = x"),
        ("x = layer…", "out = layer(out, memory=memory, tgt_mask=tgt_mask, src_mask=src_mask)"),
        ("return x", "return out"),
        on=BARE,
    ),
    "partial": """
        from functools import partial, reduce
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                make = partial(DecoderLayer, d_model, num_heads, d_ff, dropout)
                self.layers = nn.ModuleList(make() for _ in range(num_layers))
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                return reduce(lambda h, l: l(h, memory, src_mask, tgt_mask), self.layers, x)
    """,
    "deepcopy re-initialised": edits(
        ("from functools…", "import copy\ndef clones(module, n):\n    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])"),
        ("make =…num_layers))", "self.layers = clones(DecoderLayer(d_model, num_heads, d_ff, dropout), num_layers)"),
        ("return reduce…", "for layer in self.layers:\n    x = layer(x, memory, src_mask, tgt_mask)\nreturn x"),
        on="partial",
    ),
    "subclassed from a stack, __call__ hints": """
        class Stacked(nn.Module):
            layers: nn.ModuleList
            def fold(self, x, *args):
                for layer in self.layers:
                    x = layer(x, *args)
                return x
        class Decoder(Stacked):
            def __init__(
                self, num_layers: int, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1
            ) -> None:
                super(Decoder, self).__init__()
                self.layers = nn.ModuleList(
                    map(lambda _: DecoderLayer(d_model, num_heads, d_ff, dropout), range(num_layers))
                )
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                return self.fold(x, memory, src_mask, tgt_mask)
    """,
}
