// SPDX-License-Identifier: MIT
// A network compiled for one instruction set, for a program that holds several versions of a model and chooses one when
// it starts (runtime/versions.hpp). Each version takes a unit of its own, with the flags of the instruction set:
//   #include <dnnkit/cpu/kernel_unit.hpp>
//   template struct dnnkit::cpu::version_of<dnnkit::compile<my_model, dnnkit::targets::avx2>>;
// dnnkit_kernel_units() (cmake/dnnkitOnnx.cmake) and `dnnkit build` write those units and see to it that nothing but
// get() leaves them: functions of the standard library and of operators, which have no target in their names, are
// compiled there with instructions that another processor need not have.
#pragma once

#include <span>
#include <string_view>

#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::cpu {

// What the runtime needs of a version; it lives as long as the program.
struct kernel_version {
  std::string_view isa;
  plan_view plan;
  std::span<const kernel_entry> kernels;
};

template <class Net> struct version_of {
  // Compiled in the unit that has the explicit instantiation (cpu/kernel_unit.hpp).
  static kernel_version get() noexcept;
};

}  // namespace dnnkit::cpu
