// SPDX-License-Identifier: MIT
// Written by bench/profile/run.sh. Nothing has been measured for this instruction set: the cost model decides.
#pragma once

#include "dnnkit/cost/profile.hpp"

namespace dnnkit::plan::profiles {

inline constexpr profile_table avx512{};

}  // namespace dnnkit::plan::profiles
