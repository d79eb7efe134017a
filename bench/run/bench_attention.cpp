// SPDX-License-Identifier: MIT
// Attention against the multiply-add peak of one core, and against three kernels one after another (a product, a
// softmax, a product, each a network of its own): bench_attention [part of a name], one JSON object a line. Heads lie
// side by side in the rows of Q, K, V and O, as projections leave them; the three kernels get them apart. What is
// called in_network is a network that attention is a kernel of, with masks and biases as they are stored.
#include <fmt/format.h>

#include <dnnkit/cpu/micro/attention.hpp>

#include <limits>

#include "network.hpp"

namespace {

using namespace dnnkit::cpu;
namespace dk = dnnkit;

enum class scores { plain, mask_of_keys, mask, causal };

// Scales, and adds a mask or leaves out what lies behind the query.
template <index_t Keys, index_t Depth, scores Kind> struct scaled : plain_scores {
  const float* mask;  // [Keys], or [Keys][queries, up to whole vectors]
  index_t mask_stride = 0;

  key_range keys(index_t, index_t last_query, index_t keys) const {
    return {0, Kind == scores::causal ? std::min(keys, last_query) : keys};
  }
  [[gnu::always_inline]] float_vec operator()(float_vec x, index_t key, index_t query, auto) const {
    const float_vec s = x * float_vec(Depth == 32 ? 0.1767767f : 0.125f);
    if constexpr (Kind == scores::mask_of_keys) return s + float_vec(mask[key]);
    if constexpr (Kind == scores::mask) return s + float_vec::load(mask + key * mask_stride + query);
    if constexpr (Kind == scores::causal) {
      using integers = vec<std::int32_t, float_lanes>;
      return select(integers::iota(static_cast<std::int32_t>(query)) < integers(static_cast<std::int32_t>(key)),
                    float_vec(-std::numeric_limits<float>::infinity()), s);
    }
    return s;
  }
};

template <index_t Heads, index_t Length, index_t Depth> struct first_product {
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", dk::f32, {Heads, Length, Depth}),
                     k = g.input("k", dk::f32, {Heads, Depth, Length});
    g.output("s", dk::matmul(q, k) * g.scalar(Depth == 32 ? 0.1767767 : 0.125));
  }
};
template <index_t Heads, index_t Length, index_t> struct softmax_of_scores {
  static constexpr void build(dk::builder& g) {
    g.output("p", dk::softmax(g.input("s", dk::f32, {Heads, Length, Length})));
  }
};
template <index_t Heads, index_t Length, index_t Depth> struct second_product {
  static constexpr void build(dk::builder& g) {
    const dk::tensor p = g.input("p", dk::f32, {Heads, Length, Length}),
                     v = g.input("v", dk::f32, {Heads, Length, Depth});
    g.output("o", dk::matmul(p, v));
  }
};

// Images * Heads heads; the heads of an image share rows.
template <index_t Images, index_t Heads, index_t Length, index_t Depth, scores Kind = scores::plain>
void measure(const bench::options& o, const std::string& name) {
  if (!o.wants(name)) return;
  constexpr index_t row = Heads * Depth, image = Length * row, padded = ceil_div(Length, float_lanes) * float_lanes;
  using strides = token_strides<constant<row>>;
  using length = constant<Length>;
  using depth = constant<Depth>;
  constexpr attention<length, length, depth, depth, strides, strides, strides> head{};
  const bench::buffer q(Images * image), k(Images * image), v(Images * image), out(Images * image, false),
      mask(Length * padded), scratch(head.scratch_size(), false);
  scaled<Length, Depth, Kind> f{{}, mask.data(), padded};
  const auto fused = [&] {
    for (index_t h = 0; h < Images * Heads; ++h) {
      const index_t at = h / Heads * image + h % Heads * Depth;
      head.run(
          q.data() + at, k.data() + at, v.data() + at, 0, head.units(), f,
          [&](float_vec x, index_t query, index_t element, auto) { x.store(out.data() + at + query * row + element); },
          scratch.data());
    }
  };
  bench::network<dk::compile<first_product<Images * Heads, Length, Depth>>> first;
  bench::network<dk::compile<softmax_of_scores<Images * Heads, Length, Depth>>> middle;
  bench::network<dk::compile<second_product<Images * Heads, Length, Depth>>> last;
  const auto separate = [&] {
    first.run();
    middle.run();
    last.run();
  };

  const auto timed = [](auto& work, int repetitions) {
    const double begin = bench::thread_seconds();
    for (int i = 0; i < repetitions; ++i) work();
    return (bench::thread_seconds() - begin) / repetitions;
  };
  timed(fused, 1);
  timed(separate, 1);
  const int repetitions = std::max(1, static_cast<int>(1e-3 / timed(fused, 3)));
  std::vector<double> peaks, times, separate_times;
  for (const double begin = bench::seconds();
       times.size() < 15 || (bench::seconds() - begin < 0.5 && times.size() < 101);) {
    peaks.push_back(bench::peak_sample());
    times.push_back(timed(fused, repetitions));
    separate_times.push_back(timed(separate, 1));
  }
  const double flops = 4.0 * static_cast<double>(Images * Heads * Length * Length) * static_cast<double>(Depth);
  const double time = bench::median(times), peak = bench::median(peaks), separately = bench::median(separate_times);
  fmt::print(R"({{"name": "{}", "shape": "{}x{}x{}", "ms": {:.3f}, "peak_gflops": {:.1f}, "percent": {:.1f}, )"
             R"("three_kernels_ms": {:.3f}, "ratio": {:.2f}}})"
             "\n",
             name, Images * Heads, Length, Depth, time * 1e3, peak, 100 * flops / time / 1e9 / peak, separately * 1e3,
             separately / time);
  std::fflush(stdout);
}

