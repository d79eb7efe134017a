// SPDX-License-Identifier: MIT
// Memory that OpenCL devices know, by its address: arrays of the host's that a device copies from and to by itself
// (cl_array.hpp), and addresses that stand for memory of a device (cl_buffer.hpp).
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace dnnkit::detail {

// A range of bytes, and where it lies.
struct cl_known_range {
  cl_context context;      // of the device that knows it
  cl_mem memory;           // that the addresses stand for; null: they are the host's own
  std::size_t offset = 0;  // of the range in it
};

// All there are in the process, for any number of threads.
class cl_known_memory {
 public:
  static cl_known_memory& of_process() {
    static cl_known_memory& all = *new cl_known_memory;  // for ever: what it knows may be a program's globals
    return all;
  }

  void add(const void* first, std::size_t bytes, cl_context context, cl_mem memory) {
    const std::scoped_lock lock(access_);
    blocks_[static_cast<const std::byte*>(first)] = {bytes, {context, memory}};
  }
  void remove(const void* first) {
    const std::scoped_lock lock(access_);
    blocks_.erase(static_cast<const std::byte*>(first));
  }
  // Where these bytes lie, when all of them are in one block.
  std::optional<cl_known_range> find(const std::byte* first, std::size_t bytes) const {
    const std::scoped_lock lock(access_);
    auto behind = blocks_.upper_bound(first);
    if (behind == blocks_.begin()) return {};
    const auto& [begin, found] = *--behind;
    const auto offset = static_cast<std::size_t>(first - begin);
    if (offset > found.bytes || bytes > found.bytes - offset) return {};
    return cl_known_range{found.range.context, found.range.memory, offset};
  }

 private:
  struct block {
    std::size_t bytes;
    cl_known_range range;
  };

  mutable std::mutex access_;
  std::map<const std::byte*, block, std::less<>> blocks_;
};

}  // namespace dnnkit::detail
