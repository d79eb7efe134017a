// SPDX-License-Identifier: MIT
// One head of attention, softmax(f(Q K^T)) V, by tiles of queries, a query a lane. A tile's scores stand as S^T = K Q^T
// in scratch memory: K and V are read where they lie, only the tile of Q is transposed, and the softmax runs down the
// rows of S^T, without sums across lanes and without rows that end inside a vector.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/micro/math.hpp"
#include "dnnkit/cpu/micro/split.hpp"
#include "dnnkit/cpu/micro/tile.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Floats between tokens and between elements of a head: constant<N> or index_t each.
template <class Token, class Element = constant<1>> struct token_strides {
  [[no_unique_address]] Token token{};
  [[no_unique_address]] Element element{};
};

// The keys [first, last).
struct key_range {
  index_t first, last;
  friend bool operator==(const key_range&, const key_range&) = default;
};

// What happens to the scores: the default, to be derived from. All members are called on the object that run() gets. It
// may also have
//   key_range keys(index_t first_query, index_t last_query, index_t keys)
// the keys that any of the queries [first, last) sees: others are not read; and, where that is not known before the
// tile of these queries begins, and may turn out to be wrong,
//   bool sees_enough(const float* largest, index_t queries)
// whether it was right, given the largest score of each query of the tile; if not, the tile is computed with all keys.
struct plain_scores {
  // A tile begins. The place to bring what operator() reads into its order, such as a mask with contiguous keys
  // (cpu/micro/transpose.hpp).
  void start(index_t /*first_query*/, index_t /*last_query*/) noexcept {}
  // The scores of key `key` and the queries query + lane, from the products. `lanes`: how many are valid,
  // constant<float_lanes> or a smaller index_t; the others may get any value.
  [[gnu::always_inline]] float_vec operator()(float_vec x, index_t /*key*/, index_t /*query*/, auto /*lanes*/) const {
    return x;
  }
  // True: operator() is a few instructions, worth compiling for each sum of a tile, before these are stored.
  static constexpr bool takes_little = false;
  // True: weight() takes each result of the softmax, placed as for operator(). It costs a pass over the scores.
  static constexpr bool has_weight = false;
  [[gnu::always_inline]] float_vec weight(float_vec x, index_t /*key*/, index_t /*query*/, auto /*lanes*/) const {
    return x;
  }
};

// The axis of O along which the epilogue gets vectors.
enum class output_lanes { elements, queries };

// Q is queries x depth, K keys x depth, V keys x width, O queries x width; extents are constant<N> or index_t.
// Describes the head; holds no data. Bit-for-bit the same for every division into units.
//
// V is read by vectors where its elements are contiguous and fill them. Elsewhere, and where `Output` asks for it, O^T
// is computed in the place of O, from V read element by element.
//
//   attention<constant<128>, constant<128>, constant<64>, constant<64>, strides, strides, strides> head{};
//   head.run(q, k, v, 0, head.units(), scores,
//            [&](float_vec o, index_t query, index_t element, auto lanes) { o.store(...); }, scratch);
template <class Queries, class Keys, class Depth, class Width, class StridesOfQ, class StridesOfK, class StridesOfV,
          output_lanes Output = output_lanes::elements, int MaxVectors = 2>
struct attention {
  [[no_unique_address]] Queries queries{};
  [[no_unique_address]] Keys keys{};
  [[no_unique_address]] Depth depth{};
  [[no_unique_address]] Width width{};
  [[no_unique_address]] StridesOfQ of_q{};
  [[no_unique_address]] StridesOfK of_k{};
  [[no_unique_address]] StridesOfV of_v{};

  // Tiles of queries: independent pieces of work; any partition of [0, units()) into ranges may run at once.
  constexpr index_t units() const noexcept { return ceil_div(queries, tile_queries); }

  // Floats of the scratch that each range running at the same time has for itself.
  constexpr index_t scratch_size() const noexcept {
    const index_t transposed_o = turned && Output == output_lanes::elements ? tile_queries * width : 0;
    return tile_queries * (depth + keys) + transposed_o + copy_size(of_k, depth) + copy_size(of_v, width);
  }

