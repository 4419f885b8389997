from answers.writing import BARE, TYPED, edit, edits

WRONG = {
    "d_model ** 1 / 2": edit("math.sqrt(self.d_model)", "self.d_model ** 1 / 2").fails("values", "which `d_model ** 1 / 2` is"),
    "the root of d_model − 1": edit("math.sqrt(self.d_model)", "math.sqrt(self.d_model - 1)").fails("values"),
    "adds the root": edit("* math", "+ math").fails("values", "added to the rows instead"),
    "scales the table once": edits((" * math…", ""), ("d_model = d_model", "embedding.weight.data *= math.sqrt(d_model)")).fails("values", "taken as they are"),
    "drops entries": edit("self.embedding(tokens)", "F.dropout(…, 0.1, self.training)").fails("values", "In train mode, two calls"),
    "no factor": edit("* math…", "").fails("values", "not multiplied by √d_model"),
    "divided": edit("* math", "/ math").fails("values", "divided by √d_model"),
    "times d_model": edit("math.sqrt…", "self.d_model").fails("values", "d_model instead of √d_model"),
    "times the root of the vocabulary": edit("math.sqrt…", "math.sqrt(self.embedding.num_embeddings)").fails("values", "√vocab_size"),
    "times the root of the length": edit("math.sqrt…", "math.sqrt(tokens.size(1))").fails("values", "√seq_len"),
    "another name": edit("self.embedding", "self.table").fails("shape", "no trainable parameter `embedding.weight`"),
    "sizes swapped": edit("(vocab_size, d_model)", "(d_model, vocab_size)").fails("shape", "wrong shape"),
    "a linear layer": edit("nn.Embedding(vocab_size, d_model)", "nn.Linear(vocab_size, d_model)").fails("shape"),
    "a frozen table": edit("self.embedding(tokens)", "….detach()").fails("values", "No gradient"),
    "scales the table in place": edit("return self…", "self.embedding.weight.data *= math.sqrt(self.d_model)\nreturn self.embedding(tokens)").fails(
        "values", "changes `embedding.weight`"
    ),
    "d_model not stored": edit("self.d_model = d_model", "").fails("shape", "raised AttributeError"),
    "times 2": edit("math.sqrt…", "2.0").named("multiplied by 2"),
    "scaled twice": edit("* math…", "* math.sqrt(self.d_model) * math.sqrt(self.d_model)").named("d_model instead of √d_model"),
    "√ of the batch size": edit("math.sqrt…", "math.sqrt(tokens.size(0))"),
    "scaled in __init__ only for the table, too": edits(
        ("self.d_model = d_model", "…\nwith torch.no_grad():\n    self.embedding.weight.mul_(d_model**0.5)"), ("return self…", "return self.embedding(tokens)")
    ).named("not multiplied"),
    "normalised rows": edit("self.embedding(tokens) *", "F.normalize(self.embedding(tokens), dim=-1) *"),
    "pads zeroed": edit("return self…", "… * (tokens != 0)[..., None]"),
    "dropout on top": edit("self.embedding(tokens)", "F.dropout(…, 0.1, self.training)"),
    "scale missing in eval mode": edit("math.sqrt…", "(… if self.training else 1.0)").named("not multiplied"),
    "flattened batch": edit("self.embedding(tokens)", "self.embedding(tokens.flatten())"),
    "one-hot and linear": edits(
        ("nn.Embedding(vocab_size, d_model)", "nn.Linear(vocab_size, d_model, bias=False)"),
        ("self.embedding(tokens)", "self.embedding(F.one_hot(tokens, 11).float())"),
    ),
    "a raw parameter": edits(
        ("nn.Embedding(vocab_size, d_model)", "nn.Parameter(torch.randn(vocab_size, d_model))"), ("self.embedding(tokens)", "self.embedding[tokens]")
    ).named("embedding.weight"),
    "max_norm changes the table": edit("vocab_size, d_model", "vocab_size, d_model, max_norm=1.0").named("changes `embedding.weight`"),
    "the scale is a parameter": edits(("self.d_model =…", "self.scale = nn.Parameter(torch.tensor(d_model**0.5))"), ("math.sqrt…", "self.scale")).named(
        "should not have"
    ),
    "from a pretrained frozen table": edit("(vocab_size, d_model", ".from_pretrained(torch.randn…)").named("trainable"),
    "float32 output from float64 weights": edit("return self…", "return (self.embedding(tokens) * math.sqrt(self.d_model)).float()").named("dtype"),
    "scale a CPU float64 tensor -> still fine dims? shape (1,) float64 promotes output": edits(
        ("d_model = d_model", "scale = torch.tensor([d_model**0.5], dtype=torch.float64)"), ("math.sqrt(self.d_model)", "self.scale"), on=TYPED
    ).named("float64"),
    "tokens modulo vocab-1": edits(
        ("d_model = d_model", "v=vocab_size"), ("return self…", "return self.embedding(tokens % (self.v-1))*self.embedding.embedding_dim**0.5"), on=TYPED
    ),
    "squeezes a batch of one": edit("return self…", "return (self.embedding(tokens)*math.sqrt(self.d_model)).squeeze(0)", on=TYPED).named("batch"),
    "squeezes len 1": edit("return self…", "return (self.embedding(tokens)*math.sqrt(self.d_model)).squeeze()", on=TYPED).named("batch|shape"),
    "tokens mutated: clamp_": edit(") * math", ".clamp_(min=1))*math", on=TYPED),
    "sparse gradients": edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, sparse=True)").fails("values", "is sparse"),
    "gradients divided by how often a token comes": edit(
        "nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, scale_grad_by_freq=True)"
    ).fails("values", "the gradient of"),
    "long rows cut": edit("vocab_size, d_model", "vocab_size, d_model, max_norm=10.0").fails("values", "changes `embedding.weight`"),
    "a second name for the table": edits(
        ("self.d_model = d_model", "…\nself.weight = self.embedding.weight"), ("self.embedding(tokens)", "F.embedding(tokens, self.weight)")
    ).fails("values", "another has replaced"),
    "remembers what it made of a tensor": edits(("class", "import functools\n…"), ("def forward", "@functools.lru_cache(maxsize=None)\n…")).fails(
        "values", "from before the table changed"
    ),
    "the factor is a tensor, and no buffer": edits(
        ("self.d_model = d_model", "self.scale = torch.tensor([d_model**0.5])"), ("math.sqrt(self.d_model)", "self.scale")
    ).fails("values", "on the CPU"),
}

