// SPDX-License-Identifier: MIT
// Reductions, with movement and an addition behind them.
#include "bench/profile/pairs.hpp"

void bench::profile::measure_reductions(std::vector<result>& results) {
  measure_epilogues<first::reduce_mean, path::reshape, second::add>(results, sizes{});
  measure_epilogues<first::reduce_mean, path::rows_moved, second::add>(results, sizes{});
  measure_epilogues<first::reduce_mean, path::transposed, second::add>(results, sizes{});
}
