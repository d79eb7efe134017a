// SPDX-License-Identifier: MIT
// What the passes made of a model and why, as one JSON object for programs to read: kernels, decisions, by the numbers
// of the kernels that their operators ended in, extents that are assumed to be equal, totals. What is not known is
// null; a size that symbols decide is a text, the expression. Predicted times are those of one run on one core, in
// microseconds for the clock that the target's facts assume (cost/coefficients.hpp) and in cycles; extents that symbols
// decide count in them as typical ones.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/inspect/json_writer.hpp"
#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/inspect/plan_figures.hpp"
#include "dnnkit/plan/kernel_spec.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

namespace detail {

class json_explanation {
 public:
  explicit json_explanation(logged_network& net) : net_(net), plan_(net.plan()), sizes_(net.in_numbers()) {}

  std::string run() {
    json_.object([&] {
      json_.key("kernels");
      json_.array([&] {
        for (const kernel& k : net_.setup_kernels()) add_kernel(k);
        for (const kernel& k : net_.kernels()) add_kernel(k);
      });
      json_.key("decisions");
      json_.array([&] {
        for (const decision& d : plan_.decisions) add_decision(d);
      });
      json_.key("assumed");
      json_.array([&] {
        for (const assumption& a : plan_.assumptions) add_assumption(a, {});
        for (const guarded_assumption& a : plan_.branch_assumptions) add_assumption(a.assumed, a.guards);
      });
      json_.key("totals");
      json_.object([&] { write_figures(json_, sizes_, figures_of(net_)); });
    });
    return json_.take() + "\n";
  }

 private:
  void add_assumption(const assumption& a, slice_of guards) {
    json_.object([&] {
      json_.member("left", sizes_.expression(a.left));
      json_.member("relation", sign_of(a.is));
      json_.member("right", sizes_.expression(a.right));
      json_.member("for", a.needed_by.view());
      if (guards.count != 0) json_.member("where", conditions_of(plan_, guards));
    });
  }
  using kernel = logged_network::kernel;

  void member(std::string_view name, dim d) { detail::member(json_, sizes_, name, d); }
  void operators(std::string_view name, std::span<const node_id> nodes) {
    json_.key(name);
    json_.array([&] {
      for (node_id n : nodes) add_operator(n);
    });
  }
  void add_operator(node_id n) {
    const logged_node& x = net_.node_at(n);
    json_.object([&] {
      json_.member("operator", x.op.name);
      json_.member("name", plan_.text_of(x.name));
    });
  }

  // The same with the number of the kernel that it ended in: that which stores its result, else the last of those that
  // compute it.
  void add_operator_of_kernel(node_id n) {
    const logged_node& x = net_.node_at(n);
    json_.object([&] {
      json_.member("operator", x.op.name);
      json_.member("name", plan_.text_of(x.name));
      json_.key("kernel");
      if (x.home == none) json_.null();
      else json_.value(x.home);
    });
  }

  // --- kernels
  void add_kernel(const kernel& k) {
    const kernel_choice* const choice = net_.choice_of(k);
    json_.object([&] {
      json_.member("number", number_++);
      json_.member("name", plan_.text_of(k.runs.name));
      json_.member("setup", k.setup);
      json_.text_or_null("runs_only_if", conditions_of(plan_, k.runs.guards));
      json_.key("stages");
      json_.array([&] {
        for (const logged_stage& s : net_.stages_of(k)) add_stage(s);
      });
      json_.text_or_null("family", choice == nullptr ? std::string_view() : choice->family);
      json_.key("operands");
      json_.array([&] {
        for (std::int32_t b : net_.operands(k.runs, false)) add_operand(k, b, choice, false);
        for (std::int32_t b : net_.operands(k.runs, true)) add_operand(k, b, choice, true);
      });
      json_.key("tile");
      if (choice == nullptr && plan_.recipes[k.runs.kernel].tile.count == 0) json_.null();
      else
        json_.object([&] {
          if (choice != nullptr) add_tile(choice->tile);
          add_stage_tile(k);
        });
      json_.member("layout", describe(net_.buffer_at(net_.operands(k.runs, true)[0]).layout));
      member("flops", k.runs.flops);
      member("bytes", sizes_.sum(k.log.bytes_read, k.log.bytes_written));
      member("bytes_read", k.log.bytes_read);
      member("bytes_written", k.log.bytes_written);
      json_.key("predicted_time");
      if (choice == nullptr) json_.null();
      else add_cost(choice->cost);
      json_.text_or_null("reason", choice == nullptr ? std::string_view() : choice->reason);
      json_.key("alternatives");
      if (choice == nullptr) json_.null();
      else json_.array([&] { add_alternatives(*choice); });
    });
  }

