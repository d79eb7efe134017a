// SPDX-License-Identifier: MIT
// What follows from a plan and values of its symbols: extents, places in the arena, and the commands that a run is.
// Made as a whole or not at all, so that a session whose bind() fails still has what it had before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/placement.hpp"
#include "dnnkit/plan/possible_steps.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/buffer_sizes.hpp"
#include "dnnkit/runtime/kernel_commands.hpp"
#include "dnnkit/runtime/packed_weights.hpp"

namespace dnnkit::detail {

// What a session has besides its arena. Commands point into the other members.
struct bound_plan {
  // A pointer that is the caller's, another in each run.
  struct port {
    std::byte** pointer;
    bool is_input;
    std::size_t number;
  };
  // Where a step's share of the tables begins, and what its kernel needs.
  struct step_place {
    std::size_t operands = 0, extents = 0, border_extents = 0;
    bool refused = false;  // its branch cannot be taken
    bool idle = false;     // that, or all that it writes is without elements
    std::int64_t scratch_at = 0, scratch_bytes = 0, worker_bytes = 0;
  };

  std::vector<kernel_command> commands;
  std::vector<port> ports;
  std::vector<std::int64_t> values;    // of the symbols
  std::vector<std::int64_t> extents;   // of the steps' kernels, then of borders
  std::vector<std::byte*> operands;    // of all steps, one step behind the other
  std::vector<std::byte*> conditions;  // by buffer, of those on which steps depend
  std::vector<error> refusals;         // why branches cannot be taken
  // What memory was planned for, and what was planned: values of the symbols, bytes of each buffer, each step's share.
  std::vector<std::int64_t> planned_values, bytes;
  std::vector<step_place> steps;

  bound_plan() = default;
  bound_plan(bound_plan&&) = default;
  bound_plan& operator=(bound_plan&&) = default;
};

class plan_binder {
 public:
  plan_binder(const plan_view& plan, const symbol_table& table, std::span<const cpu::kernel_entry> kernels,
              const packed_tables& weights)
      : plan_(plan), table_(table), kernels_(kernels), weights_(weights) {
    t_.steps.resize(plan.steps.size());
  }

  // What follows from these values, with pointers into `arena`, which is replaced when it is too small; if anything is
  // thrown, it is as it was.
  bound_plan bind(std::span<const binding> bindings, aligned_memory& arena) {
    t_.values = t_.planned_values = values_of_symbols(plan_, table_, bindings);
    const possible_steps possible(plan_, table_, t_.values);
    t_.refusals = possible.reasons();
    find_extents();
    find_idle_steps(possible);
    find_bytes(possible);
    const placement placed = placement_of(plan_, [&](const buffer& b) { return t_.bytes[number_of(b)]; });
    const auto needed =
        static_cast<std::size_t>(bytes_with_scratch(placed) + arena_alignment);  // kernels may read a vector further
    const bool is_larger = arena.size() < needed;
    aligned_memory larger;
    if (is_larger) larger = allocated(needed);
    std::byte* const base = is_larger ? larger.data() : arena.data();
    set_pointers(placed, base);
    write_commands(possible, base);
    if (is_larger) arena = std::move(larger);
    return std::move(t_);
  }

 private:
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 48;

  buffer_sizes sizes() const { return {plan_, table_, t_.values}; }
  std::size_t number_of(const buffer& b) const { return static_cast<std::size_t>(&b - plan_.buffers.data()); }
  const buffer& buffer_at(std::int32_t b) const { return plan_.buffers[static_cast<std::size_t>(b)]; }
  const cpu::kernel_entry& kernel_of(std::size_t i) const { return kernels_[plan_.steps[i].kernel]; }

