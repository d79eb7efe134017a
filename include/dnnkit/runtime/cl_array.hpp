// SPDX-License-Identifier: MIT
// Memory of the host that an OpenCL device copies from and to by itself (pinned): a session on that device reads inputs
// from it and writes outputs there without a copy of its own on the way, which matters where they are megabytes.
//   dk::cl_array<float> y(device, s.output_elements(0));
//   s.run(x, y);
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/cl_known_memory.hpp"

namespace dnnkit {

// A range of `size` elements, zeros at first. It must outlive all runs that have it for an argument.
template <class T> class cl_array {
  static_assert(std::is_trivially_copyable_v<T>, "dnnkit: elements are copied byte by byte");

 public:
  // Throws dnnkit::error when the device has no such memory left.
  cl_array(const cl_device& device, std::size_t size) : device_(device), size_(size) {
    constexpr std::size_t most = ~std::size_t{0};
    const std::size_t bytes = size <= most / sizeof(T) ? size * sizeof(T) : most;
    if (bytes == 0) return;
    queue_ = device.make_queue();
    buffer_ = device.make_buffer(bytes, "an array in pinned memory", CL_MEM_ALLOC_HOST_PTR);
    cl_int status = CL_SUCCESS;
    data_ = static_cast<T*>(clEnqueueMapBuffer(queue_.get(), buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                               bytes, 0, nullptr, nullptr, &status));
    detail::cl_check(status, "pinning memory for an array");
    for (std::size_t i = 0; i < size; ++i) data_[i] = T{};
    detail::cl_known_memory::of_process().add(data_, bytes, device.context(), nullptr);
  }
  cl_array(cl_array&& other) noexcept
      : device_(other.device_),
        queue_(std::move(other.queue_)),
        buffer_(std::move(other.buffer_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  cl_array& operator=(cl_array&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(queue_, other.queue_);
    std::swap(buffer_, other.buffer_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~cl_array() {
    if (data_ == nullptr) return;
    detail::cl_known_memory::of_process().remove(data_);
    static_cast<void>(clEnqueueUnmapMemObject(queue_.get(), buffer_.get(), data_, 0, nullptr, nullptr));
    static_cast<void>(clFinish(queue_.get()));
  }

  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  cl_device device_;
  cl_handle<cl_command_queue> queue_;
  cl_handle<cl_mem> buffer_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dnnkit
