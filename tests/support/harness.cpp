// SPDX-License-Identifier: MIT
// The part of the tests' harness that does not depend on a model's type, compiled once.
#include "tests/support/harness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/rounding_tolerance.hpp"
#include "dnnkit/weights/safetensors_writer.hpp"

namespace harness {

namespace dk = dnnkit;

std::vector<dk::host_tensor> reference(const dk::graph& g, const test_data& data) {
  return dk::evaluate(g, data.inputs, dk::weights_of(data.weights));
}

std::vector<double> tolerances(const dk::graph& g, const test_data& data,
                               const std::vector<dk::host_tensor>& expected) {
  return dk::rounding_tolerances(g, data, expected);
}

std::string difference(const dk::host_tensor& found, const dk::host_tensor& expected, double tolerance) {
  if (found.type != expected.type || found.dims != expected.dims)
    return "found " + found.describe() + ", expected " + expected.describe();
  const auto report = [&](std::size_t i, const std::string& f, const std::string& e) {
    return "element " + std::to_string(i) + " of " + expected.describe() + ": found " + f + ", expected " + e +
           ", tolerance " + std::to_string(tolerance);
  };
  for (std::size_t i = 0; i < expected.integers.size(); ++i)
    if (found.integers[i] != expected.integers[i])
      return report(i, std::to_string(found.integers[i]), std::to_string(expected.integers[i]));
  for (std::size_t i = 0; i < expected.reals.size(); ++i) {
    const double f = found.reals[i], e = expected.reals[i];
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    if (!(std::fabs(f - e) <= tolerance)) return report(i, std::to_string(f), std::to_string(e));
  }
  return {};
}

std::vector<std::byte> safetensors_bytes(const weight_map& weights) {
  std::vector<std::vector<std::byte>> data;
  std::vector<dk::stored_tensor> tensors;
  for (const auto& [name, t] : weights) {
    std::vector<std::byte>& bytes = data.emplace_back(t.count() * dk::size_of(t.type));
    with_type(t.type, [&]<class T>(T) {
      for (std::size_t i = 0; i < t.count(); ++i) {
        const T x = stored_element<T>(t, i);
        std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
      }
    });
    tensors.push_back({name, t.type, t.dims, bytes});
  }
  std::vector<const dk::stored_tensor*> order;
  for (const dk::stored_tensor& t : tensors) order.push_back(&t);
  std::ranges::stable_sort(order, {},
                           [](const dk::stored_tensor* t) { return dk::detail::safetensors_rank(t->dtype); });
  const std::string header = dk::detail::safetensors_header(order, {});
  std::vector<std::byte> file;
  const auto append = [&](std::span<const std::byte> bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  append(std::as_bytes(std::span(header)));
  for (const dk::stored_tensor* t : order) append(t->data);
  return file;
}

std::string describe(const dk::graph& g) {
  std::string s;
  const auto value_text = [&](dk::value_id v) {
    if (v == dk::none) return std::string("-");
    return "%" + std::to_string(v) + " " + std::string(g.name_of(v));
  };
  for (const dk::node& n : g.nodes) {
    dk::text attributes;
    n.op->print(g.attributes_of(n), g.symbols, attributes);
    s += value_text(n.output) + " " + std::string(dk::name(g.at(n.output).type.type)) + " " +
         dk::print(g.symbols, g.at(n.output).type.dims).str() + " = " + std::string(n.op->name) + "(";
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const dk::value_id v = g.input_of(n, i);
      s += (i ? ", " : "") + value_text(v);
      if (v != dk::none && g.at(v).producer == dk::none) s += " " + dk::print(g.symbols, g.at(v).type.dims).str();
    }
    s += ") " + attributes.str() + "\n";
  }
  s += "outputs:";
  for (dk::value_id v : g.outputs) s += " " + value_text(v);
  return s + "\n";
}

std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count) {
  if (const char* one = std::getenv("DNNKIT_SEED")) return {std::strtoull(one, nullptr, 10)};
  if (const char* more = std::getenv("DNNKIT_SEEDS")) count = std::strtoull(more, nullptr, 10);
  std::vector<std::uint64_t> list;
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(first + i);
  return list;
}

}  // namespace harness
