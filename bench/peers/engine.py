# SPDX-License-Identifier: MIT
"""An inference engine in a process of its own, which another process commands, a line each way (JSON).

    engine.py ENGINE MODEL.onnx INPUTS THREADS     INPUTS: a folder with a .npy for each input of the model

First it says {"load_ms", "first_ms", "peak_mb"}: making the model ready from the file, the first run, and how much memory
that took at its peak beyond Python with the engine imported; or {"failed": why}. Then it answers `time N`, the median of N
runs in milliseconds, and `save FOLDER`, which writes the outputs of a run. All compute in 32-bit floats.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.parse

import numpy as np

ENGINES = ["onnxruntime", "openvino", "ncnn", "mnn"]


def file_name(tensor):
    return urllib.parse.quote(tensor, safe="") + ".npy"


def inputs_of(folder):
    """By name, in the order of the model's inputs, which a file keeps."""
    names = json.loads((folder / "inputs.json").read_text())
    return {name: np.load(folder / file_name(name)) for name in names}


class onnxruntime_engine:
    def __init__(self, threads):
        import onnxruntime
        self.module, self.threads = onnxruntime, threads

    def load(self, model, inputs):
        options = self.module.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        options.log_severity_level = 3
        self.session = self.module.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.inputs = inputs

    def run(self):
        return self.session.run(None, self.inputs)


class openvino_engine:
    def __init__(self, threads):
        import openvino
        self.core = openvino.Core()
        self.core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                                       "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1})

    def load(self, model, inputs):
        read = self.core.read_model(str(model))
        read.reshape({name: list(x.shape) for name, x in inputs.items()})
        self.request = self.core.compile_model(read, "CPU").create_infer_request()
        self.inputs = inputs

    def run(self):
        self.request.infer(self.inputs, share_inputs=True, share_outputs=True)
        return [self.request.get_output_tensor(i).data for i in range(len(self.request.model_outputs))]


def converted(command, wanted, folder):
    """What a converter makes, once; its messages are the error where it makes nothing."""
    if all((folder / name).exists() for name in wanted):
        return
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
    if not all((folder / name).exists() for name in wanted):
        raise RuntimeError(f"not converted: {done.stdout.strip()[-300:]}")


class ncnn_engine:
    def __init__(self, threads):
        import ncnn
        self.module, self.threads = ncnn, threads

    def prepare(self, model, inputs):
        sizes = ",".join(f"[{','.join(map(str, x.shape))}]{'i64' if x.dtype == np.int64 else 'f32'}" for x in inputs.values())
        import onnx
        onnx.save(onnx.load(model), model.with_name("whole.onnx"))  # pnnx reads no weights from beside the file
        names = [f"{what}=ncnn_{what}" for what in ("pnnxparam", "pnnxbin", "pnnxpy", "pnnxonnx", "ncnnparam", "ncnnbin", "ncnnpy")]
        converted([str(pathlib.Path(sys.executable).with_name("pnnx")), "whole.onnx", f"inputshape={sizes}", "fp16=0", *names],
                  ["ncnn_ncnnparam", "ncnn_ncnnbin"], model.parent)

    def load(self, model, inputs):
        self.net = self.module.Net()
        options = self.net.opt
        options.num_threads = self.threads
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
            setattr(options, name, False)
        files = [str(model.with_name(f"ncnn_ncnn{what}")) for what in ("param", "bin")]
        if self.net.load_param(files[0]) or self.net.load_model(files[1]):
            raise RuntimeError("ncnn does not load what pnnx has written")
        # of a batch of one ncnn knows nothing, and indices are 32 bits wide
        self.inputs = [np.ascontiguousarray(x.reshape(x.shape[1:]).astype(np.int32 if x.dtype == np.int64 else x.dtype))
                       for x in inputs.values()]

    def run(self):
        with self.net.create_extractor() as extractor:
            for name, x in zip(self.net.input_names(), self.inputs):
                extractor.input(name, self.module.Mat(x))
            found = [extractor.extract(name) for name in self.net.output_names()]
        if any(status for status, _ in found):
            raise RuntimeError("ncnn cannot run it")
        return [np.array(x) for _, x in found]


class mnn_engine:
    def __init__(self, threads):
        import MNN
        import MNN.expr
        import MNN.nn
        self.module, self.threads = MNN, threads

    def prepare(self, model, inputs):
        # the package's own command of that name looks for a package of its maker's that reports what is converted
        program = "import sys, _tools; _tools.mnnconvert(sys.argv)"
        converted([sys.executable, "-c", program, "-f", "ONNX", "--modelFile", str(model), "--MNNModel", "mnn.mnn",
                   "--bizCode", "bench"], ["mnn.mnn"], model.parent)

    def load(self, model, inputs):
        nn, expr, np_ = self.module.nn, self.module.expr, self.module.numpy
        outputs = json.loads((model.parent / "outputs.json").read_text())
        runtime = nn.create_runtime_manager(({"precision": "high", "backend": "CPU", "numThread": self.threads},))
        self.net = nn.load_module_from_file(str(model.with_name("mnn.mnn")), list(inputs), outputs, runtime_manager=runtime)
        self.inputs = []
        for x in inputs.values():
            x = x.astype(np.int32) if x.dtype == np.int64 else x
            order = expr.NCHW
            self.inputs.append(expr.const(x, list(x.shape), order, expr.int if x.dtype == np.int32 else expr.float))
        self.numpy, self.expr = np_, expr

    def run(self):
        found = self.net.forward(self.inputs)
        found = found if isinstance(found, (list, tuple)) else [found]
        return [self.expr.convert(x, self.expr.NCHW).read() for x in found]


def prepare(name, model, folder):
    """Converts the model in a process of its own, whose memory is not the engine's."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            engine = globals()[name + "_engine"](1)
            if hasattr(engine, "prepare"):
                engine.prepare(model, inputs_of(folder))
            status = 0
        except Exception as failure:
            answer(failed=f"{type(failure).__name__}: {failure}"[:400])
        os._exit(status)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)


def resident_mb(at):
    """Megabytes of this process, `at` the "peak" or "now"."""
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    field = {"peak": "VmHWM:", "now": "VmRSS:"}[at]
    return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def forget_peak():
    """The peak is what is resident now: importing an engine takes more than some models do."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def answer(**words):
    print(json.dumps(words), file=ANSWERS, flush=True)


def serve(name, model, folder, threads):
    prepare(name, model, folder)
    engine = globals()[name + "_engine"](threads)
    inputs = inputs_of(folder)
    forget_peak()
    before, begin = resident_mb("now"), time.perf_counter()
    engine.load(model, inputs)
    loaded = time.perf_counter()
    engine.run()
    answer(load_ms=1e3 * (loaded - begin), first_ms=1e3 * (time.perf_counter() - loaded), peak_mb=resident_mb("peak") - before)
    for line in sys.stdin:
        order, argument = line.split(maxsplit=1)
        if order == "time":
            taken = []
            for _ in range(int(argument)):
                begin = time.perf_counter()
                engine.run()
                taken.append(1e3 * (time.perf_counter() - begin))
            answer(ms=statistics.median(taken))
        else:
            for i, y in enumerate(engine.run()):
                np.save(pathlib.Path(argument.strip()) / f"{i}.npy", np.asarray(y))
            answer(saved=True)


if __name__ == "__main__":
    # what engines print, from C too, goes to standard error
    ANSWERS = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        serve(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4]))
    except Exception as failure:  # whatever an engine has to say
        answer(failed=f"{type(failure).__name__}: {failure}"[:400])
