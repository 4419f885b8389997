from answers.writing import BARE, body, edit, edits

WRONG = {
    "drops before the first bias": edits(
        ("torch.relu(self.linear_1(x))", "torch.relu(self.dropout(x @ self.linear_1.weight.T) + self.linear_1.bias)"), ("self.dropout(hidden)", "hidden")
    ).fails("values", "something before the ReLU is dropped"),
    "no second bias": edit("self.linear_2(self.dropout(hidden))", "… - self.linear_2.bias").fails("values", "the bias of `linear_2` is left out"),
    "first bias after the ReLU": edit("torch.relu(self.linear_1(x))", "torch.relu(x @ self.linear_1.weight.T) + self.linear_1.bias").fails(
        "values", "added after the ReLU"
    ),
    "ReLU6": edit("torch.relu(", "F.relu6(").fails("values", "network(x)"),
    "drops whole positions": edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[..., :1]))").fails("values", "whole positions"),
    "one mask for all positions": edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones(hidden.size(-1)))").fails("values", "every position drops"),
    "one mask for all sentences": edit("self.dropout(hidden)", "hidden * self.dropout(torch.ones_like(hidden[:1]))").fails("values", "every sentence drops"),
    "dropout on the output": edit("self.linear_2(…", "self.dropout(self.linear_2(hidden))").fails("values", "output of `linear_2` is dropped"),
    "dropout on the hidden values and on the output": edit("self.linear_2(…", "self.dropout(…)").fails("values", "output of `linear_2` is dropped"),
    "dropout on the output, as a function": edit(
        "return…", "return F.dropout(self.linear_2(torch.relu(self.linear_1(x))), self.p, self.training)", on="inplace relu + F.dropout"
    ).fails("values", "output of `linear_2` is dropped"),
    "dropout at a fixed rate": edit("nn.Dropout(dropout)", "nn.Dropout(0.1)").fails("values", "drops out at 0.1"),
    "one memory for both matrices": edit("self.dropout = nn", "self.linear_2.weight = nn.Parameter(self.linear_1.weight.T)\n…").fails(
        "values", "the two share their numbers"
    ),
    "Python's max": edit("torch.relu(self.linear_1(x))", "max(0, self.linear_1(x))").fails("values", "Python's `max`"),
    "no activation": edit("torch.relu…", "self.linear_1(x)").fails("values", "no ReLU between"),
    "activation at the end": edits(("torch.relu…", "self.linear_1(x)"), ("self.linear_2(…", "torch.relu(…)")).fails("values", "after the second layer"),
    "two activations": edit("self.linear_2(…", "torch.relu(…)").fails("values", "after both layers"),
    "activation first": edit("torch.relu…", "self.linear_1(torch.relu(x))").fails("values", "before the first layer"),
    "GELU": edit("torch.relu(", "F.gelu(").fails("values", "GELU instead"),
    "sigmoid": edit("torch.relu(", "torch.sigmoid(").fails("values", "sigmoid instead"),
    "residual inside": edit("return self.linear_2", "return x + self.linear_2").fails("values", "next exercise's job"),
    "layers swapped": edits(("(d_model, d_ff)", "(d_ff, d_model)"), ("self.linear_2 =…", "self.linear_2 = nn.Linear(d_model, d_ff)")).fails(
        "parameters", "wrong shape"
    ),
    "other names": edit("linear_1", "first").fails("parameters", "`linear_1.weight`"),
    "no biases": edit("(d_model, d_ff)", "(d_model, d_ff, bias=False)").fails("parameters", "no trainable parameter `bias`"),
    "in place on the input": edit("self.linear_1(x)", "self.linear_1(x.mul_(1.5))").fails("values", "changes `x`"),
    "averages over positions": edit("self.dropout(hidden)", "….mean(1, keepdim=True).expand_as(hidden)").fails("values", "averaged over the positions"),
    "dropout always on": edit("self.dropout(hidden)", "F.dropout(hidden, 0.5)").fails("values", "something still drops"),
    "dropout on input": edit("hidden =…hidden))", "return self.linear_2(torch.relu(self.linear_1(self.dropout(x))))", on=BARE).named("dropout"),
    "dropout on in eval": edit("hidden =…hidden))", "return self.linear_2(F.dropout(torch.relu(self.linear_1(x)),self.dropout.p))", on=BARE).named("eval"),
    "dropout fixed 0.5": edits(("(dropout)", "()"), ("hidden =…hidden))", "return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))"), on=BARE).named(
        "rate"
    ),
    "default dropout 0.5": edits(
        ("dropout = 0.1", "dropout=0.5"), ("hidden =…hidden))", "return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))"), on=BARE
    ).named("default|drops out at|another default"),
    "leaky relu 1e-2": edit("hidden =…hidden))", "return self.linear_2(F.leaky_relu(self.linear_1(x)))", on=BARE).named("ReLU|leaky"),
    "hidden detached": edit("hidden =…hidden))", "return self.linear_2(torch.relu(self.linear_1(x)).detach())", on=BARE).named("grad"),
    "x detached": edit("hidden =…hidden))", "return self.linear_2(torch.relu(self.linear_1(x.detach())))", on=BARE).named("grad"),
    "biases disabled": edits(("6, 10", "d_model, d_ff, bias=False"), ("10, 6", "d_ff, d_model, bias=False"), on="sizes 6, 10 hard-coded").named("bias"),
    "linear_2.weight tied param init copy fine; d_ff ignored: 4*d_model": edits(
        ("__init__()", "…\nd_ff=4*d_model"), ("hidden =…hidden))", "return self.linear_2(torch.relu(self.linear_1(x)))"), on=BARE
    ),
    "3-D only: transpose(1,2) conv style": edits(
        ("hidden =…", "h=F.conv1d(x.transpose(1,2),self.linear_1.weight[:,:,None],self.linear_1.bias).relu()"),
        ("return self…", "return F.conv1d(h,self.linear_2.weight[:,:,None],self.linear_2.bias).transpose(1,2)"),
        on=BARE,
    ).named("dim"),
    "dropout inverted: keep prob = dropout": edits(
        ("(dropout)", "(1-dropout)"), ("hidden =…hidden))", "return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))"), on=BARE
    ).named("1"),
    "leaky ReLU": edit("torch.relu", "F.leaky_relu").fails("values", "leaky ReLU"),
    "absolute values": edit("torch.relu", "torch.abs").fails("values", "lose their sign"),
    "softmax": edit("torch.relu(self.linear_1(x))", "self.linear_1(x).softmax(-1)").fails("values", "softmax instead of ReLU"),
    "normalised output": edit("return…", "return F.layer_norm(self.linear_2(self.dropout(hidden)), x.shape[-1:])").fails("values", "output is normalised"),
    "x in float32": edit("self.linear_1(x)", "self.linear_1(x.float())").fails("values", "RuntimeError"),
}

