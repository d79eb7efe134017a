// SPDX-License-Identifier: MIT
// Binaries of programs on disk, under hashes of all that they depend on. What is damaged, cut off or another's is not
// there; what cannot be written is done without.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/replacing_file.hpp"

namespace dnnkit::detail {

// 128 bits: no two programs on one disk have the same by chance. Against who writes the user's files it is no guard.
struct hash_of_bytes {
  std::array<std::uint64_t, 2> lanes{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};

  // `a` and then `b` is not the same as `ab`.
  void add(std::span<const std::byte> bytes) {
    mix(bytes.size());
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) mix(word_of(bytes, 8));
    if (!bytes.empty()) mix(word_of(bytes, bytes.size()));
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(const hash_of_bytes& other) {
    for (const std::uint64_t lane : other.lanes) mix(lane);
  }
  std::string hexadecimal() const {
    std::string s;
    for (const std::uint64_t lane : lanes)
      for (int shift = 60; shift >= 0; shift -= 4) s += "0123456789abcdef"[lane >> shift & 15];
    return s;
  }

  friend auto operator<=>(const hash_of_bytes&, const hash_of_bytes&) = default;

 private:
  static std::uint64_t word_of(std::span<const std::byte> bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), count);
    return word;
  }
  // Two lanes with multipliers and rotations of their own (as MurmurHash3, x64, 128 bits), each of which goes into the
  // other.
  void mix(std::uint64_t word) {
    lanes[0] ^= std::rotl(word * 0x87c37b91114253d5, 31) * 0x4cf5ad432745937f;
    lanes[0] = (std::rotl(lanes[0], 27) + lanes[1]) * 5 + 0x52dce729;
    lanes[1] ^= std::rotl(word * 0x4cf5ad432745937f, 33) * 0x87c37b91114253d5;
    lanes[1] = (std::rotl(lanes[1], 31) + lanes[0]) * 5 + 0x38495ab5;
  }
};

// A folder of files, each a header (a mark with the format's version, the hash it is under, size and hash of what
// follows) and a binary. Several processes may use one.
class cl_cache {
 public:
  // An empty folder: nothing is kept.
  explicit cl_cache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // That of the environment: DNNKIT_CACHE, which may be empty; else dnnkit in XDG_CACHE_HOME or in ~/.cache.
  static cl_cache of_environment() {
    if (const char* const named = std::getenv("DNNKIT_CACHE")) return cl_cache(named);
    if (const char* const xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')  // relative: ignored
      return cl_cache(std::filesystem::path(xdg) / "dnnkit");
    if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
      return cl_cache(std::filesystem::path(home) / ".cache" / "dnnkit");
    return cl_cache({});
  }

  std::filesystem::path file(const hash_of_bytes& key) const { return folder_ / (key.hexadecimal() + ".clbin"); }

  // The binary, if it is there and whole.
  std::optional<std::vector<std::byte>> read(const hash_of_bytes& key) const {
    std::error_code unknown;
    if (folder_.empty() || !is_regular_file(symlink_status(file(key), unknown))) return std::nullopt;
    std::ifstream in(file(key), std::ios::binary | std::ios::ate);
    const auto all = static_cast<std::streamoff>(in.tellg());
    header h;
    if (!in || all <= static_cast<std::streamoff>(sizeof h) || !in.seekg(0)) return std::nullopt;
    if (!in.read(reinterpret_cast<char*>(&h), sizeof h) || h.mark != mark || h.key != key.lanes ||
        h.size != static_cast<std::uint64_t>(all) - sizeof h)
      return std::nullopt;
    std::vector<std::byte> binary(static_cast<std::size_t>(h.size));
    if (!in.read(reinterpret_cast<char*>(binary.data()), static_cast<std::streamsize>(binary.size())) ||
        hash_of(binary) != h.content)
      return std::nullopt;
    return binary;
  }

  // Keeps a binary, in place of what is there, be it a link. False where it cannot be written.
  bool write(const hash_of_bytes& key, std::span<const std::byte> binary) const {
    if (folder_.empty()) return false;
    try {
      std::error_code failed;
      if (std::filesystem::create_directories(folder_, failed))
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, failed);
      const header h{mark, key.lanes, binary.size(), hash_of(binary)};
      replacing_file out(file(key), links::replaced);
      out.write(std::as_bytes(std::span(&h, 1)));
      out.write(binary);
      out.commit();
      return true;
    } catch (const error&) { return false; }
  }

 private:
  static constexpr std::uint64_t mark = 0x3130'6c63'6b6e'6e64;  // "dnnkcl01"
  struct header {
    std::uint64_t mark = 0;
    std::array<std::uint64_t, 2> key{};
    std::uint64_t size = 0;
    std::array<std::uint64_t, 2> content{};
  };
  static std::array<std::uint64_t, 2> hash_of(std::span<const std::byte> bytes) {
    hash_of_bytes h;
    h.add(bytes);
    return h.lanes;
  }

  std::filesystem::path folder_;
};

}  // namespace dnnkit::detail
