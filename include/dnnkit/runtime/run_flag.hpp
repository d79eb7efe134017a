// SPDX-License-Identifier: MIT
// Whether a run of a session is under way, for what its observer calls out of it. Not for other threads, of which one
// at a time may use a session.
#pragma once

#include <string>

#include "dnnkit/core/error.hpp"

namespace dnnkit::detail {

// Moves are noexcept, so one during a run ends the program with the message.
class run_flag {
 public:
  run_flag() = default;
  run_flag(run_flag&& other) noexcept { other.require_off("it is moved"); }
  run_flag& operator=(run_flag&& other) noexcept {
    require_off("another one is assigned to it");
    other.require_off("it is moved");
    return *this;
  }

  // `call`: what a run does not allow. Throws dnnkit::error during one.
  void require_off(const char* call) const {
    if (on_) throw error(std::string(call) + " while a run is under way (by its observer)", "session");
  }

  class scope {
   public:
    explicit scope(run_flag& flag) noexcept : flag_(flag) { flag_.on_ = true; }
    scope(const scope&) = delete;
    ~scope() { flag_.on_ = false; }

   private:
    run_flag& flag_;
  };

 private:
  bool on_ = false;
};

}  // namespace dnnkit::detail
