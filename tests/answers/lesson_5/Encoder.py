from answers.writing import BARE, edit, edits, whole

PART_OF = "Encoder"

WRONG = {
    "a Python list": edit("= nn.ModuleList", "= list").fails("layers", "PyTorch finds no layers in a plain list"),
    "shallow copies of one layer": edit(
        "nn.ModuleList(\n    EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)\n)",
        "nn.ModuleList(map(__import__('copy').copy, [EncoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers))",
    ).fails("layers", "is the same parameter as `layers.0."),
    "one layer many times": edit(
        "nn.ModuleList(\n    EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)\n)",
        "nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)",
    ).fails("layers", "all layers share their parameters"),
    "always six layers": edit("range(…", "range(6)").fails("layers", "wrong number of layers"),
    "a norm at the end": edits(("self.layers =…range(num_layers)\n)", "…\nself.norm = nn.LayerNorm(d_model)"), ("return x", "return self.norm(x)")).fails(
        "layers", "should not have"
    ),
    "a norm without parameters at the end": edit("return x", "return F.layer_norm(x, x.shape[-1:])").fails("values", "one more norm at the end"),
    "mask forgotten": edit("layer(…", "layer(x)").fails("values", "mask is not handed to the layers"),
    "mask for the first layer only": edit("x = layer…", "x, src_mask = layer(x, src_mask), None").fails("values", "first layer only"),
    "each layer reads the input": edits(("x = layer", "y = layer"), ("return x", "return y")).fails("values", "reads the input of the stack"),
    "the last layer alone": edit("in self.layers:", "in self.layers[-1:]:").fails("values", "only the last layer counts"),
    "returns in the loop": edit("x = layer(x, src_mask)\n        return x", "x = layer(x, src_mask)\nreturn x").fails("values", "only the first layer is used"),
    "reversed": edit("in self.layers:", "in reversed(self.layers):").fails("values", "reverse order"),
    "the first layer every time": edit("= layer", "= self.layers[0]").fails("values", "first layer is used every time"),
    "a residual round each layer": edit("= layer", "= x + layer").fails("values", "added to its input"),
    "sizes exchanged": edit("d_ff, dropout)", "d_model, dropout)").fails("layers"),
    "dropout not handed on": edit("d_ff, dropout)", "d_ff)").fails("layers", "drop out at"),
    "one head": edit("(d_model, num_heads", "(d_model, 1").fails("layers", "With num_heads=3"),
    "one layer too few": edit("range(…", "range(num_layers - 1)").fails("layers", "wrong number of layers"),
    "without gradients": edit("x = layer…", "with torch.no_grad():\n    …").fails("values", "No gradient flows back to `x`"),
    "detached between layers": edit("layer(…", "layer(x.detach(), src_mask)").fails("values", "No gradient flows back to `x`"),
    "dropout between layers": edit("layer(…", "F.dropout(…, 0.1, self.training)").fails("values", "in train mode"),
    "the first row's mask": edit("layer(…", "layer(x, None if src_mask is None else src_mask[:1])").fails("values", "all rows get the mask of the first"),
    "mask only in the last layer": edits(
        ("for layer…", "for i, layer in enumerate(self.layers):"), ("(x, src_mask)", "(x, src_mask if i == len(self.layers)-1 else None)")
    ).named("mask"),
    "frozen layers": edit("self.layers =…range(num_layers)\n)", "…\nself.layers.requires_grad_(False)").named("frozen|requires_grad|gradient"),
    "puts itself into eval mode": edit(
        "for layer in self.layers:\n    x = layer(x, src_mask)\nreturn x", "self.eval()\nfor layer in self.layers:\n    x = layer(x, src_mask)\nreturn x"
    ).named("mode|eval"),
    "puts itself into train mode": edit(
        "for layer in self.layers:\n    x = layer(x, src_mask)\nreturn x", "self.train()\nfor layer in self.layers:\n    x = layer(x, src_mask)\nreturn x"
    ).named("mode|train"),
    "default dropout is 0": edit("dropout=0.1", "dropout=0.0").named("dropout"),
    "default dropout is 0.5": edit("dropout=0.1", "dropout=0.5").named("dropout"),
    "extra dropout of the given rate at the end": edits(
        ("__init__()", "…\nself.p = dropout"), ("return x", "return F.dropout(x, self.p, self.training)")
    ).named("dropout"),
    "input overwritten": edit("x = layer…", "x.copy_(layer(x.clone(), src_mask).detach())").named("chang|in place"),
    "zeroes the padding rows (masked positions) in place of the mask": edit(
        "for layer in self.layers:\n    x = layer(x, src_mask)\nreturn x",
        "if src_mask is not None:\n    x = x * src_mask[:, 0, 0, :, None]\nfor layer in self.layers:\n    x = layer(x)\nreturn x",
    ).named("mask"),
    "num_layers for num_heads": edit("Layer(d_model, num_heads,", "Layer(d_model, num_layers,").fails("layers", "With num_heads=3"),
}

