// SPDX-License-Identifier: MIT
// The kernel of attention, softmax(f(Q K')) V: the stages MatMul, Softmax, MatMul over tiles of queries
// (cpu/micro/attention.hpp), with whatever is computed element by element between them and behind. Q, K and V are read
// where they lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/attention_scores.hpp"
#include "dnnkit/cpu/families/attention_spec.hpp"
#include "dnnkit/cpu/micro/attention.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct attention_tiles {
  static constexpr std::string_view name = "attention";

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts& facts) {
    if (anchors.size() != 3 || anchors[0].id != id_of<op::matmul> || anchors[1].id != id_of<op::softmax> ||
        anchors[2].id != id_of<op::matmul>)
      return {};
    return {.positions = attention_spec::vectors_of_queries * facts.float_lanes, .whole_axes = 1};
  }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const attention_spec spec(recipe);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c;
    c.operands = {operand_reading::evaluated, operand_reading::in_place};
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 2);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = attention_spec::vectors_of_queries;
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
    constexpr double of_softmax = 12, of_turning = 8;  // vector operations for each vector of scores
    const auto turned = static_cast<double>(spec.turned_loads(spec.scores) + spec.turned_loads(spec.weights));
    const auto queries = static_cast<double>(known_or_typical(spec.queries())),
               keys = static_cast<double>(known_or_typical(spec.keys()));
    const double lines = spec.heads() * vectors_of(facts, queries) * keys;
    const double depth = static_cast<double>(known_or_typical(spec.depth())),
                 width = static_cast<double>(known_or_typical(spec.width())),
                 tile = attention_spec::vectors_of_queries * facts.float_lanes,
                 tiles = spec.heads() * cut(queries, tile).count;
    const bool near = 2 * tile * keys * 4 < static_cast<double>(facts.l2_bytes);
    const double passes = near ? 1 : cut(tile, plan::tile_rows(facts, attention_spec::vectors_of_queries)).count;
    const double head = 4 * keys * (depth + width), again = 4 * keys * (depth + passes * width);
    kernel_work work{.vectors = lines * (depth + width + of_softmax + turned * of_turning),
                     .traffic = traffic_of(spec, facts)};
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
  static constexpr std::size_t scores_stage = Net::plan.number_of_stage(R, 0);
  using values = tree<Net, R>;
  using between = attention_scores<Net, R>;
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

  // --- the kernel's functions: a unit is a tile of queries of one head
  static index_t heads(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = 0; d + 2 < rank; ++d) n *= access::bound(access::space(d), call);
    return n;
  }
  static index_t units(const kernel_call& call) noexcept { return heads(call) * head(call).units(); }
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    const index_t floats = head(call).scratch_size() + between::floats(call);
    return floats * static_cast<std::int64_t>(sizeof(float));
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto one = head(call);
    float* const turned = reinterpret_cast<float*>(call.worker);
    float* const scratch = turned + between::floats(call);
    const index_t each = one.units();
    typename between::kept kept;
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
              stop - number * each, typename between::type(call, leading, turned, kept), finish, scratch);
      u = stop;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
