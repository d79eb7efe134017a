// SPDX-License-Identifier: MIT
// A session whose state goes from run to run: outputs that are the next run's inputs, such as the h and c of a
// recurrent network. Nothing is copied: each has two places, of which a run reads one and writes the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/element.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/aligned_memory.hpp"
#include "dnnkit/runtime/session.hpp"

namespace dnnkit {

// What a run gives out as Output is Input of the run behind it; of the first, zeros.
template <fixed_string Output, fixed_string Input> struct feedback {
  static constexpr std::string_view output = Output.view(), input = Input.view();
  template <class Range> static auto given_out(Range& x) noexcept { return out<Output>(x); }
  template <class Range> static auto taken_in(Range& x) noexcept { return in<Input>(x); }
};

namespace detail {

// Why outputs cannot be fed back, as model_error (compile.hpp) says of models.
template <fixed_string... Message> struct feedback_error {
  static_assert(sizeof...(Message) == 0,
                "dnnkit: these outputs cannot be fed back; the reason is the text in feedback_error<...>");
};

// Numbers of ports; no_port where there is none of that name.
struct fed_ports {
  std::size_t output = no_port, input = no_port;
};
template <class Net, class... Feedbacks> constexpr std::array<fed_ports, sizeof...(Feedbacks)> fed_ports_of() {
  return {fed_ports{port_named(Net::plan, Feedbacks::output, false), port_named(Net::plan, Feedbacks::input, true)}...};
}

// What is wrong with feedbacks; empty when nothing is.
template <class Net, class... Feedbacks> constexpr text find_problem_of_feedbacks() {
  text problem;
  if (!Net::is_right) return problem << said_by_compiler;
  const auto all = fed_ports_of<Net, Feedbacks...>();
  const std::array<std::string_view, sizeof...(Feedbacks)> outputs{Feedbacks::output...}, inputs{Feedbacks::input...};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto [output, input] = all[k];
    if (output == no_port)
      return problem << "the network has no output '" << outputs[k] << "'; it has " << names_of_ports(Net::plan, false);
    if (input == no_port)
      return problem << "the network has no input '" << inputs[k] << "'; it has " << names_of_ports(Net::plan, true);
    for (std::size_t i = 0; i < k; ++i) {
      if (all[i].output == output) return problem << "output '" << outputs[k] << "' is fed back twice";
      if (all[i].input == input) return problem << "two outputs are fed back to input '" << inputs[k] << "'";
    }
    const tensor_type &given = buffer_of_port(Net::plan, output).type, &taken = buffer_of_port(Net::plan, input).type;
    if (given.type != taken.type || (Net::is_static && !(given == taken)))
      return problem << "output '" << outputs[k] << "' and input '" << inputs[k]
                     << "' are not of one type and the same extents";
  }
  return problem;
}
template <class Net, class... Feedbacks>
inline constexpr text problem_of_feedbacks = find_problem_of_feedbacks<Net, Feedbacks...>();

}  // namespace detail

//   using net = dk::compile<detector>;             // inputs x, h; outputs y, hn
//   dk::stateful_session<dk::session<net>, dk::feedback<"hn", "h">> s(dk::safetensors("detector.safetensors"));
//   s.run(x, y);                                   // h is 0
//   s.run(x, y);                                   // h is what the run before gave out as hn
//
// Such outputs and inputs are no arguments of run(); all else is as with the session, of which it is one. A run that an
// observer stops leaves the state as it was.
//
// With symbols the output may have more elements than the input, as past keys and values with those of one more token:
// bind() between the runs then gives the symbols values with which the input is as large as what was given out.
//   s.bind({{"past", n}});                         // n: 0, 1, 2 ...
//   s.run(token, y);
template <class Session, class... Feedbacks> class stateful_session;

