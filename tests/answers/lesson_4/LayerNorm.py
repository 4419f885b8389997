from answers.writing import BARE, body, edit, edits

BASES = {
    "short": """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps
            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """,
    "short, with the width": edit("m =", "d = x.size(-1)\n…", on="short"),
}

WRONG = {
    "one group": edit("mean = x….bias", "return F.group_norm(x.reshape(-1, x.size(-1)), 1, self.weight, self.bias, self.eps).view_as(x)").fails(
        "values", "calls PyTorch's ready `F.group_norm`"
    ),
    "eps as a lower limit": edit("torch.sqrt(variance + self.eps)", "torch.sqrt(variance).clamp(min=self.eps)").fails("eps", "a lower limit"),
    "variance around 0": edit("var(dim=-1, correction=0", "square().mean(dim=-1").fails("values", "around 0 instead of the mean"),
    "batch normalisation": edits(("x.mean(dim=-1", "x.mean(dim=tuple(range(x.dim() - 1))"), ("x.var(dim=-1", "x.var(dim=tuple(range(x.dim() - 1))")).fails(
        "values", "as in batch normalisation"
    ),
    "unbiased variance": edit("correction=0, ", "").fails("values", "d_model − 1 instead of d_model"),
    "unbiased deviation, eps added to it": edits(
        ("variance =…", "deviation = x.std(dim=-1, keepdim=True)  # (…, 1)"), ("torch.sqrt(variance", "(deviation")
    ).fails("eps", "eps is added to the standard deviation", names="d_model − 1 instead|both happen"),
    "eps outside the root": edit("torch.sqrt(variance", "(…)").fails("eps", "eps is added to the standard deviation"),
    "no eps": edit("variance + self.eps", "variance").fails("eps", "eps is left out"),
    "eps hard-coded": edit("variance + self.eps", "variance + 1e-5").fails("eps", "eps is fixed at 1e-5"),
    "no root": edit("torch.sqrt", "").fails("values", "root of the variance is missing"),
    "square for root": edit("torch.sqrt(variance + self.eps)", "(variance + self.eps) ** 2").fails("values", "squared instead of taking its root"),
    "mean not subtracted": edit("(x - mean)", "x").fails("values", "mean is not subtracted"),
    "over the positions": edit("dim=-1", "dim=-2").fails("values", "over the positions"),
    "over the batch": edit("dim=-1", "dim=0").fails("values", "over the batch"),
    "over positions and columns": edit("dim=-1", "dim=(-2, -1)").fails("values", "positions and columns together"),
    "over everything": edits(("x.mean…", "x.mean()"), ("variance =…", "variance = x.var(correction=0)")).fails("values", "over everything"),
    "weight and bias exchanged": edit("self.weight *…", "self.bias * (x - mean) / torch.sqrt(variance + self.eps) + self.weight").fails(
        "values", "are exchanged"
    ),
    "weight and bias unused": edit("self.weight *…", "(x - mean) / torch.sqrt(variance + self.eps)").fails("values", "`weight` and `bias` are not used"),
    "bias unused": edit("+ self.bias", "").fails("values", "`bias` is not used"),
    "weight unused": edit("self.weight * ", "").fails("values", "`weight` is not used"),
    "not divided": edit("/ torch.sqrt(variance + self.eps)", "").fails("values", "not divided by their deviation"),
    "keepdim forgotten": edit("x.mean…", "x.mean(dim=-1)").fails("values", "raised RuntimeError"),
    "weight begins with zeros": edit("torch.ones(d_model)", "torch.zeros(d_model)").fails("parameters", "wrong values"),
    "bias begins with ones": edit("torch.zeros(d_model)", "torch.ones(d_model)").fails("parameters", "wrong values"),
    "plain tensors": edit("nn.Parameter(torch.ones…", "torch.ones(d_model)").fails("parameters", "not as a layer or parameter"),
    "one number for all columns": edit("torch.ones(d_model)", "torch.ones(1)").fails("parameters", "wrong shape"),
    "other names": edits(("self.weight", "self.gamma"), ("self.bias", "self.beta")).fails("parameters", "no trainable parameter `weight`"),
    "PyTorch's own": edit("mean = x", "return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)\n…").fails("values", "ready `F.layer_norm`"),
    "in place": edit("return self.weight * (x - mean)", "x -= mean\nreturn self.weight * x").fails("values", "changes `x`"),
    "detached statistics of a detached input": edits(
        ("mean = x.mean", "x = x.detach()\n…"), (".weight *", ".weight.detach() *"), ("+ self.bias", "….detach()")
    ).fails("values", "No gradient"),
    "mean detached": edit("mean =…", "mean = x.mean(dim=-1, keepdim=True).detach()").fails("values", "gradient of `norm(x)`"),
    "statistics detached (gradient wrong, not missing)": edits(("mean", "detach().…"), ("var", "detach().var"), on="short").named("grad"),
    "variance detached only": edit("var", "detach().var", on="short").named("grad"),
    "default eps 1e-6": edit("1e-5", "1e-6", on="short").named("1e-5|default|drops out at|another default"),
    "weight in float32 kept: output .float()": edit(
        "return self…", "return (self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias).float()", on="short"
    ).named("dtype"),
    "3-D only (dims unpack)": edit("d = x…", "b,s,d=x.shape", on="short, with the width").named("dim"),
    "dim=2 instead of -1": edit("d = x…0, keepdim=True)", "m=x.mean(2,keepdim=True)\nv=x.var(2,correction=0,keepdim=True)", on="short, with the width").named(
        "dim"
    ),
    "weight.data used": edit("weight *", "weight.data *", on="short").named("grad"),
    "bias.detach": edit("+ self.bias", "….detach()", on="short").named("grad"),
    "bias inside the division": edit("return self…", "return self.weight*(x-m+self.bias)/torch.sqrt(v+self.eps)", on="short").named("bias"),
    "weight on bias too": edit("return self…", "return self.weight*((x-m)/torch.sqrt(v+self.eps)+self.bias)", on="short").named("bias|weight"),
    "calls F.layer_norm": edit("return self.weight…", "return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)").fails(
        "values", "ready `F.layer_norm`"
    ),
    "RMSNorm": edits(("x.mean(dim=-1, keepdim=True)", "0"), ("var(dim=-1, correction=0", "square().mean(-1")).named("RMSNorm"),
    "multiplied by the deviation": edit("/ torch.sqrt", "* torch.sqrt").fails("values", "multiplied by their deviation"),
    "the median": edit("x.mean(dim=-1, keepdim=True)", "x.median(dim=-1, keepdim=True).values").named("median"),
    "eps squared": edit("+ self.eps", "+ self.eps**2").fails("eps", "eps is squared"),
    "x in float32": edit("mean = x", "x = x.float()\n…").fails("values", "wrong values"),
}

