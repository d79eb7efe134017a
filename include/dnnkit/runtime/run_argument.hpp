// SPDX-License-Identifier: MIT
// What can be handed to session::run() for an input or output: elements that lie in a row, by position or by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/core/element.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/core/joined.hpp"
#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

// How elements are got from a T (const T where it cannot be written): a type of
//   element                          const where T is
//   elements(x)                      std::span of them, of fixed extent where the type knows their number
//   extents(x), known_extents        their shape, row-major; the latter where `elements` has a fixed extent
//   is_on_device                     where they are no memory of the processor's (cl_buffer.hpp)
// A list of n extents fits a tensor whose last n - 1 extents are its last, and the product of those before its first: a
// range of known size and no shape has one. Here: whatever std::span takes, else anything with data() and size().
// eigen.hpp has those of Eigen.
template <class T> struct argument_access {
  static_assert(
      !requires { T::RowsAtCompileTime; } && !requires { T::NumIndices; },
      "dnnkit: include <dnnkit/eigen.hpp> to run a network on Eigen's matrices and tensors");

  static constexpr auto elements(T& x) {
    if constexpr (requires { std::span(x); }) {
      return std::span(x);
    } else {
      static_assert(
          requires {
            x.data();
            x.size();
          },
          "dnnkit: run() takes ranges whose elements lie in a row: anything with data() and size()");
      return std::span(x.data(), static_cast<std::size_t>(x.size()));
    }
  }
  using span = decltype(elements(std::declval<T&>()));
  using element = typename span::element_type;
  static constexpr std::array<std::int64_t, 1> known_extents{static_cast<std::int64_t>(span::extent)};
  static std::array<std::int64_t, 1> extents(T& x) { return {static_cast<std::int64_t>(elements(x).size())}; }
};

namespace detail {

// Are the elements of a Range&& there when the call that it is an argument of has returned? Not those of a temporary
// that owns them. (<span> declares what says so of views; all of <ranges> takes long to compile.)
template <class Range>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Range>>;

}  // namespace detail

// A range for the input or output of that name.
template <fixed_string Name, bool IsInput, class Range, bool OutlivesCall = true> struct named_argument {
  static constexpr std::string_view name = Name.view();
  static constexpr bool is_input = IsInput;
  Range& range;
};
namespace detail {
template <fixed_string Name, bool IsInput, class Range, bool OutlivesCall>
inline constexpr bool outlives_call<named_argument<Name, IsInput, Range, OutlivesCall>> = OutlivesCall;
}  // namespace detail

// s.run(dk::in<"ids">(ids), dk::in<"mask">(mask), dk::out<"y">(y)): in any order, names checked by the compiler.
template <fixed_string Name, class Range>
constexpr named_argument<Name, true, std::remove_reference_t<Range>, detail::outlives_call<Range>> in(
    Range&& range) noexcept {
  return {range};
}
template <fixed_string Name, class Range>
constexpr named_argument<Name, false, std::remove_reference_t<Range>, detail::outlives_call<Range>> out(
    Range&& range) noexcept {
  return {range};
}

namespace detail {

// Why the ranges of a call do not fit the network, as model_error (compile.hpp) says of models.
template <fixed_string... Message> struct range_error {
  static_assert(sizeof...(Message) == 0,
                "dnnkit: these ranges do not fit the network; the reason is the text in range_error<...>");
};

using extent_list = static_vector<std::int64_t, max_rank + 1>;

// What run() knows of an argument when it runs.
struct argument_memory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  dtype type = dtype::f32;
  extent_list extents;
  bool is_on_device = false;    // addresses stand for memory of a device
  bool grows_in_place = false;  // of an output that may have the memory of an input (plan/kept_part.hpp)
};

// An output's range that may begin where an input's does.
template <class Element> struct grown_range {
  std::span<Element> elements;
  bool in_place;
  Element* data() const { return elements.data(); }
  std::size_t size() const { return elements.size(); }
};
template <class T> inline constexpr bool is_grown_range = false;
template <class Element> inline constexpr bool is_grown_range<grown_range<Element>> = true;

template <class T> inline constexpr bool is_on_device = requires { argument_access<T>::is_on_device; };

