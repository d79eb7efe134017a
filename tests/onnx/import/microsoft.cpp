// SPDX-License-Identifier: MIT
// ONNX Runtime's own operators (domain com.microsoft) against what it makes of them: tests/onnx/import/cases, written
// by microsoft_cases.py. What is not supported is refused by name.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

safetensors cases() {
  return safetensors(std::filesystem::path(__FILE__).parent_path() / "cases" / "microsoft.safetensors");
}

// The tensors PREFIX0, PREFIX1, ... of a file, as many as there are.
std::vector<host_tensor> tensors_of(const safetensors& file, const std::string& prefix) {
  std::vector<host_tensor> all;
  while (const stored_tensor* found = file.find(prefix + std::to_string(all.size())))
    all.push_back(to_host_tensor(*found));
  return all;
}

// By how many steps integers, and by how much of the largest magnitude reals may deviate.
struct allowance {
  std::int64_t steps = 0;
  double part = 0;
};

// What differs by more than is allowed; empty when nothing does.
std::string difference(const host_tensor& found, const host_tensor& expected, allowance allowed) {
  if (found.type != expected.type || found.dims != expected.dims)
    return "is " + found.describe() + ", expected " + expected.describe();
  double largest = 1e-30;
  for (const double x : expected.reals) largest = std::max(largest, std::fabs(x));
  for (std::size_t i = 0; i < expected.count(); ++i) {
    const bool close = expected.floating() ? std::fabs(found.reals[i] - expected.reals[i]) <= allowed.part * largest
                                           : std::abs(found.integers[i] - expected.integers[i]) <= allowed.steps;
    if (close) continue;
    std::ostringstream s;
    if (expected.floating()) s << "[" << i << "] is " << found.reals[i] << ", expected " << expected.reals[i];
    else s << "[" << i << "] is " << found.integers[i] << ", expected " << expected.integers[i];
    return s.str();
  }
  return {};
}

}  // namespace

TEST_CASE("operators of com.microsoft are what ONNX Runtime makes of them") {
  const safetensors file = cases();
  std::set<std::string> operators;
  for (const auto& [name, allowed] : file.metadata()) {
    CAPTURE(name);
    allowance a;
    std::istringstream(std::string(allowed)) >> a.steps >> a.part;
    const stored_tensor bytes = file.at(name + "/model");
    const onnx::file model = onnx::file::from_memory(bytes.data, name);
    operators.insert(std::string(model.model().graph.nodes.at(0).op_type));
    const auto imported = import(model.model());
    CHECK(problems(imported) == "");
    if (!imported.ok()) continue;
    const auto expected = tensors_of(file, name + "/y");
    std::vector<host_tensor> found;
    CHECK_NOTHROW(found = run(imported, tensors_of(file, name + "/")));
    if (found.empty()) continue;
    std::size_t y = 0;
    for (const host_tensor& t : found) {
      CAPTURE(y);
      CHECK(difference(t, expected.at(y++), a) == "");
    }
    CHECK(y == expected.size());
  }
  CHECK(operators.size() == 37);
}

TEST_CASE("what com.microsoft's operators ask for beyond that is refused by name") {
  const auto refused = [](std::string_view op, names inputs, attributes list) {
    graph_of g;
    for (const std::string_view x : {"a", "b", "c"}) g.input(x, f32, {1, 4, 8});
    g.input("w", f32, {8, 24}).input("i", i32, {1}).input("bytes", u8, {4, 1, 16}).output("y");
    g.node(op, std::move(inputs), {"y"}, std::move(list), "n");
    g.g.nodes[0].domain = "com.microsoft";
    return problems(import(g));
  };
  CHECK(refused("Relu", {"a"}, {}) == "Relu 'n': the operator of domain 'com.microsoft' is not supported\n");
  CHECK(refused("FusedConv", {"a", "b"}, {word("activation", "Sine")}) ==
        "FusedConv 'n': attribute 'activation' is 'Sine', which is not supported\n");
  CHECK(refused("FusedConv", {"a", "b"}, {word("activation", "LeakyRelu")}) ==
        "FusedConv 'n': the activation LeakyRelu needs 1 parameters, the node gives 0\n");
  CHECK(refused("SkipLayerNormalization", {"a", "b", "c"}, {integer("simplified", 1)}) ==
        "SkipLayerNormalization 'n': attribute 'simplified' is not supported\n");
  CHECK(refused("Attention", {"a", "w"}, {integer("num_heads", 2), integer("do_rotary", 1)}) ==
        "Attention 'n': attribute 'do_rotary' is not supported\n");
  CHECK(refused("MultiHeadAttention", {"a", "b", "c", "", "", "", "", "", "i"}, {integer("num_heads", 2)}) ==
        "MultiHeadAttention 'n': input 8 (past_sequence_length) is not supported\n");
  CHECK(refused("GroupQueryAttention", {"a", "b", "c", "", "", "i", "i", "", "", "", "", "", "a", "a"},
                {integer("num_heads", 2), integer("kv_num_heads", 2)}) ==
        "GroupQueryAttention 'n': input 12 (k_scale) is not supported\n");
  CHECK(refused("MatMulNBits", {"a", "bytes", "b"},
                {integer("N", 4), integer("K", 32), integer("block_size", 32), integer("bits", 5)}) ==
        "MatMulNBits 'n': attribute 'bits' must be 2, 4 or 8\n");
  CHECK(refused("CDist", {"a", "b"}, {word("metric", "cosine")}) ==
        "CDist 'n': attribute 'metric' is 'cosine', which is not supported\n");
}
