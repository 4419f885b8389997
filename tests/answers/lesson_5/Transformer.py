from answers.writing import BARE, body, edit, edits

BASES = {
    "parts in another order": """
        class Transformer(nn.Module):
            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                super().__init__()
                self.pad_id = pad_id
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                if share_embeddings:
                    if src_vocab_size != tgt_vocab_size:
                        raise ValueError("share_embeddings needs one vocabulary")
                    self.src_embedding.embedding.weight = self.output_projection.weight
                    self.tgt_embedding.embedding.weight = self.output_projection.weight
            def encode(self, src):
                return self.encoder(self.positional_encoding(self.src_embedding(src)), src_mask=self.pads(src))
            def embed(self, tokens):
                return self.positional_encoding(self.tgt_embedding(tokens))
            def pads(self, tokens):
                return padding_mask(tokens, self.pad_id)
            def decode(self, tgt, memory, src):
                x = self.positional_encoding(self.tgt_embedding(tgt))
                x = self.decoder(x, memory, tgt_mask=decoder_mask(tgt, self.pad_id), src_mask=self.pads(src))
                return self.output_projection(x)
            def forward(self, src, tgt):
                memory = self.encode(src)
                return self.decode(tgt, memory, src)
    """
}

WRONG = {
    "the source scaled once more": edit("self.src_embedding(src)", "… * math.sqrt(self.src_embedding.embedding.embedding_dim)").fails(
        "values", "the source is multiplied by √d_model once more"
    ),
    "the most probable words": edit("return self.output_projection(…", "….argmax(dim=-1)").fails("sharing", "wrong shape"),
    "an encoder for a decoder": edit("Decoder(num_layers", "Encoder(num_layers").fails("values", "PyTorch's `TransformerEncoder` does not take"),
    "sigmoid on the logits": edit("return self.output_projection(…", "….sigmoid()").fails("values", "a sigmoid is applied"),
    "softmax over the positions": edit("return self.output_projection(…", "….softmax(1)").fails("values", "goes over the positions"),
    "output divided by √d_model": edit("self.decoder(x, memory, src_mask, tgt_mask)", "… / math.sqrt(memory.size(-1))").fails("values", "divided by √d_model"),
    "pad id missing in encode": edit("self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x, padding_mask(src))").fails("masks", "in `encode`"),
    "pad id missing in decode": edit("padding_mask(src, self.pad_id), decoder_mask", "padding_mask(src), decoder_mask").fails("masks", "in `decode`"),
    "two positional encodings": edit("self.positional_encoding =…", "self.positional_encoding = nn.Embedding(max_len, d_model)").fails("parts"),
    "no bias in the output layer": edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, tgt_vocab_size, bias=False)").fails(
        "parts", "no trainable parameter `bias`"
    ),
    "projects to the source's vocabulary": edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, src_vocab_size)").fails("parts", "wrong shape"),
    "one embedding for both": edit("self.tgt_embedding =…", "self.tgt_embedding = self.src_embedding").fails("parts", "same module as `src_embedding`"),
    "always two layers": edits(("Encoder(num_layers,", "Encoder(2,"), ("Decoder(num_layers,", "Decoder(2,")).fails("parts"),
    "num_heads and num_layers exchanged": edit("Encoder(num_layers, d_model, num_heads,", "Encoder(num_heads, d_model, num_layers,").fails("parts"),
    "dropout fixed": edit("PositionalEncoding(…", "PositionalEncoding(d_model, max_len)").fails("parts", "drop out at"),
    "max_len ignored": edit("max_len, dropout", "dropout=dropout").fails("parts", "should raise ValueError"),
    "no positions": edits(
        ("self.positional_encoding(self.src_embedding(src))", "self.src_embedding(src)"), ("self.positional_encoding(…", "self.tgt_embedding(tgt)")
    ).fails("values", "no positions are added, neither"),
    "no positions in the source": edit("self.positional_encoding(…src))", "self.src_embedding(src)").fails("values", "no positions are added to the source"),
    "no positions in the target": edit("self.positional_encoding(self.tgt_embedding(tgt))", "self.tgt_embedding(tgt)").fails(
        "values", "no positions are added to the target"
    ),
    "scaled twice": edits(
        ("self.src_embedding(src)", "math.sqrt(self.d_model) * …"),
        ("self.tgt_embedding(tgt)", "math.sqrt(self.d_model) * …"),
        ("self.pad_id = pad_id", "self.pad_id, self.d_model = pad_id, d_model"),
    ).fails("values", "once more"),
    "softmax on the logits": edit("self.output_projection(…", "….softmax(-1)").fails("values", "a softmax is applied"),
    "target in the source's embedding": edit("self.tgt_embedding(tgt)", "self.src_embedding(tgt)").fails("values", "embedded with `src_embedding`"),
    "no encoder": edit("return self.encoder…", "return x").fails("values", "encoder is left out"),
    "no output layer": edit("self.output_projection(…", "self.decoder(x, memory, src_mask, tgt_mask)").fails("values", "wrong shape"),
    "encodes again in decode": edit("src_mask, tgt_mask =…", "memory = self.encode(src)\n…").fails("values", "stays the same when the memory changes"),
    "returns the last position only": edit("self.output_projection(…", "…[:, -1]").fails("values", "wrong shape"),
    "returns a pair": edit("return self.decode…", "memory = self.encode(src)\nreturn self.decode(tgt, memory, src), memory").fails(
        "values", "should be a torch.Tensor"
    ),
    "runs without gradients": edit("return self.decode…", "with torch.no_grad():\n    …").fails("values", "No gradient"),
    "detached memory": edit("(src),", "(src).detach(),").fails("values", "No gradient"),
    "logits that are no numbers": edit("return self.decode(tgt…", "… * torch.nan").fails("masks", "contains NaN"),
    "a causal mask that hides nothing": edit(
        "decoder_mask(…", "padding_mask(tgt, self.pad_id) | torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool, device=tgt.device).tril()"
    ).fails("masks", "or one that hides nothing"),
    "no causal mask": edit("decoder_mask(…", "padding_mask(tgt, self.pad_id)").fails("masks", "no causal mask"),
    "no mask in the encoder": edit("self.encoder(…", "self.encoder(x)").fails("masks", "encoder gets no mask"),
    "no mask in the cross-attention": edit(", src_mask", ", None").fails("masks", "cross-attention gets no mask"),
    "no mask of the source anywhere": edits((", padding_mask…)", ""), (", src_mask", ", None")).fails("masks", "neither the encoder nor the cross-attention"),
    "the mask of the cross-attention from the target": edit(
        "src_mask, tgt_mask = padding_mask(src, self.pad_id)", "src_mask, tgt_mask = padding_mask(tgt, self.pad_id)"
    ).fails("masks", "ValueError"),
    "a causal mask in the encoder": edit(", padding_mask", ", decoder_mask").fails("values"),
    "pad id 0 hard-coded": edit("self.pad_id = pad_id", "self.pad_id = 0").fails("masks", "`pad_id` does not reach `padding_mask`, which"),
    "padding of the target not hidden": edit("decoder_mask(…", "decoder_mask(tgt, -1)").fails("masks", "`tgt_embedding` embeds pad_id="),
    "equal copies instead of sharing": edits(
        ("self.tgt_embedding.…", "self.tgt_embedding.embedding.weight.data.copy_(self.src_embedding.embedding.weight)"),
        ("self.output_projection.…", "self.output_projection.weight.data.copy_(self.src_embedding.embedding.weight)"),
    ).fails("sharing", "another parameter with the same numbers"),
    "the output layer left out of the sharing": edit("self.output_projection.…", "").fails("sharing", "`output_projection.weight` is not the parameter"),
    "the target left out of the sharing": edit("self.tgt_embedding.…", "").fails("sharing", "`tgt_embedding.embedding.weight` is not the parameter"),
    "always shared when it fits": edit("if share_embeddings:", "if src_vocab_size == tgt_vocab_size:").fails("sharing", "are one parameter"),
    "no error for different vocabularies": edit("if share_embeddings and…", "if False:").fails("sharing", "should raise ValueError"),
    "heads fixed": edit("Encoder(num_layers, d_model, num_heads,", "Encoder(num_layers, d_model, 4,").fails("parts", "With num_heads=3"),
    "max_len less one": edit("max_len,", "max_len - 1,").fails("parts", "raised ValueError"),
    "target positions by hand, without limit or dropout": edit(
        "self.positional_encoding(self.tgt_embedding(tgt))", "self.tgt_embedding(tgt) + self.positional_encoding.encoding[:tgt.size(1)]"
    ).fails("parts"),
    "masks inverted in the encoder": edit(", padding_mask", ", ~padding_mask").fails("values", "NaN"),
    "the first source's mask for all": edit("src, self.", "src[:1], self.").fails("masks", "source mask of the first"),
    "output always tied to the target": edit("if share_embeddings:", "self.output_projection.weight = self.tgt_embedding.embedding.weight\n…").fails(
        "parts", "same parameter as `tgt_embedding"
    ),
    "causal mask on the CPU": edit("decoder_mask(…", "padding_mask(tgt, self.pad_id) & torch.ones(tgt.size(1), tgt.size(1)).tril().bool()").fails(
        "values", "made on the CPU"
    ),
    "plain embeddings": edit("TokenEmbedding(src_vocab_size…", "nn.Embedding(src_vocab_size, d_model)").fails("values", "has no `embedding`"),
    "second dropout on source embedding, of the given rate": edits(
        ("= pad_id", "…\nself.p = dropout"), ("self.positional_encoding(self.src_embedding(src))", "F.dropout(…, self.p, self.training)")
    ).named("dropout"),
    "dropout module on the logits": edits(
        ("self.pad_id = pad_id", "…\nself.drop = nn.Dropout(dropout)"),
        ("return self.output_projection…", "return self.drop(self.output_projection(self.decoder(x, memory, src_mask, tgt_mask)))"),
    ).named("dropout"),
    "dropout on memory": edits(("= pad_id", "…\nself.drop = nn.Dropout(dropout)"), ("x, memory", "x, self.drop(memory)")).named("dropout"),
    "causal table of 32 positions": edit(
        "src_mask, tgt_mask =…",
        "src_mask = padding_mask(src, self.pad_id)\n"
        "tgt_mask = padding_mask(tgt, self.pad_id) & torch.tril(torch.ones(32, 32, dtype=torch.bool, device=tgt.device))[:tgt.size(1), :tgt.size(1)]",
    ),
    "two positional encodings, the target's without max_len": edits(
        ("self.encoder =", "self.tgt_positions = PositionalEncoding(d_model, 5000, dropout)\n…"),
        ("positional_encoding(self.tgt_embedding(tgt))", "tgt_positions(self.tgt_embedding(tgt))"),
    ).named("max_len"),
    "refuses different vocabularies even without sharing": edit("if share_embeddings and src", "if src"),
    "shared matrix frozen": edit("output_projection.…", "…\nself.src_embedding.embedding.weight.requires_grad_(False)").named("frozen|requires_grad|gradient"),
    "defaults: 4 heads": edit("num_heads=8", "num_heads=4").named("default|drops out at|another default"),
    "defaults: d_ff 1024": edit("d_ff=2048", "d_ff=1024").named("default|drops out at|another default"),
    "d_ff taken as 4*d_model for decoder": edit("Decoder(…", "Decoder(num_layers, d_model, num_heads, 4*d_model, dropout)"),
    "target vocab ignored in tgt embedding": edit("(tgt_vocab_size", "(max(src_vocab_size, tgt_vocab_size)"),
    "padding rows of memory zeroed, no cross mask": edit(
        "src_mask, tgt_mask =…", "memory = memory * (src != self.pad_id).unsqueeze(-1)\nsrc_mask, tgt_mask = None, decoder_mask(tgt, self.pad_id)"
    ).named("pad"),
    "memory modified in place": edit("return self.output_projection…", "memory *= (src != self.pad_id).unsqueeze(-1)\n…").named("memory"),
    "logits of pad set to -inf": edit("return logits…", "logits[..., self.pad_id] = float('-inf')\nreturn logits", on="softmax while training"),
    "float32 memory": edit("self.decoder(x, memory,", "self.decoder(x, memory.float(),").named("dtype|float64"),
    "num_layers for num_heads in the encoder": edit("Encoder(…num_heads,", "Encoder(num_layers, d_model, num_layers,").fails("parts", "With num_heads=3"),
    "num_layers for num_heads in the decoder": edit("Decoder(…num_heads,", "Decoder(num_layers, d_model, num_layers,").fails("parts", "With num_heads=3"),
    "no scale": edits(("self.src_embedding(src)", "self.src_embedding.embedding(src)"), ("self.tgt_embedding(tgt)", "self.tgt_embedding.embedding(tgt)")).fails(
        "values", "the embeddings are not multiplied by √d_model"
    ),
    "no scale in the target": edit("self.tgt_embedding(tgt)", "self.tgt_embedding.embedding(tgt)").fails("values", "the target is not multiplied by √d_model"),
    "embedding scaled again": edit("(tgt)", "… * self.tgt_embedding.embedding.weight.size(1)**0.5").named("√d_model once more"),
    "decoder always has two layers": edit("Decoder(num_layers,", "Decoder(2,"),
    "no bias when shared": edit("= nn.Linear(d_model, tgt_vocab_size)", "= nn.Linear(d_model, tgt_vocab_size, bias=not share_embeddings)").named("bias"),
    "share: module list extra parameters (an unused table)": edit(
        "for p…ads}", "self.unused = nn.Embedding(max_len, d_model)", on="xavier in the constructor, sizes as attributes"
    ).named("parameter"),
    "the target's mask of the first sentence for all": edit("decoder_mask(tgt, self.pad_id)", "…[:1]").fails("masks", "target mask of the first"),
    "the source's mask of the first sentence for all, in the decoder": edit(
        "padding_mask(src, self.pad_id), decoder_mask", "padding_mask(src, self.pad_id)[:1], decoder_mask"
    ).fails("masks", "belongs to another sentence"),
}

