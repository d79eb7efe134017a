// SPDX-License-Identifier: MIT
// An OpenCL device whose kernels are timed, and a lock for processes that time in turns.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void check(cl_int status, const char* doing) {
  if (status != CL_SUCCESS) throw std::runtime_error(std::string(doing) + ": error " + std::to_string(status));
}

// The device whose platform or name holds what DNNKIT_OPENCL_DEVICE says.
struct device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue timed = nullptr, plain = nullptr;  // with the device's clock and without
  // In which work-groups hand sums over (opencl/work_size.hpp), and their counters.
  static constexpr std::int64_t most_handed = 16 << 20, most_counters = 1 << 12;
  cl_mem handed = nullptr, counters = nullptr;

  device() {
    const char* const wanted = std::getenv("DNNKIT_OPENCL_DEVICE");
    cl_uint count = 0;
    check(clGetPlatformIDs(0, nullptr, &count), "asking for platforms");
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "asking for platforms");
    for (cl_platform_id p : platforms) {
      cl_device_id all[16];
      cl_uint n = 0;
      if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 16, all, &n) != CL_SUCCESS) continue;
      for (cl_uint i = 0; i < n && id == nullptr; ++i) {
        char platform[256] = "", name[256] = "";
        clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof platform, platform, nullptr);
        clGetDeviceInfo(all[i], CL_DEVICE_NAME, sizeof name, name, nullptr);
        const std::string both = std::string(platform) + ": " + name;
        if (wanted != nullptr && both.find(wanted) == std::string::npos) continue;
        id = all[i];
        std::printf("%s\n", both.c_str());
      }
    }
    if (id == nullptr) throw std::runtime_error("there is no such OpenCL device");
    cl_int status = 0;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
    check(status, "making a context");
    timed = clCreateCommandQueue(context, id, CL_QUEUE_PROFILING_ENABLE, &status);
    check(status, "making a queue");
    plain = clCreateCommandQueue(context, id, 0, &status);
    check(status, "making a queue");
    handed = clCreateBuffer(context, CL_MEM_READ_WRITE, most_handed * sizeof(cl_float), nullptr, &status);
    check(status, "making a buffer");
    std::vector<cl_int> zeros(most_counters);
    counters = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, zeros.size() * sizeof(cl_int),
                              zeros.data(), &status);
    check(status, "making a buffer");
  }
};

inline cl_program program_of(const device& d, const std::string& source) {
  const char* start = source.c_str();
  cl_int status = 0;
  const cl_program program = clCreateProgramWithSource(d.context, 1, &start, nullptr, &status);
  check(status, "making a program");
  if (clBuildProgram(program, 1, &d.id, "-cl-std=CL1.2", nullptr, nullptr) != CL_SUCCESS) {
    std::vector<char> log(1 << 16);
    clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw std::runtime_error(source + "\n" + log.data());
  }
  return program;
}

// Microseconds of what start() puts into the queue, one behind the other and one finish; the best of five.
double time_of(const device& d, int times_each, auto start) {
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < times_each; ++j) start();
    check(clFinish(d.plain), "finishing");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / times_each);
  }
  return best;
}

// A file that one process at a time has locked; without a name nothing is.
class lock_file {
 public:
  explicit lock_file(const char* name) : file_(name == nullptr ? -1 : open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (name != nullptr && file_ < 0) throw std::runtime_error(std::string("cannot open ") + name);
  }
  ~lock_file() {
    if (file_ >= 0) close(file_);
  }
  lock_file(const lock_file&) = delete;
  lock_file& operator=(const lock_file&) = delete;

  struct held {
    explicit held(const lock_file& f) : file(f.file_) {
      if (file >= 0) flock(file, LOCK_EX);
    }
    ~held() {
      if (file >= 0) flock(file, LOCK_UN);
    }
    held(const held&) = delete;
    held& operator=(const held&) = delete;
    int file;
  };

 private:
  int file_;
};

}  // namespace bench
