// SPDX-License-Identifier: MIT
// Which scales and shifts go into convolutions and products, which behind them, and which stay.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/fold_scales.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/left_operators.hpp"

namespace dk = dnnkit;
using dk::tensor;

namespace {

std::string left(auto build) { return harness::left_operators<dk::passes::fold_scales>(build); }

// Of what `build` makes of a convolution with a bias.
std::string left_of_convolution(auto build) {
  return left([&](dk::builder& b) {
    const tensor x = b.input("x", dk::f32, {1, 3, 6, 6});
    build(b, dk::conv(x, b.weight("w", {4, 3, 3, 3}), b.weight("b", {4})));
  });
}
// Of what `build` makes of a product, [2, 5, 12], with a bias that it may have.
std::string left_of_product(auto build, bool biased = true) {
  return left([&](dk::builder& b) {
    const tensor y = dk::matmul(b.input("x", dk::f32, {2, 5, 7}), b.weight("w", {7, 12}));
    b.output("y", build(b, biased ? y + b.weight("b", {12}) : y));
  });
}

}  // namespace

TEST_CASE("what multiplies or shifts each channel by a number goes into the weights") {
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", y * b.weight("s", {4, 1, 1})); }) == "Conv");
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", b.weight("s", {1, 4, 1, 1}) + y); }) == "Conv");
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", y - b.weight("s", {4, 1, 1})); }) == "Conv");
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", y / 3.0); }) == "Conv");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", y * b.weight("s", {4, 1, 1}) + b.weight("t", {1}));
        }) == "Conv");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", dk::batch_normalization(y, b.weight("s", {4}), b.weight("t", {4}), b.weight("m", {4}),
                                                b.weight("variance", {4})));
        }) == "Conv");
  CHECK(left([](dk::builder& b) {  // without a bias
          const tensor y = dk::conv(b.input("x", dk::f32, {1, 3, 6, 6}), b.weight("w", {4, 3, 3, 3}));
          b.output("y", y * b.weight("s", {4, 1, 1}) - b.weight("t", {4, 1, 1}));
        }) == "Conv");
}

TEST_CASE("what varies along another axis, is computed in the run, or has another reader stays") {
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", y * b.weight("s", {4, 4})); }) == "Conv Mul");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", y * b.input("s", dk::f32, {4, 1, 1}));
        }) == "Conv Mul");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", y * b.weight("s", {4, 1, 1}));
          b.output("z", dk::relu(y));
        }) == "Conv Mul Relu");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("plain", y);
          b.output("y", y * b.weight("s", {4, 1, 1}));
        }) == "Conv Mul");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", dk::relu(y) * b.weight("s", {4, 1, 1}));
        }) == "Conv Relu Mul");
  // broadcasting that gives the result another axis
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", y * b.weight("s", {2, 1, 4, 1, 1}));
        }) == "Conv Mul");
  CHECK(left_of_convolution([](auto& b, tensor y) { b.output("y", b.weight("s", {4, 1, 1}) - y); }) == "Conv Sub");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", b.weight("s", {4, 1, 1}) / (y * y + 1));
        }) == "Conv Mul Add Div");
}

