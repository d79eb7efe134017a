#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels of graphs of the zoo: no more than there are when attention, convolutions with their pools, and convolutions with
# the normalisation of their pixels are one each, and what only chooses elements or joins images is none.
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
110 bert_base
64 convnext_tiny
31 fst
87 gpt2
350 sd_unet
73 sd_vae_decoder
143 swin_t
38 tinybert
17 vgg16
125 vit_b_16
39 whisper_tiny_encoder
61 yolov8n
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
61 yolov8n
COUNTS
exit $wrong
