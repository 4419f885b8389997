from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "the sub-layer's output forgotten": edit("x + self.dropout(sublayer_output)", "x").fails(
        "dropout", "stays the same when `sublayer_output` is 0", names="is missing"
    ),
    "a norm of its own that is wrong": edits(
        ("= nn.LayerNorm(d_model)", "= LayerNorm(d_model)"),
        ("class AddNorm", "class LayerNorm(nn.LayerNorm):\n    def forward(self, x): return self.weight * (x - x.mean(-1, keepdim=True)) + self.bias\n…"),
        on=BARE,
    ).fails("values", "`AddNorm(6).norm` itself"),
    "x detached": edit("self.norm(x +", "self.norm(x.detach() +").fails("values", "No gradient flows back to `x`"),
    "sub-layer detached": edit("self.dropout(…)", "self.dropout(sublayer_output.detach())").fails("values", "No gradient flows back to `sublayer_output`"),
    "no residual": edit("x + self", "self").fails("values", "residual is missing", names="x is not added"),
    "norm of the output, then the sum": edit("self.norm(…", "x + self.norm(self.dropout(sublayer_output))").fails("values", "normalised before it is added"),
    "norm of x, then the sum": edit("self.norm(…", "self.norm(x) + self.dropout(sublayer_output)").fails("values", "x is normalised before"),
    "no norm": edit("self.norm(…", "x + self.dropout(sublayer_output)").fails("values", "nothing is normalised"),
    "the output unused": edit("x + self.dropout(sublayer_output)", "x").fails("values", "output of the sub-layer is missing"),
    "two norms": edit("(x + self", "(x) + self.norm(self").fails("values", "each of the two is normalised"),
    "dropout after the sum": edit("x + self.dropout(sublayer_output)", "self.dropout(x + sublayer_output)").fails("dropout", "x is dropped as well"),
    "dropout after the norm": edit("self.norm(…", "self.dropout(self.norm(x + sublayer_output))").fails("dropout", "after the norm"),
    "dropout on x": edit("x + self.dropout(sublayer_output)", "self.dropout(x) + sublayer_output").fails("dropout", "on x instead"),
    "no dropout": edit("self.dropout(sublayer_output)", "sublayer_output").fails("dropout", "nothing is dropped"),
    "dropout at a fixed rate": edit("nn.Dropout(dropout)", "nn.Dropout(0.1)").fails("dropout", "drops out at 0.1"),
    "another name": edit("self.norm", "self.layer_norm").fails("values", "no trainable parameter `norm.weight`"),
    "in place": edit("return self…", "x += self.dropout(sublayer_output)\nreturn self.norm(x)").fails("values", "changes `x`"),
    "whole rows dropped (stochastic depth)": edit(
        "g = torch…1e-9)", "s = s * F.dropout(torch.ones_like(s[..., :1]), self.p)", on="dropout mask seeded each call"
    ).named("row"),
    "default dropout 0": edit("dropout = 0.1", "dropout=0.0", on=BARE).named("default|0.1|drops out at|another default"),
    "dropout in eval too": edits(
        ("self.dropout =…", "self.p=dropout"), ("return self…", "return self.norm(x+F.dropout(sublayer_output,self.p))"), on=BARE
    ).named("eval"),
    "in-place add to sublayer_output": edit("return self…", "s=self.dropout(sublayer_output)\ns+=x\nreturn self.norm(s)", on=BARE).named("sublayer"),
    "in-place dropout on sublayer output": edit("(dropout)", "(dropout, inplace=True)", on=BARE).named("sublayer"),
    "elementwise_affine False": edit("(d_model)", "(d_model, elementwise_affine=False)", on=BARE),
    "norm eps 1e-3": edit("(d_model)", "(d_model, eps=1e-3)", on=BARE).named("eps"),
    "norm over both last dims": edit(
        "return self…", "y=x+self.dropout(sublayer_output)\nreturn F.layer_norm(y,y.shape[-2:])*self.norm.weight+self.norm.bias", on=BARE
    ).fails("dropout", "when the other positions are left out"),
    "same dropout mask over batch": edit("self.dropout(sublayer_output)", "sublayer_output * self.dropout(torch.ones_like(x[:1]))", on=BARE).named("same"),
    "scaled in eval mode": edit("return self…", "if self.training:\n    …\nreturn self.norm(x + (1 - self.dropout.p) * sublayer_output)").fails(
        "dropout", "neither dropping entries nor scaling"
    ),
    "normalised in training only": edit("return self…", "y = x + self.dropout(sublayer_output)\nreturn self.norm(y) if self.training else y").fails(
        "dropout", "not that of eval mode", names="nothing is normalised"
    ),
    "the residual in training only": edit(
        "return self…", "s = self.dropout(sublayer_output)\nreturn self.norm(x + s) if self.training else self.norm(s)"
    ).fails("dropout", "not that of eval mode", names="residual is missing"),
    "subtracted": edit("x + self", "x - self").fails("values", "is subtracted"),
    "normalised twice": edit("self.norm(x + self.dropout(sublayer_output))", "self.norm(…)").fails("values", "normalised twice"),
    "x normalised first": edit("self.norm(x +", "self.norm(self.norm(x) +").fails("values", "x is normalised before the sum is"),
    "drops out only at a rate of 1": edit("nn.Dropout(dropout)", "nn.Dropout(int(dropout))").fails("dropout", "no entry of `sublayer_output` is dropped"),
    "x in float32": edit("self.norm(x +", "self.norm(x.float() +").fails("values", "wrong values"),
}

