// SPDX-License-Identifier: MIT
// A network of 32-bit floats without symbols, ready to run, for benchmarks: values made up for its weights and inputs.
#pragma once

#include <dnnkit/graph.hpp>
#include <dnnkit/weights/safetensors.hpp>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "peak.hpp"

namespace bench {

template <class Net, class Observer = dnnkit::no_observer> class network {
 public:
  network() : session_(dnnkit::safetensors::from_memory(weights_, "made up")) {
    for (const std::span<const std::int32_t> ports : {Net::plan.inputs, Net::plan.results})
      for (const std::int32_t b : ports) buffers_.emplace_back(elements(b));
  }

  void run() {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      session_.run(std::span(buffers_[I].data(), buffers_[I].size())...);
    }
    (std::make_index_sequence<Net::plan.inputs.size() + Net::plan.results.size()>{});
  }
  // Number `i` among the inputs and outputs, in this order.
  const buffer& range(std::size_t i) const { return buffers_[i]; }
  // A weight, in the order of the plan.
  const float* weight(std::size_t i) const { return reinterpret_cast<const float*>(weights_.data() + begins_[i]); }
  Observer& observer() { return session_.observer(); }

 private:
  static std::int64_t elements(std::int32_t b) {
    return Net::plan.buffers[static_cast<std::size_t>(b)].elements.value();
  }

  // A file of weights.
  std::vector<std::byte> make_weights() {
    std::string header = "{";
    std::vector<buffer> values;
    std::size_t size = 0;
    for (const dnnkit::plan::buffer& b : Net::plan.buffers) {
      if (b.where != dnnkit::plan::storage::weight) continue;
      values.emplace_back(b.elements.value());
      begins_.push_back(size);
      const std::size_t end = size + values.back().size() * sizeof(float);
      std::string dims;
      for (const dnnkit::dim d : b.type.dims) dims += (dims.empty() ? "" : ",") + std::to_string(d.value());
      header += std::string(size > 0 ? "," : "") + '"' + std::string(Net::plan.text_of(b.name)) +
                R"(":{"dtype":"F32","shape":[)" + dims + R"(],"data_offsets":[)" + std::to_string(size) + "," +
                std::to_string(end) + "]}";
      size = end;
    }
    header += '}';
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = header.size();
    std::vector<std::byte> file(8 + header.size() + size);
    std::memcpy(file.data(), &length, 8);
    std::memcpy(file.data() + 8, header.data(), header.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      begins_[i] += 8 + header.size();
      std::memcpy(file.data() + begins_[i], values[i].data(), values[i].size() * sizeof(float));
    }
    return file;
  }

  std::vector<std::size_t> begins_;
  std::vector<std::byte> weights_ = make_weights();
  std::vector<buffer> buffers_;
  dnnkit::session<Net, Observer> session_;
};

}  // namespace bench
