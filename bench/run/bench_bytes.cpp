// SPDX-License-Identifier: MIT
// Products of bytes against the peak of one core's products of bytes: bench_bytes [part of a name] [--threads N], one
// JSON object a line, in which an operation is a multiplication or an addition.
#include <fmt/format.h>

#include <dnnkit/cpu/micro/byte_gemm.hpp>

#include "peak.hpp"

namespace {

using namespace dnnkit::cpu;

// 1e9 operations a second of independent sums in registers.
double peak_of_bytes() {
  constexpr int chains = 12;
  constexpr long rounds = 100'000;
  detail::native_ints sum[chains]{}, factor[chains]{}, x{};
  asm volatile("" : "+m"(x), "+m"(factor));
  const double begin = bench::thread_seconds();
  for (long k = 0; k < rounds; ++k) {
    if constexpr (!bytes_at_once) x ^= factor[0];  // so that no product is taken for the one of the round before
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) {
      if constexpr (bytes_at_once) sum[i] = isa::plus_products_of_bytes(sum[i], x, factor[i]);
      else sum[i] += detail::products_of_pairs(x, factor[i]);
    }
  }
  const double time = bench::thread_seconds() - begin;
  for (auto& s : sum) asm volatile("" : : "m"(s));
  return static_cast<double>(rounds) * chains * 2 * (bytes_at_once ? 4 : 2) * float_lanes / time / 1e9;
}

// The same of tile registers.
template <class Registers> double peak_of_tiles() {
  constexpr long rounds = 100'000;
  const byte_tiles_of<Registers> tiles(tile_height, tile_steps);
  const double begin = bench::thread_seconds();
  for (long k = 0; k < rounds; ++k) {
    Registers::template plus_products<0, 4, 6, false>();
    Registers::template plus_products<1, 4, 7, false>();
    Registers::template plus_products<2, 5, 6, false>();
    Registers::template plus_products<3, 5, 7, false>();
  }
  const double time = bench::thread_seconds() - begin;
  return static_cast<double>(rounds) * 4 * 2 * tile_height * float_lanes * tile_steps * bytes_a_step / time / 1e9;
}
template <bool Tiles> double peak() {
  if constexpr (Tiles) return peak_of_tiles<isa::tile_registers>();
  else return peak_of_bytes();
}

template <index_t M, index_t N, index_t K, byte_sign Sign = byte_sign::is_unsigned>
void product(const bench::options& o, const std::string& name) {
  if (!o.wants(name)) return;
  const byte_gemm<Sign, constant<M>, constant<N>, constant<K>> g{};
  std::vector<std::uint8_t> a(M * K);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(i * 37 % 251);
  std::vector<packed_byte> packed(static_cast<std::size_t>(g.packed_size()));
  const auto b_at = [](index_t k, index_t n) { return static_cast<std::int8_t>((k * 31 + n * 17) % 255 - 127); };
  g.pack(b_at, packed.data());
  std::vector<std::int32_t> c(M * N);
  const auto work = [&](index_t first, index_t last) {
    g.run(
        a.data(), packed.data(), first, last, [](index_t, index_t) { return int_vec(0); },
        [&](int_vec acc, index_t row, index_t column, auto lanes) {
          if constexpr (is_constant<decltype(lanes)>) acc.store(c.data() + row * N + column);
          else acc.store(c.data() + row * N + column, lanes);
        });
  };
  work(0, g.units());
  for (index_t sample = 0; sample < 200; ++sample) {
    const index_t i = sample * 7919 % M, j = sample * 104729 % N;
    std::int64_t want = 0;
    for (index_t l = 0; l < K; ++l) {
      const std::uint8_t x = a[static_cast<std::size_t>(i * K + l)];
      want += (Sign == byte_sign::is_signed ? static_cast<std::int8_t>(x) + added_to_bytes<Sign> : x) * b_at(l, j);
    }
    bench::expect_close(name, static_cast<double>(c[static_cast<std::size_t>(i * N + j)]), static_cast<double>(want),
                        0);
  }
  bench::report(o, name, fmt::format("{}x{}x{}", M, N, K), g.units(),
                2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K), work,
                &peak<in_tile_registers>);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  // M x N x K
  product<768, 768, 768>(o, "bytes_768x768x768");
  product<128, 768, 768>(o, "bert_projection");
  product<128, 3072, 768>(o, "bert_up");
  product<128, 768, 3072>(o, "bert_down");
  product<128, 3072, 768, byte_sign::is_signed>(o, "bert_up_signed");
  product<3136, 64, 256>(o, "resnet_256_64");
  product<3136, 256, 64>(o, "resnet_64_256");
  product<784, 512, 128>(o, "resnet_128_512");
  product<49, 512, 2048>(o, "resnet_2048_512");
  product<1, 3072, 768>(o, "gemv_3072x768");
}