TEST_CASE("behind products with a matrix") {
  const auto by_number = [](auto&, tensor y) { return y * 0.125; };
  const auto by_column = [](auto& b, tensor y) { return y / (b.weight("s", {12}) * b.weight("s", {12}) + 1); };
  CHECK(left_of_product(by_number) == "MatMul Add");
  CHECK(left_of_product(by_number, false) == "MatMul");
  CHECK(left_of_product(by_column) == "MatMul Add");
  CHECK(left_of_product(by_column, false) == "MatMul");
  CHECK(left_of_product([](auto& b, tensor y) { return y * b.weight("s", {5, 1}); }) == "MatMul Add Mul");
  CHECK(left_of_product([](auto& b, tensor y) { return y + b.weight("t", {12}); }) == "MatMul Add");
  CHECK(left_of_product([](auto& b, tensor y) {
          return y - b.weight("t", {1, 12}) + b.weight("u", {12});
        }) == "MatMul Add");
  CHECK(left_of_product([](auto& b, tensor y) { return y + b.weight("t", {12}); }, false) == "MatMul Add");
  CHECK(left_of_product([](auto& b, tensor y) { return y + b.weight("t", {5, 12}); }) == "MatMul Add Add");
  CHECK(left([](dk::builder& b) {
          const tensor y = dk::gemm(b.input("x", dk::f32, {7, 5}), b.weight("w", {12, 7}), b.weight("c", {12}),
                                    {.alpha = 0.5F, .beta = 2, .trans_a = true, .trans_b = true});
          b.output("y", y * b.weight("s", {12}));
        }) == "MatMul Add");
  CHECK(left([](dk::builder& b) {  // integers are not scaled before they are summed up
          const tensor y = dk::matmul(b.input("x", dk::i32, {5, 7}), b.weight("w", {7, 12}, dk::i32));
          b.output("y", y / b.scalar(3, dk::i32));
        }) == "MatMul Div");
  CHECK(left([](dk::builder& b) {  // nor are floats of 16 bits
          const tensor y = dk::matmul(b.input("x", dk::f16, {5, 7}), b.weight("w", {7, 12}, dk::f16));
          b.output("y", y * 0.3);
        }) == "MatMul Mul");
}

TEST_CASE("movement operators between a product and its scale") {
  const auto heads = [](tensor y) { return dk::reshape(y, {2, 5, 3, 4}); };
  const auto turned = [](tensor y) { return dk::transpose(y, {.perm = {0, 2, 1, 3}}); };
  CHECK(left_of_product([&](auto&, tensor y) { return turned(heads(y)) * 0.5; }) == "MatMul Add");
  CHECK(left_of_product([&](auto& b, tensor y) {
          return turned(heads(y)) * b.weight("s", {3, 1, 4});
        }) == "MatMul Add");
  CHECK(left_of_product([&](auto& b, tensor y) {
          return turned(heads(y)) * b.weight("s", {3, 1, 1});
        }) == "MatMul Add");
  CHECK(left_of_product([&](auto& b, tensor y) { return turned(heads(y)) + b.weight("s", {4}); }) == "MatMul Add");
  CHECK(left_of_product([&](auto& b, tensor y) {
          return turned(heads(y)) * b.weight("s", {5, 4});
        }) == "MatMul Add Mul");
  CHECK(left_of_product([](auto& b, tensor y) {
          return dk::unsqueeze(dk::transpose(y, {.perm = {2, 0, 1}}), {.axes = {0}}) * b.weight("s", {12, 1, 1});
        }) == "MatMul Add");
  // one number goes through whatever moves elements
  CHECK(left_of_product([](auto&, tensor y) {
          return dk::slice(y, {.starts = {3}, .ends = {8}, .axes = {2}}) * 2.0;
        }) == "MatMul Add");
  CHECK(left_of_product([](auto& b, tensor y) {
          return dk::slice(y, {.starts = {3}, .ends = {8}, .axes = {2}}) * b.weight("s", {5});
        }) == "MatMul Add Mul");
  CHECK(left_of_product([](auto& b, tensor y) {  // two readers of what lies between
          const tensor t = dk::transpose(y);
          b.output("t", dk::relu(t));
          return t * 2.0;
        }) == "MatMul Add Relu Mul");
  CHECK(left_of_convolution([](auto& b, tensor y) {
          b.output("y", dk::reshape(y, {1, 2, 2, 16}) * b.weight("s", {2, 2, 1}));
        }) == "Conv");
}

