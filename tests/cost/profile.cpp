// SPDX-License-Identifier: MIT
// The profile database: look-up finds what is there, and nothing else.
#include "dnnkit/cost/profile.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <string>

#include "dnnkit/cost/profiles.hpp"
#include "dnnkit/cost/target.hpp"

namespace dk = dnnkit;
using dk::mapping;
using dk::plan::element_order;
using dk::plan::profile_entry;
using dk::plan::profile_key;
using dk::plan::size_class_of;

namespace {

constexpr profile_entry three[] = {
    {{"A", "B", mapping::shuffle, mapping::many_to_many, element_order::along, 5}, 0.5},
    {{"A", "B", mapping::shuffle, mapping::many_to_many, element_order::across, 3}, 0.75},
    {{"A", "C", mapping::shuffle, mapping::many_to_many, element_order::along, 2}, 2},
};
static_assert(dk::plan::is_sorted(three));
static_assert(dk::plan::find(three, three[0].key) == 0.5);
static_assert(dk::plan::find(three, three[1].key) == 0.75);
static_assert(dk::plan::find(three, three[2].key) == 2);
static_assert(!dk::plan::find(three, {"A", "B", mapping::shuffle, mapping::many_to_many, element_order::along, 4}));
static_assert(!dk::plan::find(three, {"B", "B", mapping::shuffle, mapping::many_to_many, element_order::along, 5}));
static_assert(!dk::plan::find(three, {"A", "B", mapping::reorganize, mapping::many_to_many, element_order::along, 5}));
static_assert(!dk::plan::find({}, three[0].key));
constexpr profile_entry twice[] = {three[0], three[0]};
static_assert(!dk::plan::is_sorted(twice));

static_assert(size_class_of(1) == 0 && size_class_of(3) == 0 && size_class_of(4) == 1 && size_class_of(15) == 1);
static_assert(size_class_of(4096) == 6 && size_class_of(4095) == 5);

static_assert(dk::targets::avx2::facts.profile == dk::measured_profile::avx2);
static_assert(dk::targets::avx512_amx::facts.profile == dk::measured_profile::avx512);
static_assert(dk::targets::sse2::facts.profile == dk::measured_profile::nothing);
static_assert(dk::targets::neon::facts.profile == dk::measured_profile::nothing);
static_assert(dk::plan::table_of(dk::measured_profile::nothing).empty());

}  // namespace

TEST_CASE("every entry of every table is found, and none beside it") {
  for (const dk::measured_profile p : {dk::measured_profile::avx2, dk::measured_profile::avx512}) {
    const dk::plan::profile_table table = dk::plan::table_of(p);
    for (const profile_entry& e : table) {
      CAPTURE(std::string(e.key.first));
      CHECK(dk::plan::find(table, e.key) == e.ratio);
      CHECK(e.ratio > 0);
      profile_key other = e.key;
      other.size = 40;
      CHECK(dk::plan::find(table, other) == std::nullopt);
      other = e.key;
      other.second = "no operator";
      CHECK(dk::plan::find(table, other) == std::nullopt);
    }
  }
  CHECK(!dk::plan::table_of(dk::measured_profile::avx2).empty());
  CHECK(!dk::plan::table_of(dk::measured_profile::avx512).empty());
}

TEST_CASE("classes of sizes rise by one with a factor of four") {
  for (double n = 1; n < 1e9; n *= 1.7) CHECK(size_class_of(4 * n) == size_class_of(n) + 1);
}
