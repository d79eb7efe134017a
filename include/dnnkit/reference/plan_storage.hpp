// SPDX-License-Identifier: MIT
// The buffers of a plan while plan_executor.hpp runs it, one arena and a region for each buffer outside it. Every byte
// remembers which buffer it was last written for, so that a read of what nobody wrote, or of what another buffer has
// overwritten, is an error that names both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/placement.hpp"
#include "dnnkit/reference/element_codec.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit::detail {

class plan_storage {
 public:
  // bytes_of(b): bytes of buffer b, border included.
  plan_storage(const plan_view& plan, auto bytes_of) : plan_(plan), placed_(placement_of(plan, bytes_of)) {
    regions_.resize(plan.buffers.size() + 1);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      const buffer& x = plan.buffers[b];
      const std::int32_t within = x.layout.within;  // between its rows lie those of others
      bytes_.push_back(within == none ? bytes_of(x)
                                      : bytes_of(plan.buffers[static_cast<std::size_t>(within)]) - bytes_before(x));
      if (!in_arena(b)) regions_[b + 1].resize(bytes_[b], name_of(b));
    }
    regions_[0].resize(placed_.bytes, "arena");
  }

  // Element number `element` of buffer b's storage becomes element i of `from`.
  void write(std::size_t b, std::int64_t element, const host_tensor& from, std::size_t i) {
    const place p = place_of(b, element, from.type, "written");
    store_element(plan_.buffers[b].type.type, p.of->bytes.data() + p.at, from, i);
    for (std::size_t k = 0; k < p.size; ++k) p.of->owner[p.at + k] = static_cast<std::int32_t>(b);
  }
  // Element i of `to` becomes element number `element` of buffer b's storage.
  void read(std::size_t b, std::int64_t element, host_tensor& to, std::size_t i) {
    const place p = place_of(b, element, to.type, "read");
    for (std::size_t k = 0; k < p.size; ++k)
      if (const std::int32_t owner = p.of->owner[p.at + k]; !holds(owner, static_cast<std::int32_t>(b)))
        throw error(owner == none ? "is read before it is written" : "is read after it was overwritten",
                    text_of(b, element), {}, owner == none ? "" : "by " + name_of(static_cast<std::size_t>(owner)));
    load_element(plan_.buffers[b].type.type, p.of->bytes.data() + p.at, to, i);
  }

  // What buffer b holds is nobody's any more.
  void forget(std::size_t b) {
    region& r = regions_[in_arena(b) ? 0 : b + 1];
    std::fill(r.owner.begin(), r.owner.end(), none);
  }

  std::string name_of(std::size_t b) const {
    return "buffer " + std::to_string(b) + " '" + std::string(plan_.text_of(plan_.buffers[b].name)) + "'";
  }

 private:
  // Is what was written for buffer `owner` an element of b? So it is, too, where the one lies inside the other.
  bool holds(std::int32_t owner, std::int32_t b) const {
    if (owner == b || owner == none) return owner == b;
    const std::int32_t whole = plan_.buffers[static_cast<std::size_t>(b)].layout.within,
                       whole_of_owner = plan_.buffers[static_cast<std::size_t>(owner)].layout.within;
    return owner == whole || whole_of_owner == b || (whole != none && whole == whole_of_owner);
  }
  struct region {
    std::vector<std::byte> bytes;
    std::vector<std::int32_t> owner;  // number of a buffer, of each byte
    void resize(std::int64_t n, const std::string& name) try {
      bytes.resize(static_cast<std::size_t>(n));
      owner.resize(static_cast<std::size_t>(n), none);
    } catch (const std::exception&) { throw error("not enough memory", name, std::to_string(n) + " bytes"); }
  };
  struct place {
    region* of;
    std::size_t at, size;
  };

  bool in_arena(std::size_t b) const { return plan_.buffers[b].where == storage::arena; }
  std::string text_of(std::size_t b, std::int64_t element) const {
    return name_of(b) + ", element " + std::to_string(element);
  }

  place place_of(std::size_t b, std::int64_t element, dtype type, const char* what) {
    if (type != plan_.buffers[b].type.type)
      throw error(std::string("an element of another type is ") + what, text_of(b, element),
                  std::string(name(plan_.buffers[b].type.type)), std::string(name(type)));
    const auto size = static_cast<std::int64_t>(size_of(plan_.buffers[b].type.type));
    region& r = regions_[in_arena(b) ? 0 : b + 1];
    const std::int64_t offset = placed_.offsets[b];
    if (element < 0 || element >= bytes_[b] / size || offset < 0 || offset + (element + 1) * size > std::ssize(r.bytes))
      throw error(std::string("an element outside it is ") + what, text_of(b, element),
                  std::to_string(bytes_[b] / size) + " elements");
    return {&r, static_cast<std::size_t>(offset + element * size), static_cast<std::size_t>(size)};
  }

  const plan_view& plan_;
  placement placed_;
  std::vector<std::int64_t> bytes_;
  std::vector<region> regions_;  // the arena, then one for each buffer, empty for those in the arena
};

}  // namespace dnnkit::detail
