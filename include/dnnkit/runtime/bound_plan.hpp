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
#include "dnnkit/runtime/binding.hpp"
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

  std::vector<kernel_command> commands;
  std::vector<port> ports;
  std::vector<std::int64_t> values;    // of the symbols
  std::vector<std::int64_t> extents;   // of the steps' kernels, then of borders
  std::vector<std::byte*> operands;    // of all steps, one step behind the other
  std::vector<std::byte*> conditions;  // by buffer, of those on which steps depend

  bound_plan() = default;
  bound_plan(bound_plan&&) = default;
  bound_plan& operator=(bound_plan&&) = default;
};

class plan_binder {
 public:
  plan_binder(const plan_view& plan, const symbol_table& table, std::span<const cpu::kernel_entry> kernels,
              const packed_tables& weights)
      : plan_(plan), table_(table), kernels_(kernels), weights_(weights), steps_(plan.steps.size()) {}

  // What follows from these values, with pointers into `arena`, which is replaced when it is too small; if anything is
  // thrown, it is as it was.
  bound_plan bind(std::span<const binding> bindings, aligned_memory& arena) {
    t_.values = values_of_symbols(plan_, table_, bindings);
    extents_check(plan_, table_, t_.values).run();
    find_extents();
    find_idle_steps();
    find_bytes();
    const placement placed = placement_of(plan_, [&](const buffer& b) { return bytes_[number_of(b)]; });
    const auto needed =
        static_cast<std::size_t>(bytes_with_scratch(placed) + arena_alignment);  // kernels may read a vector further
    const bool is_larger = arena.size() < needed;
    aligned_memory larger;
    if (is_larger) larger = allocated(needed);
    std::byte* const base = is_larger ? larger.data() : arena.data();
    set_pointers(placed, base);
    write_commands(base);
    if (is_larger) arena = std::move(larger);
    return std::move(t_);
  }

 private:
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 48;

  // Where a step's share of the tables begins, and what its kernel needs.
  struct step_place {
    std::size_t operands = 0, extents = 0, border_extents = 0;
    bool idle = false;  // all that it writes is without elements
    std::int64_t scratch_at = 0, scratch_bytes = 0, worker_bytes = 0;
  };

  std::int64_t evaluate(dim d) const { return table_.evaluate(d, t_.values.data()); }
  std::size_t number_of(const buffer& b) const { return static_cast<std::size_t>(&b - plan_.buffers.data()); }
  const buffer& buffer_at(std::int32_t b) const { return plan_.buffers[static_cast<std::size_t>(b)]; }
  const cpu::kernel_entry& kernel_of(std::size_t i) const { return kernels_[plan_.steps[i].kernel]; }

