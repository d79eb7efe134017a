// SPDX-License-Identifier: MIT
#include "dnnkit/runtime/border.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/random_source.hpp"

namespace dk = dnnkit;

// Every element of a buffer of any layout is zero after clear_border() if it lies in the border, and untouched if not.
TEST_CASE("the border is cleared, and nothing else") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    random_source r(seed);
    dk::plan::buffer b{};
    b.type.type = r.chance(70) ? dk::f32 : r.chance(50) ? dk::i64 : dk::boolean;
    const std::size_t rank = r.below(6), element = dk::size_of(b.type.type);
    std::vector<std::int64_t> extents, room;
    std::size_t bytes = element;
    for (std::size_t d = 0; d < rank; ++d) {
      extents.push_back(r.between(r.chance(10) ? 0 : 1, 4));
      b.layout.order.insert(r.below(d + 1), static_cast<std::uint8_t>(d));
      b.layout.before.push_back(static_cast<std::uint8_t>(r.chance(50) ? r.between(1, 2) : 0));
      b.layout.after.push_back(static_cast<std::uint8_t>(r.chance(50) ? r.between(1, 3) : 0));
      room.push_back(extents[d] + b.layout.before[d] + b.layout.after[d]);
      bytes *= static_cast<std::size_t>(room[d]);
      b.type.dims.push_back(extents[d]);
    }
    constexpr std::byte mark{0x5a};
    std::vector<std::byte> memory(bytes + 16, mark);  // with a guard on both sides
    dk::clear_border(b, extents.data(), memory.data() + 8);

    std::size_t wrong = 0;
    for (std::size_t at = 0; at < bytes / element; ++at) {
      bool inside = true;
      std::size_t rest = at;
      for (std::size_t level = rank; level-- > 0;) {  // storage position to logical coordinates
        const std::size_t d = b.layout.order[level];
        const auto c = static_cast<std::int64_t>(rest % static_cast<std::size_t>(room[d])) - b.layout.before[d];
        rest /= static_cast<std::size_t>(room[d]);
        inside = inside && c >= 0 && c < extents[d];
      }
      for (std::size_t i = 0; i < element; ++i) wrong += memory[8 + at * element + i] != (inside ? mark : std::byte{0});
    }
    CHECK(wrong == 0);
    for (std::size_t i = 0; i < 8; ++i) CHECK((memory[i] == mark && memory[bytes + 8 + i] == mark));
  }
}
