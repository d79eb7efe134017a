// SPDX-License-Identifier: MIT
// The kernel of a convolution as an implicit matrix product in tiles (tiled_loop.hpp): for each image and group the
// rows are output channels, the columns pixels of the output and K is (input channel, tap). Weights are A as they lie;
// B's columns are gathered from the input, zeros where a tap lies outside of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/op/convolution.hpp"
#include "dnnkit/opencl/tiled_loop.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// What a convolution's kernel is written from.
template <class Set> struct convolution_shape {
  recipe_writer<Set>& w;
  std::span<const local_extent> input, weight;
  op::conv op;
  window over;
  std::size_t axes;         // spatial ones
  std::int64_t in, out;     // channels of a group
  product_extents extents;  // as a product
  staged_walk pixels;       // how those of the input are staged

  // What K counts first.
  enum class k_order : std::uint8_t { channels_first, taps_first } order;

  constexpr explicit convolution_shape(recipe_writer<Set>& writer)
      : w(writer),
        input(w.input_shape(0)),
        weight(w.input_shape(1)),
        op(decode<op::conv>(w.anchor_codes())),
        over(op.over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2)),
        axes(weight.size() - 2),
        in(weight[1].value()),
        out(weight[0].value() / op.group) {
    extents = {.m = out, .n = 1, .k = in * over.taps(), .batch = input[0].value() * op.group};
    for (std::size_t i = 0; i < axes; ++i) extents.n *= w.space()[i + 2].value();
    choose_order();
    extents.is_gathered = !pixels.by_four;
  }

  // May a tap lie outside of the input?
  constexpr bool has_border(std::size_t i) const {
    const std::int64_t last = over.position(i, w.space()[i + 2].value() - 1, over.kernel(i) - 1);
    return over.pad_begin(i) > 0 || last >= input[i + 2].value();
  }
  // Is the output's pixel n the input's?
  constexpr bool is_pointwise() const {
    for (std::size_t i = 0; i < axes; ++i)
      if (over.kernel(i) != 1 || over.stride(i) != 1 || over.pad_begin(i) != 0 || over.pad_end(i) != 0) return false;
    return true;
  }
  // May two windows see the same element of the input?
  constexpr bool has_overlap() const {
    for (std::size_t i = 0; i < axes; ++i)
      if (over.reach(i) > over.stride(i)) return true;
    return false;
  }
  // Whole channels a stage, where few of its numbers are then beyond them; else stages take K as it comes.
  constexpr staged_depth depth() const {
    const std::int64_t taps = over.taps();
    if (taps == 1 || in == 1 || order == k_order::taps_first) return {.count = extents.k};
    constexpr std::int64_t deepest = 52, least = 8;
    staged_depth best{.count = extents.k, .channels = 0, .period = taps};
    for (std::int64_t c = 1; c * taps <= deepest && c <= in; ++c) {
      const std::int64_t numbers = c * taps, staged = depth_of(numbers);
      if (numbers >= least && numbers * 10 >= staged * 9) best.channels = c;
      if (best.channels == c && numbers >= 16 && numbers == staged) break;
    }
    return best;
  }
  static constexpr std::int64_t depth_of(std::int64_t numbers) { return (numbers + 3) / 4 * 4; }

  // The channel of k in its group.
  constexpr void write_channel(const staged_depth& d) const {
    if (d.channels != 0) w.out << "stage*" << d.channels << '+';
    w.out << 'k';
    if (over.taps() != 1) w.out << (order == k_order::taps_first ? '%' : '/') << taps_or_channels();
  }
  // The position of k's tap along an axis.
  constexpr void write_tap(std::size_t axis) const {
    std::int64_t inner = order == k_order::taps_first ? in : 1;
    for (std::size_t j = axis + 1; j < axes; ++j) inner *= over.kernel(j);
    w.out << 'k';
    if (inner != 1) w.out << '/' << inner;
    w.out << '%' << over.kernel(axis);
  }

 private:
  constexpr std::int64_t taps_or_channels() const { return order == k_order::taps_first ? in : over.taps(); }

  // Fours of the input that lie side by side are fours of K where channels are last and the taps come first, or where a
  // row of a window is some whole fours.
  constexpr void choose_order() {
    order = k_order::channels_first;
    if (is_pointwise()) {
      pixels = walk_of(w, 0, 1, 2, 2, axes + 2);
      if (op.group != 1 && pixels.along_k) pixels.by_four = false;  // groups begin at any channel
      return;
    }
    pixels = {.along_k = false};
    const std::optional<recipe_load> l = detail::main_load(w, w.input(0));
    if (!l || op.group != 1 || !detail::is_read_as_stored(w, w.input(0))) return;
    if (const auto along = detail::run_along(w, *l, input, 1, 2); along.is_dense && along.length % 4 == 0) {
      order = k_order::taps_first;
      pixels = {true, along.others_by_four};
      return;
    }
    const std::size_t last = axes - 1;
    const auto row = detail::run_along(w, *l, input, last + 2, axes + 2);
    if (over.kernel(last) % 4 == 0 && over.stride(last) % 4 == 0 && over.dilation(last) == 1 &&
        over.pad_begin(last) % 4 == 0 && !has_border(last) && row.is_dense && row.others_by_four && row.length % 4 == 0)
      pixels = {true, true};
  }
};

