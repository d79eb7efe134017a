// SPDX-License-Identifier: MIT
// What is computed of scores between the products of attention, a vector of queries for one key at a time. What is
// added to scores, or decides about them, and has keys next to each other, is transposed tile by tile. Keys that masks
// hide from all queries of a tile, before the first and behind the last key that one of them sees, are not read: what
// they would add to sums is zero. Where all heads have the same, both is done for the first one, and kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/families/attention_spec.hpp"
#include "dnnkit/cpu/micro/attention.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"
#include "dnnkit/cpu/tree.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// R: the recipe of the last stage.
template <class Net, std::size_t R> class attention_scores {
  using access = recipe_access<Net, R>;
  static constexpr attention_spec spec{access::spec};
  static constexpr std::size_t of_queries = spec.rank() - 2, last_axis = spec.rank() - 1;
  using scores = tree<Net, Net::plan.number_of_stage(R, 0)>;
  using weights = tree<Net, Net::plan.number_of_stage(R, 1)>;
  using values = tree<Net, R>;

  // --- tiles of what has keys next to each other: a row of queries for each key
  static constexpr index_t tile_queries = attention_spec::vectors_of_queries * float_lanes;
  static constexpr std::size_t turned_by_scores = spec.turned_loads(spec.scores),
                               turned_loads = turned_by_scores + spec.turned_loads(spec.weights);
  // Floats for one.
  static index_t turned_size(const kernel_call& call) {
    return ceil_div(tile_queries * access::bound(spec.keys(), call), index_t{16}) * 16;
  }
  // Tiles of which a run keeps what it found for one head; 0: none.
  static constexpr index_t kept_tiles = []() -> index_t {
    constexpr index_t most_floats = 32 * 1024, most_tiles = 64;
    if (turned_loads + spec.masks().count == 0 || !spec.heads_are_alike()) return 0;
    if (!spec.queries().is_known() || !spec.keys().is_known() || spec.heads() == 1) return 0;
    const index_t tiles = ceil_div(spec.queries().value(), tile_queries),
                  floats = tiles * tile_queries * spec.keys().value() * static_cast<index_t>(turned_loads);
    return tiles <= most_tiles && floats <= most_floats ? tiles : 0;
  }();
  static constexpr bool keeps = kept_tiles > 0;

  // Which of all tiles is that of load L.
  template <class Stage, std::size_t L>
  static constexpr std::size_t number_turned = [] {
    std::size_t n = std::is_same_v<Stage, scores> ? 0 : turned_by_scores;
    for (std::size_t l = 0; l < L; ++l) n += spec.is_turned(Stage::spec, l) ? 1u : 0u;
    return n;
  }();

  // Where a vector of queries is computed for one key.
  template <class Stage, class Handed> struct place {
    const kernel_call& call;
    const coordinates& c;
    Handed handed;
    const float* turned;  // at the key and the query, in the first tile
    index_t size;         // of a tile

    template <std::size_t L> [[gnu::always_inline]] auto load(auto n) const {
      constexpr recipe_load l = Stage::access::template load<L>;
      using vector = lanes<l.type, float_lanes>;
      if constexpr (l.reach.count != 0) {
        return handed;
      } else if constexpr (!is_turned<Stage, L>) {
        return Stage::template load_lanes<L, float_lanes, of_queries>(call, c, n);
      } else {
        return bit_cast<vector>(float_vec::load(turned + static_cast<index_t>(number_turned<Stage, L>) * size));
      }
    }
  };
  template <class Stage, std::size_t L>
  static constexpr bool is_turned = !std::is_same_v<Stage, values> && spec.is_turned(Stage::spec, L);

 public:
  // What a run keeps, beside the floats.
  struct kept {
    std::array<bool, std::size_t{kept_tiles}> is_turned{}, is_seen{};
    std::array<key_range, std::size_t{kept_tiles}> seen{};
  };

 private:
  // --- what is computed between the products, a vector of queries for one key
  struct between_all : plain_scores {
    const kernel_call& call;
    const coordinates& leading;
    float* const all_turned;
    kept& of_run;
    const index_t size = turned_loads > 0 ? turned_size(call) : 0;
    index_t first_query = 0;
    float* turned = all_turned;  // of the tile that begins with that query

    between_all(const kernel_call& c, const coordinates& l, float* t, kept& k)
        : call(c), leading(l), all_turned(t), of_run(k) {}

    void start(index_t first, index_t last) {
      first_query = first;
      if constexpr (turned_loads > 0) {
        if constexpr (keeps) {
          const index_t tile = first / tile_queries;
          turned = all_turned + tile * static_cast<index_t>(turned_loads) * size;
          if (std::exchange(of_run.is_turned[static_cast<std::size_t>(tile)], true)) return;
        }
        turn<scores>(first, last);
        turn<weights>(first, last);
      }
    }
    template <class Stage> void turn(index_t first, index_t last) {
      [&]<std::size_t... L>(std::index_sequence<L...>) { (turn_load<Stage, L>(first, last), ...); }
      (std::make_index_sequence<Stage::spec.loads()>{});
    }
    template <class Stage, std::size_t L> void turn_load(index_t first, index_t last) {
      if constexpr (is_turned<Stage, L>) {
        constexpr recipe_load l = Stage::access::template load<L>;
        const auto* const from =
            Stage::template pointer<L>(call) + Stage::template element_place<L>(call, at(0, first));
        const index_t row = extent_value<Stage::spec.stride_along(l, of_queries).stride>(call),
                      keys = access::bound(spec.keys(), call);
        float* const to = turned + static_cast<index_t>(number_turned<Stage, L>) * size;
        if constexpr (l.type == dtype::boolean) {
          turn_conditions(from, row, last - first, keys, to);
        } else {
          transpose_matrix(from, row, last - first, keys, to, tile_queries);
        }
      }
    }
    // As masks.
    [[gnu::noinline]] static void turn_conditions(const bool* from, index_t row, index_t queries, index_t keys,
                                                  float* to) {
      using vector = lanes<dtype::boolean, float_lanes>;
      for (index_t key = 0; key < keys; ++key) {
        for (index_t q = 0; q < tile_queries; q += float_lanes) {
          vector x(0);
          for (int i = 0; i < float_lanes; ++i)
            if (q + i < queries && from[(q + i) * row + key]) x.set(i, -1);
          bit_cast<float_vec>(x).store(to + key * tile_queries + q);
        }
      }
    }

    [[gnu::always_inline]] coordinates at(index_t key, index_t query) const {
      coordinates c = leading;
      c[of_queries] = query;
      c[last_axis] = key;
      return c;
    }
    template <class Stage>
    [[gnu::always_inline]] auto place_of(const coordinates& c, index_t key, index_t query, auto handed) const {
      return place<Stage, decltype(handed)>{call, c, handed, turned + key * tile_queries + (query - first_query), size};
    }
    template <class Stage, operand_ref Ref>
    [[gnu::always_inline]] float_vec value(index_t key, index_t query, auto n, auto handed, auto anchor) const {
      const coordinates c = at(key, query);
      const auto here = place_of<Stage>(c, key, query, handed);
      return Stage::template evaluate_at<Ref, float_lanes>(here, n, anchor);
    }

    [[gnu::always_inline]] float_vec operator()(float_vec x, index_t key, index_t query, auto n) const {
      constexpr operand_ref stored = spec.scores.output(0).value, read = spec.weights.input(0);
      const float_vec s = value<scores, stored>(key, query, n, 0, x);
      return value<weights, read>(key, query, n, s, 0);
    }
    static constexpr bool takes_little = spec.scores_take_little();
    static constexpr bool has_weight = !spec.weighs_plainly();
    [[gnu::always_inline]] float_vec weight(float_vec x, index_t key, index_t query, auto n) const {
      constexpr operand_ref stored = spec.weights.output(0).value, read = spec.input(0);
      const float_vec p = value<weights, stored>(key, query, n, x, x);
      return value<values, read>(key, query, n, p, 0);
    }
  };

  // --- keys that are hidden
  static constexpr key_masks masks = spec.masks();

  // Where there are masks: their keys are looked at from both ends.
  struct between_some : between_all {
    using between_all::between_all;

    key_range keys(index_t first, index_t last, index_t all) const {
      if constexpr (keeps) {
        const auto tile = static_cast<std::size_t>(first / tile_queries);
        key_range& seen = this->of_run.seen[tile];
        if (!std::exchange(this->of_run.is_seen[tile], true)) seen = found_keys(first, last, all);
        return seen;
      } else {
        return found_keys(first, last, all);
      }
    }
    key_range found_keys(index_t first, index_t last, index_t all) const {
      key_range seen{0, all};
      while (seen.last > seen.first && is_hidden(seen.last - 1, first, last)) --seen.last;
      while (seen.first < seen.last && is_hidden(seen.first, first, last)) ++seen.first;
      return seen;
    }
    // What is hidden counts for nothing beside a score that is larger by this.
    bool sees_enough(const float* largest, index_t queries) const {
      constexpr float much = 100;
      for (index_t i = 0; i < queries; ++i)
        if (!(largest[i] - masks.bound >= much)) return false;
      return true;
    }

   private:
    // From all queries [first, last), by one mask?
    bool is_hidden(index_t key, index_t first, index_t last) const {
      return [&]<std::size_t... M>(std::index_sequence<M...>) {
        return (hides<masks.items[M].load, masks.items[M].is_condition, masks.items[M].hides_if>(key, first, last) ||
                ...);
      }
      (std::make_index_sequence<masks.count>{});
    }
    template <std::size_t L, bool IsCondition, bool HidesIf>
    [[gnu::noinline]] bool hides(index_t key, index_t first, index_t last) const {
      using ints = vec<std::int32_t, float_lanes>;
      for (index_t query = first; query < last; query += float_lanes) {
        const index_t n = std::min<index_t>(last - query, float_lanes);
        const coordinates c = this->at(key, query);
        const auto x = this->template place_of<scores>(c, key, query, 0).template load<L>(n);
        const ints valid = ints::iota() < ints(static_cast<std::int32_t>(n));
        if constexpr (IsCondition) {
          if (any((HidesIf ? ~x : x) & valid)) return false;
        } else if (any(~(x <= float_vec(key_mask::added)) & valid)) {
          return false;
        }
      }
      return true;
    }
  };

 public:
  // What attention::run() gets (cpu/micro/attention.hpp): made for a call, the coordinates of a head, floats(call)
  // floats of scratch, and what the run keeps.
  using type = std::conditional_t<(masks.count > 0), between_some, between_all>;
  static index_t floats(const kernel_call& call) {
    return static_cast<index_t>(turned_loads) * turned_size(call) * std::max(index_t{1}, kept_tiles);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
