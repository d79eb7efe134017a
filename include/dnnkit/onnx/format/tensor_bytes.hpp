// SPDX-License-Identifier: MIT
// The elements of an ONNX tensor as bytes of its element type, taken from wherever the file keeps them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/external_files.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/narrow_types.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::onnx {

// A tensor with its elements: views of where they are as they are used (raw_data and external data in the file, typed
// fields of the element type in the tensor_data), else a copy in the element type. Views are valid as long as the bytes
// the model was read from, the tensor_data and `files`.
class tensor_bytes {
 public:
  // `where` is named in errors ("model.onnx"). Throws dnnkit::error when the element type is one dnnkit does not have
  // (strings, complex numbers, ...), a dimension is negative, the elements are not as many as the dimensions say, are
  // given twice, in a field of another type, or do not fit the element type; and for external data as external_files.
  tensor_bytes(const tensor_data& t, external_files& files, std::string_view where) : tensor_bytes(t, where) {
    const std::size_t size = size_;
    if (const narrow_type* const narrow = narrow_type_of(t.data_type)) {
      unpack(t, *narrow, files);
    } else if (t.external) {
      require_only(t, nullptr);
      tensor_.data = files.bytes(*t.external, size, culprit_);
    } else if (t.raw_data && !t.raw_data->empty()) {
      require_only(t, nullptr);
      check_size(t.raw_data->size(), size);
      tensor_.data = *t.raw_data;
    } else {
      take_typed(t, size);
    }
    if (tensor_.dtype == boolean) normalize_booleans();
  }

  // Throws where the constructor would, and keeps nothing: elements of narrow types, which may be most of a model, are
  // found but not unpacked.
  static void check(const tensor_data& t, external_files& files, std::string_view where) {
    const narrow_type* const narrow = narrow_type_of(t.data_type);
    if (!narrow) {
      static_cast<void>(tensor_bytes(t, files, where));
      return;
    }
    std::vector<std::byte> typed;
    static_cast<void>(tensor_bytes(t, where).packed(t, *narrow, files, typed));
  }

  // Moving keeps the elements in place.
  tensor_bytes(tensor_bytes&&) noexcept = default;
  tensor_bytes& operator=(tensor_bytes&&) noexcept = default;
  tensor_bytes(const tensor_bytes&) = delete;

  // Name, element type, dimensions and elements: what the rest of the library reads weights from.
  const stored_tensor& tensor() const noexcept { return tensor_; }
  std::span<const std::byte> data() const noexcept { return tensor_.data; }
  // Whether the elements are a copy instead of a view.
  bool copied() const noexcept { return !copy_.empty(); }

 private:
  // Without elements yet.
  tensor_bytes(const tensor_data& t, std::string_view where)
      : culprit_(std::string(where) + ", tensor " + dnnkit::detail::quoted(t.name)) {
    const std::optional<dtype> type = dtype_of(t.data_type);
    if (!type) throw error("element type is not supported", culprit_, "", data_type_name(t.data_type));
    tensor_.name = t.name;
    tensor_.dtype = *type;
    tensor_.shape = t.dims;
    const std::optional<std::uint64_t> bytes = dnnkit::detail::dense_bytes(*type, t.dims);
    if (!bytes) throw error("shape is negative or too large", culprit_, "", dnnkit::detail::shape_text(t.dims));
    size_ = static_cast<std::size_t>(*bytes);
  }

  void check_size(std::size_t found, std::size_t expected) const {
    if (found != expected)
      throw error("data does not have the size of the tensor", culprit_,
                  std::to_string(expected) + " bytes for " + dnnkit::detail::tensor_text(tensor_.dtype, tensor_.shape),
                  std::to_string(found));
  }

  // No typed field has elements, but for the one at `allowed`.
  void require_only(const tensor_data& t, const void* allowed) const {
    const auto refuse = [&](const auto& field, const char* name) {
      if (!field.empty() && &field != allowed)
        throw error("elements are given twice or in a field of another type", culprit_,
                    data_type_name(data_type_of(tensor_.dtype)) + " elements in one place", name);
    };
    refuse(t.float_data, "float_data");
    refuse(t.int32_data, "int32_data");
    refuse(t.int64_data, "int64_data");
    refuse(t.double_data, "double_data");
    refuse(t.uint64_data, "uint64_data");
    refuse(t.string_data, "string_data");
  }

