// SPDX-License-Identifier: MIT
// The laws of the view algebra, each checked over the whole domain of random views, with known and with symbolic
// extents.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/tensor/view.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/positions.hpp"

using namespace positions;
using dnnkit::int_list;
using dnnkit::view_algebra;

namespace {

// A symbol table with two symbols, whose values are fixed, and shapes in which some extents are written with them.
struct world {
  generator random;
  symbol_table table;
  view_algebra algebra{table};
  index_list values;
  std::vector<dim> symbols;

  explicit world(unsigned seed) : random(seed) {
    for (const char* name : {"H", "W"}) {
      symbols.push_back(table.symbol_named(name, {1, 8}));
      values.push_back(random.between(1, 4));
    }
  }
  dim extent() {
    switch (random.between(0, 5)) {
      case 0:
        return symbols[0];
      case 1:
        return symbols[1];
      case 2:
        return table.mul(symbols[0], 2);
      default:
        return random.between(1, 4);
    }
  }
  shape any_shape(std::int64_t least_rank = 0, std::int64_t most_rank = 4) {
    shape s;
    for (std::int64_t r = random.between(least_rank, most_rank); r > 0; --r) s.push_back(extent());
    return s;
  }
  // Dense in any order, with room to spare, and sometimes already reshaped or sliced.
  view any_view(shape& s) {
    shape room = s;
    for (dim& d : room) d = table.add(d, random.between(0, 2));
    view v = algebra.dense(s, random.permutation(s.size()), room);
    v.offset = random.between(0, 3);
    return v;
  }
  index_list numbers(const shape& s) const { return extents(table, s, values); }
  std::int64_t at(const view& v, const index_list& c) const { return position(table, v, c, values); }
};

TEST_CASE("laws of the view algebra") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::size_t reshapes = 0, refusals = 0;
  for (unsigned round = 0; round < 600; ++round) {
    world w(seed + round);
    CAPTURE(round);
    shape s = w.any_shape();
    const view v = w.any_view(s);
    const index_list e = w.numbers(s);
    const std::size_t rank = s.size();

    {  // dense: the strides ascend in the given order
      const int_list order = w.random.permutation(rank);
      const view dense = w.algebra.dense(s, order, s);
      std::vector<std::int64_t> seen;
      index_list stored;
      for (std::int64_t i : order) stored.push_back(e[static_cast<std::size_t>(i)]);
      for_each(e, [&](const index_list& c) {
        index_list reordered;
        for (std::int64_t i : order) reordered.push_back(c[static_cast<std::size_t>(i)]);
        CHECK(w.at(dense, c) == flat(reordered, stored));
      });
      CHECK(w.algebra.row_major(s) == w.algebra.dense(
                                          s,
                                          [&] {
                                            int_list ascending;
                                            for (std::size_t i = 0; i < rank; ++i)
                                              ascending.push_back(static_cast<std::int64_t>(i));
                                            return ascending;
                                          }(),
                                          s));
    }
    {  // transpose: at(result, c) = at(v, d) where d[perm[i]] = c[i]
      const int_list perm = w.random.permutation(rank);
      view r = v;
      REQUIRE(w.algebra.transpose(r, perm));
      index_list out;
      for (std::int64_t p : perm) out.push_back(e[static_cast<std::size_t>(p)]);
      for_each(out, [&](const index_list& c) {
        index_list d(rank);
        for (std::size_t i = 0; i < rank; ++i) d[static_cast<std::size_t>(perm[i])] = c[i];
        CHECK(w.at(r, c) == w.at(v, d));
      });
    }
    {  // reshape: at(result, c) = at(v, unflatten(flatten(c))), after up to three other reshapes and a transpose
      view r = v;
      shape from = s;
      if (rank > 0 && w.random.between(0, 1) == 1) {
        const int_list perm = w.random.permutation(rank);
        REQUIRE(w.algebra.transpose(r, perm));
        from.clear();
        for (std::int64_t p : perm) from.push_back(s[static_cast<std::size_t>(p)]);
      }
      const view before = r;
      const index_list e_before = w.numbers(from);
      for (int step = 0; step < 3; ++step) {
        // a shape of the same product: factors of the extents, joined at random
        shape to;
        for (dim d : from) {
          const dim half = w.table.exact_div(d, 2);
          const bool split = !half.is_unknown() && !(half == dim(0)) && w.random.between(0, 1) == 1;
          for (dim f : split ? std::vector<dim>{half, 2} : std::vector<dim>{d})
            if (!to.empty() && w.random.between(0, 2) == 0) to.back() = w.table.mul(to.back(), f);
            else if (to.size() < dnnkit::max_rank) to.push_back(f);
            else to.back() = w.table.mul(to.back(), f);
        }
        if (w.random.between(0, 3) == 0 && to.size() < dnnkit::max_rank)
          to.insert(static_cast<std::size_t>(w.random.between(0, static_cast<std::int64_t>(to.size()))), 1);
        const view kept = r;
        if (!w.algebra.reshape(r, to)) {
          ++refusals;
          CHECK(r == kept);
          continue;
        }
        ++reshapes;
        from = to;
        const index_list e_after = w.numbers(to);
        for_each(e_after,
                 [&](const index_list& c) { CHECK(w.at(r, c) == w.at(before, unflat(flat(c, e_after), e_before))); });
        for (std::size_t i = 0; i < to.size(); ++i) CHECK(w.algebra.size(r.dims[i]) == to[i]);
      }
    }
    if (rank > 0) {  // slice: at(result, c) = at(v, c with c[d] replaced by start + step c[d])
      const auto d = static_cast<std::size_t>(w.random.between(0, static_cast<std::int64_t>(rank) - 1));
      const std::int64_t start = w.random.between(0, e[d] - 1), step = w.random.between(1, 3);
      const std::int64_t count = w.random.between(0, (e[d] - start + step - 1) / step);
      view r = v;
      REQUIRE(w.algebra.slice(r, d, start, count, step));
      index_list out = e;
      out[d] = count;
      for_each(out, [&](const index_list& c) {
        index_list i = c;
        i[d] = start + step * c[d];
        CHECK(w.at(r, c) == w.at(v, i));
      });
      // of a dimension of several axes: whole steps of the outermost, or a refusal that changes nothing
      const view two{.dims = {{axis{3, 40}, axis{4, 3}}}, .offset = 5};
      const std::int64_t first = w.random.between(0, 11), size = w.random.between(0, 12 - first);
      view part = two;
      if (!w.algebra.slice(part, 0, first, size, 1)) CHECK(part == two);
      else
        for (std::int64_t c = 0; c < size; ++c) CHECK(w.at(part, {c}) == w.at(two, {first + c}));
    }
    {  // expand: at(result, c) = at(v, c over the last coordinates, 0 where v's extent is 1)
      shape to = s;
      for (dim& d : to)
        if (d == dim(1)) d = w.extent();
      while (to.size() < 6 && w.random.between(0, 1) == 1) to.insert(0, w.extent());
      view r = v;
      REQUIRE(w.algebra.expand(r, to));
      for_each(w.numbers(to), [&](const index_list& c) {
        index_list i(c.end() - static_cast<std::ptrdiff_t>(rank), c.end());
        for (std::size_t k = 0; k < rank; ++k)
          if (e[k] == 1) i[k] = 0;
        CHECK(w.at(r, c) == w.at(v, i));
      });
    }
    {  // tile: at(result, c) = at(v, c modulo v's extents)
      int_list repeats;
      index_list out;
      for (std::int64_t d : e) {
        repeats.push_back(w.random.between(1, 3));
        out.push_back(d * repeats.back());
      }
      view r = v;
      REQUIRE(w.algebra.tile(r, repeats));
      for_each(out, [&](const index_list& c) {
        index_list i = c;
        for (std::size_t k = 0; k < rank; ++k) i[k] %= e[k];
        CHECK(w.at(r, c) == w.at(v, i));
      });
    }
  }
  CHECK(reshapes > refusals);
  MESSAGE(reshapes << " reshapes kept a strided view, " << refusals << " could not");
}

