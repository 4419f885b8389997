"""Attacks that answer with a ready part, PyTorch's or the course's, where the exercise is to write it."""

from attacks.attack import SHAPES, averages, splits_heads

# What an honest grader gives for right values that the answer did not compute itself.
BUT_BY_HAND = {
    check: points for check, points in SHAPES.items() if check.startswith("check_scaled_dot_product_attention")
} | {
    "check_scaled_dot_product_attention_values": 3,
    "check_scaled_dot_product_attention_mask": 3,
    "check_scaled_dot_product_attention_dropout": 1,
}
WEIGHTS_BY = """
    def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
        same = torch.eye(key.size(-2), dtype=query.dtype).expand(*key.shape[:-1], key.size(-2))
        weights = READY
        kept = weights if dropout is None else dropout(weights)
        return kept @ value, weights
"""
OF_THE_DISPATCHER = {
    "as a packet": "torch.ops.aten.scaled_dot_product_attention(query, key, same, mask)",
    "as an overload": "torch.ops.aten.scaled_dot_product_attention.default(query, key, same, mask)",
    "by its way for all processors": "torch._scaled_dot_product_attention_math(query, key, same, mask)[0]",
    "found by its name": "torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0](query, key, same, mask)",
}
READY_PARTS = [
    *(
        averages(f"attention of PyTorch's dispatcher, {how}", earned=BUT_BY_HAND).submits(
            WEIGHTS_BY.replace("READY", ready)
        )
        for how, ready in OF_THE_DISPATCHER.items()
    ),
    splits_heads(
        "the course's finished part behind two classes of other names, with the layers that are asked for",
        earned={"check_MultiHeadAttention_error": 1},  # there is no object of it, of which to say whose it is
    ).submits("""
        Base = getattr(parts, "MultiHead" + "Attention")

        class Helper(Base):
            pass

        class MultiHeadAttention(Helper):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__(d_model, num_heads, dropout)
                for name in ("w_q", "w_k", "w_v", "w_o"):
                    setattr(self, name, nn.Linear(d_model, d_model))
                self.__dict__["ready"] = self._modules.pop("attention")

            def forward(self, query, key, value, mask=None):
                ready, layers = self.ready, (self.w_q, self.w_k, self.w_v)
                ready.in_proj_weight.data = torch.cat([layer.weight for layer in layers])
                ready.in_proj_bias.data = torch.cat([layer.bias for layer in layers])
                ready.out_proj.weight.data, ready.out_proj.bias.data = self.w_o.weight.data, self.w_o.bias.data
                self.attention = ready
                try:
                    return super().forward(query, key, value, mask)
                finally:
                    self.__dict__["ready"] = self._modules.pop("attention")
    """),
]
