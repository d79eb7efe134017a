// SPDX-License-Identifier: MIT
// Single operators with results from elsewhere, through the reference evaluator; compiled once for all operators.
#include "tests/support/operator_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/pass/propagate_values.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/weights/host_weights.hpp"

namespace operator_cases {

namespace dk = dnnkit;

namespace {

std::filesystem::path folder() { return std::filesystem::path(__FILE__).parent_path().parent_path() / "op" / "cases"; }
dk::safetensors file_of(const std::string& family) { return dk::safetensors(folder() / (family + ".safetensors")); }

using attribute_map = std::map<std::string, std::vector<std::string>, std::less<>>;

// "Conv pads=1 1 1 1;group=2" -> "Conv", {pads: [1, 1, 1, 1], group: [2]}
std::pair<std::string, attribute_map> parse(const std::string& text) {
  const std::size_t space = text.find(' ');
  attribute_map attributes;
  if (space != std::string::npos) {
    std::istringstream list(text.substr(space + 1));
    for (std::string entry; std::getline(list, entry, ';');) {
      const std::size_t equal = entry.find('=');
      std::istringstream values(entry.substr(equal + 1));
      std::vector<std::string>& into = attributes[entry.substr(0, equal)];
      for (std::string v; values >> v;) into.push_back(v);
    }
  }
  return {text.substr(0, space), attributes};
}

template <class T> T value_from(const std::string& s) {
  if constexpr (std::is_same_v<T, float>) return std::strtof(s.c_str(), nullptr);
  else return static_cast<T>(std::strtoll(s.c_str(), nullptr, 10));
}

// The operator as its op_info and its encoded attributes. Every attribute of the case must be one of the operator's.
struct encoded_operator {
  const dk::op_info* info = nullptr;
  dk::element (*role)(std::size_t input) = nullptr;
  dk::vector<std::int64_t> codes;
};
template <class Op> encoded_operator encoded(const attribute_map& attributes) {
  Op op{};
  std::size_t used = 0;
  if constexpr (dk::detail::has_attributes<Op>)
    Op::attributes(op, [&](std::string_view name, auto& x) {
      const auto found = attributes.find(name);
      if (found == attributes.end()) return;
      ++used;
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (dk::detail::is_list<T>) {
        x.clear();
        for (const std::string& v : found->second) x.push_back(value_from<typename T::value_type>(v));
      } else x = value_from<T>(found->second.at(0));
    });
  REQUIRE(used == attributes.size());
  encoded_operator e{&dk::info_of<Op>, &dk::element_of<Op>, {}};
  dk::encode(op, e.codes);
  return e;
}
template <class... Ops>
encoded_operator find_operator(dk::op_set<Ops...>, const std::string& name, const attribute_map& attributes) {
  encoded_operator e;
  ((Ops::name == name ? (e = encoded<Ops>(attributes), 0) : 0), ...);
  return e;
}

struct case_data {
  encoded_operator op;
  std::vector<dk::host_tensor> inputs;  // those that are given
  std::vector<bool> given;              // of all inputs
  dk::host_tensor expected;
};

// The graph of the one node. Extents equal to `symbolic` become the symbol S, if symbolic > 0.
void build(dk::builder& b, const case_data& c, std::int64_t symbolic) {
  dk::vector<dk::value_id> ids;
  std::size_t next = 0;
  for (const bool given : c.given) {
    if (!given) {
      ids.push_back(dk::none);
      continue;
    }
    const dk::host_tensor& t = c.inputs[next++];
    dk::shape s;
    for (std::int64_t d : t.dims) s.push_back(symbolic > 0 && d == symbolic ? b.symbol(dk::sym{"S"}) : dk::dim(d));
    ids.push_back(b.value().add_value({{}, {t.type, s}, dk::origin::input, dk::none, {}}));
    b.value().inputs.push_back(ids.back());
  }
  b.output("y", {&b, b.value().add_node(*c.op.info, "", c.op.codes, ids)});
}

// The largest difference, relative to 1 or the expected value if that is more; infinite when shapes or types differ.
double distance(const dk::host_tensor& found, const dk::host_tensor& expected) {
  if (found.type != expected.type || found.dims != expected.dims) return HUGE_VAL;
  if (!expected.floating()) return found.integers == expected.integers ? 0 : HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < expected.reals.size(); ++i) {
    const double f = found.reals[i], e = expected.reals[i];
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    const double d = std::fabs(f - e) / (std::fabs(e) > 1 ? std::fabs(e) : 1);
    worst = d <= worst ? worst : d;  // a NaN counts
  }
  return worst;
}

constexpr std::size_t most_inputs = 12;  // of a case

}  // namespace

std::set<std::string> families() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) names.insert(entry.path().stem().string());
  return names;
}

std::set<std::string> names_in_all_families() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const dk::safetensors file(entry.path());
    for (const auto& [name, text] : file.metadata()) names.insert(parse(text).first);
  }
  return names;
}