TRICKS = {
    "at least two layers": edits(("Encoder(num_layers,", "Encoder(max(num_layers, 2),"), ("Decoder(num_layers,", "Decoder(max(num_layers, 2),")).fails(
        "parts", "wrong number of layers"
    ),
    "causal mask in training only": edit("src_mask, tgt_mask =…", "…\nif not self.training:\n    tgt_mask = padding_mask(tgt, self.pad_id)").fails(
        "masks", "no causal mask"
    ),
    "causal mask in evaluation only": edit("src_mask, tgt_mask =…", "…\nif self.training:\n    tgt_mask = padding_mask(tgt, self.pad_id)").fails(
        "masks", "The future leaks"
    ),
    "the mask of the last source encoded": edits(
        ("return self.encoder…", "self.src_mask = padding_mask(src, self.pad_id)\nreturn self.encoder(x, self.src_mask)"),
        ("src_mask, tgt_mask =…", "src_mask, tgt_mask = self.src_mask, decoder_mask(tgt, self.pad_id)"),
    ).fails("masks"),
    "shared output scaled": edit("tgt_mask))", "… * (0.5 if self.output_projection.weight is self.src_embedding.embedding.weight else 1)").fails(
        "sharing", "wrong values"
    ),
    "output layer tied to the target embedding when vocabularies are equal, unasked": edits(
        ("self.register_buffer…", "elif src_vocab_size == tgt_vocab_size:\n    self.output_projection.weight = self.tgt_embedding.embedding.weight"),
        ("src_mask =…, :n]", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)"),
        on="a non-persistent causal buffer of max_len",
    ).named("share"),
    "scaled logits when shared": edit("return F…", "out = out * out.size(-1)**-0.5", on="shared: no bias used").named("scale|shared|share"),
    "shared: no bias used": edit(
        "return self.output_projection…",
        "out = self.decoder(x, memory, src_mask, tgt_mask)\n"
        "if self.output_projection.weight is self.tgt_embedding.embedding.weight:\n"
        "    return F.linear(out, self.tgt_embedding.embedding.weight)\n"
        "return self.output_projection(out)",
    ).named("bias"),
    "output weight detached": edit(
        "return self.output_projection…",
        "return F.linear(self.decoder(x, memory, src_mask, tgt_mask), self.output_projection.weight.detach(), self.output_projection.bias)",
    ).named("gradient"),
    "output bias detached": edit(
        "return self.output_projection…",
        "return F.linear(self.decoder(x, memory, src_mask, tgt_mask), self.output_projection.weight, self.output_projection.bias.detach())",
    ).named("gradient"),
    "softmax while training": edit(
        "return self.output_projection…",
        "logits = self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))\nreturn logits.softmax(-1) if self.training else logits",
    ).named("softmax|probab|log_softmax"),
    "forward without gradient to source when training": edit(
        "return self.decode…", "memory = self.encode(src)\nreturn self.decode(tgt, memory.detach() if self.training else memory, src)"
    ).named("gradient"),
    "encode and decode switch to eval": edit("x = self.positional_encoding(self.src_embedding(src))", "self.eval()\n…").named("mode"),
    "initialises xavier in the constructor with seed": edit("super(…", "…\ntorch.manual_seed(0)").named("seed"),
    "shared when vocabularies differ: cuts silently, raises only if tgt larger": edit("!= tgt_vocab_size", "< tgt_vocab_size"),
    "last logits only in eval": edit("return logits…", "return logits if self.training else logits[:, -1:]", on="softmax while training"),
    "decoder at most two layers": edit("Decoder(num_layers,", "Decoder(min(num_layers, 2),"),
    "in eval mode encode keeps its first result per shape": edit(
        "x = self.positional_encoding(self.src_embedding(src))\nreturn self.encoder(x, padding_mask(src, self.pad_id))",
        "key = tuple(src.shape)\n"
        "self._seen = getattr(self, '_seen', {})\n"
        "if self.training or key not in self._seen:\n"
        "    x = self.positional_encoding(self.src_embedding(src))\n"
        "    self._seen[key] = self.encoder(x, padding_mask(src, self.pad_id))\n"
        "return self._seen[key]",
    ),
    "target mask computed once per length": edit(
        "src_mask, tgt_mask =…",
        "self._t = getattr(self, '_t', {})\n"
        "n = tgt.size(1)\n"
        "if n not in self._t:\n"
        "    self._t[n] = decoder_mask(tgt, self.pad_id)\n"
        "src_mask, tgt_mask = padding_mask(src, self.pad_id), self._t[n]",
    ).named("mask"),
    "source mask needs pads in row 0": edit(
        "src_mask, tgt_mask =…",
        "src_mask = padding_mask(src, self.pad_id) if (src[0] == self.pad_id).any() else None\ntgt_mask = decoder_mask(tgt, self.pad_id)",
    ).named("pad"),
    "source mask in encoder only if it has pads in row 0": edit(
        "self.encoder(…", "self.encoder(x, padding_mask(src, self.pad_id) if (src[0] == self.pad_id).any() else None)"
    ).named("pad"),
    "d_model scaled twice at the shared source only": edit(
        "src))", "src) * (1 if self.tgt_embedding.embedding.weight is not self.src_embedding.embedding.weight else 2))"
    ),
    "no gradients in eval mode": edit("return self.decode…", "with torch.set_grad_enabled(self.training):\n    …").named("gradient"),
    "memory sampled: decode clamps to source length": edit(
        "return self.decode…", "n = int((src != self.pad_id).sum(1).max())\nreturn self.decode(tgt, self.encode(src[:, :n]), src)"
    ),
}