  void add_stage(const logged_stage& s) {
    json_.object([&] {
      json_.member("mapping_type", name_of(s.type));
      operators("operators", net_.operators_of(s));
      operators("views", net_.views_of(s));
    });
  }
  // In what tiles the stages run: so many positions of each axis of the last one's iteration space, null for all.
  void add_stage_tile(const kernel& k) {
    const slice_of tile = plan_.recipes[k.runs.kernel].tile;
    if (tile.count == 0) return;
    json_.key("positions");
    json_.array([&] {
      for (std::int32_t n : plan_.numbers_of(tile))
        if (n == 0) json_.null();
        else json_.value(n);
    });
    json_.key("storage");
    json_.array([&] {
      for (std::int32_t b : net_.tile_buffers(k.runs))
        json_.object([&] {
          json_.member("name", plan_.text_of(net_.buffer_at(b).name));
          member("bytes", sizes_.stored_bytes(net_.buffer_at(b)));
        });
    });
  }

  void add_operand(const kernel& k, std::int32_t b, const kernel_choice* choice, bool written) {
    const buffer& x = net_.buffer_at(b);
    json_.object([&] {
      json_.member("name", plan_.text_of(x.name));
      json_.member("access", std::string_view(written ? "written" : "read"));
      json_.key("reading");
      if (const auto reading = written ? std::nullopt : reading_of(k.runs, b, choice)) json_.value(name_of(*reading));
      else json_.null();
      json_.member("type", name(x.type.type));
      json_.key("shape");
      json_.array([&] {
        for (dim d : x.type.dims) {
          d = sizes_.value(d);
          if (d.is_known()) json_.value(d.value());
          else json_.value(sizes_.text(d));
        }
      });
      json_.member("storage", name_of(x.where));
      json_.key("offset");
      if (x.where == storage::arena && net_.is_placed()) json_.value(net_.offset_of(b));
      else json_.null();
      member("bytes", sizes_.stored_bytes(x));
      json_.member("layout", describe(x.layout));
      json_.key("within");
      if (const auto place = net_.part_of(b)) add_place(*place);
      else json_.null();
    });
  }
  // Where an operand that is part of another value lies, which it need not fill: all in bytes.
  void add_place(const logged_network::part_of_buffer& place) {
    const buffer& whole = net_.buffer_at(place.whole);
    json_.object([&] {
      json_.member("name", plan_.text_of(whole.name));
      json_.key("offset");
      if (net_.is_placed()) json_.value(net_.offset_of(place.whole));
      else json_.null();
      member("bytes", sizes_.stored_bytes(whole));
      json_.member("first", place.first);
      json_.key("strides");
      json_.array([&] {
        for (dim d : place.strides)
          if (d.is_known()) json_.value(d.value());
          else json_.value(sizes_.text(d));
      });
    });
  }

  // How the kernel reads buffer b, where that is an operand of its anchor, or what one is computed from.
  std::optional<operand_reading> reading_of(const step& s, std::int32_t b, const kernel_choice* choice) const {
    if (choice == nullptr || choice->operands.empty()) return std::nullopt;
    const recipe& r = plan_.recipes[s.kernel];
    if (r.earlier.count != 0) return std::nullopt;  // the choice speaks of the last stage
    const kernel_spec spec(plan_, s.kernel);
    const auto inputs = plan_.refs_of(r.anchor_inputs);
    const auto buffers = plan_.numbers_of(s.operands);
    const auto is_other = [&](operand_ref x) {
      return x.from != source::load || buffers[spec.load(x.index).operand] != b;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!spec.all_in_tree(inputs[i], is_other))
        return choice->operands[i < choice->operands.size() ? i : choice->operands.size() - 1];
    return std::nullopt;
  }

