// SPDX-License-Identifier: MIT
// A block of memory aligned to cache lines; a large one to the pages that the processor translates fastest.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace dnnkit {

class aligned_memory {
 public:
  static constexpr std::size_t alignment = 64;

  aligned_memory() noexcept : aligned_memory(0) {}
  explicit aligned_memory(std::size_t bytes) : data_(allocate(bytes), release(bytes)), bytes_(bytes) {}

  aligned_memory(aligned_memory&& other) noexcept
      : data_(std::move(other.data_)), bytes_(std::exchange(other.bytes_, 0)) {}
  aligned_memory& operator=(aligned_memory&& other) noexcept {
    data_ = std::move(other.data_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  static constexpr std::align_val_t alignment_of(std::size_t bytes) noexcept {
    return std::align_val_t{bytes < huge_page ? alignment : huge_page};
  }
  static std::byte* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    auto* p = static_cast<std::byte*>(::operator new(bytes, alignment_of(bytes)));
#if defined(__linux__)
    // A product over pages of 4 KiB loses up to a tenth of its speed to address translation. A hint: failing is fine.
    if (bytes >= huge_page) static_cast<void>(::madvise(p, bytes, MADV_HUGEPAGE));
#endif
    return p;
  }

  struct release {
    constexpr explicit release(std::size_t bytes = 0) noexcept : aligned(alignment_of(bytes)) {}
    void operator()(std::byte* p) const noexcept { ::operator delete(p, aligned); }
    std::align_val_t aligned;
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t bytes_ = 0;
};

}  // namespace dnnkit
