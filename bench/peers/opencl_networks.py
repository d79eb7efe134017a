#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks of the zoo through OpenCL on an NVIDIA GPU, beside PyTorch on it: one JSON object a line, then a table.

Programs are those of `dnnkit build --target opencl`, in FOLDER/NAME/program_opencl, and where it is there
program_opencl_images, of --target opencl_images, and program_opencl_half, of --target opencl and the model that
half_graph.py makes, in 16-bit floats. Each is given the zoo's weights and inputs, and its outputs are compared with
ONNX Runtime's. Times are of batch 1 in 32-bit floats. Of a program: the median of 200 runs from begin to end by the
host's clock, with inputs and outputs on the device, and, as `copied`, with its inputs copied there and its outputs
back. Of PyTorch: medians of 50 calls without TF32, by CUDA events with inputs and outputs on the device, and, as
`copied`, by the host's clock from inputs to outputs in pinned memory: eager, by torch.compile, and by torch.compile(mode="reduce-overhead"), which replays CUDA graphs. The
peers' networks are torchvision's and transformers' with weights of their own (attention is
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
from half_graph import half_of
from materialize import feed, materialize
from runtime_peer import call, compare, file_name, last_line, milliseconds_of_program, progress, runtime_of

MODELS = ["swin_t", "vit_b_16", "resnet50", "convnext_tiny", "bert_base", "mobilenet_v2", "efficientnet_b0", "gpt2",
          "unet", "yolov8n"]
GRAPHS = {"unet", "yolov8n"}  # which no package has
RUNS, CALLS = 200, 50
PROGRAMS = {"dnnkit": "program_opencl", "images": "program_opencl_images", "half": "program_opencl_half"}
KINDS = {"eager": None, "inductor": "default", "graphs": "reduce-overhead"}


def words_of(path, values, folder, device):
    """The options of a program: the device, where weights are, and files with the inputs."""
    words = ["--device", device, "--weights", path]
    for x, value in values.items():
        np.save(folder / file_name(x), value)
        words += ["--input", f"{x}={folder / file_name(x)}"]
    return words


def ours(name, folder, device):
    """Deviations and milliseconds of the programs, and the model's path and inputs."""
    path = materialize(ROOT / f"tests/zoo/{name}.onnx", folder / name)
    session = runtime_of(path)
    values = feed(name, session, {})
    expected = session.run(None, values)
    measured = {}
    for kind, program in PROGRAMS.items():
        program = folder / name / program
        if not program.exists():
            continue
        its_path, its_values, place = path, values, folder / name
        if kind == "half":
            place = folder / name / "half"
            its_path = half_of(path, place)
            its_values = {x: v.astype(np.float16) if v.dtype == np.float32 else v for x, v in values.items()}
        command = [program, *words_of(its_path, its_values, place, device)]
        status, text, _, _ = call([*command, "--output", place / "outputs"], 600)
        if status:
            raise RuntimeError(last_line(text) or f"exit status {status}")
        measured[f"{kind}_deviation"] = compare(expected, place / "outputs", session, any_float=kind == "half")[1]
        measured[f"{kind}_ms"] = milliseconds_of_program([*command, "--on-device"], RUNS)
        measured[f"{kind}_copied_ms"] = milliseconds_of_program(command, RUNS)
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
    had = lambda key: any(key in r for r in results)
    timed = [*PROGRAMS, *KINDS, *(f"{k}_half" for k in KINDS)]
    labels = [k for name in timed for k in (name, f"{name}_copied") if had(f"{k}_ms")]
    shares = {f"{ours} by {theirs}": (f"{ours}_ms", f"{theirs}_ms")
              for ours, theirs in (("images", "dnnkit"), ("dnnkit", "graphs"), ("dnnkit_copied", "graphs_copied"),
                                   ("half", "graphs_half"), ("half_copied", "graphs_half_copied"))
              if had(f"{ours}_ms") and had(f"{theirs}_ms")}
    deviations = [k for k in PROGRAMS if had(f"{k}_deviation")]
    cell = lambda r, key, form: f"{r[key]:{form}}" if key in r else ""
    share = lambda r, x, y: r[x] / r[y] if x in r and y in r else None
    text = lambda value: "" if value is None else f"{value:.2f}"
    rows = [[r["name"], *(cell(r, f"{k}_ms", ".3f") for k in labels), *(text(share(r, *s)) for s in shares.values()),
             *(cell(r, f"{k}_deviation", ".0e") for k in deviations)] for r in results]
    means = [geometric_mean([x for x in (share(r, *s) for r in results) if x is not None]) for s in shares.values()]
    rows.append(["geometric mean", *("" for _ in labels), *map(text, means), *("" for _ in deviations)])
    table(["network", *(f"{k}, ms".replace("_", " ") for k in labels), *(s.replace("_", " ") for s in shares),
           *(f"deviation, {k}" for k in deviations)], rows)


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
