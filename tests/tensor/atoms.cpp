// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/tensor/atoms.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>

namespace dk = dnnkit;

namespace {

constexpr dk::atoms atoms(std::initializer_list<dk::dim> from, std::initializer_list<dk::dim> to) {
  dk::symbol_table table;
  return dk::atoms_of(table, dk::shape(from), dk::shape(to));
}
constexpr bool are(const dk::atoms& a, std::initializer_list<dk::dim> sizes, std::initializer_list<std::size_t> from,
                   std::initializer_list<std::size_t> to) {
  if (!dk::same_shape(a.sizes, dk::shape(sizes))) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (a.from[i] != from.begin()[i] || a.to[i] != to.begin()[i]) return false;
  return true;
}

static_assert(are(atoms({8, 6}, {2, 24}), {2, 4, 6}, {0, 0, 1}, {0, 1, 1}));
static_assert(are(atoms({1, 512, 64, 64}, {1, 32, 65536}), {1, 32, 16, 64, 64}, {0, 1, 1, 2, 3}, {0, 1, 2, 2, 2}));
static_assert(are(atoms({6}, {6}), {6}, {0}, {0}));
static_assert(are(atoms({6, 1, 1}, {1, 2, 3}), {2, 3}, {0, 0}, {1, 2}));  // extents of 1 are no atoms of one shape
static_assert(are(atoms({1, 1}, {}), {}, {}, {}));
static_assert(are(atoms({0, 6}, {0, 2, 3}), {0, 2, 3}, {0, 1, 1}, {0, 1, 2}));
static_assert(atoms({6, 4}, {4, 6}).sizes.empty());  // 6 and 4 have no common multiple on the way
static_assert(atoms({0, 6}, {6, 0}).sizes.empty());
static_assert(atoms({2, 2, 2, 2, 2, 2, 2, 2}, {256}).sizes.size() == 8);
static_assert(atoms({4, 2, 2, 2, 2, 2, 2, 2}, {2, 256}).sizes.empty());  // more than a tensor has axes

}  // namespace

TEST_CASE("extents that are expressions have atoms where one is shown to be a multiple of the other") {
  dk::symbol_table table;
  const dk::dim n = table.symbol_named("N", {1, 100}), h = table.symbol_named("H", {1, 100});
  const dk::dim both = table.mul(n, h), twice = table.mul(h, 2);
  CHECK(are(dk::atoms_of(table, dk::shape{n, twice}, dk::shape{both, dk::dim(2)}), {n, h, 2}, {0, 1, 1}, {0, 0, 1}));
  CHECK(dk::atoms_of(table, dk::shape{n, h}, dk::shape{h, n}).sizes.empty());
}
