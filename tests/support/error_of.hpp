// SPDX-License-Identifier: MIT
// The message of the dnnkit::error that an action raises.
#pragma once

#include <string>

#include "dnnkit/core/error.hpp"

// "no error" when there is none; any other exception passes through.
template <class Action> std::string error_of(Action action) {
  try {
    static_cast<void>(action());
  } catch (const dnnkit::error& failure) { return failure.what(); }
  return "no error";
}
