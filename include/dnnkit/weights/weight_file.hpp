// SPDX-License-Identifier: MIT
// The tensors of one weights file by name, whatever its format: what sessions and the reference evaluator read from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/nearest_names.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit {

// A tensor that a model needs from its weights file.
struct required_tensor {
  std::string name;
  dnnkit::dtype dtype = dnnkit::dtype::f32;
  std::vector<std::int64_t> shape;
};

// A tensor that a file has and cannot give: asking for it is an error with this sentence.
struct unreadable_tensor {
  std::string name, problem;
};

// What the data of a file's tensors lies in: kept alive, and told which parts of it need not be in memory for now,
// which a type that can do something about it hears as evict(). Nothing when the memory is the caller's.
class tensor_storage {
 public:
  tensor_storage(std::nullptr_t = nullptr) noexcept {}
  template <class T> tensor_storage(std::shared_ptr<T> owner) noexcept : owner_(std::move(owner)) {
    if constexpr (requires(const T& x, std::span<const std::byte> data) { x.evict(data); })
      evict_ = [](const void* x, std::span<const std::byte> data) noexcept { static_cast<const T*>(x)->evict(data); };
  }

  // The data can still be read, which may take longer the next time.
  void evict(std::span<const std::byte> data) const noexcept {
    if (evict_ != nullptr && owner_ != nullptr) evict_(owner_.get(), data);
  }

 private:
  std::shared_ptr<const void> owner_;
  void (*evict_)(const void*, std::span<const std::byte>) noexcept = nullptr;
};

// Readers of a format (safetensors, onnx_weights) derive from it, so that either can be handed over where a weight_file
// is taken; the part that knows the format stays behind.
class weight_file {
 public:
  // `storage` keeps the memory alive that the tensors' data lies in; without it the caller does. `name` stands for the
  // path in messages. Throws dnnkit::error when two tensors have the same name.
  weight_file(std::string name, std::vector<stored_tensor> tensors, tensor_storage storage = {},
              std::vector<unreadable_tensor> unreadable = {})
      : weight_file(unread{}, std::move(name), std::move(storage)) {
    assign(std::move(tensors), std::move(unreadable));
  }

  weight_file(weight_file&&) noexcept = default;
  weight_file& operator=(weight_file&&) noexcept = default;
  weight_file(const weight_file&) = delete;

  // In the order of their data in the file.
  const std::vector<stored_tensor>& tensors() const noexcept { return tensors_; }

  // The path, or the name given with the memory.
  const std::string& name() const noexcept { return name_; }

  // nullptr when there is no tensor of that name.
  const stored_tensor* find(std::string_view tensor) const noexcept {
    const auto found = std::ranges::lower_bound(by_name_, tensor, {}, [this](std::size_t i) { return name_at(i); });
    return found != by_name_.end() && tensors_[*found].name == tensor ? &tensors_[*found] : nullptr;
  }

  // Throws dnnkit::error when there is no tensor of that name.
  const stored_tensor& at(std::string_view tensor) const {
    if (const stored_tensor* found = find(tensor)) return *found;
    if (const unreadable_tensor* u = find_unreadable(tensor)) throw error(u->problem, where(tensor));
    throw error("tensor is missing", where(tensor), {}, names_text(tensor));
  }

  // The tensor's data is not needed in memory for now. It stays where it is, and readable.
  void evict(const stored_tensor& tensor) const noexcept { storage_.evict(tensor.data); }

  // The tensor, once its dtype and shape are as given; throws dnnkit::error otherwise.
  const stored_tensor& check(std::string_view tensor, dtype type, const std::vector<std::int64_t>& extents) const {
    const stored_tensor& found = at(tensor);
    if (found.dtype != type)
      throw error("dtype differs", where(tensor), detail::tensor_text(type, extents),
                  detail::tensor_text(found.dtype, found.shape));
    if (!fits(found, extents))
      throw error("shape differs", where(tensor), detail::tensor_text(type, extents),
                  detail::tensor_text(found.dtype, found.shape));
    return found;
  }

