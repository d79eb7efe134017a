// SPDX-License-Identifier: MIT
// The main() of a program around one network: inputs and outputs are .npy files, the rest is on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/inspect/trace.hpp"
#include "dnnkit/runtime/aligned_memory.hpp"
#include "dnnkit/runtime/model_session.hpp"
#include "dnnkit/runtime/program_arguments.hpp"
#include "dnnkit/runtime/program_symbols.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "dnnkit/runtime/versions.hpp"
#include "dnnkit/weights/npy.hpp"
#include "dnnkit/weights/npy_name.hpp"
#include "dnnkit/weights/replacing_file.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

// How a program gets the weights of its network: from the file named, which --weights may replace.
struct program_weights {
  std::string path;  // empty: they are in the program itself
  std::function<weight_file(const std::filesystem::path&)> open;
};

namespace detail {

// The state that port number `port` has; as many as there are for one that is an argument of run().
template <std::size_t States>
constexpr std::size_t state_of_port(const std::array<fed_ports, States>& fed, std::size_t port) {
  std::size_t k = 0;
  for (const fed_ports& f : fed) {
    if (f.input == port || f.output == port) break;
    ++k;
  }
  return k;
}
// The ports that are arguments of run(), of `Ports`.
template <std::size_t Ports, std::size_t States>
constexpr std::array<std::size_t, Ports - 2 * States> ports_of_arguments(const std::array<fed_ports, States>& fed) {
  std::array<std::size_t, Ports - 2 * States> ports{};
  std::size_t n = 0;
  for (std::size_t port = 0; port < Ports; ++port)
    if (state_of_port(fed, port) == States) ports[n++] = port;
  return ports;
}

// What is wrong is neither a file nor the command line but the network.
struct no_program : error {
  explicit no_program(const error& e) : error(e) {}
};

// Has a target devices (runtime/cl_session.hpp)?
template <class Target> inline constexpr bool has_devices = requires { typename backend<Target>::device; };
// What outputs are written to: on a device's side, what it copies to by itself.
template <class Target> struct output_memory_of { using type = aligned_memory; };
template <class Target>
requires has_devices<Target>
struct output_memory_of<Target> {
  using type = typename backend<Target>::memory;
};

template <class Net> class network_program {
 public:
  explicit network_program(program_arguments arguments) : arguments_(std::move(arguments)) {}

  void run(const program_weights& weights) {
    if constexpr (has_states) refuse_growing_states();
    read_inputs();
    find_symbols();
    const std::vector<std::string> files = arguments_.output ? files_of_outputs() : std::vector<std::string>{};
    const std::filesystem::path path = arguments_.weights ? *arguments_.weights : std::filesystem::path(weights.path);
    refuse_to_replace_read(path, files);
    const packed_weights<Net> packed = packed_from(weights.open(path));
    session_type<no_observer> s(packed);
    prepare(s);
    make_outputs(s, packed);
    thread_pool pool(arguments_.threads, arguments_.spin);
    call(s, pool);
    if constexpr (has_states) take_states(s);
    if (arguments_.output) write_outputs(files);
    else if (!arguments_.trace && arguments_.repetitions == 0) say_that_nothing_is_written();
    if (arguments_.trace) write_trace(packed, pool);
    if (arguments_.repetitions == 0) return;
    if constexpr (has_devices<typename Net::target>)
      if (arguments_.on_device) return time_on_device(s, packed);
    time([&] { call(s, pool); });
  }

  static std::string usage() {
    std::string s = usage_of_inputs();
    for (std::size_t i = 0; i < outputs; ++i) s += "  output " + describe(plan.results[i]) + "\n";
    for (const fed_ports& f : fed)
      s += "  state  " + printable(name_of(plan.results[f.output - inputs])) + " is the next run's " +
           printable(name_of(plan.inputs[f.input])) + "\n";
    return has_states ? s + std::string(program_usage_of_states) : s;
  }

 private:
  static constexpr const plan_view& plan = Net::plan;
  static constexpr std::size_t inputs = Net::plan.inputs.size(), outputs = Net::plan.results.size();

  template <class Observer> using session_type = typename session_of_network<Net, Observer>::type;
  static constexpr auto fed = session_of_network<Net>::fed;
  static constexpr bool has_states = !fed.empty();
  static bool is_state(std::size_t port) { return state_of_port(fed, port) < fed.size(); }
  static constexpr auto arguments_of_run = ports_of_arguments<inputs + outputs>(fed);

  static std::string usage_of_inputs() {
    std::string s;
    for (std::size_t i = 0; i < inputs; ++i) s += "  input  " + describe(plan.inputs[i]) + "\n";
    return s;
  }
  static const buffer& at(std::int32_t b) { return plan.buffers[static_cast<std::size_t>(b)]; }
  static std::string name_of(std::int32_t b) { return std::string(plan.text_of(at(b).name)); }
  static std::string describe(std::int32_t b) {
    return printable(name_of(b)) + ": " + std::string(name(at(b).type.type)) + " " +
           print(table_of(plan), at(b).type.dims).str();
  }

  packed_weights<Net> packed_from(weight_file file) const {
    if constexpr (has_devices<typename Net::target>)
      if (arguments_.device)
        return packed_weights<Net>(std::move(file), typename backend<typename Net::target>::device(*arguments_.device));
    return packed_weights<Net>(std::move(file));
  }
  void read_inputs() {
    for (const auto& [name, file] : arguments_.inputs) {
      bool known = false;
      for (std::size_t i = 0; i < inputs; ++i) known = known || name_of(plan.inputs[i]) == name;
      if (!known)
        throw error("the network has no input of this name", "--input " + name, "one of\n" + usage_of_inputs());
    }
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string name = name_of(plan.inputs[i]);
      const auto given = arguments_.inputs.find(name);
      files_.emplace_back();
      by_run_.push_back(false);
      if (given == arguments_.inputs.end()) {
        if (is_state(i)) continue;
        throw error("no value is given for this input", "--input " + name, describe(plan.inputs[i]));
      }
      const stored_tensor& t = files_.back().emplace(given->second).tensor();
      const std::size_t rank = at(plan.inputs[i]).type.dims.size();
      by_run_.back() = has_states && !is_state(i) && t.shape.size() == rank + 1;
      if (t.dtype != at(plan.inputs[i]).type.type || (t.shape.size() != rank && !by_run_.back()))
        throw error("has another element type or rank than the input", given->second.string(), describe(plan.inputs[i]),
                    tensor_text(t.dtype, t.shape));
      if (by_run_.back()) note_runs(t.shape[0], given->second.string());
      data_[i] = aligned(t.data, size_of(t.dtype));
    }
  }
  // Where a file has elements at no multiples of their size, a copy.
  std::span<const std::byte> aligned(std::span<const std::byte> bytes, std::size_t size) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0) return bytes;
    const aligned_memory& copy = copies_.emplace_back(bytes.size());
    std::ranges::copy(bytes, copy.data());
    return {copy.data(), bytes.size()};
  }
  void note_runs(std::int64_t runs, const std::string& file) {
    if (runs < 1 || (runs_ && *runs_ != runs))
      throw error("the axis in front of the input's says another number of runs", file,
                  runs_ ? std::to_string(*runs_) : "at least 1", std::to_string(runs));
    runs_ = runs;
  }
  // The extents of input number `i` in one run.
  std::vector<std::int64_t> extents_of(std::size_t i) const {
    const std::vector<std::int64_t>& all = files_[i]->tensor().shape;
    return {all.begin() + (by_run_[i] ? 1 : 0), all.end()};
  }
  void find_symbols() {
    std::vector<program_symbols::input> shapes;
    for (std::size_t i = 0; i < inputs; ++i)
      if (files_[i])
        shapes.push_back({"--input " + name_of(plan.inputs[i]) + "=" + files_[i]->tensor().name,
                          describe(plan.inputs[i]), plan.declared_input(i), extents_of(i)});
    const symbol_table table = table_of(plan);
    values_ = program_symbols(table, arguments_.sizes, shapes).values();
  }
  // Symbols and states get their values.
  template <class Session> void prepare(Session& s) const {
    if constexpr (!Net::is_static) {
      std::vector<binding> bindings;
      for (std::size_t k = 0; k < values_.size(); ++k) bindings.push_back({plan.symbols[k].name.view(), values_[k]});
      s.bind(bindings);
    }
    if constexpr (has_states)
      for_each_state(s, [&](std::size_t k, std::span<std::byte> state) {
        if (const std::optional<npy>& file = files_[fed[k].input])
          std::ranges::copy(file->tensor().data.first(state.size()), state.begin());
      });
  }
  // visit(k, bytes) for what the next run takes as state number k.
  template <class Session> static void for_each_state(Session& s, auto visit) {
    std::size_t k = 0;
    [&]<class... Feedbacks>(feedback_list<Feedbacks...>) {
      (visit(k++, std::as_writable_bytes(Feedbacks::state_of(s))), ...);
    }(typename Net::model::feedbacks());
  }
  static void refuse_growing_states() {
    for (const fed_ports& f : fed)
      if (!(at(plan.results[f.output - inputs]).type == at(plan.inputs[f.input]).type))
        throw no_program(
            error("the state has other extents behind each run, for which a program has no memory; "
                  "dnnkit::model_session has reserve()",
                  describe(plan.results[f.output - inputs]), describe(plan.inputs[f.input])));
  }
  template <class Session> void take_states(Session& s) {
    for_each_state(s, [&](std::size_t k, std::span<std::byte> state) {
      std::ranges::copy(state, memory_[fed[k].output - inputs].data());
    });
  }
  void make_outputs(const session_type<no_observer>& s, const packed_weights<Net>& packed) {
    const symbol_table table = table_of(plan);
    for (std::size_t i = 0; i < outputs; ++i) {
      const buffer& b = at(plan.results[i]);
      const bool by_run = runs_ && !is_state(inputs + i);
      const std::size_t bytes = static_cast<std::size_t>(s.output_elements(i)) * size_of(b.type.type) *
                                static_cast<std::size_t>(by_run ? *runs_ : 1);
      if constexpr (has_devices<typename Net::target>)
        memory_.push_back(backend<typename Net::target>::make_memory(*packed.tables(), bytes));
      else memory_.emplace_back(bytes);
      shapes_.emplace_back();
      if (by_run) shapes_.back().push_back(*runs_);
      for (dim d : b.type.dims) shapes_.back().push_back(table.evaluate(d, values_.data()));
    }
  }

  // Of all runs.
  template <std::size_t I> auto range() {
    constexpr std::int32_t b =
        I < inputs ? Net::plan.inputs[I < inputs ? I : 0] : Net::plan.results[I < inputs ? 0 : I - inputs];
    using type = cpu::element<Net::plan.buffers[static_cast<std::size_t>(b)].type.type>;
    if constexpr (I < inputs) {
      return std::span(reinterpret_cast<const type*>(data_[I].data()), data_[I].size() / sizeof(type));
    } else {
      const auto& m = memory_[I - inputs];
      return std::span(reinterpret_cast<type*>(m.data()), m.size() / sizeof(type));
    }
  }
  // What the present run has of such a range: `take(first, count)` of its `size` elements.
  template <std::size_t I> auto part_of_run(std::size_t size, auto take) const {
    const bool by_run = I < inputs ? by_run_[I < inputs ? I : 0] : runs_.has_value();
    const std::size_t elements = by_run ? size / static_cast<std::size_t>(*runs_) : size;
    return take(by_run ? run_ * elements : 0, elements);
  }
  void for_each_run(auto run) {
    for (run_ = 0; run_ < static_cast<std::size_t>(runs_.value_or(1)); ++run_) run();
  }
  // All runs.
  template <class Session> void call(Session& s, thread_pool& pool) {
    const auto given = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      const auto all = range<I>();
      return part_of_run<I>(all.size(), [&](std::size_t first, std::size_t n) { return all.subspan(first, n); });
    };
    for_each_run([&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        s.run(pool, given(std::integral_constant<std::size_t, arguments_of_run[I]>())...);
      }
      (std::make_index_sequence<arguments_of_run.size()>{});
    });
  }

  static std::vector<std::string> files_of_outputs() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back(name_of(plan.results[i]));
    return npy_names_of_outputs(names);
  }
  // What is written must be no file that is read, weights included.
  void refuse_to_replace_read(const std::filesystem::path& weights, const std::vector<std::string>& files) const {
    const auto refuse = [&](std::string_view option, const std::filesystem::path& written) {
      refuse_to_replace(option, written, "the weights", weights);
      for (const auto& [name, file] : arguments_.inputs)
        refuse_to_replace(option, written, "the file of --input " + name, file);
    };
    if (arguments_.trace) refuse("--trace", *arguments_.trace);
    for (const std::string& file : files) refuse("--output", *arguments_.output / file);
  }
  // For who has asked for nothing: what there would be.
  void say_that_nothing_is_written() const {
    std::cerr << "nothing is written; --output FOLDER writes";
    for (std::size_t i = 0; i < outputs; ++i)
      std::cerr << (i == 0 ? " " : ", ") << printable(name_of(plan.results[i])) << ": "
                << tensor_text(at(plan.results[i]).type.type, shapes_[i]);
    std::cerr << '\n';
  }
  void write_outputs(const std::vector<std::string>& files) const {
    std::filesystem::create_directories(*arguments_.output);
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::int32_t b = plan.results[i];
      if (files[i] != npy_name(name_of(b))) std::cerr << describe_numbered_file(name_of(b), files[i]);
      save_npy(*arguments_.output / files[i],
               {name_of(b), at(b).type.type, shapes_[i], {memory_[i].data(), memory_[i].size()}});
    }
  }
  void write_trace(const packed_weights<Net>& packed, thread_pool& pool) {
    session_type<chrome_trace> s(packed);
    prepare(s);
    call(s, pool);  // the first run is the slowest
    s.observer().clear();
    call(s, pool);
    s.observer().write(*arguments_.trace);
  }
  // Of `calls()`, each all runs.
  void time(auto calls) {
    std::vector<double> milliseconds;
    for (std::size_t i = 0; i < arguments_.repetitions; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      calls();
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    const auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
    std::nth_element(milliseconds.begin(), middle, milliseconds.end());
    std::cout << std::fixed << std::setprecision(3) << *middle << '\n';
  }
  void time_on_device(session_type<no_observer>& s, const packed_weights<Net>& packed) {
    const auto on_device = [&](auto range) {
      using type = typename decltype(range)::value_type;
      typename backend<typename Net::target>::template device_memory<type> memory(packed.tables()->device(),
                                                                                  range.size());
      memory.write(range);
      return memory;
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::tuple all{on_device(range<arguments_of_run[I]>())...};
      time([&] {
        for_each_run([&] {
          s.run(part_of_run<arguments_of_run[I]>(std::get<I>(all).size(), [&](std::size_t first, std::size_t n) {
            return std::get<I>(all).part(first, n);
          })...);
        });
      });
    }
    (std::make_index_sequence<arguments_of_run.size()>{});
  }

  program_arguments arguments_;
  std::vector<std::optional<npy>> files_;                  // of each input; none of a state that begins with zeros
  std::array<std::span<const std::byte>, inputs> data_{};  // of each input
  std::vector<aligned_memory> copies_;
  std::vector<bool> by_run_;          // has the file one axis more, that of the runs?
  std::optional<std::int64_t> runs_;  // where one has
  std::size_t run_ = 0;
  std::vector<std::int64_t> values_;                                           // of the plan's symbols
  std::vector<typename output_memory_of<typename Net::target>::type> memory_;  // of the outputs
  std::vector<std::vector<std::int64_t>> shapes_;
};

}  // namespace detail