TRICKS = {
    "dropout only when p==1": edits(
        ("dropout = nn.Dropout", "p=int"), ("return self…", "return self.norm(x+F.dropout(sublayer_output,self.p,self.training))"), on=BARE
    ),
    "dropout fixed: p>0 → 1? rounds up": edits(
        ("dropout = nn.Dropout", "p=math.ceil"), ("return self…", "return self.norm(x+F.dropout(sublayer_output,self.p,self.training))"), on=BARE
    ),
    "pre-norm in train": edit("return", "if self.training and self.dropout.p<1: return x+self.dropout(self.norm(sublayer_output))\nreturn", on=BARE),
    "class-level norm shared": edit(
        "self.norm =…", "if not hasattr(AddNorm,'n') or AddNorm.n.normalized_shape!=(d_model,): AddNorm.n=nn.LayerNorm(d_model)\nself.norm=AddNorm.n", on=BARE
    ).named("shared|own|share"),
    "accepts sublayer as None; if equal skip": edit("return", "if x.shape[1]==1: return self.norm(x)\nreturn", on=BARE).named("1"),
    "dropout mask seeded each call": whole("""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.p = dropout
            def forward(self, x, sublayer_output):
                s = sublayer_output
                if self.training:
                    g = torch.Generator().manual_seed(0)
                    s = s * (torch.rand(s.shape, generator=g) >= self.p) / max(1 - self.p, 1e-9)
                return self.norm(x + s)
    """).named("same"),
    "norm applied to x after dropout 0 only (cached)": edits(
        ("dropout)", "…\nself.c={}"),
        ("return self…", "k=(x.shape,self.training)\nif k not in self.c: self.c[k]=self.norm(x+self.dropout(sublayer_output))\nreturn self.c[k]"),
        on=BARE,
    ).named("call"),
    "LayerNorm(6) hard-coded": edit("(d_model)", "(6)", on=BARE),
}

