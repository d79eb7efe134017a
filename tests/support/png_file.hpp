// SPDX-License-Identifier: MIT
// PNG files put together by hand: of any kind, well-formed or not.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

using row = std::vector<std::uint8_t>;

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

// A chunk of the PNG format: length, type, data, CRC of type and data.
inline std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + checked + big_endian(static_cast<std::uint32_t>(crc));
}

inline std::string deflated(const std::string& bytes) {
  std::string out(::compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  ::compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return out.substr(0, size);
}

inline const std::string signature("\x89PNG\r\n\x1a\n");

// colour: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA.
inline std::string header(std::uint32_t width, std::uint32_t height, int depth, int colour, bool interlaced = false) {
  return chunk("IHDR", big_endian(width) + big_endian(height) +
                           std::string{static_cast<char>(depth), static_cast<char>(colour), 0, 0, interlaced});
}

// A whole file of the packed `rows`, unfiltered; `between` are the chunks before the data.
inline std::string png_file(const std::string& head, const std::vector<row>& rows, const std::string& between = {}) {
  std::string raw;
  for (const row& r : rows) (raw += '\0') += std::string(r.begin(), r.end());
  return signature + head + between + chunk("IDAT", deflated(raw)) + chunk("IEND", "");
}