// Runs a program around Net, a dk::compile<...>; see program_usage for the options. Returns the exit status: 0; or
// after a message on standard error 2 where a file or the command line is wrong, and 1 where Net can have no program
// (its states grow) or memory is short.
template <class Net> int run_program(int argc, char** argv, const program_weights& weights) try {
  constexpr bool has_devices = detail::has_devices<typename Net::target>;
  detail::program_arguments arguments =
      detail::parse_program_arguments({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)}, has_devices);
  if constexpr (has_devices)
    if (arguments.devices) {
      std::size_t number = 0;
      for (const std::string& name : backend<typename Net::target>::devices())
        std::cout << number++ << "  " << printable(name) << '\n';
      if (number == 0) static_cast<void>(typename backend<typename Net::target>::device(""));  // says what is missing
      return 0;
    }
  if (arguments.help) {
    std::cout << "usage: " << argv[0] << " OPTION...\n"
              << detail::program_usage
              << (has_devices ? detail::program_usage_of_devices : detail::program_usage_of_threads)
              << detail::program_usage_of_times << detail::network_program<Net>::usage()
              << (weights.path.empty() ? std::string("  weights are part of the program\n")
                                       : "  weights from " + weights.path + "\n")
              << "  " << Net::kernels << " kernels\n";
    if constexpr (requires { backend<typename Net::target>::names(); })
      std::cout << "  instruction sets: " << backend<typename Net::target>::names()
                << "; the widest that the processor has, or that which the environment variable DNNKIT_ISA names\n";
    return 0;
  }
  detail::network_program<Net>(std::move(arguments)).run(weights);
  return 0;
} catch (const detail::no_program& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
} catch (const error& failure) {
  std::cerr << failure.what() << '\n';
  return 2;
} catch (const std::bad_alloc&) {
  std::cerr << "not enough memory\n";
  return 1;
} catch (const std::filesystem::filesystem_error& failure) {
  std::cerr << failure.what() << '\n';
  return 2;
}

}  // namespace dnnkit
