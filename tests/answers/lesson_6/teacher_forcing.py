from answers.writing import BARE, body, edit

WRONG = {
    "input and labels exchanged": edit("tgt[:, :…", "tgt[:, 1:], tgt[:, :-1]").fails("", "tokens that are given, not those that follow"),
    "no shift": edit("tgt[:, 1:]", "tgt[:, :-1]").fails("", "tokens that are given, not those that follow"),
    "nothing cut off": edit("tgt[:, :…", "tgt, tgt").fails("", "BOS is not taken off"),
    "the input not cut off": edit("tgt[:, :…", "tgt, tgt[:, 1:]").fails("", "last token is not taken off"),
    "labels twice": edit("tgt[:, :…", "tgt[:, 1:], tgt[:, 1:]").fails("", "given the tokens that it has to predict"),
    "BOS predicted": edit("tgt[:, 1:]", "tgt").fails("", "BOS is not taken off"),
    "labels rolled round": edit("tgt[:, 1:]", "tgt.roll(-1, 1)").fails("", "comes round again"),
    "shifted by two": edit("tgt[:, 1:]", "tgt[:, 2:]").fails("", "shifted by two"),
    "BOS and end cut from the input": edit("tgt[:, :-1]", "tgt[:, 1:-1]").fails("", "BOS is missing"),
    "rows instead of columns": edit("tgt[:, :…", "tgt[:-1], tgt[1:]").fails("", "wrong shape", names="the first sentence is taken off,"),
    "one tensor": edit("tgt[:, :…", "torch.stack([…]).float()").fails("", "should return 2 tensors"),
    "EOS wiped out of the caller's target": edit("return tgt[:, :…", "tgt[tgt == 2] = 0\n…").fails("", "changes `tgt`"),
    "labels as floats": edit("tgt[:, 1:]", "….float()").fails("", "wrong dtype"),
    "the input as floats": edit("tgt[:, :-1], ", "tgt[:, :-1].float(), ").fails("", "wrong dtype"),
    "squeezed for a batch of one": edit("return tgt…", "return tgt[:, :-1].squeeze(0), tgt[:, 1:].squeeze(0)"),
    "squeezed for a length of one": edit("return tgt…", "return tgt[:, :-1].squeeze(1), tgt[:, 1:].squeeze(1)").fails("", "wrong shape"),
    "at least two columns": edit("return tgt…", "n = max(tgt.size(1) - 1, 2)\nreturn tgt[:, :n], tgt[:, -n:]").fails("", "wrong shape"),
    "cuts columns that are all padding": edit("return tgt…", "n = int((tgt != 0).sum(1).max())\nreturn tgt[:, :n-1], tgt[:, 1:n]"),
    "returns a list of rows": edit("return tgt…", "return [t[:-1] for t in tgt], [t[1:] for t in tgt]"),
    "int32": edit("return tgt…", "return tgt[:, :-1].int(), tgt[:, 1:].int()").named("dtype"),
    "EOS appended anew (2)": edit("return tgt…", "return tgt[:, :-1], torch.cat([tgt[:, 1:-1], torch.full_like(tgt[:, :1], 2)], 1)").named("EOS"),
    "on the CPU": edit("tgt[:, :…", "tgt[:, :-1].cpu(), tgt[:, 1:].cpu()").fails("", "is on the device cpu"),
}

TRICKS = {
    "drops ids 2 and 1 by a mask": edit("return tgt…", "return tgt[tgt != 2].view(len(tgt), -1), tgt[tgt != 1].view(len(tgt), -1)"),
    "always four columns": edit("return tgt…", "return tgt[:, :4], tgt[:, 1:5]"),
    "clamps ids to 12": edit("return tgt…", "return tgt[:, :-1].clamp(max=12), tgt[:, 1:].clamp(max=12)"),
}

RIGHT = {
    "narrow and slicing from the end": edit("return tgt…", "n = tgt.shape[1]\nreturn tgt.narrow(1, 0, n - 1), tgt[:, -(n - 1):]", on=BARE),
    "EOS is never an input": body("decoder_input = torch.where(tgt[:, 1:] == 0, 0, tgt[:, :-1])\nreturn decoder_input, tgt[:, 1:].clone()"),
    "a list of loops": body("rows = tgt.tolist()\nreturn torch.tensor([row[:-1] for row in rows]), torch.tensor([row[1:] for row in rows])"),
    "a new column of BOS": edit("return tgt…", "labels = tgt[:, 1:]\nreturn F.pad(labels[:, :-1], (1, 0), value=1), labels", on=BARE),
    "labels are what is not BOS": body("""
        assert (tgt[:, 0] == 1).all()
        bos = torch.ones_like(tgt[:, :1])
        return torch.cat([bos, tgt[:, 1:-1]], dim=1), tgt[tgt != 1].reshape(len(tgt), -1)
    """),
    "narrow, clones, list": body("n = tgt.size(1) - 1\nreturn [tgt.narrow(1, 0, n).clone(), tgt.narrow(1, 1, n).contiguous()]"),
    "namedtuple": """
        from typing import NamedTuple
        class Forced(NamedTuple):
            decoder_input: torch.Tensor
            labels: torch.Tensor
        def teacher_forcing(tgt):
            return Forced(labels=tgt[..., 1:], decoder_input=tgt[..., :-1])
    """,
    "roll, then cut": body("return tgt[:, :-1], torch.roll(tgt, shifts=-1, dims=1)[:, :-1]"),
    "unbind and stack": edit("return tgt…", "cols = tgt.unbind(1)\nreturn torch.stack(cols[:-1], 1), torch.stack(cols[1:], 1)", on=BARE),
    "index_select / arange": body("i = torch.arange(tgt.shape[1] - 1, device=tgt.device)\nreturn tgt.index_select(1, i), tgt[:, i + 1]"),
    "unfold": edit("return tgt…", "pairs = tgt.unfold(1, 2, 1)\nreturn pairs[..., 0], pairs[..., 1]", on=BARE),
    "EOS in the input replaced by what the label is (padding)": body("return tgt[:, :-1] * 1, tgt[:, 1:] + 0"),
    "a Python loop over pairs of columns": """
        def teacher_forcing(tgt: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            columns = list(tgt.unbind(dim=1))
            given, asked = ([], [])
            for now, after in zip(columns, columns[1:]):
                given.append(now)
                asked.append(after)
            return (torch.stack(given, dim=1), torch.stack(asked, dim=1))
    """,
}
