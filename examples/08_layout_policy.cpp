// SPDX-License-Identifier: MIT
// Example 8: a policy for layouts, from the idea to the measured effect.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/inspect/compare_plans.hpp"

namespace dk = dnnkit;

// 512 positions with 64 features each, normalised along the features; three readers go along the positions.
struct model {
  static constexpr void build(dk::builder& g) {
    const auto a = dk::softmax(g.input("x", dk::f32, {8, 512, 64}), {.axis = 2});
    const auto across = dk::transpose(a, {.perm = {0, 2, 1}});
    g.output("sharp", dk::softmax(across * 512.0f, {.axis = 2}));
    g.output("soft", dk::softmax(across, {.axis = 2}));
    g.output("inverse", dk::softmax(1.0f - across, {.axis = 2}));
  }
};

// The idea (SmartMem, section 3.2.2): a value is stored so that elements lie side by side along the dimension that its
// readers reduce over, here from as many readers on as make up for storing it across. A pass: it runs in the place of
// the library's selection, and says in what order coordinates of the values that are stored lie, outermost first.
struct along_reductions {
  static constexpr std::string_view name = "along reductions";
  static constexpr int enough_readers = 2;

  static constexpr void run(dk::schedule& s) {
    s.layouts = dk::row_major_layouts(s.g);
    dk::vector<int> readers(s.g.values.size() * dk::max_rank, 0);  // of each value, along each of its dimensions
    for (const dk::plan::fusion_group& group : s.fusion.groups)
      if (group.anchor != dk::none && !group.setup) count(s.g, s.g.node_at(group.anchor), readers);
    for (std::size_t v = 0; v < s.g.values.size(); ++v)
      for (std::size_t d = 0; d < s.layouts[v].order.size(); ++d)
        if (readers[v * dk::max_rank + d] >= enough_readers) put_last(s.layouts[v].order, d);
  }

 private:
  // Operators say what they need of their operands: all of which dimension, of operand 0 (operator/footprint.hpp).
  static constexpr void count(dk::graph& g, const dk::node anchor, dk::vector<int>& readers) {
    if (anchor.inputs.count != 1) return;
    const dk::footprint needs = g.footprint_of(anchor, 0);
    for (std::size_t d = 0; d < needs.axes.size(); ++d) {
      std::size_t along = d;
      const dk::value_id v = stored(g, g.input_of(anchor, 0), along);
      if (needs.axes[d] == dk::needs::whole && g.at(v).from == dk::origin::node) ++readers[v * dk::max_rank + along];
    }
  }
  // What is read as v: behind Transposes and operators on single elements, where dimension `along` is another.
  static constexpr dk::value_id stored(dk::graph& g, dk::value_id v, std::size_t& along) {
    for (dk::node_id p = g.at(v).producer; p != dk::none; p = g.at(v).producer) {
      const dk::node& n = g.node_at(p);
      if (g.is<dk::op::transpose>(n)) along = static_cast<std::size_t>(g.as<dk::op::transpose>(n).perm[along]);
      else if (n.op->kind != dk::form::elementwise) break;
      const dk::shape now = g.at(v).type.dims;
      dk::value_id from = dk::none;  // the operand that is not broadcast
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (g.at(g.input_of(n, i)).type.dims.size() == now.size()) from = g.input_of(n, i);
      if (from == dk::none) break;
      v = from;
    }
    return v;
  }
  static constexpr void put_last(auto& order, std::size_t d) {
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] == d) order.erase(k), order.push_back(static_cast<std::uint8_t>(d));
  }
};

// Without any selection all values are row-major. The library's finds a third way here: a second copy of the value.
template <class... Passes>
using with =
    dk::compile<model, dk::targets::native, dk::replaced<dk::default_pipeline, dk::passes::select_layouts, Passes...>>;
using plain = with<>;
using chosen = with<along_reductions>;
using usual = dk::compile<model>;

struct results {
  std::vector<float> sharp, soft, inverse;
  results() : sharp(8 * 64 * 512), soft(sharp), inverse(sharp) {}
};

// The least microseconds that a run takes.
template <class Net> double run(const std::vector<float>& x, results& y) {
  dk::session<Net> session;
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    session.run(x, y.sharp, y.soft, y.inverse);
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int main() try {
  std::vector<float> x(8 * 512 * 64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 201) * 0.05f - 5;
  std::cout << dk::compare_plans<plain, chosen>().str() << '\n';
  results expected, found, others;
  std::cout << "row-major: " << run<plain>(x, expected) << " us\n";
  std::cout << "the policy's layouts: " << run<chosen>(x, found) << " us\n";
  std::cout << "the library's layouts: " << run<usual>(x, others) << " us\n";
  double worst = 0;
  for (const auto of : {&results::sharp, &results::soft, &results::inverse})
    for (std::size_t i = 0; i < (expected.*of).size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>((found.*of)[i]) - static_cast<double>((expected.*of)[i])));
  std::cout << "largest difference: " << worst << '\n';
  if (!(worst < 1e-5)) {
    std::cerr << "the policy changes what the network computes\n";
    return 1;
  }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
