// SPDX-License-Identifier: MIT
// Several operators at a time, as networks have them, which are what some passes are made for: random graphs of single
// operators hardly ever hold them.
//
// Scales of bytes are powers of two, so that products and sums of what they stand for are exact, and rounding them
// gives the same bytes however they are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_anchors.hpp"

class random_idioms : protected random_anchors {
 protected:
  using random_anchors::random_anchors;

  constexpr void idiom() {
    switch (r_.below(19)) {
      case 0:
        return function_of_bytes();
      case 1:
        return product_of_bytes();
      case 2:
        return convolution_of_bytes();
      case 3:
        return sum_of_bytes();
      case 4:
        return recurrent_layer();
      case 5:
        return siblings();
      case 6:
        return attention();
      case 7:
        return parallel_convolutions();
      case 8:
        return read_by_convolution();
      case 9:
        return roll();
      case 10:
        return group_normalisation();
      case 11:
        return squeeze_and_excitation();
      case 12:
        return even_gather();
      case 13:
        return normalised_twice();
      case 14:
        return product_of_vector();
      case 15:
        return spelled_out();
      case 16:
        return long_view();
      case 17:
        return joined_branches();
      default:
        return known_extents();
    }
  }

  // Branches of an image that are joined in any order; some compute from others, and what is joined may be a part.
  constexpr void joined_branches() {
    const tensor x = image();
    const bool along_rows = r_.chance(25);
    const std::int64_t same = r_.pick({3, 8, 17});
    const auto channels = [&] { return along_rows ? same : r_.pick({1, 3, 8, 16, 17, 35}); };
    const auto joined = [&](std::initializer_list<tensor> parts) {
      return dnnkit::concat(parts, {.axis = along_rows ? 2 : r_.chance(50) ? 1 : -3});
    };
    const tensor a = branch_of(x, channels()), b = branch_of(a, channels()), c = branch_of(x, channels());
    tensor y = r_.chance(50) ? joined({c, b, a}) : joined({b, c});
    if (r_.chance(15)) y = joined({y, a});
    if (r_.chance(40)) {
      const tensor d = branch_of(y, channels());
      y = r_.chance(50) ? joined({d, y}) : joined({y, d, c});
    }
    if (r_.chance(15)) add(a);
    add(branch_of(y, channels()));
  }

 private:
  static constexpr dnnkit::dtype u8 = dnnkit::u8, i8 = dnnkit::i8;

  // --- bytes
  constexpr double power_of_two() { return r_.pick({0.25, 0.5, 0.125, 1.0}); }
  constexpr tensor zero_of(dnnkit::dtype type) {
    const std::int64_t least = type == u8 ? 0 : -8, zero = r_.chance(30) ? 0 : r_.between(least, 130 + least);
    return b_.scalar(static_cast<double>(type == u8 ? zero : zero % 60), type);
  }
  constexpr tensor real_of(tensor bytes) {
    const tensor unit = b_.scalar(power_of_two());
    return dnnkit::dequantize_linear(bytes, unit, zero_of(bytes.type()));
  }
  constexpr tensor bytes_of(tensor real, double unit) {
    const tensor scale = b_.scalar(unit);
    return dnnkit::quantize_linear(real, scale, zero_of(u8));
  }
  // The bytes become an output of the network, or are used further.
  constexpr void add_bytes(tensor bytes) {
    add(bytes);
    if (r_.chance(50)) add(real_of(bytes), true);
  }
  constexpr tensor weight_of_bytes(const shape& s, std::int64_t axis) {
    const tensor w = weight(s, "w", i8);
    if (r_.chance(50)) return dnnkit::dequantize_linear(w, b_.scalar(power_of_two()));
    const std::int64_t count = s[static_cast<std::size_t>(axis)].value();
    dnnkit::vector<double> units;
    for (std::int64_t i = 0; i < count; ++i) units.push_back(power_of_two());
    return dnnkit::dequantize_linear(w, b_.constant(units, {count}), {.axis = axis});
  }
  constexpr void function_of_bytes() {
    tensor x = real_of(input({r_.between(1, 3), r_.between(2, 9), 5}, r_.chance(50) ? u8 : i8));
    for (std::int64_t n = r_.between(0, 3); n-- > 0;) switch (r_.below(5)) {
        case 0:
          x = dnnkit::relu(x);
          break;
        case 1:
          x = dnnkit::abs(x) * 0.5;
          break;
        case 2:
          x = dnnkit::clip(x, {.min = -2, .max = 7.5f});
          break;
        case 3:
          x = x * dnnkit::hard_sigmoid(x, {.alpha = 0.25f, .beta = 0.5f});
          break;
        default:
          x = dnnkit::transpose(x, {.perm = {0, 2, 1}});
      }
    add_bytes(bytes_of(x, power_of_two()));
  }
  constexpr void product_of_bytes() {
    const std::int64_t inner = r_.between(2, 20), columns = r_.pick({1, 4, 8, 17});
    const tensor x = real_of(input({r_.between(1, 6), inner}, r_.chance(70) ? u8 : i8));
    const tensor w = weight_of_bytes({inner, columns}, 1);
    tensor y = r_.chance(50) ? dnnkit::matmul(x, w) : dnnkit::gemm(x, w, b_.scalar(0.5));
    if (r_.chance(50)) y = dnnkit::relu(y);
    add_bytes(bytes_of(y, 64));
  }
  constexpr void convolution_of_bytes() {
    const std::int64_t channels = r_.pick({1, 3, 4, 8}), outputs = r_.pick({1, 5, 8, 16}), size = r_.between(1, 3);
    const tensor x = real_of(input({1, channels, r_.between(3, 7), r_.between(3, 6)}, u8));
    const tensor w = weight_of_bytes({outputs, channels, size, size}, 0);
    const std::int64_t pad = r_.between(0, size / 2);
    tensor y = dnnkit::conv(x, w, {.pads = {pad, pad, pad, pad}});
    if (r_.chance(50)) y = dnnkit::relu(y);
    add_bytes(bytes_of(y, 64));
  }
  constexpr void sum_of_bytes() {
    const shape s{r_.between(1, 3), r_.between(2, 9)};
    const tensor a = input(s, u8), b = input(s, u8), x = real_of(a), y = real_of(b);
    if (r_.chance(50)) return add_bytes(bytes_of(x * y, 4));
    // a sum is rounded with the zero point in it (pass/quantised_products.hpp): halves go the same way if that is even
    const tensor unit = b_.scalar(0.5);
    add_bytes(dnnkit::quantize_linear(x + y, unit, b_.scalar(static_cast<double>(2 * r_.between(0, 60)), u8)));
  }

