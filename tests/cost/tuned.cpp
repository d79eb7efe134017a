// SPDX-License-Identifier: MIT
// Tables of tuned kernels: look-up finds what is there and nothing else, and a table that it cannot rely on is said to
// be wrong.
#include "dnnkit/cost/tuned.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "dnnkit/cost/tuned/zen4.hpp"

namespace dk = dnnkit;
using dk::tuned_kernel;

namespace {

constexpr tuned_kernel four[] = {
    {3, "a", 1.5}, {7, "a", 2, {{.vectors = 2}}}, {7, "b", 0, {{}, {.rows = 5, .positions = 4}}}, {9, "a", 4}};
static_assert(dk::fault_of(four).empty() && dk::fault_of({}).empty());
static_assert(dk::find(four, 3).size() == 1 && dk::find(four, 3)[0].microseconds == 1.5);
static_assert(dk::find(four, 7).size() == 2 && dk::find(four, 7)[1].family == "b");
static_assert(dk::find(four, 7)[1].is_forced() && !dk::find(four, 7)[0].is_forced());
static_assert(dk::find(four, 9).size() == 1 && dk::find(four, 8).empty() && dk::find(four, 10).empty());
static_assert(dk::find(four, 0).empty() && dk::find({}, 3).empty());

static_assert(dk::grants({.vectors = 2, .rows = 7}, {.vectors = 2}) && dk::grants({.vectors = 2}, {}));
static_assert(!dk::grants({.vectors = 2}, {.vectors = 3}) && !dk::grants({}, {.depth = 1}));

struct without_table {};
struct with_table {
  static constexpr tuned_kernel tuned[] = {{3, "a", 1.5}};
};
struct with_view {
  static constexpr dk::tuned_table tuned = four;
};
static_assert(dk::tuned_of<without_table>().empty());
static_assert(dk::tuned_of<with_table>().size() == 1 && dk::tuned_of<with_view>().size() == 4);

std::string fault(std::vector<tuned_kernel> table) { return dk::fault_of(table).str(); }

}  // namespace

TEST_CASE("what is wrong with a table is said, with the entry") {
  CHECK(fault({{7, "b", 1}, {7, "a", 1}}) ==
        "the table of tuned kernels is wrong: entry 1, of family 'a', does not come behind the one before it");
  CHECK(fault({{7, "a", 1}, {7, "a", 1}}).ends_with("entry 1, of family 'a', does not come behind the one before it"));
  CHECK(fault({{8, "a", 1}, {7, "a", 1}}).ends_with("does not come behind the one before it"));
  CHECK(fault({{7, "", 1}}).ends_with("entry 0, of family '', names no family"));
  for (const double time : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK(fault({{7, "a", time}}).ends_with("was measured to take no number of microseconds"));
  for (const dk::named_gene& g : dk::all_genes) {
    tuned_kernel k{7, "a", 1};
    k.genes[3].*g.value = -1;
    CHECK(fault({k}).ends_with("has a negative number of vectors, rows or the like"));
  }
}

TEST_CASE("the library's tables are right, and every entry is found") {
  CHECK(dk::fault_of(dk::tuned::zen4).str() == "");
  CHECK(dk::tuned::zen4.size() > 50);
  for (const tuned_kernel& k : dk::tuned::zen4) {
    const dk::tuned_table found = dk::find(dk::tuned::zen4, k.key);
    CHECK(std::any_of(found.begin(), found.end(), [&](const tuned_kernel& f) { return f.family == k.family; }));
    CHECK(!k.is_forced());
  }
}
