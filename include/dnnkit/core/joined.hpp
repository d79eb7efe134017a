// SPDX-License-Identifier: MIT
// A string made of pieces. (Of `"literal" + std::string(...)` g++ 12 warns with -Wrestrict in programs that are
// compiled with -O3, as users compile theirs.)
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace dnnkit {

inline std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string whole;
  for (std::string_view piece : pieces) whole.append(piece);
  return whole;
}

}  // namespace dnnkit
