// SPDX-License-Identifier: MIT
// The part of the tests' harness that does not depend on a model's type, compiled once.
#include "tests/support/harness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/weights/safetensors_writer.hpp"
#include "tests/support/random_source.hpp"

namespace harness {

namespace dk = dnnkit;

namespace {

// x disturbed by at most `amplitude`, by how much being a function of x and the seed.
struct disturb {
  float amplitude = 0;
  std::int64_t seed = 0;

  static constexpr std::string_view name = "Disturb";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("amplitude", self.amplitude);
    visit("seed", self.seed);
  }
  template <class T> T apply(T x) const {
    random_source r(std::bit_cast<std::uint64_t>(static_cast<double>(x)) ^ static_cast<std::uint64_t>(seed) << 32);
    return x + static_cast<T>(amplitude * r.real(-1, 1));
  }
};
using operators = decltype(dk::builtin_ops + dk::op_set<disturb>{});

bool rounds(const dk::graph& g, const dk::node& n) {
  static constexpr std::string_view exact[] = {
      "Relu", "Clip",   "Abs", "Neg",    "Min",     "Max",       "Floor",       "Ceil",   "Round",   "Sign",
      "And",  "Or",     "Xor", "Not",    "Equal",   "Less",      "LessOrEqual", "Where",  "Greater", "GreaterOrEqual",
      "Cast", "Concat", "Pad", "Gather", "MaxPool", "ReduceMax", "ReduceMin",   "ArgMax", "ArgMin"};
  if (n.op->kind == dk::form::movement || g.at(n.output).type.type != dk::f32) return false;
  if (g.is<dk::op::resize>(n)) return g.as<dk::op::resize>(n).mode == dk::resize_mode::linear;
  return std::find(std::begin(exact), std::end(exact), n.op->name) == std::end(exact);
}

double largest(const dk::host_tensor& t) {
  double m = 0;
  for (double x : t.reals)
    if (std::isfinite(x)) m = std::max(m, std::fabs(x));
  return m;
}

dk::host_tensor random_tensor(dk::dtype type, const std::vector<std::int64_t>& dims, std::string_view name,
                              random_source& r) {
  dk::host_tensor t(type, dims);
  const bool positive = name.starts_with("variance") || name.ends_with("running_var");
  for (double& x : t.reals) x = dk::round_to(type, positive ? r.real(0.5, 1.5) : r.real(-1, 1));
  const std::int64_t least = !dk::info(type).is_signed ? 0 : type == dk::i8 ? -128 : -5;
  const std::int64_t most = type == dk::boolean ? 1 : type == dk::u8 ? 255 : type == dk::i8 ? 127 : 5;
  for (std::int64_t& x : t.integers) x = r.between(least, most);
  return t;
}

}  // namespace

test_data random_data(const dk::graph& g, std::uint64_t seed) {
  random_source r(seed);
  test_data data;
  std::vector<std::int64_t> values;
  for (const dk::symbol& s : g.symbols.symbols) {
    values.push_back(r.between(s.limits.min, std::min(s.limits.max, s.limits.min + 8)));
    data.symbols[s.name.str()] = values.back();
  }
  const auto dims_of = [&](const dk::value& v) {
    std::vector<std::int64_t> dims;
    for (dk::dim d : v.type.dims) dims.push_back(g.symbols.evaluate(d, values.data()));
    return dims;
  };
  for (dk::value_id v : g.inputs)
    data.inputs.push_back(random_tensor(g.at(v).type.type, dims_of(g.at(v)), g.name_of(v), r));
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const dk::value& v = g.values[i];
    if (v.from == dk::origin::weight)
      data.weights[std::string(g.text_of(v.name))] = random_tensor(v.type.type, dims_of(v), g.text_of(v.name), r);
  }
  return data;
}

std::vector<dk::host_tensor> reference(const dk::graph& g, const test_data& data) {
  return dk::evaluate(g, data.inputs, dk::weights_of(data.weights));
}

std::vector<double> tolerances(const dk::graph& original, const test_data& data,
                               const std::vector<dk::host_tensor>& expected) {
  const dk::graph g = dk::passes::expand_composites::run(original);
  std::vector<double> largest_of(g.values.size(), 0);
  dk::evaluate(g, data.inputs, dk::weights_of(data.weights),
               [&](dk::value_id v, const dk::host_tensor& t) { largest_of[static_cast<std::size_t>(v)] = largest(t); });
  constexpr double units = 0x1p-23 * 12;
  std::vector<double> result;
  for (const dk::host_tensor& t : expected) result.push_back(units * largest(t) + 0x1p-40);
  for (std::int64_t run = 1; run <= 2; ++run) {
    std::int64_t seed = run * 100'003;
    const dk::graph disturbed = dk::rebuild(g, [&](dk::builder& b, const dk::node& n, const auto& inputs) {
      if (!rounds(g, n)) return dk::tensor{};
      const auto around = [&](dk::tensor t, double scale) {
        return b.apply(disturb{static_cast<float>(units * scale), ++seed}, {t});
      };
      dk::vector<dk::value_id> ids;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool real = inputs[i].present() && inputs[i].type() == dk::f32;
        const double scale = real ? largest_of[static_cast<std::size_t>(g.input_of(n, i))] : 0;
        ids.push_back(real ? around(inputs[i], scale / 4).id() : inputs[i].id());
      }
      const std::int64_t* codes = g.attributes_of(n);
      const dk::tensor y{&b, b.value().add_node(*n.op, "", {codes, codes + n.attributes.count}, ids)};
      // functions are computed with terms of the size of 1 even where the result is small
      const double least = n.op->kind == dk::form::elementwise && n.inputs.count == 1 ? 0.25 : 0;
      return around(y, std::max(largest_of[static_cast<std::size_t>(n.output)], least));
    });
    const auto found = dk::evaluate<operators>(disturbed, data.inputs, dk::weights_of(data.weights));
    for (std::size_t k = 0; k < found.size(); ++k)
      for (std::size_t i = 0; i < found[k].reals.size(); ++i) {
        const double d = std::fabs(found[k].reals[i] - expected[k].reals[i]);
        if (d > result[k]) result[k] = d;
      }
  }
  return result;
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
