// SPDX-License-Identifier: MIT
// The checks of plan_checks.hpp.
#include "tests/support/plan_checks.hpp"

#include <algorithm>
#include <set>

#include "dnnkit/graph/walk.hpp"

namespace harness {

namespace dk = dnnkit;

namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

class plan_check {
 public:
  plan_check(const dk::plan_draft& plan, const std::vector<std::int64_t>& values) : p_(plan), values_(values) {
    table_.symbols = plan.symbols;
    table_.atoms = plan.atoms;
    table_.polynomials = plan.polynomials;
  }

  std::string run() {
    for (const dk::buffer& b : p_.buffers) check_buffer(b);
    for (const dk::step& s : p_.setup_steps) check_step(s, true);
    std::int32_t number = 0;
    first_.assign(p_.buffers.size(), -1);
    last_.assign(p_.buffers.size(), -1);
    for (const dk::step& s : p_.steps) {
      check_step(s, false);
      note_lifetimes(s, number++);
    }
    if (p_.is_static) check_arena();
    for (std::int32_t b : p_.results)
      if (p_.buffers[index(b)].where != dk::storage::output) fail("an output of the graph is not the caller's buffer");
    return error_;
  }

 private:
  void fail(const std::string& message) {
    if (error_.empty()) error_ = message;
  }
  std::int64_t value(dk::dim d) {
    if (d.is_unknown()) fail("an unknown dimension in the plan");
    return d.is_unknown() ? 0 : table_.evaluate(d, values_.data());
  }

  void check_buffer(const dk::buffer& b) {
    const std::size_t rank = b.type.dims.size();
    std::set<int> order;
    bool row_major = true, border = false;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < b.layout.order.size(); ++i) {
      order.insert(b.layout.order[i]);
      row_major = row_major && b.layout.order[i] == i;
    }
    if (order.size() != rank || b.layout.order.size() != rank || (rank > 0 && *order.rbegin() != int(rank) - 1))
      return fail("a layout that is no permutation");
    for (std::size_t d = 0; d < rank; ++d) {
      border = border || b.layout.before[d] + b.layout.after[d] > 0;
      elements *= value(b.type.dims[d]) + b.layout.before[d] + b.layout.after[d];
    }
    if (elements != value(b.elements)) fail("a buffer's elements are not those of its dimensions and border");
    if (b.where != dk::storage::arena && (border || !row_major)) fail("a border or a layout outside the arena");
  }

  void check_step(const dk::step& s, bool setup) {
    if (s.kernel >= p_.recipes.size()) return fail("a step without a recipe");
    const dk::recipe& r = p_.recipes[s.kernel];
    const auto operands = p_.numbers_of(s.operands);
    const auto extents = p_.dims_of(s.extents);
    extents_.clear();
    for (dk::dim d : extents) extents_.push_back(value(d));
    for (std::int32_t b : operands) {
      if (b < 0 || index(b) >= p_.buffers.size()) return fail("an operand that is no buffer");
      const dk::storage where = p_.buffers[index(b)].where;
      if (setup && where != dk::storage::setup && where != dk::storage::weight && where != dk::storage::constant)
        fail("a setup step with an operand of the run");
    }
    for (std::uint32_t i = 0; i < r.outputs.count; ++i) {
      const dk::recipe_output& o = p_.outputs[r.outputs.first + i];
      check_ref(r, o.value, r.space, operands);
      if (o.operand >= operands.size()) return fail("an output without an operand");
      const dk::buffer& b = p_.buffers[index(operands[o.operand])];
      if (b.where == dk::storage::weight || b.where == dk::storage::constant || b.where == dk::storage::input)
        fail("a kernel writes to a buffer that is only read");
      if (o.type != b.type.type) fail("an output of another type than its buffer");
      check_view(o.axes, o.offset, r.space, b);
    }
    for (std::uint32_t i = 0; i < r.anchor_inputs.count; ++i)
      if (const dk::operand_ref ref = p_.refs[r.anchor_inputs.first + i]; ref.from != dk::source::nothing)
        check_ref(r, ref, p_.shapes[r.anchor_shapes.first + i], operands);
  }