// Which image a group of work-items is for, of product z, and which group of channels.
template <class Set> constexpr void write_image(const convolution_shape<Set>& shape) {
  if (shape.op.group == 1) shape.w.out << "const int image=z;\n";
  else shape.w.out << "const int image=z/" << shape.op.group << ",part=z%" << shape.op.group << ";\n";
}
// Of the output's element: its image, and channel m of the group.
template <class Set> constexpr void write_result_channel(const convolution_shape<Set>& shape) {
  shape.w.out << "const int c0=image,c1=";
  if (shape.op.group != 1) shape.w.out << "part*" << shape.out << '+';
  shape.w.out << "m;\n";
}
// Adds the bias and writes the outputs at coordinates c0 ...
template <class Set> constexpr void store_sum(const convolution_shape<Set>& shape, expression sum) {
  auto& w = shape.w;
  if (w.input(2).from != source::nothing) {
    w.out << "const int z0=c1;\n";
    sum = sum + tree_writer<Set>(w, 'z')(w.input(2), w.self.anchor.name);
  }
  tree_writer<Set>(w, 'c', sum).store_outputs();
}

// "const float t8=all[e];" with what value() writes, the sum of the output's channel m at c2, c3 ..., and what follows.
template <class Set> constexpr void store_value(const convolution_shape<Set>& shape, auto value) {
  auto& out = shape.w.out;
  const expression sum(out, 't', out.new_name());
  out << "const float " << sum << '=';
  value();
  out << ";\n";
  write_result_channel(shape);
  store_sum(shape, sum);
}

// "y0=m0+lm": which filter it is that a group of work-items which makes bm channels stages. Those beyond the last are
// computed from it, and not stored.
template <class Set> constexpr void write_filter(const convolution_shape<Set>& shape, std::int64_t bm) {
  auto& out = shape.w.out;
  out << "y0=";
  if (shape.op.group != 1) out << "part*" << shape.out << '+';
  if (shape.out % bm != 0) out << "min(m0+lm," << shape.out - 1 << ')';
  else out << "m0+lm";
}
// "fa[q]=...": what the anchor's input number i is at coordinates PREFIX0 ..., or the bits that are stored there.
template <class Set>
constexpr void write_staged(recipe_writer<Set>& w, std::size_t i, char prefix, std::string_view to,
                            const std::optional<recipe_load>& bits) {
  if (bits) {
    w.out << to << '=';
    w.stored_bits(*bits, w.named(prefix), false);
  } else {
    const expression value = tree_writer<Set>(w, prefix)(w.input(i), w.self.anchor.name);
    w.out << to << '=' << value;
  }
}

