// SPDX-License-Identifier: MIT
// What the passes made of a model and why: a block for each kernel, then totals against the graph as it was built.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/families.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/inspect/plan_figures.hpp"
#include "dnnkit/inspect/scalar_kernels.hpp"
#include "dnnkit/inspect/sizes.hpp"
#include "dnnkit/plan/kernel_spec.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

namespace detail {

class explanation {
 public:
  explicit explanation(logged_network& net) : net_(net), plan_(net.plan()), sizes_(net.in_numbers()) {}

  std::string run() {
    for (const kernel& k : net_.kernels()) {
      add("kernel {}: {}\n", k.number, plan_.text_of(k.runs.name));
      add_kernel(k);
    }
    for (const kernel& k : net_.setup_kernels()) {
      add("setup: {}\n", plan_.text_of(k.runs.name));
      add_kernel(k);
    }
    add_rewriting();
    add_assumptions();
    add_legend();
    add_totals();
    return std::move(out_);
  }

 private:
  using kernel = logged_network::kernel;

  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }
  void line(std::string_view label, std::string_view text) { add("  {:<14}{}\n", label, text); }

  // --- one kernel
  void add_kernel(const kernel& k) {
    const auto stages = net_.stages_of(k);
    for (const logged_stage& s : stages) {
      if (stages.size() > 1) line("stage", fmt::format("{} of {}", &s - stages.data() + 1, stages.size()));
      line("operators", list_of(net_.operators_of(s)));
      if (const auto views = net_.views_of(s); !views.empty()) line("views", list_of(views));
      if (stages.size() > 1) line("mapping type", name_of(s.type));
    }
    if (stages.size() > 1) line("tile", tile_of(k));
    if (const std::string conditions = conditions_of(plan_, k.runs.guards); !conditions.empty())
      line("runs only if", conditions);
    if (stages.size() == 1) line("mapping type", name_of(stages[0].type));
    if (const kernel_choice* const choice = net_.choice_of(k); choice != nullptr) add_choice(*choice, k.setup);
    for (std::int32_t b : net_.operands(k.runs, false)) add_operand("reads", b, false);
    for (std::int32_t b : net_.operands(k.runs, true)) add_operand("writes", b, true);
    line("cost", fmt::format("{} FLOPs, {} bytes read, {} bytes written", sizes_.text(k.runs.flops),
                             sizes_.text(k.log.bytes_read), sizes_.text(k.log.bytes_written)));
    for (const decision* d : net_.joins_about(k)) add_join(*d);
    for (const decision* d : net_.decisions_about(k)) add_decision(*d);
    out_ += "\n";
  }

  // "1 of 12 along axis 1, 32 of 128 along axis 2 of [1, 12, 128, 64], 16,384 bytes in tile storage", or "all of [..."
  std::string tile_of(const kernel& k) const {
    const recipe& r = plan_.recipes[k.runs.kernel];
    std::vector<std::string> positions, extents;
    for (local_extent e : plan_.extents_of(r.space))
      extents.push_back(sizes_.text(e.is_known() ? dim(e.value()) : plan_.dims_of(k.runs.extents)[e.of_step()]));
    for (std::size_t axis = 0; const std::int32_t n : plan_.numbers_of(r.tile)) {
      if (n != 0 && extents[axis] != std::to_string(n))
        positions.push_back(fmt::format("{} of {} along axis {}", n, extents[axis], axis));
      ++axis;
    }
    if (positions.empty()) positions.push_back("all");
    dim bytes = 0;
    for (std::int32_t b : net_.tile_buffers(k.runs)) bytes = sizes_.sum(bytes, sizes_.stored_bytes(net_.buffer_at(b)));
    return fmt::format("{} of [{}], {} bytes in tile storage", fmt::join(positions, ", "), fmt::join(extents, ", "),
                       sizes_.text(bytes));
  }

  // "conv_nhwc: why it was chosen", why no other family carries out a kernel that runs element by element (in
  // each run), and the time that it and others are expected to take
  void add_choice(const kernel_choice& c, bool setup) {
    line("family", fmt::format("{}: {}", c.family, c.reason));
    if (runs_by_element(c) && !setup) {
      if (net_.alternatives_of(c).empty()) line("no vectors", "no other family carries out the operator");
      for (const kernel_alternative& a : net_.alternatives_of(c))
        if (!a.matches) line("no vectors", fmt::format("{}: {}", a.family, a.reason));
    }
    std::vector<std::string> others;
    for (const kernel_alternative& a : net_.alternatives_of(c))
      if (a.matches) others.push_back(fmt::format("{} {:.1f} us", a.family, a.cost.microseconds));
    add_measured(c);
    line("expected", fmt::format("{:.1f} us{}{}{}", c.cost.microseconds, others.empty() ? "" : " (",
                                 fmt::join(others, ", "), others.empty() ? "" : ")"));
  }

