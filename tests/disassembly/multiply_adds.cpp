// SPDX-License-Identifier: MIT
// Products and convolutions of many whole tiles, in panels of one to four vectors, with extents that are known and that
// are not: tests/disassembly/multiply_adds.sh reads their instructions. Prints the family of each kernel, and the rows
// and vectors of its tiles as they are planned. Exits with 77 for instruction sets without multiply-adds.
#include <dnnkit/graph.hpp>

#include <cstdint>
#include <cstdio>
#include <type_traits>

namespace {

namespace dk = dnnkit;

template <std::int64_t Rows, std::int64_t Depth, std::int64_t Columns> struct product {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("x", dk::f32, {Rows, Depth}), g.input("w", dk::f32, {Depth, Columns})));
  }
};
struct product_of_symbols {
  static constexpr void build(dk::builder& g) {
    const dk::sym m{"M", {1, 256}}, k{"K", {1, 256}}, n{"N", {1, 256}};
    g.output("y", dk::matmul(g.input("x", dk::f32, {m, k}), g.input("w", dk::f32, {k, n})));
  }
};
// Behind a pooling, so that its input lies channels last; with sums in one order, which are not Winograd's.
template <std::int64_t Channels, std::int64_t Taps> struct convolution {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 64, dk::sym{"H", {8, 64}}, dk::sym{"W", {8, 64}}});
    const dk::tensor pooled = dk::max_pool(x, {.kernel_shape = {2, 2}});
    g.output("y", dk::conv(pooled, g.input("w", dk::f32, {Channels, 64, Taps, Taps})));
  }
};

template <class Model> void show() {
  using net = dk::compile<Model>;
  const dk::session<net> session;  // so that the program has its kernels
  for (const dk::kernel_choice& c : net::choices)
    std::printf("%.*s %d %d\n", static_cast<int>(c.family.size()), c.family.data(), c.genes.rows, c.genes.vectors);
}

}  // namespace

int main() {
  if (std::is_same_v<dk::targets::native, dk::targets::sse2>) return 77;
  show<product<84, 256, 8>>();
  show<product<84, 256, 24>>();
  show<product<84, 256, 64>>();
  show<product<81, 1024, 144>>();
  show<product_of_symbols>();
  show<convolution<8, 3>>();
  show<convolution<24, 3>>();
  show<convolution<64, 3>>();
  show<convolution<48, 3>>();
  show<convolution<64, 1>>();
}
