// SPDX-License-Identifier: MIT
// How a text that was worked out in a constant expression becomes a compile error: compilers print the template
// arguments of a class whose static assertion fails, and these are the message.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/core/text.hpp"

namespace dnnkit::detail {

// Clang leaves out what is beyond some thirty characters of a string, so there a message comes in pieces that end
// between words.
#ifdef __clang__
inline constexpr std::size_t longest_piece = 32;
#else
inline constexpr std::size_t longest_piece = 1024;
#endif

// Where the piece of a message that begins at `first` ends.
constexpr std::size_t end_of_piece(std::string_view message, std::size_t first) {
  if (message.size() - first <= longest_piece) return message.size();
  const std::size_t space = message.rfind(' ', first + longest_piece - 1);
  return space == message.npos || space <= first ? first + longest_piece : space + 1;
}

// Says a message by the assertion in Error, unless it is empty or another assertion has said it. Message: a constant
// with a member view().
template <const auto& Message, template <fixed_string...> class Error, std::size_t First = 0, fixed_string... Pieces>
constexpr auto say() {
  constexpr std::string_view message = Message.view();
  if constexpr (First < message.size() && message != said_by_compiler) {
    constexpr std::size_t end = end_of_piece(message, First);
    return say<Message, Error, end, Pieces..., to_fixed<end - First>(message.substr(First))>();
  } else if constexpr (sizeof...(Pieces) != 0) {
    return Error<Pieces...>{};
  }
}

}  // namespace dnnkit::detail