  std::int64_t local(dk::dim d) {
    if (d.is_known()) return d.value();
    if (d.is_unknown() || d.expression() >= extents_.size()) {
      fail("a recipe's dimension that is none of its step's extents");
      return 0;
    }
    return extents_[d.expression()];
  }
  std::vector<std::int64_t> local_shape(dk::slice_of s) {
    std::vector<std::int64_t> r;
    for (dk::dim d : p_.dims_of(s)) r.push_back(local(d));
    return r;
  }

  // A value read in coordinates of the given shape.
  void check_ref(const dk::recipe& r, dk::operand_ref ref, dk::slice_of space, std::span<const std::int32_t> operands) {
    if (ref.from == dk::source::load) {
      if (ref.index >= r.loads.count) return fail("a load out of range");
      const dk::recipe_load& l = p_.loads[r.loads.first + ref.index];
      if (l.operand >= operands.size()) return fail("a load without an operand");
      const dk::buffer& b = p_.buffers[index(operands[l.operand])];
      if (l.type != b.type.type) fail("a load of another type than its buffer");
      if (l.movement.count > 0) {
        const auto steps = std::span(p_.movement).subspan(l.movement.first, l.movement.count);
        if (local_shape(steps[0].out_shape) != local_shape(space)) fail("movement that begins in other coordinates");
        for (std::size_t i = 0; i + 1 < steps.size(); ++i)
          if (local_shape(steps[i].in_shape) != local_shape(steps[i + 1].out_shape))
            fail("movement whose steps do not follow each other");
        space = steps.back().in_shape;
      }
      check_view(l.axes, l.offset, space, b);
    } else if (ref.from == dk::source::node) {
      if (ref.index >= r.nodes.count) return fail("a node out of range");
      const dk::recipe_node& n = p_.nodes[r.nodes.first + ref.index];
      for (dk::operand_ref in : p_.refs_of(n.inputs)) {
        if (in.from == dk::source::node && in.index >= ref.index) return fail("nodes that are not in order");
        check_ref(r, in, space, operands);
      }
    } else if (ref.from == dk::source::constant) {
      if (ref.index >= r.constants.count) fail("a constant out of range");
    } else if (ref.from == dk::source::anchor) {
      if (r.anchor.id == dk::operator_id::none) fail("a result of an anchor that is not there");
    } else fail("an operand that is left out");
  }

  // Axes of one dimension together have its extent, and all positions lie in the buffer.
  void check_view(dk::slice_of axes, dk::dim offset, dk::slice_of space, const dk::buffer& b) {
    const std::vector<std::int64_t> shape = local_shape(space);
    std::vector<std::int64_t> covered(shape.size(), 1);
    std::int64_t low = local(offset), high = low;
    bool empty = false;
    for (const dk::view_axis& a : p_.axes_of(axes)) {
      if (a.of >= shape.size()) return fail("an axis beyond the coordinates");
      covered[a.of] *= local(a.size);
      const std::int64_t way = (local(a.size) - 1) * local(a.stride);
      (way < 0 ? low : high) += way;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      empty = empty || shape[d] == 0;
      if (covered[d] != 1 && covered[d] != shape[d]) fail("axes that do not cover their dimension");
    }
    if (!empty && (low < 0 || high >= value(b.elements))) fail("a view that leaves its buffer");
  }

