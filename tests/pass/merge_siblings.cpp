// SPDX-License-Identifier: MIT
// Which products and convolutions of one tensor become one, and which stay apart.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/merge_siblings.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/left_operators.hpp"

namespace dk = dnnkit;
using dk::tensor;

namespace {

std::string left(auto build) { return harness::left_operators<dk::passes::merge_siblings>(build); }

tensor input_of_products(dk::builder& b) { return b.input("x", dk::f32, {2, 5, 6}); }
tensor input_of_convolutions(dk::builder& b) { return b.input("x", dk::f32, {1, 4, 6, 7}); }
tensor projected(dk::builder& b, tensor x, std::string_view name, std::int64_t columns, bool biased = true) {
  const tensor y = dk::matmul(x, b.weight(name, ".w", {6, columns}));
  return biased ? y + b.weight(name, ".b", {columns}) : y;
}
tensor convolved(dk::builder& b, tensor x, std::string_view name, std::int64_t channels, std::int64_t window = 1,
                 const dk::op::conv& c = {}) {
  return dk::conv(x, b.weight(name, ".w", {channels, 4, window, window}), b.weight(name, ".b", {channels}), c);
}
// What reads its operand where it lies.
tensor consumed(tensor t) { return dk::softmax(t); }
tensor pooled(tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}}); }

// Queries, keys and values of h heads, and their attention.
void attend(dk::builder& b, tensor x, bool of_keys, std::int64_t h) {
  const auto heads = [&](tensor t) { return dk::transpose(dk::reshape(t, {2, 5, h, 6 / h}), {.perm = {0, 2, 1, 3}}); };
  const tensor q = heads(projected(b, x, "q", 6)), k = heads(projected(b, x, "k", 6, of_keys)),
               v = heads(projected(b, x, "v", 6));
  const tensor scores = dk::matmul(q, dk::transpose(k, {.perm = {0, 1, 3, 2}})) * 0.5;
  b.output("y", dk::matmul(dk::softmax(scores), v));
}

}  // namespace

TEST_CASE("queries, keys and values") {
  CHECK(left([](dk::builder& b) { attend(b, input_of_products(b), true, 2); }) ==
        "MatMul Add MatMul Mul Softmax MatMul");
  CHECK(left([](dk::builder& b) { attend(b, input_of_products(b), false, 3); }) ==
        "MatMul Add MatMul Mul Softmax MatMul");
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_products(b);
          b.output("y", dk::matmul(consumed(projected(b, x, "a", 3, false)),
                                   dk::transpose(projected(b, x, "b", 3, false), {.perm = {0, 2, 1}})));
        }) == "MatMul Softmax MatMul");
}

TEST_CASE("the kernels of attention read columns of one product") {
  dk::builder b;
  attend(b, input_of_products(b), true, 2);
  const dk::plan::plan_draft p = dk::default_pipeline::run_logged(b.value()).plan;
  CHECK(p.steps.size() ==
        4);  // the product, scores, their Softmax, the values' sums, which are one where kernels are known
  std::size_t said = 0;
  for (const dk::plan::decision& d : p.decisions)
    if (d.pass == dk::passes::merge_siblings::name && d.verdict == "merged") {
      ++said;
      CHECK(std::string(p.text_of(d.operators)).starts_with("MatMul '"));
      CHECK(p.text_of(d.result) == "MatMul 'q'");  // not the Add behind it
      REQUIRE(d.costs.count == 1);
      CHECK(p.costs[d.costs.first].amount == 3);
    }
  CHECK(said == 3);
}

