// SPDX-License-Identifier: MIT
// A session: a compiled network with its weights and its arena, ready to run.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/weights/safetensors.hpp"

namespace dnnkit {

// The weights of `Net`, packed; immutable, shared by any number of sessions.
template <class Net> class packed_weights {
 public:
  explicit packed_weights(weight_file file)
      : tables_(std::make_shared<const packed_tables>(Net::plan, std::span(cpu::kernel_table<Net>), std::move(file))) {}
  const std::shared_ptr<const packed_tables>& tables() const noexcept { return tables_; }

 private:
  std::shared_ptr<const packed_tables> tables_;
};

namespace detail {
template <class T> using span_of = decltype(std::span(std::declval<T&>()));
}  // namespace detail

// Observer: see no_observer; inspect/trace.hpp has one that times every kernel.
template <class Net, class Observer = no_observer> class session {
 public:
  explicit session(weight_file file, Observer observer = {})
      : session(packed_weights<Net>(std::move(file)), std::move(observer)) {}
  explicit session(const packed_weights<Net>& weights, Observer observer = {})
      : execution_(Net::plan, cpu::kernel_table<Net>, weights.tables()), observer_(std::move(observer)) {}

  // Values of all symbols, before run() and whenever they change: s.bind({{"H", 480}, {"W", 640}}). May allocate.
  void bind(std::initializer_list<binding> bindings) { execution_.bind({bindings.begin(), bindings.size()}); }
  void bind(std::span<const binding> bindings) { execution_.bind(bindings); }

  // Runs the network: a contiguous range for each input in order, then one for each output (row-major, ONNX's layouts).
  // Allocates nothing. Ranges whose size the type knows (arrays) are checked by the compiler and make the call
  // noexcept; others are checked here, and one of a wrong size raises dnnkit::error. False when the observer stopped
  // it.
  template <class... Ranges>
  requires(!std::is_convertible_v<std::tuple_element_t<0, std::tuple<Ranges&&...>>, parallel_for>) bool run(
      Ranges&&... ranges) noexcept(all_sizes_known<Ranges...>) {
    return run(serial, ranges...);
  }
  // The same, with the caller's threads.
  template <class... Ranges>
  bool run(const parallel_for& loop, Ranges&&... ranges) noexcept(all_sizes_known<Ranges...>) {
    static_assert(sizeof...(Ranges) == input_count + output_count,
                  "dnnkit: run() takes one range for each input and one for each output of the network");
    std::array<std::byte*, sizeof...(Ranges)> pointers{};
    if constexpr (!Net::is_static)
      if (!execution_.is_bound()) throw error("the symbols have no values yet; call bind()", "run");
    std::size_t i = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((pointers[i++] = checked<I>(std::span(ranges))), ...); }
    (std::index_sequence_for<Ranges...>{});
    return execution_.run(pointers.data(), pointers.data() + input_count, loop, observer_);
  }

  // Elements of input or output number `i` under the present binding.
  std::int64_t input_elements(std::size_t i) const { return execution_.elements(Net::plan.inputs[i]); }
  std::int64_t output_elements(std::size_t i) const { return execution_.elements(Net::plan.results[i]); }
  // Bytes of the arena, scratch memory of kernels included.
  std::size_t arena_bytes() const noexcept { return execution_.arena_bytes(); }
  Observer& observer() noexcept { return observer_; }

 private:
  static constexpr std::size_t input_count = Net::plan.inputs.size(), output_count = Net::plan.results.size();

  template <std::size_t I>
  static constexpr const buffer& buffer_of = Net::plan.buffers[static_cast<std::size_t>(
      I < input_count ? Net::plan.inputs[I] : Net::plan.results[I - input_count])];

  template <class... Ranges>
  static constexpr bool all_sizes_known =
      Net::is_static && ((detail::span_of<std::remove_reference_t<Ranges>>::extent != std::dynamic_extent) && ...);

  template <std::size_t I, class T, std::size_t Extent>
  std::byte* checked(std::span<T, Extent> range) const noexcept(Net::is_static&& Extent != std::dynamic_extent) {
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
    return reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(range.data()));
  }

  execution execution_;
  [[no_unique_address]] Observer observer_;
};

}  // namespace dnnkit
