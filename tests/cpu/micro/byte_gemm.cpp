// SPDX-License-Identifier: MIT
// Products of bytes against plain sums, to the last bit: all small sizes, extreme numbers, any division of the work, in
// each instruction set that the processor has.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/byte_gemm.hpp>

#include <string>
#include <vector>

#include "../reference.hpp"
#include "tests/cpu/micro/fixtures/byte_products_check.hpp"

using namespace dnnkit::cpu;

namespace {

std::vector<byte_units::unit> units() {
  std::vector<byte_units::unit> all{byte_check::unit()};
#ifdef DNNKIT_UNITS_OF_X86
  namespace sets = dnnkit::targets;
  if (processor_has<sets::sse2>()) all.push_back(byte_units::of_sse2());
  if (processor_has<sets::avx2>()) all.push_back(byte_units::of_avx2());
  if (processor_has<sets::avx512>()) all.push_back(byte_units::of_avx512());
  if (processor_has<sets::avx512_vnni>()) all.push_back(byte_units::of_avx512_vnni());
  if (processor_has<sets::avx512_amx>()) all.push_back(byte_units::of_avx512_amx());
#endif
  return all;
}

std::uint32_t seed() { return static_cast<std::uint32_t>(reference::pick(0, 1 << 30)); }

}  // namespace

TEST_CASE("each unit has the target of its flags") {
  std::string names;
  for (const byte_units::unit& u : units()) names += std::string(u.target) + " ";
  MESSAGE(names);
#ifdef DNNKIT_UNITS_OF_X86
  CHECK(byte_units::of_sse2().target == "sse2");
  CHECK(byte_units::of_avx2().target == "avx2");
  CHECK(byte_units::of_avx512().target == "avx512");
  CHECK(byte_units::of_avx512_vnni().target == "avx512_vnni");
  CHECK(byte_units::of_avx512_amx().target == "avx512_amx");
#endif
}

TEST_CASE("sizes known before the run") {
  for (const byte_units::unit& u : units()) {
    CAPTURE(u.target);
    for (int i = 0; i < 9; ++i) CHECK(u.check_known(seed()) == "");
    for (std::uint32_t extreme : {0U, 4U}) CHECK(u.check_known(extreme) == "");
  }
}

TEST_CASE("all small sizes") {
  for (const byte_units::unit& u : units()) {
    CAPTURE(u.target);
    for (index_t m = 0; m <= 15; ++m)
      for (const index_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 65})
        for (index_t k = 0; k <= 9; ++k)
          if (const std::string wrong = u.check(m, n, k, seed()); !wrong.empty()) FAIL_CHECK(wrong);
  }
}

TEST_CASE("larger sizes, where sums grow") {
  for (const byte_units::unit& u : units()) {
    CAPTURE(u.target);
    for (int i = 0; i < 12; ++i) {
      const index_t m = reference::pick(16, 70), n = reference::pick(16, 150), k = reference::pick(10, 2000);
      CHECK(u.check(m, n, k, static_cast<std::uint32_t>(4 * reference::pick(0, 1000) + i % 4)) == "");
    }
  }
}
