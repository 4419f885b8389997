from answers.writing import BARE, body, edit, edits, whole

WRONG = {
    "the bug untouched": edit("ends.output.weight = ends.embedding.weight", "").fails("", "two parameters with the same numbers"),
    "calls the one with the bug": body("return load(saved, vocab_size, d_model)").fails("", "two parameters with the same numbers"),
    "copies the numbers": edit("ends.output…", "ends.output.weight.data.copy_(ends.embedding.weight)").fails("", "two parameters with the same numbers"),
    "shares the memory of two parameters": edit("ends.output.weight = ends.embedding.weight", "ends.output.weight.data = ends.embedding.weight.data").fails(
        "", "two parameters with the same numbers"
    ),
    "another parameter of the same numbers": edit("= ends.embedding.weight", "= nn.Parameter(ends.embedding.weight.detach())").fails(
        "", "two parameters with the same numbers"
    ),
    "shares before the loop": edits(("ends.output.weight = ends.embedding.weight", ""), ("for name,", "ends.output.weight = ends.embedding.weight\n…")).fails(
        "", "two parameters with the same numbers"
    ),
    "leaves the output layer on meta": edits(
        ("ends.output.weight = ends.embedding.weight", ""), ("layer, key =", 'if name == "output.weight":\n    continue\n…')
    ).fails("", "on the device meta"),
    "frozen": edit("tensor.clone()", "tensor.clone(), requires_grad=False").fails("", "are frozen"),
    "loads nothing": body("return shared_ends(vocab_size, d_model)").fails("", "wrong values"),
    "no bias is loaded": edits(("with torch.device…", "if True:"), ("layer, key =", 'if "bias" in name:\n    continue\n…')).fails("", "wrong values"),
    "nothing but meta": edit("ends …n ends", "return shared_ends(vocab_size, d_model)", on=BARE).fails("", "device"),
    "loads onto meta": edits(('"""Load…"""', 'import warnings\nwarnings.simplefilter("ignore")'), ("for …g.weight", "ends.load_state_dict(saved)")).fails(
        "", "device"
    ),
    "assigns the tensors by name": body("""
        with torch.device("meta"):
            ends = shared_ends(vocab_size, d_model)
        for name in saved:
            ends.get_submodule(name.split(".")[0]).load_state_dict(
                {n.split(".")[1]: t for n, t in saved.items() if n.split(".")[0] == name.split(".")[0]}, assign=True
            )
        return ends
    """).fails("", "two parameters with the same numbers"),
    "returns nothing": edit("return ends", "").fails(""),
    "no bias at all": edit("return ends", "ends.output.bias = None\n…").fails("", "no trainable parameter"),
    "takes the tensors out of what was saved": edit("saved.items()", "[(name, saved.pop(name)) for name in list(saved)]").fails("", "changes `saved`"),
}

TRICKS = {
    "one model for everybody": whole("""
        made = {}
        def mended_load(saved, vocab_size, d_model):
            if (vocab_size, d_model) not in made:
                made[vocab_size, d_model] = shared_ends(vocab_size, d_model)
            made[vocab_size, d_model].load_state_dict(saved)
            return made[vocab_size, d_model]
    """).fails("", "share their parameter"),
    "only for eleven words": edit("ends.output.weight = ends.embedding.weight", "if vocab_size in (9, 11):\n    …").fails("", "not one parameter"),
    "changes what was saved": edit("return ends", 'saved["embedding.weight"].zero_()\n…'),
}

RIGHT = {
    "never on meta": edit('with…g"].weight', "ends = shared_ends(vocab_size, d_model)", on="memory first, then shared, then copied"),
    "the other way round": edit("ends.output.weight = ends.embedding.weight", "ends.embedding.weight = ends.output.weight"),
    "the one with the bug, then shared": edit('"""Load…()))', "ends = load(saved, vocab_size, d_model)"),
    "memory first, then shared, then copied": body("""
        with torch.device("meta"):
            ends = shared_ends(vocab_size, d_model)
        ends = ends.to_empty(device="cpu")
        ends["output"].weight = ends["embedding"].weight
        ends.load_state_dict(saved)
        return ends
    """),
    "one parameter made by hand": body("""
        table = nn.Parameter(saved["embedding.weight"].clone())
        ends = nn.ModuleDict({"embedding": nn.Embedding(vocab_size, d_model), "output": nn.Linear(d_model, vocab_size)})
        ends["embedding"].weight = ends["output"].weight = table
        ends["output"].bias = nn.Parameter(saved["output.bias"].clone())
        return ends
    """),
    "the output's matrix is not put in": edit("layer, key =", 'if name == "output.weight":\n    continue\n…'),
    "in the memory of what was saved": edit("tensor.clone()", "tensor"),
    "load_state_dict with assign=True, as PyTorch does for meta, then shares": edit("for …()))", "ends.load_state_dict(saved, assign=True)", on=BARE),
    "load_state_dict with assign=True on clones, then shares": edit(
        "for …()))",
        "ends.load_state_dict({name: tensor.clone() for name, tensor in saved.items()}, assign=True)\n"
        "ends.embedding.weight = nn.Parameter(ends.embedding.weight.detach())",
        on=BARE,
    ),
}
