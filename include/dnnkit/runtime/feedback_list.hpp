// SPDX-License-Identifier: MIT
// How a model names outputs that are the next run's inputs: all that a unit of its kernels needs to know of them.
#pragma once

#include "dnnkit/core/text.hpp"

namespace dnnkit {

// What a run gives out as Output is Input of the run behind it (runtime/feedback.hpp).
template <fixed_string Output, fixed_string Input> struct feedback;

//   struct detector {
//     using feedbacks = dk::feedback_list<dk::feedback<"hn", "h">>;
template <class... Feedbacks> struct feedback_list {};

}  // namespace dnnkit
