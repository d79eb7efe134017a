// SPDX-License-Identifier: MIT
// Tests of the JSON reader: what it reads, what it writes, and each way to break the syntax with its message.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/json_header.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/error_of.hpp"

using dnnkit::detail::first_invalid_utf8;
using dnnkit::detail::json_cursor;
using dnnkit::detail::json_string;

constexpr std::size_t valid = std::string_view::npos;
static_assert(first_invalid_utf8("") == valid && first_invalid_utf8("plain") == valid);
static_assert(first_invalid_utf8("\xc3\xbc \xe6\x97\xa5 \xf0\x9f\x98\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf") == valid);
static_assert(first_invalid_utf8("a\x80") == 1 && first_invalid_utf8("ab\xff") == 2);           // no lead byte
static_assert(first_invalid_utf8("\xc0\xaf") == 0 && first_invalid_utf8("\xe0\x80\xaf") == 0);  // overlong
static_assert(first_invalid_utf8("\xed\xa0\x80") == 0);                                         // surrogate
static_assert(first_invalid_utf8("\xf4\x90\x80\x80") == 0 && first_invalid_utf8("\xf5\x80\x80\x80") == 0);
static_assert(first_invalid_utf8("\xc3") == 0 && first_invalid_utf8("\xe6\x97") == 0);  // cut short
static_assert(first_invalid_utf8("\xe6\x97"
                                 "a") == 0 &&
              first_invalid_utf8("\xf0\x9f\x98 ") == 0);

static std::string string_of(std::string_view json) {
  json_cursor cursor(json, "f");
  const std::string value = cursor.string();
  cursor.end();
  return value;
}

// The complaint about `json` as a whole, without the common start "f: header is not valid JSON at ".
static std::string complaint(std::string_view json) {
  const std::string message = error_of([&] {
    json_cursor cursor(json, "f");
    cursor.skip();
    cursor.end();
    return 0;
  });
  const std::string_view common = "f: header is not valid JSON at header ";
  return message.starts_with(common) ? message.substr(common.size()) : message;
}

TEST_CASE("strings are unescaped") {
  CHECK(string_of(R"( "plain" )") == "plain");
  CHECK(string_of(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(string_of(R"("\u0041\u00fc\u65E5\ud83d\uDE00")") == "A\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80");
  CHECK(string_of(R"("\u0000")") == std::string(1, '\0'));
}

TEST_CASE("what json_string writes is read back") {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "\xc3\xbc\xf0\x9f\x98\x80";
  CHECK(string_of(json_string(all)) == all);
  CHECK(json_string("\xff"
                    "a\xe2\x80"
                    "b\u00fc") == "\"\\ufffda\\ufffd\\ufffdb\u00fc\"");
  CHECK(json_string("\x7f\u0085\u2028\u202e") == R"("\u007f\u0085\u2028\u202e")");  // what a terminal acts on
  CHECK(json_string("a\"\\\n\x01") == R"("a\"\\\n\u0001")");
}

TEST_CASE("objects and arrays arrive in order") {
  json_cursor cursor(R"( {"a" : [ 1 ,20, 9223372036854775807 ], "b":{}, "c":[]} )", "f");
  std::vector<std::string> keys;
  std::vector<std::int64_t> numbers;
  cursor.object([&](const std::string& key) {
    keys.push_back(key);
    if (key == "a") cursor.array([&] { numbers.push_back(cursor.natural("number")); });
    if (key != "a") cursor.skip();
  });
  cursor.end();
  CHECK(keys == std::vector<std::string>{"a", "b", "c"});
  CHECK(numbers == std::vector<std::int64_t>{1, 20, 9223372036854775807});
}

TEST_CASE("any value can be skipped") {
  for (const char* json : {"0", "-0", "12.5e-3", "1E+9", "true", "false", "null", "[]", "{}", R"([1,{"a":[null]}])"})
    CHECK(complaint(json) == "no error");
}

TEST_CASE("each break of the syntax is refused where it is") {
  const auto end = [](int byte, std::string_view expected) {
    return "byte " + std::to_string(byte) + ", expected " + std::string(expected) + ", found the end of the header";
  };
  CHECK(complaint("") == end(0, "a value"));
  CHECK(complaint("{") == end(1, "a key"));
  CHECK(complaint("[1") == end(2, "',' or ']' after an element"));
  CHECK(complaint(R"({"a")") == end(4, "':' after a key"));
  CHECK(complaint(R"({"a":1)") == end(6, "',' or '}' after a member"));
  CHECK(complaint("\"abc") == end(4, "the end of the string"));
  CHECK(complaint("-") == end(1, "a value"));
  CHECK(complaint("1.") == end(2, "a value"));
  CHECK(complaint("1e+") == end(3, "a value"));
  CHECK(complaint("[1,]") == "byte 3, expected a value, found ']'");
  CHECK(complaint("{\"a\":1,}") == "byte 7, expected a key, found '}'");
  CHECK(complaint("{a:1}") == "byte 1, expected a key, found 'a:1}'");
  CHECK(complaint("tru") == "byte 0, expected a value, found 'tru'");
  CHECK(complaint("NaN") == "byte 0, expected a value, found 'NaN'");
  CHECK(complaint("1 2") == "byte 2, expected nothing but spaces after the header's object, found '2'");
  CHECK(complaint("01") == "byte 2, expected a number without leading zeros, found the end of the header");
  CHECK(complaint("\"a\nb\"") == "byte 2, expected control characters as escapes, found '?b\"'");
  CHECK(complaint(R"("\x")") == "byte 2, expected an escape of JSON, found 'x\"'");
  CHECK(complaint(R"("\u12g4")") == "byte 5, expected four hexadecimal digits, found 'g4\"'");
  CHECK(complaint(R"("\ud83d")") == "byte 7, expected both halves of a surrogate pair before this, found '\"'");
  CHECK(complaint(R"("\udc00")") == "byte 7, expected both halves of a surrogate pair before this, found '\"'");
  CHECK(complaint(R"("\ud83d\u0041")") ==
        "byte 13, expected the second half of a surrogate pair before this, found '\"'");
  CHECK(complaint(R"({"a":1,"\u0061":2})") ==
        "f: key appears twice at header byte 7, expected unique keys, found '\"\\u0061\":2}'");
}

TEST_CASE("nesting is bounded") {
  CHECK(complaint(std::string(16, '[') + std::string(16, ']')) == "no error");
  CHECK(complaint(std::string(17, '[')) ==
        "f: header is nested too deeply at header byte 16, expected at most 16 levels, found '['");
  CHECK(complaint(std::string(10'000'000, '[')).starts_with("f: header is nested too deeply at header byte 16"));
}

TEST_CASE("sizes are natural numbers of 63 bits") {
  const auto natural = [](std::string_view json) {
    return error_of([&] {
      json_cursor cursor(json, "f");
      cursor.set_context("tensor 't'");
      return cursor.natural("size");
    });
  };
  CHECK(natural("0") == "no error");
  CHECK(natural("9223372036854775807") == "no error");
  for (const std::string bad : {"-1", "+1", "1.0", "1e3", "1E3", "01", "9223372036854775808", "99999999999999999999",
                                "\\u0031", "null", "true", "[1]", "nan"})
    CHECK(natural(bad) ==
          "f, tensor 't': size is not an integer from 0 to 2^63 - 1 at header byte 0, expected such an "
          "integer, found '" +
              bad.substr(0, 16) + "'");
}