TEST_CASE("biases of any legal form") {
  const auto with = [](auto bias_of) {
    return left([&](dk::builder& b) {
      const tensor x = input_of_products(b);
      const tensor y = dk::matmul(x, b.weight("v", {6, 4})) + bias_of(b), z = dk::matmul(x, b.weight("w", {6, 3}));
      b.output("y", consumed(y));
      b.output("z", consumed(z));
    });
  };
  const std::string merged = "MatMul Add Softmax Softmax";
  CHECK(with([](auto& b) { return b.weight("t", {4}); }) == merged);
  CHECK(with([](auto& b) { return b.weight("t", {1, 1, 4}); }) == merged);
  CHECK(with([](auto& b) { return b.weight("t", {1}); }) == merged);
  CHECK(with([](auto& b) { return b.scalar(0.25); }) == merged);
  CHECK(left([](dk::builder& b) {  // zeros of the type of the others
          const tensor x = b.input("x", dk::f64, {5, 6});
          b.output("y", consumed(dk::matmul(x, b.weight("v", {6, 4}, dk::f64)) + b.weight("t", {4}, dk::f64)));
          b.output("z", consumed(dk::matmul(x, b.weight("w", {6, 3}, dk::f64))));
        }) == merged);
  // one that is no bias is part of its product's kernel
  CHECK(with([](auto& b) { return b.weight("t", {5, 4}); }) == "MatMul Add MatMul Softmax Softmax");
}

TEST_CASE("parallel convolutions, with what follows both") {
  const auto of = [](auto build) { return left([&](dk::builder& b) { build(b, input_of_convolutions(b)); }); };
  const auto two = [](auto f) {
    return [f](dk::builder& b, tensor x) {
      b.output("y", pooled(f(convolved(b, x, "v", 3))));
      b.output("z", pooled(f(convolved(b, x, "w", 5))));
    };
  };
  CHECK(of(two([](tensor t) { return dk::relu(t); })) == "Conv Relu MaxPool MaxPool");
  CHECK(of(two([](tensor t) { return t * dk::sigmoid(t); })) == "Conv Sigmoid Mul MaxPool MaxPool");
  CHECK(of(two([](tensor t) { return dk::relu(t * 0.5 + 3.0); })) == "Conv Mul Add Relu MaxPool MaxPool");
  CHECK(of([](auto& b, tensor x) {
          b.output("y", pooled(convolved(b, x, "v", 3, 3, {.pads = {1, 1, 1, 1}})));
          b.output("z", pooled(dk::conv(x, b.weight("w", {5, 4, 3, 3}), {.pads = {1, 1, 1, 1}})));
        }) == "Conv MaxPool MaxPool");
  CHECK(of([](auto& b, tensor x) {
          const tensor y = convolved(b, x, "v", 3), z = convolved(b, x, "w", 5);
          b.output("y", pooled(dk::relu(y)));
          b.output("z", pooled(dk::clip(z, {.min = 0, .max = 6})));
        }) == "Conv Conv Relu MaxPool Clip MaxPool");
  CHECK(of([](auto& b, tensor x) {
          const tensor y = convolved(b, x, "v", 3), z = convolved(b, x, "w", 5);
          b.output("y", pooled(dk::relu(y * 2.0)));
          b.output("z", pooled(dk::relu(z * 3.0)));
        }) == "Conv Conv Mul Relu MaxPool Mul Relu MaxPool");
}

TEST_CASE("other windows, strides, groups, tensors or types stay apart") {
  const auto apart = [](auto build) {
    return left([&](dk::builder& b) { build(b, input_of_convolutions(b)); }) == "Conv Conv MaxPool MaxPool";
  };
  const auto both = [](dk::builder& b, tensor y, tensor z) {
    b.output("y", pooled(y));
    b.output("z", pooled(z));
  };
  CHECK(apart([&](auto& b, tensor x) { both(b, convolved(b, x, "v", 3), convolved(b, x, "w", 3, 3)); }));
  CHECK(apart([&](auto& b, tensor x) {
    both(b, convolved(b, x, "v", 3), convolved(b, x, "w", 3, 1, {.strides = {2, 2}}));
  }));
  CHECK(apart([&](auto& b, tensor x) {
    const dk::op::conv c{.group = 2};
    both(b, dk::conv(x, b.weight("v", {4, 2, 1, 1}), c), dk::conv(x, b.weight("w", {4, 2, 1, 1}), c));
  }));
  CHECK(apart([&](auto& b, tensor x) {
    both(b, convolved(b, x, "v", 3), convolved(b, b.input("x2", dk::f32, {1, 4, 6, 7}), "w", 3));
  }));
  CHECK(apart([&](auto& b, tensor x) {
    both(b, convolved(b, x, "v", 3), dk::conv(x, b.input("w", dk::f32, {3, 4, 1, 1})));
  }));
}