  // Computes the units [first, last). scores: see plain_scores. epilogue(float_vec o, index_t query, index_t element,
  // lanes): the first place of a vector along Output; lanes is constant<float_lanes> or a smaller index_t, the number
  // of valid ones. scratch: scratch_size() floats, 64-byte aligned.
  template <class Scores, class Epilogue>
  void run(const float* q, const float* k, const float* v, index_t first, index_t last, Scores&& scores,
           Epilogue&& epilogue, float* scratch) const {
    if (first >= last) return;
    const key_range range =
        looks_for_keys<Scores> ? key_range{0, keys}
                               : keys_of(scores, first * tile_queries, std::min<index_t>(last * tile_queries, queries));
    const auto rows_of_k = brought_together(k, of_k, depth, range, scratch);
    const auto rows_of_v = brought_together(v, of_v, width, range, scratch);
    for (index_t u = first; u < last; ++u) {
      const index_t query = u * tile_queries;
      with_tile(query, [&](auto vectors, auto count) {
        run_tile<static_cast<int>(decltype(vectors)::value)>(q + query * of_q.token, rows_of_k, rows_of_v, query, count,
                                                             scores, epilogue, scratch);
      });
    }
  }

 private:
  static constexpr index_t tile_queries = MaxVectors * float_lanes;
  // Rows of V may lie far apart, in few sets of a cache: a tile that reads fewer of their vectors has more queries for
  // each of them.
  static constexpr int vectors_of_output = std::min(panel_vectors, 2);

  // Rows of the second product are elements, not queries.
  static constexpr bool turned = [] {
    if constexpr (Output == output_lanes::elements && is_constant<Width> &&
                  std::is_same_v<decltype(StridesOfV::element), constant<1>>)
      return Width::value % float_lanes != 0;
    return true;
  }();

  // --- the keys that a tile sees
  template <class Scores> static constexpr bool chooses_keys = requires(Scores& scores) {
    scores.keys(index_t{}, index_t{}, index_t{});
  };
  template <class Scores> static constexpr bool looks_for_keys = requires(Scores& scores, const float* largest) {
    scores.sees_enough(largest, index_t{});
  };
  template <class Scores>
  constexpr key_range keys_of(Scores& scores, [[maybe_unused]] index_t first, [[maybe_unused]] index_t last) const {
    if constexpr (chooses_keys<Scores>) return scores.keys(first, last, keys);
    else return {0, keys};
  }

  // --- K and V next to each other
  // Rows that are spread over much memory meet in few sets of a cache and in more pages than its table of addresses
  // holds. Where several tiles read them, they are copied, once a range (16 x 512 x 64, 1,024 floats from token to
  // token: twice as fast).
  template <class Strides> constexpr bool copied(const Strides& of, index_t elements) const noexcept {
    constexpr index_t spread = 1024 * 1024;  // bytes
    return of.element == 1 && of.token > elements && keys * of.token * 4 >= spread && units() >= 4;
  }
  template <class Strides> constexpr index_t copy_size(const Strides& of, index_t elements) const noexcept {
    return copied(of, elements) ? ceil_div(keys * elements, 16) * 16 : 0;
  }
  template <class Token> struct located {
    const float* at;
    [[no_unique_address]] Token token;
  };
  // Takes what a copy needs from the scratch.
  template <class Strides, class Elements>
  auto brought_together(const float* from, const Strides& of, Elements elements, key_range range,
                        float*& scratch) const {
    using token = decltype(Strides::token);
    if constexpr (is_constant<Queries> && is_constant<Keys> && is_constant<Elements> && is_constant<token> &&
                  is_constant<decltype(Strides::element)>) {
      if constexpr (attention{}.copied(Strides{}, Elements::value))
        return located<Elements>{copy(from, of.token, elements, range, scratch), {}};
      else return located<token>{from, {}};
    } else {
      if (copied(of, elements)) return located<index_t>{copy(from, of.token, elements, range, scratch), elements};
      return located<index_t>{from, of.token};
    }
  }
  const float* copy(const float* from, index_t token, index_t elements, key_range range, float*& scratch) const {
    float* const to = scratch;
    scratch += ceil_div(keys * elements, 16) * 16;
    for (index_t i = range.first; i < range.last; ++i) std::copy_n(from + i * token, elements, to + i * elements);
    return to;
  }

