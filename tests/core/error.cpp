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
