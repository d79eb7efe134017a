#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks of the zoo through OpenCL on an NVIDIA GPU, beside PyTorch on it: one JSON object a line, then a table.

Programs are those of `dnnkit build --target opencl`, in FOLDER/NAME/program_opencl, and where it is there
program_opencl_images, of --target opencl_images. Each is given the zoo's weights and
inputs, and its outputs are compared with ONNX Runtime's. Times are of batch 1 in 32-bit floats: of a program the median
of 200 runs, each with its input copied to the device and its output back; of PyTorch medians of 50 calls without TF32,
by CUDA events with inputs and outputs on the device, and, as `copied`, by the clock of a call with both in pinned
memory: eager, by torch.compile, and by torch.compile(mode="reduce-overhead"), which replays CUDA graphs. The peers' networks are torchvision's and transformers' with weights of their own (attention is
scaled_dot_product_attention), or the zoo's graph as a module (graph_module.py).

    python3 bench/peers/opencl_networks.py [--no-peers] [--half] [--device NAME] FOLDER [MODEL ...]

--half: PyTorch in 16-bit floats as well.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support"), str(ROOT / "bench/passes")]
from explained import geometric_mean, table
from materialize import feed, materialize
from runtime_peer import call, compare, file_name, last_line, milliseconds_of_program, progress, runtime_of

MODELS = ["swin_t", "vit_b_16", "resnet50", "convnext_tiny", "bert_base", "mobilenet_v2", "efficientnet_b0", "gpt2",
          "unet", "yolov8n"]
GRAPHS = {"unet", "yolov8n"}  # which no package has
RUNS, CALLS = 200, 50
KINDS = {"eager": None, "inductor": "default", "graphs": "reduce-overhead"}


def ours(name, folder, device):
    """Deviation and milliseconds of the programs, and the model's path and inputs."""
    path = materialize(ROOT / f"tests/zoo/{name}.onnx", folder / name)
    session = runtime_of(path)
    values = feed(name, session, {})
    words = ["--device", device, "--weights", path]
    for x, value in values.items():
        np.save(folder / name / file_name(x), value)
        words += ["--input", f"{x}={folder / name / file_name(x)}"]
    expected, output = session.run(None, values), folder / name / "outputs"
    measured = {"deviation": 0}
    for key, program in (("dnnkit_ms", "program_opencl"), ("images_ms", "program_opencl_images")):
        command = [folder / name / program, *words]
        if key == "images_ms" and not command[0].exists():
            continue
        status, text, _, _ = call([*command, "--output", output], 600)
        if status:
            raise RuntimeError(last_line(text) or f"exit status {status}")
        measured["deviation"] = max(measured["deviation"], compare(expected, output, session)[1])
        measured[key] = milliseconds_of_program(command, RUNS)
    return measured, path, values


def module_of(name, path, values):
    """PyTorch's network, and its inputs."""
    import torch
    inputs = [torch.from_numpy(v).cuda() for v in values.values()]
    if name in ("bert_base", "gpt2"):
        import transformers
        words = torch.randint(0, 1000, (1, 128)).cuda()
        if name == "gpt2":
            return transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)), [words]
        return transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False), [words]
    if name in GRAPHS:
        from graph_module import graph_module
        return graph_module(path).settle(*(x.cpu() for x in inputs)), inputs
    import torchvision
    return getattr(torchvision.models, name)(), inputs


def milliseconds(network, inputs):
    import torch
    taken = []
    with torch.inference_mode():
        for _ in range(10):
            network(*inputs)
        torch.cuda.synchronize()
        for _ in range(CALLS):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            network(*inputs)
            end.record()
            torch.cuda.synchronize()
            taken.append(begin.elapsed_time(end))
        return round(statistics.median(taken), 4), round(with_copies(network, inputs), 4)


def tensors_of(result):
    """What a network gives, be it a tensor, several, or an output with names."""
    if hasattr(result, "shape"):
        return [result]
    values = result.values() if hasattr(result, "values") else result
    return [x for x in values if hasattr(x, "shape")]


def with_copies(network, inputs):
    """Milliseconds of a call, from inputs in pinned memory to outputs there."""
    import torch
    given = [x.cpu().pin_memory() for x in inputs]
    taken = [torch.empty_like(x, device="cpu", pin_memory=True) for x in tensors_of(network(*inputs))]
    times = []
    for _ in range(CALLS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for x, y in zip(given, inputs):
            y.copy_(x, non_blocking=True)
        for x, y in zip(tensors_of(network(*inputs)), taken):
            y.copy_(x, non_blocking=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def peers(name, path, values, half):
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    result = {}
    for suffix, kind in (("", torch.float32), ("_half", torch.float16))[:2 if half else 1]:
        network, inputs = module_of(name, path, values)
        network = network.cuda().eval().to(kind)
        inputs = [x.to(kind) if x.is_floating_point() else x for x in inputs]
        if name in GRAPHS:  # as straight code: a compiler gives up on loops over nodes
            with torch.no_grad():
                network = make_fx(network)(*inputs)
        for label, mode in KINDS.items():
            torch._dynamo.reset()
            progress(f"{name}: {label}{suffix}")
            try:
                timed = torch.compile(network, mode=mode, dynamic=False) if mode else network
                result[f"{label}{suffix}_ms"], result[f"{label}{suffix}_copied_ms"] = milliseconds(timed, inputs)
            except Exception as failure:  # noqa: BLE001: whatever a compiler raises is said beside what it compiled
                result[f"{label}{suffix}_failed"] = str(failure)[-300:]
    return result


def print_table(results):
    images = ["images"] if any("images_ms" in r for r in results) else []
    labels = [*images, *KINDS, "graphs_copied", *(f"{k}_half" for k in KINDS if any(f"{k}_half_ms" in r for r in results))]
    cell = lambda r, key: f"{r[key]:.3f}" if key in r else ""
    share = lambda r, key: r["dnnkit_ms"] / r[key] if key in r else None
    kept = ("graphs_ms", "graphs_copied_ms")
    rows = [[r["name"], cell(r, "dnnkit_ms"), *(cell(r, f"{k}_ms") for k in labels),
             *(f"{share(r, k):.2f}" if k in r else "" for k in kept), f"{r['deviation']:.0e}"] for r in results]
    if all(k in results[0] for k in kept):
        means = [geometric_mean([share(r, k) for r in results if k in r]) for k in kept]
        rows.append(["geometric mean", "", *("" for _ in labels), *(f"{m:.2f}" for m in means), ""])
    names = [k.replace("_", " ") for k in labels]
    table(["network", "dnnkit, ms", *(f"{k}, ms" for k in names), "by graphs", "by graphs copied", "deviation"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-peers", action="store_true", help="dnnkit's programs only")
    parser.add_argument("--half", action="store_true", help="the peers in 16-bit floats, too")
    parser.add_argument("--device", default="NVIDIA")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=MODELS, metavar="MODEL")
    a = parser.parse_args()
    results, failed = [], 0
    for name in a.names or MODELS:
        result = {"name": name}
        try:
            progress(f"{name}: dnnkit")
            measured, path, values = ours(name, a.folder, a.device)
            result |= measured
            if not a.no_peers:
                result |= peers(name, path, values, a.half)
            results.append(result)
        except (RuntimeError, ValueError, OSError) as failure:
            result["failed"], failed = str(failure)[:600], failed + 1
        progress("")
        print(json.dumps(result), flush=True)
    if results:
        print_table(results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