TRICKS = {
    "unbiased in eval only": edit("=0,", "=int(not self.training),", on="short").named("d_model − 1|d − 1"),
    "weight frozen in eval? bias requires_grad False": edit("= eps", "…\nself.bias.requires_grad_(False)", on="short").named("bias"),
    "mean cached by shape": edits(
        ("= eps", "…\nself.c={}"),
        ("d = x…", "k=x.shape"),
        ("m = x…", "if k not in self.c: self.c[k]=(x.mean(-1,keepdim=True),x.var(-1,correction=0,keepdim=True))"),
        ("v = x…", "m,v=self.c[k]"),
        on="short, with the width",
    ),
    "nan_to_num hides; clamps ±5": edit("(x - m) / torch.sqrt(v + self.eps)", "(…).clamp(-2, 2)", on="short"),
    "clamps at ±3": edit("(x - m) / torch.sqrt(v + self.eps)", "(…).clamp(-3, 3)", on="short"),
    "class-attribute parameters of the first size": edits(
        ("w = b = None", ""),
        ("if LayerNorm…", 'if not hasattr(LayerNorm, "w") or LayerNorm.w.numel() != d_model:'),
        on="class attr parameters, no guard beyond None",
    ).named("shared|own|share"),
    "eval returns input": edit("d = x…", "if not self.training: return x*self.weight+self.bias", on="short, with the width").named("eval"),
    "running statistics in eval like batch norm": edits(
        ("= eps", "…\nself.m=0.0\nself.v=1.0"),
        (
            "m = x…0, keepdim=True)",
            "if self.training:\n"
            "    m = x.mean(-1, keepdim=True); v = x.var(-1, correction=0, keepdim=True)\n"
            "    self.m=0.9*self.m+0.1*m.mean().item(); self.v=0.9*self.v+0.1*v.mean().item()\n"
            "else: m,v=self.m,self.v",
        ),
        on="short",
    ).named("eval"),
    "class attr parameters, no guard beyond None": """
        class LayerNorm(nn.Module):
            w = b = None
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                if LayerNorm.w is None:
                    LayerNorm.w = nn.Parameter(torch.ones(d_model))
                    LayerNorm.b = nn.Parameter(torch.zeros(d_model))
                self.weight, self.bias, self.eps = LayerNorm.w, LayerNorm.b, eps
            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """,
    "parameters of 6 hard-coded": edits(("ones(d_model)", "ones(6)"), ("zeros(d_model)", "zeros(6)"), on="short"),
}

