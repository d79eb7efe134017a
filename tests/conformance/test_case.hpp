// SPDX-License-Identifier: MIT
// One of ONNX's backend tests: a folder with a model and sets of inputs and expected outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/host_weights.hpp"

namespace dnnkit::conformance {

struct test_case {
  std::string name;  // of its folder
  std::filesystem::path folder;
};

// Every folder below `root` that holds a model.onnx, by name.
inline std::vector<test_case> find_tests(const std::filesystem::path& root) {
  std::vector<test_case> tests;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().filename() == "model.onnx")
      tests.push_back({entry.path().parent_path().filename().string(), entry.path().parent_path()});
  std::ranges::sort(tests, {}, &test_case::folder);
  return tests;
}

// The folders test_data_set_0, test_data_set_1, ... of a test.
inline std::vector<std::filesystem::path> data_sets(const test_case& t) {
  std::vector<std::filesystem::path> sets;
  for (const auto& entry : std::filesystem::directory_iterator(t.folder))
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set"))
      sets.push_back(entry.path());
  std::ranges::sort(sets);
  return sets;
}

// The elements of a file whose model declares bf16: ONNX's data has their bits as UINT16.
inline host_tensor bfloats_of_bits(const host_tensor& bits) {
  host_tensor t(bf16, bits.dims);
  for (std::size_t i = 0; i < bits.count(); ++i)
    t.reals[i] = dnnkit::detail::bfloat_to_double(static_cast<std::uint16_t>(bits.integers[i]));
  return t;
}

// input_0.pb, input_1.pb, ... (or output_...), as many as the model declares and the folder has.
inline std::vector<host_tensor> read_tensors(const std::filesystem::path& set, const std::string& prefix,
                                             const std::vector<onnx::value_info>& declared) {
  std::vector<host_tensor> tensors;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::filesystem::path path = set / (prefix + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(path)) break;
    tensors.push_back(to_host_tensor(onnx::tensor_file(path, declared[i].kind).tensor()));
    if (onnx::dtype_of(declared[i].data_type) == bf16 && tensors.back().type == u16)
      tensors.back() = bfloats_of_bits(tensors.back());
  }
  return tensors;
}

// Empty when `found` is what ONNX's backend test accepts for `expected`: the same shape and element type, and elements
// within 1e-7 + 1e-3 |expected|; else what differs.
inline std::string difference(const host_tensor& expected, const host_tensor& found) {
  if (expected.type != found.type || expected.dims != found.dims)
    return "is " + found.describe() + ", expected " + expected.describe();
  constexpr double relative = 1e-3, absolute = 1e-7;
  for (std::size_t i = 0; i < expected.count(); ++i) {
    if (!expected.floating()) {
      if (expected.integers[i] != found.integers[i])
        return "element " + std::to_string(i) + " is " + std::to_string(found.integers[i]) + ", expected " +
               std::to_string(expected.integers[i]);
      continue;
    }
    const double x = expected.reals[i], y = found.reals[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= absolute + relative * std::fabs(x)))
      return "element " + std::to_string(i) + " is " + std::to_string(y) + ", expected " + std::to_string(x);
  }
  return {};
}

}  // namespace dnnkit::conformance
