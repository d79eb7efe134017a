// SPDX-License-Identifier: MIT
// Element-wise operators and movement in front of anchors.
#include "bench/profile/pairs.hpp"

void bench::profile::measure_prologues(std::vector<result>& results) {
  measure_prologues<first::matmul, path::rows_moved>(results, sizes{});
  measure_prologues<first::matmul, path::transposed>(results, sizes{});
  measure_prologues<first::softmax, path::rows_moved>(results, sizes{});
  measure_prologues<first::softmax, path::transposed>(results, sizes{});
  measure_prologues<first::standardize, path::transposed>(results, sizes{});
}
