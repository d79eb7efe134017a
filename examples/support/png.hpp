// SPDX-License-Identifier: MIT
// Reading and writing PNG files by libpng, every failure a dnnkit::error with the file's name.
#pragma once

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/mapped_file.hpp"
#include "dnnkit/weights/replacing_file.hpp"
#include "examples/support/image.hpp"

namespace dnnkit::examples {

namespace detail {

// libpng reports an error by a callback that must not return, and it is C: no exception may cross it. The callbacks
// below keep the message and jump back; functions that set the jump's target hold no objects with destructors.
struct png_message {
  char text[160] = "";
};

[[noreturn]] inline void png_fail(png_structp png, png_const_charp text) {
  auto& message = *static_cast<png_message*>(png_get_error_ptr(png));
  std::snprintf(message.text, sizeof message.text, "%s", text);
  png_longjmp(png, 1);
}

inline void png_ignore(png_structp, png_const_charp) {}

// A PNG file in memory on its way through libpng.
class png_reader {
 public:
  explicit png_reader(std::span<const std::byte> bytes)
      : bytes_(bytes), png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, png_fail, png_ignore)) {
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw std::bad_alloc();
  }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;
  ~png_reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  const char* message() const { return message_.text; }
  std::uint64_t width() const { return png_get_image_width(png_, info_); }
  std::uint64_t height() const { return png_get_image_height(png_, info_); }
  std::size_t channels() const { return png_get_channels(png_, info_); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }

  // Reads up to the first pixel, without memory for a row; false with a message on failure.
  bool read_header() noexcept {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, this, take);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the caller limits the product
    png_read_info(png_, info_);
    return true;
  }

  // Asks for 8-bit RGB or RGBA, which row_bytes() and channels() then tell; false with a message on failure.
  bool convert() noexcept {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_expand(png_);    // palette, fewer than 8 bits, transparency as a colour: to samples and an alpha channel
    png_set_scale_16(png_);  // 16 bits to 8, rounded
    png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // `rows` points to each row of the image; false with a message on failure.
  bool read_rows(png_bytepp rows) noexcept {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  static void take(png_structp png, png_bytep out, std::size_t size) {
    auto& self = *static_cast<png_reader*>(png_get_io_ptr(png));
    if (size > self.bytes_.size()) png_error(png, "the file ends too early");
    std::memcpy(out, self.bytes_.data(), size);
    self.bytes_ = self.bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
  png_message message_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

// An image on its way through libpng into a PNG file in memory.
class png_writer {
 public:
  png_writer() : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, &message_, png_fail, png_ignore)) {
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw std::bad_alloc();
  }
  png_writer(const png_writer&) = delete;
  png_writer& operator=(const png_writer&) = delete;
  ~png_writer() { png_destroy_write_struct(&png_, &info_); }

  const char* message() const { return message_.text; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // False with a message on failure.
  bool write(const image& source) noexcept {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_write_fn(png_, this, put, nullptr);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(source.width), static_cast<png_uint_32>(source.height), 8,
                 source.channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (std::size_t y = 0; y < source.height; ++y)
      png_write_row(png_, source.pixels.data() + y * source.width * source.channels);
    png_write_end(png_, nullptr);
    return true;
  }

 private:
  static void put(png_structp png, png_bytep bytes, std::size_t size) {
    const bool stored =
        static_cast<png_writer*>(png_get_io_ptr(png))->append({reinterpret_cast<std::byte*>(bytes), size});
    if (!stored) png_error(png, "not enough memory");
  }
  bool append(std::span<const std::byte> more) noexcept {
    try {
      bytes_.insert(bytes_.end(), more.begin(), more.end());
      return true;
    } catch (const std::bad_alloc&) { return false; }
  }

  std::vector<std::byte> bytes_;
  png_message message_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace detail

inline constexpr std::uint64_t most_pixels = 1'000'000'000;

// Reads any PNG file as 8-bit RGB, or RGBA where it has transparency: gray and palettes are expanded, 16-bit samples
// rounded to 8 bits; samples are taken as they are stored, without regard to gamma or colour profiles. Throws
// dnnkit::error when the file is missing, not a PNG, truncated or damaged, or has more than a thousand million pixels.
inline image load_png(const std::filesystem::path& path) {
  const std::string name = path.string();
  const mapped_file file(path);
  const auto* begin = reinterpret_cast<png_const_bytep>(file.bytes().data());
  if (file.bytes().size() < 8 || png_sig_cmp(begin, 0, 8) != 0) throw error("is not a PNG file", name);
  try {
    detail::png_reader reader(file.bytes());
    const auto damaged = [&] { return error(fmt::format("PNG file is damaged ({})", reader.message()), name); };
    if (!reader.read_header()) throw damaged();
    const std::uint64_t width = reader.width(), height = reader.height();
    const std::string size = fmt::format("{}x{}", width, height);
    if (width * height > most_pixels)
      throw error("image is too large", name, fmt::format("at most {} pixels", most_pixels), size);
    // A deflated byte gives at most 1032 bytes: what cannot be complete is refused before memory is taken for it.
    if (reader.row_bytes() * height / 1032 > file.bytes().size())
      throw error("PNG file is damaged (the file ends too early)", name, fmt::format("data for {} pixels", size),
                  fmt::format("{} bytes", file.bytes().size()));
    if (!reader.convert()) throw damaged();
    image result{static_cast<std::size_t>(width), static_cast<std::size_t>(height), reader.channels(), {}};
    if (reader.row_bytes() != result.width * result.channels || (result.channels != 3 && result.channels != 4))
      throw error("PNG file has an unknown layout of samples", name);
    result.pixels.resize(result.height * result.width * result.channels);
    std::vector<png_bytep> rows;
    for (std::size_t y = 0; y < result.height; ++y) rows.push_back(result.pixels.data() + y * reader.row_bytes());
    if (!reader.read_rows(rows.data())) throw damaged();
    return result;
  } catch (const std::bad_alloc&) { throw error("not enough memory for the image", name); }
}

// Writes `source` as an 8-bit RGB or RGBA PNG file through `out`, which the caller can open before long work to find
// out early that the result could not be written. Throws dnnkit::error when the image is empty or inconsistent, or when
// writing fails.
inline void save_png(replacing_file& out, const image& source) {
  if (source.channels != 3 && source.channels != 4)
    throw error("image cannot be saved", out.name(), "3 or 4 channels", std::to_string(source.channels));
  if (source.width == 0 || source.height == 0 || source.width > most_pixels / source.height)
    throw error("image cannot be saved", out.name(), fmt::format("1 to {} pixels", most_pixels), size_text(source));
  const std::size_t samples = source.width * source.height * source.channels;
  if (source.pixels.size() != samples)
    throw error("image cannot be saved", out.name(), fmt::format("{} samples", samples),
                std::to_string(source.pixels.size()));
  try {
    detail::png_writer writer;
    if (!writer.write(source)) throw error(fmt::format("image cannot be saved ({})", writer.message()), out.name());
    out.write(writer.bytes());
  } catch (const std::bad_alloc&) { throw error("not enough memory to save the image", out.name()); }
  out.commit();
}

// As above, at once; an existing file is replaced only by a complete one.
inline void save_png(const std::filesystem::path& path, const image& source) {
  replacing_file out(path);
  save_png(out, source);
}

}  // namespace dnnkit::examples
