// SPDX-License-Identifier: MIT
// The one exception: its parts, and the sentence made of them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/error.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("parts and sentence") {
  const dnnkit::error whole("dtype differs", "tensor 'w'", "f32", "f16"), bare("tensor is missing", "w");
  CHECK(std::string(whole.what()) == "tensor 'w': dtype differs, expected f32, found f16");
  CHECK(whole.problem() == "dtype differs");
  CHECK(whole.where() == "tensor 'w'");
  CHECK(whole.expected() == "f32");
  CHECK(whole.found() == "f16");
  CHECK(std::string(bare.what()) == "w: tensor is missing");
}

TEST_CASE("what it says is fit for a terminal, its parts are as they were given") {
  const dnnkit::error e("is\x1b[2J wrong", "tensor 'a\rb'", "one\nof two", "\x9b");
  CHECK(std::string_view(e.what()) == "tensor 'a\\x0db': is\\x1b[2J wrong, expected one\nof two, found \\x9b");
  CHECK(e.where() == "tensor 'a\rb'");
}
