// SPDX-License-Identifier: MIT
// The names of .npy files after those of tensors.
#pragma once

#include <string>
#include <string_view>

namespace dnnkit {

// "layer%2Fconv%3A0.npy" for the tensor "layer/conv:0": letters, digits and _ - ~ stay, and . unless it is the first;
// every other byte is % and two digits, as in URLs. Two tensors never have one file, and the tensor's name can be read
// off the file's (Python: urllib.parse.unquote). The name of no character is "%".
inline std::string npy_name(std::string_view tensor) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string name;
  for (const char c : tensor) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '~' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      (name += '%') += digits[byte >> 4];
      name += digits[byte & 15];
    }
  }
  return (name.empty() ? "%" : name) + ".npy";
}

}  // namespace dnnkit
