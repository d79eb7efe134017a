// SPDX-License-Identifier: MIT
// The kernel of a convolution with 3 x 3 taps and a pool behind it, whose windows lie inside the tiles that Winograd's
// kernel (cpu/families/conv_winograd.hpp) has in registers: as of 2 x 2 elements in steps of 2. Nothing is computed
// twice. What the convolution hands to the pool is stored where others read it, too, and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/conv_winograd.hpp"
#include "dnnkit/cpu/families/pool_nhwc.hpp"
#include "dnnkit/cpu/families/pool_spec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

class winograd_pool_spec : public kernel_spec {
 public:
  // spec: the last stage, of two.
  constexpr explicit winograd_pool_spec(const kernel_spec& spec, accuracy allowed = {})
      : kernel_spec(spec), convolution_(spec.stage(0), allowed) {}

  // Why the stages do not run so; empty when they do.
  constexpr std::string_view unfit(const cpu_facts& facts) const {
    if (const std::string_view why = convolution_.unfit_for_tiles(true); !why.empty()) return why;
    if (rank() != convolution_.axes + 2 || !convolution_.has_square_tiles() ||
        !are_inside_tiles(window_of_pool(*this), outputs_of_tile(convolution_.best_choice(facts))))
      return "windows do not lie inside tiles";
    if (anchor_type() != dtype::f32 || convolution_.output(0).type != dtype::f32)
      return "the elements are not 32-bit floats";
    if (!reads_outputs()) return "the pool reads something else than what the convolution computes";
    return {};
  }

  // What the convolution's kernel takes, and what it does of the pool's besides, once unfit() has found nothing.
  constexpr kernel_choice choice(const cpu_facts& facts) const {
    const auto channels = static_cast<double>(known_or_typical(space(1)));
    const double vectors = elements() / channels * vectors_of(facts, channels);
    const auto taps = static_cast<double>(window_of_pool(*this).taps());
    kernel_work more{.cycles = vectors *
                               (taps * facts.costs.simple + tree_cost(*this, facts, 1, facts.float_lanes).outputs())};
    const double pooled = 4 * elements(), handed = 4 * convolution_.elements();
    more.traffic.add_written(level_of(facts, pooled), pooled);
    for (std::size_t l = 0; l < loads(); ++l)
      if (load(l).operand != convolution_.output(0).operand)
        more.traffic.add_read(level_of(facts, pooled + bytes_of(load(l))), bytes_of(load(l)));
    if (keeps()) more.traffic.add_written(level_of(facts, handed), handed);
    else more.cycles -= convolution_.elements() / static_cast<double>(facts.float_lanes) * facts.costs.store;
    kernel_choice c = convolution_.best_choice_with(facts, more);
    c.genes = {};  // they are the earlier stage's
    c.reason = keeps()
                   ? "Winograd's algorithm by blocks of tiles, which are stored, and pooled before they leave registers"
                   : "Winograd's algorithm by blocks of tiles, which are pooled before they leave registers";
    return c;
  }

  // Is what the convolution computes stored for others?
  constexpr bool keeps() const { return load(input(0).index).reach.count == 0; }

 private:
  // No window reads what another one does, or what lies outside the image, and each begins and ends in one tile.
  static constexpr bool are_inside_tiles(const window& w, std::int64_t outputs) {
    const std::size_t axes = w.kernel_shape.size();
    bool inside = true, cuts = false;
    for (std::size_t i = 0; i < axes; ++i) {
      const bool in_tile = i + 2 >= axes;
      inside = inside && w.pad_begin(i) == 0 && w.pad_end(i) == 0 && (w.dilation(i) == 1 || w.kernel(i) == 1) &&
               w.kernel(i) <= w.stride(i) && (in_tile ? outputs % w.stride(i) == 0 : w.stride(i) == 1);
      cuts = cuts || w.kernel(i) > 1;
    }
    return inside && cuts;
  }
  // Does the pool read what the convolution stores, each element where it is stored, and nothing else of that?
  constexpr bool reads_outputs() const {
    if (input(0).from != source::load || convolution_.outputs() != 1) return false;
    const recipe_load& from = load(input(0).index);
    const recipe_output& to = convolution_.output(0);
    for (std::size_t l = 0; l < loads(); ++l)
      if (load(l).operand == to.operand && l != input(0).index) return false;
    if (from.operand != to.operand || from.movement.count != 0 || !(from.offset == to.offset)) return false;
    for (std::size_t d = 0; d < rank(); ++d) {
      const plan::lane_stride a = stride_along(from.axes, d), b = convolution_.stride_along(to.axes, d);
      if (!(extent_of(0, d) == convolution_.space(d)) || !a.single || !b.single) return false;
      if (!(a.stride == b.stride) && !(extent_of(0, d) == 1)) return false;
    }
    return true;
  }
  constexpr double bytes_of(const recipe_load& l) const {
    return elements_in(*this, l.axes) * static_cast<double>(size_of(l.type));
  }

  winograd_spec convolution_;
};

