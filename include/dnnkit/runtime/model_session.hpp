// SPDX-License-Identifier: MIT
// The session that a model asks for: with a state where it names outputs that are the next run's inputs, as headers do
// that are made of ONNX models with --feedback or FEEDBACK. Units of kernels alone (graph.hpp) see its name for these.
#pragma once

#include "dnnkit/runtime/feedback_list.hpp"

#ifndef DNNKIT_ONLY_KERNELS

#include <array>
#include <cstddef>

#include "dnnkit/compile.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/stateful_session.hpp"

namespace dnnkit {

namespace detail {

template <class Model> struct feedbacks_of { using type = feedback_list<>; };
template <class Model>
requires requires { typename Model::feedbacks; }
struct feedbacks_of<Model> {
  using type = typename Model::feedbacks;
};

template <class Net, class Observer, class List> struct session_with;
template <class Net, class Observer> struct session_with<Net, Observer, feedback_list<>> {
  using type = session<Net, Observer>;
  static constexpr std::array<fed_ports, 0> fed{};
};
template <class Net, class Observer, class... Feedbacks>
struct session_with<Net, Observer, feedback_list<Feedbacks...>> {
  using type = stateful_session<session<Net, Observer>, Feedbacks...>;
  static constexpr std::array<fed_ports, sizeof...(Feedbacks)> fed = fed_ports_of<Net, Feedbacks...>();
};
template <class Net, class Observer = no_observer>
using session_of_network = session_with<Net, Observer, typename feedbacks_of<typename Net::model>::type>;

}  // namespace detail

//   dk::model_session<detector> s(detector_weights());
template <class Model, class Observer = no_observer>
using model_session = typename detail::session_of_network<compile<Model>, Observer>::type;

}  // namespace dnnkit

#endif
