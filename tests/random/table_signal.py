# SPDX-License-Identifier: MIT
"""Windows, spectra, and networks that go through sequences."""

import numpy as np

from draw import FLOATS
from fields import computed, finite_tensor, maybe, one_of, operator, real, tensor

number = lambda low, high: computed(
    lambda c: np.array(c.draw.integer(low, high), c.draw.one_of(("int64", "int32"))), 0.95
)  # noqa: E731
operator(
    "HannWindow HammingWindow BlackmanWindow",
    size=number(1, 12),
    periodic=maybe(one_of(0, 1)),
    output_datatype=maybe(one_of(1, 11)),
)
operator(
    "MelWeightMatrix",
    num_mel_bins=computed(lambda c: np.array(c.draw.integer(1, 8)), 1),
    dft_length=computed(lambda c: np.array(c.draw.one_of((8, 16, 17, 32))), 1),
    sample_rate=computed(lambda c: np.array(c.draw.one_of((8000, 16000))), 1),
    lower_edge_hertz=computed(lambda c: np.array(c.draw.one_of((0, 20, 100)), "float32"), 1),
    upper_edge_hertz=computed(lambda c: np.array(c.draw.one_of((2000, 4000)), "float32"), 1),
    output_datatype=maybe(one_of(1, 11)),
)


def signal(c):
    return [*c.draw.shape(1, 2), c.draw.integer(1, 9), 1 if c["inverse"] == 0 and c.draw.chance(0.5) else 2]


def one_sided(c, name):
    return c.draw.one_of((None, 0, 1)) if not c["inverse"] and c["input"].shape[-1] == 1 else c.draw.one_of((None, 0))


def dft_axis(c, name):
    if not c.draw.chance(0.6):
        return None
    rank = c["input"].rank
    axis = c.draw.integer(0, rank - 2)
    axis = axis - rank if c.draw.chance(0.4) else axis
    return axis if name in c.schema.attributes else computed(lambda c: np.array(axis, "int64"), 1)(c, name)


operator(
    "DFT",
    "transformed",
    weight=1.5,
    inverse=one_of(0, 0, 1),
    input=finite_tensor(shape=signal, types=FLOATS),
    onesided=one_sided,
    axis=dft_axis,
    dft_length=maybe(number(1, 12), 0.4),
)


def frame_window(c, name):
    n = int(c["frame length drawn"])
    return finite_tensor(shape=lambda c: [n], types=FLOATS, fixed=0.8)(c, name)


def drawn_frame(c, name):
    c.drawn["frame length drawn"] = n = c.draw.integer(2, 8)
    c.drawn["with window"] = c.draw.chance(0.7)
    return computed(lambda c: np.array(n, "int64"), 1)(c, name) if not c["with window"] or c.draw.chance(0.5) else None


operator(
    "STFT",
    "transformed",
    signal=finite_tensor(shape=lambda c: [c.draw.integer(1, 2), c.draw.integer(8, 20), 1], types=FLOATS),
    frame_step=computed(lambda c: np.array(c.draw.integer(1, 5)), 1),
    frame_length=drawn_frame,
    window=lambda c, name: frame_window(c, name) if c["with window"] else None,
    onesided=maybe(one_of(0, 1)),
)


ACTIVATIONS = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Affine",
    "LeakyRelu",
    "ThresholdedRelu",
    "ScaledTanh",
    "HardSigmoid",
    "Elu",
    "Softsign",
    "Softplus",
)


def directions(c):
    return 2 if c["direction"] == "bidirectional" else 1


def recurrent(name, gates, functions, states, peepholes=False, **more):
    hidden = lambda c, name: c.draw.integer(1, 4)  # noqa: E731
    layout = lambda c: c["layout"] or 0  # noqa: E731

    def x(c):
        dims = [c.draw.integer(1, 4), c.draw.integer(1, 3), c.draw.integer(1, 4)]
        return dims

    def batch(c):
        return c["X"].shape[0 if layout(c) else 1]

    def state(c):
        first, second = directions(c), batch(c)
        return [second, first, c["hidden_size"]] if layout(c) else [first, second, c["hidden_size"]]

    def activations(c, name):
        if not c.draw.chance(0.35):
            return None
        return [
            c.draw.one_of(ACTIVATIONS if c.draw.chance(0.6) else ("Tanh", "Sigmoid", "Relu"))
            for _ in range(functions * directions(c))
        ]

    def constants(c, name):
        return (
            [round(float(v), 3) for v in c.draw.random.uniform(0.1, 1, len(c["activations"]))]
            if c["activations"]
            else None
        )

    weight = lambda shape: tensor(shape=shape, fixed=0.9, fresh=True, least=-0.8, most=0.8)  # noqa: E731
    fields = dict(
        layout=one_of(None, None, None, 0),
        direction=maybe(one_of("forward", "reverse", "bidirectional"), 0.7),
        hidden_size=hidden,
        X=finite_tensor(shape=x, types=FLOATS),
        W=weight(lambda c: [directions(c), gates * c["hidden_size"], c["X"].shape[2]]),
        R=weight(lambda c: [directions(c), gates * c["hidden_size"], c["hidden_size"]]),
        B=maybe(weight(lambda c: [directions(c), 2 * gates * c["hidden_size"]]), 0.7),
        sequence_lens=maybe(
            computed(
                lambda c: c.draw.random.integers(1, c["X"].shape[1 if layout(c) else 0] + 1, batch(c)).astype("int32"),
                0.5,
            ),
            0.3,
        ),
        initial_h=maybe(finite_tensor(shape=state), 0.4),
        activations=activations,
        activation_alpha=constants,
        activation_beta=constants,
        clip=maybe(real(0.5, 3), 0.2),
    )
    operator(name, outputs=states, weight=1.5, **fields, **more)
    if peepholes:
        from fields import TABLE

        TABLE[name].fields["initial_c"] = maybe(finite_tensor(shape=state), 0.4)
        TABLE[name].fields["P"] = maybe(weight(lambda c: [directions(c), 3 * c["hidden_size"]]), 0.3)