TEST_CASE("in front of convolutions") {
  const auto read = [](auto scale, const dk::op::conv& c) {
    return left([&](dk::builder& b) {
      const tensor x = b.input("x", dk::f32, {1, 6, 6, 6});
      const dk::dim_argument inputs = 6 / c.group;
      b.output("y", dk::conv(scale(b, x), b.weight("w", {12, inputs, 3, 3}), c));
    });
  };
  const auto scaled = [](auto& b, tensor x) { return x * b.weight("s", {6, 1, 1}); };
  const auto normalised = [](auto& b, tensor x) {
    return (x - b.weight("mean", {6, 1, 1})) / (b.weight("d", {6, 1, 1}) * b.weight("d", {6, 1, 1}) + 1);
  };
  CHECK(read(scaled, {}) == "Conv");
  CHECK(read(scaled, {.pads = {1, 1, 1, 1}}) == "Conv");
  CHECK(read(scaled, {.group = 2}) == "Conv");
  CHECK(read(scaled, {.group = 6}) == "Conv");
  CHECK(read([](auto&, tensor x) { return x / 255.0; }, {.pads = {1, 1, 1, 1}}) == "Conv");
  CHECK(read(normalised, {}) == "Conv");
  CHECK(read(normalised, {.group = 3}) == "Conv");
  CHECK(read([](auto&, tensor x) { return (x - 0.5) * 2.0; }, {}) == "Conv");
  CHECK(read(normalised, {.pads = {1, 1, 1, 1}}) == "Sub Conv");  // what it pads with is not shifted
  CHECK(read([](auto& b, tensor x) { return x * b.weight("s", {6, 1}); }, {}) == "Mul Conv");
  CHECK(read([](auto& b, tensor x) { return x * b.input("s", dk::f32, {6, 1, 1}); }, {}) == "Mul Conv");
  // what the kernel of the operand does as it stores this costs nothing
  CHECK(read(
            [](auto& b, tensor x) {
              return dk::max_pool(x, {.kernel_shape = {2, 2}}) * b.weight("s", {6, 1, 1});
            },
            {}) == "MaxPool Mul Conv");
  CHECK(left([](dk::builder& b) {
          const tensor x = b.input("x", dk::f32, {1, 6, 6, 6}) * 0.5;
          b.output("y", dk::conv(x, b.weight("w", {12, 6, 3, 3})));
          b.output("z", dk::conv(x, b.weight("v", {12, 6, 3, 3})));
        }) == "Mul Conv Conv");
}

TEST_CASE("in front of products with a matrix") {
  const auto read = [](auto scale) {
    return left([&](dk::builder& b) {
      b.output("y",
               dk::matmul(scale(b, b.input("x", dk::f32, {2, 5, 7})), b.weight("w", {7, 12})) + b.weight("b", {12}));
    });
  };
  CHECK(read([](auto& b, tensor x) { return x * b.weight("s", {7}); }) == "MatMul Add");
  CHECK(read([](auto&, tensor x) { return x / 3.0; }) == "MatMul Add");
  CHECK(read([](auto& b, tensor x) { return x + b.weight("s", {7}); }) == "MatMul Add");
  CHECK(read([](auto& b, tensor x) { return (x - 0.5) * b.weight("s", {1, 7}); }) == "MatMul Add");
  CHECK(read([](auto& b, tensor x) {
          return dk::transpose(dk::transpose(x, {.perm = {0, 2, 1}}) * b.weight("s", {7, 1}), {.perm = {0, 2, 1}});
        }) == "MatMul Add");
  CHECK(read([](auto& b, tensor x) { return x * b.weight("s", {5, 1}); }) == "Mul MatMul Add");
}

