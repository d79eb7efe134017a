// SPDX-License-Identifier: MIT
// The kernel of a product or convolution by weights whose rows, or pixels, are what a normalisation makes of others:
// the first phase normalises them into scratch memory, as other kernels bring an operand there that has a prologue
// (cpu/families/matrix_product.hpp), or a border that a filter reads; the second multiplies. Workers share both, so that no row is normalised twice, and
// weights are read as often as by a product alone.
//
// Tiles of rows in turn would keep what is normalised in the second cache, but read all weights again for each of them:
// on one core that gained 2 to 8 % with few rows of 768 and at most 3 elsewhere, and workers would normalise the rows
// that they share several times.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/families/matrix_product.hpp"
#include "dnnkit/cpu/families/row_passes.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Families that read what is normalised where it lies. The last parameter of the last stage's choice is the number
// here.
using product_families = family_list<matrix_product, conv_nhwc, conv_depthwise>;

class normalised_product_spec : public kernel_spec {
 public:
  // Has what is handed over room for what a filter reads beyond it?
  static constexpr bool has_border(const recipe_load& l) {
    for (std::size_t d = 0; d < max_rank; ++d)
      if (l.before[d] + l.after[d] != 0) return true;
    return false;
  }
  static constexpr bool normalises(const operator_tag& anchor) { return anchor.kind == form::row; }
  static constexpr bool multiplies(const operator_tag& anchor) {
    return matrix_product::carries_out(anchor) || conv_nhwc::carries_out(anchor);
  }

  // spec: the last stage, of two.
  constexpr normalised_product_spec(const kernel_spec& spec, const cpu_facts& facts)
      : kernel_spec(spec), facts_(facts) {}

  // Why the stages do not run so; empty when they do. Finds the product's kernel.
  constexpr std::string_view unfit() {
    for (std::size_t d = 0; d < rank(); ++d)
      if (tile(d) != 0) return "stages run on more than one tile";
    if (stage(0).output(0).type != dtype::f32) return "the elements are not 32-bit floats";
    if (!reads_handed()) return "a product reads something else than what is handed to it";
    no_match why{"no product reads what is normalised"};
    bool found = false;
    for (std::size_t f = 0; f < product_families::table.size(); ++f) {
      if (!product_families::table[f].carries_out(self().anchor)) continue;
      const kernel_match match = product_families::table[f].match(*this, facts_);
      if (!match) why.reason = match.reason();
      if (!match || (found && match->cost.cycles >= product_.cost.cycles)) continue;
      product_ = *match;
      product_.parameters.push_back(static_cast<std::int32_t>(f));
      found = true;
    }
    if (!found) return why.reason;
    if (product_.operands[0] != operand_reading::in_place || product_.operands[1] != operand_reading::packed_once)
      return "a product does not read what is handed to it where it lies, or the run computes its weights";
    return {};
  }
  constexpr const kernel_choice& product() const { return product_; }

  // What both take, one after the other, once unfit() has found nothing. What is handed over is written and read as
  // any other value is.
  constexpr kernel_cost cost() const {
    const kernel_spec before = stage(0);
    const double handed = 4 * before.elements(), written = 4 * elements();
    kernel_work first = work_of(before, row_passes::match(before, facts_)->cost), last = work_of(*this, product_.cost);
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
  // Stages that stage nothing and pack nothing in a run say what they do in cycles and traffic alone.
  constexpr kernel_work work_of(const kernel_spec& one, const kernel_cost& cost) const {
    return {.cycles = cost.arithmetic, .starts = cost.starts - facts_.costs.kernel, .traffic = traffic_of(one, facts_)};
  }
  constexpr bool reads_handed() const {
    if (input(0).from != source::load) return false;
    const recipe_load& l = load(input(0).index);
    return l.reach.count != 0 && l.operand == stage(0).output(0).operand && (l.whole || !has_border(l));
  }

  const cpu_facts& facts_;
  kernel_choice product_;
};

struct normalised_product {
  static constexpr std::string_view name = "normalised_product";

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts&) {
    if (anchors.size() != 2 || !normalised_product_spec::normalises(anchors[0]) ||
        !normalised_product_spec::multiplies(anchors[1]))
      return {};
    return {.positions = 1, .one_tile = true};
  }
  static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts) {
    return row_passes::match(spec, facts);
  }
  static constexpr kernel_match match(const kernel_spec& last, const cpu_facts& facts) {
    normalised_product_spec spec(last, facts);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c = spec.product();
    c.cost = spec.cost();
    c.reason = "rows are normalised into scratch memory, and multiplied from there";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct normalised_product::kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t before = Net::plan.number_of_stage(R, 0);
  using writer = recipe_access<Net, before>;
  using rows = row_passes::kernel<Net, before>;
  using family = product_families::at<static_cast<std::size_t>(access::choice.parameters.back())>;
  using product = typename family::template kernel<Net, R>;

  static constexpr std::int64_t packed_bytes = product::packed_bytes;
  static constexpr std::uint32_t packed_inputs = product::packed_inputs;
  static void pack(const kernel_call& call) noexcept { product::pack(call); }

  // --- scratch memory: what is handed over, then what the product has
  static constexpr recipe_load handed = access::spec.load(access::spec.input(0).index);
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

  // --- first phase: units of the normalisation, and the border
  static index_t prepare_units(const kernel_call& call) noexcept { return rows::units(call) + (has_border ? 1 : 0); }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    const joined_call own(call);
    const index_t of_rows = rows::units(call);
    if (has_border && last > of_rows) clear_border(own);
    rows::run(own, first, std::min(last, of_rows));
  }

  // --- second phase: units of the product
  static index_t units(const kernel_call& call) noexcept { return product::units(call); }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    product::run(joined_call(call), first, last);
  }

 private:
  // An axis of what is handed over: positions before and behind those that are written, and elements that each spans.
  struct bordered_axis {
    index_t before, size, after, stride;
  };
  using axes = static_vector<bordered_axis, max_rank>;

  static void clear_border(const kernel_call& call) {
    axes outer_first;
    [&]<std::size_t... D>(std::index_sequence<D...>) { (add_axis<D>(call, outer_first), ...); }
    (std::make_index_sequence<access::anchor_shape(0).count>{});
    std::sort(outer_first.begin(), outer_first.end(),
              [](const bordered_axis& a, const bordered_axis& b) { return a.stride > b.stride; });
    while (!outer_first.empty() && outer_first.back().before + outer_first.back().after == 0) outer_first.pop_back();
    clear(reinterpret_cast<float*>(call.operands[handed.operand]), outer_first, 0);
  }
  template <std::size_t D> static void add_axis(const kernel_call& call, axes& list) {
    if (room_along(call, D) == 1) return;
    list.push_back({handed.before[D], access::bound(access::input_extent(0, D), call), handed.after[D],
                    extent_value<stride_along(Net::plan, handed.axes, D).stride>(call)});
  }
  // Of all positions of axis i, and of those inside it.
  static void clear(float* data, const axes& all, std::size_t i) {
    if (i == all.size()) return;
    const bordered_axis& a = all[i];
    std::fill(data, data + a.before * a.stride, 0.0F);
    data += a.before * a.stride;
    for (index_t k = 0; k < a.size; ++k, data += a.stride) clear(data, all, i + 1);
    std::fill(data, data + a.after * a.stride, 0.0F);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