  void take_typed(const tensor_data& t, std::size_t size) {
    switch (tensor_.dtype) {
      case dtype::f32:
        return take<float>(t, t.float_data, size);
      case dtype::f64:
        return take<double>(t, t.double_data, size);
      case dtype::i32:
        return take<std::int32_t>(t, t.int32_data, size);
      case dtype::i16:
        return take<std::int16_t>(t, t.int32_data, size);
      case dtype::i8:
        return take<std::int8_t>(t, t.int32_data, size);
      case dtype::u16:
        return take<std::uint16_t>(t, t.int32_data, size);
      case dtype::u8:
      case dtype::boolean:
        return take<std::uint8_t>(t, t.int32_data, size);
      case dtype::f16:
      case dtype::bf16:
        return take<std::uint16_t>(t, t.int32_data, size);  // their bits
      case dtype::i64:
        return take<std::int64_t>(t, t.int64_data, size);
      case dtype::u32:
        return take<std::uint32_t>(t, t.uint64_data, size);
      case dtype::u64:
        return take<std::uint64_t>(t, t.uint64_data, size);
    }
  }

  template <class To, class From> void take(const tensor_data& t, const std::vector<From>& field, std::size_t size) {
    require_only(t, &field);
    // compared as elements: `size` may be far more than the file has
    if (field.size() != size / sizeof(To))
      throw error(
          "number of elements differs", culprit_,
          std::to_string(size / sizeof(To)) + " for " + dnnkit::detail::tensor_text(tensor_.dtype, tensor_.shape),
          std::to_string(field.size()));
    if constexpr (std::is_same_v<To, From>) {
      tensor_.data = std::as_bytes(std::span(field));
    } else {
      copy_.resize(size);
      for (std::size_t i = 0; i < field.size(); ++i) {
        const auto x = static_cast<To>(field[i]);
        if (static_cast<From>(x) != field[i])
          throw error("element does not fit the element type", culprit_, std::string(name(tensor_.dtype)),
                      std::to_string(field[i]) + " at " + std::to_string(i));
        std::memcpy(copy_.data() + i * sizeof(To), &x, sizeof(To));
      }
      tensor_.data = copy_;
    }
  }

  // The elements of a narrow type as they are stored; bytes of a typed field go into `typed`.
  std::span<const std::byte> packed(const tensor_data& t, const narrow_type& narrow, external_files& files,
                                    std::vector<std::byte>& typed) const {
    const auto packed_size = static_cast<std::size_t>(packed_bytes(narrow, size_ / size_of(tensor_.dtype)));
    std::span<const std::byte> found;
    if (t.external) {
      require_only(t, nullptr);
      found = files.bytes(*t.external, packed_size, culprit_);
    } else if (t.raw_data && !t.raw_data->empty()) {
      require_only(t, nullptr);
      found = *t.raw_data;
    } else {
      require_only(t, &t.int32_data);
      for (const std::int32_t byte : t.int32_data) typed.push_back(static_cast<std::byte>(byte & 0xff));
      found = typed;
    }
    check_size(found.size(), packed_size);
    return found;
  }

  // The elements of a narrow type in the one that holds them.
  void unpack(const tensor_data& t, const narrow_type& narrow, external_files& files) {
    std::vector<std::byte> typed;
    const std::span<const std::byte> codes = packed(t, narrow, files, typed);
    const std::size_t count = size_ / size_of(tensor_.dtype);
    const std::size_t each = size_of(narrow.held_in), in_a_byte = static_cast<std::size_t>(8 / narrow.bits);
    copy_.resize(count * each);
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<unsigned>(codes[i / in_a_byte]);
      const unsigned code =
          (byte >> (i % in_a_byte * static_cast<std::size_t>(narrow.bits))) & ((1U << narrow.bits) - 1);
      if (narrow.is_real()) {
        const auto x = static_cast<float>(real_of_code(narrow, code));
        std::memcpy(copy_.data() + i * each, &x, each);
      } else {
        copy_[i] = static_cast<std::byte>(integer_of_code(narrow, code));
      }
    }
    tensor_.data = copy_;
  }

  // Bytes other than 0 and 1, which some writers leave, are no bool of C++.
  void normalize_booleans() {
    if (std::ranges::all_of(tensor_.data, [](std::byte b) { return b <= std::byte{1}; })) return;
    std::vector<std::byte> normal(tensor_.data.size());
    std::ranges::transform(tensor_.data, normal.begin(), [](std::byte b) { return std::byte{b != std::byte{0}}; });
    copy_ = std::move(normal);
    tensor_.data = copy_;
  }

  std::string culprit_;
  stored_tensor tensor_;
  std::size_t size_ = 0;  // bytes of all elements in the element type
  std::vector<std::byte> copy_;
};

}  // namespace dnnkit::onnx
