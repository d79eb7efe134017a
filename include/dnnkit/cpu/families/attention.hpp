// SPDX-License-Identifier: MIT
// The kernel of attention, softmax(f(Q K')) V: the stages MatMul, Softmax, MatMul over tiles of queries
// (cpu/micro/attention.hpp), with whatever is computed element by element between them and behind. Q, K and V are read
// where they lie; what is added to scores, or decides about them, and has keys next to each other, is transposed tile by
// tile. Keys that masks hide from all queries of a tile, before the first and behind the last key that one of them sees,
// are not read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/attention_spec.hpp"
#include "dnnkit/cpu/micro/attention.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct attention_tiles {
  static constexpr std::string_view name = "attention";
  static constexpr int vectors_of_queries = 2;  // in a tile

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts& facts) {
    if (anchors.size() != 3 || anchors[0].id != id_of<op::matmul> || anchors[1].id != id_of<op::softmax> ||
        anchors[2].id != id_of<op::matmul>)
      return {};
    return {.positions = vectors_of_queries * facts.float_lanes, .whole_axes = 1};
  }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const attention_spec spec(recipe);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c;
    c.operands = {operand_reading::evaluated, operand_reading::in_place};
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 2);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = vectors_of_queries;
    c.parameters = {spec.stores_queries()};
    c.cost = cost(spec, facts);
    c.reason = "scores stay in tiles of queries, a query a lane; keys and values are read where they lie";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Each tile reads the keys and values of its head again, the values once for each of its register tiles where the
  // second cache does not hold its scores beside a panel of them. Where a head does not stay near, products of their
  // own may take less time.
  static constexpr kernel_cost cost(const attention_spec& spec, const cpu_facts& facts) {
    constexpr double of_softmax = 12;  // vector operations for each vector of scores
    const auto queries = static_cast<double>(known_or_typical(spec.queries())),
               keys = static_cast<double>(known_or_typical(spec.keys()));
    const double lines = spec.heads() * vectors_of(facts, queries) * keys;
    const double depth = static_cast<double>(known_or_typical(spec.depth())),
                 width = static_cast<double>(known_or_typical(spec.width())),
                 tile = vectors_of_queries * facts.float_lanes, tiles = spec.heads() * cut(queries, tile).count;
    const bool near = 2 * tile * keys * 4 < static_cast<double>(facts.l2_bytes);
    const double passes = near ? 1 : cut(tile, plan::tile_rows(facts, vectors_of_queries)).count;
    const double head = 4 * keys * (depth + width), again = 4 * keys * (depth + passes * width);
    kernel_work work{.vectors = lines * (depth + width + of_softmax), .traffic = traffic_of(spec, facts)};
    work.traffic += traffic_of(spec.scores, facts);
    work.traffic += traffic_of(spec.weights, facts);
    work.traffic.add_read(level_of(facts, head), (tiles - spec.heads()) * again);
    return estimate(facts, work);
  }
};

