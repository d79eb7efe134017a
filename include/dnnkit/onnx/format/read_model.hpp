// SPDX-License-Identifier: MIT
// Reader of ONNX files: models over a mapped file, and the single tensors of ONNX's test data.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/read_graph.hpp"
#include "dnnkit/onnx/format/tensor_bytes.hpp"
#include "dnnkit/onnx/format/wire.hpp"
#include "dnnkit/weights/file_format.hpp"
#include "dnnkit/weights/mapped_file.hpp"

namespace dnnkit::onnx {

// A model with the bytes it was read from. Moving keeps every view of the model valid.
class file {
 public:
  // Maps `path`; the file must not change while this object lives. Throws dnnkit::error when it cannot be mapped or is
  // no ONNX model, with the path of the field and the byte. Operators, types and names are not judged here. `linked`:
  // whether external data may lie behind links (external_files).
  explicit file(const std::filesystem::path& path, linked_data linked = linked_data::refused)
      : file(mapped_file(path), path.string(), external_files(path.parent_path(), linked)) {}

  // Reads a model held in memory, which must outlive the object; `name` stands for the path in messages. External data
  // is looked for in `folder`, and refused when there is none.
  [[nodiscard]] static file from_memory(std::span<const std::byte> bytes, std::string name,
                                        std::optional<std::filesystem::path> folder = {},
                                        linked_data linked = linked_data::refused) {
    return file(bytes, std::move(name), external_files(std::move(folder), linked));
  }

  const onnx::model& model() const noexcept { return *model_; }
  // The path, or the name given with the memory.
  const std::string& name() const noexcept { return name_; }

  // The elements of a tensor of this model; valid while this object lives. Throws dnnkit::error: see tensor_bytes.
  tensor_bytes elements(const tensor_data& t) { return {t, external_, name_}; }

  // Throws where elements() would: is all there that they are read from? Files are mapped, not read.
  void check(const tensor_data& t) { tensor_bytes::check(t, external_, name_); }

  // These elements, a part of the model or of its external data, need not be in memory for now (mapped_file).
  void evict(std::span<const std::byte> elements) const noexcept {
    if (mapped_) mapped_->evict(elements);
    external_.evict(elements);
  }

 private:
  file(mapped_file mapped, std::string name, external_files external)
      : file(mapped.bytes(), std::move(name), std::move(external)) {
    mapped_ = std::move(mapped);
  }
  file(std::span<const std::byte> bytes, std::string name, external_files external)
      : name_(std::move(name)), model_(std::make_unique<onnx::model>()), external_(std::move(external)) {
    dnnkit::detail::refuse_other_format(bytes, name_, "an ONNX model");
    detail::read_model(wire_message(bytes, name_), *model_);
  }

  std::optional<mapped_file> mapped_;  // nothing when the bytes are the caller's
  std::string name_;
  std::unique_ptr<onnx::model> model_;  // stays at its address when the file moves
  external_files external_;
};

// One TensorProto, as the .pb files of ONNX's test data hold it.
class tensor_file {
 public:
  // `kind` is what the model declares for the value, which the file itself does not tell; every kind but a tensor is
  // refused by name. Throws dnnkit::error as `file` and tensor_bytes do.
  explicit tensor_file(const std::filesystem::path& path, value_kind kind = value_kind::tensor)
      : tensor_file(supported(kind, path.string()), mapped_file(path), path.parent_path()) {}

  [[nodiscard]] static tensor_file from_memory(std::span<const std::byte> bytes, std::string name,
                                               value_kind kind = value_kind::tensor) {
    return tensor_file(supported(kind, std::move(name)), bytes, {});
  }

  const stored_tensor& tensor() const noexcept { return elements_->tensor(); }

 private:
  static std::string supported(value_kind kind, std::string name) {
    if (kind != value_kind::tensor && kind != value_kind::undeclared)
      throw error("values of this kind are not supported", name, "a tensor", std::string(onnx::name(kind)));
    return name;
  }
  tensor_file(std::string name, mapped_file mapped, std::filesystem::path folder)
      : tensor_file(std::move(name), mapped.bytes(), std::move(folder)) {
    mapped_ = std::move(mapped);
  }
  tensor_file(std::string name, std::span<const std::byte> bytes, std::optional<std::filesystem::path> folder)
      : external_(std::move(folder)) {
    detail::read(wire_message(bytes, name), data_);
    elements_.emplace(data_, external_, name);
  }

  std::optional<mapped_file> mapped_;
  external_files external_;
  tensor_data data_;
  std::optional<tensor_bytes> elements_;
};

}  // namespace dnnkit::onnx
