// SPDX-License-Identifier: MIT
// Reading WAV files of 16-bit samples, every failure a dnnkit::error with the file's name.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/mapped_file.hpp"

namespace dnnkit::examples {

// Sound of one channel; samples from -1 to 1.
struct recording {
  std::uint32_t rate = 0;  // samples a second
  std::vector<float> samples;
};

namespace detail {

// A RIFF file: chunks of four letters, a size and that many bytes, each begun at an even place; numbers are
// little-endian.
class wav_reader {
 public:
  wav_reader(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  recording read() const {
    if (text(bytes_, 0) != "RIFF" || text(bytes_, 8) != "WAVE") throw error("is no WAV file", name_);
    const std::span<const std::byte> format = chunk("fmt ", 16), data = chunk("data", 0);
    const std::uint64_t kind = number(format, 0, 2), channels = number(format, 2, 2), bits = number(format, 14, 2);
    constexpr std::uint64_t pcm = 1, extensible = 0xFFFE;
    if ((kind != pcm && kind != extensible) || bits != 16 || channels == 0)
      throw error("has samples that cannot be read", name_, "16-bit integers",
                  fmt::format("{} bits, format {}, {} channels", bits, kind, channels));
    recording r{static_cast<std::uint32_t>(number(format, 4, 4)), {}};
    for (std::size_t at = 0, frame = 2 * channels; at + frame <= data.size(); at += frame)
      r.samples.push_back(static_cast<float>(static_cast<std::int16_t>(number(data, at, 2))) / 32768);
    return r;
  }

 private:
  static std::string_view text(std::span<const std::byte> bytes, std::size_t at) {
    return at + 4 <= bytes.size() ? std::string_view(reinterpret_cast<const char*>(bytes.data() + at), 4)
                                  : std::string_view();
  }
  static std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < size; ++i) n |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    return n;
  }
  // The first chunk of that name; as much of it as there is, since programs that write to a pipe do not know its size.
  std::span<const std::byte> chunk(std::string_view wanted, std::size_t least) const {
    for (std::size_t at = 12; at + 8 <= bytes_.size();) {
      const std::size_t size = number(bytes_, at + 4, 4), here = std::min(size, bytes_.size() - at - 8);
      if (text(bytes_, at) == wanted && here >= least) return bytes_.subspan(at + 8, here);
      at += 8 + here + here % 2;
    }
    throw error(fmt::format("has no chunk '{}'", wanted), name_);
  }

  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace detail

// The first channel of a file. Throws dnnkit::error when it cannot be read.
inline recording load_wav(const std::filesystem::path& path) {
  const mapped_file file(path);
  return detail::wav_reader(file.bytes(), path.string()).read();
}

}  // namespace dnnkit::examples
