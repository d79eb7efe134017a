// SPDX-License-Identifier: MIT
// Philox4x32-10 against the known answers that its authors publish with Random123 (kat_vectors).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/philox.hpp"

#include <doctest/doctest.h>

using namespace dnnkit;

namespace {

static_assert(philox({0, 0, 0, 0}, {0, 0}) == philox_counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              philox_counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              philox_counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("numbers of a sequence are halves of its blocks") {
  CHECK(philox_number(0, {0, 0}) == 0xe169c58d6627e8d5);
  CHECK(philox_number(1, {0, 0}) == 0x9b00dbd8bc57ac4c);
  const philox_counter later = philox({1, 2, 0, 0}, {3, 4});
  CHECK(philox_number((std::uint64_t{2} << 33) + 3, {3, 4}) == (std::uint64_t{later[3]} << 32 | later[2]));
}

}  // namespace
