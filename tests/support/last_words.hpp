// SPDX-License-Identifier: MIT
// What a program says when it ends because of an exception that nothing may catch.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <string_view>

#include "dnnkit/core/error.hpp"

namespace harness {

// What a child process that does this prints before it ends by std::terminate; empty when it does not.
std::string last_words(auto act) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    static int to = ends[1];
    std::set_terminate([] {
      try {
        std::rethrow_exception(std::current_exception());
      } catch (const dnnkit::error& e) { static_cast<void>(!::write(to, e.what(), std::string_view(e.what()).size())); }
      ::_exit(1);
    });
    act();
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[400];
  const auto n = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0);
}

}  // namespace harness
