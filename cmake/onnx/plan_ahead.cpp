// SPDX-License-Identifier: MIT
// The passes that the compiler would run.
#include "dnnkit/cpu/plan_ahead.hpp"

template struct dnnkit::cpu::ahead::passes<dnnkit::default_pipeline, dnnkit::targets::native>;
