"""Answers to exercise 0.1: dot products of all pairs of rows."""

from answers.writing import body, edit

WRONG = {
    "averages the products": body("return x @ y.mT / x.size(-1)").fails("", "averaged over d"),
    "swaps the first and the last dimension": edit("-2, -1", "0, -1").fails("", "the first and the last dimension of `y`"),
    "no transpose": body("return x @ y").fails("", "cannot be multiplied"),
    "exchanged": body("return y @ x.transpose(-2, -1)").fails("", "x and y are exchanged"),
    "reversed dimensions": body("return x @ y.permute(*range(y.dim())[::-1])").fails("", "all dimensions of `y` are reversed"),
    "the first two dimensions": body("return x @ (y.T if y.dim() == 2 else y.transpose(0, 1))").fails("", "first two dimensions of `y`"),
    "loops over the first two dimensions": body("return torch.stack([torch.stack([(a * b).sum() for b in y]) for a in x])").fails("", "taken for the rows"),
    "a loop that adds up the batch": body("""
        dots = torch.zeros(x.size(-2), y.size(-2))
        for i in range(x.size(-2)):
            for j in range(y.size(-2)):
                dots[i, j] = (x[..., i, :] * y[..., j, :]).sum()
        return dots
    """).fails("", "wrong shape"),
    "an einsum that adds up the batch": body('return torch.einsum("nd,md->nm" if x.dim() == 2 else "bnd,bmd->nm", x, y)').fails("", "raised"),
    "for matrices only": body("return x @ y.t()").fails("", "raised"),
    "only batches": body("return torch.bmm(x, y.transpose(1, 2))").fails("", "raised"),
    "entry by entry": body("return (x[..., :3, :] * y[..., :3, :]).sum(dim=-1)").fails("", "wrong shape"),
    "scaled": body("return x @ y.mT / x.size(-1) ** 0.5").fails("", "comes in lesson 1"),
    "cosines": body("return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).mT").fails("", "length 1 first"),
    "distances": body("return torch.cdist(x, y)").fails("", "distance of the rows"),
    "softmax": body("return (x @ y.mT).softmax(dim=-1)").fails("", "softmax of the products"),
    "float32": body("return x.float() @ y.float().mT").fails("", "wrong dtype"),
    "prints": body("print(x @ y.mT)").fails("", "`return`"),
    "detached": body("return x.detach() @ y.mT").fails("", "No gradient flows back to `x`"),
    "through numpy": body("return torch.tensor(x.detach().numpy() @ y.detach().mT.numpy())").fails("", "No gradient"),
    "a list of lists": body("return [[(a * b).sum() for b in y] for a in x]").fails("", "should be a torch.Tensor"),
    "brings x to length 1 in place": body("x /= x.norm(dim=-1, keepdim=True)\nreturn x @ y.mT").fails("", "changes `x`"),
    "not added up": edit("x @ y.transpose(-2, -1)", "x.unsqueeze(-2) * y.unsqueeze(-3)").fails("", "not added up over d"),
    "x with itself": edit("y.transpose", "x.transpose").fails("", "x is multiplied with itself"),
    "inner": edit("x @ y.transpose(-2, -1)", "torch.inner(x, y)").fails("", "torch.inner"),
}
TRICKS = {
    "a table of two dimensions only": body("return (x if x.dim() < 4 else x[0]) @ y.mT").fails("", "wrong values"),
    "short rows only": body("return x[..., :8] @ y[..., :8].mT").fails("", "wrong values"),
    "few rows only": body("return F.pad((x @ y.mT)[..., :5], (0, max(0, y.size(-2) - 5)))").fails("", "wrong values"),
    "whole numbers": edit("return x", "return x.round()").fails("", "wrong values"),
}
RIGHT = {
    "einsum": body('return torch.einsum("...nd,...md->...nm", x, y)'),
    "stretched and summed": body("return (x[..., :, None, :] * y[..., None, :, :]).sum(dim=-1)"),
    "matmul with mT": body("return torch.matmul(x, y.mT)"),
    "a linear layer without bias, for each": body(
        """
        if x.dim() == 2:
            return F.linear(x, y)
        return torch.stack([pairwise_dots(a, b) for a, b in zip(x, y)])
        """
    ),
    "columns stacked": body("return torch.stack([(x * row[..., None, :]).sum(-1) for row in y.unbind(-2)], dim=-1)"),
    "loops over rows, joined with stack": body("""
        rows = []
        for i in range(x.shape[-2]):
            entries = []
            for j in range(y.shape[-2]):
                entries.append((x[..., i, :] * y[..., j, :]).sum(dim=-1))
            rows.append(torch.stack(entries, dim=-1))
        return torch.stack(rows, dim=-2)
    """),
}
