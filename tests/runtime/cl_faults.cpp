// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize alone
// A device that fails: too little memory, calls that are refused, a device that is lost. Each is an error, behind which
// the session can be used or says that it cannot.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;
using opencl_model::data;
using opencl_model::net;

namespace {

// PoCL has 1 GiB, and lets a buffer have a quarter of it: said before it is asked for the first time.
const bool memory_is_limited = ::setenv("POCL_MEMORY_LIMIT", "1", 1) == 0;

// What the platform is made to say: of starts of kernels, of the n-th from now on; of all that waits; of all pages that
// are taken; of buffers made and mapped, of the n-th from now on and all behind it.
cl_int start_status = CL_SUCCESS, wait_status = CL_SUCCESS, memory_status = CL_SUCCESS, buffer_status = CL_SUCCESS;
int starts_before = 0, buffers_before = 0;

template <class F> F* next(const char* name, F*) { return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name)); }

struct fault {
  fault() = default;
  ~fault() { start_status = wait_status = memory_status = buffer_status = CL_SUCCESS; }
};

}  // namespace

// Before the library's.
extern "C" cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t* o, const size_t* g,
                                         const size_t* l, cl_uint count, const cl_event* list, cl_event* event) {
  if (start_status != CL_SUCCESS && starts_before-- == 0) return start_status;
  return next("clEnqueueNDRangeKernel", &clEnqueueNDRangeKernel)(q, k, n, o, g, l, count, list, event);
}
extern "C" cl_int clFinish(cl_command_queue q) {
  const cl_int status = next("clFinish", &clFinish)(q);
  return wait_status != CL_SUCCESS ? wait_status : status;
}
extern "C" cl_int clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint n, const cl_mem* m, cl_mem_migration_flags f,
                                             cl_uint count, const cl_event* list, cl_event* event) {
  if (memory_status != CL_SUCCESS) return memory_status;
  return next("clEnqueueMigrateMemObjects", &clEnqueueMigrateMemObjects)(q, n, m, f, count, list, event);
}
extern "C" cl_mem clCreateBuffer(cl_context c, cl_mem_flags f, size_t n, void* host, cl_int* status) {
  if (buffer_status == CL_SUCCESS || buffers_before-- > 0)
    return next("clCreateBuffer", &clCreateBuffer)(c, f, n, host, status);
  *status = buffer_status;
  return nullptr;
}
extern "C" void* clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t first, size_t n,
                                    cl_uint count, const cl_event* list, cl_event* event, cl_int* status) {
  if (buffer_status == CL_SUCCESS || buffers_before-- > 0)
    return next("clEnqueueMapBuffer", &clEnqueueMapBuffer)(q, m, b, f, first, n, count, list, event, status);
  *status = buffer_status;
  return nullptr;
}

namespace {

bool is_right(opencl_model::session& s, std::size_t n, float first = 0) {
  data d(n, first);
  s.run(d.x, d.y, d.s);
  return d.is_right();
}

// 512 MB of weights.
struct large {
  static constexpr void build(dk::builder& g) {
    g.output("y", g.input("x", dk::f32, {1}) + g.input("z", dk::f32, {1 << 27}));
  }
};

}  // namespace

TEST_CASE("memory: more than a buffer may have, and more than there is") {
  opencl_model::session s(opencl_model::weights());
  s.bind({{"N", 100}});
  CHECK(is_right(s, 100));
  CHECK(memory_is_limited);
  const std::string wrong = error_of([&] {
    s.bind({{"N", std::int64_t{1} << 25}});
    return 0;
  });
  CHECK(wrong.find("'x' on OpenCL device '") != std::string::npos);
  CHECK(wrong.find("too large for a buffer of the device, expected at most ") != std::string::npos);
  CHECK(wrong.find(" bytes, found 402653184") != std::string::npos);
  CHECK(is_right(s, 100));  // what was bound before stays

  const std::string of_static =
      error_of([] { return dk::session<dk::compile<large, dk::targets::opencl>>().arena_bytes(); });
  CHECK(of_static.find("'z' on OpenCL device '") != std::string::npos);
  CHECK(of_static.find("found 536870912") != std::string::npos);

  CHECK(error_of([&] {
          s.bind({{"N", std::int64_t{1} << 30}});
          return 0;
        }).find("kernels for OpenCL count with 32 bits, expected fewer than 2^31 elements") != std::string::npos);
  CHECK(is_right(s, 100));
}

