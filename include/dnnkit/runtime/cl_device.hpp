// SPDX-License-Identifier: MIT
// OpenCL devices: which there are, one by name or number, and what is owned of it. The OpenCL headers are included
// here, for the other cl_ files.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/image_place.hpp"
#include "dnnkit/runtime/cl_cache.hpp"

namespace dnnkit {

namespace detail {

struct cl_release {
  void operator()(cl_context x) const noexcept { clReleaseContext(x); }
  void operator()(cl_command_queue x) const noexcept { clReleaseCommandQueue(x); }
  void operator()(cl_program x) const noexcept { clReleaseProgram(x); }
  void operator()(cl_kernel x) const noexcept { clReleaseKernel(x); }
  void operator()(cl_mem x) const noexcept { clReleaseMemObject(x); }
  void operator()(cl_event x) const noexcept { clReleaseEvent(x); }
};

struct cl_meaning {
  cl_int status;
  const char* text;
};
inline constexpr cl_meaning cl_meanings[]{
    {CL_DEVICE_NOT_AVAILABLE, "the device is not available"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "not enough memory on the device"},
    {CL_OUT_OF_RESOURCES, "the device is out of resources"},
    {CL_OUT_OF_HOST_MEMORY, "not enough memory"},
    {CL_INVALID_BUFFER_SIZE, "a buffer too large for the device"},
    {CL_INVALID_WORK_GROUP_SIZE, "a work-group too large for the device"},
    {CL_INVALID_CONTEXT, "the device has been lost"},
    {CL_INVALID_COMMAND_QUEUE, "the device has been lost"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command has failed on the device"},
};

// Throws dnnkit::error when a call of OpenCL has failed; `doing` says what it was for.
inline void cl_check(cl_int status, std::string_view doing) {
  if (status == CL_SUCCESS) return;
  const char* text = "an error of the platform";
  for (const cl_meaning& m : cl_meanings)
    if (m.status == status) text = m.text;
  throw error(text, "OpenCL, " + std::string(doing), {}, "error " + std::to_string(status));
}

}  // namespace detail

// An object of OpenCL, released when its owner goes.
template <class T> using cl_handle = std::unique_ptr<std::remove_pointer_t<T>, detail::cl_release>;

namespace detail {

// create(pointer to the status) -> object
template <class Create> auto cl_created(std::string_view doing, Create create) {
  cl_int status = CL_SUCCESS;
  cl_handle<decltype(create(&status))> object(create(&status));
  cl_check(status, doing);
  return object;
}

template <class Object, class Info> std::string cl_text(Object object, Info get, cl_uint what) {
  std::size_t size = 0;
  if (get(object, what, size, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (get(object, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(size - 1);  // without the zero at its end
  return text;
}
template <class T> T cl_number(cl_device_id device, cl_device_info what) {
  T n{};
  cl_check(clGetDeviceInfo(device, what, sizeof n, &n, nullptr), "asking what a device can do");
  return n;
}

struct cl_candidate {
  cl_platform_id platform;
  cl_device_id id;
  std::string name;  // "platform: device"
  bool is_gpu;
};

// Is `wanted` in the name, in capitals or not?
inline bool holds(std::string_view name, std::string_view wanted) {
  const auto lower = [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::search(name.begin(), name.end(), wanted.begin(), wanted.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != name.end();
}

inline std::vector<cl_candidate> cl_candidates() {
  std::vector<cl_candidate> list;
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return list;
  std::vector<cl_platform_id> platforms(count);
  cl_check(clGetPlatformIDs(count, platforms.data(), nullptr), "asking for platforms");
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS || devices == 0) continue;
    std::vector<cl_device_id> ids(devices);
    cl_check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr), "asking for devices");
    for (cl_device_id id : ids)
      list.push_back(
          {platform, id,
           cl_text(platform, clGetPlatformInfo, CL_PLATFORM_NAME) + ": " + cl_text(id, clGetDeviceInfo, CL_DEVICE_NAME),
           (cl_number<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0});
  }
  return list;
}

using cl_shared_program = std::shared_ptr<std::remove_pointer_t<cl_program>>;

// What all networks on a device share as long as there is one: its context, and programs by what they are made of.
struct cl_shared {
  cl_device_id id = nullptr;
  std::string name;
  hash_of_bytes identity;  // of the platform, the device and the driver, on which binaries depend
  cl_handle<cl_context> context;
  cl_ulong largest_buffer = 0;  // in bytes
  bool is_host = false;         // its memory is the processor's
  std::atomic<bool> is_lost = false;
  std::mutex building;
  std::map<hash_of_bytes, std::weak_ptr<std::remove_pointer_t<cl_program>>> programs;

  explicit cl_shared(const cl_candidate& c)
      : id(c.id),
        name(c.name),
        context(
            cl_created("making a context",
                       [&](cl_int* status) { return clCreateContext(nullptr, 1, &c.id, nullptr, nullptr, status); })),
        largest_buffer(cl_number<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE)),
        is_host(cl_number<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE) {
    identity.add(cl_text(c.platform, clGetPlatformInfo, CL_PLATFORM_NAME));
    identity.add(cl_text(c.platform, clGetPlatformInfo, CL_PLATFORM_VERSION));
    for (const int what : {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
      identity.add(cl_text(id, clGetDeviceInfo, static_cast<cl_device_info>(what)));
  }

  // That of the device, which is made where there is none or where it has been lost.
  static std::shared_ptr<cl_shared> of(const cl_candidate& c) {
    static std::mutex access;
    static std::map<cl_device_id, std::weak_ptr<cl_shared>> all;
    const std::scoped_lock lock(access);
    std::weak_ptr<cl_shared>& known = all[c.id];
    std::shared_ptr<cl_shared> shared = known.lock();
    if (shared == nullptr || shared->is_lost) known = shared = std::make_shared<cl_shared>(c);
    return shared;
  }
};

}  // namespace detail

// "Platform: device" of every OpenCL device, in the order of their numbers.
[[nodiscard]] inline std::vector<std::string> cl_devices() {
  std::vector<std::string> names;
  for (const detail::cl_candidate& c : detail::cl_candidates()) names.push_back(c.name);
  return names;
}

// How inputs and outputs get to a device and back: straight from and to the caller's memory, or by way of pinned
// memory, which devices that are not the processor copy from and to by themselves. `as_fits` chooses by that.
enum class cl_copies : std::uint8_t { as_fits, direct, pinned };

// The device on which a network runs; copies stand for the same one.
class cl_device {
 public:
  // `wanted` of digits alone is a number in the order of cl_devices(); else the device is the first one whose
  // "platform: device" holds it, in capitals or not; of those the first GPU, if there is any. Throws dnnkit::error,
  // which lists all devices, when there is none.
  explicit cl_device(std::string_view wanted, cl_copies copies = cl_copies::as_fits)
      : cl_device(wanted, copies, "OpenCL") {}
  // The one that the environment variable DNNKIT_OPENCL_DEVICE asks for in the same way; without it any.
  cl_device() : cl_device(wanted_by_environment(), cl_copies::as_fits, place_of_wish()) {}

  cl_device_id id() const noexcept { return shared_->id; }
  // All sessions on the device are in one.
  cl_context context() const noexcept { return shared_->context.get(); }
  const std::string& name() const noexcept { return shared_->name; }
  bool pins_copies() const noexcept { return pins_; }
  detail::cl_shared& shared() const noexcept { return *shared_; }

  cl_handle<cl_command_queue> make_queue(cl_command_queue_properties properties = 0) const {
    return detail::cl_created(
        "making a queue", [&](cl_int* status) { return clCreateCommandQueue(context(), id(), properties, status); });
  }
  // At least one element, as OpenCL has no empty buffers. `what` is it for: "input 'x'".
  cl_handle<cl_mem> make_buffer(std::size_t bytes, const std::string& what, cl_mem_flags flags = 0) const {
    constexpr std::size_t least = sizeof(cl_float);
    if (bytes > shared_->largest_buffer)
      throw error("too large for a buffer of the device", what + " on OpenCL device '" + name() + "'",
                  "at most " + std::to_string(shared_->largest_buffer) + " bytes", std::to_string(bytes));
    return detail::cl_created(
        "making a buffer of " + std::to_string(bytes) + " bytes for " + what, [&](cl_int* status) {
          return clCreateBuffer(context(), CL_MEM_READ_WRITE | flags, bytes < least ? least : bytes, nullptr, status);
        });
  }
  // Of texels of four numbers.
  cl_handle<cl_mem> make_image(plan::image_size size, dtype type, const std::string& what) const {
    const cl_image_format format{CL_RGBA, static_cast<cl_channel_type>(type == dtype::f16 ? CL_HALF_FLOAT : CL_FLOAT)};
    cl_image_desc image{};
    image.image_type = CL_MEM_OBJECT_IMAGE2D;
    image.image_width = static_cast<std::size_t>(size.width);
    image.image_height = static_cast<std::size_t>(size.height);
    return detail::cl_created(
        "making an image of " + std::to_string(size.width) + " x " + std::to_string(size.height) + " texels for " +
            what + " on OpenCL device '" + name() + "'",
        [&](cl_int* status) { return clCreateImage(context(), CL_MEM_READ_WRITE, &format, &image, nullptr, status); });
  }

 private:
  cl_device(std::string_view wanted, cl_copies copies, std::string_view wished_by) {
    const std::vector<detail::cl_candidate> all = detail::cl_candidates();
    const bool is_number = !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string_view::npos;
    const detail::cl_candidate* chosen = nullptr;
    std::string names;
    for (const detail::cl_candidate& c : all) {
      const std::string number = std::to_string(&c - all.data());
      names += (names.empty() ? "" : ", ") + number + " '" + c.name + "'";
      if (is_number ? number != wanted : !detail::holds(c.name, wanted)) continue;
      if (chosen == nullptr || (c.is_gpu && !chosen->is_gpu)) chosen = &c;
    }
    if (chosen == nullptr)
      throw error("there is no such device", std::string(wished_by),
                  wanted.empty() ? "any device"
                  : is_number    ? "number " + std::string(wanted)
                                 : "one whose name holds '" + std::string(wanted) + "'",
                  names.empty() ? "none; a driver such as pocl-opencl-icd has to be installed" : names);
    shared_ = detail::cl_shared::of(*chosen);
    pins_ = copies == cl_copies::pinned || (copies == cl_copies::as_fits && !shared_->is_host);
  }
  static std::string_view wanted_by_environment() {
    const char* const wanted = std::getenv("DNNKIT_OPENCL_DEVICE");
    return wanted == nullptr ? "" : wanted;
  }
  static std::string_view place_of_wish() {
    return wanted_by_environment().empty() ? "OpenCL" : "OpenCL, DNNKIT_OPENCL_DEVICE";
  }

  std::shared_ptr<detail::cl_shared> shared_;
  bool pins_ = false;
};

}  // namespace dnnkit