  // --- tiles
  // f(constant<vectors>{}, queries in the tile), the latter constant where the compiler knows it.
  template <class F> [[gnu::always_inline]] void with_tile(index_t query, F&& f) const {
    if constexpr (is_constant<Queries>) {
      constexpr index_t rest = Queries::value % tile_queries;
      if constexpr (Queries::value >= tile_queries)
        if (query + tile_queries <= Queries::value) return f(constant<MaxVectors>{}, constant<tile_queries>{});
      if constexpr (rest > 0) f(constant<ceil_div(rest, float_lanes)>{}, constant<rest>{});
    } else {
      const index_t count = std::min<index_t>(queries - query, tile_queries);
      if (count == tile_queries) return f(constant<MaxVectors>{}, constant<tile_queries>{});
      rest_of_tile<MaxVectors>(count, f);
    }
  }
  // The fewest vectors that hold so many queries.
  template <int Vectors, class F> [[gnu::always_inline]] static void rest_of_tile(index_t count, F& f) {
    if constexpr (Vectors > 1)
      if (count <= (Vectors - 1) * float_lanes) return rest_of_tile<Vectors - 1>(count, f);
    f(constant<Vectors>{}, count);
  }

  // Per query of a tile, a lane each.
  template <int Vectors> struct alignas(64) statistics {
    float largest[Vectors * float_lanes];
    float factor[Vectors * float_lanes];  // of the sums of products: 1 / the sum of exponentials
  };

  template <int Vectors, class Scores, class Epilogue>
  void run_tile(const float* q, const auto& k, const auto& v, index_t query, auto count, Scores& scores,
                Epilogue& epilogue, float* scratch) const {
    constexpr index_t lanes = Vectors * float_lanes;
    float* const transposed_q = scratch;
    float* const p = transposed_q + tile_queries * depth;
    scores.start(query, query + count);
    key_range range = keys_of(scores, query, query + count);
    transpose_queries(q, count, transposed_q, lanes);

    statistics<Vectors> of_rows;
    score_range<Vectors>(k, transposed_q, p, range, query, count, scores, of_rows);
    if constexpr (looks_for_keys<Scores>) {
      const key_range all{0, keys};
      if (range != all && !scores.sees_enough(of_rows.largest, count)) {
        range = all;
        score_range<Vectors>(k, transposed_q, p, range, query, count, scores, of_rows);
      }
    }
    exponentials<Vectors>(p, range, query, count, scores, of_rows);

    const index_t length = range.last - range.first;
    const float* const first_v = v.at + range.first * v.token;
    if constexpr (turned) {
      float* const transposed_o = p + tile_queries * keys;
      in_blocks<tile_rows(Vectors)>(width, [&](auto elements, index_t element) {
        mix_elements<static_cast<int>(decltype(elements)::value), Vectors>(first_v + element * of_v.element, v.token, p,
                                                                           length, query, element, count, of_rows,
                                                                           epilogue, transposed_o);
      });
      if constexpr (Output == output_lanes::elements) turn_output(transposed_o, lanes, query, count, epilogue);
    } else {
      using panels = split<vectors_of_output, constant<Width::value / float_lanes>>;
      for (index_t t = 0; t < panels::count(); ++t) {
        panels::visit(t, [&](auto vectors, index_t vector) {
          constexpr int columns = static_cast<int>(decltype(vectors)::value);
          in_blocks<tile_rows(columns)>(count, [&](auto rows, index_t row) {
            mix_queries<static_cast<int>(decltype(rows)::value), columns, lanes>(
                p + row, first_v + vector * float_lanes, v.token, length, query + row, vector * float_lanes,
                of_rows.factor + row, epilogue);
          });
        });
      }
    }
  }