  // "11.9 us with vectors 2, rows 7 (conv_winograd 14.2 us)", where it was tuned
  void add_measured(const kernel_choice& c) {
    std::vector<std::string> others, genes;
    for (const kernel_alternative& a : net_.alternatives_of(c))
      if (a.cost.measured > 0) others.push_back(fmt::format("{} {:.1f} us", a.family, a.cost.measured));
    if (c.cost.measured == 0 && others.empty()) return;
    for (const named_gene& g : all_genes)
      if (c.genes.*g.value != 0) genes.push_back(fmt::format("{} {}", g.name, c.genes.*g.value));
    line("measured",
         fmt::format("{}{}{}{}{}{}", c.cost.measured == 0 ? "not" : fmt::format("{:.1f} us", c.cost.measured),
                     genes.empty() ? "" : " with ", fmt::join(genes, ", "), others.empty() ? "" : " (",
                     fmt::join(others, ", "), others.empty() ? "" : ")"));
  }

  void add_operand(std::string_view label, std::int32_t b, bool written) {
    const buffer& x = net_.buffer_at(b);
    const std::string_view name = plan_.text_of(x.name);
    std::string s = fmt::format("{}{}{}, {}", name, name.empty() ? "" : ": ", sizes_.text(x.type), name_of(x.where));
    if (x.where == storage::arena) {
      if (net_.is_placed()) s += fmt::format(" at byte {}", grouped(net_.offset_of(b)));
      if (written) s += fmt::format(" ({} bytes)", sizes_.text(sizes_.stored_bytes(x)));
      s += fmt::format(", {}", describe(x.layout));
      if (const auto place = net_.part_of(b)) s += fmt::format(", {}", text_of(*place));
    }
    line(label, s);
  }

  // "in Concat (5,038,848 bytes) from its byte 128 on, with its strides of 5,038,848, 4, 31,104 and 192 bytes"
  std::string text_of(const logged_network::part_of_buffer& place) {
    const buffer& whole = net_.buffer_at(place.whole);
    std::vector<std::string> strides;
    for (dim d : place.strides) strides.push_back(sizes_.text(d));
    const std::string last = strides.back();
    strides.pop_back();
    return fmt::format("in {} ({} bytes) from its byte {} on, with its strides of {}{}{} bytes",
                       plan_.text_of(whole.name), sizes_.text(sizes_.stored_bytes(whole)), grouped(place.first),
                       fmt::join(strides, ", "), strides.empty() ? "" : " and ", last);
  }

