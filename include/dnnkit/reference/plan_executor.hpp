// SPDX-License-Identifier: MIT
// The plan executor: runs any finished plan at run time from the operators' scalar definitions, in the plan's own
// buffers: layouts, borders, tiles, offsets, guards, order. So every pass down to the memory plan is tested without
// compiling a kernel. A plan that reads what nobody wrote (of tile storage: what this tile has not), or
// what another buffer has overwritten, leaves a buffer, or hands over a border that is not clear is refused with
// dnnkit::error (reference/plan_storage.hpp), and so is one whose tables do not fit together (plan/verify_tables.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/plan/possible_steps.hpp"
#include "dnnkit/plan/verify_tables.hpp"
#include "dnnkit/reference/step_execution.hpp"

namespace dnnkit {

namespace detail {

class plan_execution {
 public:
  plan_execution(const plan_view& plan, const weight_source& weights, const definition_table& definitions)
      : weights_(weights), run_{plan, {}, {}, definitions} {
    if (!plan.error.empty()) throw error("there is no plan", "plan executor", {}, plan.error.str());
    if (const text wrong = tables_error(plan); !wrong.empty()) throw error(wrong.str(), "plan executor");
    run_.table = table_of(plan);
  }

  std::vector<host_tensor> run(const std::vector<const host_tensor*>& inputs) {
    const plan_view& plan = run_.plan;
    bind(inputs);
    const possible_steps possible(plan, run_.table, run_.symbols);
    plan_storage storage(plan, [&](const buffer& b) {
      if (!possible.uses(static_cast<std::size_t>(&b - plan.buffers.data()))) return std::int64_t{0};
      return run_.extent(b.elements) * static_cast<std::int64_t>(size_of(b.type.type));
    });
    storage_ = &storage;
    for (std::size_t i = 0; i < inputs.size(); ++i) fill(static_cast<std::size_t>(plan.inputs[i]), *inputs[i]);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) fill_constant(b);
    for (const step& s : plan.setup_steps) step_execution(run_, s, storage).run();
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (!is_taken(plan.steps[i])) continue;
      if (const std::int32_t reason = possible.reason_against(i); reason != none)
        throw possible.reasons()[static_cast<std::size_t>(reason)];
      run_step(plan.steps[i]);
    }
    std::vector<host_tensor> outputs;
    for (std::int32_t b : plan.results) outputs.push_back(contents(static_cast<std::size_t>(b)));
    return outputs;
  }

 private:
  std::string name_of(const buffer& b) const { return "'" + std::string(run_.plan.text_of(b.name)) + "'"; }

