// SPDX-License-Identifier: MIT
// dnnkit's front door: build a graph, compile it, run it on the CPU.
#pragma once

#if __cplusplus < 202002L
#error "dnnkit needs C++20: compile with -std=c++20 or later (in CMake: target_compile_features(... cxx_std_20))"
#else

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "dnnkit/weights/memory_weights.hpp"
#include "dnnkit/weights/safetensors.hpp"

#endif