  // f(constant<rows>{}, first row) for blocks of at most Most rows.
  template <int Most, class Extent, class F> [[gnu::always_inline]] static void in_blocks(Extent extent, F&& f) {
    const split<Most, Extent> blocks(extent);
    for (index_t b = 0; b < blocks.count(); ++b) blocks.visit(b, f);
  }

  struct fetch_nothing {
    [[gnu::always_inline]] void next(index_t = 1) noexcept {}
    [[gnu::always_inline]] void next_height() noexcept {}
  };

  // Q^T of a tile, with zeros for queries past `count`.
  void transpose_queries(const float* q, index_t count, float* out, index_t lanes) const {
    if constexpr (std::is_same_v<decltype(StridesOfQ::element), constant<1>>) {
      transpose_matrix(q, of_q.token, count, depth, out, lanes);
    } else {
      for (index_t e = 0; e < depth; ++e)
        for (index_t i = 0; i < lanes; ++i)
          out[e * lanes + i] = i < count ? q[i * of_q.token + e * of_q.element] : 0.0f;
    }
  }

  // The scores of all keys of the range, the first of them at p.
  template <int Vectors, class Scores>
  void score_range(const auto& k, const float* transposed_q, float* p, key_range range, index_t query, auto count,
                   const Scores& scores, statistics<Vectors>& of_rows) const {
    constexpr index_t lanes = Vectors * float_lanes;
    std::fill_n(of_rows.largest, lanes, -std::numeric_limits<float>::infinity());
    const auto score = [&](auto rows, index_t i) {
      const index_t key = range.first + i;
      score_keys<static_cast<int>(decltype(rows)::value), Vectors>(k.at + key * k.token, k.token, transposed_q,
                                                                   p + i * lanes, key, query, count, scores, of_rows);
    };
    if constexpr (!chooses_keys<Scores>) in_blocks<tile_rows(Vectors)>(keys, score);
    else if (is_constant<Keys> && range == key_range{0, keys}) in_blocks<tile_rows(Vectors)>(keys, score);
    else in_blocks<tile_rows(Vectors)>(range.last - range.first, score);
  }

  // Functions of their own from here on: with more around them, GCC runs out of registers in some.

