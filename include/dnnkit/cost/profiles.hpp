// SPDX-License-Identifier: MIT
// All tables of the profile database.
#pragma once

#include "dnnkit/cost/profile.hpp"
#include "dnnkit/cost/profile/avx2.hpp"
#include "dnnkit/cost/profile/avx512.hpp"

namespace dnnkit::plan {

static_assert(is_sorted(profiles::avx2) && is_sorted(profiles::avx512));

// The table of a target's facts; empty where there is none.
constexpr profile_table table_of(measured_profile profile) {
  switch (profile) {
    case measured_profile::avx2:
      return profiles::avx2;
    case measured_profile::avx512:
      return profiles::avx512;
    case measured_profile::nothing:
      break;
  }
  return {};
}

}  // namespace dnnkit::plan
