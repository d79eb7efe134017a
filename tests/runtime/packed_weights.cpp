// SPDX-License-Identifier: MIT
#include "dnnkit/runtime/packed_weights.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/weights/host_bytes.hpp"
#include "dnnkit/weights/weight_file.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3});
    const dk::tensor w = dk::exp(g.weight("w", {3, 5})) * g.constant({1, 2, 3}, {3, 1});  // computed once
    dk::tensor y = dk::matmul(x, w);
    y = dk::relu(y + g.weight("b", {5})) + g.constant({0.5, -0.5}, {2, 1});
    g.output("y", y);
    g.output("chosen", dk::where(g.weight("m", {2, 3}, dk::boolean), g.input("i", dk::i64, {2, 3}),
                                 g.constant({-4}, {2, 3}, dk::i64)));
  }
};
using net = dk::compile<model>;

const harness::test_data& data() {
  static const harness::test_data d = harness::random_data(dk::graph_of<model>(), 3);
  return d;
}

std::vector<float> outputs(dk::safetensors file) {
  dk::session<net> s(std::move(file));
  std::vector<float> x, y(10);
  std::vector<std::int64_t> i, chosen(6);
  for (double v : data().inputs[0].reals) x.push_back(static_cast<float>(v));
  for (std::int64_t v : data().inputs[1].integers) i.push_back(v);
  s.run(x, i, y, chosen);
  for (std::int64_t v : chosen) y.push_back(static_cast<float>(v));
  return y;
}

}  // namespace

TEST_CASE("setup, constants of every kind and weights read in place") {
  const std::vector<std::byte> bytes = harness::safetensors_bytes(data().weights);
  const std::vector<float> found = outputs(dk::safetensors::from_memory(bytes, "weights"));
  const auto expected = harness::reference(dk::graph_of<model>(), data());
  for (std::size_t k = 0; k < 10; ++k) CHECK(found[k] == doctest::Approx(expected[0].reals[k]).epsilon(1e-5));
  for (std::size_t k = 0; k < 6; ++k) CHECK(found[10 + k] == static_cast<float>(expected[1].integers[k]));
}

TEST_CASE("a file at an odd address gives the same") {
  const std::vector<std::byte> bytes = harness::safetensors_bytes(data().weights);
  const std::vector<float> aligned = outputs(dk::safetensors::from_memory(bytes, "weights"));
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::vector<std::byte> shifted(bytes.size() + 8);
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    CHECK(outputs(dk::safetensors::from_memory({shifted.data() + shift, bytes.size()}, "weights")) == aligned);
  }
}

namespace {

struct steps_written_out {  // four steps with one weight, the last one with another
  static constexpr void build(dk::builder& g) {
    dk::tensor x = g.input("x", f32, {1, 48});
    const dk::tensor w = g.weight("w", {48, 48}), last = g.weight("last", {48, 48});
    for (int i = 0; i < 4; ++i) x = dk::tanh(dk::matmul(x, w));
    g.output("y", dk::tanh(dk::matmul(x, last)));
  }
};
using in_steps = dk::compile<steps_written_out>;
static_assert(in_steps::kernels == 5);

}  // namespace

TEST_CASE("what several kernels pack alike is packed once") {
  const harness::test_data d = harness::random_data(dk::graph_of<steps_written_out>(), 4);
  const std::vector<std::byte> bytes = harness::safetensors_bytes(d.weights);
  const dk::packed_weights<in_steps> weights(dk::safetensors::from_memory(bytes, "weights"));
  const auto& tables = *weights.tables();
  CHECK(tables.packed(1) != nullptr);  // the first step may have another kernel, since it reads an input
  CHECK(tables.packed(2) == tables.packed(1));
  CHECK(tables.packed(3) == tables.packed(1));
  CHECK(tables.packed(4) != tables.packed(1));
  CHECK(tables.bytes() < 4 * 48 * 48 * sizeof(float));

  dk::session<in_steps> s(weights);
  std::vector<float> x, y(48);
  for (double v : d.inputs[0].reals) x.push_back(static_cast<float>(v));
  s.run(x, y);
  const auto expected = harness::reference(dk::graph_of<steps_written_out>(), d);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected[0].reals[i]).epsilon(1e-4));
}

TEST_CASE("what is kept beside the file is small and aligned") {
  const std::vector<std::byte> bytes = harness::safetensors_bytes(data().weights);
  const dk::packed_weights<net> weights(dk::safetensors::from_memory(bytes, "weights"));
  CHECK(weights.tables()->bytes() > 0);
  CHECK(weights.tables()->bytes() < 4096);
  for (std::size_t s = 0; s < net::plan.steps.size(); ++s)
    CHECK(reinterpret_cast<std::uintptr_t>(weights.tables()->packed(s)) % 64 == 0);
}

namespace {

// The weights of `data` each in memory of its own, `shift` bytes from where their elements ought to lie, and how often
// each was said not to be needed.
struct listening {
  std::vector<std::pair<std::string, std::vector<std::byte>>> parts;
  std::size_t shift = 0;
  mutable std::map<std::string, int> evicted;

  void evict(std::span<const std::byte> data) const {
    for (const auto& [name, bytes] : parts)
      if (bytes.data() + shift == data.data()) ++evicted[name];
  }
};
struct listened_weights {
  std::shared_ptr<listening> memory = std::make_shared<listening>();
  std::vector<dk::stored_tensor> tensors;