  void find_extents() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      steps_[i].extents = t_.extents.size();
      for (dim d : plan_.dims_of(plan_.steps[i].extents)) t_.extents.push_back(evaluate(d));
    }
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      steps_[i].border_extents = t_.extents.size();
      for (std::int32_t b : plan_.numbers_of(plan_.steps[i].borders))
        for (dim d : buffer_at(b).type.dims) t_.extents.push_back(evaluate(d));
    }
  }

  // --- memory
  bool is_empty(const buffer& b) const {
    return std::ranges::any_of(b.type.dims, [&](dim d) { return evaluate(d) == 0; });
  }
  // Bytes with border; what does not fit 63 bits is their largest number.
  std::int64_t room_of(const buffer& b) const {
    auto bytes = static_cast<std::int64_t>(size_of(b.type.type));
    bool empty = false;
    for (std::size_t i = 0; i < b.type.dims.size(); ++i) {
      const std::int64_t n = i < b.layout.before.size()
                                 ? saturating_add(evaluate(b.type.dims[i]), b.layout.before[i] + b.layout.after[i])
                                 : evaluate(b.type.dims[i]);
      empty = empty || n == 0;
      bytes = saturating_mul(bytes, n);
    }
    return empty ? 0 : bytes;
  }

  // A step that writes nothing is left out.
  void find_idle_steps() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].idle = true;
      for_each_written(plan_, plan_.steps[i],
                       [&](std::int32_t b) { steps_[i].idle = steps_[i].idle && is_empty(buffer_at(b)); });
    }
  }

  // A tensor without elements takes no memory, unless somebody reads its border.
  void find_bytes() {
    std::vector<bool> is_used(plan_.buffers.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (!steps_[i].idle)
        for (std::int32_t b : plan_.numbers_of(plan_.steps[i].operands)) is_used[static_cast<std::size_t>(b)] = true;
    for (const buffer& b : plan_.buffers) {
      const bool takes = b.where != storage::tiles && (!is_empty(b) || is_used[number_of(b)]);  // workers have tiles
      bytes_.push_back(takes ? room_of(b) : 0);
      if (bytes_.back() > most_bytes)
        throw error("too large for any memory", "tensor '" + std::string(plan_.text_of(b.name)) + "'", {}, text_of(b));
    }
  }
  // "f32 [1, 8, 2000000000]"
  std::string text_of(const buffer& b) const {
    std::string text = std::string(name(b.type.type)) + " [";
    for (std::size_t i = 0; i < b.type.dims.size(); ++i)
      text += (i ? ", " : "") + std::to_string(evaluate(b.type.dims[i]));
    return text + "]";
  }

  // A kernel's scratch memory begins behind the buffers that are alive with it.
  std::int64_t bytes_with_scratch(const placement& placed) {
    std::int64_t most = placed.bytes;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      step_place& s = steps_[i];
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
        end = std::max(end, aligned(placed.offsets[number_of(b)] + bytes_[number_of(b)]));
    return end;
  }

  aligned_memory allocated(std::size_t bytes) const {
    try {
      return aligned_memory(bytes);
    } catch (const std::bad_alloc&) {
      std::size_t largest = 0;
      for (std::size_t b = 0; b < bytes_.size(); ++b)
        if (plan_.buffers[b].where == storage::arena &&
            (plan_.buffers[largest].where != storage::arena || bytes_[b] > bytes_[largest]))
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
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].operands = t_.operands.size();
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
  void write_commands(std::byte* arena) {
    command_list<call_kernel, call_by_worker, clear_halo> list;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      list.enter(conditions_of(plan_.steps[i]));
      list.add(begin_step{i});
      if (!steps_[i].idle) write_step(list, i, arena + steps_[i].scratch_at);
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
    if (k.prepare != nullptr) list.add(call_kernel{k.prepare, call, count(k.prepare_units(call))});
    const call_kernel phase{k.run, call, count(k.units(call))};
    if (k.worker_bytes == nullptr) list.add(phase);
    else list.add(call_by_worker{phase, static_cast<std::ptrdiff_t>(steps_[i].worker_bytes)});
  }
  cpu::kernel_call call_of(std::size_t i, std::byte* scratch) const {
    return {t_.operands.data() + steps_[i].operands, t_.extents.data() + steps_[i].extents, weights_.packed(i), scratch,
            scratch + steps_[i].scratch_bytes};
  }
  static std::size_t count(cpu::index_t units) { return static_cast<std::size_t>(units); }
  void clear_borders(auto& list, std::size_t i) const {
    const std::int64_t* extents = t_.extents.data() + steps_[i].border_extents;
    for (std::int32_t n : plan_.numbers_of(plan_.steps[i].borders)) {
      const buffer& b = buffer_at(n);
      if (bytes_[number_of(b)] != 0) list.add(clear_halo{&b, extents, data_[number_of(b)]});
      extents += b.type.dims.size();
    }
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const cpu::kernel_entry> kernels_;
  const packed_tables& weights_;
  std::vector<step_place> steps_;
  std::vector<std::int64_t> bytes_;  // of each buffer
  std::vector<std::byte*> data_;     // of each buffer; null for the caller's
  bound_plan t_;
};

}  // namespace dnnkit::detail
