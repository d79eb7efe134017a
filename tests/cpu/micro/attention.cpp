// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// Attention with queries in lanes against its definition in double: extents known and not, strides of all kinds, work
// on the scores, rows without a number, any division into units.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/attention.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "../reference.hpp"

using namespace dnnkit::cpu;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct matrix {
  std::vector<float> values;
  index_t token, element;

  float at(index_t t, index_t e) const { return values[static_cast<std::size_t>(t * token + e * element)]; }
};
// Exactly as many values as such a matrix spans: what is read past them is read past the end of memory.
matrix random_matrix(index_t tokens, index_t elements, index_t token, index_t element) {
  return {reference::values(tokens > 0 ? (tokens - 1) * token + (elements - 1) * element + 1 : 0), token, element};
}

// The definition: what makes scores of products, and weights of the softmax.
struct definition {
  std::function<double(double, index_t key, index_t query)> score = [](double x, index_t, index_t) { return x; };
  std::function<double(double, index_t key, index_t query)> weight = [](double x, index_t, index_t) { return x; };
};
std::vector<double> row_of(const definition& d, const matrix& q, const matrix& k, const matrix& v, index_t query,
                           index_t keys, index_t depth, index_t width) {
  std::vector<double> p(static_cast<std::size_t>(keys)), o(static_cast<std::size_t>(width));
  double largest = -HUGE_VAL, sum = 0;
  for (index_t key = 0; key < keys; ++key) {
    double x = 0;
    for (index_t e = 0; e < depth; ++e) x += static_cast<double>(q.at(query, e)) * static_cast<double>(k.at(key, e));
    x = d.score(x, key, query);
    p[static_cast<std::size_t>(key)] = x;
    if (x > largest) largest = x;
  }
  for (double& x : p) sum += x = std::exp(x - largest);
  for (index_t key = 0; key < keys; ++key) {
    const double w = d.weight(p[static_cast<std::size_t>(key)] / sum, key, query);
    for (index_t e = 0; e < width; ++e) o[static_cast<std::size_t>(e)] += w * static_cast<double>(v.at(key, e));
  }
  return o;
}

struct scaled : plain_scores {
  static constexpr bool takes_little = true;
  float by = 1;
  [[gnu::always_inline]] float_vec operator()(float_vec x, index_t, index_t, auto) const { return x * float_vec(by); }
};

// Runs the head twice, whole and unit by unit, and compares with the definition.
template <output_lanes Output = output_lanes::elements, class Scores, class Queries, class Keys, class Depth,
          class Width, class Q, class K, class V>
void check(Queries queries, Keys keys, Depth depth, Width width, Q of_q, K of_k, V of_v, Scores scores,
           const definition& wanted) {
  const attention<Queries, Keys, Depth, Width, Q, K, V, Output> head{queries, keys, depth, width, of_q, of_k, of_v};
  const matrix q = random_matrix(queries, depth, of_q.token, of_q.element);
  const matrix k = random_matrix(keys, depth, of_k.token, of_k.element);
  const matrix v = random_matrix(keys, width, of_v.token, of_v.element);
  const auto size = static_cast<std::size_t>(queries * width);
  std::vector<float> whole(size, NAN), parts(size, NAN);
  std::vector<float> scratch(static_cast<std::size_t>(head.scratch_size() + 16), NAN);
  float* const aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) / 4 % 16;
  index_t outside = 0;
  const auto run = [&](index_t first, index_t last, std::vector<float>& out) {
    head.run(
        q.values.data(), k.values.data(), v.values.data(), first, last, scores,
        [&](float_vec o, index_t query, index_t element, auto lanes) {
          for (index_t i = 0; i < lanes; ++i) {
            const index_t row = query + (Output == output_lanes::queries ? i : 0);
            const index_t column = element + (Output == output_lanes::elements ? i : 0);
            if (row >= queries || column >= width) ++outside;
            else out[static_cast<std::size_t>(row * width + column)] = o[static_cast<int>(i)];
          }
        },
        aligned);
  };
  run(0, head.units(), whole);
  for (index_t u = head.units(); u-- > 0;) run(u, u + 1, parts);
  CHECK(outside == 0);
  index_t wrong = 0, different = 0;
  for (index_t query = 0; query < queries; ++query) {
    const std::vector<double> row = row_of(wanted, q, k, v, query, keys, depth, width);
    for (index_t e = 0; e < width; ++e) {
      const auto at = static_cast<std::size_t>(query * width + e);
      const double want = row[static_cast<std::size_t>(e)], got = static_cast<double>(whole[at]);
      if (std::isnan(want) ? !std::isnan(got) : !(std::abs(got - want) <= 4e-6)) ++wrong;
      if (std::memcmp(&whole[at], &parts[at], sizeof(float)) != 0) ++different;
    }
  }
  INFO(index_t(queries), " queries, ", index_t(keys), " keys, ", index_t(depth), " and ", index_t(width), " elements");
  CHECK(wrong == 0);
  CHECK(different == 0);
}