  void note_lifetimes(const dk::step& s, std::int32_t now) {
    for (std::int32_t b : p_.numbers_of(s.operands)) {
      if (first_[index(b)] < 0) first_[index(b)] = now;
      last_[index(b)] = now;
    }
    const auto guards = p_.numbers_of(s.guards);
    for (std::size_t k = 0; k < guards.size(); k += 2) {
      const std::int32_t b = guards[k];
      const dk::buffer& x = p_.buffers[index(b)];
      if (x.type.type != dk::dtype::boolean || value(x.elements) != 1) fail("a guard that is not one boolean");
      if (x.where == dk::storage::arena && (first_[index(b)] < 0 || first_[index(b)] >= now))
        fail("a guard that is not known yet");
      last_[index(b)] = now;
    }
  }
  void check_arena() {
    const auto bytes = [](const dk::buffer& b) {
      return b.elements.value() * static_cast<std::int64_t>(dk::size_of(b.type.type));
    };
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const dk::buffer& a = p_.buffers[i];
      if (a.where != dk::storage::arena) continue;
      if (first_[i] < 0) fail("a buffer that no step uses");
      if (a.offset < 0 || a.offset % 64 != 0 || a.offset + bytes(a) > p_.arena_bytes)
        fail("a buffer outside the arena");
      for (std::size_t j = 0; j < i; ++j) {
        const dk::buffer& b = p_.buffers[j];
        if (b.where != dk::storage::arena || last_[i] < first_[j] || last_[j] < first_[i]) continue;
        if (a.offset < b.offset + bytes(b) && b.offset < a.offset + bytes(a)) fail("live buffers that overlap");
      }
    }
  }

  const dk::plan_draft& p_;
  const std::vector<std::int64_t>& values_;
  dk::symbol_table table_;
  std::vector<std::int64_t> extents_;
  std::vector<std::int32_t> first_, last_;
  std::string error_;
};

}  // namespace

std::string fusion_error(const dk::graph& g, const dk::fusion_plan& fusion) {
  std::vector<bool> stored(g.values.size(), false), covered(g.nodes.size(), false);
  for (std::size_t v = 0; v < g.values.size(); ++v) stored[v] = g.values[v].from != dk::origin::node;
  for (const dk::fusion_group& group : fusion.groups) {
    const std::set<dk::node_id> members(group.nodes.begin(), group.nodes.end());
    const auto name = [&] { return " (kernel of " + std::string(g.text_of(g.node_at(group.nodes.back()).name)) + ")"; };
    if (group.nodes.empty() || group.outputs.empty()) return "a kernel without nodes or without outputs";
    std::size_t anchors = 0;
    for (dk::node_id n : group.nodes) {
      covered[index(n)] = true;
      const dk::form kind = g.node_at(n).op->kind;
      anchors += kind != dk::form::elementwise && kind != dk::form::movement;
      for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i) {
        dk::value_id v = g.input_of(g.node_at(n), i);
        // a movement operator that is nowhere stored is looked through
        while (v != dk::none && !stored[index(v)] && !members.contains(g.at(v).producer) &&
               g.node_at(g.at(v).producer).op->kind == dk::form::movement)
          v = g.input_of(g.node_at(g.at(v).producer), 0);
        if (v != dk::none && !stored[index(v)] && !members.contains(g.at(v).producer))
          return "an operand that is not stored yet" + name();
      }
    }
    if (anchors > 1) return "two anchors in a kernel" + name();
    for (dk::value_id v : group.outputs) {
      if (!members.contains(g.at(v).producer)) return "an output that is not computed" + name();
      if (stored[index(v)]) return "a value that is stored twice" + name();
      stored[index(v)] = true;
    }
  }
  const auto alive = dk::live_nodes(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n] != 0 && !covered[n] && g.nodes[n].op->kind != dk::form::movement)
      return "no kernel computes " + std::string(g.text_of(g.nodes[n].name));
  for (dk::value_id v : g.outputs)
    if (!stored[index(v)]) return "an output of the graph is not stored";
  return {};
}

std::string plan_error(const dk::plan_draft& plan, const std::vector<std::int64_t>& symbols) {
  return plan_check(plan, symbols).run();
}

}  // namespace harness