  // --- layers
  constexpr void recurrent_layer() {
    const std::int64_t steps = r_.between(1, 4), rows = r_.between(1, 2), inputs = r_.between(1, 5);
    const std::int64_t units = r_.pick({1, 3, 8}), kind = r_.between(0, 2), gates = kind == 0 ? 4 : kind == 1 ? 3 : 1;
    const tensor x = input({steps, rows, inputs});
    const tensor w = weight({1, gates * units, inputs}), again = weight({1, gates * units, units});
    for (std::int64_t output = 0; output < 2; ++output) {
      if (kind == 0) add(b_.apply(dnnkit::op::lstm{.output = output}, {x, w, again}));
      else if (kind == 1) add(b_.apply(dnnkit::op::gru{.output = output}, {x, w, again}));
      else add(b_.apply(dnnkit::op::rnn{.output = output}, {x, w, again}));
    }
  }
  constexpr tensor rows_of(std::size_t least_rank, std::size_t most_rank) {
    const entry e = any(dnnkit::f32, least_rank, most_rank);
    if (!e.t.present() || !e.t.size(-1).is_known() || e.t.size(-1).value() < 1 || most_count(e.t.dims()) > 1500)
      return {};
    return e.t;
  }
  constexpr tensor projected(tensor x, std::int64_t columns, bool biased) {
    const tensor y = dnnkit::matmul(x, weight({x.size(-1), columns}));
    if (!biased) return y;
    return y + weight({columns});
  }
  constexpr void siblings() {
    const tensor x = rows_of(2, 4);
    if (!x.present()) return;
    const bool biased = r_.chance(50), gated = r_.chance(30);
    const std::int64_t columns = r_.pick({1, 4, 8, 12});
    const tensor a = projected(x, columns, biased), b = projected(x, columns, biased);
    if (gated) return add(dnnkit::silu(a) * b);
    add(dnnkit::softmax(a));
    add(dnnkit::transpose(b));
    if (r_.chance(50)) add(dnnkit::reduce_max(projected(x, columns, biased)));
  }
  constexpr void attention() {
    const std::int64_t heads = r_.between(1, 3), width = r_.pick({2, 4, 8}), rows = r_.between(2, 9);
    const tensor x = input({1, rows, r_.between(3, 12)});
    const auto head = [&](tensor t) {
      return dnnkit::transpose(dnnkit::reshape(t, {1, rows, heads, width}), {.perm = {0, 2, 1, 3}});
    };
    const bool biased = r_.chance(50);
    const tensor q = head(projected(x, heads * width, biased)), k = head(projected(x, heads * width, biased));
    const tensor v = head(projected(x, heads * width, biased));
    const tensor keys = dnnkit::transpose(k, {.perm = {0, 1, 3, 2}});
    tensor scores;
    if (r_.chance(50)) {
      const tensor content = weight({heads, 1, width}), place = weight({heads, 1, width});
      const tensor places = weight({heads, width, 2 * rows - 1});
      scores = dnnkit::matmul(q + content, keys);
      scores = scores + relatively_shifted(dnnkit::matmul(q + place, places), heads, rows);
    } else {
      scores = dnnkit::matmul(q, keys) * 0.5;
      if (r_.chance(50)) scores = scores + weight({rows, rows});
    }
    const tensor y = dnnkit::matmul(dnnkit::softmax(scores), v);
    const tensor joined = dnnkit::reshape(dnnkit::transpose(y, {.perm = {0, 2, 1, 3}}), {1, rows, heads * width});
    add(projected(joined, 5, true));
  }
  // Row i of 2 n - 1 places from its own place, n - 1 - i, on.
  static constexpr tensor relatively_shifted(tensor x, std::int64_t heads, std::int64_t n) {
    tensor y = dnnkit::reshape(dnnkit::pad(x, {.pads = {0, 0, 0, 1, 0, 0, 0, 0}}), {1, heads, 2 * n, n});
    y = dnnkit::slice(y, {.starts = {1}, .ends = {2 * n}, .axes = {2}});
    y = dnnkit::reshape(y, {1, heads, n, 2 * n - 1});
    return dnnkit::slice(y, {.starts = {0}, .ends = {n}, .axes = {3}});
  }
  constexpr tensor image() {
    const entry e = any(dnnkit::f32, 4, 4);
    if (e.t.present() && e.t.size(1).is_known() && e.t.size(1).value() <= 24 && most_count(e.t.dims()) <= 2500 &&
        least(e.t.size(2)) > 2 && least(e.t.size(3)) > 2 && r_.chance(70))
      return e.t;
    return input({1, r_.pick({1, 3, 4, 8, 16}), extent(4, 8), extent(4, 8)});
  }
  // As large as x, with so many channels.
  constexpr tensor branch_of(tensor x, std::int64_t outputs) {
    const std::int64_t size = r_.pick({1, 3}), pad = size / 2;
    if (x.size(1) == dim(outputs) && r_.chance(50)) {
      const dnnkit::window w{.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}};
      if (r_.chance(50)) return dnnkit::max_pool(x, {w.kernel_shape, w.strides, w.pads});
      return dnnkit::average_pool(x, {w.kernel_shape, w.strides, w.pads});
    }
    const tensor y = dnnkit::conv(x, weight({outputs, x.size(1), size, size}), {.pads = {pad, pad, pad, pad}});
    switch (r_.below(4)) {
      case 0:
        return dnnkit::silu(y);
      case 1:
        return dnnkit::softmax(y, {.axis = 1});
      case 2:
        return dnnkit::relu(y);
      default:
        return y;
    }
  }
  constexpr void parallel_convolutions() {
    const tensor x = image();
    const dim channels = x.size(1);
    const tensor wide = weight({channels, channels, 3, 3}), narrow = weight({channels, channels, 1, 1});
    const tensor other = dnnkit::conv(x, narrow, weight({channels}));
    tensor y = dnnkit::conv(x, wide, {.pads = {1, 1, 1, 1}}) + other;
    if (r_.chance(50)) y = y + x;
    add(r_.chance(50) ? dnnkit::relu(y) : y);
  }
  // A border of mirrored or repeated elements, or a Resize that repeats them, before a convolution or a Concat.
  constexpr void read_by_convolution() {
    const std::int64_t channels = r_.pick({1, 3, 8}), outputs = r_.pick({4, 8});
    const tensor x = input({1, channels, r_.between(3, 7), r_.between(3, 7)});
    tensor y;
    if (r_.chance(50)) y = dnnkit::resize(x, {.scales = {1, 1, 2, 2}, .mode = dnnkit::resize_mode::nearest});
    else
      y = dnnkit::pad(x,
                      {{0, 0, 1, 1, 0, 0, 1, 1}, r_.chance(50) ? dnnkit::pad_mode::reflect : dnnkit::pad_mode::edge});
    add(dnnkit::conv(y, weight({outputs, channels, 3, 3}), {.pads = {1, 0, 1, 0}}));
  }
  constexpr void roll() {
    const std::int64_t length = r_.between(3, 9), shift = r_.between(1, length - 1);
    const tensor x = input({r_.between(1, 2), length, r_.pick({1, 4, 8})});
    const tensor front = dnnkit::slice(x, {{0}, {shift}, {1}, {1}}),
                 rest = dnnkit::slice(x, {{shift}, {length}, {1}, {1}});
    const tensor rolled = dnnkit::concat({rest, front}, {1});
    add(r_.chance(50) ? dnnkit::relu(rolled) : rolled + weight({length, 1}));
  }
  constexpr void group_normalisation() {
    const std::int64_t groups = r_.between(1, 3), each = r_.between(1, 4), rows = r_.between(1, 4),
                       columns = r_.between(2, 4);
    const tensor x = input({r_.between(1, 2), groups * each, rows, columns});
    tensor y = dnnkit::reshape(x, {x.size(0), groups, each * rows * columns});
    const tensor scale = weight({groups}), shift = weight({groups});
    y = dnnkit::instance_normalization(y, scale, shift, {.epsilon = 0.01f});
    y = b_.apply(dnnkit::op::reshape{x.dims()}, {y});
    y = y * weight({groups * each, 1, 1});
    add(y + weight({groups * each, 1, 1}));
  }
  constexpr void squeeze_and_excitation() {
    const tensor x = image();
    const dim channels = x.size(1);
    const std::int64_t fewer = r_.pick({1, 4, 8});
    const tensor down = weight({fewer, channels, 1, 1}), up = weight({channels, fewer, 1, 1});
    tensor y = dnnkit::conv(dnnkit::global_average_pool(x), down);
    y = y + weight({fewer, 1, 1});
    y = dnnkit::conv(r_.chance(50) ? dnnkit::relu(y) : dnnkit::silu(y), up);
    add(x * dnnkit::sigmoid(y));
  }
  constexpr void even_gather() {
    const std::int64_t first = r_.between(0, 2), step = r_.between(1, 2), count = r_.between(1, 3);
    const entry e{input({r_.between(1, 3), first + step * count + r_.between(0, 3), r_.between(1, 4)}), true};
    dnnkit::vector<double> rows;
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(static_cast<double>(first + i * step));
    const tensor indices = b_.constant(rows, count == 1 && r_.chance(50) ? shape{} : shape{count}, dnnkit::i64);
    add(dnnkit::gather(e.t, indices, {1}), true);
  }
  constexpr void normalised_twice() {
    const tensor x = rows_of(2, 4);
    if (!x.present()) return;
    if (r_.chance(50)) {
      const tensor largest = dnnkit::reduce_max(x, {.axes = {-1}}), again = dnnkit::reduce_max(x, {.axes = {-1}});
      return add((x - largest) * dnnkit::abs(again));
    }
    const dim columns = x.size(-1);
    for (int i = 0; i < 2; ++i) {
      const tensor scale = weight({columns}), shift = weight({columns});
      add(dnnkit::layer_normalization(x, scale, shift, {.epsilon = 0.01f}));
    }
  }
  constexpr void product_of_vector() {
    const std::int64_t inner = r_.between(1, 12);
    const tensor x = input({r_.between(1, 5), inner}), vector = weight({inner});
    if (r_.chance(50)) return add(dnnkit::matmul(x, vector));
    add(dnnkit::matmul(vector, dnnkit::transpose(x)));
  }
  // What tools write for an operator that there is one name for.
  constexpr void spelled_out() {
    const entry e = any(dnnkit::f32, 1);
    if (!e.t.present()) return;
    const tensor x = e.t;
    switch (r_.below(6)) {
      case 0:
        return add(x * dnnkit::sigmoid(x));
      case 1:
        return add(x * 0.5 * (dnnkit::erf(x / b_.scalar(1.4142135)) + 1));
      case 2:
        return add(dnnkit::relu(dnnkit::relu(x)), e.exact);
      case 3:
        return add(dnnkit::neg(dnnkit::neg(x)) * 1.0, e.exact);
      case 4:
        return add(x / b_.scalar(0.25) + 0.0);
      default:
        return add(dnnkit::sqrt(dnnkit::reduce_mean(x * x, {.keepdims = true}) + 0.01));
    }
  }
  // More movement operators in a row than one view may have.
  constexpr void long_view() {
    if (nodes() > 40) return;
    tensor x = input({r_.between(1, 3), r_.between(2, 4)});
    for (int i = 0; i < 34; ++i) x = dnnkit::slice(dnnkit::transpose(x), {{-1}, {-99}, {0}, {-1}});
    add(dnnkit::relu(x), true);
  }
  // Arithmetic on extents, which may be known.
  constexpr void known_extents() {
    const entry e = any(dnnkit::f32, 1);
    if (!e.t.present()) return;
    const tensor size = dnnkit::cast(dnnkit::reduce_prod(dnnkit::shape_of(e.t), {.axes = {0}}), {.to = dnnkit::f32});
    add(e.t * dnnkit::reciprocal(size + 1.0));
  }
};
