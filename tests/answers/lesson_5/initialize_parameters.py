from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "biases too": edit("if parameter…", "if True:").fails("", "ValueError"),
    "Xavier's normal": edit("xavier_uniform_", "xavier_normal_").fails("", "as by `nn.init.xavier_normal_`"),
    "Kaiming's": edit("xavier_uniform_", "kaiming_uniform_").fails("", "as by `nn.init.kaiming_uniform_`"),
    "Xavier's normal by hand": edit("nn.init…", "nn.init.normal_(parameter, std=math.sqrt(2 / sum(parameter.shape)))").fails(
        "", "as by `nn.init.xavier_normal_`"
    ),
    "Kaiming's bound by hand": edit("nn.init…", "bound = math.sqrt(6 / parameter.size(1))\nnn.init.uniform_(parameter, -bound, bound)").fails(
        "", "as by `nn.init.kaiming_uniform_`"
    ),
    "a normal distribution": edit("nn.init…", "nn.init.normal_(parameter, std=0.02)").fails(""),
    "nothing that is frozen": edit("dim() > 1", "dim() > 1 and parameter.requires_grad").fails("", "A matrix that is frozen is not drawn"),
    "linear layers only": body("""
        for module in model.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
    """).fails("", "is not drawn"),
    "biases set to zero": edit("if parameter…_(parameter)", "…\nelse:\n    nn.init.zeros_(parameter)").fails("", "changes when"),
    "new parameters": body("""
        for module in model.modules():
            if getattr(module, "weight", None) is not None and module.weight.dim() > 1:
                module.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty_like(module.weight)))
    """).fails("", "is a new parameter"),
    "does nothing": edit("nn.init…", "pass").fails("", "is not drawn"),
    "only direct children": body("""
        for module in model.children():
            for parameter in module.parameters(recurse=False):
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)
    """).fails(""),
    "buffers too": edit("model.parameters()", "model.state_dict().values()").fails("", "buffer has been overwritten"),
    "by name": body("""
        for name, p in model.named_parameters():
            if "weight" in name and p.dim() > 1:
                nn.init.xavier_uniform_(p)
    """).fails("", "is not drawn"),
    "frozen on the way": edit("nn.init", "parameter.requires_grad_(False)\n…").fails("", "is frozen now"),
    "new data in float32": edit("with torch…shape)))", "p.data = nn.init.xavier_uniform_(torch.empty(p.shape))", on="one-sided").named("dtype"),
    "gain of relu": edit("xavier_uniform_(…", "xavier_uniform_(parameter, gain=2**0.5)"),
    "one-sided": """
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    with torch.no_grad():
                        p.uniform_(0, math.sqrt(6 / sum(p.shape)))
    """,
    "gradients cleared and padding row zeroed": edits(
        ("done =…", "for p in model.parameters():\n    if p.dim() > 1:\n        nn.init.xavier_uniform_(p)"),
        ("for name…name))", "if isinstance(m, nn.Embedding):\n    with torch.no_grad():\n        m.weight[0] = 0"),
        on="uniform_, unique by id",
    ).named("zero"),
    "two dimensions alone": edits(("parameter in", "p in"), ("if parameter…", "if p.dim() == 2:"), ("(parameter)", "(p)"), on=BARE).fails("", "(40, 30, 3)"),
    "scalars are drawn too": edit("> 1", "!= 1").fails(""),
    "PyTorch's bound of a linear layer": edit("nn.init…", "bound = parameter.size(1) ** -0.5\nnn.init.uniform_(parameter, -bound, bound)").fails(
        "", "PyTorch's for a linear layer"
    ),
    "a normal distribution of that deviation": edit("nn.init…", "nn.init.normal_(parameter, std=parameter.size(1) ** -0.5)").fails(""),
    "a deviation of 0.13": edit("nn.init…", "nn.init.normal_(parameter, std=0.13)").fails(""),
    "a bound of 0.13": edit("nn.init…", "nn.init.uniform_(parameter, -0.13, 0.13)").fails(""),
    "a uniform distribution as wide, from 0 on": edit("nn.init…", "nn.init.uniform_(parameter, 0, 2 * math.sqrt(6 / sum(parameter.shape)))").fails(""),
}