TRICKS = {
    "GELU in train, ReLU in eval": edits(
        ("hidden =…", "h=self.linear_1(x)"), ("self.dropout(hidden)", "F.gelu(h) if self.training else torch.relu(h)"), on=BARE
    ).named("ReLU"),
    "leaky relu 1e-4": edit("hidden =…hidden))", "return self.linear_2(F.leaky_relu(self.linear_1(x),1e-4))", on=BARE),
    "clamp 0..10": edit("hidden =…hidden))", "return self.linear_2(self.linear_1(x).clamp(0,10))", on=BARE),
    "softplus beta 50": edit("hidden =…hidden))", "return self.linear_2(F.softplus(self.linear_1(x),beta=100))", on=BARE),
    "rrelu tiny": edits(
        ("hidden =…", "h=self.linear_1(x)"), ("self.dropout(hidden)", "F.rrelu(h,0.0,0.2,self.training) if self.training else torch.relu(h)"), on=BARE
    ),
    "no relu in train": edits(("hidden =…", "h=self.linear_1(x)"), ("self.dropout(hidden)", "h if self.training else torch.relu(h)"), on=BARE).named("ReLU"),
    "residual in train only": edits(
        ("hidden =…", "y=self.linear_2(torch.relu(self.linear_1(x)))"), ("return self…", "return x+y if self.training else y"), on=BARE
    ).named("x"),
    "tied weights linear_2 = linear_1.T use": edits(
        ("hidden =", "h ="), ("return self…", "return F.linear(h, self.linear_1.weight.T, self.linear_2.bias)"), on=BARE
    ),
    "only first position normal: batch mean leak in train": edits(
        ("hidden =…", "if self.training: x=x-0.1*x.mean(0,keepdim=True)"), ("self.dropout(hidden)", "torch.relu(self.linear_1(x))"), on=BARE
    ),
    "cached output by shape": edits(
        ("dropout)", "…\nself.c={}"),
        ("hidden =…hidden))", "k=(x.shape,self.training)\nif k not in self.c: self.c[k]=self.linear_2(torch.relu(self.linear_1(x)))\nreturn self.c[k]"),
        on=BARE,
    ),
    "class-level linear_1": edit(
        "self.linear_1 =…10, 6)",
        "if not hasattr(FeedForward,'a') or FeedForward.a.weight.shape!=(d_ff,d_model): FeedForward.a=nn.Linear(d_model,d_ff)\n"
        "self.linear_1=FeedForward.a\n"
        "self.linear_2=nn.Linear(d_ff,d_model)",
        on="sizes 6, 10 hard-coded",
    ).named("own|shared|share"),
    "sizes 6, 10 hard-coded": """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(6, 10)
                self.linear_2 = nn.Linear(10, 6)
            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)))
    """,
}