TEST_CASE("scales of both factors become one behind the product") {
  const auto product = [](auto left_factor, auto right_factor) {
    return left([&](dk::builder& b) {
      const tensor x = b.input("x", dk::f32, {2, 3, 15});
      const auto part = [&](std::int64_t first) {
        return dk::slice(x, {.starts = {first}, .ends = {first + 5}, .axes = {2}});
      };
      b.output("y", dk::softmax(dk::matmul(left_factor(part(0)), right_factor(part(5)))));
    });
  };
  const auto turned = [](tensor x) { return dk::transpose(x, {.perm = {0, 2, 1}}); };
  const std::string one = "MatMul Mul Softmax";
  CHECK(product([](tensor q) { return q * 0.5; }, [&](tensor k) { return turned(k) * 0.5; }) == one);
  CHECK(product([](tensor q) { return q * 0.5; }, [&](tensor k) { return turned(k * 0.25); }) == one);
  CHECK(product([](tensor q) { return q * 0.5; }, [&](tensor k) { return turned(k); }) == one);
  CHECK(product([](tensor q) { return q; }, [&](tensor k) { return turned(k) / 4.0; }) == "MatMul Div Softmax");
  CHECK(product([](tensor q) { return q / 3.0; }, [&](tensor k) { return turned(k) / 4.0; }) == "MatMul Div Softmax");
  CHECK(product([](tensor q) { return q / 3.0; }, [&](tensor k) { return turned(k) * 4.0; }) == "MatMul Div Softmax");
  CHECK(product([](tensor q) { return q * 3.0; }, [&](tensor k) { return turned(k) / 4.0; }) == one);
  // where its kernel does it as it stores the factor
  CHECK(product([](tensor q) { return dk::relu(q) * 0.5; }, [&](tensor k) { return turned(k); }) ==
        "Relu Mul MatMul Softmax");
  CHECK(product([](tensor q) { return q + 0.5; }, [&](tensor k) { return turned(k); }) == "Add MatMul Softmax");
  CHECK(left([](dk::builder& b) {  // a number that the weights hold
          const tensor s = b.weight("s", {1});
          b.output("y", dk::matmul(b.input("q", dk::f32, {3, 5}) * s, b.input("k", dk::f32, {5, 4}) * s));
        }) == "MatMul Mul");
}

TEST_CASE("extents that symbols decide") {
  CHECK(left([](dk::builder& b) {
          const dk::dim_argument n = dk::sym("N", {1, 9});
          const tensor y = dk::matmul(b.input("x", dk::f32, {n, 7}), b.weight("w", {7, 12})) + b.weight("b", {12});
          const tensor heads = dk::transpose(dk::reshape(y, {-1, 3, 4}), {.perm = {1, 0, 2}});
          b.output("y", heads * b.weight("s", {3, 1, 4}));
        }) == "MatMul Add");
}

TEST_CASE("the log says so") {
  dk::builder b;
  b.output("y", dk::matmul(b.input("x", dk::f32, {2, 3}), b.weight("w", {3, 2})) * b.weight("s", {2}));
  bool said = false;
  for (const dk::plan::decision& d : dk::default_pipeline::run_logged(b.value()).plan.decisions)
    said = said || d.pass == dk::passes::fold_scales::name;
  CHECK(said);
  const auto verdict = [](double q, double k) {
    dk::builder products;
    const auto part_of = [&](std::string_view name, double scale, dk::shape_argument dims) {
      const tensor x = products.input(name, dk::f32, dims);
      return scale == 1 ? x : x * scale;
    };
    products.output("y", dk::matmul(part_of("q", q, {3, 5}), part_of("k", k, {5, 4})));
    std::string found;
    using without_rules = dk::without<dk::default_pipeline, dk::passes::default_rules>;  // which move them, too
    const dk::plan::plan_draft p = without_rules::run_logged(products.value()).plan;
    for (const dk::plan::decision& d : p.decisions)
      if (d.pass == dk::passes::fold_scales::name)
        found += std::string(d.verdict) + " " + std::string(p.text_of(d.operators));
    return found;
  };
  CHECK(verdict(0.5, 0.25) == "moved the scales of both operands behind MatMul");
  CHECK(verdict(0.5, 1) == "moved the scale of the first operand behind MatMul");
  CHECK(verdict(1, 0.5) == "moved the scale of the second operand behind MatMul");
}
