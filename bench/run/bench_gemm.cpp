// SPDX-License-Identifier: MIT
// Products against the multiply-add peak of one core: bench_gemm [part of a name] [--threads N], one JSON object a
// line. The kernel alone (gemm_..., and the layers of some networks), and as networks have it (network_...): a
// session's run of a model that is one product, with a bias, or with a bias and a GELU behind it. Products of one row
// (row_...) are against what the core reads a second, of as many bytes as the weights take.
#include <fmt/format.h>

#include <dnnkit/cpu/micro/gemm.hpp>

#include <cmath>

#include "network.hpp"

namespace {

using namespace dnnkit::cpu;

template <class Gemm> void measure(const bench::options& o, const std::string& name, const Gemm& g) {
  if (!o.wants(name)) return;
  const index_t m = g.m, n = g.n, k = g.k;
  const bench::buffer a(m * k), b(k * n), packed(g.packed_size(), false), c(m * n, false),
      scratch(g.scratch_size(), false);
  g.pack([&](index_t row, index_t column) { return b[row * n + column]; }, packed.data());
  const auto work = [&](index_t first, index_t last) {
    g.run(
        a.data(), packed.data(), nullptr, first, last,
        [&](float_vec acc, index_t row, index_t column, auto lanes) {
          if constexpr (is_constant<decltype(lanes)>) {
            acc.store(c.data() + row * n + column);
          } else {
            acc.store(c.data() + row * n + column, lanes);
          }
        },
        g.scratch_size() ? scratch.data() : nullptr);
  };
  work(0, g.units());
  for (index_t sample = 0; sample < 200; ++sample) {
    const index_t i = sample * 7919 % m, j = sample * 104729 % n;
    double want = 0;
    for (index_t l = 0; l < k; ++l) want += static_cast<double>(a[i * k + l]) * static_cast<double>(b[l * n + j]);
    bench::expect_close(name, static_cast<double>(c[i * n + j]), want, static_cast<double>(k));
  }
  bench::report(o, name, fmt::format("{}x{}x{}", m, n, k), g.units(),
                2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k), work);
}

template <index_t M, index_t N, index_t K> void known(const bench::options& o, const std::string& name) {
  measure(o, name, gemm<constant<M>, constant<N>, constant<K>>{});
}

template <index_t N, index_t K> void symbolic(const bench::options& o, const std::string& name, index_t m) {
  measure(o, name + "_symbolic", gemm<index_t, constant<N>, constant<K>>{.m = m});
}

enum class behind { bias, gelu };

// A session runs on one thread here.
template <index_t M, index_t N, index_t K, behind Behind> struct product {
  static constexpr void build(dnnkit::builder& g) {
    const dnnkit::tensor y =
        dnnkit::matmul(g.input("x", dnnkit::f32, {M, K}), g.weight("w", {K, N})) + g.weight("bias", {N});
    g.output("y", Behind == behind::gelu ? dnnkit::gelu(y) : y);
  }
};
template <index_t M, index_t N, index_t K, behind Behind>
using network_of_product = bench::network<dnnkit::compile<product<M, N, K, Behind>>>;

template <index_t M, index_t N, index_t K, behind Behind>
void expect_right(const std::string& name, network_of_product<M, N, K, Behind>& n) {
  for (index_t sample = 0; sample < 200; ++sample) {
    const index_t i = sample * 7919 % M, j = sample * 104729 % N;
    double want = static_cast<double>(n.weight(1)[j]);
    for (index_t l = 0; l < K; ++l)
      want += static_cast<double>(n.range(0)[i * K + l]) * static_cast<double>(n.weight(0)[l * N + j]);
    if (Behind == behind::gelu) want *= 0.5 * std::erfc(-want * 0.70710678118654752);
    bench::expect_close(name, static_cast<double>(n.range(1)[i * N + j]), want, static_cast<double>(K));
  }
}
template <index_t M, index_t N, index_t K, behind Behind = behind::bias> void in_network(const bench::options& o) {
  const std::string shape = fmt::format("{}x{}x{}", M, N, K);
  const std::string name = fmt::format("network_{}{}", shape, Behind == behind::gelu ? "_gelu" : "");
  if (!o.wants(name)) return;
  network_of_product<M, N, K, Behind> n;
  n.run();
  expect_right<M, N, K, Behind>(name, n);
  bench::report(o, name, shape, 1, 2.0 * static_cast<double>(M * N) * static_cast<double>(K),
                [&](index_t, index_t) { n.run(); });
}