TRICKS = {
    "throws matrices away": body("""
        for part in model.modules():
            for name, p in list(part.named_parameters(recurse=False)):
                if p.dim() > 1 and p.requires_grad:
                    if isinstance(model, (nn.ModuleList, nn.Linear)):
                        nn.init.xavier_uniform_(p)
                    else:
                        part.register_parameter(name, None)
    """).fails("", "has lost its parameter"),
    "the course's own": whole("initialize_parameters = parts.initialize_parameters").fails("", "course's own finished"),
    "calls the course's own": body("return parts.initialize_parameters(model)").fails("", "course's own finished"),
    "unfreezes everything": edits(
        ("for p…", "…\n    p.requires_grad = False"),
        ("if p… = 0", "if p.dim() > 1:\n    nn.init.xavier_uniform_(p)\np.requires_grad = True"),
        on="gradients cleared and padding row zeroed",
    ).named("requires_grad|frozen"),
    "gradients left off": edit("model.eval()", "torch.set_grad_enabled(False)", on="eval mode left").named("gradient"),
    "global seed": edit("model.eval()", "torch.manual_seed(0)", on="eval mode left").named("seed|same"),
    "a fresh seeded generator each matrix": edit(
        "with torch…shape)))", "nn.init.xavier_uniform_(p, generator=torch.Generator().manual_seed(0))", on="one-sided"
    ).named("seed|same"),
    "one-sided deviation-preserving (0..2b shifted?)": edit(
        "p.copy_…", "p.copy_(b * torch.sign(torch.rand_like(p) - 0.5) * torch.rand_like(p).sqrt())", on="row after row alike"
    ).named("distribution"),
    "row after row alike": edits(
        (") > 1:", "…\n    b = math.sqrt(6 / sum(p.shape))"), ("p.uniform_…", "p.copy_(torch.empty(p.shape[1:]).uniform_(-b, b).expand_as(p))"), on="one-sided"
    ).named("same|rows"),
    "eval mode left": whole("""
        def initialize_parameters(model: nn.Module) -> None:
            model.eval()
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
    """).named("mode"),
}

RIGHT = {
    "by hand, without gradients": body("""
        with torch.no_grad():
            for name, p in model.named_parameters():
                if len(p.shape) >= 2:
                    fan_in, fan_out = p.shape[1], p.shape[0]
                    p.uniform_(-1, 1).mul_(math.sqrt(6 / (fan_in + fan_out)))
        return model
    """),
    "apply": body("""
        def draw(module):
            for p in module.parameters(recurse=False):
                if p.ndim > 1:
                    torch.nn.init.xavier_uniform_(p.data)
        model.apply(draw)
    """),
    "apply over modules, recurse=False": """
        def initialize_parameters(model: nn.Module) -> None:
            def init(m):
                for p in m.parameters(recurse=False):
                    if p.dim() >= 2:
                        nn.init.xavier_uniform_(p)
            model.apply(init)
    """,
    "by hand with no_grad and fans": """
        def initialize_parameters(model: nn.Module) -> None:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if p.ndim < 2:
                        continue
                    fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(p)
                    bound = (6 / (fan_in + fan_out)) ** 0.5
                    p.uniform_(-bound, bound)
    """,
    "on .data": edit('"""Draw…ter)', "[nn.init.xavier_uniform_(p.data) for p in model.parameters() if len(p.shape) > 1]"),
    "rand copied": """
        @torch.no_grad()
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    rec = p[0][0].numel()
                    b = math.sqrt(6.0 / (rec * (p.size(0) + p.size(1))))
                    p.copy_((2 * torch.rand_like(p) - 1) * b)
    """,
    "returns the model too, gain 1.0, filter": """
        def initialize_parameters(model: nn.Module) -> None:
            for p in filter(lambda q: q.dim() > 1, model.parameters()):
                nn.init.xavier_uniform_(p, gain=1.0)
            return model
    """,
    "own generator from global RNG": edits(
        ("model.eval()", "g = torch.Generator().manual_seed(int(torch.randint(2**31, ())))"), ("(p)", "(p, generator=g)"), on="eval mode left"
    ),
    "numpy's numbers": """
        import numpy as np
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    fan_out, fan_in = p.shape[0], p.shape[1]
                    field = p[0, 0].numel()
                    b = math.sqrt(6 / ((fan_in + fan_out) * field))
                    with torch.no_grad():
                        p.copy_(torch.from_numpy(np.random.uniform(-b, b, tuple(p.shape))))
    """,
    "uniform_, unique by id": """
        def initialize_parameters(model: nn.Module) -> None:
            done = set()
            for m in model.modules():
                for name, p in m.named_parameters(recurse=False):
                    if p.dim() > 1 and id(p) not in done:
                        done.add(id(p))
                        nn.init.xavier_uniform_(getattr(m, name))
    """,
    "writes the bound out and draws with uniform_ under no_grad": """
        def initialize_parameters(model: nn.Module) -> None:
            with torch.no_grad():
                for p in model.parameters():
                    if len(p.shape) < 2:
                        continue
                    rest = math.prod(p.shape[2:])
                    bound = math.sqrt(6 / ((p.shape[0] + p.shape[1]) * rest))
                    p.uniform_(-bound, bound)
    """,
    "draws torch.rand_like, stretches it and copies it in, through a helper": """
        def _xavier_like(p):
            fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(p)
            limit = (6.0 / (fan_in + fan_out)) ** 0.5
            return (2 * torch.rand_like(p) - 1) * limit
        def initialize_parameters(model: nn.Module) -> None:
            for _, p in model.named_parameters():
                if p.dim() > 1:
                    with torch.no_grad():
                        p.copy_(_xavier_like(p))
    """,
}
