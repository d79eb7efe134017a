// SPDX-License-Identifier: MIT
// What a run does on an OpenCL device: inputs are copied there, kernels started, outputs copied back, and of the
// condition of a branch the host is told when it has been computed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/joined.hpp"
#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/cl_known_memory.hpp"
#include "dnnkit/runtime/cl_launch.hpp"
#include "dnnkit/runtime/command.hpp"
#include "dnnkit/runtime/observer.hpp"

namespace dnnkit::detail {

// An argument's memory, where the device knows it. Throws dnnkit::error for memory of another device.
inline std::optional<cl_known_range> known_to(const cl_device& device, const std::byte* first, std::size_t bytes,
                                              bool is_input, std::string_view name) {
  const std::optional<cl_known_range> range = cl_known_memory::of_process().find(first, bytes);
  if (!range || range->context == device.context()) return range;
  if (range->memory == nullptr) return {};
  throw error("its range lies in memory of another device, or of one that has been lost",
              joined({is_input ? "input '" : "output '", name, "'"}), joined({"OpenCL device '", device.name(), "'"}));
}

struct cl_copy {
  cl_mem memory;
  std::size_t bytes;
  bool is_input;
  std::size_t number;     // of the input or output
  std::string_view name;  // its
  std::byte* pinned;      // on the way to or from the caller's memory; null: there is no such stop
  const cl_device* device;

  // The caller's memory where the device knows it, so that there is no stop.
  std::optional<cl_known_range> known(const std::byte* caller) const {
    return known_to(*device, caller, bytes, is_input, name);
  }
  std::byte* stop_for(const std::byte* caller) const { return pinned != nullptr && !known(caller) ? pinned : nullptr; }
};
struct cl_start {
  const cl_launch* kernel;
  std::size_t step;
};
// Waits for a condition, a byte.
struct cl_fetch {
  cl_mem memory;
  std::size_t at;
  std::byte* to;
};
// In the place of a branch that cannot be taken with the extents as they are.
struct cl_refuse {
  const error* why;
};

using cl_command = command<cl_copy, cl_start, cl_fetch, cl_refuse>;

// A kernel that runs, and the event of its end.
struct cl_timed_start {
  std::size_t step;
  cl_handle<cl_event> event;
};

struct cl_caller {
  cl_command_queue queue;
  std::byte* const* inputs;
  std::byte* const* outputs;
  std::vector<cl_timed_start>* timed = nullptr;  // where starts are noted, if anywhere

  void operator()(const cl_copy& c) const {
    std::byte* const caller = (c.is_input ? inputs : outputs)[c.number];
    const std::optional<cl_known_range> known = c.known(caller);
    if (known && known->memory != nullptr) return copy_on_device(c, *known);
    std::byte* const stop = known ? nullptr : c.pinned;
    std::byte* const host = stop != nullptr ? stop : caller;
    if (c.is_input) {
      if (stop != nullptr) std::copy_n(caller, c.bytes, stop);
      cl_check(clEnqueueWriteBuffer(queue, c.memory, CL_FALSE, 0, c.bytes, host, 0, nullptr, nullptr),
               "copying an input");
    } else {
      cl_check(clEnqueueReadBuffer(queue, c.memory, CL_FALSE, 0, c.bytes, host, 0, nullptr, nullptr),
               "copying an output");
    }
  }
  void copy_on_device(const cl_copy& c, const cl_known_range& caller) const {
    cl_check(c.is_input
                 ? clEnqueueCopyBuffer(queue, caller.memory, c.memory, caller.offset, 0, c.bytes, 0, nullptr, nullptr)
                 : clEnqueueCopyBuffer(queue, c.memory, caller.memory, 0, caller.offset, c.bytes, 0, nullptr, nullptr),
             c.is_input ? "copying an input" : "copying an output");
  }
  void operator()(const cl_start& c) const {
    if (timed == nullptr) return c.kernel->start(queue);
    cl_event event = nullptr;
    c.kernel->start(queue, &event);
    if (event != nullptr) timed->push_back({c.step, cl_handle<cl_event>(event)});
  }
  void operator()(const cl_fetch& c) const {
    cl_check(clEnqueueReadBuffer(queue, c.memory, CL_TRUE, c.at, 1, c.to, 0, nullptr, nullptr), "reading a condition");
  }
  [[noreturn]] void operator()(const cl_refuse& c) const { throw *c.why; }
  void finish() const { cl_check(clFinish(queue), "running the kernels"); }
};

// Tells another observer of a step's end when that has happened on the device.
template <class Observer> struct cl_observer {
  Observer& told;
  const cl_caller& device;

  auto before(const plan_view& plan, std::size_t step) const { return told.before(plan, step); }
  void after(const plan_view& plan, std::size_t step) const {
    if constexpr (!std::is_same_v<Observer, no_observer>) device.finish();
    told.after(plan, step);
  }
};

// Tells an observer when kernels ran, which have ended. The device has a clock of its own; `begin` is the time of this
// one when the first of them was put into the queue.
template <class Observer>
void tell_times(const plan_view& plan, const std::vector<cl_timed_start>& starts,
                std::chrono::steady_clock::time_point begin, Observer& observer) {
  const auto time_of = [](const cl_timed_start& s, cl_profiling_info what) {
    cl_ulong nanoseconds = 0;
    cl_check(clGetEventProfilingInfo(s.event.get(), what, sizeof nanoseconds, &nanoseconds, nullptr),
             "asking when a kernel ran");
    return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
  };
  for (const cl_timed_start& s : starts) {
    const auto offset = begin - time_of(starts[0], CL_PROFILING_COMMAND_QUEUED);
    observer.timed(plan, s.step, offset + time_of(s, CL_PROFILING_COMMAND_START),
                   offset + time_of(s, CL_PROFILING_COMMAND_END));
  }
}

}  // namespace dnnkit::detail