// Seconds in which the core reads the whole buffer, in eight streams of as many sums.
double read_sample(const bench::buffer& from) {
  constexpr std::ptrdiff_t streams = 8;
  const auto length = static_cast<std::ptrdiff_t>(from.size()) / streams / float_lanes * float_lanes;
  float_vec sum[streams];
  for (float_vec& s : sum) s = float_vec(0.0f);
  const double begin = bench::thread_seconds();
  for (std::ptrdiff_t i = 0; i < length; i += float_lanes) {
#pragma GCC unroll 8
    for (std::ptrdiff_t j = 0; j < streams; ++j) sum[j] = sum[j] + float_vec::load(from.data() + j * length + i);
  }
  for (float_vec& s : sum) asm volatile("" : : "m"(s));
  return bench::thread_seconds() - begin;
}

template <index_t N, index_t K> void one_row(const bench::options& o) {
  const std::string name = fmt::format("row_{}x{}", N, K);
  if (!o.wants(name)) return;
  network_of_product<1, N, K, behind::bias> n;
  n.run();
  expect_right<1, N, K, behind::bias>(name, n);
  const bench::buffer as_many(N * K);
  std::vector<double> times, reads;
  for (const double begin = bench::seconds();
       times.size() < 15 || (bench::seconds() - begin < 1 && times.size() < 101);) {
    reads.push_back(read_sample(as_many));
    const double at = bench::thread_seconds();
    n.run();
    times.push_back(bench::thread_seconds() - at);
  }
  const double bytes = 4.0 * static_cast<double>(N * K);
  fmt::print(R"({{"name": "{}", "bytes": {}, "gb_per_s": {:.2f}, "read_gb_per_s": {:.2f}, "percent": {:.1f}}})"
             "\n",
             name, bytes, bytes / bench::median(times) / 1e9, bytes / bench::median(reads) / 1e9,
             100 * bench::median(reads) / bench::median(times));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  // M x N x K
  known<768, 768, 768>(o, "gemm_768x768x768");
  known<128, 3072, 768>(o, "gemm_128x3072x768");
  known<128, 768, 3072>(o, "gemm_128x768x3072");
  symbolic<768, 768>(o, "gemm_768x768x768", 768);
  symbolic<3072, 768>(o, "gemm_128x3072x768", 128);
  symbolic<768, 3072>(o, "gemm_128x768x3072", 128);
  known<128, 768, 768>(o, "bert_projection");
  known<197, 768, 768>(o, "vit_projection");
  known<197, 3072, 768>(o, "vit_mlp_up");
  known<197, 768, 3072>(o, "vit_mlp_down");
  known<1500, 384, 384>(o, "whisper_projection");
  known<3136, 96, 96>(o, "swin_projection");
  known<49, 32, 49>(o, "swin_attention_v");
  known<1, 3072, 768>(o, "gemv_3072x768");
  known<1, 10, 128>(o, "gemv_10x128");
  known<1024, 20, 144>(o, "narrow_20");
  known<1024, 24, 96>(o, "narrow_24");
  in_network<768, 768, 768>(o);
  in_network<128, 3072, 768>(o);
  in_network<128, 3072, 768, behind::gelu>(o);
  in_network<128, 768, 3072>(o);
  in_network<128, 768, 3072, behind::gelu>(o);
  in_network<197, 3072, 768>(o);
  in_network<197, 3072, 768, behind::gelu>(o);
  in_network<197, 768, 3072>(o);
  in_network<3136, 384, 96>(o);
  in_network<3136, 384, 96, behind::gelu>(o);
  one_row<3072, 768>(o);
  one_row<32000, 768>(o);
}
