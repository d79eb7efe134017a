#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels of graphs of the zoo: no more than there are when attention, convolutions with their pools, and products or
# convolutions with the normalisation beside them are one each, and what only chooses elements or joins images is none.
# Convolutions that Winograd's algorithm computes, in steps of two as well, have kernels of their own, and so have
# normalisations beside them.
# Usage: kernel_counts.sh TOOL FOLDER, which holds the graphs.
set -euo pipefail
tool=$1
folder=$2

wrong=0
while read -r most name; do
  found=$("$tool" explain --json "$folder/$name.onnx" | sed -n 's/^ *"kernels": \([0-9]*\),$/\1/p')
  echo "$name: $found kernels, at most $most"
  [ "$found" -le "$most" ] || wrong=1
done << 'COUNTS'
62 bert_base
61 clip_text
53 conformer_s
60 convnext_tiny
99 depth_anything_s
31 fst
62 gpt2
122 gptneo_1_3b
273 sd_unet
71 sd_vae_decoder
88 swin_t
22 tinybert
23 unet
16 vgg16
63 vit_b_16
22 whisper_tiny_encoder
68 yolov8n
COUNTS
# As planned for a GPU, whose launches cost: stages with local memory, or whose work-groups wait for each other.
while read -r most name; do
  found=$("$tool" explain --json --target opencl "$folder/$name.onnx" | sed -n 's/^ *"kernels": \([0-9]*\),$/\1/p')
  echo "$name for a GPU: $found kernels, at most $most"
  [ "$found" -le "$most" ] || wrong=1
done << 'COUNTS'
61 bert_base
41 convnext_tiny
34 efficientnet_b0
62 gpt2
75 swin_t
62 vit_b_16
62 yolov8n
COUNTS
exit $wrong
