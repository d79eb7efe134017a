// SPDX-License-Identifier: MIT
// A network's weights, ready for its kernels: what depends on weights alone is computed, and panels are packed, once.
// Immutable afterwards, so several sessions in several threads may share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/aligned_memory.hpp"
#include "dnnkit/runtime/preparation.hpp"
#include "dnnkit/runtime/stored_data.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

class packed_tables {
 public:
  // `kernels`: one entry for each recipe of `plan`; both outlive this object. The file is kept: weights that kernels
  // read as they are stay in it; what is read for the last time leaves memory at once. Throws dnnkit::error listing
  // every tensor that is missing or has another shape or type.
  packed_tables(const plan_view& plan, std::span<const cpu::kernel_entry> kernels, weight_file file)
      : file_(std::move(file)), data_(plan.buffers.size(), nullptr), packed_(plan.steps.size(), nullptr) {
    file_.check_all(detail::required_weights(plan));
    const preparation order(plan, kernels);
    const std::vector<std::size_t> packed_as = shared_panels(plan, kernels);
    place(plan, kernels, order, packed_as);
    std::vector<aligned_memory> passing(plan.buffers.size());  // of what no kernel reads when it runs
    for (std::size_t i = 0; i < order.actions().size(); ++i) {
      const preparation::action& a = order.actions()[i];
      const plan::step& s = preparation::step_of(plan, a);
      for (std::int32_t b : plan.numbers_of(s.operands)) provide(plan, static_cast<std::size_t>(b), passing);
      if (!a.packs) run_setup(plan, s, kernels[s.kernel]);
      else if (packed_as[a.step] == a.step) kernels[s.kernel].pack(call_of(plan, s, packed_[a.step]));
      for (std::int32_t b : plan.numbers_of(s.operands))
        if (order.ends_with(static_cast<std::size_t>(b), i)) dismiss(plan, static_cast<std::size_t>(b), passing);
    }
  }

  packed_tables(packed_tables&&) = default;
  packed_tables(const packed_tables&) = delete;

  // Data of buffer b when it is a weight, a constant or computed from such, and kernels read it when they run; else
  // null.
  std::byte* data(std::size_t b) const noexcept { return data_[b]; }
  // Packed weights of step s; null when it has none.
  std::byte* packed(std::size_t s) const noexcept { return packed_[s]; }
  // Bytes beside the file itself.
  std::size_t bytes() const noexcept { return memory_.size(); }

 private:
  static bool is_prepared(const plan::buffer& b) {
    return b.where == plan::storage::weight || b.where == plan::storage::constant || b.where == plan::storage::setup;
  }
  const stored_tensor& stored(const plan_view& plan, const plan::buffer& b) const {
    return file_.at(plan.text_of(b.name));
  }
  // Can its data be read where the file has it?
  bool is_in_place(const plan_view& plan, const plan::buffer& b) const {
    return b.where == plan::storage::weight &&
           reinterpret_cast<std::uintptr_t>(stored(plan, b).data.data()) % size_of(b.type.type) == 0;
  }

  // For each step the first one that packs the same with the same kernel: a recurrent network whose steps are written
  // out has as many products with one weight as it has steps.
  static std::vector<std::size_t> shared_panels(const plan_view& plan, std::span<const cpu::kernel_entry> kernels) {
    const auto prepared = [&](std::int32_t b) {
      return is_prepared(plan.buffers[static_cast<std::size_t>(b)]) ? b : -1;
    };
    const auto pack_the_same = [&](const plan::step& one, const plan::step& other) {
      return one.kernel == other.kernel &&
             std::ranges::equal(plan.numbers_of(one.operands), plan.numbers_of(other.operands), {}, prepared, prepared);
    };
    std::vector<std::size_t> first(plan.steps.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const plan::step& s = plan.steps[i];
      first[i] = 0;
      if (kernels[s.kernel].packed_bytes == 0) first[i] = i;
      while (first[i] < i && !pack_the_same(plan.steps[first[i]], s)) ++first[i];
    }
    return first;
  }