TRICKS = {
    "√6 fixed": edit("math.sqrt…", "math.sqrt(6)"),
    "modulo of a fixed vocabulary": edit("self.embedding(tokens)", "self.embedding(tokens % 11)"),
    "d_model kept in a global": edits(("self.d_model = d_model", "global _width\n_width = d_model"), ("math.sqrt…", "math.sqrt(_width)")),
    "scale hard-coded sqrt 512": edit("(self.d_model)", "(512)", on=TYPED),
    "cached result by shape": edits(
        ("= d_model", "…\nself.cache={}"),
        ("return self…", "k=tokens.shape\nif k not in self.cache: self.cache[k]=self.embedding(tokens) * math.sqrt(self.d_model)\nreturn self.cache[k]"),
        on=TYPED,
    ),
    "cached scaled table from first call (stale after training)": edits(
        ("d_model)", "…\nself.d_model = d_model\nself.table=None"),
        ("one =…", "if self.table is None: self.table=self.embedding.weight * math.sqrt(self.d_model)"),
        ("return one…", "return self.table[tokens]"),
        on="one-hot matmul",
    ),
    "tokens clamped to 10": edit(") * math", ".clamp(max=10))*math", on=TYPED),
    "scale detached via .data in eval only": edit(
        "return self…", "w = self.embedding.weight if self.training else self.embedding.weight.data\nreturn w[tokens]*self.d_model**0.5", on=TYPED
    ),
    "class-level embedding shared by all": edits(
        ("Module):", "…\n    shared = None"),
        ("self.embedding =", "if TokenEmbedding.shared is None: TokenEmbedding.shared ="),
        ("d_model = d_model", "embedding=TokenEmbedding.shared"),
        (") * math.sqrt(self.d_model)", ")*self.embedding.embedding_dim**0.5"),
        on=TYPED,
    ).named("shared|share"),
    "a whole factor for wide tables": edit("math…", "(self.d_model**0.5 if self.d_model < 64 else round(self.d_model**0.5))").fails("values", "wrong values"),
    "half of the gradient lost": edit("return self…", "rows = self.embedding(tokens) * math.sqrt(self.d_model)\nreturn (rows + rows.detach()) / 2").fails(
        "values", "the gradient of"
    ),
}

