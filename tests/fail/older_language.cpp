// SPDX-License-Identifier: MIT
// The front door of the library in a language that is too old: one sentence, and not a page about what follows.
// OPTIONS: -std=c++17
// EXPECT: dnnkit needs C++20: compile with -std=c++20 or later
#include <dnnkit/graph.hpp>

#ifdef PASSING_TWIN
static_assert(dnnkit::f32 != dnnkit::i64);
#endif
