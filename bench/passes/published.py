# SPDX-License-Identifier: MIT
"""What papers publish of the zoo's models: layers, and sizes of intermediate results, before and after their passes."""

# DNNFusion, Niu's thesis, table 3.5: layers before and after, MB of intermediate results before and after.
DNNFUSION = {
    "efficientnet_b0": (309, 97, 108, 26),
    "vgg16": (51, 17, 161, 52),
    "c3d": (27, 16, 195, 90),
    "s3d": (272, 98, 996, 356),
    "unet": (292, 82, 312, 158),
    "tinybert": (366, 74, 183, 50),
    "distilbert_dyn": (457, 109, 540, 197),
    "bert_base": (976, 216, 915, 196),
    "gpt2": (2533, 254, 1389, 356),
}

# The same, section 3.5.3: fused layers without rewriting by algebra, and with it.
DNNFUSION_REWRITING = {"gpt2": (310, 254)}

# SmartMem, ASPLOS 2024, table 7: operators before, by DNNFusion and by SmartMem.
SMARTMEM = {
    "swin_t": (765, 207, 158),
    "vit_b_16": (444, 168, 112),
    "conformer_s": (665, 219, 163),
    "clip_text": (674, 101, 84),
    "sd_unet": (1962, 436, 322),
    "sd_vae_decoder": (287, 103, 95),
    "convnext_tiny": (292, 96, 81),
    "regnet_y_3_2gf": (282, 122, 122),
    "resnext50_32x4d": (122, 55, 55),
    "yolov8n": (233, 75, 68),
}
