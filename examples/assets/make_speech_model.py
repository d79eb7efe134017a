# SPDX-License-Identifier: MIT
"""Trains the speech detector of example 09 and writes it and the recording that the example listens to.

    apt-get install espeak-ng
    pip install numpy onnx onnxruntime
    python3 examples/assets/make_speech_model.py [--human FOLDER]

speech.onnx: for pieces of 512 samples (32 ms at 16 kHz), the probability that somebody speaks. Ports as those of the
streaming models of silero-vad: input [T, 576], each row a piece and the 64 samples in front of it; the state h and c
[1, 1, 32]; speech_probs [T], hn, cn.
speech.wav: sentences and pauses in noise, voices that the detector has not heard.

All speech is synthesised by espeak-ng and all noise by rule (seed 7). What is held out: voices, sentences and random
numbers; accuracies are printed. --human: a folder of .wav files of real voices (alsa-utils has some), to try it on.
"""
import argparse
import pathlib
import subprocess
import wave

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
RATE, PIECE, CONTEXT, WINDOW, HOP = 16000, 512, 64, 256, 160
BANDS, UNITS, PIECES, BATCH, STEPS = 24, 32, 160, 32, 1500
FEATURES = 3 * BANDS  # three windows a piece

SENTENCES = [
    "The train to the coast leaves at half past seven.", "Please close the window before you go.",
    "A small boat drifted slowly across the bay.", "How many people live in this village?",
    "Seven, eight, nine, ten, eleven, twelve.", "She sells fresh bread on the market every day.",
    "It will rain this afternoon, and the wind will turn.", "Nobody knew where the old map came from.",
    "Turn left at the second bridge.", "We could hear the children singing outside.",
    "Six thick thistle sticks.", "Thank you very much, that is kind of you.",
]
UNHEARD_SENTENCES = [
    "Open the door and let the cat in.", "The library is closed on public holidays.",
    "Would you like another cup of coffee?", "Far behind the hills a dog was barking.",
    "One, two, three, four, five, six.", "He wrote the letter with a blue pencil.",
]
VOICES = [
    "en", "en-us+f2", "en-gb+m3", "de+f4", "fr", "es+f1", "it+m2", "sv+f3", "pl", "tr+m5", "el+f5", "ru+m7", "da+f2",
    "hu+m2", "ro+f3", "en-us+m6", "en-gb+f5", "de+m1", "fr+f4", "es+m3", "it+f2", "hr+m5", "sk", "sw+f1", "vi+m7",
    "hi+f3", "id+m4", "ca+f5", "lv+m2", "en-us+croak",
]
UNHEARD_VOICES = ["en-us+m4", "en-gb+f1", "nl", "pt+m1", "cs+f2", "fi+m6"]


