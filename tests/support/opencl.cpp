// SPDX-License-Identifier: MIT
// The check of opencl.hpp.
#include "tests/support/opencl.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/verify_plan.hpp"
#include "dnnkit/runtime/cl_execution.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/harness.hpp"

namespace harness {

namespace dk = dnnkit;

namespace {

// The kernels of a graph.
class opencl_network {
 public:
  explicit opencl_network(const dk::graph& g) : plan_(dk::default_pipeline::run<dk::targets::opencl>(g).plan) {
    for (std::size_t r = 0; r < plan_.recipes.size(); ++r) {
      std::string& source = sources_.emplace_back(1 << 20, '\0');
      dk::opencl::source_writer out(source.data(), source.size());
      const auto draft = dk::opencl::write_kernel<dk::builtin_set>(plan(), r, out);
      source.resize(out.size());
      texts_.push_back({source, draft.groups, draft.group_size});
      if (refusal_.empty()) refusal_ = draft.error.str();
    }
    if (!plan_.error.empty()) refusal_ = plan_.error.str();
  }

  dk::plan_view plan() const { return dk::plan::view_of(plan_); }
  std::span<const dk::opencl::kernel_text> texts() const { return texts_; }
  const std::string& refusal() const { return refusal_; }

 private:
  dk::plan::plan_draft plan_;
  std::list<std::string> sources_;  // which stay where they are
  std::vector<dk::opencl::kernel_text> texts_;
  std::string refusal_;
};

// The elements of an input; zeros for those that no kernel for OpenCL reads.
std::vector<std::byte> bytes_of(const dk::host_tensor& t) {
  std::vector<std::byte> bytes(t.count() * dk::size_of(t.type));
  if (t.type != dk::f32) return bytes;
  const std::vector<float> floats(t.reals.begin(), t.reals.end());
  std::ranges::copy(std::as_bytes(std::span(floats)), bytes.begin());
  return bytes;
}

}  // namespace

std::string opencl_refusal(const dk::graph& g) { return opencl_network(g).refusal(); }

std::string opencl_error(const dk::graph& g, std::uint64_t seed) {
  const opencl_network network(g);
  if (!network.refusal().empty()) return network.refusal();
  if (const dk::text wrong = dk::verify(network.plan()); !wrong.empty()) return wrong.str();
  const test_data data = random_data(g, seed);
  const std::vector<dk::host_tensor> expected = reference(g, data);
  const std::vector<double> allowed = tolerances(g, data, expected);
  const std::vector<std::byte> file = safetensors_bytes(data.weights);
  dk::cl_execution e(network.plan(), network.texts(),
                     std::make_shared<const dk::cl_weights>(network.plan(), network.texts(),
                                                            dk::safetensors::from_memory(file, "weights")));
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<float>> outputs;
  std::vector<std::byte*> in, out;
  for (const dk::host_tensor& t : data.inputs) inputs.push_back(bytes_of(t));
  for (const dk::host_tensor& t : expected) outputs.emplace_back(t.count());
  for (auto& v : inputs) in.push_back(v.data());
  for (auto& v : outputs) out.push_back(reinterpret_cast<std::byte*>(v.data()));
  for (int run = 0; run < 2; ++run) {
    dk::no_observer nobody;
    for (auto& v : outputs) std::fill(v.begin(), v.end(), -77.0F);
    e.run(in.data(), out.data(), dk::serial, nobody);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      dk::host_tensor found(expected[k].type, expected[k].dims);
      found.reals.assign(outputs[k].begin(), outputs[k].end());
      if (const std::string wrong = difference(found, expected[k], allowed[k]); !wrong.empty())
        return "run " + std::to_string(run) + ", output " + std::to_string(k) + ": " + wrong;
    }
  }
  return {};
}

}  // namespace harness