  // --- why these operators and no others
  std::string list_of(std::span<const node_id> nodes) const {
    std::vector<std::string> list;
    for (node_id n : nodes) list.push_back(describe(plan_, net_.node_at(n)));
    return fmt::format("{}", fmt::join(list, ", "));
  }
  // "Conv 'tail' -> DepthToSpace -> Add: successor"; mapping types are said where they were the reason, and the rule
  // where one was
  void add_decision(const decision& d) {
    std::vector<node_id> chain = net_.movement_between(d.first, d.second);
    chain.insert(chain.begin(), d.first);
    chain.push_back(d.second);
    std::vector<std::string> edge;
    std::vector<std::string_view> types;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const bool is_end = k == 0 || k + 1 == chain.size();
      edge.push_back(describe(plan_, net_.node_at(chain[k])));
      types.push_back(name_of(is_end ? net_.type_around(chain[k]) : net_.node_at(chain[k]).type));
    }
    std::string why(d.reason);
    if (d.compares_types) why += fmt::format(" ({})", fmt::join(types, " -> "));
    if (!d.rule.empty()) why += fmt::format(" '{}'", d.rule);
    line(d.verdict, fmt::format("{}: {}{}", fmt::join(edge, " -> "), why, costs_in_brackets(d)));
    if (std::find(said_.begin(), said_.end(), std::pair(d.reason, d.meaning)) == said_.end())
      said_.emplace_back(d.reason, d.meaning);
  }

  // "MatMul -> Softmax: why (one kernel 55,143 cycles, one by one 849,412 cycles)"
  void add_join(const decision& d) {
    const std::string rule = d.rule.empty() ? "" : fmt::format(" '{}'", d.rule);
    line(d.applied ? "joined" : "not joined",
         fmt::format("{} -> {}: {}{}{}", describe(plan_, net_.node_at(d.first)),
                     describe(plan_, net_.node_at(d.second)), d.reason, rule, costs_in_brackets(d)));
  }
  // What a decision compared; empty where it compared nothing.
  std::string costs_in_brackets(const decision& d) const {
    std::vector<std::string> costs;
    for (const compared_cost& c : net_.costs_of(d))
      costs.push_back(fmt::format("{} {} {}", c.what, grouped(static_cast<std::int64_t>(c.amount)), c.unit));
    return costs.empty() ? "" : fmt::format(" ({})", fmt::join(costs, ", "));
  }

  // --- what became of operators of which no kernel is made
  void add_rewriting() {
    bool any = false;
    for (const decision& d : plan_.decisions) {
      if (d.operators.count == 0) continue;
      const std::string_view result = plan_.text_of(d.result);
      const std::string_view by = plan_.text_of(d.by);
      add("{} {}{}{}{}{}: {}{}\n", d.verdict, printable(plan_.text_of(d.operators)), result.empty() ? "" : " into ",
          printable(result), by.empty() ? "" : " by ", by, d.reason, costs_in_brackets(d));
      any = true;
    }
    if (any) out_ += "\n";
  }

  // --- extents that are taken for equal
  void add_assumptions() {
    const auto add_one = [&](const assumption& a, const std::string& condition) {
      add("assumed{}: {} {} {}, for {}\n", condition, sizes_.expression(a.left), sign_of(a.is),
          sizes_.expression(a.right), printable(a.needed_by.view()));
    };
    for (const assumption& a : plan_.assumptions) add_one(a, {});
    for (const guarded_assumption& a : plan_.branch_assumptions)
      add_one(a.assumed, " where " + conditions_of(plan_, a.guards));
    if (!plan_.assumptions.empty() || !plan_.branch_assumptions.empty()) out_ += "\n";
  }

  // --- the words used above
  void add_legend() {
    for (const auto& [reason, meaning] : said_) add("{}: {}\n", reason, meaning);
    if (!said_.empty()) out_ += "\n";
  }

  // --- totals
  // What costs take symbols for, in their order.
  std::string symbols_taken() const {
    std::string all;
    for (const symbol& s : plan_.symbols)
      all += fmt::format("{}{}", all.empty() ? ", symbols taken for " : ", ", s.typical);
    return all;
  }
  void add_totals() {
    const plan_figures f = figures_of(net_);
    const graph_totals built = f.built.value_or(graph_totals{});
    total("totals", "graph as built", "compiled");
    if (!f.passes_left_out.empty()) total("passes left out", "", fmt::format("{}", fmt::join(f.passes_left_out, ", ")));
    total("operators, kernels", std::to_string(built.operators), std::to_string(f.kernels));
    total("FLOPs", sizes_.text(built.flops), sizes_.text(f.flops));
    total("bytes moved", sizes_.text(built.bytes_moved), sizes_.text(f.bytes_moved));
    if (f.microseconds) total("expected time", "", fmt::format("{:.1f} us{}", *f.microseconds, symbols_taken()));
    total("bytes of intermediates written", sizes_.text(built.bytes_of_intermediates),
          sizes_.text(f.intermediates_written));
    total("bytes of intermediates read", "", sizes_.text(f.intermediates_read));
    total("bytes of the arena", "", f.arena_bytes ? grouped(*f.arena_bytes) : "planned when the symbols have values");
    total("kernels run once, at setup", "", std::to_string(f.setup_kernels));
    total("kernels to instantiate", "", std::to_string(f.distinct_kernels));
    out_ += describe(scalar_kernels_of(net_));
  }
  void total(std::string_view label, std::string_view built, std::string_view compiled) {
    add("{:<31} {:<31} {}\n", label, built, compiled);
  }

  logged_network& net_;
  const plan_view& plan_;
  sizes& sizes_;
  std::vector<std::pair<std::string_view, std::string_view>> said_;  // reasons and what they mean
  std::string out_;
};

}  // namespace detail

// A text about every kernel of a plan made with a log: its operators by name and ONNX type, the mapping type of the
// group (DNNFusion, Table 3.2), the family that carries it out, with the time that it and the others which could are
// expected to take (on one core, for the clock that cost/coefficients.hpp assumes), what it reads and writes and where
// that lies, FLOPs, bytes, and which edges of the graph were fused or not, and anchors made stages of one kernel or
// not, with the reason. FLOPs and sizes are expressions over the symbols; given the values of all
// symbols they are numbers: explain<net>({{"H", 480}, {"W", 640}}). Bytes count each element of an operand once, and
// of one that indices pick elements from as many as are picked. Throws dnnkit::error when there is no plan or no log,
// and for a symbol that the network does not have or that is left out.
[[nodiscard]] inline std::string explain(const plan_view& plan, std::span<const binding> bindings = {}) {
  detail::logged_network net(plan, "explain", bindings);
  return detail::explanation(net).run();
}

// The same of Net, a dk::compile<...>.
template <class Net> [[nodiscard]] std::string explain(std::initializer_list<binding> bindings = {}) {
  return explain(Net::logged_plan(), {bindings.begin(), bindings.size()});
}

// The same of a graph built at run time, an imported model for instance.
template <class Pipeline, class Target = targets::native>
[[nodiscard]] std::string explain(const graph& built, std::span<const binding> bindings = {}) {
  const plan::plan_draft plan = Pipeline::template run_logged<Target>(built, cpu::default_families.table).plan;
  return explain(plan::view_of(plan), bindings);
}

}  // namespace dnnkit
