# SPDX-License-Identifier: MIT
"""Random choices, element types and elements: everything that chance decides comes from one Draw."""

import numpy as np
from onnx import TensorProto, helper

FLOATS = tuple(np.dtype(t) for t in ("float32", "float64", "float16"))
SIGNED = tuple(np.dtype(t) for t in ("int64", "int32", "int16", "int8"))
UNSIGNED = tuple(np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64"))
INTEGERS = SIGNED + UNSIGNED
BOOL = (np.dtype("bool"),)
NUMBERS = FLOATS + INTEGERS
EVERY = NUMBERS + BOOL
I64 = np.dtype("int64")

# How often a type is taken where several are allowed.
WEIGHT = {"float32": 12, "float64": 2, "float16": 2, "int64": 3, "int32": 3, "bool": 2}
ONNX_NAME = {
    f"tensor({n})": np.dtype(t)
    for n, t in {
        "float": "float32",
        "double": "float64",
        "float16": "float16",
        "bool": "bool",
        "int8": "int8",
        "int16": "int16",
        "int32": "int32",
        "int64": "int64",
        "uint8": "uint8",
        "uint16": "uint16",
        "uint32": "uint32",
        "uint64": "uint64",
    }.items()
}


def onnx_type(dtype):
    return TensorProto.BOOL if dtype == np.bool_ else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def is_float(dtype):
    return np.dtype(dtype).kind == "f"


class Draw:
    """A source of random choices; `special`: values may be -0, infinite or no number, integers at their bounds."""

    def __init__(self, seed, special=False):
        self.random = np.random.default_rng(seed)
        self.special = special

    def chance(self, probability):
        return self.random.random() < probability

    def integer(self, low, high):
        """A number from low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def one_of(self, options):
        options = list(options)
        return options[self.integer(0, len(options) - 1)]

    def some_of(self, options, least=0):
        """A subset in random order."""
        options = list(options)
        self.random.shuffle(options)
        return options[: self.integer(min(least, len(options)), len(options))]

    def dtype(self, allowed):
        weights = np.array([WEIGHT.get(t.name, 1) for t in allowed], float)
        return list(allowed)[self.random.choice(len(weights), p=weights / weights.sum())]

    def extent(self):
        return self.one_of((1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 17) if self.chance(0.97) else (0,))

    def shape(self, low=0, high=5):
        rank = self.one_of([r for r in (0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5) if low <= r <= high] or [low])
        dims = [self.extent() for _ in range(rank)]
        while np.prod(dims, dtype=int) > 4096:
            dims[self.integer(0, rank - 1)] = self.one_of((1, 2))
        return tuple(dims)

    def elements(self, dtype, shape, low=None, high=None, finite=False):
        """Elements of any values, or of numbers in [low, high]; `finite`: none that are special."""
        if finite and self.special:
            self.special = False
            try:
                return self.elements(dtype, shape, low, high)
            finally:
                self.special = True
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return self.random.integers(0, 2, shape).astype(bool)
        if is_float(dtype):
            return self._floats(dtype, shape, low, high)
        info = np.iinfo(dtype)
        bounded = low is not None or high is not None
        least = max(info.min, -9 if low is None else int(np.ceil(low)))
        most = min(info.max, 9 if high is None else int(high))
        x = np.asarray(self.random.integers(max(least, -(2**62)), min(most, 2**62) + 1, shape)).astype(dtype)
        if self.special and not bounded and x.size:
            mask = self.random.random(shape) < 0.1
            x = np.where(mask, self.random.choice(np.array([info.min, info.max, 0], dtype), shape), x).astype(dtype)
        return x

    def _floats(self, dtype, shape, low, high):
        if low is not None or high is not None:
            low = -3.0 if low is None else low
            return np.asarray(self.random.uniform(low, max(low, 3.0) if high is None else high, shape)).astype(dtype)
        kind = self.integer(0, 9)
        if kind == 0:
            x = self.random.integers(-4, 5, shape).astype(float)
        elif kind == 1:
            x = self.random.uniform(-1, 1, shape)
        elif kind == 2:
            x = np.round(self.random.standard_normal(shape) * 4) / 2  # many ties
        else:
            x = self.random.standard_normal(shape)
        x = np.asarray(x).astype(dtype)
        if self.special and x.size:
            odd = self.random.choice(
                np.array([-0.0, 0.0, np.inf, -np.inf, np.nan, 1e15 if dtype != np.float16 else 6e4], dtype), shape
            )
            x = np.where(self.random.random(shape) < 0.1, odd, x).astype(dtype)
        return x