RIGHT = {
    "a function that reads the table in each call": edits(
        ("self.d_model = d_model", "self.rows = lambda tokens: self.embedding.weight[tokens] * math.sqrt(d_model)"),
        ("return self…", "return self.rows(tokens)"),
    ),
    "scale kept, padding_idx": edits(
        ("(vocab_size, d_model)", "(vocab_size, d_model, padding_idx=0)"),
        ("d_model = d_model", "scale = d_model**0.5"),
        ("return self…", "return self.scale * self.embedding(tokens)"),
        on=BARE,
    ),
    "one-hot product": edits(
        (": int, d_model: int", ", d_model"),
        (": torch.Tensor) -> torch.Tensor", ")"),
        ("one =…", "table = self.embedding.weight"),
        ("return one…", "return F.one_hot(tokens, len(table)).to(table.dtype) @ table * table.size(1) ** 0.5"),
        on="one-hot matmul",
    ),
    "F.embedding": edits(
        ("self.d_model = d_model", ""), ("return self…", "return F.embedding(tokens, self.embedding.weight) * math.sqrt(self.embedding.embedding_dim)"), on=BARE
    ),
    "small start, N(0, 1/√d)": edits(
        ("self.d_model =…", "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"),
        (") * math.sqrt(self.d_model", ").mul(math.sqrt(self.embedding.weight.shape[1])"),
        on=BARE,
    ),
    "zeros at the start": edits(("self.d_model =…", "nn.init.zeros_(self.embedding.weight)\nself.d = d_model"), ("math.…", "self.d**0.5"), on=BARE),
    "in place on its own output, a buffer for the scale": edits(
        ("(vocab_size, d_model)", "(num_embeddings=vocab_size, embedding_dim=d_model)"),
        ("d_model = d_model", 'register_buffer("scale", torch.tensor(d_model).sqrt())'),
        ("return self…", "out = self.embedding(tokens)\nout *= self.scale\nreturn out"),
        on=BARE,
    ),
    "scaled table looked up": edits(
        ("self.d_model = d_model", ""), ("return self…", "return (self.embedding.weight * self.embedding.embedding_dim**0.5)[tokens]"), on=BARE
    ),
    "a loop over tokens, torch.stack": edits(
        ("d_model = d_model", "scale = torch.sqrt(torch.tensor(float(d_model)))"),
        ("return self…", "return torch.stack([torch.stack([self.embedding.weight[t] * self.scale for t in row]) for row in tokens])"),
        on=BARE,
    ),
    "dataclass": edits(
        ("class", "from dataclasses import dataclass\n@dataclass(eq=False)\nclass"),
        ("def __init__…", "vocab_size: int\nd_model: int\ndef __post_init__(self):"),
        ("self.embedding =…= d_model", "self.embedding = nn.Embedding(self.vocab_size, self.d_model)"),
        on=BARE,
    ),
    "nn.Embedding subclass inside, scale by grad": """
        class _Table(nn.Embedding):
            def forward(self, x):
                return super().forward(x) * self.embedding_dim**0.5
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = _Table(vocab_size, d_model)
            def forward(self, tokens):
                return self.embedding(tokens)
    """,
    "F.embedding with scale first": edit("return self…", "return F.embedding(tokens, self.embedding.weight * math.sqrt(self.d_model))", on=TYPED),
    "one-hot matmul": """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                one = F.one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
                return one @ self.embedding.weight * self.embedding.embedding_dim**0.5
    """,
    "from_pretrained unfrozen, small init": edits(
        ("(vocab_size, d_model)", ".from_pretrained(torch.randn… / d_model**0.5, freeze=False)"),
        ("one =…**0.5", "return self.embedding(tokens).mul(self.embedding.embedding_dim ** 0.5)"),
        on="one-hot matmul",
    ),
    "in-place mul_ on own result": edit(") * math.sqrt(self.d_model", ").mul_(math.sqrt(self.d_model)", on=TYPED),
    "scale buffer non persistent": edits(
        ("d_model =…", 'register_buffer("scale", torch.tensor(math.sqrt(d_model)), persistent=False)'), ("math.sqrt(self…", "self.scale"), on=TYPED
    ),
    "index_select & view": edit("(tokens)", ".weight.index_select(0, tokens.reshape(-1)).view(*tokens.shape, -1)", on=TYPED),
    "torch.sqrt of tensor": edit("math.sqrt(self.d_model)", "torch.sqrt(torch.tensor(float(self.d_model)))", on=TYPED),
    "numpy sqrt": edits(("class", "import numpy as np\n…"), ("d_model =…", "scale = np.sqrt(d_model)"), ("math.…", "self.scale"), on=TYPED),
    "scale by Lambda in Sequential sharing name": edits(
        ("class", "import functools\n…"),
        ("d_model = d_model", "scale = functools.partial(torch.mul, other=d_model**0.5)"),
        ("return self…", "return self.scale(self.embedding(tokens))"),
        on=TYPED,
    ),
    "einsum": edit(
        "one =…**0.5",
        "return torch.einsum('bsd,->bsd', self.embedding(tokens), self.embedding.weight.new_tensor(self.embedding.embedding_dim).sqrt())",
        on="one-hot matmul",
    ),
    "inherits from helper base": """
        class WithRoot(nn.Module):
            @property
            def root(self):
                return self.embedding.embedding_dim**0.5
        class TokenEmbedding(WithRoot):
            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * self.root
    """,
    "forward(self, *args) delegating via tokens kw": edits(
        ("d_model):", "d_model, **kwargs):"),
        ("(vocab_size, d_model)", "(num_embeddings=vocab_size, embedding_dim=d_model, **kwargs)"),
        ("d_model =", "vocab_size, self.… vocab_size,"),
        ("return self…", "return torch.stack([self.embedding(row) * self.d_model**0.5 for row in tokens])"),
        on=BARE,
    ),
    "embedding subclass": edits(
        ("class", "class E(nn.Embedding):\n    pass\nclass"),
        ("self.embedding =…= d_model", "self.embedding = E(vocab_size, d_model)"),
        ("math.sqrt(self.d_model)", "self.embedding.embedding_dim**0.5"),
        on=TYPED,
    ),
    "sum of d root by norm of ones": edit("math.sqrt(…", "torch.ones(self.d_model, device=tokens.device).norm().to(self.embedding.weight.dtype)", on=TYPED),
}
