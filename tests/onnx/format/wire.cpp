// SPDX-License-Identifier: MIT
// Tests of the wire format's reader: each encoding, and each way a message can be malformed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/wire.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/wire_writer.hpp"

using dnnkit::onnx::wire_message;

namespace {

wire_message read(const std::string& bytes) { return {std::as_bytes(std::span(bytes)), "f"}; }

// The message at its first field.
wire_message first(const std::string& bytes) {
  wire_message m = read(bytes);
  REQUIRE(m.next());
  return m;
}

std::string complaint(const std::string& bytes, auto take) {
  return error_of([&] {
    wire_message m = read(bytes);
    while (m.next()) take(m);
    return 0;
  });
}
std::string skipping(const std::string& bytes) {
  return complaint(bytes, [](wire_message& m) { m.skip(); });
}

}  // namespace

TEST_CASE("scalars") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
                               std::int64_t{300}, std::int64_t{-1}, least, most})
    CHECK(first(wire().integer(3, x).bytes()).integer("i") == x);
  CHECK(first(wire().real(2, -1.5f).bytes()).real("f") == -1.5f);
  CHECK(first(wire().text(1, "name").bytes()).text("s") == "name");
  CHECK(first(wire().text(1, "").bytes()).text("s").empty());
  CHECK(first(wire().integer(536'870'911, 5).bytes()).field() == 536'870'911);
  CHECK(!read("").next());
}

TEST_CASE("a varint may be longer than it has to be") {
  CHECK(first("\x08\x85" + std::string(8, '\x80') + std::string(1, '\0')).integer("i") == 5);
}

TEST_CASE("repeated numbers, packed, not packed, and both") {
  const auto numbers = [](const std::string& bytes, auto element) {
    std::vector<decltype(element)> list;
    wire_message m = read(bytes);
    while (m.next()) m.numbers("n", list);
    return list;
  };
  CHECK(numbers(wire().integers(1, {1, -2, 300}).bytes(), std::int64_t{}) == std::vector<std::int64_t>{1, -2, 300});
  CHECK(numbers(wire().integer(1, 1).integers(1, {-2, 300}).integer(1, 4).bytes(), std::int64_t{}) ==
        std::vector<std::int64_t>{1, -2, 300, 4});
  CHECK(numbers(wire().integers(1, {-1, 1LL << 32}).bytes(), std::int32_t{}) == std::vector<std::int32_t>{-1, 0});
  CHECK(numbers(wire().integers(1, {-1}).bytes(), std::uint64_t{}) == std::vector<std::uint64_t>{~std::uint64_t{0}});
  CHECK(numbers(wire().reals(1, {1.f, 2.f}).real(1, 3.f).bytes(), 0.f) == std::vector<float>{1, 2, 3});
  CHECK(numbers(wire().reals(1, {1., 0.1}).real(1, 3.).bytes(), 0.) == std::vector<double>{1, 0.1, 3});
  CHECK(numbers(wire().integers(1, {}).bytes(), 0.f).empty());
}

TEST_CASE("messages inside messages, and fields passed over") {
  const std::string bytes = wire()
                                .integer(9, 1)
                                .real(9, 1.f)
                                .real(9, 1.)
                                .text(9, "x")
                                .message(1, wire().message(2, wire().integer(3, 42)))
                                .bytes();
  wire_message m = read(bytes);
  std::int64_t found = 0;
  while (m.next()) {
    if (m.field() != 1) {
      m.skip();
      continue;
    }
    wire_message inner = m.message("inner");
    while (inner.next()) {
      wire_message innermost = inner.message("innermost", 7);
      while (innermost.next()) {
        found = innermost.integer("i");
        CHECK(innermost.where("i") == "f, inner.innermost[7].i, byte 25");
      }
    }
  }
  CHECK(found == 42);
}

TEST_CASE("what is malformed is refused with its place") {
  CHECK(skipping("\x80") == "f, a field's tag, byte 1: the file ends inside a varint: it is probably truncated");
  CHECK(skipping(std::string(11, '\xff')) == "f, a field's tag, byte 9: varint has more than 64 bits");
  CHECK(skipping(std::string(9, '\xff') + "\x02") == "f, a field's tag, byte 9: varint has more than 64 bits");
  CHECK(skipping(std::string(1, '\0')) ==
        "f, byte 1: number of a field is out of range, expected 1 to 536870911, found 0");
  CHECK(skipping(wire().tag(1ull << 29, 0).bytes()) ==
        "f, byte 5: number of a field is out of range, expected 1 to 536870911, found 536870912");
  CHECK(skipping(wire().tag(1, 3).bytes()) == "f, byte 1: groups are not supported, found field 1");
  CHECK(skipping(wire().tag(1, 4).bytes()) == "f, byte 1: groups are not supported, found field 1");
  CHECK(skipping(wire().tag(1, 6).bytes()) == "f, byte 1: wire type is not known, expected 0, 1, 2 or 5, found 6");
  CHECK(skipping(wire().tag(1, 7).bytes()) == "f, byte 1: wire type is not known, expected 0, 1, 2 or 5, found 7");
}

