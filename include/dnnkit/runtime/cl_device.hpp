// SPDX-License-Identifier: MIT
// An OpenCL device by name, and what is owned of it. The OpenCL headers are included here, for the other cl_ files.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/core/error.hpp"

namespace dnnkit {

namespace detail {

struct cl_release {
  void operator()(cl_context x) const noexcept { clReleaseContext(x); }
  void operator()(cl_command_queue x) const noexcept { clReleaseCommandQueue(x); }
  void operator()(cl_program x) const noexcept { clReleaseProgram(x); }
  void operator()(cl_kernel x) const noexcept { clReleaseKernel(x); }
  void operator()(cl_mem x) const noexcept { clReleaseMemObject(x); }
};

// Throws dnnkit::error when a call of OpenCL has failed; `doing` says what it was for.
inline void cl_check(cl_int status, std::string_view doing) {
  if (status == CL_SUCCESS) return;
  const char* const meaning = status == CL_DEVICE_NOT_AVAILABLE            ? "the device is not available"
                              : status == CL_MEM_OBJECT_ALLOCATION_FAILURE ? "not enough memory on the device"
                              : status == CL_OUT_OF_RESOURCES              ? "the device is out of resources"
                              : status == CL_OUT_OF_HOST_MEMORY            ? "not enough memory"
                              : status == CL_INVALID_BUFFER_SIZE           ? "a buffer too large for the device"
                              : status == CL_INVALID_WORK_GROUP_SIZE       ? "a work-group too large for the device"
                                                                           : "an error of the platform";
  throw error(meaning, "OpenCL, " + std::string(doing), {}, "error " + std::to_string(status));
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

struct cl_candidate {
  cl_device_id id;
  std::string name;  // "platform: device"
  bool is_gpu;
};

template <class Object, class Info> std::string cl_text(Object object, Info get, cl_uint what) {
  std::size_t size = 0;
  if (get(object, what, size, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (get(object, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(size - 1);  // without the zero at its end
  return text;
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
    for (cl_device_id id : ids) {
      cl_device_type type = 0;
      cl_check(clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "asking for a device's type");
      list.push_back(
          {id,
           cl_text(platform, clGetPlatformInfo, CL_PLATFORM_NAME) + ": " + cl_text(id, clGetDeviceInfo, CL_DEVICE_NAME),
           (type & CL_DEVICE_TYPE_GPU) != 0});
    }
  }
  return list;
}

}  // namespace detail

// The device on which a network runs, with a context of its own.
class cl_device {
 public:
  // The first device whose platform or name ("Portable Computing Language: pthread-...") holds `wanted`; of those the
  // first GPU, if there is any. Throws dnnkit::error, which lists all devices, when there is none.
  explicit cl_device(std::string_view wanted) {
    const std::vector<detail::cl_candidate> all = detail::cl_candidates();
    const detail::cl_candidate* chosen = nullptr;
    std::string names;
    for (const detail::cl_candidate& c : all) {
      names += (names.empty() ? "'" : ", '") + c.name + "'";
      if (c.name.find(wanted) == std::string::npos) continue;
      if (chosen == nullptr || (c.is_gpu && !chosen->is_gpu)) chosen = &c;
    }
    if (chosen == nullptr)
      throw error("there is no such device", "OpenCL",
                  wanted.empty() ? "any device" : "one whose name holds '" + std::string(wanted) + "'",
                  names.empty() ? "none; a driver such as pocl-opencl-icd has to be installed" : names);
    id_ = chosen->id;
    name_ = chosen->name;
    context_ = detail::cl_created("making a context", [this](cl_int* status) {
      return clCreateContext(nullptr, 1, &id_, nullptr, nullptr, status);
    });
  }
  // The one that the environment variable DNNKIT_OPENCL_DEVICE asks for; without it any.
  cl_device() : cl_device(wanted_by_environment()) {}

  cl_device_id id() const noexcept { return id_; }
  cl_context context() const noexcept { return context_.get(); }
  const std::string& name() const noexcept { return name_; }

  cl_handle<cl_command_queue> make_queue() const {
    return detail::cl_created("making a queue",
                              [this](cl_int* status) { return clCreateCommandQueue(context(), id_, 0, status); });
  }
  // At least one element, as OpenCL has no empty buffers.
  cl_handle<cl_mem> make_buffer(std::size_t bytes) const {
    constexpr std::size_t least = sizeof(cl_float);
    return detail::cl_created("making a buffer of " + std::to_string(bytes) + " bytes", [&](cl_int* status) {
      return clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes < least ? least : bytes, nullptr, status);
    });
  }

 private:
  static std::string_view wanted_by_environment() {
    const char* const wanted = std::getenv("DNNKIT_OPENCL_DEVICE");
    return wanted == nullptr ? "" : wanted;
  }

  cl_device_id id_ = nullptr;
  std::string name_;
  cl_handle<cl_context> context_;
};

}  // namespace dnnkit
