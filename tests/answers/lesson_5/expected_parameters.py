"""Answers to `expected_parameters`, a part of `count_parameters`, lesson 5."""

from answers.writing import body, edit, edits

PART_OF = "count_parameters"

WRONG = {
    "one bias for an attention": edit("4 * (d_model * d_model + d_model)", "4 * d_model * d_model + d_model").fails("by_hand", "one bias for its four"),
    "only the encoder's layer times num_layers": edit("num_layers * (encoder_layer + decoder_layer)", "num_layers * encoder_layer + decoder_layer").fails(
        "by_hand", "the layer of the encoder alone"
    ),
    "no bias in the output layer": edit("vocab_size * d_model + vocab_size", "vocab_size * d_model").fails("by_hand", "bias of the output layer"),
    "the table three times": edit("vocab_size * d_model +", "3 * vocab_size * d_model +").fails("by_hand", "counted three times"),
    "the table twice": edit("vocab_size * d_model +", "2 * vocab_size * d_model +").fails("by_hand", "counted twice"),
    "no table": edit("vocab_size * d_model +", "").fails("by_hand", "shared matrix is left out"),
    "no cross-attention": edit("2 * attention", "attention").fails("by_hand", "decoder layer has one attention"),
    "two norms in the decoder layer": edit("3 * norm", "2 * norm").fails("by_hand", "one norm too few"),
    "one norm in the encoder layer": edit("+ 2 * norm", "+ norm").fails("by_hand", "one norm too few"),
    "one vector in a norm": edit("norm = 2 * d_model", "norm = d_model").fails("by_hand", "a norm has one vector"),
    "no norms": edit("norm = 2 * d_model", "norm = 0").fails("by_hand", "norms are left out"),
    "attention without biases": edit("(d_model * d_model + d_model)", "d_model * d_model").fails("by_hand", "biases of the attention"),
    "feed-forward without biases": edit(" + d_ff + d_model", "").fails("by_hand", "biases of the feed-forward"),
    "matrices and norms only": edits(("(d_model…", "d_model * d_model"), (" + d_ff…", "")).fails("by_hand", "biases of the layers"),
    "no w_o": edit("4 * (", "3 * (").fails("by_hand", "without w_o"),
    "one layer each": edit("num_layers * (", "(").fails("by_hand", "one layer in each stack"),
    "a norm behind each stack": edit("+ vocab_size * d_model", "+ 2 * norm …").fails("by_hand", "one more norm"),
    "one matrix in the feed-forward network": edit("2 * d_model * d_ff", "d_model * d_ff").fails("by_hand", "has one matrix"),
    "both biases as wide as the network": edit("+ d_ff + d_model", "+ 2 * d_ff").fails("by_hand", "have d_ff numbers"),
    "cross-attention without two of its biases": edit("2 * attention", "2 * attention - 2 * d_model").fails("by_hand", "or two biases of d_model numbers"),
    "second bias left out": edit("+ d_ff + d_model", "+ d_ff").fails("by_hand", "or two biases of d_model numbers are left out"),
    "first bias left out": edit("+ d_ff + d_model", "+ d_model").fails("by_hand", "first bias"),
    "one bias of a wrong length": edit("+ d_ff + d_model", "+ 2 * d_model").fails("by_hand", "have d_model numbers"),
    "in millions": edit("return…", "return (num_layers * (encoder_layer + decoder_layer) + vocab_size * d_model + vocab_size) / 1e6").fails("by_hand"),
    "prints": edit("return num_layers *", "print(num_layers) or None and").fails("by_hand", "should be one number"),
    "the encoder's layers alone": edit("encoder_layer + decoder_layer", "encoder_layer").fails("by_hand"),
    "two encoders": edit("encoder_layer + decoder_layer", "2 * encoder_layer").named("like an encoder layer"),
    "three matrices without biases in an attention": body(
        "return num_layers * (9 * d_model**2 + 4 * d_model * d_ff + 2 * d_ff + 12 * d_model) + vocab_size * (d_model + 1)"
    ).fails("by_hand", "wrong value"),
    "a learned table of positions": edit("+ vocab_size * d_model", "+ 5000 * d_model …").named("position"),
}

TRICKS = {"always three layers": edit("num_layers * (", "3 * (").fails("by_hand")}

TRICKS = {
    "builds a model": body("""
        model = Transformer(vocab_size, vocab_size, d_model, 1, num_layers, d_ff, max_len=1, share_embeddings=True)
        return sum(p.numel() for p in model.parameters())
    """)
}

RIGHT = {
    "one formula": body("return num_layers * (12 * d_model**2 + 4 * d_model * d_ff + 24 * d_model + 2 * d_ff) + vocab_size * (d_model + 1)"),
    "shapes": body("""
        square, norm = [(d_model, d_model), (d_model,)] * 4, [(d_model,)] * 2
        forward = [(d_ff, d_model), (d_ff,), (d_model, d_ff), (d_model,)]
        layers = 3 * square + 2 * forward + 5 * norm
        return sum(math.prod(shape) for shape in layers * num_layers + [(vocab_size, d_model), (vocab_size,)])
    """),
    "a loop": body("""
        def linear(rows, columns):
            return rows * columns + rows
        total = vocab_size * d_model + vocab_size
        for attentions in (1, 2):
            for _ in range(num_layers):
                total += attentions * 4 * linear(d_model, d_model)
                total += linear(d_ff, d_model) + linear(d_model, d_ff) + (attentions + 1) * 2 * d_model
        return total
    """),
    "a float": edit("return num_layers", "return 1.0 * num_layers"),
    "layers added in a loop": body("""
        att = 4 * d_model * (d_model + 1)
        ffn = d_ff * (d_model + 1) + d_model * (d_ff + 1)
        norm = d_model + d_model
        total = vocab_size * d_model
        for _ in range(num_layers):
            total += att + norm + ffn + norm
            total += att + norm + att + norm + ffn + norm
        total += vocab_size
        return total
    """),
    "functions inside for the pieces": body("""
        def linear(d_in, d_out):
            return d_in * d_out + d_out
        def norms(n):
            return n * 2 * d_model
        attention = 4 * linear(d_model, d_model)
        network = linear(d_model, d_ff) + linear(d_ff, d_model)
        layers = 3 * attention + 2 * network + norms(5)
        return linear(d_model, vocab_size) + num_layers * layers
    """),
}
