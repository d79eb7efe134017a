// SPDX-License-Identifier: MIT
// Convolutions and pools, with movement and an addition behind them.
#include "bench/profile/pairs.hpp"

void bench::profile::measure_convolutions(std::vector<result>& results) {
  measure_epilogues<first::conv, path::reshape, second::add>(results, sizes{});
  measure_epilogues<first::conv, path::rows_moved, second::add>(results, sizes{});
  measure_epilogues<first::conv, path::transposed, second::add>(results, sizes{});
  measure_epilogues<first::max_pool, path::reshape, second::add>(results, sizes{});
}
