// SPDX-License-Identifier: MIT
// How much of a mapped file is in this process's memory, as Linux tells.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

// Nothing where the system does not tell.
inline std::optional<std::size_t> resident_bytes(const std::filesystem::path& mapped) {
  std::ifstream maps("/proc/self/smaps");
  if (!maps) return std::nullopt;
  std::size_t bytes = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (!first.ends_with(':')) inside = line.ends_with(" " + mapped.string());  // "7f0c-7f0d r--p ... /path"
    std::size_t kilobytes = 0;
    if (inside && first == "Rss:" && words >> kilobytes) bytes += kilobytes * 1024;
  }
  return bytes;
}
