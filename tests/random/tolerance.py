# SPDX-License-Identifier: MIT
"""How far a result may be from ONNX Runtime's: the one place that says so.

A node's error is that which its inputs bring with them and its own rounding. Both are measured, so that conditioning,
cancellation and the length of sums are those of the node at hand: with f the node and e its type's epsilon,

    brought = max |f(x + s error(x)) - f(x)|                         s: random signs, elements on their own
    own     = ROUNDINGS max(1, sqrt(n) / 4) max |f(x (1 + s e)) - f(x)| + ROUNDINGS e |f(x)| + e scale

The second moves every operand by one rounding, of random sign: a sum of n terms moves by sqrt(n) of them, and may
differ by n, as those of its partial sums have one sign more often than not. ROUNDINGS says how many roundings an
implementation may spend on what ONNX Runtime does with one, `scale` how far results near zero may be when a function's
approximation has an absolute error (of functions bounded by one, ONNX Runtime's own has).

Kinds of rounding: rounded: as above. exact: own = 0: elements are moved, compared or computed without rounding.
summed: as above, and ROUNDINGS e of the largest element: normalisations, whose variance ONNX Runtime takes from sums of
squares; interpolations, whose weights it takes from coordinates of 32 bits. transformed: 8 times as much, with e of 32 bits at least: transforms, whose factors it multiplies up.
"""

import numpy as np

import peer
from draw import is_float

ROUNDINGS = 16
SCALE = 4
SAMPLES = 4
UNDERFLOW = float(np.finfo(np.float32).tiny) ** 0.5  # of what is smaller, the square may be 0
USEFUL = 0.02  # a result less certain than this, relative to its largest element, is not worth computing with


def epsilon(dtype):
    return float(np.finfo(dtype).eps) if is_float(dtype) else 0.0


def deviation(session, given, arrays, change, draw):
    """The largest change of each element when inputs are changed, in units that float64 holds."""
    worst = [np.zeros(y.shape) for y in arrays]
    for sample in range(SAMPLES):
        moved = {}
        for v in given:
            delta = change(v) if is_float(v.dtype) else None
            moved[v.name] = v.array
            if delta is not None:
                signs = draw.choice([-1.0, 1.0], v.shape)
                if sample == 0:  # neighbours against each other, whose difference may be all that matters
                    signs = np.where(np.arange(v.array.size) % 2, -1.0, 1.0).reshape(v.shape)
                with np.errstate(all="ignore"):
                    moved[v.name] = np.where(
                        np.isfinite(v.array), v.array.astype(np.float64) + signs * delta, v.array
                    ).astype(v.dtype)
        for w, y, z in zip(worst, arrays, session.run(moved)):
            if y.shape != z.shape:
                raise peer.Refused("the extents depend on roundings")
            with np.errstate(all="ignore"):
                d = np.abs(z.astype(np.float64) - y.astype(np.float64))
            same = (y == z) | ((y != y) & (z != z))
            np.maximum(w, np.where(same, 0, d), out=w)  # keeps NaN
    return worst


def terms(given, y):
    """How many elements a result may be summed from: the length of a reduction."""
    return max((v.array.size for v in given), default=1) / max(1, y.size)


def errors(session, given, arrays, kind):
    """What each element of a node's outputs may differ by, None where all must be equal.

    Infinite where a rounding of an operand decides whether there is a number.
    """
    draw = np.random.default_rng(1)
    brought = [np.zeros(y.shape) for y in arrays]
    if any(not v.exact for v in given):
        brought = deviation(session, given, arrays, lambda v: v.error, draw)
        brought = [np.where(np.isnan(b), np.inf, b) for b in brought]
    own = [np.zeros(y.shape) for y in arrays]
    if kind != "exact" and any(is_float(y.dtype) for y in arrays):
        own = deviation(session, given, arrays, lambda v: epsilon(v.dtype) * np.abs(v.array.astype(np.float64)), draw)
        own = [np.where(np.isfinite(o), o, 0) for o in own]
    result = []
    for y, b, o in zip(arrays, brought, own):
        if is_float(y.dtype) and kind != "exact":
            e = epsilon(y.dtype)
            size = np.where(np.isfinite(y), np.abs(y.astype(np.float64)), 0)
            o = (
                ROUNDINGS * max(1, terms(given, y) ** 0.5 / 4) * o
                + ROUNDINGS * e * size
                + SCALE * e * np.minimum(1, size.max(initial=0))
            )
            o = o + UNDERFLOW * (size < UNDERFLOW)
            if kind == "summed":
                o = o + ROUNDINGS * e * size.max(initial=0)
            if kind == "transformed":
                o = o + 8 * ROUNDINGS * max(e, epsilon(np.float32)) * size.max(initial=0)
        else:
            o = np.zeros(y.shape)
        total = b + o
        result.append(total if total.any() else None)
    return result


def is_useful(array, error):
    """Is a value certain enough to compute with?"""
    if error is None:
        return True
    if not is_float(array.dtype):
        return False
    certain = np.isfinite(error)
    if not certain.all():
        return False
    size = np.abs(np.where(np.isfinite(array), array, 0).astype(np.float64)).max(initial=0)
    return bool((error <= USEFUL * max(size, 1e-30)).all())


def difference(expected, error, found):
    """What is wrong with a result, "" when nothing is."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"is {found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if not found.size:
        return ""
    a, b = expected.astype(np.float64), found.astype(np.float64)
    if expected.dtype.kind in "iu":  # which float64 does not hold
        same = expected == found
    else:
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    if error is not None:
        with np.errstate(all="ignore"):
            same |= np.abs(a - b) <= error
            same |= np.isinf(error)
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    allowed = 0 if error is None else error[at]
    where = ", ".join(map(str, at))
    values = f"is {found[at]!s}, expected {expected[at]!s} within {allowed:.3g}"
    return f"{(~same).sum()} of {same.size} elements differ, [{where}] {values}"
