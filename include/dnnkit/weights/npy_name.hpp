// SPDX-License-Identifier: MIT
// The names of .npy files after those of tensors.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"

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

// A file of this name can be written: file systems take 255 bytes, and replacing_file appends some while it writes.
inline bool fits_file_name(std::string_view file) { return file.size() <= 220; }

// The files of a network's outputs: named after them, or out_0.npy for the first, out_1.npy for the second ... where a
// name is too long for a file. Throws dnnkit::error where another output is called so.
inline std::vector<std::string> npy_names_of_outputs(const std::vector<std::string>& outputs) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string file = npy_name(outputs[i]);
    if (!fits_file_name(file)) file = "out_" + std::to_string(i) + ".npy";
    files.push_back(std::move(file));
  }
  std::set<std::string_view> all;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!all.insert(files[i]).second)
      throw error("is the file of two outputs: the name of one is too long, and the other is called so", files[i]);
  return files;
}

// What programs say of an output whose file is not called after it.
inline std::string describe_numbered_file(std::string_view output, std::string_view file) {
  return "output " + printable(output) + ": its name is too long for a file; it is " + std::string(file) + "\n";
}

}  // namespace dnnkit
