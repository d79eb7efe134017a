// SPDX-License-Identifier: MIT
// A session whose state goes from run to run: outputs that are the next run's inputs, such as the h and c of a
// recurrent network. Nothing is copied: each has two places, of which a run reads one and writes the other; or one
// place, where a run adds to what is there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "dnnkit/runtime/buffer_sizes.hpp"
#include "dnnkit/runtime/feedback.hpp"
#include "dnnkit/runtime/growing_symbols.hpp"
#include "dnnkit/runtime/session.hpp"

namespace dnnkit {

//   using net = dk::compile<detector>;             // inputs x, h; outputs y, hn
//   dk::stateful_session<dk::session<net>, dk::feedback<"hn", "h">> s(dk::safetensors("detector.safetensors"));
//   s.run(x, y);                                   // h is 0
//   s.run(x, y);                                   // h is what the run before gave out as hn
//
// Such outputs and inputs are no arguments of run(); all else is as with the session, of which it is one. A run that an
// observer stops leaves the state as it was.
//
// With symbols the output may have more elements than the input, as past keys and values with those of one more token.
// reserve() takes memory for as many as there will be, and each run makes the input as large as what it has given out:
//   s.reserve({{"past", 1000}});                   // the first run has as few as the symbol allows
//   s.run(token, y);                               // past is 0
//   s.run(token, y);                               // past is 1
// Where the plan allows it (plan/kept_part.hpp) such a state has one place, and a run writes what is new behind the
// rest. Without reserve(), bind() between the runs tells how large the input has become.
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
    end_growth();
    take_places();
  }

  // Memory for these values of all symbols and all smaller ones. States begin with zeros; those that grow, with the
  // least that their symbols allow. From then on each run gives these symbols the values that the next one needs, and
  // allocates nothing; once one would be larger than its value here, run() raises dnnkit::error. Throws what bind()
  // throws, and where no symbol makes an input as large as what is fed back to it.
  void reserve(std::initializer_list<binding> bindings) { reserve(std::span(bindings.begin(), bindings.size())); }
  void reserve(std::span<const binding> bindings) {
    const auto& execution = session_.execution_;
    std::vector<detail::growth> growths = detail::growths_of(execution.plan(), execution.symbols(), fed);
    session_.bind(bindings);
    end_growth();
    growing_ = detail::growing_symbols(std::move(growths), execution.plan(), execution.values());
    for (std::size_t k = 0; k < states; ++k) places_[k].in_place = detail::grows_in_place(execution.plan(), fed[k]);
    take_places();
    reset();
  }

  // Values of all symbols from the shapes of the inputs that are not fed back, in order or by name, and from how much
  // there is of states that grow. Behind reserve() no memory is taken for tensors, and what needs more than was
  // reserved raises dnnkit::error. Throws as session::bind_to() does.
  template <class... Inputs> void bind_to(Inputs&&... given) {
    static_assert(sizeof...(Inputs) == inputs - states,
                  "dnnkit: bind_to() takes one range for each input that is not fed back");
    if constexpr (check_feedbacks() && sizeof...(Inputs) == inputs - states) {
      std::array<detail::extent_list, inputs> extents;
      [&]<std::size_t... K>(std::index_sequence<K...>) { (note_state<K>(extents), ...); }
      (std::make_index_sequence<states>{});
      std::size_t position = 0;
      (note_argument(extents, position++, given), ...);
      bind_to_values(session_.execution_.bindings_for(extents));
    }
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
    return and_go_on([&] { return run_session(loop, ranges...); });
  }
  // The same for names that are known when the program runs, as session::run() takes them; a name that is fed back
  // raises dnnkit::error.
  [[nodiscard]] run_result run(std::initializer_list<input_argument> given,
                               std::initializer_list<output_argument> wanted) {
    return run(serial, given, wanted);
  }
  [[nodiscard]] run_result run(const parallel_for& loop, std::initializer_list<input_argument> given,
                               std::initializer_list<output_argument> wanted) {
    return run(loop, std::span(given.begin(), given.size()), std::span(wanted.begin(), wanted.size()));
  }
  [[nodiscard]] run_result run(std::span<const input_argument> given, std::span<const output_argument> wanted) {
    return run(serial, given, wanted);
  }
  [[nodiscard]] run_result run(const parallel_for& loop, std::span<const input_argument> given,
                               std::span<const output_argument> wanted) {
    return and_go_on([&] { return run_by_name(loop, given, wanted); });
  }

  // What the next run gets as that input: to be read, or written to go on from elsewhere. Each run makes it another
  // range.
  template <fixed_string Input> [[nodiscard]] auto state() noexcept {
    constexpr std::size_t k = state_named(Input.view());
    static_assert(k < states, "dnnkit: no output is fed back to an input of this name");
    if constexpr (k < states) return present_of<k>();
  }
  // The next run begins with zeros; behind reserve(), with as few as there were then.
  void reset() noexcept(Net::is_static) {
    if constexpr (!Net::is_static) {
      growing_.begin_again();
      if (growing_.is_on()) resize();
    }
    for (place& p : places_) std::fill_n(p.read(present_).data(), p.held, std::byte{0});
  }

  // All states, one behind the other: for this session later, or another of the same network and values of symbols, or
  // for which as much was reserved. In front are then the values of the symbols that grow.
  [[nodiscard]] std::size_t state_bytes() const noexcept {
    std::size_t n = growing_.saved_values() * sizeof(std::int64_t);
    for (const place& p : places_) n += p.held;
    return n;
  }
  [[nodiscard]] std::vector<std::byte> save() const {
    std::vector<std::byte> saved(state_bytes());
    save(saved);
    return saved;
  }
  // Throws dnnkit::error when there are not state_bytes() of them.
  void save(std::span<std::byte> to) const {
    if (to.size() != state_bytes())
      throw error("the range to save to is of another size than state_bytes()", "state",
                  std::to_string(state_bytes()) + " bytes", std::to_string(to.size()) + " bytes");
    for (std::size_t i = 0; i < growing_.saved_values(); ++i) {
      const std::int64_t value = growing_.saved_value(i);
      std::memcpy(to.data(), &value, sizeof value);
      to = to.subspan(sizeof value);
    }
    for (const place& p : places_) {
      std::copy_n(p.read(present_).data(), p.held, to.data());
      to = to.subspan(p.held);
    }
  }
  // Throws dnnkit::error, and leaves the state as it was, when it is of another size, or larger than what is reserved,
  // and where symbols have no values yet. What was saved does not tell its network: another's of that size is taken.
  void restore(std::span<const std::byte> saved) {
    session_.execution_.require_bound();
    if (growing_.is_on()) resize_to_saved(saved);
    else check_size(saved.size(), state_bytes(), session_.execution_.values());
    saved = saved.subspan(growing_.saved_values() * sizeof(std::int64_t));
    for (place& p : places_) {
      std::copy_n(saved.data(), p.held, p.read(present_).data());
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
    bool in_place = false;                // the first of them is both

    // What a run reads and writes, where that is side `present` and the other.
    std::size_t read_side(std::size_t present) const noexcept { return in_place ? 0 : present; }
    std::size_t written_side(std::size_t present) const noexcept { return in_place ? 0 : 1 - present; }
    aligned_memory& read(std::size_t present) noexcept { return sides[read_side(present)]; }
    const aligned_memory& read(std::size_t present) const noexcept { return sides[read_side(present)]; }
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
  // May a state become larger from run to run?
  template <std::size_t K>
  static constexpr bool may_grow = !(type<K> == detail::buffer_of_port(Net::plan, fed[K].output).type);
  template <std::size_t K> using element = type_of_dtype<type<K>.type>;
  // The extent of a state's range.
  template <std::size_t K> static constexpr std::size_t known_elements() {
    if (!Net::is_static) return std::dynamic_extent;
    std::size_t n = 1;
    for (dim d : type<K>.dims) n *= static_cast<std::size_t>(d.value());
    return n;
  }
  template <std::size_t K> auto present_of() noexcept {
    return span_of<K>(places_[K].read_side(present_), places_[K].held);
  }
  template <std::size_t K> auto next_of() noexcept {
    const auto next = span_of<K>(places_[K].written_side(present_), places_[K].given);
    if constexpr (may_grow<K>) return detail::grown_range<element<K>>{next, places_[K].in_place};
    else return next;
  }
  template <std::size_t K> auto span_of(std::size_t side, std::size_t bytes) noexcept {
    return std::span<element<K>, known_elements<K>()>(reinterpret_cast<element<K>*>(places_[K].sides[side].data()),
                                                      bytes / sizeof(element<K>));
  }
  void go_on() noexcept(Net::is_static) {
    present_ = 1 - present_;
    for (place& p : places_) p.held = p.given;
    if constexpr (!Net::is_static) {
      if (!growing_.is_on()) return;
      growing_.go_on(session_.execution_.symbols());
      if (growing_.has_room()) resize();
    }
  }

  // --- growth
  // The session's extents become those of the next run.
  void resize() {
    if (!session_.resize(growing_.next()))
      throw error("more memory is needed than was reserved; to go on, save(), reserve() more and restore()", "session");
    [&]<std::size_t... K>(std::index_sequence<K...>) { (find_sizes<K>(places_[K]), ...); }
    (std::make_index_sequence<states>{});
  }
  void resize_with(detail::growing_symbols symbols) {
    symbols.require_room(session_.execution_.plan());
    std::swap(growing_, symbols);
    try {
      resize();
    } catch (...) {
      growing_ = std::move(symbols);
      throw;
    }
  }
  void bind_to_values(const std::vector<binding>& bindings) {
    if (!growing_.is_on()) return bind(bindings);
    detail::growing_symbols symbols = growing_;
    for (std::size_t i = 0; i < bindings.size(); ++i) symbols.set_next(i, bindings[i].value);
    resize_with(std::move(symbols));
  }
  void resize_to_saved(std::span<const std::byte> saved) {
    detail::growing_symbols symbols = growing_;
    const std::size_t front = symbols.saved_values() * sizeof(std::int64_t);
    if (saved.size() < front)
      throw error(another_size, "state", "at least " + std::to_string(front) + " bytes",
                  std::to_string(saved.size()) + " bytes");
    for (std::size_t i = 0; i < symbols.saved_values(); ++i)
      std::memcpy(&symbols.saved_value(i), saved.data() + i * sizeof(std::int64_t), sizeof(std::int64_t));
    const auto& execution = session_.execution_;
    symbols.require_possible(execution.plan());
    const detail::buffer_sizes sizes(execution.plan(), execution.symbols(), symbols.next());
    auto bytes = static_cast<std::int64_t>(front);
    for (const detail::fed_ports f : fed)
      bytes = detail::saturating_add(bytes, sizes.room_of(detail::buffer_of_port(execution.plan(), f.input)));
    check_size(saved.size(), static_cast<std::size_t>(bytes), symbols.next());
    symbols.require_reserved(execution.plan());
    resize_with(std::move(symbols));
  }
  // The state lies where a session that reserves nothing has it.
  void end_growth() {
    for (place& p : places_) {
      if (p.in_place && present_ == 1) std::swap(p.sides[0], p.sides[1]);
      p.in_place = false;
    }
    growing_ = {};
  }
  template <std::size_t K> void note_state(std::array<detail::extent_list, inputs>& extents) const {
    if constexpr (may_grow<K>)
      extents[fed[K].input].push_back(static_cast<std::int64_t>(places_[K].held / sizeof(element<K>)));
  }
  template <class Argument>
  void note_argument(std::array<detail::extent_list, inputs>& extents, std::size_t position, Argument& given) const {
    using range = detail::argument_traits<std::remove_reference_t<Argument>>;
    std::size_t port = 0;
    if constexpr (range::is_named) {
      constexpr std::size_t named = detail::port_named(Net::plan, Argument::name, Argument::is_input);
      static_assert(named < inputs && state_of(named) == states,
                    "dnnkit: bind_to() takes ranges for inputs that are not fed back");
      port = named;
    } else {
      while (state_of(port) != states || position_of(port) != position) ++port;
    }
    extents[port] = detail::memory_of(range::get(given)).extents;
  }

  template <class... Ranges> run_result run_session(const parallel_for& loop, Ranges&... ranges) {
    if constexpr (!Net::is_static) growing_.require_room(Net::plan);
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
  run_result run_by_name(const parallel_for& loop, std::span<const input_argument> given,
                         std::span<const output_argument> wanted) {
    for (const input_argument& a : given) detail::refuse_fed_back(Net::plan, fed, a.name(), true);
    for (const output_argument& a : wanted) detail::refuse_fed_back(Net::plan, fed, a.name(), false);
    if constexpr (!Net::is_static) growing_.require_room(Net::plan);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      typename base::placed_ranges placed;
      std::tuple now{present_of<K>()...}, next{next_of<K>()...};
      ((placed.memory[fed[K].input] = detail::memory_of(std::get<K>(now))), ...);
      ((placed.memory[fed[K].output] = detail::memory_of(std::get<K>(next))), ...);
      ((placed.given[fed[K].input] = placed.given[fed[K].output] = true), ...);
      return session_.run_beside(loop, given, wanted, placed);
    }
    (std::make_index_sequence<states>{});
  }
  // What `run` does, and the step to the next run where it has not been stopped.
  template <class Run> run_result and_go_on(Run run) {
    if constexpr (!check_feedbacks()) {
      return run_result(false);  // after an assertion that has failed
    } else if constexpr (std::is_void_v<run_result>) {
      run();
      go_on();
    } else {
      const bool complete = run();
      if (complete) go_on();
      return complete;
    }
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
      const bool stays = t.held == p.held && t.sides[p.read_side(present_)].size() == 0;
      for (std::size_t side = 0; side < 2; ++side)
        if (t.sides[side].size() != 0) p.sides[side] = std::move(t.sides[side]);
      p.held = t.held;
      p.given = t.given;
      if (!stays) std::fill_n(p.read(present_).data(), p.held, std::byte{0});
    }
  }
  template <std::size_t K> void find_sizes(place& p) const {
    p.held = static_cast<std::size_t>(session_.input_elements(fed[K].input)) * sizeof(element<K>);
    p.given = static_cast<std::size_t>(session_.output_elements(fed[K].output - inputs)) * sizeof(element<K>);
  }
  // The sizes of state K, and memory where there is too little: what is reserved, or twice as much as is needed of one
  // that grows.
  template <std::size_t K> void take(place& p) const {
    const place& old = places_[K];
    find_sizes<K>(p);
    const bool reserves = growing_.is_on();
    const std::size_t most = std::max(p.held, p.given);
    const auto room = [&](std::size_t side, std::size_t bytes) {
      if (bytes > old.sides[side].size())
        p.sides[side] = aligned_memory(p.given == p.held || reserves ? bytes : 2 * bytes);
    };
    room(old.read_side(present_), reserves ? most : p.held);
    if (!old.in_place) room(1 - present_, reserves ? most : p.given);
  }
  static constexpr const char* another_size =
      Net::is_static ? "what was saved is of another size: cut off, or of another network"
                     : "what was saved is of another size: cut off, of another network, of other values of symbols, or "
                       "reserve() was called on one side alone";
  // `values`: those of the symbols with which so much is expected.
  static void check_size(std::size_t found, std::size_t expected, std::span<const std::int64_t> values) {
    if (found == expected) return;
    std::string text = std::to_string(expected) + " bytes";
    for (std::size_t i = 0; i < values.size(); ++i)
      text += (i ? ", " : " where ") + Net::plan.symbols[i].name.str() + " = " + std::to_string(values[i]);
    throw error(another_size, "state", text, std::to_string(found) + " bytes");
  }

  base session_;
  std::array<place, states> places_;
  detail::growing_symbols growing_;
  std::size_t present_ = 0;  // the side that the next run reads
};

}  // namespace dnnkit