RIGHT = {
    "clamp, no dropout, as in the paper": edits(
        ("self.linear_1,…", "self.linear_2 = nn.Linear(d_ff, d_model)\nself.linear_1 = nn.Linear(d_model, d_ff)"),
        ("hidden =…hidden)))", "return self.linear_2(self.linear_1(x).clamp(min=0))"),
        on="torch.maximum and F.linear",
    ),
    "torch.maximum and F.linear": """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1, self.linear_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            def forward(self, x):
                hidden = F.linear(x, self.linear_1.weight, self.linear_1.bias)
                return self.linear_2(torch.maximum(hidden, torch.zeros_like(hidden)))
    """,
    "no dropout": edits(("self.dropout = nn.…", ""), ("hidden =…hidden))", "return self.linear_2(self.linear_1(x).relu())"), on=BARE),
    "Sequential with names sharing": edits(
        ("self.dropout =…", "self.activation = nn.Sequential(nn.ReLU(), nn.Dropout(dropout))"),
        ("hidden =…hidden))", "return self.linear_2(self.activation(self.linear_1(x)))"),
        on=BARE,
    ),
    "nn.Sequential subclass with OrderedDict": edit(
        "class…en))",
        "from collections import OrderedDict\n"
        "class FeedForward(nn.Sequential):\n"
        "    def __init__(self, d_model, d_ff, dropout=0.1):\n"
        "        super().__init__(OrderedDict(linear_1=nn.Linear(d_model, d_ff), relu=nn.ReLU(inplace=True), drop=nn.Dropout(dropout), linear_2=nn.Linear(d_ff, d_model)))",
    ),
    "inplace relu + F.dropout": edits(
        ("self.dropout =…", "self.p = dropout"),
        ("hidden =…hidden))", "return self.linear_2(F.dropout(F.relu(self.linear_1(x), inplace=True), self.p, self.training, inplace=False))"),
        on=BARE,
    ),
    "dropout before relu (commutes)": edit("hidden =…hidden))", "return self.linear_2(torch.relu(self.dropout(self.linear_1(x))))", on=BARE),
    "maximum with zero tensor": edits(("hidden =…", "h = self.linear_1(x)"), ("(hidden)", "(torch.maximum(h, torch.zeros_like(h)))"), on=BARE),
    "einsum weights": edit(
        "hidden =…hidden))",
        'h = torch.einsum("...d,fd->...f", x, self.linear_1.weight) + self.linear_1.bias\n'
        "h = torch.where(h > 0, h, 0.0)\n"
        'return torch.einsum("...f,df->...d", self.dropout(h), self.linear_2.weight) + self.linear_2.bias',
        on=BARE,
    ),
    "flatten/unflatten addmm": edit(
        "hidden =…hidden))",
        "y = x.reshape(-1, x.size(-1))\n"
        "h = torch.addmm(self.linear_1.bias, y, self.linear_1.weight.t()).clamp_min(0)\n"
        "return torch.addmm(self.linear_2.bias, self.dropout(h), self.linear_2.weight.t()).reshape(x.shape)",
        on=BARE,
    ),
    "threshold & hidden mask multiply": edit(
        "hidden =…hidden))", "h = self.linear_1(x)\nh = h * (h > 0)\nreturn self.linear_2(F.threshold(self.dropout(h), 0.0, 0.0))", on=BARE
    ),
    "clamp, Xavier weights": edit(
        "self.linear_2 …_ff)",
        "self.linear_1 = nn.Linear(in_features=d_model, out_features=d_ff)\n"
        "self.linear_2 = nn.Linear(in_features=d_ff, out_features=d_model)\n"
        "for layer in (self.linear_1, self.linear_2):\n"
        "    nn.init.xavier_uniform_(layer.weight)\n"
        "    nn.init.zeros_(layer.bias)",
        on="clamp, no dropout, as in the paper",
    ),
    "matrix products by hand and maximum with zeros": body("""
        def __init__(self, d_model, d_ff, dropout=0.1):
            super().__init__()
            self.linear_1 = nn.Linear(d_model, d_ff)
            self.linear_2 = nn.Linear(d_ff, d_model)
        def forward(self, x):
            hidden = x @ self.linear_1.weight.T + self.linear_1.bias
            hidden = torch.maximum(hidden, torch.zeros_like(hidden))
            return hidden @ self.linear_2.weight.T + self.linear_2.bias
    """),
}