  void add_tile(const kernel_tile& t) {
    json_.key("along");
    if (t.along < 0) json_.null();
    else json_.value(t.along);
    json_.member("lanes", t.lanes);
    json_.member("vectors", t.vectors);
  }
  void add_cost(const kernel_cost& c) {
    json_.object([&] {
      json_.member("microseconds", c.microseconds);
      if (c.measured > 0) json_.member("measured_microseconds", c.measured);
      json_.member("cycles", c.cycles);
      json_.member("arithmetic_cycles", c.arithmetic);
      json_.member("memory_cycles", c.memory);
      json_.member("starting_cycles", c.starts);
      json_.member("bytes", c.bytes);
    });
  }
  void add_alternatives(const kernel_choice& choice) {
    for (const kernel_alternative& a : net_.alternatives_of(choice))
      json_.object([&] {
        json_.member("family", a.family);
        json_.member("matches", a.matches);
        json_.key("predicted_time");
        if (a.matches) add_cost(a.cost);
        else json_.null();
        json_.text_or_null("reason", a.reason);
      });
  }

  // --- decisions
  void add_decision(const decision& d) {
    json_.object([&] {
      json_.member("pass", d.pass);
      json_.member("verdict", d.verdict);
      json_.member("applied", d.applied);
      json_.key("nodes");
      json_.array([&] {
        for (node_id n : {d.first, d.second})
          if (n != none) add_operator_of_kernel(n);
      });
      operators("between", d.first != none && d.second != none ? net_.movement_between(d.first, d.second)
                                                               : std::vector<node_id>());
      json_.text_or_null("value", d.value == none ? std::string_view() : plan_.text_of(net_.value_at(d.value).name));
      json_.text_or_null("operators", plan_.text_of(d.operators));
      json_.text_or_null("result", plan_.text_of(d.result));
      json_.text_or_null("by", plan_.text_of(d.by));
      json_.member("reason", d.reason);
      json_.text_or_null("meaning", d.meaning);
      json_.text_or_null("rule", d.rule);
      json_.key("costs");
      json_.array([&] {
        for (const compared_cost& c : net_.costs_of(d))
          json_.object([&] {
            json_.member("what", c.what);
            json_.member("amount", c.amount);
            json_.member("unit", c.unit);
          });
      });
    });
  }

  logged_network& net_;
  const plan_view& plan_;
  sizes& sizes_;
  json_writer json_;
  std::int32_t number_ = 0;  // of the kernel that comes next
};

}  // namespace detail

// A plan made with a log as a JSON object: `kernels`, those of the setup first, `decisions` in the order in which the
// passes took them, `totals`. Given the values of all symbols, sizes are numbers. Throws dnnkit::error as explain does
// (inspect/explain.hpp).
[[nodiscard]] inline std::string explain_json(const plan_view& plan, std::span<const binding> bindings = {}) {
  detail::logged_network net(plan, "explain_json", bindings);
  return detail::json_explanation(net).run();
}

// The same of Net, a dk::compile<...>.
template <class Net> [[nodiscard]] std::string explain_json(std::initializer_list<binding> bindings = {}) {
  return explain_json(Net::logged_plan(), {bindings.begin(), bindings.size()});
}

// The same of a graph built at run time.
template <class Pipeline, class Target = targets::native>
[[nodiscard]] std::string explain_json(const graph& built, std::span<const binding> bindings = {}) {
  const plan::plan_draft plan = Pipeline::template run_logged<Target>(built, cpu::default_families.table).plan;
  return explain_json(plan::view_of(plan), bindings);
}

}  // namespace dnnkit
