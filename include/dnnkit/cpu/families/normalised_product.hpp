// SPDX-License-Identifier: MIT
// The kernel of a normalisation and a product or convolution by weights, either way round, where nobody else reads what
// one hands to the other. A normalisation in front is what other kernels do with an operand that has a prologue
// (cpu/families/matrix_product.hpp): the first phase brings it into scratch memory, with the border that a filter
// reads, and the second multiplies. Behind a product, the first phase multiplies into scratch memory, and the second
// normalises. Workers share both phases, so that no row is computed twice, and weights are read as often as by a
// product alone: it is what two kernels do, but for the start of one.
//
// Tiles of rows in turn would keep what is handed over in the second cache, but read all weights again for each of
// them: on one core of a Zen 4 a normalisation and the product of its rows lost 2 to 8 % so with 128 rows of 768 and
// gained at most 3 % elsewhere, and workers would compute the rows that they share several times.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/families/matrix_product.hpp"
#include "dnnkit/cpu/families/row_passes.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Products whose kernels have one phase: they read their first operand where it lies, weights being packed before the
// run. The last parameter of such a stage's choice is the number here.
using product_families = family_list<matrix_product, conv_nhwc, conv_depthwise>;

class normalised_product_spec : public kernel_spec {
 public:
  static constexpr bool normalises(const operator_tag& anchor) { return anchor.kind == form::row; }
  static constexpr bool multiplies(const operator_tag& anchor) {
    return matrix_product::carries_out(anchor) || conv_nhwc::carries_out(anchor);
  }
  static constexpr kernel_match kernel_of(const kernel_spec& one, const cpu_facts& facts) {
    return normalises(one.self().anchor) ? row_passes::match(one, facts) : product(one, facts);
  }
  // Has what a load reads room for what a filter reads beyond it?
  static constexpr bool has_border(const recipe_load& l) {
    for (std::size_t d = 0; d < max_rank; ++d)
      if (l.before[d] + l.after[d] != 0) return true;
    return false;
  }

  // spec: the last stage, of two.
  constexpr normalised_product_spec(const kernel_spec& spec, const cpu_facts& facts)
      : kernel_spec(spec), facts_(facts) {}

  // Why the stages do not run so; empty when they do. Finds their kernels.
  constexpr std::string_view unfit() {
    for (std::size_t d = 0; d < rank(); ++d)
      if (tile(d) != 0) return "stages run on more than one tile";
    if (stage(0).output(0).type != dtype::f32) return "the elements are not 32-bit floats";
    for (std::size_t l = 0; l < loads(); ++l)
      if (load(l).reach.count != 0 && has_border(load(l)) && !load(l).whole)
        return "a border lies around some of what is handed over";
    const kernel_match one = kernel_of(stage(0), facts_), other = kernel_of(*this, facts_);
    if (!one) return one.reason();
    if (!other) return other.reason();
    first_ = *one;
    last_ = *other;
    return {};
  }
  constexpr const kernel_choice& last_kernel() const { return last_; }

  // What both take, one after the other, once unfit() has found nothing. What is handed over is written and read as
  // any other value is.
  constexpr kernel_cost cost() const {
    const kernel_spec before = stage(0);
    const double handed = 4 * before.elements(), written = 4 * elements();
    kernel_work first = work_of(before, first_.cost), last = work_of(*this, last_.cost);
    first.traffic.add_written(level_of(facts_, handed), handed);
    last.traffic.add_read(level_of(facts_, handed + written), handed);
    kernel_cost all = estimate(facts_, first);
    const kernel_cost more = estimate(facts_, last);
    const double begins = facts_.costs.phase - facts_.costs.kernel;
    all.arithmetic += more.arithmetic;
    all.memory += more.memory;
    all.starts += more.starts + begins;
    all.bytes += more.bytes;
    all.cycles += more.cycles + begins;
    return all;
  }

 private:
  // The cheapest kernel of one phase.
  static constexpr kernel_match product(const kernel_spec& one, const cpu_facts& facts) {
    kernel_choice best;
    std::string_view why = "no kernel carries out the product";
    bool found = false;
    for (std::size_t f = 0; f < product_families::table.size(); ++f) {
      if (!product_families::table[f].carries_out(one.self().anchor)) continue;
      const kernel_match match = product_families::table[f].match(one, facts);
      if (!match) continue;
      if (match->operands[0] != operand_reading::in_place) why = "the product does not read its operand where it lies";
      else if (match->operands[1] != operand_reading::packed_once) why = "the run computes the weights of the product";
      else if (!found || match->cost.cycles < best.cost.cycles) {
        best = *match;
        best.parameters.push_back(static_cast<std::int32_t>(f));
        found = true;
      }
    }
    return found ? kernel_match(best) : kernel_match(no_match{why});
  }
  // Kernels of one phase say what they do in cycles and traffic alone.
  constexpr kernel_work work_of(const kernel_spec& one, const kernel_cost& cost) const {
    return {.cycles = cost.arithmetic, .starts = cost.starts - facts_.costs.kernel, .traffic = traffic_of(one, facts_)};
  }

  const cpu_facts& facts_;
  kernel_choice first_, last_;
};

