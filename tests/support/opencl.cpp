// SPDX-License-Identifier: MIT
// The check of opencl.hpp.
#include "tests/support/opencl.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/verify_plan.hpp"
#include "dnnkit/reference/element_codec.hpp"
#include "dnnkit/runtime/cl_execution.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/harness.hpp"

namespace harness {

namespace dk = dnnkit;

namespace {

// Tiles that kernels have whatever would be chosen.
struct given_tiles {
  const dk::opencl::attention_tile* attention = nullptr;
  const dk::opencl::product_tile* product = nullptr;
  const dk::opencl::winograd_tile* winograd = nullptr;
};

// The target with a device whose launches cost so much that stages gain by being joined.
constexpr dk::gpu_facts slow_launches{.launch = 1e4, .gap = 5e3};
template <class Memory> struct eager_target : dk::targets::opencl_in<Memory> {
  struct joins {
    static constexpr const dk::gpu_facts& facts = slow_launches;
    static constexpr auto families = dk::targets::opencl::joins::families;
  };
};

template <class Memory> dk::plan::plan_draft plan_in(const dk::graph& g, const opencl_planning& how) {
  if (how.eager) return dk::default_pipeline::run<eager_target<Memory>>(g, {}, how.left_out).plan;
  return dk::default_pipeline::run<dk::targets::opencl_in<Memory>>(g, {}, how.left_out).plan;
}
dk::plan::plan_draft plan_of(const dk::graph& g, const opencl_planning& how) {
  return how.images ? plan_in<dk::images>(g, how) : plan_in<dk::buffers>(g, how);
}

// The kernels of a graph.
class opencl_network {
 public:
  explicit opencl_network(const dk::graph& g, const opencl_planning& how = {}, const given_tiles& given = {})
      : plan_(plan_of(g, how)) {
    for (std::size_t r = 0; r < plan_.recipes.size(); ++r) {
      std::string& source = sources_.emplace_back(1 << 20, '\0');
      dk::opencl::source_writer out(source.data(), source.size());
      const auto draft = kernel_of(r, given, out);
      source.resize(out.size());
      texts_.push_back({source, draft.work});
      if (refusal_.empty()) refusal_ = draft.error.str();
    }
    if (!plan_.error.empty()) refusal_ = plan_.error.str();
  }

  dk::plan_view plan() const { return dk::plan::view_of(plan_); }
  std::span<const dk::opencl::kernel_text> texts() const { return texts_; }
  const std::string& refusal() const { return refusal_; }

 private:
  dk::opencl::kernel_draft kernel_of(std::size_t r, const given_tiles& given, dk::opencl::source_writer& out) const {
    const dk::plan_view view = plan();  // which the writer refers to
    dk::opencl::recipe_writer<dk::builtin_set> w(view, r, out);
    const dk::operator_id anchor = w.self.anchor.id;
    if (given.attention != nullptr && w.self.earlier.count != 0) {
      dk::opencl::write_attention(w, *given.attention);
      return w.draft;
    }
    if (given.product != nullptr && (anchor == dk::id_of<dk::op::matmul> || anchor == dk::id_of<dk::op::conv>)) {
      dk::opencl::family_choice choice = dk::opencl::choose_family(w);
      const std::int64_t depth = choice.tile.depth;  // which channels decide in a convolution
      choice.tile = *given.product;
      if (anchor == dk::id_of<dk::op::conv>) choice.tile.depth = depth;
      if (choice.tile.local() > dk::opencl::product_gpu{}.group_local) choice.tile.slices = 1;
      if (choice.chosen == dk::opencl::family::tiles && dk::opencl::write_chosen_family(w, choice)) return w.draft;
    }
    if (given.winograd != nullptr && anchor == dk::id_of<dk::op::conv>) {
      dk::opencl::family_choice choice;
      choice.chosen = dk::opencl::family::winograd;
      choice.winograd = *given.winograd;
      dk::opencl::write_chosen_family(w, choice);
      return w.draft;
    }
    return dk::opencl::write_kernel<dk::builtin_set>(view, r, out);
  }