template <class Queries, class Keys, class Depth, class Width>
void check_contiguous(Queries queries, Keys keys, Depth depth, Width width) {
  scaled scores;
  scores.by = 0.7f;
  const index_t d = depth, w = width;
  check(queries, keys, depth, width, token_strides<index_t>{d, {}}, token_strides<index_t>{d + 3, {}},
        token_strides<index_t>{w, {}}, scores, {.score = [](double x, index_t, index_t) { return 0.7f * x; }});
}

}  // namespace

TEST_CASE("extents known to the compiler") {
  check_contiguous(constant<49>{}, constant<49>{}, constant<32>{}, constant<32>{});
  check_contiguous(constant<2 * float_lanes>{}, constant<1>{}, constant<48>{}, constant<80>{});
  check_contiguous(constant<3>{}, constant<14>{}, constant<5>{}, constant<7>{});
}

TEST_CASE("extents known at run time") {
  const auto size = [](index_t most) { return reference::pick(1, most); };
  for (int i = 0; i < 12; ++i) check_contiguous(size(100), size(100), constant<64>{}, constant<64>{});
  for (int i = 0; i < 12; ++i) check_contiguous(size(100), size(60), size(40), size(40));
}

// Of one type: the kernel is compiled once.
TEST_CASE("strides of all kinds") {
  using strides = token_strides<index_t, index_t>;
  const index_t queries = 37, keys = 23, depth = 19, width = 21;
  const strides rows{35, 1}, columns{1, 41}, spread{50, 2}, far{14'000, 1};
  const definition plain;
  for (const strides& of_q : {rows, columns, spread})
    for (const strides& of_v : {rows, columns, spread, far})
      check(queries, keys, depth, width, of_q, of_v, of_v, plain_scores{}, plain);
  check<output_lanes::queries>(queries, keys, depth, width, rows, spread, columns, plain_scores{}, plain);
}

// Where rows are so far apart, they are copied.
TEST_CASE("rows spread over much memory") {
  constexpr token_strides<constant<14'000>> far{};
  constexpr token_strides<constant<64>> rows{};
  const definition plain;
  check(constant<100>{}, constant<19>{}, constant<64>{}, constant<64>{}, rows, far, far, plain_scores{}, plain);
  check(constant<100>{}, constant<19>{}, constant<5>{}, constant<7>{}, rows, far, rows, plain_scores{}, plain);
}

namespace {

// A mask [query][key] that is added, of which each tile is transposed.
struct masked : plain_scores {
  static constexpr bool takes_little = true;
  const float* mask;
  index_t all_keys;
  std::vector<float> tile = std::vector<float>(static_cast<std::size_t>(all_keys * 2 * float_lanes));
  index_t first = 0;

  masked(const float* values, index_t keys) : mask(values), all_keys(keys) {}
  void start(index_t first_query, index_t last_query) {
    first = first_query;
    transpose_matrix(mask + first_query * all_keys, all_keys, last_query - first_query, all_keys, tile.data(),
                     2 * float_lanes);
  }
  float_vec operator()(float_vec x, index_t key, index_t query, auto) const {
    return x + float_vec::load(&tile[static_cast<std::size_t>(key * 2 * float_lanes + query - first)]);
  }
};

struct causal : plain_scores {
  index_t past;  // keys before the first query

  explicit causal(index_t p) : past(p) {}
  key_range keys(index_t, index_t last, index_t keys) const { return {0, std::min(keys, last + past)}; }
  float_vec operator()(float_vec x, index_t key, index_t query, auto) const {
    using integers = vec<std::int32_t, float_lanes>;
    const integers places = integers::iota(static_cast<std::int32_t>(query + past));
    return select(places < integers(static_cast<std::int32_t>(key)), float_vec(-infinity), x);
  }
};

// Each query sees the keys at most 5 before it and itself.
struct window : plain_scores {
  key_range keys(index_t first, index_t last, index_t keys) const {
    return {std::min(keys, std::max<index_t>(first - 5, 0)), std::min(keys, last)};
  }
  float_vec operator()(float_vec x, index_t key, index_t query, auto) const {
    for (int i = 0; i < float_lanes; ++i)
      if (key > query + i || key < query + i - 5) x.set(i, -infinity);
    return x;
  }
};

// Looks for the keys that a tile sees, in the mask; where a query sees none, all count.
struct looking : masked {
  index_t* again;

  looking(const float* values, index_t keys, index_t* count) : masked(values, keys), again(count) {}
  key_range keys(index_t from, index_t to, index_t keys) const {
    key_range seen{0, keys};
    while (seen.last > 0 && is_hidden(seen.last - 1, to - from)) --seen.last;
    while (seen.first < seen.last && is_hidden(seen.first, to - from)) ++seen.first;
    return seen;
  }
  bool is_hidden(index_t key, index_t queries) const {
    for (index_t i = 0; i < queries; ++i)
      if (tile[static_cast<std::size_t>(key * 2 * float_lanes + i)] > -1e30f) return false;
    return true;
  }
  bool sees_enough(const float* largest, index_t queries) const {
    const bool all = std::all_of(largest, largest + queries, [](float x) { return x > -1e29f; });
    if (!all) ++*again;
    return all;
  }
};

// Zero where the softmax has no number; the valid lanes are as many as there are queries.
struct numbers_only : masked {
  index_t queries, *wrong_lanes;
  numbers_only(const float* values, index_t keys, index_t of_queries, index_t* wrong)
      : masked(values, keys), queries(of_queries), wrong_lanes(wrong) {}
  static constexpr bool has_weight = true;
  float_vec weight(float_vec x, index_t key, index_t query, auto lanes) const {
    if (lanes != std::min<index_t>(float_lanes, queries - query)) ++*wrong_lanes;
    return select(x == x, x, float_vec(0.0f)) * float_vec(static_cast<float>(key) / 16);
  }
};

}  // namespace

TEST_CASE("work on the scores") {
  constexpr token_strides<constant<64>> rows{};
  const index_t queries = 45;
  {
    const std::vector<float> mask = reference::values(queries * 31);
    const auto at = [&](index_t key, index_t query) { return mask[static_cast<std::size_t>(query * 31 + key)]; };
    check(queries, index_t{31}, constant<64>{}, constant<64>{}, rows, rows, rows, masked(mask.data(), 31),
          {.score = [&](double x, index_t key, index_t query) { return x + static_cast<double>(at(key, query)); }});
  }
  for (const index_t past : {0, 9}) {
    const auto score = [=](double x, index_t key, index_t query) { return key > query + past ? -HUGE_VAL : x; };
    check(queries, queries + past, constant<64>{}, constant<64>{}, rows, rows, rows, causal(past), {.score = score});
  }
  check(queries, queries, constant<64>{}, constant<64>{}, rows, rows, rows, window{},
        {.score = [](double x, index_t key, index_t query) { return key > query || key < query - 5 ? -HUGE_VAL : x; }});
}

TEST_CASE("rows without a number are without one, as the softmax's definition has them; other rows are not touched") {
  constexpr token_strides<constant<64>> rows{};
  const index_t queries = 40;
  const index_t keys = 17;
  std::vector<float> mask = reference::values(queries * keys);
  for (index_t key = 0; key < keys; ++key) mask[static_cast<std::size_t>(3 * keys + key)] = -infinity;
  mask[static_cast<std::size_t>(5 * keys + 4)] = NAN;
  mask[static_cast<std::size_t>(6 * keys + 16)] = infinity;
  for (index_t key = 1; key < keys; ++key) mask[static_cast<std::size_t>(7 * keys + key)] = -infinity;
  for (index_t key = 0; key < keys; ++key) mask[static_cast<std::size_t>(8 * keys + key)] = -3e38f;
  const auto score = [&](double x, index_t key, index_t query) {
    return static_cast<double>(static_cast<float>(x) + mask[static_cast<std::size_t>(query * keys + key)]);
  };
  check(queries, keys, constant<64>{}, constant<64>{}, rows, rows, rows, masked(mask.data(), keys), {.score = score});
  index_t wrong_lanes = 0;
  check(queries, keys, constant<64>{}, constant<64>{}, rows, rows, rows,
        numbers_only(mask.data(), keys, queries, &wrong_lanes),
        {.score = score, .weight = [](double p, index_t key, index_t) {
           return std::isnan(p) ? 0 : p * static_cast<double>(key) / 16;
         }});
  CHECK(wrong_lanes == 0);
}

TEST_CASE("keys that are looked for when a tile begins") {
  constexpr token_strides<constant<64>> rows{};
  const index_t queries = 90, keys = 83;
  std::vector<float> mask = reference::values(queries * keys);
  for (index_t query = 0; query < queries; ++query)
    for (index_t key = 0; key < keys; ++key)
      if (key > query || key + 20 < query) mask[static_cast<std::size_t>(query * keys + key)] = -3e38f;
  const auto score = [&](double x, index_t key, index_t query) {
    return static_cast<double>(static_cast<float>(x) + mask[static_cast<std::size_t>(query * keys + key)]);
  };
  index_t again = 0;
  check(queries, keys, constant<64>{}, constant<64>{}, rows, rows, rows, looking(mask.data(), keys, &again),
        {.score = score});
  CHECK(again == 0);
  for (index_t key = 0; key < keys; ++key) mask[static_cast<std::size_t>(40 * keys + key)] = -3e38f;
  check(queries, keys, constant<64>{}, constant<64>{}, rows, rows, rows, looking(mask.data(), keys, &again),
        {.score = score});
  CHECK(again == 2);  // the tile of query 40, in each of two runs
}

TEST_CASE("no keys, no queries") {
  constexpr token_strides<constant<64>> rows{};
  check(index_t{20}, index_t{0}, constant<64>{}, constant<64>{}, rows, rows, rows, plain_scores{}, {});
  check(index_t{0}, index_t{9}, constant<64>{}, constant<64>{}, rows, rows, rows, plain_scores{}, {});
}

// Sizes are constants where the extents are.
static_assert(attention<constant<49>, constant<49>, constant<64>, constant<64>, token_strides<constant<96>>,
                        token_strides<constant<96>>, token_strides<constant<96>>>{}
                  .scratch_size() == 2 * float_lanes * (64 + 49));
static_assert(attention<constant<49>, constant<49>, constant<64>, constant<33>, token_strides<constant<96>>,
                        token_strides<constant<96>>, token_strides<constant<96>>>{}
                  .units() == ceil_div(49, 2 * float_lanes));
