// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/planned_devices.hpp"

#include <string_view>
#include <utility>

#include "dnnkit/opencl/planned_families.hpp"

namespace dnnkit::tool {

namespace {

template <const gpu_facts& Facts> plan::plan_draft plan_for(dnnkit::graph g, pass_names left_out) {
  return opencl::planned_for<Facts>(std::move(g), left_out);
}
constexpr planned_device all[] = {{"opencl", &plan_for<devices::h200>}, {"opencl_small", &plan_for<devices::small>}};

}  // namespace

const planned_device* find_device(std::string_view name) {
  for (const planned_device& d : all)
    if (d.name == name) return &d;
  return nullptr;
}

}  // namespace dnnkit::tool
