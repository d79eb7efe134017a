#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cuBLAS, cuDNN and scaled_dot_product_attention take on an NVIDIA GPU for the shapes of bench_opencl, through
PyTorch: 32-bit floats without TF32, in microseconds by CUDA events round a CUDA graph of 20 calls, the best of 5.
Products and convolutions are alone, without the bias and Relu that bench_opencl has behind them.

    python3 bench/peers/opencl_kernels.py [--only products|convolutions|attention] [output of bench_opencl]

With the output of bench_opencl, of the same machine, also the ratio of times: above 1 ours is faster.
"""
import argparse
import math
import re

import torch
import torch.nn.functional as F

PRODUCTS = [(128, 768, 768), (128, 2304, 768), (128, 3072, 768), (128, 768, 3072), (197, 768, 768), (197, 2304, 768),
            (197, 3072, 768), (197, 768, 3072), (3136, 384, 96), (3136, 96, 384), (784, 768, 192), (784, 192, 768),
            (196, 1536, 384), (196, 384, 1536), (49, 3072, 768), (49, 768, 3072), (196, 1024, 256), (196, 256, 1024),
            (1024, 1024, 1024), (4096, 4096, 4096)]
OTHER_PRODUCTS = [(384, 768, 3072), (77, 3072, 768), (257, 1024, 4096), (512, 512, 2048), (300, 256, 2048),
                  (1500, 384, 384), (50, 2048, 512), (577, 768, 768)]
# channels in, pixels a side, channels out, taps a side, stride, groups
CONVOLUTIONS = [(3, 224, 64, 7, 2, 1), (64, 56, 64, 1, 1, 1), (64, 56, 64, 3, 1, 1), (64, 56, 256, 1, 1, 1),
                (256, 56, 64, 1, 1, 1), (256, 56, 128, 1, 1, 1), (128, 56, 128, 3, 2, 1), (256, 56, 512, 1, 2, 1),
                (128, 28, 512, 1, 1, 1), (512, 28, 128, 1, 1, 1), (128, 28, 128, 3, 1, 1), (512, 28, 256, 1, 1, 1),
                (256, 28, 256, 3, 2, 1), (512, 28, 1024, 1, 2, 1), (256, 14, 1024, 1, 1, 1), (1024, 14, 256, 1, 1, 1),
                (256, 14, 256, 3, 1, 1), (1024, 14, 512, 1, 1, 1), (512, 14, 512, 3, 2, 1), (1024, 14, 2048, 1, 2, 1),
                (512, 7, 2048, 1, 1, 1), (2048, 7, 512, 1, 1, 1), (512, 7, 512, 3, 1, 1), (96, 56, 96, 7, 1, 96),
                (256, 56, 256, 3, 1, 32)]
# Those with 3 x 3 taps of VGG-16, U-Nets and YOLOv8n.
TAPS_3X3 = [(c, size, o, 3, 1, 1) for c, size, o in
            [(64, 224, 64), (128, 112, 128), (256, 56, 256), (256, 28, 512), (512, 28, 512), (512, 14, 512),
             (32, 256, 32), (64, 128, 64), (32, 80, 32), (64, 40, 64), (64, 80, 64), (128, 20, 128), (16, 160, 16),
             (320, 64, 320)]]
# A filter a channel, and windows that do not overlap.
DEPTHWISE = [(c, size, c, k, stride, c) for c, size, k, stride in
             [(96, 56, 7, 1), (192, 28, 7, 1), (384, 14, 7, 1), (768, 7, 7, 1), (32, 112, 3, 1), (96, 112, 3, 2),
              (144, 56, 3, 1), (192, 28, 3, 1), (384, 14, 3, 1), (576, 14, 3, 2), (960, 7, 3, 1), (240, 28, 5, 1),
              (672, 14, 5, 1), (1152, 7, 5, 1)]]
APART = [(3, 224, 96, 4, 4, 1), (3, 224, 768, 16, 16, 1), (96, 56, 192, 2, 2, 1), (192, 28, 384, 2, 2, 1),
         (384, 14, 768, 2, 2, 1)]
# heads, queries, keys, numbers of a head
ATTENTION = [(12, 128, 128, 64), (12, 197, 197, 64), (12, 384, 384, 64), (12, 1024, 1024, 64), (8, 4096, 4096, 64),
             (12, 1, 1024, 64), (32, 49, 49, 32), (8, 1024, 77, 80), (16, 257, 257, 80), (8, 512, 512, 128)]
CALLS, TURNS = 20, 5


def microseconds(call):
    """Of one call, in a graph of CALLS."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):  # the libraries choose their kernels
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    best = math.inf
    for _ in range(TURNS + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3 / CALLS)
    return best


def random(*extents):
    return torch.rand(extents, device="cuda") * 2 - 1


def ours(path):
    """Microseconds a launch by the name of the shape."""
    times = {}
    for line in open(path):
        if found := re.match(r"(\S.{37}) +[\d.]+ +([\d.]+) ", line):
            times.setdefault(found[1].strip(), float(found[2]))
    return times


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", choices=["products", "convolutions", "attention"])
    arguments.add_argument("ours", nargs="?")
    arguments = arguments.parse_args()
    known = ours(arguments.ours) if arguments.ours else {}
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    ratios = {}

    def show(kind, name, us):
        line = f"{name:38s} {us:9.2f}"
        if name in known:
            ratios.setdefault(kind, []).append(us / known[name])
            line += f" {known[name]:9.2f} {us / known[name]:6.2f}"
        print(line, flush=True)

    def wants(kind):
        return arguments.only in (None, kind)

    with torch.no_grad():
        kinds = [("products", s) for s in PRODUCTS] + [("other products", s) for s in OTHER_PRODUCTS]
        for kind, (m, n, k) in kinds if wants("products") else []:
            a, b = random(m, k), random(k, n)
            show(kind, f"product {m}x{n}x{k}", microseconds(lambda: a @ b))
        for last in (torch.contiguous_format, torch.channels_last):
            listed = [("convolutions", s) for s in CONVOLUTIONS if s[-1] != s[0]]
            listed += [("3x3", s) for s in TAPS_3X3]
            listed += [("depthwise", s) for s in DEPTHWISE] + [("windows apart", s) for s in APART]
            for kind, (i, size, o, k, stride, group) in listed if wants("convolutions") else []:
                x = random(1, i, size, size).to(memory_format=last)
                w = random(o, i // group, k, k).to(memory_format=last)
                name = f"conv {i}x{size}x{size}->{o} {k}x{k}/{stride}" + (f", {group} groups" if group > 1 else "")
                kind += ", " + ("NCHW" if last == torch.contiguous_format else "NHWC")
                pad = 0 if k == stride else k // 2
                show(kind, name, microseconds(lambda: F.conv2d(x, w, None, stride, pad, 1, group)))
        for heads, queries, keys, depth in ATTENTION if wants("attention") else []:
            q = random(1, heads, queries, depth)
            k, v = (random(1, heads, keys, depth) for _ in range(2))
            name = f"attention {heads}x{depth}, " + (f"{queries} by " if queries != keys else "") + f"{keys} keys"
            show("attention", name, microseconds(lambda: F.scaled_dot_product_attention(q, k, v)))
    for kind, list_of in ratios.items():
        mean = math.exp(sum(map(math.log, list_of)) / len(list_of))
        print(f"{kind}: geometric mean of ratios {mean:.2f}, from {min(list_of):.2f} to {max(list_of):.2f}")


if __name__ == "__main__":
    main()