  dk::plan::plan_draft plan_;
  std::list<std::string> sources_;  // which stay where they are
  std::vector<dk::opencl::kernel_text> texts_;
  std::string refusal_;
};

// While there is a device, PoCL keeps the library of its functions, which it takes longer to read than to compile most
// kernels. This one stays: what a driver needs to release it may be gone by the end of the program.
void keep_device() { [[maybe_unused]] static const dk::cl_device* const device = new dk::cl_device; }

std::size_t values_in_images(const auto& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.buffers.begin(), plan.buffers.end(),
                    [](const dk::plan::buffer& b) { return b.where == dk::plan::storage::image; }));
}

std::vector<std::byte> bytes_of(const dk::host_tensor& t) {
  std::vector<std::byte> bytes(t.count() * dk::size_of(t.type));
  with_type(t.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < t.count(); ++i) {
      const T x = stored_element<T>(t, i);
      std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
  });
  return bytes;
}
dk::host_tensor tensor_of(const std::vector<std::byte>& bytes, const dk::host_tensor& like) {
  dk::host_tensor t(like.type, like.dims);
  with_type(t.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < t.count(); ++i) {
      std::conditional_t<std::is_arithmetic_v<T>, T, std::uint16_t> x{};
      std::memcpy(&x, bytes.data() + i * sizeof(x), sizeof(x));
      if constexpr (std::is_arithmetic_v<T>) t.set(i, x);
      else t.set(i, t.type == dk::f16 ? dk::detail::half_to_double(x) : dk::detail::bfloat_to_double(x));
    }
  });
  return t;
}

// What may differ because kernels round numbers of 16 bits only where they are stored, and the evaluator behind each
// operator: some steps of the largest one.
double rounding_of(const dk::host_tensor& t) {
  constexpr double steps = 4;
  double largest = 0;
  for (const double x : t.reals)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return t.type == dk::f16 ? steps * largest * 0x1p-11 : t.type == dk::bf16 ? steps * largest * 0x1p-8 : 0;
}

// What is wrong with two runs on this data.
std::string wrong_of_runs(dk::cl_execution& e, const dk::graph& g, const test_data& data) {
  const std::vector<dk::host_tensor> expected = reference(g, data);
  const std::vector<double> allowed = tolerances(g, data, expected);
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::vector<std::byte*> in, out;
  for (const dk::host_tensor& t : data.inputs) inputs.push_back(bytes_of(t));
  for (const dk::host_tensor& t : expected) outputs.emplace_back(t.count() * dk::size_of(t.type));
  for (auto& v : inputs) in.push_back(v.data());
  for (auto& v : outputs) out.push_back(v.data());
  for (int run = 0; run < 2; ++run) {
    dk::no_observer nobody;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      std::ranges::fill(outputs[k], expected[k].type == dk::f32 ? std::byte{0xc2} : std::byte{1});
    e.run(in.data(), out.data(), dk::serial, nobody);
    for (std::size_t k = 0; k < expected.size(); ++k)
      if (const std::string wrong =
              difference(tensor_of(outputs[k], expected[k]), expected[k], allowed[k] + rounding_of(expected[k]));
          !wrong.empty())
        return "run " + std::to_string(run) + ", output " + std::to_string(k) + ": " + wrong;
  }
  return {};
}

std::string error_of(const opencl_network& network, const dk::graph& g, std::uint64_t seed) {
  if (!network.refusal().empty()) return network.refusal();
  if (const dk::text wrong = dk::verify(network.plan()); !wrong.empty()) return wrong.str();
  keep_device();
  constexpr std::uint64_t other_data = 1000;
  const std::vector<std::uint64_t> seeds =
      g.symbols.symbols.empty() ? std::vector<std::uint64_t>{seed}
                                : std::vector<std::uint64_t>{seed, seed + other_data, seed + 2 * other_data};
  std::optional<dk::cl_execution> e;
  for (const std::uint64_t s : seeds) {
    const test_data data = random_data(g, s);
    const std::vector<std::byte> file = safetensors_bytes(data.weights);
    const auto weights = std::make_shared<const dk::cl_weights>(network.plan(), network.texts(),
                                                                dk::safetensors::from_memory(file, "weights"));
    if (e) e->load(weights);
    else e.emplace(network.plan(), network.texts(), weights);
    std::vector<dk::binding> bindings;
    for (const dk::symbol& symbol : network.plan().symbols)
      bindings.push_back({symbol.name.view(), data.symbols.at(symbol.name.str())});
    e->bind(bindings);
    if (const std::string wrong = wrong_of_runs(*e, g, data); !wrong.empty())
      return "data " + std::to_string(s) + ", " + wrong;
  }
  return {};
}

}  // namespace

