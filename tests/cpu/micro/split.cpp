// SPDX-License-Identifier: MIT
// Tiles follow each other without gap or overlap and are never larger than allowed, for all small extents.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/split.hpp>

#include <utility>

using namespace dnnkit::cpu;

namespace {

// -1 when the tiles cover [0, extent) in order, else the first item where they do not.
template <int Max, class Split> constexpr index_t first_gap(const Split& tiles, index_t extent) {
  index_t next = 0;
  bool ordered = true;
  for (index_t t = 0; t < tiles.count(); ++t) {
    tiles.visit(t, [&](auto size, index_t first) {
      ordered = ordered && first == next && size <= Max && size >= 1;
      next = first + size;
    });
  }
  return ordered && next == extent ? -1 : next;
}

template <int Max> void check_run_time() {
  for (index_t extent = 0; extent <= 300; ++extent) {
    CAPTURE(Max);
    CAPTURE(extent);
    CHECK(first_gap<Max>(split<Max, index_t>(extent), extent) == -1);
  }
}

template <int Max, index_t... Extent> constexpr bool known(std::integer_sequence<index_t, Extent...>) {
  return ((first_gap<Max>(split<Max, constant<Extent>>(constant<Extent>{}), Extent) == -1) && ...);
}

}  // namespace

using extents = std::make_integer_sequence<index_t, 60>;
static_assert(known<1>(extents{}) && known<2>(extents{}) && known<6>(extents{}) && known<13>(extents{}));

static_assert(split<6, constant<128>>::count() == 22 && split<6, constant<128>>::large_tiles == 18);
static_assert(split<14, index_t>(225).count() == 17);

TEST_CASE("run-time extents") {
  check_run_time<1>();
  check_run_time<2>();
  check_run_time<3>();
  check_run_time<4>();
  check_run_time<6>();
  check_run_time<8>();
  check_run_time<9>();
  check_run_time<13>();
  check_run_time<14>();
}