TEST_CASE("memory that the driver has not, and says so only when it is used, is an error of bind()") {
  opencl_model::session s(opencl_model::weights());
  s.bind({{"N", 100}});
  {
    const fault f;
    memory_status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    s.bind({{"N", 50}});  // there is enough
    CHECK(is_right(s, 50));
    CHECK(error_of([&] {
            s.bind({{"N", 5000}});
            return 0;
          }) == "OpenCL, taking memory: not enough memory on the device, found error -4");
    CHECK(is_right(s, 50, 1));
  }
  s.bind({{"N", 5000}});
  CHECK(is_right(s, 5000));
}

TEST_CASE("memory that ends at the n-th buffer, whichever that is, is an error behind which all is as it was") {
  // What goes wrong where that buffer is missing; empty where the action needs fewer.
  const auto without_buffer = [](int n, auto action) {
    const fault f;
    buffers_before = n;
    buffer_status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const std::string wrong = error_of([&] {
      action();
      return 0;
    });
    return buffers_before >= 0 ? std::string() : wrong;
  };
  const auto is_said = [](const std::string& wrong) {
    return wrong.find("OpenCL, ") == 0 &&
           wrong.find(": not enough memory on the device, found error -4") != std::string::npos;
  };
  for (const dk::cl_copies copies : {dk::cl_copies::direct, dk::cl_copies::pinned}) {
    CAPTURE(static_cast<int>(copies));
    const dk::cl_device device("", copies);
    int of_weights = 0, of_symbols = 0;
    const auto pack = [&] { return dk::packed_weights<net>(opencl_model::weights(), device); };
    for (; of_weights < 100; ++of_weights) {
      const std::string wrong = without_buffer(of_weights, pack);
      if (wrong.empty()) break;
      CHECK_MESSAGE(is_said(wrong), wrong);
    }
    CHECK(of_weights >= 2);  // what is read from the file, and what the setup makes of it
    opencl_model::session s(pack());
    s.bind({{"N", 100}});
    CHECK(is_right(s, 100));
    for (; of_symbols < 100; ++of_symbols) {
      const std::string wrong = without_buffer(of_symbols, [&] { s.bind({{"N", 5000}}); });
      if (wrong.empty()) break;
      CHECK_MESSAGE(is_said(wrong), wrong);
      CHECK(is_right(s, 100, static_cast<float>(of_symbols)));
    }
    CHECK(of_symbols >= 3);  // x, y and s
    CHECK(is_right(s, 5000));
  }
}

TEST_CASE("a kernel that is refused: the session goes on") {
  opencl_model::session s(opencl_model::weights());
  s.bind({{"N", 100}});
  for (const int before : {0, 1}) {
    CAPTURE(before);
    {
      const fault f;
      starts_before = before;
      start_status = CL_OUT_OF_RESOURCES;
      data d(100);
      const std::string wrong = error_of([&] {
        s.run(d.x, d.y, d.s);
        return 0;
      });
      CHECK(wrong.find("OpenCL, starting kernel '") == 0);
      CHECK(wrong.find(": the device is out of resources, found error -5") != std::string::npos);
    }
    CHECK(is_right(s, 100));
    {
      const fault f;
      starts_before = before;
      start_status = CL_OUT_OF_RESOURCES;
      data d(100);
      CHECK(error_of([&] { return s.start(d.x, d.y, d.s).has_ended(); }).find("error -5") != std::string::npos);
    }
    CHECK(is_right(s, 100));
  }
}

TEST_CASE("a device that is lost: its sessions say so, and new ones get a context of their own") {
  const dk::packed_weights<net> weights(opencl_model::weights());
  opencl_model::session s(weights), running(weights);
  s.bind({{"N", 100}});
  running.bind({{"N", 100}});
  const cl_context lost = dk::cl_device().context();
  data d(100), e(100);
  {
    dk::cl_run run = running.start(e.x, e.y, e.s);
    const fault f;
    wait_status = CL_OUT_OF_RESOURCES;
    const std::string wrong = error_of([&] {
      s.run(d.x, d.y, d.s);
      return 0;
    });
    CHECK(
        wrong ==
        "OpenCL, running the kernels: the device is out of resources; the device has been lost, and its sessions with "
        "it, found error -5");
    for (int i = 0; i < 2; ++i)
      CHECK(error_of([&] {
              run.wait();
              return 0;
            }) == wrong);
  }
  const std::string unusable =
      "session: its device has been lost; make another session, found OpenCL device '" + dk::cl_device().name() + "'";
  for (opencl_model::session* each : {&s, &running}) {
    CHECK(error_of([&] {
            each->run(d.x, d.y, d.s);
            return 0;
          }) == unusable);
    CHECK(error_of([&] {
            each->bind({{"N", 3}});
            return 0;
          }) == unusable);
  }
  CHECK(dk::cl_device().context() != lost);
  s = opencl_model::session(opencl_model::weights());
  s.bind({{"N", 100}});
  CHECK(is_right(s, 100));
}
