"""The names that restricted code may use: all that is known to reach nothing but what it is given."""

_BUILTINS = """
    AssertionError Exception IndexError KeyError NotImplementedError RuntimeError StopIteration TypeError ValueError abs
    all any bool callable chr complex dict divmod enumerate filter float frozenset int isinstance issubclass iter len
    list map max min next object ord pow print range repr reversed round set slice sorted str sum super tuple zip
"""
_MODULES = """
    collections functools heapq itertools math random torch torch.nn torch.nn.functional torch.optim typing
"""
_ATTRIBUTES = """
    Adam AdamW Counter CrossEntropyLoss Dropout Embedding F GELU Identity KLDivLoss LayerNorm Linear Module ModuleList
    Parameter RMSNorm Random ReLU SGD Sequential SiLU Softmax T abs absolute accumulate add add_ addcmul addmm all
    allclose amax amin and_ any append apply arange argmax argmin args argsort atan2 baddbmm bernoulli bfloat16
    bias bitwise_and bitwise_not bitwise_xor block_diag bmm bool broadcast_shapes broadcast_tensors broadcast_to
    bucketize byte cache cat cdist ceil chain children chunk clamp clamp_ clamp_max clamp_min clip clip_grad_norm_ clone
    combinations complex concat concatenate conj contiguous contiguous_format copy copy_ cos cos_ cosine_similarity
    count count_nonzero cpu cross_entropy cuda cummax cumprod cumsum cycle decode defaultdict deg2rad degrees deque
    detach device diag diag_embed diagonal diff dim div div_ dot double dropout dtype e einsum elements elu embedding
    embedding_dim enable_grad encode encoding endswith eq eq_ equal erf eval exp exp2 expand expand_as expm1 extend eye
    eye_ fill fill_ fill_diagonal_ finfo flatten flip float float16 float32 float64 floor floor_divide fmod
    from_pretrained full full_like functional gather gcd ge gelu get get_last_lr grad greater greater_equal groupby gt
    half heapify heappop heappush hstack hypot imag in_features index index_add index_copy index_fill index_put
    index_select indices inf inference_mode init inner insert int int32 int64 inv is_available is_floating_point
    is_integer isclose isfinite isin isinf islice isnan isqrt isreal item items join keys kron kthvalue label_smoothing
    layer_norm le leaky_relu linalg linear linspace log log10 log1p log2 log_softmax logical_and logical_and_
    logical_not logical_not_ logical_or logical_or_ logical_xor logspace logsumexp long lower lr lru_cache lstrip lt mT
    manual_seed masked_fill masked_fill_ masked_scatter masked_select matmul matrix_exp matrix_power max maximum mean
    median meshgrid min minimum mm modules most_common movedim mse_loss mul mul_ multinomial multiply mv named_children
    named_parameters nan nan_to_num narrow ndim ne ne_ neg nelement new_full new_ones new_tensor new_zeros nlargest
    nll_loss nn no_grad nonzero norm normal_ normalize not_equal nsmallest num_embeddings num_heads numel one_hot ones
    ones_ ones_like optim orthogonal_ out_features outer p pad pad_sequence pairwise param_groups parameters partial
    permutations permute pi polar pop popleft pow pow_ prod product promote_types rad2deg radians rand rand_like randint
    randn randn_like randperm real reciprocal reduce register_parameter relu relu6 remainder repeat repeat_interleave
    replace requires_grad requires_grad_ reshape reverse rms_norm rnn roll round rsqrt rsub sample
    scaled_dot_product_attention scatter scatter_ scatter_add scheduler searchsorted select setdefault shape short
    shuffle sigmoid sigmoid_ sign silu sin sin_ size softmax softmin softplus sort split sqrt square squeeze stack
    startswith std step strip sub subtract sum swapaxes swapdims t take take_along_dim tan tanh tanh_ tensor
    tensor_split tensordot threshold tile to tolist topk train training transpose transpose_ tri tril tril_indices triu
    triu_indices true_divide type_as uint8 unbind unflatten unfold uniform uniform_ unique unravel_index unsqueeze
    unsqueeze_ update upper utils values var var_mean view view_as view_as_complex view_as_real vstack weight where
    xavier_normal_ xavier_uniform_ xlogy zero_ zero_grad zeros zeros_ zeros_like zip_longest
"""
BUILTINS, MODULES, ATTRIBUTES = (frozenset(words.split()) for words in (_BUILTINS, _MODULES, _ATTRIBUTES))
LEARNING = frozenset({"backward"})  # attributes that may be read where the lesson's own answers do
# What has PyTorch trust an index, or write into memory that another tensor has: keywords, functions, and how many
# arguments some may be given by position, since one more is such a keyword.
UNCHECKED = frozenset({"out", "scale_grad_by_freq", "sparse", "sparse_grad"})
UNSAFE = frozenset({"embedding", "nll_loss"})
MOST_BY_POSITION = {"Embedding": 3, "from_pretrained": 3, "norm": 4, "normalize": 4, "tensordot": 3}
