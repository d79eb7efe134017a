// SPDX-License-Identifier: MIT
// Example 6: a family of kernels that is not the library's. The library multiplies matrices of 32-bit floats in panels
// and vectors; products of integers go by the operator's definition, one by one, until this family takes them over.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"

namespace dk = dnnkit;
using dk::plan::operator_tag, dk::plan::recipe_load, dk::plan::source;

// y[m][n] = sum over k of a[m][k] * b[k][n], all of i32, row-major and of known extents.
struct integer_product {
  static constexpr std::string_view name = "integer_product";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == dk::id_of<dk::op::matmul>; }

  // Asked about every product, in the compiler: what the kernel does and is expected to take, or why it cannot be had.
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    if (spec.anchor_type() != dk::dtype::i32) return dk::no_match{"the elements are not 32-bit integers"};
    if (spec.rank() != 2) return dk::no_match{"there is more than one product"};
    for (std::size_t i = 0; i < 2; ++i) {
      if (spec.input(i).from != source::load) return dk::no_match{"a factor is computed from others on the way"};
      const recipe_load& l = spec.load(spec.input(i).index);
      if (!l.whole || !spec.extent_of(i, 0).is_known() || !spec.extent_of(i, 1).is_known())
        return dk::no_match{"a factor is not a whole matrix of known extents"};
      if (spec.stride_along(l.axes, 1).stride != 1) return dk::no_match{"a factor is not row-major"};
    }
    if (spec.outputs() != 1 || spec.output(0).value.from != source::anchor)
      return dk::no_match{"something is computed from the product on the way"};
    dk::kernel_choice choice;
    choice.operands = {dk::operand_reading::in_place, dk::operand_reading::in_place};
    choice.tile = {.along = 1, .lanes = static_cast<std::uint8_t>(facts.float_lanes)};
    const double products = spec.elements() * static_cast<double>(spec.extent_of(0, 1).value());
    choice.cost = dk::estimate(facts, {.vectors = 2 * products / facts.float_lanes, .bytes = spec.bytes()});
    choice.reason = "rows of the second factor are added up in vectors";
    return choice;
  }

  // What is compiled where the family is chosen. Units of work are rows of the product.
  template <class Net, std::size_t R> struct kernel {
    static constexpr dk::kernel_spec spec{Net::plan, R};
    static constexpr std::size_t rows = spec.extent_of(0, 0).value(), depth = spec.extent_of(0, 1).value(),
                                 columns = spec.extent_of(1, 1).value();
    static constexpr std::size_t operand_of_a = spec.load(spec.input(0).index).operand,
                                 operand_of_b = spec.load(spec.input(1).index).operand,
                                 operand_of_y = spec.output(0).operand;

    static std::ptrdiff_t units(const dk::cpu::kernel_call&) noexcept { return rows; }

    static void run(const dk::cpu::kernel_call& call, std::ptrdiff_t first, std::ptrdiff_t last) noexcept {
      const auto* a = reinterpret_cast<const std::uint32_t*>(call.operands[operand_of_a]);  // sums wrap around
      const auto* b = reinterpret_cast<const std::uint32_t*>(call.operands[operand_of_b]);
      auto* y = reinterpret_cast<std::uint32_t*>(call.operands[operand_of_y]);
      for (std::ptrdiff_t m = first; m < last; ++m) {
        std::array<std::uint32_t, columns> sums{};
        for (std::size_t k = 0; k < depth; ++k)
          for (std::size_t n = 0; n < columns; ++n) sums[n] += a[m * depth + k] * b[k * columns + n];
        std::copy(sums.begin(), sums.end(), y + m * columns);
      }
    }
  };
};

struct model {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("a", dk::i32, {128, 256}), g.input("b", dk::i32, {256, 192})));
  }
};
struct model_with_family : model {
  static constexpr auto families = dk::cpu::default_families + dk::family_list<integer_product>{};
};
struct model_of_floats {
  static constexpr auto families = model_with_family::families;
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("a", dk::f32, {128, 256}), g.input("b", dk::f32, {256, 192})));
  }
};

// The family is chosen where it matches and nothing is expected to be faster.
using usual = dk::compile<model>;
using own = dk::compile<model_with_family>;
static_assert(usual::choices[0].family == "by_point");
static_assert(own::choices[0].family == integer_product::name);
static_assert(own::choices[0].cost.cycles < usual::choices[0].cost.cycles / 10);
static_assert(dk::compile<model_of_floats>::choices[0].family == "matrix_product");

using matrix = std::vector<std::int32_t>;

// The product, and the microseconds that one takes.
template <class Net> double run(const matrix& a, const matrix& b, matrix& y) {
  constexpr int times = 20;
  dk::session<Net> session;
  session.run(a, b, y);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) session.run(a, b, y);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / times;
}

int main() try {
  matrix a(128 * 256), b(256 * 192), expected(128 * 192), found(128 * 192);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(i * 7919 % 201) - 100;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int32_t>(i * 104729 % 301) - 150;
  std::cout << "by the operator's definition: " << run<usual>(a, b, expected) << " us\n";
  std::cout << "by the family of this file: " << run<own>(a, b, found) << " us\n";
  if (found != expected) {
    std::cerr << "the two do not agree\n";
    return 1;
  }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
