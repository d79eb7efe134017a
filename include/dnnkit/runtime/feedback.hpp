// SPDX-License-Identifier: MIT
// Outputs that are the next run's inputs: how they are named, and what is wrong with them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "dnnkit/compile.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/runtime/feedback_list.hpp"
#include "dnnkit/runtime/growing_symbols.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

// What a run gives out as Output is Input of the run behind it; of the first, zeros.
template <fixed_string Output, fixed_string Input> struct feedback {
  static constexpr std::string_view output = Output.view(), input = Input.view();
  template <class Range> static auto given_out(Range& x) noexcept { return out<Output>(x); }
  template <class Range> static auto taken_in(Range& x) noexcept { return in<Input>(x); }
  template <class Session> static auto state_of(Session& s) noexcept { return s.template state<Input>(); }
};

namespace detail {

// Why outputs cannot be fed back, as model_error (compile.hpp) says of models.
template <fixed_string... Message> struct feedback_error {
  static_assert(sizeof...(Message) == 0,
                "dnnkit: these outputs cannot be fed back; the reason is the text in feedback_error<...>");
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

// Throws dnnkit::error for the name of an input or output that is fed back: run() takes no range for it.
inline void refuse_fed_back(const plan_view& plan, std::span<const fed_ports> fed, std::string_view name,
                            bool is_input) {
  const std::size_t port = port_named(plan, name, is_input);
  for (const fed_ports& f : fed)
    if (port != no_port && port == (is_input ? f.input : f.output))
      throw error("is fed back: run() takes no range for it", name_of_port(plan, port));
}

}  // namespace detail

}  // namespace dnnkit
