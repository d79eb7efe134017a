// SPDX-License-Identifier: MIT
// DNNFusion, Table 3.3: what comes of fusing a first operator with a second that reads its output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/operator/traits.hpp"

namespace dnnkit::plan {

enum class verdict : std::uint8_t {
  fuse,     // green: legal and profitable
  profile,  // yellow: legal, profitable or not depending on the case
  never     // red
};

struct fused {
  mapping type;
  verdict decision;
};

// Rows: first operator; columns: second; both in the order of enum mapping. The two red cells have no resulting type in
// the paper; many_to_many stands there. Yellow follows section 3.3.2: Reorganize and Shuffle with One-to-Many and
// Many-to-Many in either order, Many-to-Many before One-to-Many, and One-to-Many before One-to-Many.
inline constexpr std::array<std::array<fused, 5>, 5> mapping_table = [] {
  using enum mapping;
  using enum verdict;
  return std::array<std::array<fused, 5>, 5>{{
      // second:  one_to_one               reorganize               shuffle                  one_to_many many_to_many
      {{{one_to_one, fuse}, {reorganize, fuse}, {shuffle, fuse}, {one_to_many, fuse}, {many_to_many, fuse}}},
      {{{reorganize, fuse}, {reorganize, fuse}, {reorganize, fuse}, {one_to_many, profile}, {many_to_many, profile}}},
      {{{shuffle, fuse}, {reorganize, fuse}, {shuffle, fuse}, {one_to_many, profile}, {many_to_many, profile}}},
      {{{one_to_many, fuse},
        {one_to_many, profile},
        {one_to_many, profile},
        {one_to_many, profile},
        {many_to_many, never}}},
      {{{many_to_many, fuse},
        {many_to_many, profile},
        {many_to_many, profile},
        {many_to_many, profile},
        {many_to_many, never}}},
  }};
}();

constexpr fused fuse(mapping first, mapping second) {
  return mapping_table[static_cast<std::size_t>(first)][static_cast<std::size_t>(second)];
}

}  // namespace dnnkit::plan

namespace dnnkit {
using plan::verdict;
}  // namespace dnnkit
