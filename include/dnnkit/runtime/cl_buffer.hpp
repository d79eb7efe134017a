// SPDX-License-Identifier: MIT
// Memory of an OpenCL device for inputs and outputs of sessions on it, which stay there:
//   dk::cl_buffer<float> features(device, encoder.output_elements(0));
//   encoder.run(x, features);
//   decoder.run(features, y);
#pragma once

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/cl_known_memory.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

namespace detail {

// Addresses that nobody else has, and that the processor can neither read nor write.
class reserved_addresses {
 public:
  // Throws dnnkit::error when the process has no such number of them left.
  explicit reserved_addresses(std::size_t bytes)
      : first_(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes_(bytes) {
    if (first_ == MAP_FAILED)
      throw error("cannot reserve addresses (" + std::generic_category().message(errno) + ")", "memory of a device", {},
                  std::to_string(bytes) + " bytes");
  }
  reserved_addresses(reserved_addresses&&) = delete;
  ~reserved_addresses() { ::munmap(first_, bytes_); }

  std::byte* data() const noexcept { return static_cast<std::byte*>(first_); }

 private:
  void* first_;
  std::size_t bytes_;
};

// Memory of a device, zeros at first, and the addresses that stand for it.
class cl_block {
 public:
  cl_block(const cl_device& device, std::size_t bytes)
      : device_(device),
        queue_(device.make_queue()),
        memory_(device.make_buffer(bytes, "a buffer")),
        addresses_(bytes),
        bytes_(bytes) {
    const cl_uchar zero = 0;
    cl_check(clEnqueueFillBuffer(queue_.get(), memory_.get(), &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
             "taking memory");
    cl_check(clFinish(queue_.get()), "taking memory");
    cl_known_memory::of_process().add(addresses_.data(), bytes, device.context(), memory_.get());
  }
  cl_block(cl_block&&) = delete;
  ~cl_block() { cl_known_memory::of_process().remove(addresses_.data()); }

  std::byte* addresses() const noexcept { return addresses_.data(); }
  std::size_t bytes() const noexcept { return bytes_; }
  cl_mem memory() const noexcept { return memory_.get(); }

  void read(std::size_t offset, std::span<std::byte> to) const {
    cl_check(
        clEnqueueReadBuffer(queue_.get(), memory_.get(), CL_TRUE, offset, to.size(), to.data(), 0, nullptr, nullptr),
        "reading a buffer");
  }
  void write(std::size_t offset, std::span<const std::byte> from) {
    cl_check(clEnqueueWriteBuffer(queue_.get(), memory_.get(), CL_TRUE, offset, from.size(), from.data(), 0, nullptr,
                                  nullptr),
             "writing a buffer");
  }

 private:
  cl_device device_;
  cl_handle<cl_command_queue> queue_;
  cl_handle<cl_mem> memory_;
  reserved_addresses addresses_;
  std::size_t bytes_;
};

}  // namespace detail

// Elements of a cl_buffer that lie side by side, as an argument of a run. They are the buffer's, and gone with it.
template <class T> class cl_part {
 public:
  std::size_t size() const noexcept { return addresses_.size(); }

 private:
  template <class> friend class cl_buffer;
  template <class> friend struct argument_access;
  explicit cl_part(std::span<T> addresses) noexcept : addresses_(addresses) {}
  // Throws dnnkit::error when the buffer is gone.
  std::span<T> elements() const {
    const auto* first = reinterpret_cast<const std::byte*>(addresses_.data());
    if (!addresses_.empty() && !detail::cl_known_memory::of_process().find(first, addresses_.size_bytes()))
      throw error("the buffer that it is a part of is gone", "part of a buffer of an OpenCL device");
    return addresses_;
  }
  std::span<T> addresses_;
};

// A range of `size` elements in memory of the device, zeros at first. The processor has them by read() and write(),
// which wait; runs of sessions on the device take it, or a part of it, for an argument as they take ranges of the
// host's: it must outlive them, and until one has ended, its range is the run's (cl_run.hpp). Neither another session
// nor read() waits for that. A session on another device raises dnnkit::error. For one thread at a time.
template <class T> class cl_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "dnnkit: elements are copied byte by byte");
  static_assert(!std::is_const_v<T>, "dnnkit: a buffer that is only read is a const cl_buffer");

