# SPDX-License-Identifier: MIT
"""The zoo's models as planned for a processor and for a GPU, whose launches cost: kernels, and the expected time.

`cpu`: for AVX-512. `gpu`: for the facts of an H200 (include/dnnkit/cost/gpu_facts.hpp), by kernels that are planned only
(include/dnnkit/opencl/planned_families.hpp): of one stage each, and with stages. Families: how many kernels of several
stages there are of each.
"""
import argparse
import sys

from explained import chosen, geometric_mean, table, tool

# Kernels that a target should have at most whose launches cost.
GOALS = {"resnext50_32x4d": 54, "regnet_y_3_2gf": 92, "convnext_tiny": 46, "c3d": 16, "vgg16": 17, "efficientnet_b0": 68,
         "s3d": 80, "unet": 23, "yolov8n": 66, "swin_t": 90, "vit_b_16": 64, "bert_base": 64, "tinybert": 24, "gpt2": 64,
         "clip_text": 64, "sd_vae_decoder": 66, "conformer_s": 52, "whisper_tiny_encoder": 26, "depth_anything_s": 100,
         "fst": 28, "gptneo_1_3b": 124, "sd_unet": 260}
STAGED = ["attention", "normalised_operand", "normalised_result", "product_pair", "image_tiles", "small_steps"]


def row(name, path, cpu, gpu):
    of_cpu = cpu.explain(path)["totals"]
    apart, joined = gpu.explain(path, ["join stages"])["totals"], gpu.explain(path)["totals"]
    times = [t["predicted_microseconds"] / 1000 for t in (apart, joined)]
    families = ", ".join(f"{joined['families'][f]} {f}" for f in STAGED if joined["families"].get(f))
    return [name, of_cpu["kernels"], apart["kernels"], joined["kernels"], *times, times[1] / times[0], GOALS.get(name, ""),
            families]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--device", default="opencl", help="opencl or opencl_small")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    cpu, gpu = tool(given.tool, isa="avx512"), tool(given.tool, target=given.device)
    rows = [row(name, path, cpu, gpu) for name, path in chosen(given.models).items()]
    shown = [[*r[:4], r[7], f"{r[4]:.2f}", f"{r[5]:.2f}", f"{r[6]:.2f}", r[8]] for r in rows]
    if len(rows) > 1:
        parts = [geometric_mean([r[i] / r[1] for r in rows]) for i in (2, 3)]
        shown.append(["geometric mean", "1.00", *(f"{p:.2f}" for p in parts), "", "", "",
                      f"{geometric_mean([r[6] for r in rows]):.2f}", ""])
    table(["model", "cpu", "gpu, one stage each", "gpu", "goal", "ms, one stage each", "ms", "ratio",
           "kernels of several stages"], shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