// A transpose between reshapes stays a view: the attention pattern [N, L, heads * size] -> [N, heads, L, size].
constexpr bool heads_are_strides() {
  symbol_table t;
  view_algebra a(t);
  const dim l = t.symbol_named("L", {1, 512});
  view v = a.row_major({1, l, 768});
  return a.reshape(v, {1, l, 12, 64}) && a.transpose(v, {0, 2, 1, 3}) && v.dims[1][0] == axis{12, 64} &&
         v.dims[2][0] == axis{l, 768} && v.dims[3][0] == axis{64, 1} && a.transpose(v, {0, 2, 1, 3}) &&
         a.reshape(v, {l, 768}) && v == a.row_major({l, 768});
}
static_assert(heads_are_strides());

// DepthToSpace of two: six axes in four dimensions.
constexpr bool depth_to_space_is_a_view() {
  symbol_table t;
  view_algebra a(t);
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 512});
  view v = a.row_major({1, 12, h, w});
  return a.reshape(v, {1, 2, 2, 3, h, w}) && a.transpose(v, {0, 3, 4, 1, 5, 2}) &&
         a.reshape(v, {1, 3, t.mul(h, 2), t.mul(w, 2)}) && v.dims[2].size() == 2 && v.dims[3].size() == 2 &&
         v.dims[3][1].size == dim(2);
}
static_assert(depth_to_space_is_a_view());

// What does not divide is refused.
constexpr bool refusals() {
  symbol_table t;
  view_algebra a(t);
  view v = a.row_major({4, 3});
  const view before = v;
  const bool transposed = a.transpose(v, {1, 0});
  const view turned = v;
  return transposed && !a.reshape(v, {2, 6}) && v == turned && !(turned == before);
}
static_assert(refusals());

}  // namespace