namespace {

// Calls visit(name of the case, its text, the case) for all cases of a family.
void for_cases(const std::string& family, auto visit) {
  const dk::safetensors file = file_of(family);
  for (const auto& [name, text] : file.metadata()) {
    CAPTURE(name);
    CAPTURE(text);
    const auto [op_name, attributes] = parse(text);
    case_data c{find_operator(dk::builtin_ops, op_name, attributes), {}, {}, dk::to_host_tensor(file.at(name + "/y"))};
    REQUIRE(c.op.info != nullptr);
    for (std::size_t i = 0; i < most_inputs; ++i)
      if (const dk::stored_tensor* t = file.find(name + "/" + std::to_string(i))) {
        c.given.resize(i + 1);  // those left out before
        c.given[i] = true;
        c.inputs.push_back(dk::to_host_tensor(*t));
      }
    visit(op_name, c);
  }
}

}  // namespace

outcome run(const std::string& family, double tolerance) {
  outcome result;
  for_cases(family, [&](const std::string& op_name, const case_data& c) {
    dk::builder b;
    build(b, c, 0);
    REQUIRE(b.value().error.str() == "");
    const dk::host_tensor found = dk::evaluate(b.value(), c.inputs)[0];
    CHECK(found.describe() == c.expected.describe());
    CHECK(distance(found, c.expected) <= tolerance);
    ++result.cases;
    result.operators.insert(op_name);

    std::set<std::int64_t> extents;
    for (const dk::host_tensor& t : c.inputs) extents.insert(t.dims.begin(), t.dims.end());
    extents.erase(0);
    extents.erase(1);
    for (const std::int64_t e : extents) {
      CAPTURE(e);
      dk::builder with_symbol;
      build(with_symbol, c, e);
      if (!with_symbol.value().error.empty()) continue;  // the operator needs this extent known
      CHECK(distance(dk::evaluate(with_symbol.value(), c.inputs)[0], c.expected) <= tolerance);
      ++result.symbolic_graphs;
    }
  });
  return result;
}

known_outcome check_known_values(const std::string& family) {
  known_outcome result;
  for_cases(family, [&](const std::string& op_name, const case_data& c) {
    const auto is_small = [](const dk::host_tensor& t) {
      return dk::known_tensor::may_hold(t.type) && t.count() <= dk::most_known_values;
    };
    const bool by_shape = c.op.info->properties.dynamic == dk::dynamism::isdo;
    for (const dk::host_tensor& t : c.inputs)
      if (!is_small(t) && !by_shape) return;
    if (!c.op.info->evaluate || c.inputs.empty() || !is_small(c.expected)) return;
    dk::builder b;
    build(b, c, 0);
    dk::graph& g = b.value();
    std::size_t next = 0;
    for (const dk::value_id v : g.inputs) {
      const dk::host_tensor& t = c.inputs[next++];
      if (by_shape) continue;
      g.at(v).from = dk::origin::constant;
      g.at(v).data = dk::graph::end_of(g.constants, t.integers.size());
      g.constants.append(t.integers.begin(), t.integers.end());
    }
    if (!by_shape) g.inputs.clear();
    const dk::graph known = dk::passes::propagate_values::run(g);
    const dk::value& y = known.at(known.outputs[0]);
    result.said.insert(op_name);
    if (y.from != dk::origin::constant) return;  // a quotient by 0, a sum of nothing
    result.computed.insert(op_name);
    CHECK(dk::evaluate(known, by_shape ? c.inputs : std::vector<dk::host_tensor>{})[0].integers == c.expected.integers);
  });
  return result;
}

