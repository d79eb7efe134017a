// SPDX-License-Identifier: MIT
// A whole file mapped read-only into memory, so that weights are paged in when they are touched and never copied.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "dnnkit/core/error.hpp"

namespace dnnkit {

namespace detail {

// The operating system's sentence for an errno value.
inline std::string system_message(int code) { return std::generic_category().message(code); }

// Owns a POSIX file descriptor.
class file_descriptor {
 public:
  explicit file_descriptor(int number) noexcept : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file_descriptor() { close(); }

  int number() const noexcept { return number_; }

  // Closes early; false when the system reports that earlier writes were lost.
  bool close() noexcept { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

}  // namespace detail

// The bytes stay valid, at the same address, until the object that owns them is destroyed; moving keeps them in place.
// The file must not be shortened meanwhile: the system would end the process at the next access to the missing pages.
class mapped_file {
 public:
  // Throws dnnkit::error naming `path` when it is missing, unreadable, not a regular file, or empty.
  // Opening a named pipe without O_NONBLOCK would wait for a writer instead of failing.
  explicit mapped_file(const std::filesystem::path& path)
      : mapped_file(detail::file_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path.string()) {}

  // Of a file that has just been opened for reading, or could not be, errno saying why; `name` is named in errors. The
  // mapping needs the descriptor no longer.
  mapped_file(const detail::file_descriptor& file, const std::string& name) {
    if (file.number() < 0) throw error("cannot open file (" + detail::system_message(errno) + ")", name);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0)
      throw error("cannot read file (" + detail::system_message(errno) + ")", name);
    if (S_ISDIR(status.st_mode)) throw error("is a directory", name, "a file");
    if (!S_ISREG(status.st_mode)) throw error("is not a regular file", name);
    if (status.st_size == 0) throw error("file is empty", name);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address == MAP_FAILED) throw error("cannot map file (" + detail::system_message(errno) + ")", name);
    bytes_ = {static_cast<const std::byte*>(address), size};
  }

  mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  mapped_file& operator=(mapped_file&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapped_file() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  // Gives back the memory of every page that `part` fills: its bytes stay where they are, and are read from the file
  // again when somebody asks for them. Bytes of another file, or of none, are left alone.
  void evict(std::span<const std::byte> part) const noexcept {
#ifdef MADV_DONTNEED  // not of POSIX, whose posix_madvise() does nothing in Linux
    const auto address = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const std::uintptr_t file = address(bytes_.data()), from = address(part.data());
    if (from < file || from > file + bytes_.size() || part.size() > file + bytes_.size() - from) return;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = (from + page - 1) / page * page, last = (from + part.size()) / page * page;
    // A hint: failing is fine.
    if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
#else
    static_cast<void>(part);
#endif
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace dnnkit
