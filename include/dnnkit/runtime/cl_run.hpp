// SPDX-License-Identifier: MIT
// A run on an OpenCL device that has begun, and the queue it is in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/cl_device.hpp"

namespace dnnkit {

namespace detail {

// A session's queue, and whether its device is still there.
class cl_line {
 public:
  explicit cl_line(cl_device device, cl_command_queue_properties properties = 0)
      : device_(std::move(device)), properties_(properties), queue_(device_.make_queue(properties)) {}

  cl_command_queue queue() const noexcept { return queue_.get(); }
  bool is_timed() const noexcept { return (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0; }
  const cl_device& device() const noexcept { return device_; }

  void require_device() const {
    if (is_lost_)
      throw error("its device has been lost; make another session", "session", {},
                  "OpenCL device '" + device_.name() + "'");
  }
  // Calls work(). When that fails, what has been begun is waited for, so that nobody's memory is in use any more; where
  // that fails, too, the device is lost to all sessions there are.
  template <class Work> decltype(auto) guarded(Work work) {
    try {
      return work();
    } catch (const error& failure) {
      if (clFinish(queue()) == CL_SUCCESS) throw;
      is_lost_ = device_.shared().is_lost = true;
      throw error(failure.problem() + "; the device has been lost, and its sessions with it", failure.where(),
                  failure.expected(), failure.found());
    } catch (...) {
      if (clFinish(queue()) != CL_SUCCESS) is_lost_ = device_.shared().is_lost = true;
      throw;
    }
  }

 private:
  cl_device device_;
  cl_command_queue_properties properties_;
  cl_handle<cl_command_queue> queue_;
  bool is_lost_ = false;
};

// A run that is on its way: once it has ended, outputs go from pinned memory to the caller's.
class cl_pending {
 public:
  struct result {
    const std::byte* from;
    std::byte* to;
    std::size_t bytes;
  };
  cl_pending(std::shared_ptr<cl_line> line, cl_handle<cl_event> end, std::vector<result> results)
      : line_(std::move(line)), end_(std::move(end)), results_(std::move(results)) {}

  bool has_ended() const {
    if (is_over_) return true;
    cl_int status = CL_COMPLETE;
    if (clGetEventInfo(end_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) != CL_SUCCESS)
      return true;  // wait() says why
    return status <= CL_COMPLETE;
  }
  // What has gone wrong is kept for wait().
  void end() noexcept {
    if (std::exchange(is_over_, true)) return;
    try {
      line_->guarded([&] { cl_check(clFinish(line_->queue()), "running the kernels"); });
      for (const result& r : results_) std::copy_n(r.from, r.bytes, r.to);
    } catch (...) { failure_ = std::current_exception(); }
  }
  void wait() {
    end();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  std::shared_ptr<cl_line> line_;
  cl_handle<cl_event> end_;
  std::vector<result> results_;
  std::exception_ptr failure_;
  bool is_over_ = false;
};

}  // namespace detail

// What session::start() returns. The ranges that it was given are the run's until wait() has returned or thrown, or
// this object is gone, which waits, too: inputs must not be changed, outputs not be read, and neither moved or freed.
// So they are until the session does anything else - runs or starts again, binds, loads, is destroyed -, which waits
// first. Used by one thread at a time, together with its session.
class cl_run {
 public:
  explicit cl_run(std::shared_ptr<detail::cl_pending> pending) : pending_(std::move(pending)) {}
  cl_run(cl_run&&) = default;
  cl_run& operator=(cl_run&& other) noexcept {
    std::swap(pending_, other.pending_);
    return *this;
  }
  ~cl_run() {
    if (pending_ != nullptr) pending_->end();
  }

  // Has the device done all? wait() returns at once then, but is still to be called.
  [[nodiscard]] bool has_ended() const { return pending_ == nullptr || pending_->has_ended(); }
  // Returns when outputs are written. Throws dnnkit::error when the platform failed, each time it is called.
  void wait() {
    if (pending_ != nullptr) pending_->wait();
  }

 private:
  std::shared_ptr<detail::cl_pending> pending_;
};

}  // namespace dnnkit
