// SPDX-License-Identifier: MIT
// The reference evaluator's table of the library's own operators.
#include "dnnkit/reference/evaluator.hpp"

template struct dnnkit::detail::evaluation_table<dnnkit::builtin_set>;