  // Scores of `Rows` keys from `key` on.
  template <int Rows, int Vectors, class Scores>
  [[gnu::noinline]] void score_keys(const float* k, auto token, const float* transposed_q, float* p, index_t key,
                                    index_t query, auto count, const Scores& scores,
                                    statistics<Vectors>& of_rows) const {
    constexpr index_t lanes = Vectors * float_lanes;
    float_vec largest[Vectors];
    for (int j = 0; j < Vectors; ++j) largest[j] = float_vec::load(of_rows.largest + j * float_lanes);
    constexpr bool is_finished_at_once = value_or<decltype(count)>(0) == lanes && Scores::takes_little;
    tile<Rows, Vectors>(
        k, token, transposed_q, k_loop{depth, of_k.element, lanes}, fetch_nothing{},
        [](int, int) { return float_vec(0.0f); },
        [&](int i, int j, float_vec x) __attribute__((always_inline)) {
          if constexpr (is_finished_at_once) {
            x = scores(x, key + i, query + j * float_lanes, constant<float_lanes>{});
            largest[j] = max(largest[j], x);
          }
          x.store(p + i * lanes + j * float_lanes);
        });
    // Where the tile ends, what is computed is compiled once for each of its sums.
    if constexpr (!is_finished_at_once) {
#pragma GCC unroll 1
      for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) {
          const index_t at = j * float_lanes;
          float* const place = p + i * lanes + at;
          const auto finish = [&](auto valid) __attribute__((always_inline)) {
            const float_vec s = scores(float_vec::load(place), key + i, query + at, valid);
            largest[j] = max(largest[j], s);
            s.store(place);
          };
          if (j + 1 < Vectors) finish(constant<float_lanes>{});
          else with_lanes<value_or<decltype(count)>(0) == lanes>(count - at, finish);
        }
      }
    }
    for (int j = 0; j < Vectors; ++j) largest[j].store(of_rows.largest + j * float_lanes);
  }

  // The softmax, whose division is left to of_rows.factor where nothing reads its results.
  template <int Vectors, class Scores>
  [[gnu::noinline]] void exponentials(float* p, key_range range, index_t query, auto count, const Scores& scores,
                                      statistics<Vectors>& of_rows) const {
    constexpr index_t lanes = Vectors * float_lanes;
    const index_t length = range.last - range.first;
    float_vec largest[Vectors], sum[Vectors];
    for (int j = 0; j < Vectors; ++j) {
      largest[j] = float_vec::load(of_rows.largest + j * float_lanes);
      sum[j] = float_vec(0.0f);
    }
    for (index_t i = 0; i < length; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        float* const at = p + i * lanes + j * float_lanes;
        const float_vec e = exp_of_nonpositive(float_vec::load(at) - largest[j]);
        sum[j] += e;
        e.store(at);
      }
    }
    for (int j = 0; j < Vectors; ++j) {
      float_vec factor = length == 0 ? float_vec(0.0f) : float_vec(1.0f) / sum[j];
      if constexpr (Scores::has_weight) {
        for (index_t i = 0; i < length; ++i) {
          float* const at = p + i * lanes + j * float_lanes;
          with_lanes<false>(count - j * float_lanes, [&](auto valid) {
            scores.weight(float_vec::load(at) * factor, range.first + i, query + j * float_lanes, valid).store(at);
          });
        }
        factor = float_vec(1.0f);
      }
      factor.store(of_rows.factor + j * float_lanes);
    }
  }

  // O[query + i][element ...], i < Rows: the rows of P are lanes of p.
  template <int Rows, int Vectors, index_t Lanes, class Epilogue>
  [[gnu::noinline]] void mix_queries(const float* p, const float* v, auto token, index_t length, index_t query,
                                     index_t element, const float* factor, Epilogue& epilogue) const {
    tile<Rows, Vectors>(
        p, 1, v, k_loop{length, Lanes, token}, fetch_nothing{}, [](int, int) { return float_vec(0.0f); },
        [&](int i, int j, float_vec x) {
          epilogue(x * float_vec(factor[i]), query + i, element + j * float_lanes, constant<float_lanes>{});
        });
  }

  // O^T[element + i][query ...], i < Rows.
  template <int Rows, int Vectors, class Epilogue>
  [[gnu::noinline]] void mix_elements(const float* v, auto token, const float* p, index_t length, index_t query,
                                      index_t element, auto count, const statistics<Vectors>& of_rows,
                                      Epilogue& epilogue, float* out) const {
    constexpr index_t lanes = Vectors * float_lanes;
    tile<Rows, Vectors>(
        v, of_v.element, p, k_loop{length, token, lanes}, fetch_nothing{}, [](int, int) { return float_vec(0.0f); },
        [&](int i, int j, float_vec x) {
          const index_t at = j * float_lanes;
          const float_vec o = x * float_vec::load(of_rows.factor + at);
          if constexpr (Output == output_lanes::elements) o.store(out + (element + i) * lanes + at);
          else with_lanes<false>(count - at, [&](auto valid) { epilogue(o, query + at, element + i, valid); });
        });
  }

  // The epilogue of O's rows, from O^T.
  template <class Epilogue>
  [[gnu::noinline]] void turn_output(const float* transposed, index_t lanes, index_t query, index_t count,
                                     Epilogue& epilogue) const {
    for (index_t at = 0; at < count; at += float_lanes) {
      for (index_t element = 0; element < width; element += float_lanes) {
        with_lanes<false>(width - element, [&](auto valid) {
          square_block block;
          for (int i = 0; i < float_lanes; ++i)
            block[i] = i < valid ? float_vec::load(transposed + (element + i) * lanes + at) : float_vec(0.0f);
          transpose(block);
          for (int i = 0; i < float_lanes; ++i)
            if (at + i < count) epilogue(block[i], query + at + i, element, valid);
        });
      }
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
