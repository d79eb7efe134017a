// SPDX-License-Identifier: MIT
// A block of memory aligned to cache lines.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace dnnkit {

class aligned_memory {
 public:
  static constexpr std::size_t alignment = 64;

  aligned_memory() = default;
  explicit aligned_memory(std::size_t bytes)
      : data_(bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}))),
        bytes_(bytes) {}

  std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  struct release {
    void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t bytes_ = 0;
};

}  // namespace dnnkit
