// SPDX-License-Identifier: MIT
// Short texts: numbers, the cut of what does not fit, and the way into a template argument.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using dnnkit::text;

static_assert((text("a") << 1 << " " << -20 << std::size_t{3}).view() == "a1 -203");
static_assert((text() << std::numeric_limits<std::int64_t>::min()).view() == "-9223372036854775808");
static_assert((text() << std::int64_t{0}).view() == "0" && text().empty() && text("x") == text("x"));
static_assert(std::string_view(text("a") << 1) == "a1");  // where a string_view is taken
static_assert(dnnkit::to_fixed<3>(text("abc").view()).view() == "abc");

TEST_CASE("a text that is too long ends in dots") {
  text t;
  for (int i = 0; i < 100; ++i) t << "words ";
  CHECK(t.length == text::capacity);
  CHECK(t.str().substr(250) == "s ...");
  text exact;
  exact << std::string_view(std::string(text::capacity, 'x'));
  CHECK(exact.str() == std::string(text::capacity, 'x'));
}