template <class Net, class Observer, class... Feedbacks> class stateful_session<session<Net, Observer>, Feedbacks...> {
  using base = session<Net, Observer>;
  static constexpr std::size_t states = sizeof...(Feedbacks);
  static constexpr std::size_t inputs = Net::plan.inputs.size(), ports = inputs + Net::plan.results.size();

 public:
  using run_result = typename base::run_result;

  // What a session is made of. Throws what that throws.
  template <class... Arguments>
  requires std::is_constructible_v<base, Arguments...>
  explicit stateful_session(Arguments&&... arguments) : session_(std::forward<Arguments>(arguments)...) {
    if constexpr (check_feedbacks() && Net::is_static) take_places();
  }

  // Values of all symbols, as session::bind(). A state stays where its input has as many elements as it; any other
  // begins with zeros again. Throws what that throws; when there is no memory for a state, run() raises dnnkit::error
  // until another bind() succeeds.
  void bind(std::initializer_list<binding> bindings) { bind(std::span(bindings.begin(), bindings.size())); }
  void bind(std::span<const binding> bindings) {
    session_.bind(bindings);
    take_places();
  }

  // Runs the network: a range for each input that is not fed back, in order, then one for each such output; or ranges
  // by name. Allocates nothing; noexcept where session::run() is.
  template <class... Ranges>
  requires(detail::ranges_without_loop<Ranges...>) [[nodiscard]] run_result
      run(Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    return run(serial, ranges...);
  }
  template <class... Ranges>
  requires(detail::ranges<Ranges...>) [[nodiscard]] run_result
      run(const parallel_for& loop, Ranges&&... ranges) noexcept(is_nothrow<Ranges...>) {
    if constexpr (!check_feedbacks()) {
      return run_result(false);  // after an assertion that has failed
    } else if constexpr (std::is_void_v<run_result>) {
      run_session(loop, ranges...);
      go_on();
    } else {
      const bool complete = run_session(loop, ranges...);
      if (complete) go_on();
      return complete;
    }
  }

  // What the next run gets as that input: to be read, or written to go on from elsewhere. Each run makes it another
  // range.
  template <fixed_string Input> [[nodiscard]] auto state() noexcept {
    constexpr std::size_t k = state_named(Input.view());
    static_assert(k < states, "dnnkit: no output is fed back to an input of this name");
    if constexpr (k < states) return present_of<k>();
  }
  // The next run begins with zeros.
  void reset() noexcept {
    for (place& p : places_) std::fill_n(p.sides[present_].data(), p.held, std::byte{0});
  }

  // All states, one behind the other: for this session later, or another of the same network and values of symbols.
  [[nodiscard]] std::size_t state_bytes() const noexcept {
    std::size_t n = 0;
    for (const place& p : places_) n += p.held;
    return n;
  }
  [[nodiscard]] std::vector<std::byte> save() const {
    std::vector<std::byte> saved(state_bytes());
    save(saved);
    return saved;
  }
  // Both throw dnnkit::error when there are not state_bytes() of them.
  void save(std::span<std::byte> to) const {
    check_size(to.size());
    for (const place& p : places_) {
      std::copy_n(p.sides[present_].data(), p.held, to.data());
      to = to.subspan(p.held);
    }
  }
  void restore(std::span<const std::byte> saved) {
    check_size(saved.size());
    for (place& p : places_) {
      std::copy_n(saved.data(), p.held, p.sides[present_].data());
      saved = saved.subspan(p.held);
    }
  }

  // Other weights, from the next run on; the state stays.
  void load(weight_file file) { session_.load(std::move(file)); }
  void load(const packed_weights<Net>& weights) { session_.load(weights); }
  // Elements of input or output number `i`, fed back or not, under the present binding.
  [[nodiscard]] std::int64_t input_elements(std::size_t i) const { return session_.input_elements(i); }
  [[nodiscard]] std::int64_t output_elements(std::size_t i) const { return session_.output_elements(i); }
  [[nodiscard]] std::size_t arena_bytes() const noexcept { return session_.arena_bytes(); }
  Observer& observer() noexcept { return session_.observer(); }

 private:
  struct place {
    std::size_t held = 0, given = 0;      // bytes of the state, and of what the next run makes of it
    std::array<aligned_memory, 2> sides;  // the one that has the state, and the one that is written
  };

  template <class... Ranges>
  static constexpr bool is_nothrow = noexcept(std::declval<base&>().run(std::declval<const parallel_for&>(),
                                                                        std::declval<Ranges&>()...));
  template <class Range>
  static constexpr bool is_named = detail::argument_traits<std::remove_reference_t<Range>>::is_named;

  // False after an assertion that says what is wrong.
  static constexpr bool check_feedbacks() {
    detail::say<detail::problem_of_feedbacks<Net, Feedbacks...>, detail::feedback_error>();
    return detail::problem_of_feedbacks<Net, Feedbacks...>.empty();
  }

  static constexpr std::array<detail::fed_ports, states> fed = detail::fed_ports_of<Net, Feedbacks...>();
  static constexpr std::size_t state_named(std::string_view input) {
    std::size_t k = 0;
    for (const std::string_view name : {Feedbacks::input...}) {
      if (name == input) return k;
      ++k;
    }
    return k;
  }
  // The state whose place is the memory of a port; as many as there are for one that is an argument.
  static constexpr std::size_t state_of(std::size_t port) {
    std::size_t k = 0;
    while (k < states && (port < inputs ? fed[k].input : fed[k].output) != port) ++k;
    return k;
  }
  // The position of such a port's range among the arguments.
  static constexpr std::size_t position_of(std::size_t port) {
    std::size_t n = 0;
    for (std::size_t p = 0; p < port; ++p) n += state_of(p) == states;
    return n;
  }

  template <std::size_t K>
  static constexpr const tensor_type& type = detail::buffer_of_port(Net::plan, fed[K].input).type;
  template <std::size_t K> using element = type_of_dtype<type<K>.type>;
  // The extent of a state's range.
  template <std::size_t K> static constexpr std::size_t known_elements() {
    if (!Net::is_static) return std::dynamic_extent;
    std::size_t n = 1;
    for (dim d : type<K>.dims) n *= static_cast<std::size_t>(d.value());
    return n;
  }
  template <std::size_t K> auto present_of() noexcept { return span_of<K>(present_, places_[K].held); }
  template <std::size_t K> auto next_of() noexcept { return span_of<K>(1 - present_, places_[K].given); }
  template <std::size_t K> auto span_of(std::size_t side, std::size_t bytes) noexcept {
    return std::span<element<K>, known_elements<K>()>(reinterpret_cast<element<K>*>(places_[K].sides[side].data()),
                                                      bytes / sizeof(element<K>));
  }
  void go_on() noexcept {
    present_ = 1 - present_;
    for (place& p : places_) p.held = p.given;
  }

  template <class... Ranges> run_result run_session(const parallel_for& loop, Ranges&... ranges) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      std::tuple now{present_of<K>()...}, next{next_of<K>()...};
      if constexpr ((is_named<Ranges> && ...)) {
        return session_.run(loop, ranges..., Feedbacks::taken_in(std::get<K>(now))...,
                            Feedbacks::given_out(std::get<K>(next))...);
      } else {
        static_assert(sizeof...(Ranges) == ports - 2 * states,
                      "dnnkit: run() takes one range for each input and output that is not fed back");
        const std::tuple<Ranges&...> given(ranges...);
        return [&]<std::size_t... P>(std::index_sequence<P...>) {
          return session_.run(loop, argument<P>(given, now, next)...);
        }
        (std::make_index_sequence<ports>{});
      }
    }
    (std::make_index_sequence<states>{});
  }
  template <std::size_t P> static auto& argument(const auto& given, auto& now, auto& next) noexcept {
    if constexpr (state_of(P) == states) return std::get<position_of(P)>(given);
    else if constexpr (P < inputs) return std::get<state_of(P)>(now);
    else return std::get<state_of(P)>(next);
  }

  // Places for all states under the present binding; those that have the size they had stay as they are.
  void take_places() {
    std::array<place, states> taken;
    [&]<std::size_t... K>(std::index_sequence<K...>) { (take<K>(taken[K]), ...); }
    (std::make_index_sequence<states>{});
    for (std::size_t k = 0; k < states; ++k) {
      place &p = places_[k], &t = taken[k];
      const bool stays = t.held == p.held && t.sides[present_].size() == 0;
      for (std::size_t side = 0; side < 2; ++side)
        if (t.sides[side].size() != 0) p.sides[side] = std::move(t.sides[side]);
      p.held = t.held;
      p.given = t.given;
      if (!stays) std::fill_n(p.sides[present_].data(), p.held, std::byte{0});
    }
  }
  // The sizes of state K, and memory where there is too little: twice as much as is needed of one that grows.
  template <std::size_t K> void take(place& p) const {
    const place& old = places_[K];
    p.held = static_cast<std::size_t>(session_.input_elements(fed[K].input)) * sizeof(element<K>);
    p.given = static_cast<std::size_t>(session_.output_elements(fed[K].output - inputs)) * sizeof(element<K>);
    const auto room = [&](std::size_t side, std::size_t bytes) {
      if (bytes > old.sides[side].size()) p.sides[side] = aligned_memory(p.given == p.held ? bytes : 2 * bytes);
    };
    room(present_, p.held);
    room(1 - present_, p.given);
  }
  void check_size(std::size_t bytes) const {
    if (bytes != state_bytes())
      throw error("a saved state is of another size", "state", std::to_string(state_bytes()) + " bytes",
                  std::to_string(bytes));
  }

  base session_;
  std::array<place, states> places_;
  std::size_t present_ = 0;  // the side that the next run reads
};

}  // namespace dnnkit
