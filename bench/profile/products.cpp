// SPDX-License-Identifier: MIT
// Matrix products, with movement and an element-wise operator behind them.
#include "bench/profile/pairs.hpp"

void bench::profile::measure_products(std::vector<result>& results) {
  measure_epilogues<first::matmul, path::reshape, second::add>(results, sizes{});
  measure_epilogues<first::matmul, path::reshape, second::gelu>(results, sizes{});
  measure_epilogues<first::matmul, path::rows_moved, second::add>(results, sizes{});
  measure_epilogues<first::matmul, path::transposed, second::add>(results,
                                                                  std::integer_sequence<int, 5, 6, 7, 8, 9, 10>{});
}
