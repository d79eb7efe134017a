// SPDX-License-Identifier: MIT
// A session: a compiled network with its weights and its arena, ready to run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/weights/safetensors.hpp"

namespace dnnkit {

// The weights of `Net`, packed; immutable, shared by any number of sessions.
template <class Net> class packed_weights {
 public:
  explicit packed_weights(weight_file file)
      : tables_(std::make_shared<const packed_tables>(Net::plan, cpu::kernels_of<Net>(), std::move(file))) {}
  const std::shared_ptr<const packed_tables>& tables() const noexcept { return tables_; }

 private:
  std::shared_ptr<const packed_tables> tables_;
};

namespace detail {
template <class T> using span_of = decltype(std::span(std::declval<T&>()));

// Throws dnnkit::error when an output shares memory with another output or an input. `memory`: of the inputs, then of
// the outputs.
inline void check_apart(const plan_view& plan, std::span<const std::span<std::byte>> memory) {
  const std::size_t inputs = plan.inputs.size();
  const auto name_of = [&](std::size_t i) {
    const std::int32_t b = i < inputs ? plan.inputs[i] : plan.results[i - inputs];
    return (i < inputs ? "input '" : "output '") +
           std::string(plan.text_of(plan.buffers[static_cast<std::size_t>(b)].name)) + "'";
  };
  for (std::size_t i = inputs; i < memory.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const std::byte *const a = memory[i].data(), *const b = memory[k].data();
      if (std::less<>{}(a, b + memory[k].size()) && std::less<>{}(b, a + memory[i].size()))
        throw error("ranges share memory", name_of(k) + " and " + name_of(i));
    }
}
}  // namespace detail

// Observer: see the concept of that name; inspect/trace.hpp has one that times every kernel.
//
// A session that has been moved from raises dnnkit::error at whatever is asked of it, until another is assigned to it.
template <class Net, class Observer = no_observer> class session {
  static_assert(observer<Observer>,
                "dnnkit: an observer has before(const plan_view&, std::size_t), which returns a bool, and "
                "after(const plan_view&, std::size_t)");

 public:
  // Of a network without weights.
  explicit session(Observer observer = {})
      : session(packed_weights<Net>(weight_file("no weights", std::vector<stored_tensor>{})), std::move(observer)) {
    static_assert(!has_weights(),
                  "dnnkit: this network has weights; give its session a weight file, such as "
                  "dk::safetensors(path) or dk::memory_weights{{name, values}}");
  }
  // Throws dnnkit::error listing every weight that is missing or has another shape or element type.
  explicit session(weight_file file, Observer observer = {})
      : session(packed_weights<Net>(std::move(file)), std::move(observer)) {}
  explicit session(const packed_weights<Net>& weights, Observer observer = {})
      : execution_(Net::plan, cpu::kernels_of<Net>(), weights.tables()), observer_(std::move(observer)) {}

  // Other weights, from the next run on; symbols keep their values. What was there stays when anything is thrown, as it
  // is for the same reasons as when a session is made; sessions that share the old weights keep them.
  void load(weight_file file) { load(packed_weights<Net>(std::move(file))); }
  void load(const packed_weights<Net>& weights) { execution_.load(weights.tables()); }

  // Values of all symbols, before run() and whenever they change: s.bind({{"H", 480}, {"W", 640}}). May allocate.
  void bind(std::initializer_list<binding> bindings) { execution_.bind({bindings.begin(), bindings.size()}); }
  void bind(std::span<const binding> bindings) { execution_.bind(bindings); }

  // Runs the network: a contiguous range for each input in order, then one for each output (row-major, ONNX's layouts).
  // Allocates nothing. False when the observer stopped it.
  //
  // Ranges whose size the type knows (arrays) are checked by the compiler; others are checked here, and one of a wrong
  // size raises dnnkit::error. Outputs must share no memory with each other or with an input: kernels read inputs after
  // they have begun to write, so that raises dnnkit::error too.
  //
  // The call is noexcept when the compiler knows all sizes, and the observer's functions are noexcept as well. Mistakes
  // that only show at run time (memory that is shared, a session that has been moved from) then end the program, with
  // the message of the error that would have been raised.
  template <class... Ranges>
  requires(!std::is_convertible_v<std::tuple_element_t<0, std::tuple<Ranges&&...>>, parallel_for>) bool run(
      Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    return run(serial, ranges...);
  }
  // The same, with the caller's threads.
  template <class... Ranges> bool run(const parallel_for& loop, Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    if constexpr (sizeof...(Ranges) == input_count + output_count) {
      execution_.require_bound();
      std::array<std::span<std::byte>, sizeof...(Ranges)> memory;
      [&]<std::size_t... I>(std::index_sequence<I...>) { ((memory[I] = checked<I>(std::span(ranges))), ...); }
      (std::index_sequence_for<Ranges...>{});
      detail::check_apart(Net::plan, memory);
      std::array<std::byte*, sizeof...(Ranges)> pointers;
      for (std::size_t i = 0; i < memory.size(); ++i) pointers[i] = memory[i].data();
      return execution_.run(pointers.data(), pointers.data() + input_count, loop, observer_);
    } else {
      static_assert(!Net::is_right,  // of a wrong model, something else is said
                    "dnnkit: run() takes one range for each input and one for each output of the network");
      return false;
    }
  }

  // Elements of input or output number `i` under the present binding.
  std::int64_t input_elements(std::size_t i) const { return execution_.elements(Net::plan.inputs[i]); }
  std::int64_t output_elements(std::size_t i) const { return execution_.elements(Net::plan.results[i]); }
  // Bytes of the arena, scratch memory of kernels included.
  std::size_t arena_bytes() const noexcept { return execution_.arena_bytes(); }
  Observer& observer() noexcept { return observer_; }

 private:
  static constexpr bool has_weights() {
    for (const buffer& b : Net::plan.buffers)
      if (b.where == storage::weight) return true;
    return false;
  }

  static constexpr std::size_t input_count = Net::plan.inputs.size(), output_count = Net::plan.results.size();

  template <std::size_t I>
  static constexpr const buffer& buffer_of = Net::plan.buffers[static_cast<std::size_t>(
      I < input_count ? Net::plan.inputs[I] : Net::plan.results[I - input_count])];

  template <class... Ranges>
  static constexpr bool is_nothrow =
      Net::is_static&& nothrow_observer<Observer> &&
      ((detail::span_of<std::remove_reference_t<Ranges>>::extent != std::dynamic_extent) && ...);

  template <std::size_t I, class T, std::size_t Extent>
  std::span<std::byte> checked(std::span<T, Extent> range) const
      noexcept(Net::is_static&& Extent != std::dynamic_extent) {
    const buffer& b = buffer_of<I>;
    static_assert(std::is_same_v<std::remove_const_t<T>, cpu::element<buffer_of<I>.type.type>>,
                  "dnnkit: run() got a range of another element type than the network's input or output has");
    static_assert(I < input_count || !std::is_const_v<T>, "dnnkit: run() cannot write an output to a constant range");
    if constexpr (Net::is_static && Extent != std::dynamic_extent) {
      static_assert(static_cast<std::int64_t>(Extent) == buffer_of<I>.elements.value(),
                    "dnnkit: run() got a range of another size than the network's input or output has");
    } else if (const std::int64_t n = I < input_count ? input_elements(I) : output_elements(I - input_count);
               static_cast<std::int64_t>(range.size()) != n) {
      throw error("range has the wrong size",
                  std::string(I < input_count ? "input '" : "output '") + std::string(Net::plan.text_of(b.name)) + "'",
                  std::to_string(n) + " elements", std::to_string(range.size()));
    }
    // operands are untyped pointers; inputs are only read
    return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(range.data())), range.size_bytes()};
  }

  execution execution_;
  [[no_unique_address]] Observer observer_;
};

}  // namespace dnnkit