struct normalised_product {
  static constexpr std::string_view name = "normalised_product";

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts&) {
    using spec = normalised_product_spec;
    if (anchors.size() != 2) return {};
    const bool before = spec::normalises(anchors[0]) && spec::multiplies(anchors[1]),
               behind = spec::multiplies(anchors[0]) && spec::normalises(anchors[1]);
    return before || behind ? tile_wish{.positions = 1, .one_tile = true} : tile_wish{};
  }
  static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts) {
    return normalised_product_spec::kernel_of(spec, facts);
  }
  static constexpr kernel_match match(const kernel_spec& last, const cpu_facts& facts) {
    normalised_product_spec spec(last, facts);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c = spec.last_kernel();
    c.cost = spec.cost();
    c.reason = normalised_product_spec::normalises(last.self().anchor)
                   ? "rows are multiplied into scratch memory, and normalised from there"
                   : "rows are normalised into scratch memory, and multiplied from there";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct normalised_product::kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t before = Net::plan.number_of_stage(R, 0);
  using writer = recipe_access<Net, before>;
  static constexpr bool normalises_first = normalised_product_spec::normalises(writer::self.anchor);
  static constexpr std::size_t of_product = normalises_first ? R : before;

  using rows = row_passes::kernel<Net, normalises_first ? before : R>;
  using family = product_families::at<static_cast<std::size_t>(Net::choices[of_product].parameters.back())>;
  using product = typename family::template kernel<Net, of_product>;
  using first_stage = std::conditional_t<normalises_first, rows, product>;
  using last_stage = std::conditional_t<normalises_first, product, rows>;

  static constexpr std::int64_t packed_bytes = product::packed_bytes;
  static constexpr std::uint32_t packed_inputs = product::packed_inputs << (normalises_first ? 0 : 8);
  static void pack(const kernel_call& call) noexcept { product::pack(call); }

  // --- scratch memory: what is handed over, then what the product has
  static constexpr recipe_load handed = [] {
    for (std::size_t l = 0; l < access::spec.loads(); ++l)
      if (access::spec.load(l).reach.count != 0) return access::spec.load(l);
    return recipe_load{};
  }();
  static constexpr bool has_border = normalised_product_spec::has_border(handed);
  // Elements along axis d of what is handed over, where that has a border.
  static index_t room_along(const kernel_call& call, std::size_t d) {
    return access::bound(access::input_extent(0, d), call) + handed.before[d] + handed.after[d];
  }
  static std::int64_t handed_bytes(const kernel_call& call) {
    constexpr index_t beyond = float_lanes;  // vectors may read past the last element
    index_t n = 1;
    if constexpr (has_border)
      for (std::size_t d = 0; d < access::anchor_shape(0).count; ++d) n *= room_along(call, d);
    else
      for (std::size_t d = 0; d < writer::rank; ++d) n *= writer::bound(writer::space(d), call);
    return ceil_div((n + beyond) * static_cast<std::int64_t>(sizeof(float)), std::int64_t(64)) * 64;
  }
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    if constexpr (requires { product::scratch_bytes(call); }) return handed_bytes(call) + product::scratch_bytes(call);
    else return handed_bytes(call);
  }

  // A call whose stages find what is handed over.
  struct joined_call : kernel_call {
    explicit joined_call(const kernel_call& call) : kernel_call(call) {
      std::copy_n(call.operands, all.size(), all.begin());
      all[writer::template output<0>.operand] = call.scratch;
      operands = all.data();
      scratch += handed_bytes(call);
    }
    joined_call(const joined_call&) = delete;
    joined_call& operator=(const joined_call&) = delete;

   private:
    std::array<std::byte*, access::spec.operands()> all;
  };

  // --- first phase: units of the first stage, and the border
  static index_t prepare_units(const kernel_call& call) noexcept {
    return first_stage::units(call) + (has_border ? 1 : 0);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    const joined_call own(call);
    const index_t of_stage = first_stage::units(call);
    if constexpr (has_border)
      if (last > of_stage) clear_border(own);
    first_stage::run(own, first, std::min(last, of_stage));
  }

  // --- second phase: units of the last stage
  static index_t units(const kernel_call& call) noexcept { return last_stage::units(call); }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    last_stage::run(joined_call(call), first, last);
  }

 private:
  // An axis of what is handed over: positions before and behind those that are written, and elements that each spans.
  struct bordered_axis {
    index_t before, size, after, stride;
  };
  using bordered_axes = static_vector<bordered_axis, max_rank>;

  static void clear_border(const kernel_call& call) {
    bordered_axes outer_first;
    [&]<std::size_t... D>(std::index_sequence<D...>) { (add_axis<D>(call, outer_first), ...); }
    (std::make_index_sequence<access::anchor_shape(0).count>{});
    std::sort(outer_first.begin(), outer_first.end(),
              [](const bordered_axis& a, const bordered_axis& b) { return a.stride > b.stride; });
    while (!outer_first.empty() && outer_first.back().before + outer_first.back().after == 0) outer_first.pop_back();
    clear(reinterpret_cast<float*>(call.operands[handed.operand]), outer_first, 0);
  }
  template <std::size_t D> static void add_axis(const kernel_call& call, bordered_axes& list) {
    if (room_along(call, D) == 1) return;
    list.push_back({handed.before[D], access::bound(access::input_extent(0, D), call), handed.after[D],
                    extent_value<stride_along(Net::plan, handed.axes, D).stride>(call)});
  }
  // Before and behind all positions of axis i, and inside each of them.
  static void clear(float* data, const bordered_axes& all, std::size_t i) {
    if (i == all.size()) return;
    const bordered_axis& a = all[i];
    std::fill(data, data + a.before * a.stride, 0.0F);
    data += a.before * a.stride;
    for (index_t k = 0; k < a.size; ++k, data += a.stride) clear(data, all, i + 1);
    std::fill(data, data + a.after * a.stride, 0.0F);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
