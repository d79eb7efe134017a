// SPDX-License-Identifier: MIT
// Memory in which work-groups of a kernel hand sums over to each other (opencl/work_size.hpp): one for all kernels that
// run one behind the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/cl_device.hpp"

namespace dnnkit::detail {

class cl_handover {
 public:
  // For `steps`; without memory where none of them needs it. Counters are zero, as each kernel leaves them.
  cl_handover(const cl_device& device, cl_command_queue queue, std::span<const plan::step> steps,
              std::span<const opencl::kernel_text> kernels) {
    std::int64_t numbers = 0, counters = 0;
    for (const plan::step& s : steps) {
      const opencl::work_size& work = kernels[s.kernel].work;
      numbers = std::max(numbers, work.handed_numbers);
      counters = std::max(counters, work.counters);
    }
    if (counters == 0) return;
    numbers_ = device.make_buffer(static_cast<std::size_t>(numbers) * sizeof(cl_float), "sums of work-groups");
    const std::size_t bytes = static_cast<std::size_t>(counters) * sizeof(cl_int);
    counters_ = device.make_buffer(bytes, "counters of work-groups");
    const cl_int zero = 0;
    cl_check(clEnqueueFillBuffer(queue, counters_.get(), &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
             "setting counters");
    const cl_mem taken = numbers_.get();  // now, not when it is first used
    cl_check(clEnqueueMigrateMemObjects(queue, 1, &taken, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, nullptr),
             "taking memory");
    cl_check(clFinish(queue), "setting counters");
  }

  cl_mem numbers() const noexcept { return numbers_.get(); }
  cl_mem counters() const noexcept { return counters_.get(); }

 private:
  cl_handle<cl_mem> numbers_, counters_;
};

}  // namespace dnnkit::detail