TEST_CASE("what its kernel does with a product stays there") {
  // the gate of a network's hidden layer: the Mul would be a kernel of its own
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_products(b);
          const tensor gate = projected(b, x, "gate", 8, false), up = projected(b, x, "up", 8, false);
          b.output("y", consumed(gate * dk::sigmoid(gate) * up));
        }) == "MatMul MatMul Sigmoid Mul Mul Softmax");
  // a Concat, or the caller, wants its part in another place; the other two are merged all the same
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_convolutions(b);
          const tensor y = dk::relu(convolved(b, x, "u", 3)), z = dk::relu(convolved(b, x, "v", 5)),
                       t = dk::relu(convolved(b, x, "w", 2));
          b.output("y",
                   dk::concat({y, dk::conv(z, b.weight("p", {2, 5, 1, 1})), dk::conv(t, b.weight("q", {2, 2, 1, 1}))},
                              {.axis = 1}));
        }) == "Conv Relu Conv Relu Conv Conv Concat");
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_products(b);
          b.output("y", projected(b, x, "a", 4));
          b.output("z", consumed(projected(b, x, "b", 4)));
        }) == "MatMul Add MatMul Add Softmax");
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_products(b);
          b.output("y", consumed(projected(b, x, "a", 6) + x));
          b.output("z", consumed(projected(b, x, "b", 6)));
        }) == "MatMul Add Add Softmax MatMul Add Softmax");
}

TEST_CASE("biases of channels that are computed of a time: who adds them repeats them") {
  const auto sum_of = [&](dk::builder& b, tensor t, tensor x, std::string_view name, std::int64_t columns) {
    return x + dk::reshape(projected(b, t, name, columns), {1, columns, 1, 1});
  };
  CHECK(left([&](dk::builder& b) {
          const tensor t = b.input("t", dk::f32, {1, 6}), x = input_of_convolutions(b);
          const tensor y = sum_of(b, t, dk::conv(x, b.weight("v", {3, 4, 3, 3})), "a", 3);
          b.output("y", sum_of(b, t, dk::conv(y, b.weight("w", {5, 3, 1, 1})), "b", 5));
        }) == "Conv MatMul Add Add Conv Add");
  // a part that is added to as many elements is added behind the product
  CHECK(left([&](dk::builder& b) {
          const tensor t = b.input("t", dk::f32, {1, 6});
          b.output("y", projected(b, t, "a", 3) + b.input("u", dk::f32, {1, 3}));
          b.output("z", projected(b, t, "b", 5) + b.input("v", dk::f32, {1, 5}));
        }) == "MatMul Add Add MatMul Add Add");
}

TEST_CASE("weights that setup computes, also behind the first product that needs them") {
  CHECK(left([](dk::builder& b) {
          const tensor x = input_of_products(b);
          const tensor y = dk::matmul(x, b.weight("v", {6, 4}));
          const tensor z = dk::matmul(x, dk::transpose(b.weight("w", {3, 6})) * 2.0);
          b.output("y", consumed(y));
          b.output("z", consumed(z));
        }) == "MatMul Softmax Softmax");
}

TEST_CASE("extents that symbols decide") {
  CHECK(left([](dk::builder& b) {
          const tensor x = b.input("x", dk::f32, {2, dk::sym("L", {1, 9}), 6});
          b.output("y", consumed(projected(b, x, "a", 4)));
          b.output("z", consumed(projected(b, x, "b", 3)));
        }) == "MatMul Add Softmax Softmax");
}

TEST_CASE("branches of an If are computed each for itself") {
  dk::builder b;
  const tensor x = input_of_products(b);
  const tensor y = consumed(projected(b, x, "a", 4)), z = consumed(projected(b, x, "b", 4));
  const tensor which = b.input("which", dk::boolean, {});
  b.output("y", b.apply(dk::op::combine{}, {which, y, z}));
  REQUIRE(b.value().error.empty());
  CHECK(harness::left_operators<dk::passes::merge_siblings>(b.value()) == "MatMul Add Softmax MatMul Add Softmax If");
}
