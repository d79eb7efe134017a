# SPDX-License-Identifier: MIT
"""Inputs of the kinds that models from other hands are made for: photographs of examples/assets, pages of signs, a
voice made up of harmonics, and numbers drawn from a generator seeded by a name."""
import hashlib
import pathlib
import struct
import zlib

import numpy as np

ASSETS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "assets"


def generator(key):
    """Random numbers that depend on the text alone."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.Philox(seed))


def png(path):
    """An RGB picture of 8 bits a channel that is not interlaced, [height, width, 3] as u8."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (8, 2), path
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    picture = np.zeros((height + 1, width + 1, 3), np.int64)  # with a row above and a column to the left of zeros
    for y in range(height):
        kind, row, above = rows[y, 0], rows[y, 1:].reshape(width, 3).astype(np.int64), picture[y]
        out = picture[y + 1]
        for x in range(width):  # as the PNG specification defines its filters
            left, up, corner = out[x], above[x + 1], above[x]
            if kind == 4:
                estimate = left + up - corner
                distances = [abs(estimate - n) for n in (left, up, corner)]
                nearest = np.where((distances[0] <= distances[1]) & (distances[0] <= distances[2]), left,
                                   np.where(distances[1] <= distances[2], up, corner))
            else:
                nearest = [0, left, up, (left + up) // 2][kind]
            out[x + 1] = (row[x] + nearest) % 256
    return picture[1:, 1:].astype(np.uint8)


def resized(picture, height, width):
    """Bilinear, [height, width, channels] as f32."""

    def between(a, size, axis):
        place = np.clip((np.arange(size) + 0.5) * a.shape[axis] / size - 0.5, 0, a.shape[axis] - 1)
        low = np.minimum(place.astype(int), a.shape[axis] - 2)
        share = (place - low).astype(np.float32).reshape([-1 if d == axis else 1 for d in range(3)])
        return np.take(a, low, axis) * (1 - share) + np.take(a, low + 1, axis) * share

    return between(between(picture.astype(np.float32), height, 0), width, 1)


def photograph(batch, height, width, scale=1 / 255, mean=0.0, last=False, grey=False):
    """Photographs of the examples as scale * pixel - mean: [batch, 3, height, width], channels last, or one channel."""
    pictures = [resized(png(ASSETS / name), height, width) for name in ("chelsea_high.png", "coffee_high.png")]
    x = np.stack([pictures[b % 2] for b in range(batch)])
    x = x.mean(axis=3, keepdims=True) if grey else x
    x = (x * np.float32(scale) - np.asarray(mean, np.float32)).astype(np.float32)
    return x if last else np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def page(height, width, scale=1 / 255, mean=0.0, line=32):
    """A white page with lines of dark signs, each of a few strokes: [1, 3, height, width]."""
    random, size = generator("page"), line // 2
    x = np.full((height, width), 245, np.float32)
    for top in range((line - size) // 2, height - size, line):
        for left in range(size // 2, width - size, size):
            if random.random() < 0.15:  # between words
                continue
            thick, wide = max(1, size // 8), size * 2 // 3
            for stroke in range(3):
                y, z = int(random.integers(0, size - thick)), int(random.integers(0, wide - thick))
                if stroke == 1:
                    x[top + y:top + y + thick, left:left + wide] = 30
                else:
                    x[top:top + size, left + z:left + z + thick] = 30
    x = x * np.float32(scale) - np.float32(mean)
    return np.ascontiguousarray(np.broadcast_to(x, (1, 3, height, width)))


def voice(*shape, rate=16000):
    """Sound as of a voice, in [-1, 1]: harmonics over a pitch that glides, syllables, breath."""
    count = int(np.prod(shape))
    time = np.arange(count) / rate
    pitch = 130 + 30 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    tone = sum(np.sin(k * phase) * np.exp(-((k * 130 - 600) / 700) ** 2) for k in range(1, 20))
    syllables = np.clip(np.sin(2 * np.pi * 3.1 * time + 0.6) + 0.3, 0, 1)
    breath = 0.02 * generator("voice").standard_normal(count)
    return (0.25 * tone * syllables + breath).clip(-1, 1).astype(np.float32).reshape(shape)


def text(count, dtype=np.int32):
    """[1, count]: the first and the last half of the project's README.md as bytes."""
    data = (ASSETS.parents[1] / "README.md").read_bytes().strip()
    return np.frombuffer(data[:count // 2] + data[-(count // 2):], np.uint8).astype(dtype).reshape(1, count)


def drawn(key, *shape, low=None, high=None, dtype=np.float32):
    """Normally distributed, or integers in [low, high)."""
    if low is None:
        return generator(key).standard_normal(shape).astype(dtype)
    return generator(key).integers(low, high, shape).astype(dtype)


def zeros(*shape):
    return np.zeros(shape, np.float32)