  explicit listened_weights(std::size_t shift) {
    memory->shift = shift;
    for (const auto& [name, values] : data().weights) {
      std::vector<std::byte> bytes(shift, std::byte{0});
      const std::vector<std::byte> elements = dk::element_bytes(values);
      bytes.insert(bytes.end(), elements.begin(), elements.end());
      const auto& kept = memory->parts.emplace_back(name, std::move(bytes)).second;
      tensors.push_back({name, values.type, values.dims, std::span(kept).subspan(shift)});
    }
  }
  dk::weight_file file() const { return {"list", tensors, memory}; }
};

}  // namespace

TEST_CASE("what is not needed again leaves memory: its file hears of it, what was computed from it goes") {
  const listened_weights list(0);
  const dk::packed_weights<net> weights(list.file());
  // b and m are read in place whenever the network runs
  CHECK(list.memory->evicted == std::map<std::string, int>{{"w", 1}});
  const std::size_t panels = 3 * 16 * sizeof(float), constants = 64 + 64;
  CHECK(weights.tables()->bytes() <= panels + constants + 64);
  for (std::size_t b = 0; b < net::plan.buffers.size(); ++b) {
    const dk::plan::buffer& x = net::plan.buffers[b];
    const bool passes = x.where == dk::plan::storage::setup || net::plan.text_of(x.name) == "w";
    if (passes || x.where == dk::plan::storage::weight) CHECK((weights.tables()->data(b) == nullptr) == passes);
  }
}

TEST_CASE("misaligned weights are copied, and the file's are not needed") {
  const listened_weights list(1);
  const dk::packed_weights<net> weights(list.file());
  CHECK(list.memory->evicted["w"] > 0);
  CHECK(list.memory->evicted["b"] == 1);
  CHECK(list.memory->evicted["m"] == 0);  // bytes are never misaligned
}

namespace {

struct picture_of_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::conv(g.weight("picture", {1, 3, 6, 11}), g.weight("filter", {2, 3, 3, 3}));
    g.output("y", g.input("x", f32, {1, 2, 4, 9}) + y);
  }
};

}  // namespace

TEST_CASE("a convolution of weights stays within them") {
  using network = dk::compile<picture_of_weights>;
  REQUIRE(network::plan.setup_steps.size() == 1);
  std::vector<float> picture(3 * 6 * 11, 1), filter(2 * 3 * 9, 0.5f), x(72, 1),
      y(72);  // nothing behind the last element
  dk::session<network> s(dk::weight_file("list", {{"picture", f32, {1, 3, 6, 11}, std::as_bytes(std::span(picture))},
                                                  {"filter", f32, {2, 3, 3, 3}, std::as_bytes(std::span(filter))}}));
  s.run(x, y);
  CHECK(y == std::vector<float>(72, 14.5f));
}

namespace {

// Kernels that have memory of their worker's, of weights alone.
struct work_on_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor picture = g.weight("picture", {1, 2, 9, 21}), wide = g.weight("wide", {1, 2, 9, 21}, dk::f64);
    g.output("largest", g.input("x", f32, {1}) + dk::max_pool(picture, {.kernel_shape = {3, 2}, .strides = {2, 2}}));
    g.output("mean", dk::average_pool(picture, {.kernel_shape = {2, 3}, .pads = {1, 1, 1, 1}}));
    g.output("largest_of_wide", dk::max_pool(wide, {.kernel_shape = {3, 3}}));
    g.output("convolved", dk::conv(picture, g.weight("filter", {1, 2, 3, 3}), {.pads = {1, 1, 1, 1}}));
    const dk::tensor rows = g.weight("rows", {2, 20, 16}), keys = g.weight("keys", {2, 16, 20});
    g.output("attended", dk::matmul(dk::softmax(dk::matmul(rows, keys)), rows));
  }
};

}  // namespace

TEST_CASE("what is computed from weights alone has its worker's memory") {
  using network = dk::compile<work_on_weights>;
  const auto table = dk::cpu::kernel_table<network>;
  const auto works = std::ranges::count_if(
      network::plan.setup_steps, [&](const dk::plan::step& s) { return table[s.kernel].worker_bytes != nullptr; });
  CHECK(works >= 3);
  CHECK(harness::compiled_error(harness::compiled<work_on_weights>("work on weights"), 5) == "");
}

TEST_CASE("constants are written as their type") {
  const auto written = [](dk::dtype type, std::int64_t code) {
    std::vector<std::byte> to(dk::size_of(type), std::byte{0xee});
    dk::detail::write_element(type, code, to.data());
    std::uint64_t x = 0;
    std::memcpy(&x, to.data(), to.size());
    return x;
  };
  const auto bits = [](double x) { return std::bit_cast<std::int64_t>(x); };
  CHECK(written(dk::f32, bits(0.1)) == std::bit_cast<std::uint32_t>(0.1f));
  CHECK(written(dk::f64, bits(0.1)) == static_cast<std::uint64_t>(bits(0.1)));
  CHECK(written(dk::i8, -2) == 0xfe);
  CHECK(written(dk::i16, -2) == 0xfffe);
  CHECK(written(dk::i32, -2) == 0xfffffffe);
  CHECK(written(dk::i64, -2) == 0xfffffffffffffffe);
  CHECK(written(dk::u8, 200) == 200);
  CHECK(written(dk::boolean, 1) == 1);
  CHECK(written(dk::f16, bits(0.1)) == 0x2e66);
  CHECK(written(dk::bf16, bits(0.1)) == 0x3dcd);
}
