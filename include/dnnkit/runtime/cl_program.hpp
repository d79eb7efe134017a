// SPDX-License-Identifier: MIT
// A network's kernels as a program of a device: taken from the sessions that have it already, from the cache on disk,
// or built.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/runtime/cl_cache.hpp"
#include "dnnkit/runtime/cl_device.hpp"

namespace dnnkit::detail {

class cl_builder {
 public:
  cl_builder(const cl_device& device, std::span<const opencl::kernel_text> kernels)
      : device_(device), kernels_(kernels) {
    key_.add(device.shared().identity);
    key_.add(options);
    key_.add(opencl::prelude);
    for (const opencl::kernel_text& k : kernels) key_.add(k.source);
  }

  // Throws dnnkit::error with the compiler's log when the kernels are no program.
  cl_shared_program program(const cl_cache& cache) const {
    const std::scoped_lock lock(device_.shared().building);  // whoever wants the same waits for it
    auto& known = device_.shared().programs[key_];
    cl_shared_program program = known.lock();
    if (program == nullptr) known = program = kept(cache);
    return program;
  }
  const hash_of_bytes& key() const noexcept { return key_; }

 private:
  static constexpr std::string_view options = "-cl-std=CL1.2";

  cl_shared_program kept(const cl_cache& cache) const {
    if (const auto binary = cache.read(key_))
      if (cl_shared_program program = of_binary(*binary)) return program;
    cl_shared_program program = of_source();
    if (const std::vector<std::byte> binary = binary_of(program.get()); !binary.empty()) cache.write(key_, binary);
    return program;
  }
  cl_int build(cl_program program) const {
    const cl_device_id id = device_.id();
    return clBuildProgram(program, 1, &id, std::string(options).c_str(), nullptr, nullptr);
  }

  // Null where the driver does not take it.
  cl_shared_program of_binary(std::span<const std::byte> binary) const {
    const cl_device_id id = device_.id();
    const std::size_t size = binary.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int taken = CL_SUCCESS, status = CL_SUCCESS;
    cl_handle<cl_program> program(clCreateProgramWithBinary(device_.context(), 1, &id, &size, &bytes, &taken, &status));
    if (status != CL_SUCCESS || taken != CL_SUCCESS || build(program.get()) != CL_SUCCESS) return nullptr;
    return program;
  }
  cl_shared_program of_source() const {
    std::vector<const char*> parts{opencl::prelude.data()};
    std::vector<std::size_t> sizes{opencl::prelude.size()};
    for (const opencl::kernel_text& k : kernels_) {
      parts.push_back(k.source.data());
      sizes.push_back(k.source.size());
    }
    auto program = cl_created("making a program", [&](cl_int* status) {
      return clCreateProgramWithSource(device_.context(), static_cast<cl_uint>(parts.size()), parts.data(),
                                       sizes.data(), status);
    });
    const cl_int status = build(program.get());
    if (status == CL_SUCCESS) return program;
    const std::string log = cl_text(
        program.get(), [&](cl_program p, auto... rest) { return clGetProgramBuildInfo(p, device_.id(), rest...); },
        CL_PROGRAM_BUILD_LOG);
    throw error("the kernels could not be built", "OpenCL device '" + device_.name() + "'", {},
                "error " + std::to_string(status) + ", and the log:\n" + log);
  }
  // Empty where the driver gives none.
  static std::vector<std::byte> binary_of(cl_program program) {
    std::size_t size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) return {};
    std::vector<std::byte> binary(size);
    auto* to = reinterpret_cast<unsigned char*>(binary.data());
    if (size == 0 || clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr) != CL_SUCCESS) return {};
    return binary;
  }

  const cl_device& device_;
  std::span<const opencl::kernel_text> kernels_;
  hash_of_bytes key_;
};

}  // namespace dnnkit::detail