  void find_extents() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      t_.steps[i].extents = count;
      count += plan_.steps[i].extents.count;
    }
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      t_.steps[i].border_extents = count;
      for (std::int32_t b : plan_.numbers_of(plan_.steps[i].borders)) count += buffer_at(b).type.dims.size();
    }
    t_.extents.resize(count);
    sizes().write_extents(t_.extents);
  }

  // --- memory
  // A step that writes nothing is left out.
  void find_idle_steps(const possible_steps& possible) {
    for (std::size_t i = 0; i < t_.steps.size(); ++i)
      t_.steps[i].idle = (t_.steps[i].refused = possible.reason_against(i) != none) || sizes().is_idle(plan_.steps[i]);
  }

  // A tensor without elements takes no memory, unless somebody reads its border; nor does one of a branch that cannot
  // be taken.
  void find_bytes(const possible_steps& possible) {
    std::vector<bool> is_used(plan_.buffers.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (!t_.steps[i].idle)
        for (std::int32_t b : plan_.numbers_of(plan_.steps[i].operands))
          for (std::int32_t used : {b, buffer_at(b).layout.within})
            if (used != none) is_used[static_cast<std::size_t>(used)] = true;
    for (const buffer& b : plan_.buffers) {
      const bool takes = b.where != storage::tiles && possible.uses(number_of(b)) &&  // workers have tiles
                         (!sizes().is_empty(b) || is_used[number_of(b)]);
      t_.bytes.push_back(takes ? sizes().room_of(b) : 0);
      if (t_.bytes.back() > most_bytes)
        throw error("too large for any memory", "tensor '" + std::string(plan_.text_of(b.name)) + "'", {}, text_of(b));
    }
  }
  // "f32 [1, 8, 2000000000]"
  std::string text_of(const buffer& b) const {
    std::string text = std::string(name(b.type.type)) + " [";
    for (std::size_t i = 0; i < b.type.dims.size(); ++i)
      text += (i ? ", " : "") + std::to_string(sizes().evaluate(b.type.dims[i]));
    return text + "]";
  }

  // A kernel's scratch memory begins behind the buffers that are alive with it.
  std::int64_t bytes_with_scratch(const placement& placed) {
    std::int64_t most = placed.bytes;
    for (std::size_t i = 0; i < t_.steps.size(); ++i) {
      bound_plan::step_place& s = t_.steps[i];
      if (s.idle) continue;
      const cpu::kernel_entry& k = kernel_of(i);
      const cpu::kernel_call extents{nullptr, t_.extents.data() + s.extents, nullptr, nullptr, nullptr};
      if (k.scratch_bytes != nullptr) s.scratch_bytes = aligned(k.scratch_bytes(extents));
      if (k.worker_bytes != nullptr) s.worker_bytes = aligned(k.worker_bytes(extents));
      if (s.scratch_bytes + s.worker_bytes == 0) continue;
      s.scratch_at = end_of_buffers(static_cast<std::int32_t>(i), placed);
      const std::size_t workers = std::min(count(k.units(extents)), call_by_worker::most_workers);
      most = std::max(most, s.scratch_at + s.scratch_bytes + static_cast<std::int64_t>(workers) * s.worker_bytes);
    }
    return most;
  }
  std::int64_t end_of_buffers(std::int32_t step, const placement& placed) const {
    std::int64_t end = 0;
    for (const buffer& b : plan_.buffers)
      if (b.where == storage::arena && b.first <= step && step <= b.last)
        end = std::max(end, aligned(placed.offsets[number_of(b)] + t_.bytes[number_of(b)]));
    return end;
  }

  aligned_memory allocated(std::size_t bytes) const {
    try {
      return aligned_memory(bytes);
    } catch (const std::bad_alloc&) {
      std::size_t largest = 0;
      for (std::size_t b = 0; b < t_.bytes.size(); ++b)
        if (plan_.buffers[b].where == storage::arena &&
            (plan_.buffers[largest].where != storage::arena || t_.bytes[b] > t_.bytes[largest]))
          largest = b;
      const buffer& b = plan_.buffers[largest];
      throw error("not enough memory for " + std::to_string(bytes) + " bytes", "arena", {},
                  "as its largest tensor '" + std::string(plan_.text_of(b.name)) + "', " + text_of(b));
    }
  }

  // --- pointers
  void set_pointers(const placement& placed, std::byte* base) {
    for (const buffer& b : plan_.buffers)
      data_.push_back(b.where == storage::arena ? base + placed.offsets[number_of(b)] : weights_.data(number_of(b)));
    t_.conditions = data_;
    for (std::size_t i = 0; i < t_.steps.size(); ++i) {
      t_.steps[i].operands = t_.operands.size();
      for (std::int32_t b : plan_.numbers_of(plan_.steps[i].operands))
        t_.operands.push_back(data_[static_cast<std::size_t>(b)]);
    }
    std::byte** operand = t_.operands.data();
    for (const step& s : plan_.steps)
      for (std::int32_t b : plan_.numbers_of(s.operands)) note_port(buffer_at(b), operand++);
    std::vector<bool> decides(plan_.buffers.size());
    for (const step& s : plan_.steps)
      for (const skip_unless& c : conditions_of(s))
        decides[static_cast<std::size_t>(c.condition - t_.conditions.data())] = true;
    for (const buffer& b : plan_.buffers)
      if (decides[number_of(b)]) note_port(b, &t_.conditions[number_of(b)]);
  }
  void note_port(const buffer& b, std::byte** pointer) {
    if (b.where == storage::input || b.where == storage::output)
      t_.ports.push_back({pointer, b.where == storage::input, static_cast<std::size_t>(b.port)});
  }

  // --- commands
  void write_commands(const possible_steps& possible, std::byte* arena) {
    command_list<call_kernel, call_by_worker, clear_halo, refuse_branch> list;
    for (std::size_t i = 0; i < t_.steps.size(); ++i) {
      list.enter(conditions_of(plan_.steps[i]));
      if (const std::int32_t reason = possible.reason_against(i); reason != none) {
        list.add(refuse_branch{&t_.refusals[static_cast<std::size_t>(reason)]});
        continue;
      }
      list.add(begin_step{i});
      if (!t_.steps[i].idle) write_step(list, i, arena + t_.steps[i].scratch_at);
      list.add(end_step{i});
    }
    t_.commands = list.finished();
  }
  std::vector<skip_unless> conditions_of(const step& s) const {
    std::vector<skip_unless> list;
    const auto guards = plan_.numbers_of(s.guards);
    for (std::size_t k = 0; k < guards.size(); k += 2)
      list.push_back({&t_.conditions[static_cast<std::size_t>(guards[k])], guards[k + 1] != 0});
    return list;
  }
  void write_step(auto& list, std::size_t i, std::byte* scratch) {
    clear_borders(list, i);
    const cpu::kernel_entry& k = kernel_of(i);
    const cpu::kernel_call call = call_of(i, scratch);
    const std::size_t threads = most_threads_for(k.cycles_an_element * sizes().elements_written(plan_.steps[i]));
    if (k.prepare != nullptr) list.add(call_kernel{k.prepare, call, count(k.prepare_units(call)), threads});
    const call_kernel phase{k.run, call, count(k.units(call)), threads};
    if (k.worker_bytes == nullptr) list.add(phase);
    else list.add(call_by_worker{phase, static_cast<std::ptrdiff_t>(t_.steps[i].worker_bytes)});
  }
  cpu::kernel_call call_of(std::size_t i, std::byte* scratch) const {
    return {t_.operands.data() + t_.steps[i].operands, t_.extents.data() + t_.steps[i].extents, weights_.packed(i),
            scratch, scratch + t_.steps[i].scratch_bytes};
  }
  static std::size_t count(cpu::index_t units) { return static_cast<std::size_t>(units); }
  void clear_borders(auto& list, std::size_t i) const {
    const std::int64_t* extents = t_.extents.data() + t_.steps[i].border_extents;
    for (std::int32_t n : plan_.numbers_of(plan_.steps[i].borders)) {
      const buffer& b = buffer_at(n);
      if (t_.bytes[number_of(b)] != 0) list.add(clear_halo{&b, extents, data_[number_of(b)]});
      extents += b.type.dims.size();
    }
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const cpu::kernel_entry> kernels_;
  const packed_tables& weights_;
  std::vector<std::byte*> data_;  // of each buffer; null for the caller's
  bound_plan t_;
};

}  // namespace dnnkit::detail
