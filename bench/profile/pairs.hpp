// SPDX-License-Identifier: MIT
// Pairs of operators whose edge is yellow in the mapping table, as small models that are compiled fused and apart, and
// measured: what the profile database is made of (cost/profile.hpp).
#pragma once

#include <dnnkit/graph.hpp>
#include <dnnkit/op/normalization.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/run/network.hpp"

namespace bench::profile {

namespace dk = dnnkit;

// What the edge's cells become where they are yellow.
template <dk::verdict Forced> struct forced_rule {
  static constexpr std::string_view name = "forced";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge&, dk::mapping, dk::mapping, dk::verdict v) {
    return v == dk::verdict::profile ? Forced : v;
  }
};
// Notes the key by which the library will look the edge up.
struct noting_rule {
  static constexpr std::string_view name = "noting";
  static inline std::optional<dk::plan::profile_key> noted;
  static inline dk::plan::edge_answer model;
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    if (v != dk::verdict::profile || edge.profile == nullptr) return v;
    if (!std::is_constant_evaluated()) {
      noted = edge.profile->key();
      model = edge.profile->by_model();
    }
    return dk::verdict::fuse;
  }
};
template <class Rule>
using pipeline_with = dk::replaced<dk::default_pipeline, dk::passes::default_fusion<>,
                                   dk::passes::plan_fusion<Rule, dk::passes::bytes_rule>>;

// --- first operators, each of 2 * 4^Size elements; some give [rows, columns], a convolution an image

enum class first : std::uint8_t { matmul, conv, standardize, softmax, reduce_mean, max_pool };
enum class path : std::uint8_t { reshape, rows_moved, transposed };
enum class second : std::uint8_t { add, mul, gelu, relu };

constexpr std::int64_t power_of_4(int k) { return std::int64_t{1} << 2 * k; }
inline constexpr std::int64_t columns = 64, channels = 32;

// [rows, 64], or [1, 32, side, side] of an image.
template <first First, int Size> constexpr dk::tensor first_result(dk::builder& b) {
  constexpr std::int64_t rows = 2 * power_of_4(Size) / columns, side = std::int64_t{1} << (Size - 2);
  if constexpr (First == first::matmul)
    return dk::matmul(b.input("x", dk::f32, {rows, 256}), b.weight("w", {256, columns}));
  else if constexpr (First == first::standardize)
    return b.apply(dk::op::standardize{dk::detail::axes_from(1, 2), 1e-5f}, {b.input("x", dk::f32, {rows, columns})});
  else if constexpr (First == first::softmax) return dk::softmax(b.input("x", dk::f32, {rows, columns}));
  else if constexpr (First == first::reduce_mean)
    return dk::reduce_mean(b.input("x", dk::f32, {8, rows, columns}), {.axes = {0}, .keepdims = 0});
  else if constexpr (First == first::conv)
    return dk::conv(b.input("x", dk::f32, {1, channels, side, side}), b.weight("w", {channels, channels, 3, 3}),
                    {.pads = {1, 1, 1, 1}});
  else
    return dk::max_pool(b.input("x", dk::f32, {1, channels, side, side}),
                        {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}});
}

template <path Path, int Size> constexpr dk::tensor moved(dk::tensor t) {
  if (t.rank() == 4) {  // an image: [1, 32, positions], and [1, positions, 32] of it
    constexpr std::int64_t positions = power_of_4(Size - 2);
    if (Path == path::transposed) return dk::transpose(t, {.perm = {0, 1, 3, 2}});
    t = dk::reshape(t, {1, channels, positions});
    return Path == path::reshape ? t : dk::transpose(t, {.perm = {0, 2, 1}});
  }
  constexpr std::int64_t rows = 2 * power_of_4(Size) / columns;
  if (Path == path::reshape) return dk::reshape(t, {1, rows, columns});
  if (Path == path::rows_moved) return dk::transpose(dk::reshape(t, {rows / 8, 8, columns}), {.perm = {1, 0, 2}});
  return dk::transpose(t);
}

// Another operand of the shape of t.
constexpr dk::tensor input_like(dk::builder& b, dk::tensor t) {
  const dk::shape s = b.value().at(t.id()).type.dims;
  const auto n = [&](std::size_t d) { return s[d].value(); };
  if (s.size() == 2) return b.input("y", dk::f32, {n(0), n(1)});
  if (s.size() == 3) return b.input("y", dk::f32, {n(0), n(1), n(2)});
  return b.input("y", dk::f32, {n(0), n(1), n(2), n(3)});
}