recurrent("RNN", 1, 1, lambda c: c.draw.integer(1, 2))
recurrent("GRU", 3, 2, lambda c: c.draw.integer(1, 2), linear_before_reset=maybe(one_of(0, 1)))
recurrent("LSTM", 4, 3, lambda c: c.draw.integer(1, 3), peepholes=True, input_forget=maybe(one_of(0, 1), 0.2))


def heads(c, name):
    c.drawn["form"] = c.draw.one_of((3, 4))
    c.drawn["kv"] = kv = c.draw.integer(1, 2)
    c.drawn["q"] = q = kv * c.draw.integer(1, 2)
    c.drawn["size"] = 2 * c.draw.integer(1, 3)
    c.drawn["value size"] = c["size"] if c.draw.chance(0.7) else c.draw.integer(1, 4)
    c.drawn["batch"] = c.draw.integer(1, 2)
    c.drawn["length"] = c.draw.integer(1, 4)
    c.drawn["keys"] = c["length"] if c.draw.chance(0.5) else c.draw.integer(1, 5)
    c.drawn["past"] = c.draw.integer(1, 3) if c.draw.chance(0.3) else 0
    c.drawn["all keys"] = c["keys"] + c["past"]
    return q if c["form"] == 3 else None


def projection(head, size, length):
    def shape(c):
        if c["form"] == 3:
            return [c["batch"], c[length], c[head] * c[size]]
        return [c["batch"], c[head], c[length], c[size]]

    return finite_tensor(shape=shape, types=FLOATS)


def mask(c):
    full = [c["batch"], c["q"], c["length"], c["all keys"]]
    full = full[c.draw.integer(0, 2) :]
    return [1 if len(full) - d > 2 and c.draw.chance(0.4) else n for d, n in enumerate(full)]


def past(size):
    return lambda c, name: (
        finite_tensor(shape=lambda c: [c["batch"], c["kv"], c["past"], c[size]])(c, name) if c["past"] else None
    )


operator(
    "Attention",
    weight=2,
    q_num_heads=heads,
    kv_num_heads=lambda c, name: c["kv"] if c["form"] == 3 else None,
    Q=projection("q", "size", "length"),
    K=projection("kv", "size", "keys"),
    V=projection("kv", "value size", "keys"),
    attn_mask=maybe(finite_tensor(shape=mask, types=(*FLOATS, np.dtype("bool")))),
    past_key=past("size"),
    past_value=past("value size"),
    is_causal=maybe(one_of(0, 1)),
    scale=maybe(real(0.1, 1), 0.4),
    softcap=maybe(real(0.5, 3), 0.3),
    qk_matmul_output_mode=maybe(one_of(0, 1, 2, 3)),
    outputs=lambda c: (c.draw.one_of((3, 4)) if c["past"] else 1),
)


def rotated(c):
    c.drawn["half"] = half = c.draw.integer(1, 3)
    c.drawn["rotary batch"], c.drawn["rotary length"], c.drawn["rotary heads"] = b, n, h = (
        c.draw.integer(1, 2),
        c.draw.integer(1, 4),
        c.draw.integer(1, 3),
    )
    c.drawn["flat"] = flat = c.draw.chance(0.5)
    return [b, n, h * 2 * half] if flat else [b, h, n, 2 * half]


def rotary_cache(c):
    half = (c["rotary_embedding_dim"] or 2 * c["half"]) // 2
    return [6, half] if c["position_ids"] is not None else [c["rotary batch"], c["rotary length"], half]


operator(
    "RotaryEmbedding",
    X=tensor(shape=rotated, types=FLOATS),
    num_heads=lambda c, name: c["rotary heads"] if c["flat"] else None,
    interleaved=maybe(one_of(0, 1)),
    rotary_embedding_dim=maybe(lambda c, name: 2 * c.draw.integer(1, c["half"]), 0.3),
    position_ids=maybe(
        computed(lambda c: c.draw.random.integers(0, 6, (c["rotary batch"], c["rotary length"])).astype("int64"), 0.5)
    ),
    cos_cache=tensor(shape=rotary_cache),
    sin_cache=tensor(shape=rotary_cache),
)
