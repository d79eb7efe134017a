// SPDX-License-Identifier: MIT
// dnnkit's front door: build a graph, compile it, run it on the CPU. In a unit that compiles kernels alone and says so
// by defining DNNKIT_ONLY_KERNELS, as generated ones do, nothing to run networks with: a third of the headers less.
#pragma once

#include "dnnkit/core/language.hpp"

#ifdef DNNKIT_LANGUAGE_SUFFICES

#include "dnnkit/graph/builder.hpp"  // first: compilers that find a model wrong say on what way they came here

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"

#ifndef DNNKIT_ONLY_KERNELS
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "dnnkit/runtime/versions.hpp"
#include "dnnkit/weights/memory_weights.hpp"
#include "dnnkit/weights/safetensors.hpp"
#endif

#endif