template <second Second> constexpr dk::tensor second_result(dk::builder& b, dk::tensor t) {
  if constexpr (Second == second::gelu) return dk::gelu(t);
  else if constexpr (Second == second::relu) return dk::relu(t);
  else if constexpr (Second == second::add) return t + input_like(b, t);
  else return t * input_like(b, t);
}

// An anchor, movement, an element-wise operator.
template <first First, path Path, second Second, int Size> struct epilogue {
  static constexpr void build(dk::builder& b) {
    b.output("z", second_result<Second>(b, moved<Path, Size>(first_result<First, Size>(b))));
  }
};

// Element-wise operators with movement between them, an anchor.
template <first Anchor, path Path, int Size> struct prologue {
  static constexpr void build(dk::builder& b) {
    constexpr std::int64_t rows = 2 * power_of_4(Size) / columns;
    const bool is_transposed = Path == path::transposed;
    const dk::tensor e = dk::sigmoid(is_transposed ? b.input("x", dk::f32, {columns, rows})
                                                   : b.input("x", dk::f32, {rows / 8, 8, columns}));
    const dk::tensor m = is_transposed           ? dk::transpose(e)
                         : Path == path::reshape ? dk::reshape(e, {rows, columns})
                                                 : dk::reshape(dk::transpose(e, {.perm = {1, 0, 2}}), {rows, columns});
    const dk::tensor t = dk::relu(m);
    if constexpr (Anchor == first::matmul) b.output("z", dk::matmul(t, b.weight("w", {columns, 64})));
    else if constexpr (Anchor == first::softmax) b.output("z", dk::softmax(t));
    else b.output("z", b.apply(dk::op::standardize{dk::detail::axes_from(1, 2), 1e-5f}, {t}));
  }
};

// --- measuring

struct result {
  dk::plan::profile_key key;
  double ratio = 1;               // of the time of one kernel to that of two
  dk::plan::edge_answer model{};  // what the cost model says of the edge
};
inline bool is_measuring = true;  // else ratios are those of the table that there is

// Samples of both alternate, so that a busy machine slows both; the median of the samples' ratios.
template <class Fused, class Apart> double measured_ratio() {
  network<Fused> fused;
  network<Apart> apart;
  const auto timed = [](auto& n, int runs) {
    const double begin = thread_seconds();
    for (int r = 0; r < runs; ++r) n.run();
    return (thread_seconds() - begin) / runs;
  };
  timed(fused, 2);
  timed(apart, 2);
  const int runs = static_cast<int>(std::clamp(4e-4 / timed(apart, 2), 1.0, 1000.0));
  std::vector<double> ratios;
  for (int sample = 0; sample < 101; ++sample) ratios.push_back(timed(fused, runs) / timed(apart, runs));
  return median(ratios);
}

// Nothing where what is asked for cannot be one kernel, or is one either way. Of pairs that have the same key the last
// counts.
template <class Model> void measure(std::vector<result>& results) {
  using fused = dk::compile<Model, dk::targets::native, pipeline_with<forced_rule<dk::verdict::fuse>>>;
  using apart = dk::compile<Model, dk::targets::native, pipeline_with<forced_rule<dk::verdict::never>>>;
  if constexpr (fused::kernels < apart::kernels) {
    noting_rule::noted.reset();
    static_cast<void>(pipeline_with<noting_rule>::template run<dk::targets::native>(dk::graph_of<Model>()));
    if (!noting_rule::noted) return;
    double ratio = 1;
    if (is_measuring) {
      ratio = measured_ratio<fused, apart>();
    } else {
      const auto found = find(dk::plan::table_of(dk::targets::native::facts.profile), *noting_rule::noted);
      if (!found) return;
      ratio = *found;
    }
    results.push_back({*noting_rule::noted, ratio, noting_rule::model});
  }
}
template <first First, path Path, second Second, int... Sizes>
void measure_epilogues(std::vector<result>& results, std::integer_sequence<int, Sizes...>) {
  (measure<epilogue<First, Path, Second, Sizes>>(results), ...);
}
template <first Anchor, path Path, int... Sizes>
void measure_prologues(std::vector<result>& results, std::integer_sequence<int, Sizes...>) {
  (measure<prologue<Anchor, Path, Sizes>>(results), ...);
}
using sizes = std::integer_sequence<int, 5, 6, 7, 8, 9>;

// One unit a group, since they take minutes to compile.
void measure_products(std::vector<result>& results);
void measure_convolutions(std::vector<result>& results);
void measure_rows(std::vector<result>& results);
void measure_reductions(std::vector<result>& results);
void measure_prologues(std::vector<result>& results);

}  // namespace bench::profile