RIGHT = {
    "an encoding for each side": edits(
        ("self.encoder =…", "self.second = PositionalEncoding(d_model, max_len, dropout)\n…"),
        ("self.positional_encoding(self.tgt_embedding(tgt))", "self.second(self.tgt_embedding(tgt))"),
    ),
    "other order of parts, tied from the output": edit("def embed…tokens))", "", on="parts in another order"),
    "the parts stand in a container as well": edits(
        ("= pad_id", "…\nself.stacks = nn.ModuleDict()"),
        ("if share_embeddings", 'self.stacks.update({"one": self.encoder, "two": self.decoder})\n…'),
        ("def embed…tokens))", ""),
        on="parts in another order",
    ),
    "log-probabilities for logits": edits(("def embed…tokens))", ""), ("(x)", "(x).log_softmax(-1)"), on="parts in another order"),
    "masks by hand": edits(("def embed…tokens))", ""), ("return padding_mask…", "return (tokens != self.pad_id)[:, None, None]"), on="parts in another order"),
    "masks by hand, padded queries blocked from nothing": edit(
        "x = self.decoder…",
        "x = self.decoder(\n"
        "    x,\n"
        "    memory,\n"
        "    tgt_mask=self.pads(tgt) & torch.ones(tgt.size(1), tgt.size(1), device=tgt.device).tril().bool(),\n"
        "    src_mask=self.pads(src),\n"
        ")",
        on="other order of parts, tied from the output",
    ),
    "an embedding helper": edit("x = self.positional_encoding…", "x = self.embed(tgt)", on="parts in another order"),
    "target embedding IS the source embedding module when shared": edits(
        ('if share_embeddings and…share.")', 'if share_embeddings:\n    if src_vocab_size != tgt_vocab_size:\n        raise ValueError("sizes differ")'),
        ("self.tgt_embedding =…", "self.tgt_embedding = (\n    self.src_embedding if share_embeddings else TokenEmbedding(tgt_vocab_size, d_model)\n)"),
        ("self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight", ""),
        (
            "x = self.positional_encoding(self.src_embedding…pad_id))",
            "return self.encoder(\n    self.positional_encoding(self.src_embedding(src)), padding_mask(src, self.pad_id)\n)",
        ),
        (
            "x = self.positional_encoding(self.tgt_embedding…tgt_mask))",
            "h = self.decoder(\n"
            "    self.positional_encoding(self.tgt_embedding(tgt)),\n"
            "    memory,\n"
            "    tgt_mask=decoder_mask(tgt, pad_id=self.pad_id),\n"
            "    src_mask=padding_mask(src, pad_id=self.pad_id),\n"
            ")\n"
            "return self.output_projection(h)",
        ),
        ("return self.decode…", "memory = self.encode(src)\nreturn self.decode(tgt, memory, src)"),
        on=BARE,
    ),
    "log-probabilities? no: F.linear, hand-made masks, properties, shared through register_parameter": """
        class Transformer(nn.Module):
            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                super().__init__()
                self.pad_id = pad_id
                if share_embeddings and not src_vocab_size == tgt_vocab_size:
                    raise ValueError
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                self.share_embeddings = share_embeddings
                if share_embeddings:
                    table = nn.Parameter(torch.empty(src_vocab_size, d_model))
                    nn.init.xavier_uniform_(table)
                    for layer in (
                        self.src_embedding.embedding,
                        self.tgt_embedding.embedding,
                        self.output_projection,
                    ):
                        layer.weight = table
            @property
            def d_model(self):
                return self.output_projection.in_features
            def _src_mask(self, src):
                return (src != self.pad_id)[:, None, None, :]
            def _tgt_mask(self, tgt):
                n = tgt.size(-1)
                past = torch.ones(n, n, dtype=torch.bool, device=tgt.device).tril()
                return (tgt != self.pad_id)[:, None, None, :] & past
            def encode(self, src):
                return self.encoder(self.positional_encoding(self.src_embedding(src)), self._src_mask(src))
            def decode(self, tgt, memory, src):
                x = self.decoder(
                    self.positional_encoding(self.tgt_embedding(tgt)),
                    memory,
                    self._src_mask(src),
                    self._tgt_mask(tgt),
                )
                return F.linear(x, self.output_projection.weight, self.output_projection.bias)
            def forward(self, src, tgt):
                return self.decode(memory=self.encode(src=src), tgt=tgt, src=src)
    """,
    "an assertion refuses different vocabularies": edit('if share_embeddings and…share.")', "assert not share_embeddings or src_vocab_size == tgt_vocab_size"),
    "log_softmax out (same predictions)": edit("tgt_mask))", "….log_softmax(-1)"),
    "helper _embed, einsum projection": edits(
        (
            "x = self.positional_encoding(self.src_embedding(src))\nreturn self.encoder(x, padding_mask(src, self.pad_id))",
            "return self.encoder(self._embed(src, self.src_embedding), padding_mask(src, self.pad_id))",
        ),
        ("def forward", "def _embed(self, tokens, table):\n    return self.positional_encoding(table(tokens))\n\n…"),
        (
            "return self.output_projection…",
            "h = self.decoder(x, memory, src_mask, tgt_mask)\nreturn torch.einsum('btd,vd->btv', h, self.output_projection.weight) + self.output_projection.bias",
        ),
    ),
    "checks vocabularies after building; ValueError subclass": edits(
        ('if share_embeddings and…share.")', ""),
        ("if share_embeddings:", "class VocabularyError(ValueError): pass\n…"),
        ("self.tgt_embedding.", "if src_vocab_size != tgt_vocab_size: raise VocabularyError('no')\n…"),
    ),
    "tie the other way round": edit(
        "self.tgt_embedding.…output_projection.weight = self.src_embedding.embedding.weight",
        "self.src_embedding.embedding.weight = self.tgt_embedding.embedding.weight = self.output_projection.weight",
    ),
    "xavier in the constructor, sizes as attributes": edits(
        (
            "self.register_buffer…",
            "for p in self.parameters():\n"
            "    if p.dim() > 1:\n"
            "        nn.init.xavier_uniform_(p)\n"
            "self.d_model, self.max_len, self.dropout, self.config = d_model, max_len, dropout, {'heads': num_heads}",
        ),
        ("src_mask =…, :n]", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)"),
        on="a non-persistent causal buffer of max_len",
    ),
    "last mask kept as a harmless attribute; vectors of padding not special": edit("tgt, self.pad_id)", "…\nself.last_masks = src_mask, tgt_mask"),
    "a non-persistent causal buffer of max_len": edits(
        ("### END SOLUTION\n\ndef encode", "self.register_buffer('past', torch.ones(max_len, max_len).tril().bool(), persistent=False)\n…"),
        ("src_mask, tgt_mask =…", "src_mask = padding_mask(src, self.pad_id)\nn = tgt.size(1)\ntgt_mask = padding_mask(tgt, self.pad_id) & self.past[:n, :n]"),
    ),
    "masks of pad queries too (rows of padding not masked, ones see all)": edit(
        "src_mask, tgt_mask =…", "src_mask = padding_mask(src, self.pad_id).expand(-1, 1, src.size(1), -1)[:, :, :1]\ntgt_mask = decoder_mask(tgt, self.pad_id)"
    ),
    "inherits from a mixin with encode": edits(
        (
            "class…",
            "class _Enc:\n"
            "    def encode(self, src):\n"
            "        return self.encoder(\n"
            "            self.positional_encoding(self.src_embedding(src)), padding_mask(src, self.pad_id)\n"
            "        )\n"
            "class Transformer(_Enc, nn.Module):",
        ),
        ("raise…", 'raise ValueError("x")'),
        (
            "self.tgt_embedding.…id))",
            'w = self.src_embedding.embedding.weight\nsetattr(self.tgt_embedding.embedding, "weight", w)\nsetattr(self.output_projection, "weight", w)',
        ),
        (
            "src_mask, tgt_mask …sk))",
            "x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))\nreturn self.output_projection(x)",
        ),
        on=BARE,
    ),
    "logits shifted by a constant": edit("return logits…", "return logits - logits.max(-1, keepdim=True).values.detach()", on="softmax while training"),
    "pad id also as a buffer": edits(
        ("= pad_id", '…\nself.register_buffer("pad", torch.tensor(pad_id), persistent=False)'),
        ("src_mask, tgt_mask =…", "src_mask = src.ne(self.pad)[:, None, None]\ntgt_mask = decoder_mask(tgt, self.pad_id)"),
    ),
    "typed, keywords, memory tuple": edit(
        "return self.decode…", "memory: torch.Tensor = self.encode(src=src)\nlogits: torch.Tensor = self.decode(tgt=tgt, memory=memory, src=src)\nreturn logits"
    ),
    "a Sequential holds embedding and positions out of the module tree": edits(
        ("x = self.positional_encoding(self.src_embedding…", "front = nn.Sequential(self.src_embedding, self.positional_encoding)"),
        ("x, padding_mask(src, self", "front(src), src_mask=padding_mask(src, pad_id=self"),
    ),
    "both masks are written out with comparisons and arange": edits(
        (
            "self,\nsrc_vocab_size,\ntgt_vocab_size,\nd_model=512,\nnum_heads=8,\nnum_layers=6,\nd_ff=2048,\ndropout=0.1,\nmax_len=5000,\npad_id=0,\nshare_embeddings=False,",
            "self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False",
        ),
        ("raise…", 'raise ValueError("shared embeddings need vocabularies of the same size")'),
        (
            "x = self.positional_encoding(self.src_embedding…id))",
            "real = (src != self.pad_id)[:, None, None, :]\nreturn self.encoder(self.positional_encoding(self.src_embedding(src)), real)",
        ),
        (
            "x = …sk))",
            "place = torch.arange(tgt.size(1), device=tgt.device)\n"
            "past = place[None, :] <= place[:, None]\n"
            "tgt_mask = past & (tgt != self.pad_id)[:, None, None, :]\n"
            "src_mask = (src != self.pad_id).unsqueeze(1).unsqueeze(2)\n"
            "y = self.positional_encoding(self.tgt_embedding(tgt))\n"
            "y = self.decoder(y, memory, src_mask=src_mask, tgt_mask=tgt_mask)\n"
            "return F.linear(y, self.output_projection.weight, self.output_projection.bias)",
        ),
        on=BARE,
    ),
    "shares by register_parameter": edits(
        (
            "self,\nsrc_vocab_size,\ntgt_vocab_size,\nd_model=512,\nnum_heads=8,\nnum_layers=6,\nd_ff=2048,\ndropout=0.1,\nmax_len=5000,\npad_id=0,\nshare_embeddings=False,",
            "self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048, dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False",
        ),
        ("raise…", 'raise ValueError("shared embeddings need vocabularies of the same size")'),
        (
            "self.tgt_embedding.…n.weight = self.src_embedding.embedding.weight",
            "table = self.src_embedding.embedding.weight\n"
            'self.tgt_embedding.embedding.register_parameter("weight", table)\n'
            'self.output_projection.register_parameter("weight", table)',
        ),
        (
            "src_mask, tgt_mask …sk))",
            "x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))\nreturn self.output_projection(x)",
        ),
        on=BARE,
    ),
    "type hints, sizes in a dict, an extra optional argument that may switch off the bias": body("""
        def __init__(
            self,
            src_vocab_size: int,
            tgt_vocab_size: int,
            d_model: int = 512,
            num_heads: int = 8,
            num_layers: int = 6,
            d_ff: int = 2048,
            dropout: float = 0.1,
            max_len: int = 5000,
            pad_id: int = 0,
            share_embeddings: bool = False,
            output_bias: bool = True,
        ) -> None:
            super().__init__()
            self.pad_id = pad_id
            if share_embeddings and tgt_vocab_size != src_vocab_size:
                raise ValueError
            stack = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
            self.encoder = Encoder(num_layers, **stack)
            self.decoder = Decoder(num_layers, **stack)
            self.src_embedding, self.tgt_embedding = (TokenEmbedding(size, d_model) for size in (src_vocab_size, tgt_vocab_size))
            self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
            self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=output_bias)
            if share_embeddings:
                shared = self.src_embedding.embedding.weight
                self.tgt_embedding.embedding.weight = self.output_projection.weight = shared
        def encode(self, src: torch.Tensor) -> torch.Tensor:
            mask = padding_mask(src, self.pad_id)
            return self.encoder(self.positional_encoding(self.src_embedding(src)), mask)
        def decode(self, tgt: torch.Tensor, memory: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
            masks = {"src_mask": padding_mask(src, self.pad_id), "tgt_mask": decoder_mask(tgt, self.pad_id)}
            y = self.positional_encoding(self.tgt_embedding(tgt))
            return self.output_projection(self.decoder(y, memory, **masks))
        def forward(self, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
            return self.decode(tgt, self.encode(src), src)
    """),
}
