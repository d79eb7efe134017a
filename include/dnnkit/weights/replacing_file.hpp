// SPDX-License-Identifier: MIT
// An output file that appears complete or not at all: written beside its destination, then renamed onto it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/mapped_file.hpp"

namespace dnnkit {

// What becomes of a symbolic link at the path, and of what else is no regular file.
enum class links : std::uint8_t {
  followed,  // a link stays, and its target is replaced; a pipe or /dev/null is written directly
  replaced   // the file takes its place
};

// Opening one before long work finds out early that the result could not be written. Until commit() an existing file
// is untouched; without commit() the new one is removed.
class replacing_file {
 public:
  // Throws dnnkit::error naming `path` when a file cannot be made there, is a directory, or is write-protected.
  explicit replacing_file(const std::filesystem::path& path, links at_path = links::followed)
      : name_(path.string()), path_(path) {
    struct stat status {};
    bool exists = (at_path == links::followed ? ::stat : ::lstat)(path_.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) refuse("cannot write file");
    if (exists && S_ISDIR(status.st_mode)) throw error("is a directory", name_, "a file to write");
    if (at_path == links::replaced) exists = exists && S_ISREG(status.st_mode);
    if (exists && ::access(path_.c_str(), W_OK) != 0) refuse("cannot write file");
    if (exists && !S_ISREG(status.st_mode)) {
      file_ = detail::file_descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
      if (file_.number() < 0) refuse("cannot write file");
      return;
    }
    std::error_code ignored;
    if (at_path == links::followed)
      if (const auto real = std::filesystem::canonical(path_, ignored); !ignored) path_ = real;
    for (int attempt = 0; file_.number() < 0; ++attempt) {
      temporary_ = path_;
      temporary_ += ".";
      temporary_ += std::to_string(::getpid());
      temporary_ += "-";
      temporary_ += std::to_string(attempt);
      temporary_ += ".partial";
      file_ = detail::file_descriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (file_.number() < 0 && (errno != EEXIST || attempt == 100)) {
        temporary_.clear();
        refuse("cannot write file");
      }
    }
    // The new file keeps the permissions of the old one where the system allows it; they are no reason to fail.
    if (exists) static_cast<void>(::fchmod(file_.number(), status.st_mode & 0777));
  }
  replacing_file(replacing_file&& other) noexcept
      : name_(std::move(other.name_)),
        path_(std::move(other.path_)),
        temporary_(std::exchange(other.temporary_, {})),
        file_(std::move(other.file_)) {}
  replacing_file& operator=(replacing_file&&) = delete;
  ~replacing_file() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  // The path as given.
  const std::string& name() const noexcept { return name_; }

  // Appends. Throws dnnkit::error when the device is full or fails.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) refuse("cannot write to file");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  // Puts what was written in place of `path`, on the disk before its name is; nothing may be written afterwards.
  void commit() {
    if (temporary_.empty()) {
      if (!file_.close()) refuse("cannot write to file");
      return;
    }
    if (::fsync(file_.number()) != 0 || !file_.close()) refuse("cannot write to file");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("cannot replace file");
    temporary_.clear();
  }

 private:
  [[noreturn]] void refuse(const char* problem) const {
    throw error(std::string(problem) + " (" + detail::system_message(errno) + ")", name_);
  }

  std::string name_;
  std::filesystem::path path_, temporary_;
  detail::file_descriptor file_{-1};
};

// Throws dnnkit::error naming `option` where writing the file `written` would replace the file `read`, which is what
// `what` says ("the model"): the same file, by whatever links.
inline void refuse_to_replace(std::string_view option, const std::filesystem::path& written, std::string_view what,
                              const std::filesystem::path& read) {
  std::error_code absent;
  if (std::filesystem::equivalent(written, read, absent))
    throw error("would replace " + std::string(what), std::string(option), "another file", written.string());
}

}  // namespace dnnkit
