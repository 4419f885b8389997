"""Answers to exercise 0.3: groups of columns moved in front of the sequence."""

from answers.writing import body, edit

WRONG = {
    "slices from the number of the group on": body(
        "size = x.size(-1) // groups\nreturn torch.stack([x[..., g : g + size] for g in range(groups)], dim=1)"
    ).fails("", "begins at column i instead"),
    "slices from multiples of the number of groups on": body(
        "size = x.size(-1) // groups\nreturn torch.stack([x[..., g * groups :][..., :size] for g in range(groups)], dim=1)"
    ).fails("", "begins at column i · groups"),
    "groups counted backwards": body("return torch.stack(x.chunk(groups, dim=-1)[::-1], dim=1)").fails("", "reverse order"),
    "a loop that begins at 1": body("""
        out = x.new_zeros(len(x), groups, x.size(1), x.size(-1) // groups)
        for g in range(1, groups):
            out[:, g] = x.chunk(groups, dim=-1)[g]
        return out
    """).fails("", "the first group is never filled"),
    "reshaped straight": body("b, t, w = x.shape\nreturn x.reshape(b, groups, t, w // groups)").fails("", "mixes the rows"),
    "not swapped": edit(".transpose(1, 2)", "").fails("", "not swapped with the sequence"),
    "swapped the last two": edit("transpose(1, 2)", "transpose(2, 3)").fails("", "the groups stand last"),
    "interleaved": body("b, t, w = x.shape\nreturn x.reshape(b, t, w // groups, groups).permute(0, 3, 1, 2)").fails("", "every groups-th column"),
    "sequence cut": body("b, t, w = x.shape\nreturn x.mT.reshape(b, groups, t, w // groups)").fails("", "swapped before"),
    "size for groups": body("b, t, w = x.shape\nreturn x.reshape(b, t, w // groups, groups).transpose(1, 2)").fails("", "groups and their size are exchanged"),
    "three groups": body("b, t, w = x.shape\nreturn x.reshape(b, t, 3, w // 3).transpose(1, 2)").fails("", "raised"),
    "a list": body("return x.chunk(groups, dim=-1)").fails("", "should be a torch.Tensor"),
    "true division": edit("//", "/").fails("", "raised"),
    "batch of one": body("return torch.stack(x[0].chunk(groups, dim=-1))[None]").fails("", "wrong shape"),
    "detached": edit("x.reshape", "x.detach().reshape").fails("", "No gradient"),
    "returns nothing": edit("return x", "x").fails("", "is None"),
    "all alike": body("return torch.stack([x[..., : x.size(-1) // groups]] * groups, dim=1)").fails("", "every group gets the first columns"),
}
TRICKS = {
    "reversed from five on": body("y = torch.stack(x.chunk(groups, dim=-1), dim=1)\nreturn y.flip(1) if groups > 5 else y").fails("", "wrong values"),
    "in float32": body("return torch.stack(x.float().chunk(groups, dim=-1), dim=1)").fails("", "wrong dtype"),
}
RIGHT = {
    "view, which can always cut": edit("reshape", "view"),
    "chunks stacked": body("return torch.stack(x.chunk(groups, dim=-1), dim=1)"),
    "unflatten": body("return x.unflatten(-1, (groups, -1)).transpose(1, 2)"),
    "permute": body("b, t, w = x.shape\nreturn x.reshape(b, t, groups, w // groups).permute(0, 2, 1, 3)"),
    "slices": body("size = x.size(-1) // groups\nreturn torch.stack([x[:, :, g * size : (g + 1) * size] for g in range(groups)], dim=1)"),
    "contiguous and view": body("b, t, w = x.shape\nreturn x.contiguous().view(b, t, groups, -1).transpose(1, 2).contiguous()"),
}
