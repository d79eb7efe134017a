// SPDX-License-Identifier: MIT
// Written by `dnnkit tune`, which measured it: what kernels took, in microseconds
#pragma once

#include <dnnkit/cost/tuned.hpp>

namespace dnnkit::tuned {

namespace detail {
// clang-format off
inline constexpr tuned_kernel measured_for_zen4[] = {
    // ReduceMean Conv Swish Conv Sigmoid: 1x1152x7x7 -> 1x1152x1x1
    {0x01bfe8521f5074f1, "thin_stages", 17.956},
    // Conv Relu: 1x256x56x56, 128x256x1x1, 128 -> 1x128x56x56
    {0x05d9b7c3b9810bd2, "conv_nchw", 2420.266},
    {0x05d9b7c3b9810bd2, "conv_nhwc", 1918.502},
    // ReduceMean MatMul Add: 1x768x7x7 -> 1x1000
    {0x068bffcf48c4bf60, "thin_stages", 97.495},
    // Conv Relu: 1x256x14x14, 256x256x3x3, 256 -> 1x256x14x14
    {0x06c8608193f3f2d1, "conv_nchw", 2386.657},
    {0x06c8608193f3f2d1, "conv_nhwc", 2010.072},
    {0x06c8608193f3f2d1, "conv_winograd", 978.866},
    // Conv Clip: 1x3x224x224, 32x3x3x3, 32 -> 1x32x112x112
    {0x0a546d9840ff2644, "conv_nhwc", 272.564},
    // Mul Conv Add: 1x672x14x14, 112x672x1x1, 112 -> 1x112x14x14
    {0x0ad95d047136c0fe, "conv_nhwc", 276.479},
    // MatMul Add Add Standardize Mul Add: 1x128x1200, 1200x312 -> 1x128x312
    {0x0b51abe2d967c953, "normalised_product", 867.483},
    // Conv Add Relu: 1x256x14x14, 1024x256x1x1, 1024 -> 1x1024x14x14
    {0x0cf0e715bd53a531, "conv_nchw", 2170.631},
    {0x0cf0e715bd53a531, "conv_nhwc", 911.384, {{.vectors = 1, .rows = 5}}},
    // Conv Add: 1x576x14x14, 96x576x1x1, 96 -> 1x96x14x14
    {0x0f9c5dd5c6790d2d, "conv_nhwc", 195.554},
    // Conv Relu: 1x128x28x28, 128x128x3x3, 128 -> 1x128x28x28
    {0x102806067ecf91e6, "conv_nchw", 2432.494},
    {0x102806067ecf91e6, "conv_nhwc", 2034.064},
    {0x102806067ecf91e6, "conv_winograd", 599.596},
    // Conv Relu: 1x32x128x128, 32x32x3x3, 32 -> 1x32x128x128
    {0x13486a7512de75ce, "conv_nchw", 3102.916},
    {0x13486a7512de75ce, "conv_nhwc", 2672.557},
    {0x13486a7512de75ce, "conv_winograd", 955.336},
    // Conv: 1x96x56x56, 24x96x1x1, 24 -> 1x24x56x56
    {0x178ede0e0622c157, "conv_nhwc", 177.233},
    // Conv Relu: 1x64x56x56, 64x64x1x1, 64 -> 1x64x56x56
    {0x17a213db4a78a2ae, "conv_nchw", 365.408},
    {0x17a213db4a78a2ae, "conv_nhwc", 240.005},
    // Conv Clip: 1x160x7x7, 960x160x1x1, 960 -> 1x960x7x7
    {0x184f9063c3a5de5d, "conv_nhwc", 140.762},
    // Conv: 1x144x28x28, 32x144x1x1, 32 -> 1x32x28x28
    {0x18d390b2225eb881, "conv_nhwc", 63.254, {{.vectors = 1, .rows = 9}}},
    // MatMul Mul Add Add Softmax MatMul: 64x3x49x32, 64x3x32x49 -> 64x3x49x32
    {0x19462f48ecd3f5db, "attention", 1213.713},
    // Add: 1x56x56x96
    {0x1a54af993c19104b, "elementwise_map", 77.235},
    // Conv Relu: 1x512x14x14, 512x512x3x3, 512 -> 1x512x7x7
    {0x1b4ec75a9f62beb1, "conv_nhwc", 1990.629},
    {0x1b4ec75a9f62beb1, "conv_winograd", 2048.107},
    // MatMul Add: 1x128x312, 312x936 -> 1x128x936
    {0x1dc1825e61e0fc8a, "matrix_product", 653.634},
    // Conv Swish: 1x112x14x14, 672x112x1x1, 672 -> 1x672x14x14
    {0x1ed421a0f135c32c, "conv_nhwc", 301.133},
    // MatMul Add: 64x49x96, 96x288 -> 64x49x288
    {0x20e1146068b5adb0, "matrix_product", 1815.73},
    // MatMul Mul Add Softmax MatMul: 1x12x128x26, 1x12x26x128 -> 1x12x128x26
    {0x237abb114695a8d3, "attention", 297.531},
    // Conv Relu: 1x128x16x16, 256x128x3x3, 256 -> 1x256x16x16
    {0x2570fec5e3d38891, "conv_nchw", 1472.851},
    {0x2570fec5e3d38891, "conv_nhwc", 1395.016},
    {0x2570fec5e3d38891, "conv_winograd", 445.35},
    // Gather Add: 30522x312, 1x128 -> 1x128x312
    {0x2bd4e55d9b639db7, "by_point", 33.611},
    // Conv Relu MaxPool: 1x16x256x256, 16x16x3x3, 16 -> 1x16x128x128
    {0x30ad7f3cb078660e, "conv_winograd_pool", 1323.28},
    // MatMul Add: 16x49x192, 192x192 -> 16x49x192
    {0x343a4b584871866e, "matrix_product", 522.394},
    // MatMul Add Add Standardize Mul Add: 1x128x312, 312x312 -> 1x128x312
    {0x34738ad24a8192c9, "normalised_product", 235.193},
    // ReduceMean Conv Swish Conv Sigmoid: 1x672x7x7 -> 1x672x1x1
    {0x37a5d1c1d65938c7, "thin_stages", 8.232,
     {{}, {.vectors = 2}, {.vectors = 1}}},
    // Mul Conv: 1x480x14x14, 112x480x1x1, 112 -> 1x112x14x14
    {0x38228a2887af9c06, "conv_nhwc", 194.999, {{.vectors = 2, .rows = 6}}},
    // Standardize Mul Add MatMul Add Gelu: 1x56x56x96 -> 1x56x56x384
    {0x39f5da706dfa6ac1, "normalised_product", 2699.93},
    // Conv Relu: 1x512x7x7, 512x512x3x3, 512 -> 1x512x7x7
    {0x3a2b37dd0df9dc8d, "conv_nchw", 5087.894},
    {0x3a2b37dd0df9dc8d, "conv_nhwc", 2037.87},
    {0x3a2b37dd0df9dc8d, "conv_winograd", 1319.25},
    // Concat: 1x14x11x384, 1x14x3x384 -> 1x14x14x384
    {0x3d16ba0e60b1bbe9, "concat_parts", 9.258},
    // Conv: 1x576x7x7, 160x576x1x1, 160 -> 1x160x7x7
    {0x3e9d040c699c05da, "conv_nhwc", 82.882},
    // Standardize Mul Add: 1x128x312 -> 1x128x312
    {0x3f0c1bf944d3d9e4, "row_passes", 12.128},
    // Conv: 1x384x14x14, 96x384x1x1, 96 -> 1x96x14x14
    {0x3f2b933e65dba05f, "conv_nhwc", 131.105},
    // Conv Relu: 1x16x256x256, 16x16x3x3, 16 -> 1x16x256x256
    {0x3f564d100f4beecd, "conv_nchw", 3480.963},
    {0x3f564d100f4beecd, "conv_nhwc", 2577.792},
    {0x3f564d100f4beecd, "conv_winograd", 1221.44},
    // Conv MaxPool Relu: 1x3x224x224, 64x3x7x7, 64 -> 1x64x56x56
    {0x405c4e98a56370e6, "row_stages", 2189.033},
    // MatMul Add Add: 16x49x192, 192x192 -> 16x49x192
    {0x41471399ceca8886, "matrix_product", 572.498},
    // MatMul Mul Add Softmax MatMul: 4x12x49x32, 4x12x32x49 -> 4x12x49x32
    {0x42e9111486a372b4, "attention", 261.967},
    // MatMul Add Gelu: 1x128x312, 312x1200 -> 1x128x1200
    {0x43aabed3858f0771, "matrix_product", 920.694},
    // Mul Conv Add: 1x1152x7x7, 192x1152x1x1, 192 -> 1x192x7x7
    {0x43d7486e51b08c86, "conv_nhwc", 197.55},
    // ReduceMean Conv Swish Conv Sigmoid: 1x480x14x14 -> 1x480x1x1
    {0x44ae435b04ae47e1, "thin_stages", 8.609},
    // Conv: 1x256x16x16, 512x256x1x1, 512 -> 1x512x16x16
    {0x49868af4c7f4fb3c, "conv_nchw", 673.112},
    {0x49868af4c7f4fb3c, "conv_nhwc", 617.916},
    // Mul Conv Add: 1x240x28x28, 40x240x1x1, 40 -> 1x40x28x28
    {0x4af488c96e5228cb, "conv_nhwc", 183.111},
    // Conv Relu: 1x32x256x256, 16x32x3x3, 16 -> 1x16x256x256
    {0x4bae1cab83149ae9, "conv_nchw", 7077.554},
    {0x4bae1cab83149ae9, "conv_nhwc", 5371.151},
    {0x4bae1cab83149ae9, "conv_winograd", 2363.892},
    // Mul Conv: 1x240x14x14, 80x240x1x1, 80 -> 1x80x14x14
    {0x4dd7c7c20ca35827, "conv_nhwc", 74.401, {{.vectors = 2, .rows = 8}}},
    // Mul Conv: 1x672x7x7, 192x672x1x1, 192 -> 1x192x7x7
    {0x4e63d464dd2a8bb9, "conv_nhwc", 120.979},
    // Gather Add: 30522x312, 1x128 -> 1x128x312
    {0x4fa72a07872449bf, "by_point", 48.898},
    // Mul Conv: 1x1152x7x7, 320x1152x1x1, 320 -> 1x320x7x7
    {0x5124e7c58eef64bf, "conv_nhwc", 324.07},
    // Conv: 1x1024x14x14, 2048x1024x1x1, 2048 -> 1x2048x7x7
    {0x5166b1a410034903, "conv_nhwc", 1780.929},
    // Concat: 1x28x28x96, 1x28x28x96, 1x28x28x96, 1x28x28x96 -> 1x28x28x384
    {0x54f936d3de30b9f1, "concat_parts", 39.758},
    // Conv Relu MaxPool: 1x32x128x128, 32x32x3x3, 32 -> 1x32x64x64
    {0x5947bbda579b00cf, "conv_winograd_pool", 947.634},
    // Conv: 1x32x128x128, 64x32x1x1, 64 -> 1x64x128x128
    {0x59c909a1cfe5d4ec, "conv_nchw", 1514.148},
    {0x59c909a1cfe5d4ec, "conv_nhwc", 678.525, {{.vectors = 2, .rows = 6}}},
    // MatMul Add Add: 1x49x768, 768x768 -> 1x49x768
    {0x5b9f30abcba95b00, "matrix_product", 514.297},
    // Conv Clip: 1x64x14x14, 384x64x1x1, 384 -> 1x384x14x14
    {0x5c0bb4deaaacdde4, "conv_nhwc", 89.811},
    // Standardize Mul Add MatMul Add: 1x7x7x768 -> 1x49x2304
    {0x5d9d121fa70f1028, "normalised_product", 1517.853},
    // Conv Relu MaxPool: 1x64x64x64, 64x64x3x3, 64 -> 1x64x32x32
    {0x5dbcfb88b60c1e8a, "conv_winograd_pool", 797.682},
    // Conv Swish: 1x80x14x14, 480x80x1x1, 480 -> 1x480x14x14
    {0x5de3ab37b7ebe081, "conv_nhwc", 161.93, {{.vectors = 3, .rows = 6}}},
    // Conv Relu: 1x2048x7x7, 512x2048x1x1, 512 -> 1x512x7x7
    {0x5e57f4044627e0cb, "conv_nchw", 2148.838},
    {0x5e57f4044627e0cb, "conv_nhwc", 900.53},
    // Conv Relu: 1x16x128x128, 32x16x3x3, 32 -> 1x32x128x128
    {0x5f48b205bd97481b, "conv_nchw", 1595.657},
    {0x5f48b205bd97481b, "conv_nhwc", 1331.319},
    {0x5f48b205bd97481b, "conv_winograd", 575.963},
    // ReduceMean Conv Swish Conv Sigmoid: 1x240x14x14 -> 1x240x1x1
    {0x5f9d1cb07f388dca, "thin_stages", 4.166},
    // MatMul Add: 4x49x384, 384x1152 -> 4x49x1152
    {0x617bbfe73e7cebb2, "matrix_product", 1539.408},
    // Standardize Mul Add: 1x128x312 -> 1x128x312
    {0x61d2f18e89ca01a3, "row_passes", 11.089},
    // Conv: 1x64x56x56, 256x64x1x1, 256 -> 1x256x56x56
    {0x64f9caec4aa80838, "conv_nchw", 1619.48},
    {0x64f9caec4aa80838, "conv_nhwc", 992.521},
    // Conv Swish: 1x192x7x7, 1152x192x1x1, 1152 -> 1x1152x7x7
    {0x65f953e5679be9be, "conv_nhwc", 209.006},
    // Conv Swish: 1x40x28x28, 240x40x1x1, 240 -> 1x240x28x28
    {0x66d214192d7d210a, "conv_nhwc", 187.448, {{.vectors = 3, .rows = 6}}},
    // Conv Clip: 1x32x28x28, 192x32x1x1, 192 -> 1x192x28x28
    {0x66febc78b009336d, "conv_nhwc", 90.124, {{.vectors = 4, .rows = 4}}},
    // Conv Swish: 1x40x28x28, 240x40x1x1, 240 -> 1x240x28x28
    {0x679a9c853e11b2c7, "conv_nhwc", 186.205, {{.vectors = 3, .rows = 6}}},
    // Conv: 1x16x256x256, 21x16x1x1, 21 -> 1x21x256x256
    {0x67a07be60a148a76, "conv_nchw", 1055.324},
    {0x67a07be60a148a76, "conv_nhwc", 4057.6},
    // Conv Add: 1x960x7x7, 160x960x1x1, 160 -> 1x160x7x7
    {0x69b5c539160a8abc, "conv_nhwc", 135.906},
    // Add: 1x14x14x384
    {0x6a28a2a522840068, "elementwise_map", 15.461},
    // Conv: 1x512x28x28, 1024x512x1x1, 1024 -> 1x1024x14x14
    {0x6a5fd956a80b1f1b, "conv_nhwc", 1785.436},
    // Conv Relu: 1x128x64x64, 64x128x3x3, 64 -> 1x64x64x64
    {0x6c7cadb348f5eb58, "conv_nchw", 5377.54},
    {0x6c7cadb348f5eb58, "conv_nhwc", 5045.76},
    {0x6c7cadb348f5eb58, "conv_winograd", 1783.503},
    // Conv Relu MaxPool: 1x128x32x32, 128x128x3x3, 128 -> 1x128x16x16
    {0x6e7a4bbbb634f4ef, "conv_winograd_pool", 842.869},
    // Concat: 1x56x53x96, 1x56x3x96 -> 1x56x56x96
    {0x6ea44ce4572a6d0e, "concat_parts", 35.724},
    // Conv Swish: 1x320x7x7, 1280x320x1x1, 1280 -> 1x1280x7x7
    {0x6fd2c88795dee297, "conv_nhwc", 366.723},
    // Standardize Mul Add MatMul: 1x28x28x384 -> 1x28x28x192
    {0x78776b2446980984, "normalised_product", 1081.833},
    // Conv Relu: 1x64x56x56, 64x64x3x3, 64 -> 1x64x56x56
    {0x7c8464b6e939ed80, "conv_nchw", 2497.229},
    {0x7c8464b6e939ed80, "conv_nhwc", 2019.023},
    {0x7c8464b6e939ed80, "conv_winograd", 640.936},
    // Conv Relu: 1x256x56x56, 64x256x1x1, 64 -> 1x64x56x56
    {0x7d4a4b16c09be334, "conv_nchw", 1245.952},
    {0x7d4a4b16c09be334, "conv_nhwc", 926.994},
    // Conv Clip: 1x160x7x7, 960x160x1x1, 960 -> 1x960x7x7
    {0x7d6c0ebb69489423, "conv_nhwc", 137.403},
    // ReduceMean Conv Swish Conv Sigmoid: 1x144x28x28 -> 1x144x1x1
    {0x7dee5a9c5e880ec9, "thin_stages", 7.421},
    // Mul Conv: 1x144x28x28, 40x144x1x1, 40 -> 1x40x28x28
    {0x844ce354cb80e278, "conv_nhwc", 114.169},
    // Standardize Mul Add MatMul Add Gelu: 1x7x7x768 -> 1x7x7x3072
    {0x8b6ca5f9bd8e7397, "normalised_product", 2091.965},
    // Conv: 1x96x56x56, 24x96x1x1, 24 -> 1x24x56x56
    {0x8c09e94c16cd04bb, "conv_nhwc", 149.382},
    // Conv Relu: 1x1024x14x14, 256x1024x1x1, 256 -> 1x256x14x14
    {0x8de2111754aa89cd, "conv_nchw", 1076.268},
    {0x8de2111754aa89cd, "conv_nhwc", 891.833},
    // Conv Relu: 1x256x28x28, 256x256x3x3, 256 -> 1x256x14x14
    {0x8dfb8670d70141b2, "conv_nhwc", 2063.496},
    {0x8dfb8670d70141b2, "conv_winograd", 1591.378},
    // Conv Relu: 1x64x32x32, 128x64x3x3, 128 -> 1x128x32x32
    {0x9091c9b9fc5c69c7, "conv_nchw", 1388.651},
    {0x9091c9b9fc5c69c7, "conv_nhwc", 1288.93},
    {0x9091c9b9fc5c69c7, "conv_winograd", 442.446},
    // MatMul Add Add: 4x49x384, 384x384 -> 4x49x384
    {0x90a43cbb819df8ca, "matrix_product", 537.33},
    // MatMul Add Add: 1x28x28x768, 768x192 -> 1x28x28x192
    {0x90e7eaf5f1dbba31, "matrix_product", 2109.435},
    // Conv: 1x384x14x14, 96x384x1x1, 96 -> 1x96x14x14
    {0x93a476101d76ec87, "conv_nhwc", 124.795, {{.vectors = 2, .rows = 7}}},
    // Standardize Mul Add: 1x56x56x96 -> 1x56x56x96
    {0x940af80e2923e7a9, "row_passes", 186.112},
    // Conv: 1x192x14x14, 64x192x1x1, 64 -> 1x64x14x14
    {0x9438ed79113959b3, "conv_nhwc", 45.207},
    // ReduceMean Conv Swish Conv Sigmoid: 1x672x14x14 -> 1x672x1x1
    {0x94505345435d46c4, "thin_stages", 12.784},
    // Conv Relu: 1x64x128x128, 32x64x3x3, 32 -> 1x32x128x128
    {0x94ab769cfcf196e4, "conv_nchw", 6088.708},
    {0x94ab769cfcf196e4, "conv_nhwc", 5521.871},
    {0x94ab769cfcf196e4, "conv_winograd", 2056.838},
    // ReduceMean MatMul Add: 1x1280x7x7 -> 1x1000
    {0x950eb6acc75ca573, "thin_stages", 205.184,
     {{}, {.vectors = 1}}},
    // Concat: 1x14x14x192, 1x14x14x192, 1x14x14x192, 1x14x14x192 -> 1x14x14x768
    {0x952432bd90a1e67a, "concat_parts", 24.808},
    // Conv Clip: 1x3x224x224, 32x3x3x3, 32 -> 1x32x112x112
    {0x96473997cf6892b8, "conv_nhwc", 246.405},
    // Standardize Mul Add MatMul: 1x14x14x768 -> 1x14x14x384
    {0x96ebd2243c078d03, "normalised_product", 1035.905},
    // Conv Clip: 1x32x28x28, 192x32x1x1, 192 -> 1x192x28x28
    {0x983da5093bdc5de8, "conv_nhwc", 102.422},
    // ReduceMean MatMul Add: 1x1280x7x7 -> 1x1000
    {0x984211496da54a50, "thin_stages", 169.371},
    // MatMul Add: 64x49x96, 96x96 -> 64x49x96
    {0x98a02de0acd1c1b2, "matrix_product", 557.275},
    // Conv Add: 1x384x14x14, 64x384x1x1, 64 -> 1x64x14x14
    {0x9b1e8c4514f6c937, "conv_nhwc", 84.659},
    // Conv Relu: 1x3x256x256, 16x3x3x3, 16 -> 1x16x256x256
    {0x9dbc7f7e1543fae4, "conv_nchw", 898.259},
    {0x9dbc7f7e1543fae4, "conv_nhwc", 564.626},
    {0x9dbc7f7e1543fae4, "conv_winograd", 796.516},
    // Conv: 1x192x14x14, 64x192x1x1, 64 -> 1x64x14x14
    {0x9df87177eda5cb2e, "conv_nhwc", 42.033, {{.vectors = 1, .rows = 6}}},
    // Add: 1x28x28x192
    {0x9f5ad0a8b0f9c966, "elementwise_map", 33.833},
    // MatMul Add Add: 64x49x96, 96x96 -> 64x49x96
    {0xa0809171b77013eb, "matrix_product", 578.267},
    // Standardize Mul Add: 1x28x28x192 -> 1x28x28x192
    {0xa2b27681673ffaa1, "row_passes", 63.032},
    // MatMul Add Add Standardize Mul Add: 1x128x312, 312x312 -> 1x128x312
    {0xa5aaa0dfafeec416, "normalised_product", 236.225},
    // Standardize Mul Add MatMul Add Gelu: 1x14x14x384 -> 1x14x14x1536
    {0xa8eacf24319d9ee4, "normalised_product", 2126.202},
    // ReduceMean MatMul Add: 1x2048x7x7 -> 1x1000
    {0xade266c4ef4406cd, "thin_stages", 311.161},
    // Mul Conv: 1x96x56x56, 24x96x1x1, 24 -> 1x24x56x56
    {0xb33a7998121073a6, "conv_nhwc", 200.247, {{.vectors = 1, .rows = 12}}},
    // ReduceMean Conv Swish Conv Sigmoid: 1x32x112x112 -> 1x32x1x1
    {0xb54e00350e23df1f, "thin_stages", 48.402},
    // MatMul Mul Add Softmax MatMul: 1x12x128x26, 1x12x26x128 -> 1x12x128x26
    {0xb5b688df14e474b8, "attention", 277.663},
    // Conv Relu: 1x128x32x32, 128x128x3x3, 128 -> 1x128x32x32
    {0xb5db6a376e3ab2f3, "conv_nchw", 2614.615},
    {0xb5db6a376e3ab2f3, "conv_nhwc", 2445.918},
    {0xb5db6a376e3ab2f3, "conv_winograd", 766.336},
    // Conv Swish: 1x192x7x7, 1152x192x1x1, 1152 -> 1x1152x7x7
    {0xba29f6c58b40973c, "conv_nhwc", 210.793},
    // MatMul Add Add: 1x14x14x1536, 1536x384 -> 1x14x14x384
    {0xbb6bb82974dd081e, "matrix_product", 2062.382},
    // Conv: 1x64x64x64, 128x64x1x1, 128 -> 1x128x64x64
    {0xbdae02f7dee1edb2, "conv_nchw", 997.456},
    {0xbdae02f7dee1edb2, "conv_nhwc", 662.742},
    // Conv Clip: 1x320x7x7, 1280x320x1x1, 1280 -> 1x1280x7x7
    {0xbe0ef455b738d1b4, "conv_nhwc", 358.741},
    // ReduceMean Conv Swish Conv Sigmoid: 1x144x56x56 -> 1x144x1x1
    {0xbe41b74f4fae77d4, "thin_stages", 24.906},
    // Conv Relu: 1x32x64x64, 64x32x3x3, 64 -> 1x64x64x64
    {0xc5bbe6c4d8d1186d, "conv_nchw", 1487.093},
    {0xc5bbe6c4d8d1186d, "conv_nhwc", 1316.475},
    {0xc5bbe6c4d8d1186d, "conv_winograd", 513.621},
    // MatMul Mul Add Softmax MatMul: 16x6x49x32, 16x6x32x49 -> 16x6x49x32
    {0xc8194aebd013cd28, "attention", 496.437},
    // MatMul Add Add Standardize Mul Add: 1x128x1200, 1200x312 -> 1x128x312
    {0xc8ebca437972f572, "normalised_product", 869.884},
    // MatMul Mul Add Add Softmax MatMul: 16x6x49x32, 16x6x32x49 -> 16x6x49x32
    {0xcaccd66371507b03, "attention", 560.586},
    // Conv Add: 1x192x28x28, 32x192x1x1, 32 -> 1x32x28x28
    {0xcb656d1531e11bc8, "conv_nhwc", 85.767},
    // Conv Add Relu: 1x128x28x28, 512x128x1x1, 512 -> 1x512x28x28
    {0xcb9889cba6e10c14, "conv_nchw", 3061.829},
    {0xcb9889cba6e10c14, "conv_nhwc", 965.666},
    // Conv Clip: 1x320x7x7, 1280x320x1x1, 1280 -> 1x1280x7x7
    {0xcbf88d6490792884, "conv_nhwc", 362.307},
    // Conv Relu: 1x512x28x28, 128x512x1x1, 128 -> 1x128x28x28
    {0xce87b6873e12f195, "conv_nchw", 1109.335},
    {0xce87b6873e12f195, "conv_nhwc", 899.71},
    // Conv Relu: 1x1024x14x14, 512x1024x1x1, 512 -> 1x512x14x14
    {0xcf723af12a523f57, "conv_nchw", 2109.101},
    {0xcf723af12a523f57, "conv_nhwc", 1788.991},
    // Conv Relu: 1x128x56x56, 128x128x3x3, 128 -> 1x128x28x28
    {0xd015741131f2fadc, "conv_nhwc", 2058.484},
    {0xd015741131f2fadc, "conv_winograd", 1482.336},
    // MatMul Mul Add Softmax MatMul: 1x24x49x32, 1x24x32x49 -> 1x24x49x32
    {0xd10a69f3f102e6e6, "attention", 156.56},
    // Conv Add: 1x576x14x14, 96x576x1x1, 96 -> 1x96x14x14
    {0xd2ba51c6cdfd4efe, "conv_nhwc", 190.702},
    // MatMul Mul Add Softmax MatMul: 64x3x49x32, 64x3x32x49 -> 64x3x49x32
    {0xd4c5fd000e4d0f8d, "attention", 1167.116},
    // Conv Clip: 1x96x14x14, 576x96x1x1, 576 -> 1x576x14x14
    {0xd6f7a79dcc20d6e4, "conv_nhwc", 206.209},
    // Conv: 1x576x7x7, 160x576x1x1, 160 -> 1x160x7x7
    {0xd72ade8c8dfdfc6c, "conv_nhwc", 83.825},
    // MatMul Add: 16x49x192, 192x576 -> 16x49x576
    {0xdcdc60170b65abaf, "matrix_product", 1589.706},
    // Conv Relu: 1x256x32x32, 128x256x3x3, 128 -> 1x128x32x32
    {0xdf3f68ab1119d85f, "conv_nchw", 5463.128},
    {0xdf3f68ab1119d85f, "conv_nhwc", 5215.985},
    {0xdf3f68ab1119d85f, "conv_winograd", 1617.987},
    // Conv Clip: 1x96x14x14, 576x96x1x1, 576 -> 1x576x14x14
    {0xe1556428d4cfd4ab, "conv_nhwc", 188.055, {{.vectors = 1, .rows = 6}}},
    // Conv Add: 1x960x7x7, 160x960x1x1, 160 -> 1x160x7x7
    {0xe2020685f327f6a2, "conv_nhwc", 132.577},
    // MatMul Add Add: 1x56x56x384, 384x96 -> 1x56x56x96
    {0xe3caa304f6391d67, "matrix_product", 2181.868},
    // Standardize Mul Add MatMul: 1x7x7x1536 -> 1x7x7x768
    {0xe61081962b779ca8, "normalised_product", 1020.292},
    // Conv: 1x144x28x28, 32x144x1x1, 32 -> 1x32x28x28
    {0xe6665212206ed33f, "conv_nhwc", 67.039},
    // Mul Conv Add: 1x480x14x14, 80x480x1x1, 80 -> 1x80x14x14
    {0xe6e8432ffa14ea24, "conv_nhwc", 142.426, {{.vectors = 2, .rows = 9}}},
    // Conv Swish: 1x80x14x14, 480x80x1x1, 480 -> 1x480x14x14
    {0xe728635f36130a87, "conv_nhwc", 159.055, {{.vectors = 3, .rows = 6}}},
    // Conv Clip: 1x64x14x14, 384x64x1x1, 384 -> 1x384x14x14
    {0xe72ef3a8ef556785, "conv_nhwc", 93.999},
    // MatMul Add Add: 1x7x7x3072, 3072x768 -> 1x7x7x768
    {0xe965ca268bbc56a0, "matrix_product", 2089.106},
    // MatMul Add Gelu: 1x128x312, 312x1200 -> 1x128x1200
    {0xea551b731cb4cd2b, "matrix_product", 872.395},
    // Concat: 1x28x25x192, 1x28x3x192 -> 1x28x28x192
    {0xeaac4f9b43a2e460, "concat_parts", 17.917},
    // MatMul Add: 4x49x384, 384x384 -> 4x49x384
    {0xeebfa06429357ac2, "matrix_product", 507.939},
    // Standardize Mul Add: 1x14x14x384 -> 1x14x14x384
    {0xef9eb42f07ce1473, "row_passes", 20.554},
    // Conv Add Relu: 1x512x7x7, 2048x512x1x1, 2048 -> 1x2048x7x7
    {0xf026cb11ab9a8d29, "conv_nchw", 2366.162},
    {0xf026cb11ab9a8d29, "conv_nhwc", 932.338},
    // MatMul Mul Add Add Softmax MatMul: 4x12x49x32, 4x12x32x49 -> 4x12x49x32
    {0xf0d98d3260409536, "attention", 287.902},
    // Conv Add: 1x192x28x28, 32x192x1x1, 32 -> 1x32x28x28
    {0xf1469072205ebdea, "conv_nhwc", 88.977},
    // ReduceMean Conv Swish Conv Sigmoid: 1x96x56x56 -> 1x96x1x1
    {0xf161f2ff22a83790, "thin_stages", 17.846},
    // MatMul Add Add Standardize Mul Add: 1x7x7x3072, 3072x768 -> 1x7x7x768
    {0xf264d03d63c1214d, "normalised_product", 2059.892},
    // Conv Add: 1x384x14x14, 64x384x1x1, 64 -> 1x64x14x14
    {0xf6e262bbd4cc92e6, "conv_nhwc", 87.569},
    // Standardize Mul Add MatMul Add Gelu: 1x28x28x192 -> 1x28x28x768
    {0xf8f92ac02b91fa33, "normalised_product", 2325.606},
    // Conv: 1x128x32x32, 256x128x1x1, 256 -> 1x256x32x32
    {0xf943cfa9668a2a7d, "conv_nchw", 785.383},
    {0xf943cfa9668a2a7d, "conv_nhwc", 614.771, {{.vectors = 3, .rows = 6}}},
    // Conv: 1x960x7x7, 320x960x1x1, 320 -> 1x320x7x7
    {0xf9fc5f881bc72415, "conv_nhwc", 267.466},
    // Conv Relu: 1x64x64x64, 64x64x3x3, 64 -> 1x64x64x64
    {0xfa13e550aefa7b4e, "conv_nchw", 2758.355},
    {0xfa13e550aefa7b4e, "conv_nhwc", 2515},
    {0xfa13e550aefa7b4e, "conv_winograd", 847.986},
    // Conv: 1x960x7x7, 320x960x1x1, 320 -> 1x320x7x7
    {0xfb28b91f7602c495, "conv_nhwc", 265.323},
    // ReduceMean Conv Swish Conv Sigmoid: 1x240x28x28 -> 1x240x1x1
    {0xfb8caadea0840e49, "thin_stages", 11.738},
    // Conv Relu: 1x512x28x28, 256x512x1x1, 256 -> 1x256x28x28
    {0xfc0cccd9fb8c750a, "conv_nchw", 2175.879},
    {0xfc0cccd9fb8c750a, "conv_nhwc", 1785.796},
    // Conv Add Relu: 1x64x56x56, 256x64x1x1, 256 -> 1x256x56x56
    {0xfc7369af74ca987e, "conv_nchw", 3039.583},
    {0xfc7369af74ca987e, "conv_nhwc", 1045.749, {{.vectors = 4, .rows = 2}}},
    // Concat: 1x7x7x384, 1x7x7x384, 1x7x7x384, 1x7x7x384 -> 1x7x7x1536
    {0xfe2e643a5a1fcc99, "concat_parts", 11.107},
    // Conv: 1x256x56x56, 512x256x1x1, 512 -> 1x512x28x28
    {0xfea79de4e9c6733b, "conv_nhwc", 1844.663},
    // Conv Relu: 1x256x16x16, 256x256x3x3, 256 -> 1x256x16x16
    {0xfebca266f3cfcf51, "conv_nchw", 2854.351},
    {0xfebca266f3cfcf51, "conv_nhwc", 2740.919},
    {0xfebca266f3cfcf51, "conv_winograd", 817.842},
    // MatMul Add: 1x128x312, 312x936 -> 1x128x936
    {0xff00e8216d3ecc0f, "matrix_product", 661.322},
    // Mul Conv Add: 1x144x56x56, 24x144x1x1, 24 -> 1x24x56x56
    {0xff2ea8eb02dc9eb1, "conv_nhwc", 311.141},
};
// clang-format on
}  // namespace detail

inline constexpr tuned_table zen4 = detail::measured_for_zen4;

}  // namespace dnnkit::tuned