template <class T> argument_memory memory_of(T& x) {
  using access = argument_access<T>;
  constexpr std::optional<dtype> type = dtype_of_type<typename access::element>;
  static_assert(type.has_value(), "dnnkit: run() takes ranges of float, double, bool, sized integers and the like");
  const auto elements = access::elements(x);
  const auto extents = access::extents(x);
  // operands are untyped pointers; inputs are only read
  auto* const data = const_cast<std::remove_const_t<typename access::element>*>(elements.data());
  argument_memory memory{reinterpret_cast<std::byte*>(data),
                         elements.size_bytes(),
                         *type,
                         {extents.begin(), extents.end()},
                         is_on_device<T>};
  if constexpr (is_grown_range<T>) memory.grows_in_place = x.in_place;
  return memory;
}

}  // namespace detail

// A name that is known at run time, and its range: s.run({{"ids", ids}, {"mask", mask}}, {{"y", y}}).
class input_argument {
 public:
  template <class Range>
  input_argument(std::string_view name, const Range& range) : name_(name), memory_(detail::memory_of(range)) {}

  std::string_view name() const noexcept { return name_; }
  const detail::argument_memory& memory() const noexcept { return memory_; }

 private:
  std::string_view name_;
  detail::argument_memory memory_;
};
class output_argument {
 public:
  template <class Range>
  output_argument(std::string_view name, Range&& range) : name_(name), memory_(detail::memory_of(range)) {
    static_assert(!std::is_const_v<typename argument_access<std::remove_reference_t<Range>>::element>,
                  "dnnkit: run() cannot write an output to a constant range");
  }

  std::string_view name() const noexcept { return name_; }
  const detail::argument_memory& memory() const noexcept { return memory_; }

 private:
  std::string_view name_;
  detail::argument_memory memory_;
};

namespace detail {

// The type behind an argument of run(): Range of a named_argument, else itself.
template <class A> struct argument_traits {
  static constexpr bool is_named = false;
  using range = A;
  static A& get(A& x) noexcept { return x; }
};
template <fixed_string Name, bool IsInput, class Range, bool Outlives>
struct argument_traits<named_argument<Name, IsInput, Range, Outlives>> {
  static constexpr bool is_named = true;
  using range = Range;
  static Range& get(const named_argument<Name, IsInput, Range, Outlives>& x) noexcept { return x.range; }
};
template <fixed_string Name, bool IsInput, class Range, bool Outlives>
struct argument_traits<const named_argument<Name, IsInput, Range, Outlives>>
    : argument_traits<named_argument<Name, IsInput, Range, Outlives>> {};

// Lists of arguments whose names are known at run time.
template <class T>
concept argument_list = std::is_convertible_v<T, std::span<const input_argument>> ||
    std::is_convertible_v<T, std::span<const output_argument>>;

// Elements whose number the type of the range knows; std::dynamic_extent otherwise.
template <class A>
inline constexpr std::size_t known_size = decltype(argument_access<typename argument_traits<A>::range>::elements(
    std::declval<typename argument_traits<A>::range&>()))::extent;

// Ports are numbered from the first input to the last output.
constexpr const buffer& buffer_of_port(const plan_view& plan, std::size_t port) {
  const std::size_t inputs = plan.inputs.size();
  return plan.buffers[static_cast<std::size_t>(port < inputs ? plan.inputs[port] : plan.results[port - inputs])];
}
// "input 'x'"; the latter of a name of any length
constexpr text label_of_port(const plan_view& plan, std::size_t port) {
  return text(port < plan.inputs.size() ? "input '" : "output '")
         << plan.text_of(buffer_of_port(plan, port).name) << "'";
}
inline std::string name_of_port(const plan_view& plan, std::size_t port) {
  return joined(
      {port < plan.inputs.size() ? "input '" : "output '", plan.text_of(buffer_of_port(plan, port).name), "'"});
}
// "'x', 'y'"
constexpr text names_of_ports(const plan_view& plan, bool inputs) {
  text names;
  for (std::int32_t b : inputs ? plan.inputs : plan.results)
    names << (names.empty() ? "'" : ", '") << plan.text_of(plan.buffers[static_cast<std::size_t>(b)].name) << "'";
  return names;
}

inline constexpr std::size_t no_port = std::numeric_limits<std::size_t>::max();
constexpr std::size_t port_named(const plan_view& plan, std::string_view name, bool is_input) {
  const std::size_t inputs = plan.inputs.size(), all = inputs + plan.results.size();
  for (std::size_t i = is_input ? 0 : inputs; i < (is_input ? inputs : all); ++i)
    if (plan.text_of(buffer_of_port(plan, i).name) == name) return i;
  return no_port;
}

// `groups` extents in all: the last are the tensor's last, the first is the product of the others. Empty when the
// tensor has too few.
constexpr extent_list grouped(const static_vector<std::int64_t, max_rank>& dims, std::size_t groups) {
  extent_list list;
  if (groups == 0 || groups > dims.size() + 1) return list;
  const std::size_t leading = dims.size() + 1 - groups;
  list.push_back(1);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (i < leading) list[0] *= dims[i];
    else list.push_back(dims[i]);
  return list;
}

// "[2, 3]"
constexpr text print_extents(const auto& extents) {
  text t = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) t << (i ? ", " : "") << extents[i];
  return t << "]";
}
inline std::string text_of(const extent_list& extents) { return print_extents(extents).str(); }