TRICKS = {
    "in float32": edit("layer(…", "layer(x.float(), src_mask)").named("dtype|float"),
    "the course's own": whole("Encoder = parts.Encoder").fails("layers", "course's own finished"),
    "a class of the course's own": whole("class Encoder(parts.Encoder):\n    pass").fails("layers", "course's own finished"),
    "a class of the course's own under another name": whole("Base = parts.Encoder\nclass Encoder(Base):\n    pass").fails("layers", "course's own finished"),
    "only right for three layers": edit(".layers:", ".layers[:3]:").fails("values", "wrong values"),
    "at most three layers": edit("range(…", "range(min(num_layers, 3))").fails("layers", "wrong number of layers"),
    "at least two layers": edit("range(…", "range(max(num_layers, 2))").fails("layers", "wrong number of layers"),
    "mask in evaluation only": edit("layer(…", "layer(x, None if self.training else src_mask)").fails("values", "in train mode"),
    "no mask for a batch of one": edit("(x, src_mask)", "(x, src_mask if x.size(0) > 1 else None)").named("mask"),
    "detaches between layers while training": edit("(x, src_mask)", "(x.detach() if self.training else x, src_mask)").named("gradient"),
    "layers seeded alike": edit(
        "EncoderLayer(…", "(torch.manual_seed(0), EncoderLayer(d_model, num_heads, d_ff, dropout))[1] for _ in range(num_layers)"
    ).named("seed|same|random|stays the same|evenly"),
    "remembers the first mask": edit(
        "for layer in self.layers:\n    x = layer(x, src_mask)\nreturn x",
        "if not hasattr(self, '_m'):\n    self._m = src_mask\nfor layer in self.layers:\n    x = layer(x, self._m)\nreturn x",
    ).named("mask"),
    "gradient in x kept, early layers' weights cut off": edit(
        "for layer…src_mask)",
        "for i, layer in enumerate(self.layers):\n    y = layer(x, src_mask)\n    x = y if i == len(self.layers) - 1 else y.detach() + x - x.detach()",
    ).named("gradient"),
}

RIGHT = {
    "append in a loop, ranges instead of layers": edits(
        ("import copy", ""),
        (
            "layer =…num_layers)])",
            "self.layers = nn.ModuleList()\nfor _ in range(num_layers):\n    self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout=dropout))",
        ),
        on="deepcopies",
    ),
    "deep copies of one layer, as PyTorch does it": edit(
        "for i…return x", "output = x\nfor layer in self.layers:\n    output = layer(output, src_mask)\nreturn output", on="deepcopies"
    ),
    "deepcopies": """
        import copy
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                layer = EncoderLayer(d_model, num_heads, d_ff, dropout)
                self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
            def forward(self, x, src_mask=None):
                for i in range(len(self.layers)):
                    x = self.layers[i](x, src_mask=src_mask)
                return x
    """,
    "append, reduce, extra attributes": """
        from functools import reduce
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.num_layers, self.d_model, self.dropout = num_layers, d_model, dropout
                self.layers = nn.ModuleList()
                for _ in range(num_layers):
                    self.layers.append(
                        EncoderLayer(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout)
                    )
            def forward(self, x: torch.Tensor, src_mask: torch.Tensor | None = None) -> torch.Tensor:
                return reduce(lambda h, layer: layer(h, src_mask), self.layers, x)
    """,
    "ModuleList subclass and recursion": """
        class Stack(nn.ModuleList):
            def run(self, x, *rest):
                for layer in self:
                    x = layer(x, *rest)
                return x
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = Stack([EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            def forward(self, x, src_mask=None):
                return self.layers.run(x, src_mask)
    """,
    "common base class": """
        class _Stack(nn.Module):
            def __init__(self, make, num_layers):
                super().__init__()
                self.layers = nn.ModuleList(make() for _ in range(num_layers))
            def forward(self, x, *args, **kw):
                for layer in self.layers:
                    x = layer(x, *args, **kw)
                return x
        class Encoder(_Stack):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout), num_layers)
            def forward(self, x, src_mask=None):
                return super().forward(x, src_mask)
    """,
    "keeps outputs of all layers in a list": """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList([])
                self.layers.extend(EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
            def forward(self, x, src_mask=None):
                outputs = [x]
                for layer in self.layers:
                    outputs.append(layer(outputs[-1], src_mask))
                return outputs[-1]
    """,
    "mask omitted when None; while loop": edits(
        ("EncoderLayer(…", "[EncoderLayer(d_model, num_heads, d_ff, dropout) for i in range(num_layers)]"),
        (
            "for layer…src_mask)",
            "i = 0\nwhile i < len(self.layers):\n    x = self.layers[i](x) if src_mask is None else self.layers[i](x, src_mask)\n    i += 1",
        ),
        on=BARE,
    ),
    "xavier in the constructor, names by add_module": edits(
        (
            "self.layers = nn.ModuleList(\nEncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)\n)",
            "self.layers = nn.ModuleList()\n"
            "for i in range(num_layers):\n"
            "    self.layers.add_module(str(i), EncoderLayer(d_model, num_heads, d_ff, dropout))\n"
            "for p in self.parameters():\n"
            "    if p.dim() > 1:\n"
            "        nn.init.xavier_uniform_(p)",
        ),
        ("for layer…", "for _, layer in self.layers.named_children():"),
        on=BARE,
    ),
    "Sequential-like call with star": """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                factory = lambda: EncoderLayer(d_model, num_heads, d_ff, dropout=dropout)
                self.layers = nn.ModuleList([factory() for _ in range(num_layers)])
                self.config = dict(num_layers=num_layers, d_model=d_model)
            def forward(self, x, src_mask=None):
                h = x.clone()
                for layer in iter(self.layers):
                    h = layer.forward(h, src_mask)
                return h
    """,
    "a base class that is told the kind of layer": """
        class Stack(nn.Module):
            kind = None
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                make = type(self).kind
                self.layers = nn.ModuleList((make(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)))
            def run(self, x, *args, **masks):
                for layer in self.layers:
                    x = layer(x, *args, **masks)
                return x
        class Encoder(Stack):
            kind = EncoderLayer
            def forward(self, x, src_mask=None):
                return self.run(x, src_mask=src_mask)
    """,
}
