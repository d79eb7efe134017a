// SPDX-License-Identifier: MIT
// A trace of every kernel of every run, written as JSON that chrome://tracing and ui.perfetto.dev open. Programs around
// a network have it built in (runtime/program.hpp), so that alone of the printers it takes nothing but the standard
// library.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/plan/plan.hpp"
#include "dnnkit/weights/json_header.hpp"
#include "dnnkit/weights/replacing_file.hpp"

namespace dnnkit {

namespace detail {

// Nanoseconds as microseconds with three decimals.
inline std::string microseconds(std::int64_t ns) {
  const std::string digits = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

// The operators of a recipe in the order in which they are computed: those that the anchor's operands need, the anchor,
// the others. (A recipe's nodes are in that order.)
inline std::string operators_of_recipe(const plan_view& plan, const recipe& r) {
  const auto nodes = plan.part<recipe_node>(plan.nodes, r.nodes);
  std::size_t before = 0;  // of the nodes, those in front of the anchor
  for (const operand_ref& input : plan.refs_of(r.anchor_inputs))
    if (input.from == source::node) before = std::max(before, std::size_t{input.index} + 1);
  std::string s;
  const auto add = [&](std::string_view name) { (s += s.empty() ? "" : " ") += name; };
  for (const recipe_node& n : nodes.first(before)) add(n.op.name);
  if (r.anchor.id != operator_id::none) add(r.anchor.name);
  for (const recipe_node& n : nodes.subspan(before)) add(n.op.name);
  return s.empty() ? "copy" : s;
}

// Those of all stages, one behind the other.
inline std::string operators_of_kernel(const plan_view& plan, const recipe& r) {
  std::string s;
  for (std::size_t i = 0; i < plan.stages_of(r); ++i)
    (s += i == 0 ? "" : " ") += operators_of_recipe(plan, plan.stage_of(r, i));
  return s;
}

}  // namespace detail

// An observer for sessions: dk::session<net, dk::chrome_trace> s(weights); ... s.observer().write("trace.json").
// Memory is taken when it is made; while a network runs it takes none.
class chrome_trace {
 public:
  using clock = std::chrono::steady_clock;

  chrome_trace() : chrome_trace(1 << 14) {}
  // Room for so many kernels over all runs; those beyond are counted, not timed.
  explicit chrome_trace(std::size_t most_events) { events_.reserve(most_events); }

  // The values of all symbols, which the session tells its observer when it binds them. May allocate.
  void bound(std::span<const std::int64_t> values) {
    first_value_ = values_.size();
    values_.insert(values_.end(), values.begin(), values.end());
  }
  void before(const plan_view& plan, std::size_t) noexcept {
    if (events_.empty()) plan_ = plan;
    begin_ = clock::now();
  }
  void after(const plan_view& plan, std::size_t step) noexcept { timed(plan, step, begin_, clock::now()); }
  // By devices that time kernels themselves.
  void timed(const plan_view& plan, std::size_t step, clock::time_point begin, clock::time_point end) noexcept {
    if (events_.empty()) plan_ = plan;
    if (events_.size() == events_.capacity()) ++lost_;
    else events_.push_back({step, begin, end, first_value_});
  }

  struct event {
    std::size_t step;
    clock::time_point begin, end;
    std::size_t first_value;  // of the binding under which it ran
  };
  std::span<const event> events() const noexcept { return events_; }
  std::size_t lost() const noexcept { return lost_; }
  // Forgets what was timed, keeps the memory.
  void clear() noexcept {
    events_.clear();
    lost_ = 0;
    values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(first_value_));
    first_value_ = 0;
  }

  // The trace as a JSON object; times are microseconds from the first kernel on.
  [[nodiscard]] std::string json() const {
    const symbol_table symbols = plan::table_of(plan_);
    std::string out =
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"lost\":\"" + std::to_string(lost_) + "\"},\"traceEvents\":[";
    std::string separator = "\n";
    for (const event& e : events_) {
      const plan::step& s = plan_.steps[e.step];
      const auto time = [](clock::duration d) {
        return detail::microseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
      };
      out += separator + "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"cat\":\"kernel\",\"name\":" +
             detail::json_string(plan_.text_of(s.name)) + ",\"ts\":" + time(e.begin - events_[0].begin) +
             ",\"dur\":" + time(e.end - e.begin) + ",\"args\":{\"kernel\":" + std::to_string(e.step + 1) +
             ",\"operators\":" + detail::json_string(detail::operators_of_kernel(plan_, plan_.recipes[s.kernel])) +
             ",\"FLOPs\":" + flops_of(e, symbols) + "}}";
      separator = ",\n";
    }
    return out + "\n]}\n";
  }

  // Throws dnnkit::error naming `path` when it cannot be written; an existing file is replaced only by a complete one.
  void write(const std::filesystem::path& path) const {
    replacing_file file(path);
    write(file);
  }
  // The same into a file that was opened before the work began.
  void write(replacing_file& file) const {
    const std::string text = json();
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }

 private:
  // A number; an expression over the symbols, as a text, in a session that has not said their values.
  std::string flops_of(const event& e, const symbol_table& symbols) const {
    const dim flops = plan_.steps[e.step].flops;
    if (flops.is_known()) return std::to_string(flops.value());
    if (values_.empty()) return detail::json_string(symbols.print(flops).view());
    return std::to_string(symbols.evaluate(flops, values_.data() + e.first_value));
  }

  std::vector<event> events_;
  std::vector<std::int64_t> values_;  // of the symbols, one binding behind the other
  std::size_t first_value_ = 0;       // of the present binding
  std::size_t lost_ = 0;
  clock::time_point begin_;
  plan_view plan_{};
};

}  // namespace dnnkit