  // One block of memory for what is kept: constants, results of the setup, misaligned weights, packed panels.
  void place(const plan_view& plan, std::span<const cpu::kernel_entry> kernels, const preparation& order,
             const std::vector<std::size_t>& packed_as) {
    std::size_t bytes = 0;
    constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    const auto reserve = [&](std::size_t n) {
      const std::size_t at = bytes;
      bytes += (n + aligned_memory::alignment - 1) / aligned_memory::alignment * aligned_memory::alignment;
      return at;
    };
    std::vector<std::size_t> buffer_at(plan.buffers.size(), nowhere), packed_at(plan.steps.size(), nowhere);
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const plan::buffer& b = plan.buffers[i];
      if (order.is_kept(i) && is_prepared(b) && !is_in_place(plan, b)) buffer_at[i] = reserve(detail::bytes_of(b));
    }
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (const std::int64_t n = kernels[plan.steps[i].kernel].packed_bytes; n > 0)
        packed_at[i] = packed_as[i] == i ? reserve(static_cast<std::size_t>(n)) : packed_at[packed_as[i]];
    memory_ = aligned_memory(bytes);
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      if (!order.is_kept(i) || !is_prepared(plan.buffers[i])) continue;
      if (buffer_at[i] != nowhere) data_[i] = memory_.data() + buffer_at[i];
      fill(plan, i);
    }
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (packed_at[i] != nowhere) packed_[i] = memory_.data() + packed_at[i];
  }

  // Sees to it that buffer b can be read, or written when the setup computes it.
  void provide(const plan_view& plan, std::size_t b, std::vector<aligned_memory>& passing) {
    const plan::buffer& x = plan.buffers[b];
    if (data_[b] != nullptr || !is_prepared(x)) return;
    if (!is_in_place(plan, x)) {
      passing[b] = aligned_memory(detail::bytes_of(x));
      data_[b] = passing[b].data();
    }
    fill(plan, b);
  }
  void dismiss(const plan_view& plan, std::size_t b, std::vector<aligned_memory>& passing) {
    const plan::buffer& x = plan.buffers[b];
    if (!is_prepared(x)) return;
    data_[b] = nullptr;
    passing[b] = {};
    if (x.where == plan::storage::weight) file_.evict(stored(plan, x));
  }

  // What is known of buffer b before the setup, in the memory it has; without any, in the file.
  void fill(const plan_view& plan, std::size_t b) {
    const plan::buffer& x = plan.buffers[b];
    if (x.where == plan::storage::constant) detail::write_constant(plan, x, data_[b]);
    if (x.where != plan::storage::weight) return;
    const stored_tensor& t = stored(plan, x);
    if (is_in_place(plan, x)) {
      data_[b] = const_cast<std::byte*>(t.data.data());  // operands are untyped pointers; weights are only read
    } else if (!t.data.empty()) {
      std::memcpy(data_[b], t.data.data(), t.data.size());
      file_.evict(t);
    }
  }

  cpu::kernel_call call_of(const plan_view& plan, const plan::step& s, std::byte* packed) {
    operands_.clear();
    for (std::int32_t b : plan.numbers_of(s.operands)) operands_.push_back(data_[static_cast<std::size_t>(b)]);
    return {operands_.data(), nullptr, packed, nullptr};
  }

  void run_setup(const plan_view& plan, const plan::step& s, const cpu::kernel_entry& k) {
    if (s.extents.count != 0)
      throw error("what is computed from weights alone has a symbolic shape", std::string(plan.text_of(s.name)));
    cpu::kernel_call call = call_of(plan, s, nullptr);
    const aligned_memory packed(static_cast<std::size_t>(k.packed_bytes));
    const aligned_memory scratch(k.scratch_bytes ? static_cast<std::size_t>(k.scratch_bytes(call)) : 0);
    const aligned_memory worker(k.worker_bytes ? static_cast<std::size_t>(k.worker_bytes(call)) : 0);
    call.packed = packed.data();
    call.scratch = scratch.data();
    call.worker = worker.data();
    if (k.pack != nullptr) k.pack(call);
    if (k.prepare != nullptr) k.prepare(call, 0, k.prepare_units(call));
    k.run(call, 0, k.units(call));
  }

  weight_file file_;
  aligned_memory memory_;
  std::vector<std::byte*> data_, packed_;
  std::vector<std::byte*> operands_;
};

}  // namespace dnnkit