// Throws dnnkit::error when the argument for a port with these extents is of another size or shape.
inline void check_extents(const plan_view& plan, std::size_t port, const static_vector<std::int64_t, max_rank>& dims,
                          const extent_list& found) {
  const extent_list expected = grouped(dims, found.size());
  if (expected == found) return;
  if (found.size() == 1)
    throw error("range has the wrong size", name_of_port(plan, port),
                joined({std::to_string(expected[0]), " elements"}), std::to_string(found[0]));
  throw error("range has the wrong shape", name_of_port(plan, port),
              text_of(expected.empty() ? extent_list{dims.begin(), dims.end()} : expected), text_of(found));
}

// Throws dnnkit::error when an output shares memory with another output or an input. `memory`: of all ports.
inline void check_apart(const plan_view& plan, std::span<const argument_memory> memory) {
  for (std::size_t i = plan.inputs.size(); i < memory.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const auto a = reinterpret_cast<std::uintptr_t>(memory[i].data),
                 b = reinterpret_cast<std::uintptr_t>(memory[k].data);
      if (a == b && memory[i].grows_in_place && k < plan.inputs.size()) continue;
      if (memory[i].bytes != 0 && memory[k].bytes != 0 && a < b + memory[k].bytes && b < a + memory[i].bytes)
        throw error("ranges share memory", joined({name_of_port(plan, k), " and ", name_of_port(plan, i)}));
    }
}

// The memory of every port, from arguments by name. Throws dnnkit::error for a name that is unknown, missing or given
// twice, and for another element type.
template <class Argument>
void place_arguments(const plan_view& plan, std::span<const Argument> arguments, bool are_inputs,
                     std::span<argument_memory> memory, std::span<bool> given) {
  const std::size_t first = are_inputs ? 0 : plan.inputs.size(), end = are_inputs ? plan.inputs.size() : memory.size();
  for (const Argument& a : arguments) {
    const std::size_t port = port_named(plan, a.name(), are_inputs);
    if (port == no_port) {
      std::string known;
      for (std::size_t i = first; i < end; ++i)
        known.append(i == first ? "'" : ", '").append(plan.text_of(buffer_of_port(plan, i).name)).append("'");
      throw error(are_inputs ? "no input has this name" : "no output has this name", "run", known,
                  joined({"'", a.name(), "'"}));
    }
    if (given[port]) throw error("it is given two ranges", name_of_port(plan, port));
    if (const dtype type = buffer_of_port(plan, port).type.type; type != a.memory().type)
      throw error("range has another element type", name_of_port(plan, port), std::string(name(type)),
                  std::string(name(a.memory().type)));
    given[port] = true;
    memory[port] = a.memory();
  }
  for (std::size_t i = first; i < end; ++i)
    if (!given[i]) throw error("no range is given for it", name_of_port(plan, i));
}

}  // namespace detail

}  // namespace dnnkit