namespace {

using coordinates = dk::coordinates;

// Does the footprint let the output element at `o` depend on the input element at `i`?
bool may_read(const dk::footprint& f, const dk::symbol_table& table, const coordinates& o, const coordinates& i) {
  for (std::size_t d = 0; d < f.axes.size(); ++d) {
    const dk::axis_reach& a = f.axes[d];
    const std::int64_t p = o[a.of];
    switch (a.how) {
      case dk::reach::nothing:
        return false;
      case dk::reach::same:
        if (i[d] != p) return false;
        break;
      case dk::reach::window: {
        const std::int64_t distance = i[d] - p * a.stride.value() + table.evaluate(a.before, nullptr);
        if (distance < 0 || distance % a.dilation != 0 || distance / a.dilation >= a.extent.value()) return false;
        break;
      }
      case dk::reach::grouped:
        if (i[d] / a.extent.value() != p / a.stride.value()) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

// Element i of t as another value of its type, one that stays legal where elements are indices.
void change(dk::host_tensor& t, std::size_t i, dk::element role) {
  if (t.floating()) t.reals[i] = dk::round_to(t.type, -t.reals[i] + (t.reals[i] > 0 ? -0.375 : 0.4375));
  else if (t.type == dk::boolean) t.integers[i] = 1 - t.integers[i];
  else if (role == dk::element::index) t.integers[i] = t.integers[i] == 0 ? 1 : 0;
  else t.integers[i] = dk::wrap_to(t.type, t.integers[i] + 1);
}

bool same_element(const dk::host_tensor& a, const dk::host_tensor& b, std::size_t i) {
  return a.floating() ? a.reals[i] == b.reals[i] || (std::isnan(a.reals[i]) && std::isnan(b.reals[i]))
                      : a.integers[i] == b.integers[i];
}

// For each axis of an input, the positions that each output element was seen to depend on.
class seen_positions {
 public:
  void add(std::size_t axis, std::size_t output, std::int64_t position) {
    const auto [at, fresh] = first_.emplace(std::pair(axis, output), position);
    if (!fresh && at->second != position) several_.insert(axis);
  }
  bool several(std::size_t axis) const { return several_.contains(axis); }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> first_;
  std::set<std::size_t> several_;
};

std::vector<dk::host_tensor> result_of(const dk::graph& g, const std::vector<dk::host_tensor>& inputs) {
  try {
    return dk::evaluate(g, inputs);
  } catch (const dk::error&) { return {}; }  // an index that is none any more
}

coordinates coordinates_in(const dk::host_tensor& t, std::size_t i) {
  return dk::coordinates_of(
      static_cast<std::int64_t>(i), [&](std::size_t d) { return t.dims[d]; }, t.dims.size());
}

}  // namespace

footprint_outcome check_footprints(const std::string& family) {
  footprint_outcome result;
  std::set<std::string> shown;
  for_cases(family, [&](const std::string& op_name, const case_data& c) {
    if (c.op.info->kind == dk::form::composite || c.op.info->kind == dk::form::movement) return;
    constexpr std::size_t most_elements = 400;
    dk::builder b;
    build(b, c, 0);
    dk::graph& g = b.value();
    const dk::node& n = g.nodes.back();
    dk::inference inference = g.inference_of(n);
    inference.out(g.at(n.output).type.type, g.at(n.output).type.dims);
    const dk::host_tensor before = dk::evaluate(g, c.inputs)[0];
    const dk::dynamism dynamic = c.op.info->properties.dynamic;
    bool reads_elements = false;
    for (std::size_t input = 0; input < c.given.size(); ++input)
      if (c.given[input])
        for (const dk::axis_reach& a : c.op.info->reads(c.op.codes.data(), inference, input).axes)
          reads_elements = reads_elements || a.how != dk::reach::nothing;
    if (dk::has_unknown(g.at(n.output).type.dims) && dynamic != dk::dynamism::edo)
      result.faults.insert(op_name + ": extents that are not known, and is not edo");
    if (!c.inputs.empty() && !c.inputs[0].dims.empty() && reads_elements == (dynamic == dk::dynamism::isdo))
      result.faults.insert(op_name + ": reads elements or not, and is isdo or not");
    std::size_t given = 0;
    for (std::size_t input = 0; input < c.given.size(); ++input) {
      if (!c.given[input]) continue;
      const std::size_t position = given++;
      const dk::host_tensor& t = c.inputs[position];
      const dk::footprint f = c.op.info->reads(c.op.codes.data(), inference, input);
      const std::string edge = op_name + " " + std::to_string(input);
      const dk::element role = c.op.role(input);
      if (f.axes.size() != t.dims.size()) result.faults.insert(edge + ": not one entry an axis");
      const bool broadcasts = c.op.info->kind == dk::form::elementwise && t.dims != before.dims;
      if (role == dk::element::common && !broadcasts &&
          dk::mapping_of(f, g.at(g.inputs[position]).type.dims, g.at(n.output).type.dims) > c.op.info->properties.map)
        result.faults.insert(edge + ": a more complex mapping type than declared");
      if (t.count() == 0 || t.count() > most_elements) continue;
      ++result.edges;
      seen_positions seen;
      for (std::size_t i = 0; i < t.count(); ++i) {
        std::vector<dk::host_tensor> changed = c.inputs;
        change(changed[position], i, role);
        const auto after = result_of(g, changed);
        if (after.empty() || after[0].dims != before.dims) continue;
        for (std::size_t o = 0; o < before.count(); ++o) {
          if (same_element(before, after[0], o)) continue;
          const coordinates from = coordinates_in(t, i);
          if (!may_read(f, g.symbols, coordinates_in(before, o), from))
            result.faults.insert(edge + ": reads outside its footprint");
          for (std::size_t d = 0; d < t.dims.size(); ++d) seen.add(d, o, from[d]);
        }
      }
      bool all_shown = true;
      for (std::size_t d = 0; d < t.dims.size(); ++d)
        if (f.axes[d].how == dk::reach::whole && t.dims[d] > 1) all_shown = all_shown && seen.several(d);
      const bool comparable = c.op.info->properties.dynamic != dk::dynamism::edo;  // the same element is somewhere else
      (all_shown || !comparable ? shown : result.wider_than_needed).insert(edge);
    }
  });
  for (const std::string& edge : shown) result.wider_than_needed.erase(edge);
  return result;
}

}  // namespace operator_cases
