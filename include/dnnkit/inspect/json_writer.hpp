// SPDX-License-Identifier: MIT
// JSON text, member by member.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/weights/json_header.hpp"

namespace dnnkit::detail {

class json_writer {
 public:
  std::string take() { return std::move(out_); }

  // {...}, [...]: what `members` writes, by member() or by further values.
  template <class Members> void object(Members members) { nested('{', members, '}'); }
  template <class Elements> void array(Elements elements) { nested('[', elements, ']'); }

  // The next member of an object; its value is what is written next.
  void key(std::string_view name) {
    separate();
    (out_ += json_string(name)) += ": ";
    follows_key_ = true;
  }
  void null() { raw("null"); }
  void value(std::string_view text) { raw(json_string(text)); }
  void value(bool b) { raw(b ? "true" : "false"); }
  void value(std::integral auto n) { raw(fmt::format("{}", n)); }
  void value(double x) { raw(fmt::format("{}", x)); }  // finite

  template <class T> void member(std::string_view name, const T& x) {
    key(name);
    value(x);
  }
  // null for a text that is empty
  void text_or_null(std::string_view name, std::string_view text) {
    key(name);
    if (text.empty()) null();
    else value(text);
  }

 private:
  void raw(std::string_view text) {
    separate();
    out_ += text;
  }
  template <class Inside> void nested(char open, Inside& inside, char close) {
    raw(std::string_view(&open, 1));
    is_first_ = true;
    ++depth_;
    inside();
    --depth_;
    if (!is_first_ && depth_ < lines_to_) line();
    is_first_ = false;
    out_ += close;
  }
  // Each row of the outer lists has a line of its own.
  void separate() {
    if (std::exchange(follows_key_, false)) return;
    if (!is_first_) out_ += ',';
    if (depth_ == 0) return;
    if (depth_ <= lines_to_) line();
    else if (!is_first_) out_ += ' ';
    is_first_ = false;
  }
  void line() { (out_ += '\n').append(2 * depth_, ' '); }

  static constexpr std::size_t lines_to_ = 2;
  std::string out_;
  std::size_t depth_ = 0;
  bool is_first_ = true, follows_key_ = false;
};

}  // namespace dnnkit::detail