def resampled(x, rate):
    """At RATE samples a second, the spectrum cut off where it must be."""
    n = len(x) * RATE // rate
    spectrum = np.fft.rfft(x)
    kept = np.zeros(n // 2 + 1, complex)
    kept[: min(len(kept), len(spectrum))] = spectrum[: min(len(kept), len(spectrum))]
    return np.fft.irfft(kept, n) * n / len(x)


def read_wav(source):
    with wave.open(source) as w:
        x = np.frombuffer(w.readframes(w.getnframes()), np.int16).reshape(-1, w.getnchannels())[:, 0]
        return resampled(x / 32768, w.getframerate())


def spoken(voice, sentence, speed, pitch=50):
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", "/dev/stdout", sentence]
    data = bytearray(subprocess.run(command, check=True, capture_output=True).stdout)
    x = np.frombuffer(bytes(data[44:]), np.int16) / 32768  # a pipe's header does not know the length
    return resampled(x, int.from_bytes(data[24:28], "little"))


def is_speech(clean, pieces):
    """Of each piece: within 35 dB of the loudest, gaps of up to five pieces closed."""
    power = (clean[: pieces * PIECE].reshape(pieces, PIECE) ** 2).mean(1)
    loud = power > max(power.max() * 10**-3.5, 1e-12)
    at = np.flatnonzero(loud)
    for a, b in zip(at, at[1:]):
        if b - a <= 6:
            loud[a:b] = True
    return loud


def noise(n, random):
    """White to brown, with hum, tones, clicks or slow changes now and then; of power 1."""
    frequencies = np.fft.rfftfreq(n, 1 / RATE)
    spectrum = np.fft.rfft(random.standard_normal(n)) / np.maximum(frequencies, 40) ** random.uniform(0, 1.2)
    x = np.fft.irfft(spectrum, n)
    x /= x.std()
    time = np.arange(n) / RATE
    if random.random() < 0.3:
        hum = sum(np.sin(2 * np.pi * 50 * k * time + random.uniform(0, 6)) / k for k in (1, 2, 3, 5, 7))
        x += random.uniform(0.3, 2) * hum
    if random.random() < 0.4:
        for _ in range(random.integers(1, 8)):
            begin, length = random.integers(0, n), random.integers(1600, 24000)
            tone = np.sin(2 * np.pi * random.uniform(200, 4000) * time[:length]) * np.hanning(length)
            x[begin : begin + length] += random.uniform(0.5, 4) * tone[: n - begin]
    if random.random() < 0.3:
        for begin in random.integers(0, n, random.integers(2, 30)):
            length = min(n - begin, 400)
            x[begin : begin + length] += random.uniform(2, 15) * random.standard_normal(length) * np.exp(-np.arange(length) / 60)
    if random.random() < 0.4:
        x *= 1 + 0.8 * np.sin(2 * np.pi * random.uniform(0.1, 2) * time + random.uniform(0, 6))
    return x / x.std()


def recording(voices, pieces, random, most_noise=0.0):
    """Samples from -1 to 1, and which pieces are speech; signal over noise from `most_noise` to 30 dB."""
    n = pieces * PIECE
    clean, at = np.zeros(n), random.integers(0, 30000)
    while at < n and voices:
        x = voices[random.integers(len(voices))]
        x = x[: n - at] * random.uniform(0.5, 1)
        clean[at : at + len(x)] = x
        at += len(x) + random.integers(3000, 40000)
    label = is_speech(clean, pieces) if clean.any() else np.zeros(pieces, bool)
    level = np.sqrt((clean.reshape(pieces, PIECE)[label] ** 2).mean()) if label.any() else 0.05
    x = clean + noise(n, random) * level * 10 ** (-random.uniform(most_noise, 30) / 20)
    return x * 10 ** random.uniform(-1.2, 0.2) / max(1, 4 * np.abs(x).max()) * 4, label


def rows_of(x, pieces):
    padded = np.concatenate([np.zeros(CONTEXT), x])
    return np.stack([padded[p * PIECE : p * PIECE + CONTEXT + PIECE] for p in range(pieces)]).astype(np.float32)


def band_filters():
    """Cosine and sine of each band under a Hann window: [2 BANDS, WINDOW]; bands at equal steps of the mel scale."""
    mel = np.linspace(*(2595 * np.log10(1 + f / 700) for f in (120, 7000)), BANDS)
    turns = 2 * np.pi * (700 * (10 ** (mel / 2595) - 1))[:, None] * np.arange(WINDOW) / RATE
    return (np.concatenate([np.cos(turns), np.sin(turns)]) * np.hanning(WINDOW)).astype(np.float32)


def features_of(rows, filters):
    """Logarithms of the bands' powers, window by window: [T, BANDS * 3], bands outermost."""
    windows = np.stack([rows[:, w * HOP : w * HOP + WINDOW] for w in range(3)], -1)
    parts = np.einsum("fw,twk->tfk", filters, windows)
    return np.log(parts[:, :BANDS] ** 2 + parts[:, BANDS:] ** 2 + 1e-4).reshape(len(rows), FEATURES)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Layer:
    """An LSTM (gates i, o, f, c as ONNX has them) and one unit that reads it, trained by Adam."""

    def __init__(self, random):
        def normal(*shape):
            return random.standard_normal(shape).astype(np.float32)

        self.p = {"w": normal(4 * UNITS, FEATURES) / FEATURES**0.5, "r": normal(4 * UNITS, UNITS) / UNITS**0.5,
                  "b": np.zeros(4 * UNITS, np.float32), "v": normal(UNITS) / UNITS**0.5, "d": np.zeros((), np.float32)}
        self.p["b"][2 * UNITS : 3 * UNITS] = 1
        self.first = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.second = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.step = 0

    def forward(self, x):
        """x [T, N, FEATURES]; keeps what backward() needs."""
        p, (steps, batch, _) = self.p, x.shape
        added = x @ p["w"].T + p["b"]
        h, c, self.kept = np.zeros((batch, UNITS), np.float32), np.zeros((batch, UNITS), np.float32), []
        out = np.empty((steps, batch, UNITS), np.float32)
        for t in range(steps):
            i, o, f, g = np.split(added[t] + h @ p["r"].T, 4, 1)
            i, o, f, g = sigmoid(i), sigmoid(o), sigmoid(f), np.tanh(g)
            new = f * c + i * g
            self.kept.append((i, o, f, g, c, np.tanh(new), h))
            h, c = o * np.tanh(new), new
            out[t] = h
        self.x, self.out = x, out
        return sigmoid(out @ p["v"] + p["d"])

    def learn(self, probability, label, rate):
        p, error = self.p, (probability - label) / label.size
        grad = {"v": np.einsum("tn,tnu->u", error, self.out), "d": error.sum(), "r": np.zeros_like(p["r"])}
        dh, dc = np.zeros_like(self.out[0]), np.zeros_like(self.out[0])
        gates = np.empty((*self.out.shape[:2], 4 * UNITS), np.float32)
        for t in reversed(range(len(self.kept))):
            i, o, f, g, c, new, h = self.kept[t]
            dh = dh + error[t][:, None] * p["v"]
            dc = dc + dh * o * (1 - new**2)
            gates[t] = np.concatenate([dc * g * i * (1 - i), dh * new * o * (1 - o), dc * c * f * (1 - f), dc * i * (1 - g**2)], 1)
            grad["r"] += gates[t].T @ h
            dh, dc = gates[t] @ p["r"], dc * f
        grad["b"] = gates.sum((0, 1))
        grad["w"] = np.einsum("tng,tnf->gf", gates, self.x, optimize=True)
        size = np.sqrt(sum((g**2).sum() for g in grad.values()))
        self.step += 1
        for k, g in grad.items():
            g = g / max(1, size)
            self.first[k] = 0.9 * self.first[k] + 0.1 * g
            self.second[k] = 0.999 * self.second[k] + 0.001 * g**2
            mean, square = self.first[k] / (1 - 0.9**self.step), self.second[k] / (1 - 0.999**self.step)
            p[k] = (p[k] - rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)


def train(filters, random):
    voices = [spoken(v, s, *random.integers([120, 20], [220, 90])) for v in VOICES for s in SENTENCES]
    recordings = [recording(voices if k % 8 else [], PIECES, random) for k in range(1600)]
    x = np.stack([features_of(rows_of(r, PIECES), filters) for r, _ in recordings], 1)
    y = np.stack([label for _, label in recordings], 1).astype(np.float32)
    mean, scale = x.mean((0, 1)), x.std((0, 1))
    x = ((x - mean) / scale).astype(np.float32)
    layer = Layer(random)
    for step in range(STEPS):
        chosen = random.integers(0, x.shape[1], BATCH)
        probability = layer.forward(x[:, chosen])
        if step % 100 == 0:
            print(f"step {step}: {np.mean((probability > 0.5) == (y[:, chosen] > 0.5)):.4f}", flush=True)
        layer.learn(probability, y[:, chosen], 0.004 * 0.5 ** (4 * step / STEPS))
    p = layer.p
    p["b"] = p["b"] - p["w"] @ (mean / scale).astype(np.float32)  # of features that are not normalised
    p["w"] = p["w"] / scale.astype(np.float32)
    return p


def write_model(p, filters):
    weights = {
        "filters": filters[:, None, :], "least": np.array([1e-4], np.float32), "rows": np.array([1], np.int64),
        "parts": np.array([0, 2, BANDS, 3], np.int64), "steps": np.array([0, 1, FEATURES], np.int64),
        "second": np.array([1], np.int64), "units": np.array([0, UNITS], np.int64), "flat": np.array([-1], np.int64),
        "w": p["w"][None], "r": p["r"][None], "b": np.concatenate([p["b"], np.zeros_like(p["b"])])[None],
        "v": p["v"][:, None], "d": p["d"].reshape(1),
    }

    def node(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)

    nodes = [
        node("Unsqueeze", "input rows", "signal"),
        node("Conv", "signal filters", "waves", strides=[HOP]),
        node("Mul", "waves waves", "squares"),
        node("Reshape", "squares parts", "cosines_and_sines"),
        node("ReduceSum", "cosines_and_sines second", "powers", keepdims=0),
        node("Add", "powers least", "powers_above_0"),
        node("Log", "powers_above_0", "levels"),
        node("Reshape", "levels steps", "features"),
        helper.make_node("LSTM", ["features", "w", "r", "b", "", "h", "c"], ["states", "hn", "cn"], "lstm", hidden_size=UNITS),
        node("Reshape", "states units", "seen"),
        node("MatMul", "seen v", "weighed"),
        node("Add", "weighed d", "logit"),
        node("Sigmoid", "logit", "probability"),
        node("Reshape", "probability flat", "speech_probs"),
    ]

    def port(name, *dims):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)

    state = (1, 1, UNITS)
    graph = helper.make_graph(
        nodes, "speech", [port("input", "T", CONTEXT + PIECE), port("h", *state), port("c", *state)],
        [port("speech_probs", "T"), port("hn", *state), port("cn", *state)],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="make_speech_model.py")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, HERE / "speech.onnx")