 public:
  // Throws dnnkit::error when the device has no such memory left.
  cl_buffer(const cl_device& device, std::size_t size) {
    constexpr std::size_t most = ~std::size_t{0};
    const std::size_t bytes = size <= most / sizeof(T) ? size * sizeof(T) : most;
    if (bytes != 0) block_ = std::make_unique<detail::cl_block>(device, bytes);
  }

  std::size_t size() const noexcept { return block_ == nullptr ? 0 : block_->bytes() / sizeof(T); }
  // As OpenCL knows it, for kernels of other programs in the device's context; null when it is empty.
  cl_mem memory() const noexcept { return block_ == nullptr ? nullptr : block_->memory(); }

  // Elements from number `first` on, as many as the range has. Throws dnnkit::error when there are not so many, and
  // when the platform fails.
  void read(std::span<T> to, std::size_t first = 0) const {
    require(first, to.size());
    if (!to.empty()) block_->read(first * sizeof(T), std::as_writable_bytes(to));
  }
  void write(std::span<const T> from, std::size_t first = 0) {
    require(first, from.size());
    if (!from.empty()) block_->write(first * sizeof(T), std::as_bytes(from));
  }

  // `count` elements from number `first` on. Throws dnnkit::error when there are not so many.
  cl_part<T> part(std::size_t first, std::size_t count) & {
    require(first, count);
    return cl_part<T>(elements<T>().subspan(first, count));
  }
  cl_part<const T> part(std::size_t first, std::size_t count) const& {
    require(first, count);
    return cl_part<const T>(elements<const T>().subspan(first, count));
  }
  void part(std::size_t first, std::size_t count) && = delete;  // it would be gone with the buffer

 private:
  template <class> friend struct argument_access;

  template <class Element> std::span<Element> elements() const noexcept {
    return {block_ == nullptr ? nullptr : reinterpret_cast<Element*>(block_->addresses()), size()};
  }
  void require(std::size_t first, std::size_t count) const {
    if (first > size() || count > size() - first)
      throw error("has fewer elements", "a buffer of an OpenCL device",
                  std::to_string(count) + " from number " + std::to_string(first) + " on", std::to_string(size()));
  }

  std::unique_ptr<detail::cl_block> block_;  // null when it is empty
};

namespace detail {

template <class Element> struct device_argument {
  static constexpr bool is_on_device = true;
  using element = Element;
  static constexpr std::array<std::int64_t, 1> extents_of(std::span<Element> x) {
    return {static_cast<std::int64_t>(x.size())};
  }
};
template <class T> inline constexpr bool outlives_call<cl_part<T>> = true;

}  // namespace detail

template <class T> struct argument_access<cl_buffer<T>> : detail::device_argument<T> {
  static std::span<T> elements(const cl_buffer<T>& x) { return x.template elements<T>(); }
  static auto extents(const cl_buffer<T>& x) { return detail::device_argument<T>::extents_of(elements(x)); }
};
template <class T> struct argument_access<const cl_buffer<T>> : detail::device_argument<const T> {
  static std::span<const T> elements(const cl_buffer<T>& x) { return x.template elements<const T>(); }
  static auto extents(const cl_buffer<T>& x) { return detail::device_argument<const T>::extents_of(elements(x)); }
};
template <class T> struct argument_access<cl_part<T>> : detail::device_argument<T> {
  static std::span<T> elements(const cl_part<T>& x) { return x.elements(); }
  static auto extents(const cl_part<T>& x) { return detail::device_argument<T>::extents_of(elements(x)); }
};
template <class T> struct argument_access<const cl_part<T>> : argument_access<cl_part<T>> {};

}  // namespace dnnkit
