// SPDX-License-Identifier: MIT
// What a session has on its device: kernels with their arguments, memory, and the commands that a run is; all that
// follows from a plan and values of its symbols.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/image_place.hpp"
#include "dnnkit/plan/placement.hpp"
#include "dnnkit/plan/possible_steps.hpp"
#include "dnnkit/runtime/buffer_sizes.hpp"
#include "dnnkit/runtime/cl_commands.hpp"
#include "dnnkit/runtime/cl_handover.hpp"
#include "dnnkit/runtime/cl_known_memory.hpp"
#include "dnnkit/runtime/cl_run.hpp"
#include "dnnkit/runtime/cl_weights.hpp"

namespace dnnkit::detail {

// Memory of the device, and with it, of inputs and outputs, pinned memory of the host.
struct cl_room {
  cl_handle<cl_mem> memory, pinned;
  std::byte* host = nullptr;  // of `pinned`
  std::size_t bytes = 0;      // there is room for
};

class cl_bound {
 public:
  cl_bound(const plan_view& plan, const symbol_table& table, std::span<const opencl::kernel_text> kernels,
           std::shared_ptr<const cl_weights> weights)
      : plan_(plan),
        table_(table),
        weights_(std::move(weights)),
        line_(std::make_shared<cl_line>(weights_->device())),
        handover_(weights_->device(), line_->queue(), plan.steps, kernels),
        ports_(plan.inputs.size() + plan.results.size()),
        fetched_(plan.buffers.size()),
        conditions_(plan.buffers.size()) {
    launches_.reserve(plan.steps.size());  // commands point to them
    for (const step& s : plan.steps) launches_.emplace_back(weights_->program(), plan, s, kernels[s.kernel]);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) conditions_[b] = &fetched_[b];
    for (const step& s : plan.steps)
      for (std::size_t k = 0; k < s.guards.count; k += 2) note_condition(plan.numbers_of(s.guards)[k]);
  }
  cl_bound(cl_bound&&) = delete;
  ~cl_bound() { end_pending(); }

