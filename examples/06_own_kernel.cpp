// SPDX-License-Identifier: MIT
// Example 6: an operator and a family of kernels that are not the library's. The operator's definition makes it work
// everywhere, one element after the other; the family computes it in vectors, and in pieces that threads may share.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"

namespace dk = dnnkit;
using dk::plan::operator_tag, dk::plan::source;

// An operator: a spectrum smoothed over time. y[t] = y[t - 1] + share * (x[t] - y[t - 1]), where y[-1] = 0; a row of
// the matrix is a point in time.
struct smoothed {
  float share = 0.1f;

  static constexpr std::string_view name = "Smoothed";
  static constexpr dk::form kind = dk::form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr dk::traits properties{.map = dk::mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { visit("share", self.share); }

  constexpr void infer(dk::inference& c) const {
    if (c.require_rank(0, 2, 2)) c.out(c.type(0), c.in(0));
  }
  template <class C> void compute(const C& c, auto y, auto x) const {
    const std::int64_t rows = c.in(0, 0), columns = c.in(0, 1);
    for (std::int64_t n = 0; n < columns; ++n) {
      float level = 0;
      for (std::int64_t t = 0; t < rows; ++t) {
        level += share * (x[t * columns + n] - level);
        y.store(t * columns + n, level);
      }
    }
  }
};

// Its kernels for row-major matrices of known extents.
struct smoothing_in_vectors {
  static constexpr std::string_view name = "smoothing_in_vectors";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == dk::id_of<smoothed>; }

  // Asked about every one, in the compiler: what the kernel does and is expected to take, or why it cannot be had.
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    if (spec.anchor_type() != dk::dtype::f32) return dk::no_match{"the elements are not 32-bit floats"};
    if (!spec.space(0).is_known() || !spec.space(1).is_known()) return dk::no_match{"an extent is a symbol"};
    if (spec.input(0).from != source::load || spec.outputs() != 1 || spec.output(0).value.from != source::anchor)
      return dk::no_match{"something else is computed on the way"};
    const auto lies_in_rows = [&](const auto& view) {
      return view.offset == 0 && dk::cpu::is_row_major(spec, view, 2, [&](std::size_t d) { return spec.space(d); });
    };
    if (!lies_in_rows(spec.load(spec.input(0).index)) || !lies_in_rows(spec.output(0)))
      return dk::no_match{"a matrix is not row-major"};
    dk::kernel_choice choice;
    choice.operands = {dk::operand_reading::in_place};
    choice.tile = {.along = 1, .lanes = static_cast<std::uint8_t>(facts.float_lanes)};
    choice.cost = dk::estimate(facts, {.vectors = 4 * spec.elements() / facts.float_lanes, .bytes = spec.bytes()});
    choice.reason = "columns that lie side by side are smoothed in vectors";
    return choice;
  }

  // What is compiled where the family is chosen. Units of work are vectors of columns.
  template <class Net, std::size_t R> struct kernel {
    using vector = dk::cpu::float_vec;
    static constexpr dk::kernel_spec spec{Net::plan, R};
    static constexpr std::ptrdiff_t rows = spec.space(0).value(), columns = spec.space(1).value();
    static constexpr float share = spec.anchor<smoothed>().share;

    static std::ptrdiff_t units(const dk::cpu::kernel_call&) noexcept {
      return (columns + vector::lanes - 1) / vector::lanes;
    }
    static void run(const dk::cpu::kernel_call& call, std::ptrdiff_t first, std::ptrdiff_t last) noexcept {
      const auto* x = reinterpret_cast<const float*>(call.operands[spec.load(spec.input(0).index).operand]);
      auto* y = reinterpret_cast<float*>(call.operands[spec.output(0).operand]);
      for (std::ptrdiff_t n = first * vector::lanes; n < last * vector::lanes; n += vector::lanes) {
        const std::ptrdiff_t width = std::min<std::ptrdiff_t>(vector::lanes, columns - n);
        vector level(0);
        for (std::ptrdiff_t t = 0; t < rows; ++t) {
          level = level + vector(share) * (vector::load(x + t * columns + n, width) - level);
          level.store(y + t * columns + n, width);
        }
      }
    }
  };
};

struct model {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<smoothed>{};
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::apply(smoothed{.share = 0.25f}, g.input("x", dk::f32, {1000, 257})));
  }
};
struct model_with_family : model {
  static constexpr auto families = dk::cpu::default_families + dk::family_list<smoothing_in_vectors>{};
};

// The family is chosen where it matches and nothing is expected to be faster.
using usual = dk::compile<model>;
using own = dk::compile<model_with_family>;
static_assert(usual::choices[0].family == "whole_operator");
static_assert(own::choices[0].family == smoothing_in_vectors::name);
static_assert(own::choices[0].cost.cycles < usual::choices[0].cost.cycles / 5);

using spectrum = std::vector<float>;

// The smoothed spectrum, and the microseconds that it takes.
template <class Net> double run(const spectrum& x, spectrum& y) {
  constexpr int times = 20;
  dk::session<Net> session;
  session.run(x, y);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) session.run(x, y);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / times;
}

int main() try {
  spectrum x(1000 * 257), expected(x.size()), found(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 201) - 100;
  std::cout << "by the operator's definition: " << run<usual>(x, expected) << " us\n";
  std::cout << "by the family of this file: " << run<own>(x, found) << " us\n";
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::abs(found[i] - expected[i]) > 1e-4f) {
      std::cerr << "the two do not agree\n";
      return 1;
    }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
