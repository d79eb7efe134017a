// SPDX-License-Identifier: MIT
// The files beside a model that hold elements of its tensors. A model is untrusted, and so are the files it came with:
// what is read must lie in the model's folder, wherever links lead.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/weights/mapped_file.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::onnx {

// Whether external data may be a file with other names: one behind a symbolic link that leads out of the model's
// folder, or one with several hard links, of which nobody can tell whether they are all in the folder. Package managers
// and caches of downloads keep models that way; an archive from elsewhere may link to any file of whoever unpacks it.
enum class linked_data : bool { refused, allowed };

namespace detail {

inline constexpr std::string_view how_to_allow_links =
    "; if these links are yours, allow them (linked_data::allowed, --allow-linked-data, ALLOW_LINKED_DATA)";

// Opens `location` in `folder` for reading. Links are followed first, and what they lead to must be in the folder; then
// that path is opened part by part without following any link, so that a part that somebody makes a link in between is
// an error. Where it cannot be opened, the descriptor is none and errno says why. Throws dnnkit::error for a file that
// is outside or has other names.
inline dnnkit::detail::file_descriptor open_inside(const std::filesystem::path& folder,
                                                   const std::filesystem::path& location) {
  using dnnkit::detail::file_descriptor;
#ifdef O_PATH  // of Linux: the right to read a folder is not needed
  constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
#else
  constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
#endif
  const std::string culprit = location.string();
  const auto canonical = [](const std::filesystem::path& path) {
    std::error_code failure;
    std::filesystem::path real = std::filesystem::canonical(path, failure);
    errno = failure.value();
    return failure ? std::filesystem::path() : real;
  };
  const std::filesystem::path root = canonical(folder.empty() ? "." : folder), real = canonical(root / location);
  if (root.empty() || real.empty()) return file_descriptor(-1);
  const auto [in_root, part] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (in_root != root.end())
    throw error("lies outside the model's folder, behind a link" + std::string(how_to_allow_links), culprit);
  file_descriptor at(::open(root.c_str(), folder_flags));
  for (auto p = part; p != real.end() && at.number() >= 0; ++p) {
    const bool last = std::next(p) == real.end();
    at = file_descriptor(
        ::openat(at.number(), p->c_str(), last ? O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW : folder_flags));
  }
  struct stat status {};
  if (at.number() >= 0 && ::fstat(at.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
    throw error("has " + std::to_string(status.st_nlink) +
                    " names (hard links), which may be those of a file outside " + "the model's folder" +
                    std::string(how_to_allow_links),
                culprit);
  return at;
}

}  // namespace detail

// Each file is mapped when it is first asked for. What bytes() returns stays valid, at the same address, while this
// object (or what it was moved to) lives. Not for several threads at a time.
class external_files {
 public:
  // `folder`: the model's; without one (a model held in memory) every external tensor is refused.
  explicit external_files(std::optional<std::filesystem::path> folder = {}, linked_data linked = linked_data::refused)
      : folder_(std::move(folder)), linked_(linked) {}

  // The bytes that `x` names. The location must stay in the folder: not absolute, no "..", and see linked_data. Throws
  // dnnkit::error naming `culprit`.
  std::span<const std::byte> bytes(const external_data& x, std::size_t size, const std::string& culprit) {
    const std::filesystem::path location(x.location);
    const bool climbs = std::ranges::find(location, "..") != location.end();
    if (x.location.find('\0') != std::string_view::npos || location.is_absolute() || climbs)
      throw error("location of external data is outside the model's folder", culprit, "a relative path without '..'",
                  dnnkit::detail::quoted(x.location));
    if (!folder_)
      throw error("external data of a model in memory is not supported", culprit, "",
                  dnnkit::detail::quoted(x.location));
    if (x.length && *x.length != size)
      throw error("length of external data does not fit the shape", culprit,
                  std::to_string(size) + " bytes of " + dnnkit::detail::quoted(x.location), std::to_string(*x.length));
    if (size == 0) return {};
    const std::span<const std::byte> all = map(x, size, culprit);
    if (x.offset > all.size() || size > all.size() - x.offset)
      throw error(
          "external data is truncated", culprit,
          std::to_string(size) + " bytes at " + std::to_string(x.offset) + " of " + dnnkit::detail::quoted(x.location),
          "a file of " + std::to_string(all.size()) + " bytes");
    return all.subspan(static_cast<std::size_t>(x.offset), size);
  }

  // See mapped_file; bytes of none of these files are left alone.
  void evict(std::span<const std::byte> part) const noexcept {
    for (const auto& [location, file] : files_) file.evict(part);
  }

 private:
  mapped_file open(const std::filesystem::path& location) const {
    if (linked_ == linked_data::allowed) return mapped_file(*folder_ / location);
    const std::string name = location.string();
    return {detail::open_inside(*folder_, location), name};
  }
  // The whole file, of which `size` bytes are wanted.
  std::span<const std::byte> map(const external_data& x, std::size_t size, const std::string& culprit) {
    if (const auto known = files_.find(x.location); known != files_.end()) return known->second.bytes();
    try {
      return files_.emplace(x.location, open(x.location)).first->second.bytes();
    } catch (const error& refusal) {
      throw error("external data " + dnnkit::detail::quoted(x.location) + ": " + refusal.problem(), culprit,
                  std::to_string(size) + " bytes at " + std::to_string(x.offset));
    }
  }

  std::optional<std::filesystem::path> folder_;
  linked_data linked_ = linked_data::refused;
  std::map<std::string, mapped_file, std::less<>> files_;
};

}  // namespace dnnkit::onnx
