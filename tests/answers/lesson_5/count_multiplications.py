from answers.writing import body, edit, edits

WRONG = {
    "the output layer on the source": edit("tgt_len * ", "src_len * ").fails("", "source's positions, not the target's"),
    "scores of the queries with themselves": edit("2 * query_len * key_len", "2 * query_len * query_len").fails("", "among the target's positions"),
    "no scores and weighted sums": edit("return projections +…", "return projections").fails("", "scores and weighted sums are left out"),
    "the scores without the weighted sums": edit("2 * query_len * key_len", "query_len * key_len").fails("", "weighted sums, or the scores"),
    "no cross-attention": edit("attention(tgt_len, src_len) +", "").fails("", "cross-attention is left out"),
    "cross-attention within the target": edit("attention(tgt_len, src_len)", "attention(tgt_len, tgt_len)").fails("", "keys and values from the target"),
    "no w_o": edit("2 * query_len * d_model**2", "query_len * d_model**2").fails("", "w_q or w_o is left out"),
    "one matrix in the feed-forward network": edit("2 * length", "length").fails("", "has one matrix"),
    "no feed-forward network": edit("return 2 * length…", "return 0").fails("", "feed-forward networks are left out"),
    "no output layer": edit("+ tgt_len * d_model * vocab_size", "").fails("", "output layer is left out"),
    "the output layer for the source, too": edit("+ tgt_len *", "+ (src_len + tgt_len) *").fails("", "scores the source, too"),
    "one layer each": edit("return num_layers *", "return").fails("", "one layer in each stack"),
    "operations": edit("return num_layers…tgt_len", "return 2 * num_layers * (encoder + decoder) + 2 * tgt_len").fails("", "additions are counted"),
    "one-hot words times the table": edit("return num_layers", "return (src_len + tgt_len) * d_model * vocab_size + num_layers").fails(
        "", "embeddings are counted as matrix products"
    ),
    "half of the scores are masked": edit("attention(tgt_len, tgt_len)", "… - tgt_len * (tgt_len - 1) * d_model").fails("", "causal mask hides"),
    "heads of full width": edit("2 * query_len * key_len * d_model", "2 * 3 * query_len * key_len * d_model").fails(""),
    "keys and values as long as the queries": edit("2 * key_len * d_model**2", "2 * query_len * d_model**2").fails("", "w_k and w_v read the target"),
    "the parameters": body("return num_layers * (12 * d_model**2 + 4 * d_model * d_ff) + vocab_size * d_model").fails(""),
    "the encoder as long as the target": edits(("src_len, src_len", "tgt_len, tgt_len"), ("(src_len)", "(tgt_len)")).fails(""),
    "prints": edit("return num_layers", "print(num_layers)\nreturn None\nreturn num_layers").fails("", "should be one number"),
    "d_ff is four times d_model": edit("d_model * d_ff", "d_model * 4 * d_model").fails(""),
    "every weight for every token": body("""
        layers = num_layers * (12 * d_model**2 + 4 * d_model * d_ff)
        return (src_len + tgt_len) * (layers + vocab_size * d_model)
    """).fails(""),
    "three output layers": edit("+ tgt_len * d", "+ 3 * tgt_len * d").fails(""),
    "an output layer in each layer": edit("+ decoder) + tgt_len * d_model * vocab_size", "+ decoder + tgt_len * d_model * vocab_size)").fails(
        "", "once for each layer"
    ),
}

TRICKS = {
    "always three layers": edit("return num_layers *", "return 3 *").fails(""),
    "scores of short sentences are forgotten": edit("projections +", "projections if key_len < 20 and query_len < 3 else projections +").fails(""),
}

RIGHT = {
    "a list of products": body("""
        d, products = d_model, [(tgt_len, d_model, vocab_size)]
        for _ in range(num_layers):
            for queries, keys in ((src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)):
                products += [(queries, d, d)] * 2 + [(keys, d, d)] * 2 + [(queries, d, keys), (queries, keys, d)]
            for length in (src_len, tgt_len):
                products += [(length, d, d_ff), (length, d_ff, d)]
        return sum(n * k * m for n, k, m in products)
    """),
    "one formula": body("""
        s, t, d = src_len, tgt_len, d_model
        weights = 6 * (s + t) * d * d + 2 * (s + t) * d * d_ff
        scores = 2 * d * (s * s + t * t + t * s)
        return num_layers * (weights + scores) + t * d * vocab_size
    """),
    "NumPy": """
        import numpy as np
        def count_multiplications(src_len, tgt_len, vocab_size, d_model, num_layers, d_ff):
            lengths = np.array([[src_len, src_len], [tgt_len, tgt_len], [tgt_len, src_len]])
            linear = 2 * lengths.sum() * d_model**2
            scores = 2 * lengths.prod(axis=1).sum() * d_model
            forward = 2 * (src_len + tgt_len) * d_model * d_ff
            return num_layers * (linear + scores + forward) + tgt_len * d_model * vocab_size
    """,
    "cross-attention the other way round, which costs the same": edit("attention(tgt_len, src_len)", "attention(src_len, tgt_len)"),
    "as a float": edit("return num_layers", "return 1.0 * num_layers"),
    "lambdas, weights and scores counted apart": body("""
        weights = lambda q, k: 2 * (q + k) * d_model * d_model
        scores = lambda q, k: 2 * q * k * d_model
        ffn = lambda n: 2 * n * d_model * d_ff
        pairs = [(src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)]
        per_layer = sum((weights(*pair) + scores(*pair) for pair in pairs)) + ffn(src_len) + ffn(tgt_len)
        return per_layer * num_layers + vocab_size * d_model * tgt_len
    """),
}
