from answers.writing import BARE, edit, edits

WRONG = {
    "layer norm": edits(("mean_square =…", "x = x - x.mean(dim=-1, keepdim=True)\n…")).fails("values", "the mean is subtracted first"),
    "a standard deviation": edit("square().mean(dim=-1", "var(dim=-1, correction=0").fails("values", "divided by its standard deviation"),
    "an unbiased standard deviation": edit("x.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)").fails("values", "made with d − 1"),
    "squares added up": edit("square().mean(", "square().sum(").fails("values", "added up instead of averaged"),
    "the norm of the vector": edit("torch.sqrt(mean_square + self.eps)", "x.norm(dim=-1, keepdim=True)").fails("values", "divided by its length"),
    "F.normalize": edit("return…", "return F.normalize(x, dim=-1) * self.weight").fails("values", "divided by its length"),
    "std": edit("torch.sqrt(mean_square + self.eps)", "(x.std(dim=-1, keepdim=True) + self.eps)").fails("values", "eps is added behind the root"),
    "no root": edit("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)").fails("values", "the root is missing"),
    "mean, then squared": edit("x.square().mean(dim=-1, keepdim=True)", "x.mean(dim=-1, keepdim=True).square()").fails("values", "the mean of x is squared"),
    "absolute values": edits((".square", ".abs"), ("torch.sqrt", "")).fails("values", "absolute values are averaged"),
    "multiplied": edit("x / torch", "x * torch").fails("values", "multiplied by the root instead of divided"),
    "eps outside the root": edit("torch.sqrt(mean_square", "(torch.sqrt(mean_square)").fails("values", "eps is added to the root instead"),
    "no eps": edit(" + self.eps", "").fails("values", "eps is left out"),
    "eps fixed": edit("self.eps = eps", "self.eps = 1e-6").fails("values", "eps is fixed at 1e-6"),
    "eps squared": edit("+ self.eps", "+ self.eps**2").fails("values", "eps is squared"),
    "eps of layer norm": edit("1e-6", "1e-5").fails("values", "another default"),
    "no weight": edit(" * self.weight", "").fails("values", "`weight` is not used"),
    "one plus weight": edit("* self.weight", "* (1 + self.weight)").fails("values", "1 is added to `weight`"),
    "weight added": edit("* self.weight", "+ self.weight").fails("values", "`weight` is added instead"),
    "divided by the weight": edit("torch.sqrt(mean_square + self.eps) * self.weight", "(…)").fails("values", "`weight` is divided by"),
    "over the positions": edit("dim=-1", "dim=-2").fails("values", "over the positions"),
    "over the batch": edit("dim=-1", "dim=0").fails("values", "over the batch"),
    "over everything": edit("dim=-1, keepdim=True", "").fails("values", "over everything"),
    "keepdim forgotten": edit(", keepdim=True", "").fails("values", "raised RuntimeError"),
    "weight begins with zeros": edit("torch.ones", "torch.zeros").fails("parameters", "wrong values"),
    "a bias as well": edit("self.eps = eps", "self.eps = eps\nself.bias = nn.Parameter(torch.zeros(d_model))").fails("parameters", "should not have: `bias`"),
    "a plain tensor": edit("nn.Parameter(torch.ones(d_model))", "torch.ones(d_model)").fails("parameters", "not as a layer or parameter"),
    "called gamma": edit("self.weight", "self.gamma").fails("parameters", "no trainable parameter `weight`"),
    "in place": edit("return x / torch.sqrt(mean_square + self.eps)", "x /= torch.sqrt(mean_square + self.eps)\nreturn x").fails("values", "changes `x`"),
    "PyTorch's own": edit("mean_square =…", "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)\n…").fails("values", "ready `F.rms_norm`"),
    "the root detached": edit("torch.sqrt(mean_square", "torch.sqrt(mean_square.detach()").fails("values", "gradient of `norm(x)`"),
    "in float32": edit("return…", "return (x / torch.sqrt(mean_square + self.eps) * self.weight).float()").fails("values", "dtype"),
}

TRICKS = {
    "remembers what it said": edit("def forward", "@__import__('functools').lru_cache(maxsize=None)\ndef forward").fails("values", "with other weights"),
    "three dimensions only": edit("mean_square =…", "batch, seq_len, d_model = x.shape\n…").fails("values"),
    "clamped": edit("torch.sqrt(mean_square + self.eps)", "torch.sqrt(mean_square.clamp(max=100) + self.eps)").fails("values", "wrong values"),
    "the first weight for all": """
        class RMSNorm(nn.Module):
            shared = None
            def __init__(self, d_model, eps=1e-6):
                super().__init__()
                if RMSNorm.shared is None or len(RMSNorm.shared) != d_model:
                    RMSNorm.shared = nn.Parameter(torch.ones(d_model))
                self.weight, self.eps = RMSNorm.shared, eps
            def forward(self, x):
                return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight
    """,
    "nothing is done in eval": edit("mean_square =…", "if not self.training:\n    return x * self.weight\n…").fails("values"),
}

RIGHT = {
    "rsqrt": edit("x / torch.sqrt(mean_square + self.eps)", "x * torch.rsqrt(mean_square + self.eps)"),
    "a power": edit("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps) ** 0.5"),
    "the norm of the vector, scaled": edit("torch.sqrt(mean_square + self.eps)", "(x.norm(dim=-1, keepdim=True) ** 2 / x.size(-1) + self.eps).sqrt()"),
    "sums by hand": edit("x.square().mean(dim=-1, keepdim=True)", "(x * x).sum(-1).unsqueeze(-1) / x.shape[-1]"),
    "einsum": edit("x.square().mean(dim=-1, keepdim=True)", 'torch.einsum("...d,...d->...", x, x)[..., None] / x.size(-1)'),
    "weight first": edit("return x / torch.sqrt(mean_square + self.eps) * self.weight", "return self.weight * (x / torch.sqrt(mean_square + self.eps))"),
    "row by row": edits(
        ("mean_square =…", "rows = x.reshape(-1, x.size(-1))"),
        ("return…", "return torch.stack([row / (row.pow(2).mean() + self.eps).sqrt() * self.weight for row in rows]).view(x.shape)"),
        on=BARE,
    ),
    "in float64 and back": edits((".square", ".double().square"), ("x / torch.sqrt(mean_square + self.eps", "(x / torch.sqrt(mean_square + self.eps)).to(x")),
    "hypot": edits(("torch.sqrt(mean_square + self.eps)", "torch.hypot(mean_square.sqrt(), torch.full_like(mean_square, self.eps**0.5))")),
    "a matrix product": edit("x.square().mean(dim=-1, keepdim=True)", "x.square() @ x.new_full((x.size(-1), 1), 1 / x.size(-1))"),
    "registered, filled later": edit(
        "self.weight = nn.Parameter(torch.ones(d_model))", 'self.register_parameter("weight", nn.Parameter(torch.empty(d_model)))\nnn.init.ones_(self.weight)'
    ),
}
