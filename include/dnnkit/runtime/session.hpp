// SPDX-License-Identifier: MIT
// A session: a compiled network with its weights and its arena, ready to run.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/runtime/run_argument.hpp"
#include "dnnkit/runtime/run_flag.hpp"
#include "dnnkit/weights/safetensors.hpp"

namespace dnnkit {

// What runs networks that are compiled for Target: the plan and its kernels, its prepared weights, and what executes a
// plan. This one is the processor's, others specialise it. Of a network with several versions the plan may be another
// than Net::plan, which has the same ports and symbols.
template <class Target> struct backend {
  using weights = packed_tables;
  using execution = dnnkit::execution;
  static constexpr bool is_nothrow = true;  // a run cannot fail where there are no symbols
  template <class Net> static constexpr const plan_view& plan() noexcept { return Net::plan; }
  // Throws dnnkit::error when the system does not let this program have registers that the kernels use.
  template <class Net> static auto kernels() {
    if constexpr (Target::products_of_bytes == byte_products::in_tiles && multiplies_bytes<Net>)
      if (!cpu::processor_has<Target>())
        throw error("the processor has no tile registers (AMX), or the system does not give them to this program",
                    "kernels of " + std::string(Target::name));
    return cpu::kernels_of<Net>();
  }

 private:
  template <class Net>
  static constexpr bool multiplies_bytes = [] {
    for (const plan::recipe& r : Net::plan.recipes)
      if (r.anchor.id == id_of<op::matmul_integer> || r.anchor.id == id_of<op::conv_integer> ||
          r.anchor.id == id_of<op::dynamic_quantize_lstm>)
        return true;
    return false;
  }();
};

// The weights of `Net`, packed; immutable, shared by any number of sessions.
template <class Net> class packed_weights {
  using backend = dnnkit::backend<typename Net::target>;
  using shared_tables = std::shared_ptr<const typename backend::weights>;

 public:
  explicit packed_weights(weight_file file)
      : tables_(std::make_shared<const typename backend::weights>(backend::template plan<Net>(),
                                                                  backend::template kernels<Net>(), std::move(file))) {}
  // On this device, where the target has such (runtime/cl_device.hpp).
  template <class Device>
  requires std::same_as<Device, typename backend::device> packed_weights(weight_file file, Device device)
      : tables_(std::make_shared<const typename backend::weights>(
            backend::template plan<Net>(), backend::template kernels<Net>(), std::move(file), std::move(device))) {}
  const shared_tables& tables() const noexcept { return tables_; }

 private:
  shared_tables tables_;
};

namespace detail {
template <class... Ranges> inline constexpr bool ranges = sizeof...(Ranges) != 0 && !(argument_list<Ranges> || ...);
// Matrices, too, can be called with two arguments.
template <class T>
concept loop = std::is_convertible_v<T, parallel_for> && !requires(T && x) {
  x.data(), x.size();
};
template <class... Ranges> inline constexpr bool ranges_without_loop = false;
template <class First, class... Ranges>
inline constexpr bool ranges_without_loop<First, Ranges...> = ranges<First, Ranges...> && !loop<First>;
}  // namespace detail

template <class Session, class... Feedbacks> class stateful_session;

// Observer: see the concept of that name; inspect/trace.hpp has one that times every kernel.
//
// A session that has been moved from raises dnnkit::error at whatever is asked of it, until another is assigned to it.
// An observer must leave the session that is running as it is: bind(), bind_to(), load() and run() raise dnnkit::error
// then, and moving it ends the program with such a message.
template <class Net, class Observer = no_observer> class session {
  static_assert(observer<Observer>,
                "dnnkit: an observer has before(const plan_view&, std::size_t), which returns nothing or a bool, and "
                "after(const plan_view&, std::size_t)");
  using backend = dnnkit::backend<typename Net::target>;
  static constexpr bool has_devices = requires { typename backend::device; };

 public:
  // Of run(): false when the observer stopped it, else true; nothing where it cannot.
  using run_result = std::conditional_t<can_stop<Observer>, bool, void>;

  // Of a network without weights.
  explicit session(Observer observer = {})
      : session(packed_weights<Net>(weight_file("no weights", std::vector<stored_tensor>{})), std::move(observer)) {
    static_assert(!has_weights(),
                  "dnnkit: this network has weights; give its session a weight file, such as "
                  "dk::safetensors(path) or dk::memory_weights{{name, values}}");
  }
  // Throws dnnkit::error listing every weight that is missing or has another shape or element type, and where a network
  // with several versions has none that can run: none for this processor, or not the one that the environment variable
  // DNNKIT_ISA names (runtime/versions.hpp). So do the other constructors, and packed_weights'.
  explicit session(weight_file file, Observer observer = {})
      : session(packed_weights<Net>(std::move(file)), std::move(observer)) {}
  explicit session(const packed_weights<Net>& weights, Observer observer = {})
      : execution_(backend::template plan<Net>(), backend::template kernels<Net>(), weights.tables()),
        observer_(std::move(observer)) {}

  // Other weights, from the next run on; symbols keep their values. What was there stays when anything is thrown, as it
  // is for the same reasons as when a session is made; sessions that share the old weights keep them.
  void load(weight_file file) { load(packed_weights<Net>(std::move(file))); }
  void load(const packed_weights<Net>& weights) {
    running_.require_off("load() is called");
    execution_.load(weights.tables());
  }

  // Values of all symbols, before run() and whenever they change: s.bind({{"H", 480}, {"W", 640}}). May allocate.
  // An observer with a member bound(std::span<const std::int64_t>) is told the values, in the order of the plan's
  // symbols.
  void bind(std::initializer_list<binding> bindings) { bind(std::span(bindings.begin(), bindings.size())); }
  void bind(std::span<const binding> bindings) {
    running_.require_off("bind() is called");
    execution_.bind(bindings);
    if constexpr (requires { observer_.bound(execution_.values()); }) observer_.bound(execution_.values());
  }

  // Values of all symbols from the shapes of the inputs, in order or by name (dk::in<"x">(x)): the rows() and cols() of
  // Eigen's matrices, the size of other ranges. Throws dnnkit::error when they do not say, or contradict each other.
  template <class... Inputs> void bind_to(Inputs&&... inputs) {
    if constexpr (check_arguments<input_count, Inputs...>()) {
      const std::tuple<Inputs&...> all(inputs...);
      std::array<detail::extent_list, input_count> extents;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((extents[I] = detail::memory_of(range_of<I, Inputs...>(all)).extents), ...);
      }
      (std::make_index_sequence<input_count>{});
      running_.require_off("bind_to() is called");
      execution_.bind_to(extents);
    }
  }