std::vector<dk::host_tensor> opencl_outputs(const dk::graph& g, const std::vector<dk::host_tensor>& inputs,
                                            const dk::weight_source& weights) {
  const opencl_network network(g);
  if (!network.refusal().empty()) throw std::runtime_error(network.refusal());
  keep_device();
  weight_map named;
  for (const dk::value& v : g.values)
    if (v.from == dk::origin::weight) named.emplace(g.text_of(v.name), weights(g.text_of(v.name)));
  const std::vector<std::byte> file = safetensors_bytes(named);
  dk::cl_execution e(network.plan(), network.texts(),
                     std::make_shared<const dk::cl_weights>(network.plan(), network.texts(),
                                                            dk::safetensors::from_memory(file, "weights")));
  std::vector<std::vector<std::byte>> in, out;
  std::vector<std::byte*> from, to;
  std::vector<dk::host_tensor> outputs;
  const auto extents_of = [&](dk::value_id v) {
    std::vector<std::int64_t> dims;
    for (dk::dim d : g.at(v).type.dims) {
      if (!d.is_known()) throw std::runtime_error("an extent is a symbol");
      dims.push_back(d.value());
    }
    return dims;
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dims != extents_of(g.inputs[k]))
      throw std::runtime_error("an input is of another shape than declared");
    from.push_back(in.emplace_back(bytes_of(inputs[k])).data());
  }
  for (dk::value_id v : g.outputs) {
    outputs.emplace_back(g.at(v).type.type, extents_of(v));
    to.push_back(out.emplace_back(outputs.back().count() * dk::size_of(outputs.back().type)).data());
  }
  dk::no_observer nobody;
  e.run(from.data(), to.data(), dk::serial, nobody);
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k] = tensor_of(out[k], outputs[k]);
  return outputs;
}

std::string opencl_refusal(const dk::graph& g, const opencl_planning& how) { return opencl_network(g, how).refusal(); }
std::size_t opencl_joined(const dk::graph& g) {
  std::size_t kernels = 0;
  for (const dk::plan::recipe& r : plan_of(g, {.eager = true}).recipes) kernels += r.earlier.count != 0;
  return kernels;
}

bool opencl_says(const dk::graph& g, std::string_view words) {
  const opencl_network network(g);
  return std::ranges::any_of(network.texts(),
                             [&](const auto& text) { return text.source.find(words) != std::string_view::npos; });
}

std::size_t values_in_images(const dk::graph& g) { return values_in_images(plan_of(g, {.images = true})); }

std::string opencl_error(const dk::graph& g, std::uint64_t seed, const opencl_planning& how) {
  const std::string wrong = error_of(opencl_network(g, how), g, seed);
  if (!wrong.empty() || how.images) return wrong;
  opencl_planning with_images = how;
  with_images.images = true;
  const opencl_network other(g, with_images);
  if (values_in_images(other.plan()) == 0) return {};
  const std::string wrong_there = error_of(other, g, seed);
  return wrong_there.empty() ? "" : "with values in images: " + wrong_there;
}
std::string opencl_error(const dk::graph& g, std::uint64_t seed, const dk::opencl::attention_tile& tile) {
  return error_of(opencl_network(g, {}, {.attention = &tile}), g, seed);
}
std::string opencl_error(const dk::graph& g, std::uint64_t seed, const dk::opencl::product_tile& tile) {
  return error_of(opencl_network(g, {}, {.product = &tile}), g, seed);
}
std::string opencl_error(const dk::graph& g, std::uint64_t seed, const dk::opencl::winograd_tile& tile) {
  return error_of(opencl_network(g, {}, {.winograd = &tile}), g, seed);
}

}  // namespace harness
