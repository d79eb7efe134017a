// SPDX-License-Identifier: MIT
// The one exception of the library: what went wrong, where, what was expected and what was found.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "dnnkit/core/printable.hpp"

namespace dnnkit {

// Thrown for bad input (files, shapes, symbols, sizes), never for a defect of the library itself.
class error : public std::exception {
 public:
  // `problem` is a short sentence ("tensor is missing"); `culprit` names where (a file, a tensor, an input);
  // `expected` and `found` may be empty when there are no two sides.
  error(std::string problem, std::string culprit, std::string expected = {}, std::string found = {})
      : problem_(std::move(problem)),
        where_(std::move(culprit)),
        expected_(std::move(expected)),
        found_(std::move(found)),
        text_(where_ + ": " + problem_) {
    if (!expected_.empty()) text_ += ", expected " + expected_;
    if (!found_.empty()) text_ += ", found " + found_;
    text_ = printable(text_, line_feeds::kept);
  }

  // One sentence, fit for a terminal whatever the files hold that it speaks of; its parts below are as they were given.
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& where() const noexcept { return where_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& found() const noexcept { return found_; }

 private:
  std::string problem_, where_, expected_, found_, text_;
};

}  // namespace dnnkit
