// SPDX-License-Identifier: MIT
// The passes that the compiler would run.
#include "dnnkit/onnx/plan_ahead.hpp"

template struct dnnkit::onnx::detail::passes_ahead<dnnkit::default_pipeline>;
