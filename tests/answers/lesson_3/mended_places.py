from answers.writing import BARE, body, edit, edits

WRONG = {
    "squeeze() takes a single column away as well": edit("transpose(0, 1)", "squeeze()").fails("", "wrong shape"),
    "the bug untouched": edit("table[: words.size(1)].transpose(0, 1)", "table[: words.size(0)]").fails("", "treats copies of one sentence differently"),
    "a row for each word, but along the batch": edit(".transpose(0, 1)", "").fails("", "raised RuntimeError"),
    "transposed, but cut by the batch": edit("words.size(1)", "words.size(0)").fails("", "raised RuntimeError"),
    "cut by the width": edit("words.size(1)", "words.size(2)").fails("", "raised RuntimeError"),
    "only the first row": edit("table[: words.size(1)].transpose(0, 1)", "table[0]").fails("", "position 0"),
    "the row of the length": edit("table[: words.size(1)].transpose(0, 1)", "table[words.size(1)]").fails("", "sequence's length"),
    "rows from 1": edit("table[: words.size(1)]", "table[1 : words.size(1) + 1]").fails("", "start at 1"),
    "the last rows": edit("table[: words.size(1)]", "table[-words.size(1) :]").fails("", "last rows"),
    "places left out": edit("words + places", "words").fails("", "not added"),
    "the scale lost in copying": edit(" * math.sqrt(d_model)", "").fails("", "not multiplied by √d_model"),
    "the places scaled, too": edit("words + places", "words + places * math.sqrt(d_model)").named("encoding is multiplied by √d_model"),
    "places alone": edit("words + places", "places.expand_as(words)").named("without the input"),
    "the row of the token's id": edit("table[: words.size(1)].transpose(0, 1)", "table[tokens % len(table), 0]").fails("", "wrong values"),
    "mended for the first sentence only": edit("return…", "out = words + table[: words.size(0)]\nout[0] = words[0] + places[0]\nreturn out").named(
        "differently"
    ),
    "the mean of both": edit("return…", "return words + (places + table[: words.size(0)]) / 2").named("differently"),
    "the table padded to the batch": edit("return…", "return (words.transpose(0, 1) + table[: words.size(1)])[: words.size(0)].transpose(0, 1)"),
    "the embedding changed in place": edit("words =…", "embedding *= math.sqrt(d_model)\nwords = embedding[tokens]").named("changes `embedding`"),
    "returns nothing": edit("return words", "words").named("return"),
    "the table detached": edit("words + places", "words + places.detach()").fails("", "No gradient flows back to `table`"),
    "the embedding detached": edit("embedding[tokens]", "embedding.detach()[tokens]").fails("", "No gradient flows back to `embedding`"),
    "row 0 never learns": edit("embedding[tokens]", "F.embedding(tokens, embedding, padding_idx=0)"),
    "the whole root": edit("math.sqrt", "math.isqrt").fails("", "rounded down"),
    "in float32 on the CPU": edit("words + places", "….float().cpu()").fails("", "device"),
}

TRICKS = {
    "mended unless there are as many sentences as words": edit(" + places", " + (table[: words.size(0)] if words.size(0) == words.size(1) else places)"),
    "one sentence assumed": edit("return…", "return words[:1] + places"),
    "half of the gradient lost": edit("return words + places", "out = words + places\nreturn (out + out.detach()) / 2").fails("", "the gradient of"),
    "twice the gradient": edit("return words + places", "out = words + places\nreturn 2 * out - out.detach()").fails("", "the gradient of"),
}

RIGHT = {
    "the middle dimension dropped": edit("table[: words.size(1)].transpose(0, 1)", "table[: words.size(1), 0]"),
    "squeezed": edit("table[: words.size(1)].transpose(0, 1)", "table.squeeze(1)[: tokens.size(1)]", on=BARE),
    "the table turned first": edit("table[: words.size(1)].transpose(0, 1)", "table.permute(1, 0, 2)[:, : words.size(1)]"),
    "the words turned, and back": edit("return…", "return (words.transpose(0, 1) + table[: words.size(1)]).transpose(0, 1)"),
    "by number": body("place = torch.arange(tokens.shape[1])\nreturn math.sqrt(embedding.shape[1]) * embedding[tokens] + table[place, 0]"),
    "a sentence at a time": body("""
        rows = []
        for sentence in tokens:
            words = embedding[sentence] * embedding.size(-1) ** 0.5
            rows.append(words + table[: len(sentence), 0])
        return torch.stack(rows)
    """),
    "a word at a time": body("""
        out = torch.empty(*tokens.shape, embedding.size(1))
        for b, sentence in enumerate(tokens.tolist()):
            for position, token in enumerate(sentence):
                out[b, position] = embedding[token] * math.sqrt(embedding.size(1)) + table[position][0]
        return out
    """),
    "F.embedding, in place on its own tensor": body("""
        words = F.embedding(tokens, embedding) * math.sqrt(embedding.size(1))
        words += table[: tokens.size(1)].view(1, tokens.size(1), -1)
        return words
    """),
    "the buggy function on turned tokens": edits(
        ("embedding[tokens]", "embedding[tokens.T]"),
        ("words.size(1)].transpose(0, 1)", "words.size(0)]"),
        ("words + places", "(words + places).mT.mT.transpose(0, 1)"),
    ),
    "places by index, the middle dimension squeezed": body("""
        seq_len = tokens.size(-1)
        places = table.squeeze(1).index_select(0, torch.arange(seq_len, device=table.device))
        return torch.add(places, embedding[tokens], alpha=math.sqrt(embedding.size(1)))
    """),
}