  // Runs the network: a range for each input in order, then one for each output (row-major, ONNX's layouts), or ranges
  // by name in any order: s.run(dk::in<"ids">(ids), dk::out<"y">(y)). A range is anything whose elements lie in a row
  // (run_argument.hpp; eigen.hpp for Eigen). Allocates nothing.
  //
  // Ranges whose size the type knows (arrays) are checked by the compiler; others are checked here, and one of a wrong
  // size raises dnnkit::error. Outputs must share no memory with each other or with an input: kernels read inputs after
  // they have begun to write, so that raises dnnkit::error too.
  //
  // The call is noexcept when the compiler knows all sizes, the observer's functions are noexcept as well, and the
  // target cannot fail. Mistakes that only show at run time (memory that is shared, a session that has been moved from)
  // then end the program, with the message of the error that would have been raised.
  template <class... Ranges>
  requires(detail::ranges_without_loop<Ranges...>) [[nodiscard]] run_result
      run(Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    return run(serial, ranges...);
  }
  // The same, with the caller's threads.
  template <class... Ranges>
  requires(detail::ranges<Ranges...>) [[nodiscard]] run_result
      run(const parallel_for& loop, Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    if constexpr (check_arguments<input_count + output_count, Ranges...>()) return run_on(loop, memory_of(ranges...));
    else return run_result(false);  // after an assertion that has failed
  }

