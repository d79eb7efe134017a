// SPDX-License-Identifier: MIT
// Which families of kernels would have stages of given anchors, and by what tiles: the same of all chains of them, so
// that families are asked once.
#pragma once

#include <cstddef>
#include <span>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::detail {

class stage_wishes {
 public:
  struct family_wish {
    const kernel_family* family;
    tile_wish tile;
  };

  constexpr stage_wishes(std::span<const kernel_family> families, target_facts facts)
      : families_(families), facts_(facts) {}

  // Of the stages' anchors, in the order in which they run; holds until the next one is asked for.
  constexpr const vector<family_wish>& of(std::span<const op_info* const> anchors) {
    for (const known_wishes& known : known_)
      if (are_those_of(known.anchors, anchors)) return known.wishes;
    known_wishes found;
    vector<operator_tag> tags;
    for (const op_info* anchor : anchors) {
      found.anchors.push_back(anchor);
      tags.push_back(*anchor);
    }
    for (const kernel_family& f : families_)
      if (const tile_wish wish = f.joins({tags.items, tags.count}, facts_); wish.positions != 0)
        found.wishes.push_back({&f, wish});
    known_.push_back(static_cast<known_wishes&&>(found));
    return known_.back().wishes;
  }

 private:
  struct known_wishes {
    vector<const op_info*> anchors;
    vector<family_wish> wishes;
  };
  static constexpr bool are_those_of(const vector<const op_info*>& a, std::span<const op_info* const> b) {
    if (a.count != b.size()) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (a.items[i]->id != b[i]->id) return false;
    return true;
  }

  std::span<const kernel_family> families_;
  const target_facts facts_;
  vector<known_wishes> known_;
};

}  // namespace dnnkit::detail