def probabilities(x):
    session = onnxruntime.InferenceSession(HERE / "speech.onnx")
    pieces, zeros = len(x) // PIECE, np.zeros((1, 1, UNITS), np.float32)
    return session.run(["speech_probs"], {"input": rows_of(x, pieces), "h": zeros, "c": zeros})[0]


def write_recording(voices, random):
    """Two sentences with pauses, some 10 dB above noise; as 16 bits."""
    parts = [np.zeros(RATE), voices[0], np.zeros(RATE * 3 // 4), voices[1], np.zeros(RATE)]
    clean = np.concatenate(parts)
    clean = clean[: len(clean) // PIECE * PIECE]
    label = is_speech(clean, len(clean) // PIECE)
    level = np.sqrt((clean.reshape(-1, PIECE)[label] ** 2).mean())
    x = clean + noise(len(clean), random) * level * 10 ** (-10 / 20)
    x = np.round(x / np.abs(x).max() * 20000).astype(np.int16)
    with wave.open(str(HERE / "speech.wav"), "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(RATE)
        w.writeframes(x.tobytes())
    print(f"speech.wav: {len(label)} pieces, {np.mean((probabilities(x / 32768) > 0.5) == label):.4f} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--human", type=pathlib.Path, help="folder of .wav files to try the detector on")
    a = parser.parse_args()
    filters = band_filters()
    write_model(train(filters, np.random.default_rng(7)), filters)
    random = np.random.default_rng(8)
    voices = [spoken(v, s, 160) for v in UNHEARD_VOICES for s in UNHEARD_SENTENCES]
    for least in (20, 10, 5, 0):
        held_out = [recording(voices if k % 8 else [], PIECES, random, least) for k in range(64)]
        right = [(probabilities(x) > 0.5) == label for x, label in held_out]
        print(f"voices not heard, {least} to 30 dB above noise: {np.mean(right):.4f} of pieces right")
    write_recording([voices[0], voices[13]], random)
    for path in sorted(a.human.rglob("*.wav")) if a.human else []:
        x = np.concatenate([np.zeros(RATE), read_wav(str(path)), np.zeros(RATE)])
        x = x[: len(x) // PIECE * PIECE]
        label = is_speech(x, len(x) // PIECE)
        x = x + noise(len(x), random) * 0.1 * np.sqrt((x**2).mean())
        print(f"{path.name}: {np.mean((probabilities(x) > 0.5) == label):.4f} of {len(label)} pieces right")


if __name__ == "__main__":
    main()