  void bind(const std::vector<const host_tensor*>& inputs) {
    const plan_view& plan = run_.plan;
    if (inputs.size() != plan.inputs.size())
      throw error("number of inputs differs", "plan executor", std::to_string(plan.inputs.size()),
                  std::to_string(inputs.size()));
    symbol_values symbols(run_.table);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const buffer& b = plan.buffers[static_cast<std::size_t>(plan.inputs[i])];
      symbols.bind(plan.declared_input(i), inputs[i]->dims, "input " + name_of(b));
    }
    symbols.check_assumed();
    run_.symbols = symbols.all();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const buffer& b = plan.buffers[static_cast<std::size_t>(plan.inputs[i])];
      check(*inputs[i], b, "input " + name_of(b));
    }
  }
  void check(const host_tensor& t, const buffer& b, const std::string& culprit) const {
    const host_tensor expected(b.type.type, run_.extents(b.type.dims));
    if (t.type != expected.type || t.dims != expected.dims)
      throw error("shape or element type differs", culprit, expected.describe(), t.describe());
  }

  // Buffers outside the arena are row-major, without borders.
  void fill(std::size_t b, const host_tensor& t) {
    for (std::size_t i = 0; i < t.count(); ++i) storage_->write(b, static_cast<std::int64_t>(i), t, i);
  }
  host_tensor contents(std::size_t b) {
    const buffer& x = run_.plan.buffers[b];
    host_tensor t(x.type.type, run_.extents(x.type.dims));
    for (std::size_t i = 0; i < t.count(); ++i) storage_->read(b, static_cast<std::int64_t>(i), t, i);
    return t;
  }
  void fill_constant(std::size_t b) {
    const buffer& x = run_.plan.buffers[b];
    if (x.where == storage::weight) {
      const host_tensor t = weights_(run_.plan.text_of(x.name));
      check(t, x, "weight " + name_of(x));
      fill(b, t);
    } else if (x.where == storage::constant) {
      host_tensor t(x.type.type, run_.extents(x.type.dims));
      if (x.data.count != 1 && x.data.count != t.count())
        throw error("number of elements differs", "constant " + name_of(x), std::to_string(t.count()),
                    std::to_string(x.data.count));
      for (std::size_t i = 0; i < t.count(); ++i) {
        const std::int64_t code = run_.plan.constants[x.data.first + (x.data.count == 1 ? 0 : i)];
        if (t.floating()) t.reals[i] = round_to(t.type, std::bit_cast<double>(code));
        else t.integers[i] = wrap_to(t.type, code);
      }
      fill(b, t);
    }
  }

  // Do the conditions hold on which a step runs? An outer one is looked at before those that only it lets be computed.
  bool is_taken(const step& s) {
    const auto guards = run_.plan.numbers_of(s.guards);
    for (std::size_t k = 0; k < guards.size(); k += 2) {
      const auto b = static_cast<std::size_t>(guards[k]);
      host_tensor condition(run_.plan.buffers[b].type.type, {1});
      storage_->read(b, 0, condition, 0);
      if (condition.get<bool>(0) != (guards[k + 1] != 0)) return false;
    }
    return true;
  }

  void run_step(const step& s) {
    for (std::int32_t n : run_.plan.numbers_of(s.borders)) clear_border(static_cast<std::size_t>(n));
    if (run_.plan.recipes[s.kernel].earlier.count != 0) run_stages(s);
    else step_execution(run_, s, *storage_).run();
  }
  // Tile by tile, each stage in turn; what the tile before has left in tile storage is nobody's.
  void run_stages(const step& s) {
    const plan_view& plan = run_.plan;
    const recipe& last = plan.recipes[s.kernel];
    std::vector<step_execution> stages;
    for (std::size_t i = 0; i < plan.stages_of(last); ++i)
      stages.emplace_back(run_, s, plan.stage_of(last, i), *storage_);
    const std::vector<std::int64_t> space = stages.back().space();
    stage_tile current;
    std::vector<std::int64_t> tiles;
    for (std::size_t d = 0; d < space.size(); ++d) {
      const std::int64_t positions = plan.numbers_of(last.tile)[d];
      current.positions.push_back(positions);
      tiles.push_back(positions == 0 ? 1 : (space[d] + positions - 1) / positions);
    }
    for_coordinates(tiles, [&](const coordinates& number, std::size_t) {
      current.first.clear();
      for (std::size_t d = 0; d < space.size(); ++d) current.first.push_back(number[d] * current.positions[d]);
      for (std::int32_t b : plan.numbers_of(s.operands))
        if (plan.buffers[static_cast<std::size_t>(b)].where == storage::tiles)
          storage_->forget(static_cast<std::size_t>(b));
      for (step_execution& stage : stages) stage.run(current);
    });
  }
  void clear_border(std::size_t number) {
    const buffer& b = run_.plan.buffers[number];
    const std::vector<std::int64_t> interior = run_.extents(b.type.dims);
    const host_tensor zero(b.type.type, {1});
    std::int64_t stride = 1;
    coordinates strides{};
    for (std::size_t level = b.layout.order.size(); level-- > 0;) {
      const std::size_t d = b.layout.order[level];
      strides[d] = stride;
      stride *= interior[d] + b.layout.before[d] + b.layout.after[d];
    }
    for_border(b, interior, [&](const coordinates& c) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < interior.size(); ++d) at += (c[d] + b.layout.before[d]) * strides[d];
      storage_->write(number, at, zero, 0);
    });
  }

  const weight_source& weights_;
  plan_run run_;
  plan_storage* storage_ = nullptr;
};

}  // namespace detail

// The results of a plan, in its order, for `inputs` in its order. Symbols take their values from the inputs' shapes.
// Throws dnnkit::error for inputs and weights as evaluate() does, for an operator that is not in Set, and for a plan
// that does not keep to its own buffers, with the step or the buffer.
template <class Set = builtin_set>
[[nodiscard]] std::vector<host_tensor> execute(const plan_view& plan, const std::vector<host_tensor>& inputs,
                                               const weight_source& weights = no_weights()) {
  std::vector<const host_tensor*> pointers;
  for (const host_tensor& t : inputs) pointers.push_back(&t);
  return detail::plan_execution(plan, weights, {Set::size, &Set::find, detail::evaluation_table<Set>::entries()})
      .run(pointers);
}

}  // namespace dnnkit
