// SPDX-License-Identifier: MIT
// Keys of kernels: equal for what measures alike on one machine, the same in the compiler as at run time. A key says
// what a kernel computes, on which extents and strides, and with which vectors; it says neither how large tiles of
// stages are, which is a gene (cost/tuned.hpp), nor values of weights and constants, nor what anything is called.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/target.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/lp_pooling.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::plan {

// Takes numbers and words one after the other.
class key_hash {
 public:
  constexpr void add(std::uint64_t x) {
    state_ = (state_ ^ x) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  template <std::signed_integral I> constexpr void add(I x) { add(static_cast<std::uint64_t>(std::int64_t{x})); }
  constexpr void add(std::string_view word) {
    std::uint64_t x = word.size();
    for (char c : word) x = x * 131 + static_cast<unsigned char>(c);
    add(x);
  }
  constexpr void add(local_extent e) {
    add(e.code);
    if (!e.is_known()) add(e.typical);  // by which kernels are chosen
  }
  constexpr void add(dtype t) { add(static_cast<std::uint64_t>(t)); }
  constexpr void add(const operator_tag& op) { add(op.id == operator_id::none ? std::string_view() : op.name); }
  constexpr void add(operand_ref r) { add(static_cast<std::uint64_t>(r.from) << 16 | r.index); }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6B65726E656C7321u;
};

// Adds what a stage is.
class key_of_stage {
 public:
  constexpr key_of_stage(key_hash& hash, const kernel_spec& stage)
      : hash_(hash), spec_(stage), plan_(stage.plan()), self_(stage.self()) {}

  constexpr void run() {
    hash_.add(self_.anchor);
    hash_.add(self_.anchor_type);
    add_anchor_attributes();
    for (std::size_t i = 0; i < spec_.inputs(); ++i) {
      hash_.add(spec_.input(i));
      if (spec_.input(i).from == source::nothing) continue;
      hash_.add(std::uint64_t{spec_.rank_of(i)});
      for (std::size_t d = 0; d < spec_.rank_of(i); ++d) hash_.add(spec_.extent_of(i, d));
    }
    for (std::size_t d = 0; d < spec_.rank(); ++d) hash_.add(spec_.space(d));
    add_reach(self_.reach);
    for (std::size_t l = 0; l < spec_.loads(); ++l) add_load(spec_.load(l));
    for (std::size_t k = 0; k < spec_.nodes(); ++k) {
      hash_.add(spec_.node(k).op);
      hash_.add(spec_.node(k).type);
      add_attributes(spec_.node(k).attributes);
      for (operand_ref r : plan_.refs_of(spec_.node(k).inputs)) hash_.add(r);
    }
    for (std::size_t o = 0; o < spec_.outputs(); ++o) {
      hash_.add(spec_.output(o).value);
      hash_.add(spec_.output(o).type);
      if (!spec_.is_earlier_stage()) add_axes(spec_.output(o).axes);
    }
  }

 private:
  // A window's attributes may be left out where they are the default, so that there are several lists for one window.
  constexpr void add_anchor_attributes() {
    if (spec_.is_anchor<op::conv>()) return add_window(spec_.anchor<op::conv>());
    if (spec_.is_anchor<op::conv_integer>()) return add_window(spec_.anchor<op::conv_integer>());
    if (spec_.is_anchor<op::max_pool>()) return add_window(spec_.anchor<op::max_pool>());
    if (spec_.is_anchor<op::average_pool>()) return add_window(spec_.anchor<op::average_pool>());
    if (spec_.is_anchor<op::lp_pool>()) return add_window(spec_.anchor<op::lp_pool>());
    add_attributes(self_.anchor_attributes);
  }
  // What the taps are, the weights' extents say where there are weights.
  template <class Op> constexpr void add_window(const Op& op) {
    const window w{op.kernel_shape, op.strides, op.pads, op.dilations};
    for (std::size_t i = 0; i + 2 < spec_.rank_of(0); ++i) {
      hash_.add(spec_.inputs() == 1 ? w.kernel(i) : std::int64_t{0});
      hash_.add(w.stride(i));
      hash_.add(w.dilation(i));
      hash_.add(w.pad_begin(i));
      hash_.add(w.pad_end(i));
    }
    if constexpr (requires { op.group; }) hash_.add(op.group);
  }
  constexpr void add_attributes(slice_of attributes) {
    hash_.add(std::uint64_t{attributes.count});
    for (std::uint32_t i = 0; i < attributes.count; ++i) hash_.add(plan_.attributes[attributes.first + i]);
  }
  constexpr void add_shape(local_shape shape) {
    hash_.add(std::uint64_t{shape.count});
    for (local_extent e : plan_.extents_of(shape)) hash_.add(e);
  }
  constexpr void add_axes(slice_of axes) {
    for (const view_axis& a : plan_.axes_of(axes)) {
      hash_.add(std::uint64_t{a.of});
      hash_.add(a.size);
      hash_.add(a.stride);
    }
  }
  constexpr void add_reach(slice_of reach) {
    for (const tile_reach& r : plan_.reaches_of(reach)) {
      hash_.add(r.of);
      hash_.add(r.stride);
      hash_.add(r.extent);
      hash_.add(r.before);
    }
  }
  // How large tile storage is, and so its strides, follows from the tiles.
  constexpr void add_load(const recipe_load& l) {
    hash_.add(l.type);
    hash_.add(std::uint64_t{l.rank} << 4 | std::uint64_t{l.setup} << 3 | std::uint64_t{l.external} << 2 |
              std::uint64_t{l.whole} << 1 | std::uint64_t{l.bordered});
    add_reach(l.reach);
    if (l.reach.count == 0) add_axes(l.axes);
    for (std::uint32_t k = 0; k < l.movement.count; ++k) {
      const movement_step& m = plan_.movement[l.movement.first + k];
      hash_.add(m.op);
      add_shape(m.in_shape);
      add_shape(m.out_shape);
    }
  }

  key_hash& hash_;
  const kernel_spec spec_;
  const plan_view& plan_;
  const recipe& self_;
};

// The key of a kernel, of all its stages, with the vectors of these facts.
constexpr std::uint64_t key_of(const kernel_spec& spec, const cpu_facts& facts) {
  key_hash hash;
  hash.add(facts.float_lanes);
  hash.add(facts.vector_registers);
  if (facts.elements_a_load > 1) hash.add(facts.elements_a_load);
  if (spec.anchor_type() != dtype::f32) {  // products of bytes take other instructions
    hash.add(static_cast<std::int64_t>(16 * facts.products_of_bytes));
    hash.add(std::int64_t{facts.tile_registers});
  }
  hash.add(std::uint64_t{spec.stages()});
  for (std::size_t i = 0; i < spec.stages(); ++i) key_of_stage(hash, spec.stage(i)).run();
  return hash.value();
}

}  // namespace dnnkit::plan
