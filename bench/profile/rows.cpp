// SPDX-License-Identifier: MIT
// Operators along rows, with movement and an element-wise operator behind them.
#include "bench/profile/pairs.hpp"

void bench::profile::measure_rows(std::vector<result>& results) {
  measure_epilogues<first::standardize, path::reshape, second::mul>(results, sizes{});
  measure_epilogues<first::standardize, path::transposed, second::mul>(results, sizes{});
  measure_epilogues<first::softmax, path::reshape, second::add>(results, sizes{});
  measure_epilogues<first::softmax, path::transposed, second::add>(results, sizes{});
}