namespace detail {

template <class Set> struct convolution_weights {
  const convolution_shape<Set>& shape;
  staged_depth depth;
  operand_ref from;
  char prefix = 'y';
  staged_walk walk{};

  constexpr void begin() const { write_image(shape); }
  constexpr void coordinates() const {
    auto& out = shape.w.out;
    out << "const int y0=";
    if (shape.op.group != 1) out << "part*" << shape.out << '+';
    out << "m,y1=";
    shape.write_channel(depth);
    out << ";\n";
    for (std::size_t i = 0; i < shape.axes; ++i) {
      out << "const int y" << i + 2 << '=';
      if (shape.over.kernel(i) == 1) out << '0';
      else shape.write_tap(i);
      out << ";\n";
    }
  }
  constexpr void condition(auto) const {}
};

template <class Set> struct convolution_pixels {
  const convolution_shape<Set>& shape;
  staged_depth depth;
  operand_ref from;
  char prefix = 'x';
  staged_walk walk{};

  constexpr void coordinates() const {
    auto& out = shape.w.out;
    const auto space = shape.w.space();
    out << "const int x0=image,x1=";
    if (shape.op.group != 1) out << "part*" << shape.in << '+';
    shape.write_channel(depth);
    out << ";\n";
    for (std::size_t i = 0; i < shape.axes; ++i) {
      std::int64_t pixels = 1;
      for (std::size_t j = i + 1; j < shape.axes; ++j) pixels *= space[j + 2].value();
      out << "const int x" << i + 2 << "=n";
      if (pixels != 1) out << '/' << pixels;
      if (i != 0) out << '%' << space[i + 2].value();
      if (shape.over.stride(i) != 1) out << '*' << shape.over.stride(i);
      if (shape.over.kernel(i) != 1) {
        out << '+';
        shape.write_tap(i);
        if (shape.over.dilation(i) != 1) out << '*' << shape.over.dilation(i);
      }
      if (shape.over.pad_begin(i) != 0) out << '-' << shape.over.pad_begin(i);
      out << ";\n";
    }
  }
  constexpr void condition(auto condition) const {
    for (std::size_t i = 0; i < shape.axes; ++i)
      if (shape.has_border(i)) condition() << "(uint)x" << i + 2 << '<' << shape.input[i + 2].value();
  }
};

}  // namespace detail

template <class Set>
constexpr void write_tiled_convolution(const convolution_shape<Set>& shape, const product_tile& tile) {
  auto& w = shape.w;
  const staged_depth depth = shape.depth();
  detail::convolution_weights<Set> a{shape, depth, w.input(1)};
  a.walk = walk_of(w, 1, 1, shape.axes + 2, 0, 1);
  // Four of a row of weights lie side by side where rows and stages begin at multiples of four.
  if (depth.channels != 0 && depth.channels * depth.period % 4 != 0) a.walk.by_four = false;
  if (!a.walk.along_k && shape.out % 4 != 0) a.walk.by_four = false;  // groups begin at any row
  if (shape.over.taps() != 1 && shape.order == convolution_shape<Set>::k_order::taps_first) a.walk = {};
  const detail::convolution_pixels<Set> b{shape, depth, w.input(0), 'x', shape.pixels};
  tiled_loop<Set>(w, shape.extents, depth, tile).write(a, b, [&](const expression& sum) {
    write_result_channel(shape);
    for (std::size_t i = 0; i < shape.axes; ++i) {
      std::int64_t pixels = 1;
      for (std::size_t j = i + 1; j < shape.axes; ++j) pixels *= w.space()[j + 2].value();
      w.out << "const int c" << i + 2 << "=n";
      if (pixels != 1) w.out << '/' << pixels;
      if (i != 0) w.out << '%' << w.space()[i + 2].value();
      w.out << ";\n";
    }
    store_sum(shape, sum);
  });
}

}  // namespace dnnkit::opencl