RIGHT = {
    "eps as a buffer": edit("self.eps = eps", 'self.register_buffer("eps", torch.tensor(eps))'),
    "rsqrt and var_mean": edit(
        "d = x….bias",
        "variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)\n"
        "return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias",
        on="sums by hand",
    ),
    "mean of squares": edit(
        "d = x….bias",
        "centred = x - x.mean(-1, keepdim=True)\n"
        "variance = centred.pow(2).mean(-1, keepdim=True)\n"
        "return torch.addcmul(self.bias, self.weight, centred / (variance + self.eps) ** 0.5)",
        on="sums by hand",
    ),
    "sums by hand": """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.eps = eps
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.weight = nn.Parameter(torch.ones(d_model))
            def forward(self, x):
                d = x.shape[-1]
                mean = x.sum(-1, keepdim=True) / d
                deviation = (((x - mean) ** 2).sum(-1, keepdim=True) / d + self.eps).sqrt()
                return (x - mean) / deviation * self.weight + self.bias
    """,
    "a loop over the leading dimensions": edit(
        "d = x….bias",
        "rows = [self.weight * (row - row.mean()) / (row.var(unbiased=False) + self.eps).sqrt() + self.bias\n"
        "        for row in x.reshape(-1, x.size(-1))]\n"
        "return torch.stack(rows).reshape(x.shape)",
        on="sums by hand",
    ),
    "addcmul": edits(
        ("mean = x.mean(dim=", "c = x - x.mean("),
        ("variance =…", "n = c * (c.square().mean(-1, keepdim=True) + self.eps).rsqrt()"),
        ("return self…", "return torch.addcmul(self.bias, self.weight, n)"),
        on=BARE,
    ),
    "unbiased=False with unsqueeze": edits(
        ("mean =…", "m = x.mean(-1)[..., None]"),
        ("variance =…", "v = x.var(-1, unbiased=False)[..., None]"),
        ("(x - mean) / torch.sqrt(variance + self.eps)", "((x - m) / (v + self.eps) ** 0.5)"),
        on=BARE,
    ),
    "einsum": edits(
        ("size(-1)", "shape[-1]"),
        ("m = x…", 'c = x - torch.einsum("...d->...", x).unsqueeze(-1) / d'),
        ("v = x…", 'v = torch.einsum("...d,...d->...", c, c).unsqueeze(-1) / d'),
        ("(x - m) / torch.sqrt(v + self.eps)", "c / (v + self.eps).sqrt()"),
        on="short, with the width",
    ),
    "centring matrix": edits(
        ("m = x…", "C = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d"),
        ("v = x…", "c = x @ C"),
        ("return self…", "return c / torch.sqrt((c * c).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias"),
        on="short, with the width",
    ),
    "std correction=0 squared": edits(("v = x.var", "s = x.std"), ("torch.sqrt(v + self.eps)", "(s**2 + self.eps) ** 0.5"), on="short"),
    "std_mean unbiased=False squared": edits(
        ("m =", "c = x -"), ("v = x…", "v = c.norm(dim=-1, keepdim=True) ** 2 / x.size(-1)"), ("(x - m)", "c"), on="short"
    ),
    "computes in float64 then casts back": edits(
        ("d = x…", "y = x.double()"),
        ("x.mean", "y.mean"),
        ("x.var", "y.var"),
        ("return self…", "return ((y - m) / (v + self.eps).sqrt()).to(x.dtype) * self.weight + self.bias"),
        on="short, with the width",
    ),
    "property & method helper": """
        class LayerNorm(nn.Module):
            def _norm(self, x):
                mu = x.sum(-1, keepdim=True).div(self.d_model)
                return (x - mu).div(((x - mu) ** 2).sum(-1, keepdim=True).div(self.d_model).add(self.eps).sqrt())
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))
                self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
                self.d_model, self.eps = d_model, eps
            def forward(self, x):
                return torch.mul(self._norm(x), self.weight).add(self.bias)
    """,
    "reshape loop over rows": edit(
        "d = x….bias",
        "rows = x.reshape(-1, x.shape[-1])\n"
        "out = [(r - r.mean()) / torch.sqrt(((r - r.mean()) ** 2).mean() + self.eps) * self.weight + self.bias for r in rows]\n"
        "return torch.stack(out).reshape(x.shape)",
        on="short, with the width",
    ),
    "eps 0-d buffer non persistent": edit("eps = eps", 'register_buffer("eps", torch.tensor(eps), persistent=False)', on="short"),
    "E[x²]−E[x]² after subtracting first column (shifted, stable)": edit(
        "mean =….bias",
        "y = x - x[..., :1]\n"
        "m = y.mean(-1, keepdim=True)\n"
        "v = ((y * y).mean(-1, keepdim=True) - m * m).clamp(min=0)\n"
        "return self.weight * (y - m) / torch.sqrt(v + self.eps) + self.bias",
        on=BARE,
    ),
    "correction d-1 multiplied back": edit("v = x…", "v = x.var(-1, keepdim=True) * (d - 1) / d", on="short, with the width"),
    "cov-free lambda, reset_parameters": edits(
        ("w = b…", "def reset_parameters(self):\n    nn.init.ones_(self.weight)\n    nn.init.zeros_(self.bias)"),
        (
            "if LayerNorm…, eps",
            "self.weight = nn.Parameter(torch.empty(d_model))\nself.bias = nn.Parameter(torch.empty(d_model))\nself.eps = eps\nself.reset_parameters()",
        ),
        on="class attr parameters, no guard beyond None",
    ),
    "mean by (x / d).sum": edits(("x.mean", "(x / d).sum"), ("x.var(-1, correction=0", "((x - m) ** 2 / d).sum(-1"), on="short, with the width"),
    "mean by matmul with full 1/d": edits(
        ("mean =…", "avg = x.new_full((x.size(-1), 1), 1 / x.size(-1))"),
        ("variance =…", "c = x - x @ avg"),
        ("(x - mean) / torch.sqrt(variance", "c / torch.sqrt((c * c) @ avg"),
        on=BARE,
    ),
    "mean by einsum with 1/d weight": edits(
        ("d = x…", "w = torch.full_like(self.weight, 1 / self.weight.numel())"),
        ("m = x…", 'c = x - torch.einsum("...d,d->...", x, w)[..., None]'),
        ("v = x…", 'v = torch.einsum("...d,d->...", c**2, w)[..., None]'),
        ("(x - m)", "c"),
        on="short, with the width",
    ),
    "multiply by reciprocal": edit(
        "mean =….bias",
        "r = 1 / x.size(-1)\n"
        "m = x.sum(-1, keepdim=True) * r\n"
        "c = x - m\n"
        "return c.mul(torch.rsqrt(c.pow(2).sum(-1, keepdim=True) * r + self.eps)).mul(self.weight).add(self.bias)",
        on=BARE,
    ),
    "scale folded: x*scale + shift": edit("return…", "scale = self.weight * torch.rsqrt(v + self.eps)\nreturn x * scale + (self.bias - m * scale)", on="short"),
    "logarithm: exp(-.5*log(var+eps))": edit("return…", "return self.bias + self.weight * (x - m) * torch.exp(-0.5 * torch.log(v + self.eps))", on="short"),
    "hypot": edit("sqrt(v + self.eps)", "hypot(v.sqrt(), torch.full_like(v, self.eps**0.5))", on="short"),
    "var_mean and addcmul": body("""
        def __init__(self, d_model, eps=1e-05):
            super().__init__()
            self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
            self.register_parameter("bias", nn.Parameter(torch.full((d_model,), 0.0)))
            self.eps = eps
        def forward(self, x):
            var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
            return torch.addcmul(self.bias, self.weight, (x - mean) / (var + self.eps).sqrt())
    """),
}
