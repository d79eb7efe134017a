// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// Flags of the compiler that offer part of an instruction set: a network compiles and runs with each of them, and units
// with different ones go together in one program, where each keeps what it was compiled to.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/isa.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cpu/micro/fixtures/unit.hpp"

namespace {

struct unit {
  std::string flags;
  std::int64_t lanes;
  units::network made;
};

// The units that this processor can run.
std::vector<unit> all_units() {
  std::vector<unit> all;
#ifdef DNNKIT_UNITS_OF_X86
  all.push_back({"-msse2", 4, units::of_sse2()});
  if (__builtin_cpu_supports("avx")) all.push_back({"-mavx", 4, units::of_avx()});
  if (dnnkit::cpu::processor_has<dnnkit::targets::avx2>()) all.push_back({"-mavx2 -mfma -mf16c", 8, units::of_avx2()});
  if (__builtin_cpu_supports("avx512f")) all.push_back({"-mavx512f", 8, units::of_avx512f()});
  if (__builtin_cpu_supports("avx512vl")) all.push_back({"-march=x86-64-v4", 16, units::of_avx512()});
#endif
  return all;
}

}  // namespace

TEST_CASE("the processor has what this program is compiled for") {
  CHECK(dnnkit::cpu::processor_has<dnnkit::targets::native>());
  CHECK(dnnkit::cpu::processor_has<dnnkit::targets::portable>());
  // AVX-512 comes with AVX2, and no processor has both SSE2 and NEON
  using namespace dnnkit::targets;
  if (dnnkit::cpu::processor_has<avx512>()) CHECK(dnnkit::cpu::processor_has<avx2>());
  if (dnnkit::cpu::processor_has<avx512_vnni>()) CHECK(dnnkit::cpu::processor_has<avx512>());
  CHECK(dnnkit::cpu::processor_has<sse2>() != dnnkit::cpu::processor_has<neon>());
}

TEST_CASE("flags of AVX2 and above bring the conversions of half-precision numbers, which processors are asked for") {
  for (const std::string_view flags : {dnnkit::targets::avx2::flags, dnnkit::targets::avx512::flags})
    CHECK(flags.find("-mf16c") != std::string_view::npos);
  if (dnnkit::cpu::processor_has<dnnkit::targets::avx2>()) CHECK(dnnkit::cpu::has_half_conversions());
}

TEST_CASE("passes and kernels of a unit have the same target") {
  for (const unit& u : all_units()) {
    CAPTURE(u.flags);
    CHECK(u.made.pass_lanes == u.lanes);
    CHECK(u.made.kernel_lanes == u.lanes);
  }
}

TEST_CASE("units of one target share their kernels, others do not") {
  const std::vector<unit> all = all_units();
  for (const unit& a : all)
    for (const unit& b : all) {
      CAPTURE(a.flags);
      CAPTURE(b.flags);
      CHECK((a.made.kernels == b.made.kernels) == (a.lanes == b.lanes));
    }
}

TEST_CASE("the results are the same up to rounding") {
  const std::vector<unit> all = all_units();
  for (const unit& u : all) {
    CAPTURE(u.flags);
    const units::output expected = all.front().made.run(), found = u.made.run();
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      REQUIRE(std::abs(found[i] - expected[i]) < 1e-5f);
    }
  }
}