template <class Net, std::size_t R> struct attention_tiles::kernel {
  using access = recipe_access<Net, R>;
  static constexpr attention_spec spec{access::spec};
  static constexpr std::size_t rank = spec.rank();
  static constexpr std::size_t of_queries = rank - 2, last_axis = rank - 1;
  static constexpr std::size_t scores_stage = Net::plan.number_of_stage(R, 0),
                               weights_stage = Net::plan.number_of_stage(R, 1);
  using scores = tree<Net, scores_stage>;
  using weights = tree<Net, weights_stage>;
  using values = tree<Net, R>;
  static constexpr bool stores_queries = access::choice.parameters[0] != 0;

  // --- where the factors lie
  template <std::size_t Stage, std::size_t Input> struct factor {
    using stage = recipe_access<Net, Stage>;
    static constexpr std::size_t number = stage::spec.input(Input).index, rank = stage::spec.rank_of(Input);
    static constexpr recipe_load load = stage::template load<number>;

    // Token and element are axes of its matrices.
    template <std::size_t Token, std::size_t Element> static auto strides(const kernel_call& call) {
      const auto token = extent_value<stage::spec.stride_along(load.axes, rank - 2 + Token).stride>(call);
      const auto element = extent_value<stage::spec.stride_along(load.axes, rank - 2 + Element).stride>(call);
      return token_strides<std::remove_cvref_t<decltype(token)>, std::remove_cvref_t<decltype(element)>>{token,
                                                                                                         element};
    }
    // The matrix of the head at these leading coordinates.
    static const float* matrix(const kernel_call& call, const coordinates& leading) {
      coordinates c{};
      for (std::size_t d = 0; d + 2 < rank; ++d)
        if (stage::bound(stage::spec.extent_of(Input, d), call) != 1) c[d] = leading[d + kernel::rank - rank];
      return tree<Net, Stage>::template pointer<number>(call) + view_address<Net, load.axes, load.offset>(call, c);
    }
  };
  using q = factor<scores_stage, 0>;
  using k = factor<scores_stage, 1>;
  using v = factor<R, 1>;

  static auto head(const kernel_call& call) {
    const auto queries = extent_value<spec.queries()>(call), keys = extent_value<spec.keys()>(call),
               depth = extent_value<spec.depth()>(call), width = extent_value<spec.width()>(call);
    const auto of_q = q::template strides<0, 1>(call), of_k = k::template strides<1, 0>(call),
               of_v = v::template strides<0, 1>(call);
    return attention < std::remove_cvref_t<decltype(queries)>, std::remove_cvref_t<decltype(keys)>,
           std::remove_cvref_t<decltype(depth)>, std::remove_cvref_t<decltype(width)>,
           std::remove_cvref_t<decltype(of_q)>, std::remove_cvref_t<decltype(of_k)>,
           std::remove_cvref_t<decltype(of_v)>,
           stores_queries ? output_lanes::queries
                          : output_lanes::elements > {queries, keys, depth, width, of_q, of_k, of_v};
  }

  // --- tiles of what has keys next to each other: a row of queries for each key
  static constexpr index_t tile_queries = vectors_of_queries * float_lanes;
  static constexpr std::size_t turned_by_scores = spec.turned_loads(spec.scores),
                               turned_loads = turned_by_scores + spec.turned_loads(spec.weights);
  // Floats for one.
  static index_t turned_size(const kernel_call& call) {
    return ceil_div(tile_queries * access::bound(spec.keys(), call), index_t{16}) * 16;
  }
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
        return bit_cast<vector>(float_vec::load(turned + static_cast<index_t>(number_turned<Stage, L>)*size));
      }
    }
  };
  template <class Stage, std::size_t L>
  static constexpr bool is_turned = !std::is_same_v<Stage, values> && spec.is_turned(Stage::spec, L);

  // --- what is computed between the products, a vector of queries for one key
  struct between_all : plain_scores {
    const kernel_call& call;
    const coordinates& leading;
    float* const turned;
    const index_t size = turned_loads > 0 ? turned_size(call) : 0;
    index_t first_query = 0;

    between_all(const kernel_call& c, const coordinates& l, float* t) : call(c), leading(l), turned(t) {}

    void start(index_t first, index_t last) {
      first_query = first;
      if constexpr (turned_loads > 0) {
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
        const auto* const from = Stage::template pointer<L>(call) + Stage::template element_place<L>(call, at(0, first));
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
  using between = std::conditional_t<(masks.count > 0), between_some, between_all>;

  // --- the kernel's functions: a unit is a tile of queries of one head
  static index_t heads(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = 0; d + 2 < rank; ++d) n *= access::bound(access::space(d), call);
    return n;
  }
  static index_t units(const kernel_call& call) noexcept { return heads(call) * head(call).units(); }
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    const index_t floats = head(call).scratch_size() + static_cast<index_t>(turned_loads) * turned_size(call);
    return floats * static_cast<std::int64_t>(sizeof(float));
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto one = head(call);
    float* const turned = reinterpret_cast<float*>(call.worker);
    float* const scratch = turned + static_cast<index_t>(turned_loads) * turned_size(call);
    const index_t each = one.units();
    for (index_t u = first; u < last;) {
      const index_t number = u / each, stop = std::min(last, (number + 1) * each);
      coordinates leading{};
      index_t rest = number;
      for (std::size_t d = rank - 2; d-- > 0;) {
        const index_t n = access::bound(access::space(d), call);
        leading[d] = rest % n;
        rest /= n;
      }
      const auto finish = [&](auto o, index_t query, index_t element, auto n) __attribute__((always_inline)) {
        coordinates c = leading;
        c[of_queries] = query;
        c[last_axis] = element;
        values::template finish<float_lanes, stores_queries ? of_queries : last_axis>(call, c, n, o);
      };
      one.run(q::matrix(call, leading), k::matrix(call, leading), v::matrix(call, leading), u - number * each,
              stop - number * each, between(call, leading, turned), finish, scratch);
      u = stop;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