TEST_CASE("a file that ends inside a field is probably truncated") {
  const auto ends = [](int byte, const std::string& size, int from) {
    return "f, byte " + std::to_string(from) + ": the file ends at byte " + std::to_string(byte) +
           ", inside a field that says that it has " + size + " bytes from byte " + std::to_string(from) +
           " on: it is probably truncated";
  };
  CHECK(skipping(wire().tag(1, 1).raw("1234567").bytes()) == ends(8, "8", 1));
  CHECK(skipping(wire().tag(1, 5).raw("123").bytes()) == ends(4, "4", 1));
  CHECK(skipping(wire().text(1, "12345").bytes().substr(0, 6)) == ends(6, "5", 2));
  CHECK(skipping(wire().integer(3, 1).text(1, "12345").bytes().substr(0, 4)) == ends(4, "5", 4));
  CHECK(skipping(wire().tag(1, 2).raw(wire::varint(~0ull)).bytes()) == ends(11, "18446744073709551615", 11));
  CHECK(complaint(wire().text(7, "12345").bytes().substr(0, 6), [](wire_message& m) { m.message("graph"); }) ==
        "f, graph, byte 2: the file ends at byte 6, inside a field that says that it has 5 bytes from byte 2 on: it is "
        "probably truncated");
}

TEST_CASE("a field of another type than expected is refused") {
  const auto text = wire().text(1, "x").bytes(), integer = wire().integer(1, 1).bytes();
  CHECK(complaint(text, [](wire_message& m) { m.integer("i"); }) ==
        "f, i, byte 1: field is encoded as another type, expected a varint, found a length and bytes");
  CHECK(complaint(integer, [](wire_message& m) { m.text("s"); }) ==
        "f, s, byte 1: field is encoded as another type, expected a length and bytes, found a varint");
  CHECK(complaint(integer, [](wire_message& m) { m.real("r"); }) ==
        "f, r, byte 1: field is encoded as another type, expected 4 bytes, found a varint");
  CHECK(complaint(integer, [](wire_message& m) { m.message("m"); }) ==
        "f, m, byte 1: field is encoded as another type, expected a length and bytes, found a varint");
  CHECK(complaint(wire().real(1, 1.).bytes(), [](wire_message& m) {
          std::vector<float> list;
          m.numbers("n", list);
        }) == "f, n, byte 1: field is encoded as another type, expected 4 bytes, found 8 bytes");
}

TEST_CASE("packed numbers end where the field does") {
  const auto numbers = [](const std::string& bytes, auto element) {
    return complaint(bytes, [&](wire_message& m) {
      std::vector<decltype(element)> list;
      m.numbers("n", list);
    });
  };
  CHECK(numbers(wire().text(1, "12345").bytes(), 0.f) ==
        "f, n, byte 7: packed numbers have a part left over, expected a multiple of 4 bytes, found 5");
  CHECK(numbers(wire().text(1, "123456789").bytes(), 0.) ==
        "f, n, byte 11: packed numbers have a part left over, expected a multiple of 8 bytes, found 9");
  CHECK(numbers(wire().text(1, "\x01\x80").integer(1, 1).bytes(), std::int64_t{}) ==
        "f, n, byte 4: message ends inside a varint");
}

TEST_CASE("a message does not reach beyond the one around it") {
  // nor does a file that goes on behind it count as truncated
  const std::string bytes = wire().message(1, wire().tag(2, 2).raw("\x04")).raw("1234").bytes();
  CHECK(complaint(bytes,
                  [](wire_message& m) {
                    wire_message inner = m.message("m");
                    while (inner.next()) inner.skip();
                  }) ==
        "f, m, byte 4: field is longer than what is left of its message, which ends at byte 4, expected at most 0 "
        "bytes, found 4 bytes");
}

TEST_CASE("nesting is bounded") {
  const auto depth_of = [](wire_message m, auto self) -> std::size_t {
    return m.next() ? 1 + self(m.message("m"), self) : 0;
  };
  std::string bytes;
  for (std::size_t i = 0; i < wire_message::deepest; ++i) bytes = wire().text(1, bytes).bytes();
  CHECK(depth_of(read(bytes), depth_of) == wire_message::deepest);
  bytes = wire().text(1, bytes).bytes();
  CHECK(error_of([&] {
          return depth_of(read(bytes), depth_of);
        }).find("messages are nested too deeply, expected at most 100") != std::string::npos);
}