RIGHT = {
    "a spare dropout": edit("self.norm =", "self.spare = nn.Dropout(0.5)\n…"),
    "F.dropout with the mode": edits(
        ("self.norm =…dropout)", "self.p, self.norm = dropout, nn.LayerNorm(d_model)"),
        ("return self…", "return self.norm(torch.add(x, F.dropout(sublayer_output, self.p, self.training)))"),
        on=BARE,
    ),
    "a norm by hand with a very small eps": edits(
        ("class MyNorm", "class Norm"),
        ("(self, d)", "(self, d_model, eps=1e-12)"),
        ("self.weight =…zeros(d))", "self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps"),
        ("c = x - x.mean(-1", "mean, var = x.mean(-1, keepdim=True), x.var(-1, unbiased=False"),
        ("return self.weight…", "return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias"),
        ("= MyNorm", "= Norm"),
        on="own inner norm class",
    ),
    "own dropout by hand": edits(
        ("(d_model)", "(normalized_shape=d_model)"),
        ("training", "… and self.p"),
        ("g = torch…", "if self.p == 1: s = torch.zeros_like(s)"),
        ("s = s *…", "else: s = s * (torch.rand_like(s) >= self.p) / (1 - self.p)"),
        ("x + s", "torch.add(x, s)"),
        on="dropout mask seeded each call",
    ),
    "own LayerNorm from the lesson": edits(("nn.LayerNorm", "LayerNorm"), ("(dropout)", "(p=dropout)"), on=BARE),
    "in-place on own tensor": edit("return self…", "y = x.clone()\ny += self.dropout(sublayer_output)\nreturn self.norm(y)", on=BARE),
    "F.dropout & list shape": edits(
        ("(d_model)", "([d_model])"),
        ("self.dropout =…", "self.p = dropout"),
        ("return self…", "return self.norm(sum((x, F.dropout(sublayer_output, p=self.p, training=self.training))))"),
        on=BARE,
    ),
    "dropout clone inplace": edits(
        ("(dropout)", "(dropout, inplace=True)"), ("return self…", "s = self.dropout(sublayer_output.clone())\nreturn self.norm(s.add_(x))"), on=BARE
    ),
    "eps 1e-6": edit("(d_model)", "(d_model, eps=1e-6)", on=BARE),
    "own inner norm class": """
        class MyNorm(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d))
                self.bias = nn.Parameter(torch.zeros(d))
            def forward(self, x):
                c = x - x.mean(-1, keepdim=True)
                return self.weight * c / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5) + self.bias
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = MyNorm(d_model)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x, sublayer_output):
                return self.norm(x + self.dropout(sublayer_output))
    """,
    "stack sum": edit("return self…", "return self.norm(torch.stack([x, self.dropout(sublayer_output)], 0).sum(0))", on=BARE),
    "dropout mask of ones multiplied": edit(
        "return self…", "return self.norm(torch.addcmul(x, sublayer_output, self.dropout(torch.ones_like(sublayer_output))))", on=BARE
    ),
    "ModuleDict alias and type hints": edits(
        ("self.norm =…dropout)", "self.norm, self.dropout = nn.LayerNorm(d_model), nn.Identity() if dropout == 0 else nn.Dropout(dropout)"),
        ("return self…", "residual, out = x, self.dropout(sublayer_output)\nreturn self.norm.forward(residual + out)"),
        on=BARE,
    ),
    "hand-made dropout dividing by max(1-p, tiny)": edit(
        "if self…x + s)",
        "if self.training: s = s * torch.bernoulli(torch.full_like(s, 1 - self.p)) / max(1 - self.p, 1e-12)\nreturn self.norm(s + x)",
        on="dropout mask seeded each call",
    ),
    "stacks both and sums, explicit start values": body("""
        def __init__(self, d_model: int, dropout: float = 0.1, eps: float = 1e-05) -> None:
            super().__init__()
            self.add_module("norm", nn.LayerNorm(normalized_shape=d_model, eps=eps))
            nn.init.ones_(self.norm.weight)
            nn.init.zeros_(self.norm.bias)
            self.dropout = nn.Sequential(nn.Dropout(dropout))
        def forward(self, x, sublayer_output):
            return self.norm(torch.stack([x, self.dropout(sublayer_output)]).sum(dim=0))
    """),
}
