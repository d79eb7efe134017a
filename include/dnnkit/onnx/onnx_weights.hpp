// SPDX-License-Identifier: MIT
// The weights of an ONNX model by name, for sessions and the reference evaluator: dk::onnx_weights("model.onnx") stands
// wherever dk::safetensors("model.safetensors") does.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/onnx/format/stored_tensors.hpp"
#include "dnnkit/onnx/format/tensor_bytes.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

// The initializers of the model, and the values of its Constant nodes under the names of their outputs; those of
// subgraphs and functions too (onnx/format/stored_tensors.hpp says under which names). Elements stay where they are, in
// the mapped model or in the mapped external data, unless the model spells them out in typed fields. A tensor that
// cannot be read (an element type dnnkit does not have, a missing or truncated external file, a name given twice) is
// refused when it is asked for, the others are there.
class onnx_weights : public weight_file {
 public:
  // Maps the model; throws dnnkit::error when that is none. External data is looked for in its folder; `linked`:
  // whether it may lie behind links (onnx/format/external_files.hpp).
  explicit onnx_weights(const std::filesystem::path& path, onnx::linked_data linked = onnx::linked_data::refused)
      : onnx_weights(onnx::file(path, linked)) {}

  // The weights of a model that has been read already, which is kept with them.
  explicit onnx_weights(onnx::file file) : onnx_weights(std::make_shared<contents>(std::move(file))) {}

  // A model held in memory, which must outlive the object; `name` stands for the path in messages. External data is
  // looked for in `folder`, and refused when there is none.
  [[nodiscard]] static onnx_weights from_memory(std::span<const std::byte> bytes, std::string name,
                                                std::optional<std::filesystem::path> folder = {},
                                                onnx::linked_data linked = onnx::linked_data::refused) {
    return onnx_weights(onnx::file::from_memory(bytes, std::move(name), std::move(folder), linked));
  }

 private:
  struct contents {
    explicit contents(onnx::file f) : file(std::move(f)) {}
    void evict(std::span<const std::byte> data) const noexcept { file.evict(data); }
    onnx::file file;
    std::vector<onnx::tensor_bytes> elements;
    std::deque<std::string> names;
  };
  // A name that two tensors have stands for null.
  using tensor_list = std::map<std::string, const onnx::tensor_data*>;

  explicit onnx_weights(const std::shared_ptr<contents>& c) : weight_file(unread{}, c->file.name(), c) {
    std::vector<stored_tensor> tensors;
    std::vector<unreadable_tensor> unreadable;
    const onnx::stored_tensors stored(c->file.model());
    tensor_list named;
    for (const auto& [name, data] : stored.entries())
      if (const auto [at, is_new] = named.emplace(name, data); !is_new) at->second = nullptr;
    for (const auto& [tensor, data] : named) {
      if (!data) {
        unreadable.push_back({std::string(tensor), "two tensors of the model have this name"});
        continue;
      }
      try {
        c->elements.push_back(c->file.elements(*data));
        tensors.push_back(c->elements.back().tensor());
        tensors.back().name = c->names.emplace_back(tensor);
      } catch (const error& refusal) { unreadable.push_back({std::string(tensor), sentence(refusal)}); }
    }
    assign(std::move(tensors), std::move(unreadable));
  }

  // What is wrong with a tensor, without its name, which whoever asked for it knows.
  static std::string sentence(const error& refusal) {
    std::string text = refusal.problem();
    if (!refusal.expected().empty()) text += ", expected " + refusal.expected();
    if (!refusal.found().empty()) text += ", found " + refusal.found();
    return text;
  }
};

}  // namespace dnnkit
