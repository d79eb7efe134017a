// SPDX-License-Identifier: MIT
// The generator of C++ from graphs of the library's own operators.
#include "dnnkit/source/generate.hpp"

template struct dnnkit::generation::generator<dnnkit::builtin_set>;