  // Begins a run, ranges being given as to run(), and returns a handle to it without waiting: where the target has such
  // runs, and without an observer. To whom the ranges belong until it has ended is said there (runtime/cl_run.hpp).
  template <class... Ranges>
  requires(detail::ranges_without_loop<Ranges...>&& std::same_as<Observer, no_observer>)
      [[nodiscard]] auto start(Ranges&&... ranges) {
    static_assert((detail::outlives_call<Ranges> && ...),
                  "dnnkit: start() is given a temporary, which is gone before the run has ended; give it a name");
    if constexpr (check_arguments<input_count + output_count, Ranges...>()) return start_on(memory_of(ranges...));
  }
  // The same for names that are known when the program runs, as run() takes them.
  [[nodiscard]] auto start(
      std::initializer_list<input_argument> inputs,
      std::initializer_list<output_argument> outputs) requires std::same_as<Observer, no_observer> {
    return start(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()));
  }
  [[nodiscard]] auto start(std::span<const input_argument> inputs,
                           std::span<const output_argument> outputs) requires std::same_as<Observer, no_observer> {
    require_ready();
    return start_on(placed_beside(inputs, outputs, {}));
  }

  // The same for names that are known when the program runs: s.run({{"ids", ids}, {"mask", mask}}, {{"y", y}}).
  // Whatever is wrong with a name or a range raises dnnkit::error. Lists may also be spans of input_argument and
  // output_argument.
  [[nodiscard]] run_result run(std::initializer_list<input_argument> inputs,
                               std::initializer_list<output_argument> outputs) {
    return run(serial, inputs, outputs);
  }
  [[nodiscard]] run_result run(const parallel_for& loop, std::initializer_list<input_argument> inputs,
                               std::initializer_list<output_argument> outputs) {
    return run(loop, std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()));
  }
  [[nodiscard]] run_result run(std::span<const input_argument> inputs, std::span<const output_argument> outputs) {
    return run(serial, inputs, outputs);
  }
  [[nodiscard]] run_result run(const parallel_for& loop, std::span<const input_argument> inputs,
                               std::span<const output_argument> outputs) {
    return run_beside(loop, inputs, outputs, {});
  }

  // Elements of input or output number `i` under the present binding.
  [[nodiscard]] std::int64_t input_elements(std::size_t i) const { return execution_.elements(i); }
  [[nodiscard]] std::int64_t output_elements(std::size_t i) const { return execution_.elements(input_count + i); }
  // Bytes of the arena, scratch memory of kernels included.
  [[nodiscard]] std::size_t arena_bytes() const noexcept { return execution_.arena_bytes(); }
  Observer& observer() noexcept { return observer_; }

 private:
  template <class, class...> friend class stateful_session;

  static constexpr bool has_weights() {
    for (const plan::buffer& b : Net::plan.buffers)
      if (b.where == plan::storage::weight) return true;
    return false;
  }

  static constexpr std::size_t input_count = Net::plan.inputs.size(), output_count = Net::plan.results.size();

  template <class... Ranges>
  static constexpr bool is_nothrow = Net::is_static&& backend::is_nothrow&& nothrow_observer<Observer> &&
                                     ((detail::known_size<std::remove_reference_t<Ranges>> != std::dynamic_extent) &&
                                      ...);

  // What is wrong with a call of run() or bind_to(), which takes one argument for each of the first `Ports` ports;
  // empty when nothing is. Of a network whose model is wrong something else is said.
  template <std::size_t Ports, class... Arguments> static constexpr text find_problem_of_call() {
    constexpr std::size_t count = sizeof...(Arguments), named = (std::size_t{traits_of<Arguments>::is_named} + ... + 0);
    text problem;
    if (!Net::is_right) return problem << said_by_compiler;
    if (named != 0 && named != count)
      return problem << "ranges are given by position or by name, not some so and some so";
    std::array<bool, Ports + 1> given{};
    if constexpr (named != 0 && named == count) (give<std::remove_cvref_t<Arguments>>(problem, given), ...);
    for (std::size_t i = 0; named != 0 && i < Ports && problem.empty(); ++i)
      if (!given[i]) problem << detail::label_of_port(Net::plan, i) << " is given no range";
    if (count != Ports && problem.empty())
      problem << (Ports == input_count ? "bind_to() takes one range for each input: "
                                       : "run() takes one range for each input and one for each output: ")
              << Ports << ", not " << count;
    return problem;
  }
  template <std::size_t Ports, class... Arguments>
  static constexpr text problem_of_call = find_problem_of_call<Ports, Arguments...>();
  // Notes the range for a named port, or what is wrong with the name.
  template <class Argument, std::size_t Room> static constexpr void give(text& problem, std::array<bool, Room>& given) {
    constexpr std::size_t port = port_of<Argument>;
    if (!problem.empty()) return;
    if (port == detail::no_port)
      problem << "the network has no " << (Argument::is_input ? "input" : "output") << " '" << Argument::name
              << "'; it has " << detail::names_of_ports(Net::plan, Argument::is_input);
    else if (port >= Room - 1) problem << "bind_to() takes no range for an output";
    else if (given[port]) problem << detail::label_of_port(Net::plan, port) << " is given two ranges";
    else given[port] = true;
  }
  // False after an assertion that says what is wrong.
  template <std::size_t Ports, class... Arguments> static constexpr bool check_arguments() {
    detail::say<problem_of_call<Ports, Arguments...>, detail::range_error>();
    return problem_of_call<Ports, Arguments...>.empty();
  }
  template <class Argument>
  static constexpr std::size_t port_of = detail::port_named(Net::plan, Argument::name, Argument::is_input);
  template <class Argument> using traits_of = detail::argument_traits<std::remove_reference_t<Argument>>;

  // The range that is given for port I.
  template <std::size_t I, class... Arguments> static constexpr auto& range_of(const std::tuple<Arguments&...>& all) {
    constexpr std::size_t at = argument_of<I, Arguments...>();
    return traits_of<std::tuple_element_t<at, std::tuple<Arguments...>>>::get(std::get<at>(all));
  }
  template <std::size_t I, class... Arguments> static constexpr std::size_t argument_of() {
    std::size_t at = sizeof...(Arguments), i = 0;
    const auto look = [&]<class A>(std::type_identity<A>) {
      if constexpr (!traits_of<A>::is_named) at = I;
      else if (port_of<std::remove_cvref_t<A>> == I) at = i;
      ++i;
    };
    (look(std::type_identity<Arguments>{}), ...);
    return at;
  }

  template <std::size_t I> static constexpr const plan::buffer& buffer_of = detail::buffer_of_port(Net::plan, I);

  // What the compiler can tell to be wrong with a range for port I; empty when it can tell nothing.
  template <std::size_t I, class Range> static constexpr text find_problem_of_range() {
    using access = argument_access<Range>;
    constexpr std::optional<dtype> type = dtype_of_type<typename access::element>;
    const tensor_type& expected = buffer_of<I>.type;
    text problem;
    if (type && *type != expected.type)
      problem << detail::label_of_port(Net::plan, I) << " is of " << name(expected.type) << ", its range of "
              << name(*type);
    if constexpr (Net::is_static && detail::known_size<Range> != std::dynamic_extent) {
      static_vector<std::int64_t, max_rank> dims;
      for (dim d : expected.dims) dims.push_back(d.value());
      const detail::extent_list found(access::known_extents.begin(), access::known_extents.end()),
          fitting = detail::grouped(dims, found.size());
      if (problem.empty() && !(fitting == found)) {
        problem << detail::label_of_port(Net::plan, I) << " has ";
        if (found.size() == 1) problem << fitting[0] << " elements, its range " << found[0];
        else problem << "the shape " << detail::print_extents(dims) << ", its range " << detail::print_extents(found);
      }
    }
    return problem;
  }
  template <std::size_t I, class Range> static constexpr text problem_of_range = find_problem_of_range<I, Range>();

  template <std::size_t I, class Range>
  detail::argument_memory checked(Range& range) const
      noexcept(Net::is_static&& detail::known_size<Range> != std::dynamic_extent) {
    using access = argument_access<Range>;
    static_assert(I < input_count || !std::is_const_v<typename access::element>,
                  "dnnkit: run() cannot write an output to a constant range");
    static_assert(has_devices || !detail::is_on_device<Range>,
                  "dnnkit: the range is in memory of a device, and this network runs on the processor");
    detail::say<problem_of_range<I, Range>, detail::range_error>();
    if constexpr (Net::is_static && detail::known_size<Range> != std::dynamic_extent) {
      return detail::memory_of(range);
    } else {
      const detail::argument_memory memory = detail::memory_of(range);
      execution_.check_extents(I, memory.extents);
      return memory;
    }
  }

  using memory_of_ports = std::array<detail::argument_memory, input_count + output_count>;

  // The memory of all arguments, in the order of the ports.
  template <class... Ranges> memory_of_ports memory_of(Ranges&... ranges) const noexcept(is_nothrow<Ranges...>) {
    require_ready();
    const std::tuple<Ranges&...> all(ranges...);
    memory_of_ports memory;
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((memory[I] = checked<I>(range_of<I, Ranges...>(all))), ...); }
    (std::make_index_sequence<input_count + output_count>{});
    detail::check_apart(Net::plan, memory);
    return memory;
  }
  static std::array<std::byte*, input_count + output_count> pointers_of(const memory_of_ports& memory) noexcept {
    std::array<std::byte*, input_count + output_count> pointers;
    for (std::size_t i = 0; i < memory.size(); ++i) pointers[i] = memory[i].data;
    return pointers;
  }

  run_result run_on(const parallel_for& loop, const memory_of_ports& memory) noexcept(
      Net::is_static&& backend::is_nothrow&& nothrow_observer<Observer>) {
    const auto pointers = pointers_of(memory);
    const detail::run_flag::scope running(running_);
    return static_cast<run_result>(execution_.run(pointers.data(), pointers.data() + input_count, loop, observer_));
  }

  static constexpr bool can_start = requires { &backend::execution::start; };
  auto start_on(const memory_of_ports& memory) {
    static_assert(
        can_start,
        "dnnkit: start() is for networks on a device, such as those of targets::opencl; on a processor there is run()");
    const auto pointers = pointers_of(memory);
    if constexpr (can_start) return execution_.start(pointers.data(), pointers.data() + input_count);
  }

  // Ranges by name, beside those in `memory`, which ports have that `given` marks.
  struct placed_ranges {
    memory_of_ports memory;
    std::array<bool, input_count + output_count> given{};
  };
  run_result run_beside(const parallel_for& loop, std::span<const input_argument> inputs,
                        std::span<const output_argument> outputs, placed_ranges placed) {
    require_ready();
    return run_on(loop, placed_beside(inputs, outputs, std::move(placed)));
  }
  memory_of_ports placed_beside(std::span<const input_argument> inputs, std::span<const output_argument> outputs,
                                placed_ranges placed) const {
    auto& [memory, given] = placed;
    detail::place_arguments(Net::plan, inputs, true, std::span(memory), std::span(given));
    detail::place_arguments(Net::plan, outputs, false, std::span(memory), std::span(given));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!has_devices && memory[i].is_on_device)
        throw error("its range is in memory of a device, and the network runs on the processor",
                    detail::name_of_port(Net::plan, i));
      execution_.check_extents(i, memory[i].extents);
    }
    detail::check_apart(Net::plan, memory);
    return memory;
  }

  // Other values of symbols in the memory that bind() planned; false where that is not enough (execution::resize()).
  bool resize(std::span<const std::int64_t> values) {
    running_.require_off("a state is changed");
    if (!execution_.resize(values)) return false;
    if constexpr (requires { observer_.bound(execution_.values()); }) observer_.bound(execution_.values());
    return true;
  }

  void require_ready() const {
    running_.require_off("run() is called");
    execution_.require_bound();
  }

  detail::run_flag running_;
  typename backend::execution execution_;
  [[no_unique_address]] Observer observer_;
};

}  // namespace dnnkit
