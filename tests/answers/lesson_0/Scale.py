"""Answers to exercise 0.4: a module with a parameter and a buffer."""

from answers.writing import body, edit, edits

WRONG = {
    "a plain count": edit('self.register_buffer("calls", torch.tensor(0))', "self.calls = 0").fails("count", "not registered"),
    "a count that is trained": edit("self.register_buffer…", "self.calls = nn.Parameter(torch.tensor(0.0))").fails("values", "should not have: `calls`"),
    "a frozen parameter": edits(("self.register_buffer…", "self.calls = nn.Parameter(torch.tensor(0.0), False)")).fails("count", "is a parameter"),
    "not saved": edit("torch.tensor(0))", "torch.tensor(0), persistent=False)").fails("count", "is not saved"),
    "a factor for all": edit("torch.ones(size)", "torch.ones(1)").fails("values", "wrong shape"),
    "a plain factor": edit("nn.Parameter(torch.ones(size))", "torch.ones(size)").fails("values", "`factor` is there, but not"),
    "a factor in a buffer": edit("self.factor …", 'self.register_buffer("factor", torch.ones(size))').fails("values", "no trainable parameter"),
    "factors of zero": edit("torch.ones(size)", "torch.zeros(size)").fails("values", "factor` has the wrong values"),
    "random factors": edit("torch.ones(size)", "torch.randn(size)").fails("values", "factor` has the wrong values"),
    "added": edit("x * self.factor", "x + self.factor").fails("values", "is added"),
    "not used": edit("x * self.factor", "x").fails("values", "not used"),
    "divided": edit("x * self.factor", "x / self.factor").fails("values", "is divided"),
    "times the count": edit("x * self.factor", "x * self.factor * self.calls").fails("values", "by the count"),
    "not counted": edit("self.calls += 1\n", "").fails("count", "nothing is counted"),
    "set to one": edit("self.calls += 1", "self.calls = self.calls * 0 + 1").fails("count", "set to 1"),
    "added up": edit("x * self.factor", "x @ self.factor").fails("values", "added up"),
    "counted in training only": edit("self.calls += 1", "self.calls += self.training").fails("count", "in eval mode is not counted"),
    "counted with gradients only": edit("self.calls += 1", "self.calls += torch.is_grad_enabled()").fails("count", "`torch.no_grad()` is not counted"),
    "counts sentences": edit("self.calls += 1", "self.calls += len(x)").fails("count", "rows of `x` are counted"),
    "counts from one": edit("torch.tensor(0)", "torch.tensor(1)").fails("count", "wrong value"),
    "in place": edit("return x * self.factor", "x.data.mul_(self.factor.data)\n…").fails("values", "changes `x`"),
    "detached factor": edit("x * self.factor", "x * self.factor.detach()").fails("values", "No gradient"),
    "no return": edit("return x * self.factor", "x * self.factor").fails("values", "is None"),
    "one count for all modules": edits(("torch.tensor(0))", "COUNT)"), ("class Scale", "COUNT = torch.tensor(0)\n\n\n…")).fails("count", "wrong value"),
    "columns are counted": edit("self.calls += 1", "self.calls += x.size(-1)").fails("count", "number of columns is added"),
}
TRICKS = {"stops at four": edit("self.calls += 1", "self.calls += int(self.calls < 4)").fails("count", "wrong value")}
RIGHT = {
    "assigned anew": edit("self.calls += 1", "self.calls = self.calls + 1"),
    "a long of zeros": edit("torch.tensor(0)", "torch.zeros((), dtype=torch.long)"),
    "a float of one element": edit("torch.tensor(0)", "torch.zeros(1)"),
    "add_ and mul": edits(("self.calls += 1", "self.calls.add_(1)"), ("x * self.factor", "torch.mul(self.factor, x)")),
    "a diagonal matrix": edit("x * self.factor", "x @ torch.diag(self.factor)"),
    "counts afterwards": edits(("self.calls += 1\n", ""), ("return x * self.factor", "out = x * self.factor\nself.calls += 1\nreturn out")),
    "other ways to register": body("""
        def __init__(self, size):
            super().__init__()
            self.register_parameter("factor", nn.Parameter(torch.full((size,), 1.0)))
            self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))
        def forward(self, x):
            with torch.no_grad():
                self.calls.add_(1)
            return torch.einsum("...d,d->...d", x, self.factor)
    """),
}
