from answers.writing import edit, edits

ALL = "F.silu(self.w_gate(x)) * self.w_up(x)"

WRONG = {
    "gate and up exchanged": edit(ALL, "self.w_gate(x) * F.silu(self.w_up(x))").fails("values", "`w_gate` and `w_up` are exchanged"),
    "no silu": edit(ALL, "self.w_gate(x) * self.w_up(x)").fails("values", "silu is left out"),
    "silu of the product": edit(ALL, "F.silu(self.w_gate(x) * self.w_up(x))").fails("values", "silu is taken of the product"),
    "silu of both": edit(ALL, "F.silu(self.w_gate(x)) * F.silu(self.w_up(x))").fails("values", "silu is taken of both"),
    "silu at the end": edit(f"self.w_down({ALL})", "F.silu(self.w_down(self.w_gate(x) * self.w_up(x)))").fails("values", "silu is taken of the output"),
    "silu at the end as well": edit(f"self.w_down({ALL})", f"F.silu(self.w_down({ALL}))").fails("values", "silu is taken of the output as well"),
    "a sigmoid": edit("F.silu(self.w_gate(x))", "torch.sigmoid(self.w_gate(x))").fails("values", "the gate is a sigmoid"),
    "a ReLU": edit("F.silu", "torch.relu").fails("values", "the gate is a ReLU"),
    "GELU": edit("F.silu", "F.gelu").fails("values", "the gate is GELU"),
    "tanh": edit("F.silu", "torch.tanh").fails("values", "the gate is tanh"),
    "a softmax": edit("F.silu(self.w_gate(x))", "self.w_gate(x).softmax(dim=-1)").fails("values", "the gate is a softmax"),
    "added": edit(") * self.w_up", ") + self.w_up").fails("values", "added instead of multiplied"),
    "no up": edit(" * self.w_up(x)", "").fails("values", "`w_up` is not used"),
    "no gate": edit(ALL, "F.silu(self.w_up(x))").fails("values", "`w_gate` is not used"),
    "the gate reads what it gates": edit("F.silu(self.w_gate(x))", "F.silu(self.w_up(x))").fails("values", "one and the same"),
    "the gate times itself": edit("self.w_up(x))", "self.w_gate(x))").fails("values", "multiplied by itself"),
    "a residual": edit("return ", "return x + ").fails("values", "the block's job"),
    "biases": edit(", bias=False", "").fails("parameters", "should not have"),
    "one bias": edit("nn.Linear(d_ff, d_model, bias=False)", "nn.Linear(d_ff, d_model)").fails("parameters", "should not have: `w_down.bias`"),
    "d_ff and d_model exchanged": edit("nn.Linear(d_ff, d_model", "nn.Linear(d_model, d_ff").fails("parameters", "wrong shape"),
    "one layer twice": edit("self.w_up = nn.Linear(d_model, d_ff, bias=False)", "self.w_up = self.w_gate").fails("parameters", "same module"),
    "two in one memory": edit("self.w_down =…", "…\nself.w_down.weight = nn.Parameter(self.w_up.weight.detach().T)").fails(
        "values", "changes `w_up.weight`: the two share"
    ),
    "other names": edits(("w_gate", "w_1"), ("w_up", "w_3"), ("w_down", "w_2")).fails("parameters", "no trainable parameter `w_gate.weight`"),
    "x normalised": edit("return self", "x = x / (x.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt()\n…").fails("values", "x is normalised first"),
    "hidden detached": edit("self.w_gate(x)", "self.w_gate(x).detach()").fails("values", "No gradient"),
    "two thirds of d_ff": edit("super().__init__()", "…\nd_ff = 2 * d_ff // 3").fails("parameters", "wrong shape"),
    "dropout": edit(f"({ALL})", f"(F.dropout({ALL}, 0.1, self.training))").fails("values"),
}

TRICKS = {
    "dropout at a quarter, in training": edit(f"({ALL})", f"(F.dropout({ALL}, 0.25, self.training))").fails("values"),
    "without small gates": edit("F.silu(self.w_gate(x))", "F.silu(self.w_gate(x).clamp(min=-3))").fails("values"),
    "without large gates": edit("F.silu(self.w_gate(x))", "F.silu(self.w_gate(x)).clamp(max=3)").fails("values"),
    "remembers what it said": edit("def forward", "@__import__('functools').lru_cache(maxsize=None)\ndef forward").fails("values", "with other weights"),
    "zeros to begin with": edit("w_down = nn.Linear(d_ff, d_model, bias=False)", "…\nnn.init.zeros_(self.w_down.weight)").fails("values"),
}

RIGHT = {
    "spelled out": edit("F.silu(self.w_gate(x))", "self.w_gate(x) * torch.sigmoid(self.w_gate(x))"),
    "a division": edit("F.silu(self.w_gate(x))", "self.w_gate(x) / (1 + torch.exp(-self.w_gate(x).clamp(min=-80)))"),
    "the other way round": edit(ALL, "self.w_up(x) * F.silu(self.w_gate(x))"),
    "nn.SiLU": edits(("super().__init__()", "…\nself.activation = nn.SiLU()"), ("F.silu", "self.activation")),
    "both matrices at once": edit(
        f"return self.w_down({ALL})",
        "both = x @ torch.cat([self.w_gate.weight, self.w_up.weight]).mT\ngate, up = both.chunk(2, dim=-1)\nreturn F.linear(F.silu(gate) * up, self.w_down.weight)",
    ),
    "F.glu with a sigmoid": edit(ALL, "self.w_gate(x) * F.glu(torch.cat([self.w_up(x), self.w_gate(x)], dim=-1))"),
    "tanh": edit("F.silu(self.w_gate(x))", "self.w_gate(x) * (1 + torch.tanh(self.w_gate(x) / 2)) / 2"),
    "einsum": edit(f"self.w_down({ALL})", f'torch.einsum("...f,df->...d", {ALL}, self.w_down.weight)'),
    "addcmul": edit(ALL, "torch.addcmul(torch.zeros_like(self.w_up(x)), F.silu(self.w_gate(x)), self.w_up(x))"),
    "a loop over the names": edits(
        (
            "self.w_gate = …",
            'for name, *sizes in (("w_gate", d_model, d_ff), ("w_up", d_model, d_ff), ("w_down", d_ff, d_model)):\n    setattr(self, name, nn.Linear(*sizes, bias=False))',
        ),
        ("self.w_up =…", "pass"),
        ("self.w_down =…", "pass"),
    ),
    "drawn by oneself": edit("self.w_down =…", "…\nfor part in self.children():\n    nn.init.normal_(part.weight, std=0.02)"),
}