  // Symbols get these values; memory is kept where it is enough. False, where it is not and must not grow. Throws
  // dnnkit::error for what cannot be run, or for want of memory; what was bound before stays then.
  bool bind(std::span<const std::int64_t> values, bool may_grow) {
    end_pending();
    const possible_steps possible(plan_, table_, values);
    const buffer_sizes sizes(plan_, table_, values);
    std::vector<std::int64_t> extents;
    for (const step& s : plan_.steps)
      for (dim d : plan_.dims_of(s.extents)) extents.push_back(sizes.evaluate(d));
    std::vector<bool> idle;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      idle.push_back(possible.reason_against(i) != none || sizes.is_idle(plan_.steps[i]));
      if (!idle.back()) launches_[i].check(extents_of_step(extents, i));
    }
    std::vector<std::int64_t> bytes;
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) bytes.push_back(possible.uses(b) ? bytes_of(b, sizes) : 0);
    const placement placed = placement_of(
        plan_, [&](const buffer& b) { return bytes[static_cast<std::size_t>(&b - plan_.buffers.data())]; });
    check_places(placed);
    if (!take_memory(bytes, static_cast<std::size_t>(placed.bytes), may_grow)) return false;
    is_bound_ = false;  // until all of the following has been done, which fails only where nothing else works either
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (!idle[i]) launches_[i].set(operands_of(plan_.steps[i], placed), extents_of_step(extents, i), handover_);
    refusals_ = possible.reasons();
    write_commands(possible, idle, bytes, placed);
    values_.assign(values.begin(), values.end());
    is_bound_ = true;
    return true;
  }

  bool is_bound() const noexcept { return is_bound_; }
  std::span<const std::int64_t> values() const noexcept { return values_; }
  // Of what kernels hand to each other.
  std::size_t arena_bytes() const noexcept { return arena_.bytes + image_bytes_; }
  const std::vector<cl_command>& commands() const noexcept { return commands_; }
  cl_line& line() noexcept { return *line_; }
  const cl_line& line() const noexcept { return *line_; }
  // A queue in which kernels are timed, from now on.
  void measure() {
    if (!line_->is_timed()) line_ = std::make_shared<cl_line>(weights_->device(), CL_QUEUE_PROFILING_ENABLE);
  }

  // Before a run: conditions that are the caller's.
  void set_conditions(std::byte* const* inputs) {
    for (const auto& [buffer, port] : conditions_of_caller_) {
      conditions_[buffer] = inputs[port];
      const std::optional<cl_known_range> known =
          known_to(weights_->device(), inputs[port], 1, true, plan_.text_of(plan_.buffers[buffer].name));
      if (!known || known->memory == nullptr) continue;
      conditions_[buffer] = &fetched_[buffer];
      cl_caller{line_->queue(), nullptr, nullptr}(cl_fetch{known->memory, known->offset, &fetched_[buffer]});
    }
  }
  // What has come to pinned memory goes to the caller's.
  void copy_results(std::byte* const* outputs) const {
    for (const cl_copy& c : pinned_results_)
      if (const std::byte* stop = c.stop_for(outputs[c.number]); stop != nullptr)
        std::copy_n(stop, c.bytes, outputs[c.number]);
  }
  // The run that has been put into the queue has begun, and is waited for before anything else is done.
  std::shared_ptr<cl_pending> add_pending(std::byte* const* outputs) {
    std::vector<cl_pending::result> results;
    for (const cl_copy& c : pinned_results_)
      if (const std::byte* stop = c.stop_for(outputs[c.number]); stop != nullptr)
        results.push_back({stop, outputs[c.number], c.bytes});
    cl_event end = nullptr;
    cl_check(clEnqueueMarkerWithWaitList(line_->queue(), 0, nullptr, &end), "starting a run");
    auto pending = std::make_shared<cl_pending>(line_, cl_handle<cl_event>(end), std::move(results));
    cl_check(clFlush(line_->queue()), "starting a run");
    return pending_ = std::move(pending);
  }
  void end_pending() noexcept {
    if (pending_ != nullptr) pending_->end();
    pending_ = nullptr;
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 31;  // kernels count with 32 bits

  void note_condition(std::int32_t b) {
    const buffer& x = plan_.buffers[static_cast<std::size_t>(b)];
    if (x.where == storage::input)
      conditions_of_caller_.push_back({static_cast<std::size_t>(b), static_cast<std::size_t>(x.port)});
    else if (const cl_mem known = weights_->data(static_cast<std::size_t>(b)); known != nullptr)
      cl_caller{line_->queue(), nullptr, nullptr}(cl_fetch{known, 0, &fetched_[static_cast<std::size_t>(b)]});
    else is_fetched_.push_back(b);
  }
  std::string name_of(std::size_t b) const {
    const buffer& x = plan_.buffers[b];
    const std::string_view kind = x.where == storage::input    ? "input '"
                                  : x.where == storage::output ? "output '"
                                                               : "tensor '";
    return std::string(kind) + std::string(plan_.text_of(x.name)) + "'";
  }
  std::int64_t bytes_of(std::size_t b, const buffer_sizes& sizes) const {
    const std::int64_t bytes = sizes.room_of(plan_.buffers[b]);
    const std::int64_t elements = bytes / static_cast<std::int64_t>(size_of(plan_.buffers[b].type.type));
    if (elements >= most_elements)
      throw error("kernels for OpenCL count with 32 bits", name_of(b), "fewer than 2^31 elements",
                  std::to_string(elements));
    return bytes;
  }
  std::span<const std::int64_t> extents_of_step(const std::vector<std::int64_t>& extents, std::size_t i) const {
    std::size_t first = 0;
    for (std::size_t k = 0; k < i; ++k) first += plan_.steps[k].extents.count;
    return std::span(extents).subspan(first, plan_.steps[i].extents.count);
  }

  // --- memory
  std::size_t number_of_port(const buffer& b) const {
    return static_cast<std::size_t>(b.port) + (b.where == storage::output ? plan_.inputs.size() : 0);
  }
  static bool is_port(const buffer& b) { return b.where == storage::input || b.where == storage::output; }

  // Rooms that are too small are replaced, all or none.
  bool take_memory(const std::vector<std::int64_t>& bytes, std::size_t arena_bytes, bool may_grow) {
    std::vector<std::pair<cl_room*, cl_room>> larger;
    const auto need = [&](cl_room& room, std::size_t needed, const std::string& what, bool is_pinned) {
      if (room.memory == nullptr || room.bytes < needed) larger.emplace_back(&room, make_room(needed, what, is_pinned));
    };
    if (!may_grow) {
      bool fits = arena_bytes <= arena_.bytes;
      for (std::size_t b = 0; b < bytes.size(); ++b)
        if (const buffer& x = plan_.buffers[b]; is_port(x))
          fits = fits && static_cast<std::size_t>(bytes[b]) <= ports_[number_of_port(x)].bytes;
      if (!fits) return false;
    }
    for (std::size_t b = 0; b < bytes.size(); ++b)
      if (const buffer& x = plan_.buffers[b]; is_port(x))
        need(ports_[number_of_port(x)], static_cast<std::size_t>(bytes[b]), name_of(b),
             weights_->device().pins_copies());
    need(arena_, arena_bytes, "the arena", false);
    std::vector<cl_mem> fresh;
    for (const auto& [room, replacement] : larger) fresh.push_back(replacement.memory.get());
    std::vector<cl_handle<cl_mem>> images;
    std::size_t image_bytes = 0;
    if (images_.empty())
      plan::for_each_image(plan_.buffers, [&](std::size_t, dtype type, plan::image_size size) {
        images.push_back(weights_->device().make_image(size, type, "values between kernels"));
        fresh.push_back(images.back().get());
        image_bytes += static_cast<std::size_t>(plan::bytes_of(size, type));
      });
    if (!fresh.empty()) reserve(fresh);
    for (auto& [room, replacement] : larger) *room = std::move(replacement);
    if (!images.empty()) images_ = std::move(images), image_bytes_ = image_bytes;
    return true;
  }
  cl_room make_room(std::size_t bytes, const std::string& what, bool is_pinned) const {
    cl_room r;
    r.bytes = bytes;
    r.memory = weights_->device().make_buffer(bytes, what);
    if (!is_pinned || bytes == 0) return r;
    r.pinned = weights_->device().make_buffer(bytes, "pinned memory for " + what, CL_MEM_ALLOC_HOST_PTR);
    cl_int status = CL_SUCCESS;
    void* const host = clEnqueueMapBuffer(line_->queue(), r.pinned.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                          0, nullptr, nullptr, &status);
    cl_check(status, "pinning memory for " + what);
    r.host = static_cast<std::byte*>(host);
    return r;
  }
  // Drivers take memory when it is first used; this is that, so that want of it is an error of bind().
  void reserve(const std::vector<cl_mem>& memory) {
    line_->guarded([&] {
      cl_check(clEnqueueMigrateMemObjects(line_->queue(), static_cast<cl_uint>(memory.size()), memory.data(),
                                          CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, nullptr),
               "taking memory");
      cl_check(clFinish(line_->queue()), "taking memory");
    });
  }

  // --- operands and commands
  cl_operand operand(std::size_t b, const placement& placed) const {
    const buffer& x = plan_.buffers[b];
    if (x.where == storage::tiles) return {};  // work-groups have tiles
    if (x.where == storage::image) return {images_[static_cast<std::size_t>(x.offset)].get(), 0, true};
    if (is_port(x)) return {ports_[number_of_port(x)].memory.get(), 0};
    if (x.where != storage::arena) return {weights_->data(b), 0};
    return {arena_.memory.get(), static_cast<cl_uint>(place_in_arena(b, placed))};
  }
  std::size_t place_in_arena(std::size_t b, const placement& placed) const {
    return static_cast<std::size_t>(placed.offsets[b]) / size_of(plan_.buffers[b].type.type);
  }
  // Kernels are told with 32 bits how many elements behind the beginning of the arena an operand lies.
  void check_places(const placement& placed) const {
    constexpr std::size_t most = std::numeric_limits<cl_uint>::max();
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b)
      if (const std::size_t place = place_in_arena(b, placed); place > most)
        throw error("lies too far behind the beginning of the arena",
                    "value '" + std::string(plan_.text_of(plan_.buffers[b].name)) + "'",
                    "at most " + std::to_string(most) + " elements", std::to_string(place));
  }
  std::vector<cl_operand> operands_of(const step& s, const placement& placed) const {
    std::vector<cl_operand> list;
    for (std::int32_t b : plan_.numbers_of(s.operands)) list.push_back(operand(static_cast<std::size_t>(b), placed));
    return list;
  }
  void write_commands(const possible_steps& possible, const std::vector<bool>& idle,
                      const std::vector<std::int64_t>& bytes, const placement& placed) {
    command_list<cl_copy, cl_start, cl_fetch, cl_refuse> list;
    pinned_results_.clear();
    for (std::int32_t b : plan_.inputs) add_copy(list, static_cast<std::size_t>(b), bytes);
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      list.enter(conditions_of(plan_.steps[i]));
      if (const std::int32_t reason = possible.reason_against(i); reason != none) {
        list.add(cl_refuse{&refusals_[static_cast<std::size_t>(reason)]});
        continue;
      }
      list.add(begin_step{i});
      if (!idle[i]) list.add(cl_start{&launches_[i], i});
      list.add(end_step{i});
      for_each_written(plan_, plan_.steps[i], [&](std::int32_t b) { add_fetch(list, b, placed); });
    }
    list.enter({});
    for (std::int32_t b : plan_.results) add_copy(list, static_cast<std::size_t>(b), bytes);
    commands_ = list.finished();
  }
  void add_copy(auto& list, std::size_t b, const std::vector<std::int64_t>& bytes) {
    const buffer& x = plan_.buffers[b];
    const cl_room& room = ports_[number_of_port(x)];
    const cl_copy copy{room.memory.get(),         static_cast<std::size_t>(bytes[b]),
                       x.where == storage::input, static_cast<std::size_t>(x.port),
                       plan_.text_of(x.name),     room.host,
                       &weights_->device()};
    if (copy.bytes == 0) return;
    list.add(copy);
    if (!copy.is_input && copy.pinned != nullptr) pinned_results_.push_back(copy);
  }
  // A condition is fetched as soon as it is there.
  void add_fetch(auto& list, std::int32_t b, const placement& placed) {
    if (std::ranges::find(is_fetched_, b) == is_fetched_.end()) return;
    const cl_operand from = operand(static_cast<std::size_t>(b), placed);
    list.add(cl_fetch{from.memory, from.first, &fetched_[static_cast<std::size_t>(b)]});
  }
  std::vector<skip_unless> conditions_of(const step& s) const {
    std::vector<skip_unless> list;
    const auto guards = plan_.numbers_of(s.guards);
    for (std::size_t k = 0; k < guards.size(); k += 2)
      list.push_back({&conditions_[static_cast<std::size_t>(guards[k])], guards[k + 1] != 0});
    return list;
  }

  struct condition_of_caller {
    std::size_t buffer, port;
  };

  const plan_view& plan_;
  const symbol_table& table_;
  std::shared_ptr<const cl_weights> weights_;
  std::shared_ptr<cl_line> line_;
  cl_handover handover_;
  std::vector<cl_launch> launches_;  // by step
  cl_room arena_;
  std::vector<cl_handle<cl_mem>> images_;
  std::size_t image_bytes_ = 0;
  std::vector<cl_room> ports_;  // of the inputs in order, then of the outputs
  std::vector<std::int64_t> values_;
  std::vector<cl_command> commands_;
  std::vector<error> refusals_;          // why branches cannot be taken
  std::vector<cl_copy> pinned_results_;  // which of the copies go on to the caller
  std::vector<std::byte> fetched_;       // by buffer, of conditions that the device computes
  std::vector<std::byte*> conditions_;   // by buffer
  std::vector<condition_of_caller> conditions_of_caller_;
  std::vector<std::int32_t> is_fetched_;
  std::shared_ptr<cl_pending> pending_;
  bool is_bound_ = false;
};

}  // namespace dnnkit::detail
