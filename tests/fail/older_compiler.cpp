// SPDX-License-Identifier: MIT
// The front door of the library in a compiler that is too old: one sentence, and not a page about what follows.
// OPTIONS: -U__GNUC__ -D__GNUC__=11 -U__clang_major__ -D__clang_major__=15
// EXPECT: dnnkit needs g++ 12, clang++ 16 or Apple's clang 15, or later
#include <dnnkit/graph.hpp>

#ifdef PASSING_TWIN
static_assert(dnnkit::f32 != dnnkit::i64);
#endif