enum class beside { nothing, no_padding, padding, causal, bias };

// What is called padding hides three quarters of the keys.
template <std::int64_t Images, std::int64_t Heads, std::int64_t Tokens, std::int64_t Depth, beside Kind>
struct whole_attention {
  static constexpr void build(dk::builder& g) {
    const auto heads = [&](const char* name) {
      const dk::tensor x = g.input(name, dk::f32, {Images, Tokens, Heads * Depth});
      return dk::transpose(dk::reshape(x, {Images, Tokens, Heads, Depth}), {.perm = {0, 2, 1, 3}});
    };
    const dk::tensor q = heads("q"), k = heads("k"), v = heads("v");
    dk::tensor s = dk::matmul(q, dk::transpose(k, {.perm = {0, 1, 3, 2}})) * 0.125;
    if (Kind == beside::no_padding || Kind == beside::padding) s = s + g.input("mask", dk::f32, {1, 1, 1, Tokens});
    if (Kind == beside::causal) s = s + g.input("mask", dk::f32, {1, 1, Tokens, Tokens});
    if (Kind == beside::bias) s = s + g.weight("bias", {1, Heads, Tokens, Tokens});
    const dk::tensor o = dk::transpose(dk::matmul(dk::softmax(s), v), {.perm = {0, 2, 1, 3}});
    g.output("y", dk::reshape(o, {Images, Tokens, Heads * Depth}));
  }
};

template <std::int64_t Images, std::int64_t Heads, std::int64_t Tokens, std::int64_t Depth, beside Kind>
void measure_in_network(const bench::options& o, const std::string& of) {
  const std::string name = of + "_in_network";
  if (!o.wants(name)) return;
  bench::network<dk::compile<whole_attention<Images, Heads, Tokens, Depth, Kind>>> net;
  if constexpr (Kind != beside::nothing && Kind != beside::bias) {
    constexpr std::int64_t rows = Kind == beside::causal ? Tokens : 1;
    for (std::int64_t query = 0; query < rows; ++query)
      for (std::int64_t key = 0; key < Tokens; ++key) {
        const bool is_hidden = Kind == beside::causal ? key > query : Kind == beside::padding && 4 * key >= Tokens;
        net.range(3)[query * Tokens + key] = is_hidden ? std::numeric_limits<float>::lowest() : 0.0f;
      }
  }
  const double flops = 4.0 * static_cast<double>(Images * Heads * Tokens * Tokens) * static_cast<double>(Depth);
  bench::report(o, name, fmt::format("{}x{}x{}", Images * Heads, Tokens, Depth), 1, flops,
                [&](auto, auto) { net.run(); });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  measure<1, 12, 128, 64, scores::mask_of_keys>(o, "bert");
  measure<1, 12, 128, 64, scores::causal>(o, "gpt2_causal");
  measure<1, 12, 197, 64>(o, "vit");
  measure<1, 6, 325, 64>(o, "depth_anything");
  measure<1, 6, 1500, 64>(o, "whisper");
  measure<64, 3, 49, 32, scores::mask>(o, "swin");
  measure_in_network<1, 12, 128, 64, beside::no_padding>(o, "bert");
  measure_in_network<1, 12, 128, 64, beside::padding>(o, "padded");
  measure_in_network<1, 12, 128, 64, beside::causal>(o, "gpt2_causal");
  measure_in_network<1, 12, 197, 64, beside::nothing>(o, "vit");
  measure_in_network<1, 6, 1500, 64, beside::nothing>(o, "whisper");
  measure_in_network<64, 3, 49, 32, beside::bias>(o, "swin");
}