template <class Net, std::size_t R> struct winograd_pool_kernel;
template <accuracy Allowed> struct conv_winograd_pool_within {
  static constexpr std::string_view name = "conv_winograd_pool";

  // Tiles are the kernel's own: what is handed over never leaves them. The pool is spared the way to the second cache.
  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts& facts) {
    if (anchors.size() != 2 || anchors[0].id != id_of<op::conv> || !pool_nhwc::carries_out(anchors[1])) return {};
    return {.positions = 1,
            .whole_axes = 0,
            .whole = {~(1u | 1u << 2)},
            .least_bytes = static_cast<double>(facts.l1_bytes),
            .keeps = true};
  }
  static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts) {
    return winograd_spec(spec, Allowed).best_choice(facts);
  }
  static constexpr kernel_match match(const kernel_spec& last, const cpu_facts& facts) {
    const winograd_pool_spec spec(last, Allowed);
    if (const std::string_view why = spec.unfit(facts); !why.empty()) return no_match{why};
    return spec.choice(facts);
  }

  template <class Net, std::size_t R> using kernel = winograd_pool_kernel<Net, R>;
  template <accuracy Other> using within = conv_winograd_pool_within<Other>;
};
using conv_winograd_pool = conv_winograd_pool_within<accuracy{}>;

template <class Net, std::size_t R> struct winograd_pool_kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t before = Net::plan.number_of_stage(R, 0);
  using writer = recipe_access<Net, before>;
  using convolution = winograd_kernel<Net, before>;
  using handed = tree<Net, before>;
  using pooled = tree<Net, R>;

  static constexpr std::int64_t packed_bytes = convolution::packed_bytes;
  static constexpr std::uint32_t packed_inputs = convolution::packed_inputs << 8;  // the earlier stage's
  static void pack(const kernel_call& call) noexcept { convolution::pack(call); }

  static constexpr bool prepares = convolution::prepares;
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(prepares) {
    return convolution::scratch_bytes(call);
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(prepares) {
    return convolution::prepare_units(call);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(prepares) {
    convolution::prepare(call, first, last);
  }

  static std::int64_t worker_bytes(const kernel_call& call) noexcept { return convolution::worker_bytes(call); }
  static index_t units(const kernel_call& call) noexcept { return convolution::units(call); }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    convolution::run_with(
        call, first, last,
        pooling{call, extent_value<convolution::out_extent(0)>(call), extent_value<access::space(rank - 2)>(call),
                extent_value<access::space(rank - 1)>(call)});
  }

 private:
  static constexpr std::size_t rank = access::rank;
  static constexpr index_t outputs = outputs_of_tile(Net::choices[before]);
  static constexpr bool keeps = winograd_pool_spec(access::spec).keeps();
  static constexpr bool takes_largest = std::is_same_v<typename anchor_of<Net, R>::type, op::max_pool>;
  struct along_axis {
    index_t taps, step;
  };
  static constexpr along_axis window_along(std::size_t back) {
    const window w = anchor_of<Net, R>::value.over();
    const std::size_t i = rank - 2 - back;
    return {w.kernel(i), w.stride(i)};
  }
  static constexpr along_axis down = window_along(2), across = window_along(1);

  // The epilogue of Winograd's kernel.
  struct pooling {
    const kernel_call& call;
    index_t out_d, pooled_h, pooled_w;

    [[gnu::always_inline]] void of_tile(float_vec (&all)[outputs][outputs], index_t there_h, index_t there_w, index_t n,
                                        index_t y, index_t x, index_t oc, auto lanes) const {
      const coordinates at = convolution::place_of(n, y, x, oc, out_d);
#pragma GCC unroll 1
      for (index_t i = 0; i < there_h; i += down.step) {  // a row of windows
        float_vec acc[outputs];
#pragma GCC unroll 6
        for (index_t j = 0; j < outputs; j += across.step)
          acc[j] = takes_largest ? lowest<float_vec>() : float_vec(0.0F);
#pragma GCC unroll 6
        for (index_t k = 0; k < down.step; ++k) {
          if (k > 0 && i + k >= there_h) break;
#pragma GCC unroll 6
          for (index_t j = 0; j < outputs; ++j) {
            if (j >= there_w) break;
            const index_t tap = j % across.step;
            if (!keeps && (k >= down.taps || tap >= across.taps)) continue;
            coordinates c = at;
            c[rank - 2] += i + k;
            c[rank - 1] += j;
            const float_vec one = handed::template evaluate<writer::template output<0>.value, float_lanes, 1>(
                call, c, lanes, all[i + k][j]);
            if constexpr (keeps) handed::template store<0, float_lanes, 1>(call, c, lanes, one);
            if (k >= down.taps || tap >= across.taps) continue;
            float_vec& a = acc[j - tap];
            a = takes_largest ? maximum(a, one) : a + one;
          }
        }
        coordinates c = at;
        c[rank - 2] = (y + i) / down.step;
        if (c[rank - 2] >= pooled_h) continue;
#pragma GCC unroll 6
        for (index_t j = 0; j < outputs; j += across.step) {
          c[rank - 1] = (x + j) / across.step;
          if (j >= there_w || c[rank - 1] >= pooled_w) break;
          if constexpr (takes_largest) {
            pooled::template finish<float_lanes, 1>(call, c, lanes, acc[j]);
          } else {
            const index_t taps = std::min(down.taps, there_h - i) * std::min(across.taps, there_w - j);
            pooled::template finish<float_lanes, 1>(call, c, lanes, acc[j] / float_vec(static_cast<float>(taps)));
          }
        }
      }
    }
  };
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
