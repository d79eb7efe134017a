// SPDX-License-Identifier: MIT
// Tests of what is shown of text from files.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/printable.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using dnnkit::line_feeds;
using dnnkit::printable;

TEST_CASE("text stays as it is") {
  for (const std::string_view s : {"", "conv1", "a b\\x", "größe", "層", "🙂", "\xf4\x8f\xbf\xbf"})
    CHECK(printable(s) == s);
}

TEST_CASE("control characters are escaped") {
  CHECK(printable("a\x1b[31m") == "a\\x1b[31m");
  CHECK(printable(std::string_view("\0\r\n\t\x7f", 5)) == "\\x00\\x0d\\x0a\\x09\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // the 8-bit form of ESC [
  CHECK(printable("\xe2\x80\xae"
                  "abc") == "\\xe2\\x80\\xaeabc");  // text from right to left
  CHECK(printable("a\nb\tc\x1b", line_feeds::kept) == "a\nb\tc\\x1b");
}

TEST_CASE("what is no UTF-8 is escaped byte by byte") {
  CHECK(printable("\x9b") == "\\x9b");
  CHECK(printable("\xc3") == "\\xc3");
  CHECK(printable("\xc3(") == "\\xc3(");
  CHECK(printable("\xc0\x8a") == "\\xc0\\x8a");                    // a line feed in two bytes
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
}

TEST_CASE("no byte of two comes out as a control character, and escaping twice changes nothing") {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string once = printable(std::string{static_cast<char>(a), static_cast<char>(b)});
      bool plain = true;
      for (const char c : once) plain = plain && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
      if (!plain || printable(once) != once) FAIL(a << " " << b);
    }
}