  // Throws one dnnkit::error that lists every tensor of `required` that is missing or has another dtype or shape.
  void check_all(std::span<const required_tensor> required) const {
    constexpr std::size_t most_searched = 16;  // whose nearest names are looked for
    std::string list;
    std::size_t wrong = 0;
    for (const required_tensor& r : required) {
      const stored_tensor* found = find(r.name);
      if (found && found->dtype == r.dtype && fits(*found, r.shape)) continue;
      const unreadable_tensor* unreadable = found ? nullptr : find_unreadable(r.name);
      ++wrong;
      list += "\n  " + detail::quoted(r.name) + ": expected " + detail::tensor_text(r.dtype, r.shape) + ", found " +
              (found        ? detail::tensor_text(found->dtype, found->shape)
               : unreadable ? "one that cannot be read: " + unreadable->problem
                            : "nothing");
      if (!found && !unreadable && wrong <= most_searched)
        if (const auto nearest = nearest_to(r.name, 1, required); !nearest.empty())
          list += "; the nearest name is " + detail::quoted(nearest[0]);
    }
    if (wrong)
      throw error(std::to_string(wrong) + " of the " + std::to_string(required.size()) +
                      " tensors needed are missing or differ:" + list,
                  name_);
  }

 protected:
  struct unread {};
  // Tensors of unknown shape have a list of elements, and fit whatever has as many.
  enum class shapes : bool { known, unknown };

  // Without tensors, for readers that have yet to find them.
  weight_file(unread, std::string name, tensor_storage storage, shapes s = shapes::known)
      : name_(std::move(name)), storage_(std::move(storage)), shapes_(s) {}

  std::string where(std::string_view tensor) const { return name_ + ", tensor " + detail::quoted(tensor); }

  void assign(std::vector<stored_tensor> tensors, std::vector<unreadable_tensor> unreadable = {}) {
    tensors_ = std::move(tensors);
    unreadable_ = std::move(unreadable);
    by_name_.resize(tensors_.size());
    std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
    std::ranges::sort(by_name_, {}, [this](std::size_t i) { return name_at(i); });
    for (std::size_t i = 1; i < by_name_.size(); ++i)
      if (name_at(by_name_[i]) == name_at(by_name_[i - 1]))
        throw error("tensor appears twice", where(name_at(by_name_[i])));
  }

 private:
  bool fits(const stored_tensor& found, const std::vector<std::int64_t>& extents) const {
    return shapes_ == shapes::known ? found.shape == extents
                                    : detail::dense_bytes(found.dtype, extents) == found.data.size();
  }
  std::string_view name_at(std::size_t i) const noexcept { return tensors_[i].name; }

  const unreadable_tensor* find_unreadable(std::string_view tensor) const noexcept {
    const auto found = std::ranges::find(unreadable_, tensor, &unreadable_tensor::name);
    return found != unreadable_.end() ? &*found : nullptr;
  }

  // Of the tensors that are not `taken`: what one tensor is called by is not another one misspelt.
  std::vector<std::string_view> nearest_to(std::string_view tensor, std::size_t count,
                                           std::span<const required_tensor> taken = {}) const {
    std::set<std::string_view> others;
    for (const required_tensor& r : taken) others.insert(r.name);
    std::vector<std::string_view> names;
    for (std::size_t i : by_name_)
      if (!others.contains(name_at(i))) names.push_back(name_at(i));
    return detail::nearest_names(tensor, names, count);
  }
  // "3 tensors, of which the nearest are 'a', 'b'", or at most eight names if none is near.
  std::string names_text(std::string_view tensor) const {
    std::string text = std::to_string(tensors_.size()) + " tensors";
    if (const auto nearest = nearest_to(tensor, 3); !nearest.empty()) {
      text += nearest.size() == 1 ? ", of which the nearest is " : ", of which the nearest are ";
      for (std::size_t i = 0; i < nearest.size(); ++i) text += (i ? ", " : "") + detail::quoted(nearest[i]);
      return text;
    }
    for (std::size_t i = 0; i < by_name_.size() && i < 8; ++i)
      text += (i ? ", " : ": ") + detail::quoted(name_at(by_name_[i]));
    return by_name_.size() > 8 ? text + ", ..." : text;
  }

  std::string name_;
  tensor_storage storage_;
  shapes shapes_ = shapes::known;
  std::vector<stored_tensor> tensors_;
  std::vector<std::size_t> by_name_;  // positions in tensors_
  std::vector<unreadable_tensor> unreadable_;
};

}  // namespace dnnkit
