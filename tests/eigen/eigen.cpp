// SPDX-License-Identifier: MIT
// LABELS: sanitize
// Eigen's types as inputs and outputs: read and written where they are, shapes checked, symbols from rows() and cols().
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/eigen.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <array>
#include <string>
#include <unsupported/Eigen/CXX11/Tensor>
#include <utility>
#include <vector>

#include "dnnkit/graph.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct fixed {  // the sums of each row, and twice each element
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {3, 4});
    g.output("sums", dk::reduce_sum(x, {.axes = {1}, .keepdims = false}));
    g.output("twice", x * 2);
  }
};
struct sized {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2, dk::sym{"L", {1, 99}}, dk::sym{"W", {1, 99}}});
    const dk::tensor b = g.input("b", dk::f32, {dk::sym{"W", {1, 99}}});
    g.output("y", x + b);
  }
};
using fixed_session = dk::session<dk::compile<fixed>>;
using sized_session = dk::session<dk::compile<sized>>;

matrix counted(Eigen::Index rows, Eigen::Index columns) {
  matrix x(rows, columns);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  return x;
}

}  // namespace

TEST_CASE("matrices of known size: checked by the compiler, noexcept") {
  fixed_session s;
  const Eigen::Matrix<float, 3, 4, Eigen::RowMajor> x = counted(3, 4);
  Eigen::Vector3f sums;
  Eigen::Array<float, 3, 4, Eigen::RowMajor> twice;
  static_assert(noexcept(s.run(x, sums, twice)));
  s.run(x, sums, twice);
  CHECK(sums == x.rowwise().sum());
  CHECK((twice == 2 * x.array()).all());

  Eigen::Map<Eigen::Matrix<float, 3, 4, Eigen::RowMajor>> map(twice.data());
  static_assert(noexcept(s.run(x, sums, map)));
  s.run(dk::out<"twice">(map), dk::in<"x">(x), dk::out<"sums">(sums));
}

TEST_CASE("matrices of sizes known at run time: shape, and what lies between rows") {
  fixed_session s;
  const matrix x = counted(3, 4);
  Eigen::VectorXf sums(3);
  matrix twice(3, 4), turned(4, 3), wide = matrix::Zero(3, 9);
  static_assert(!noexcept(s.run(x, sums, twice)));
  s.run(x, sums, twice);
  CHECK(twice == 2 * x);
  CHECK(error_of([&] { return s.run(x, sums, turned); }) ==
        "output 'twice': range has the wrong shape, expected [3, 4], found [4, 3]");
  CHECK(error_of([&] { return s.run(x, Eigen::VectorXf(4), twice); }) ==
        "output 'sums': range has the wrong size, expected 3 elements, found 4");
  const std::string apart = "Eigen matrix: its elements do not lie in a row; copy it first";
  CHECK(error_of([&] { return s.run(x, sums, wide.block(0, 2, 3, 4)); }) == apart);
  CHECK(error_of([&] { return s.run(x, wide.col(0), twice); }) == apart);
  Eigen::VectorXf many = Eigen::VectorXf::Ones(27);
  s.run(many.segment(9, 12), wide.row(1).head(3), twice);  // those do
  Eigen::Ref<matrix> reference(twice);
  s.run(counted(5, 4).middleRows(1, 3), sums, reference);
  CHECK(twice(0, 0) == 8);

  const Eigen::MatrixXf columns = x;
  s.run(dk::row_major(columns), sums, twice);
  CHECK(twice == 2 * x);
  s.run({{"x", x}}, {{"sums", sums}, {"twice", twice}});
}

struct rows_model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {"N", 4}))); }
};

TEST_CASE("a matrix gives symbols no values when another extent of it is wrong") {
  dk::session<dk::compile<rows_model>> s;
  s.bind_to(counted(3, 4));
  CHECK(error_of([&] { return s.bind_to(counted(4, 5)), 0; }) ==
        "input 'x': range has the wrong shape, expected [4, 4], found [4, 5]");
  CHECK(s.output_elements(0) == 12);  // as before
}

TEST_CASE("symbols take their values from rows() and cols(), or from the sizes of ranges") {
  sized_session s;
  const matrix x = counted(6, 5);  // 2 times 3 rows
  const Eigen::RowVectorXf b = Eigen::RowVectorXf::Ones(5);
  matrix y(6, 5);
  s.bind_to(x, b);
  s.run(x, b, y);
  CHECK(y == (x.array() + 1).matrix());

  s.bind_to(dk::in<"b">(std::vector<float>(3)), dk::in<"x">(std::array<float, 24>{}));  // 2 x 4 x 3
  CHECK(s.output_elements(0) == 24);
  CHECK(error_of([&] { return s.bind_to(counted(5, 5), b), 0; }) ==
        "input 'x': range has an extent that no value of symbol 'L' gives, expected [2, L, W], found [5, 5]");
  CHECK(error_of([&] { return s.bind_to(counted(200, 5), b), 0; }) ==
        "symbol 'L': symbol is out of its bounds, expected 1 to 99, found 100");
  CHECK(s.output_elements(0) == 24);  // as before
  CHECK(error_of([&] { return s.bind_to(counted(4, 5), counted(1, 4)), 0; }) ==
        "input 'b': range has the wrong shape, expected [1, 5], found [1, 4]");
  CHECK(s.output_elements(0) == 24);
  s.bind_to(counted(4, 5), counted(1, 5));
  CHECK(error_of([&] { return s.run(counted(4, 5), counted(1, 4), matrix(4, 5)); }) ==
        "input 'b': range has the wrong shape, expected [1, 5], found [1, 4]");
}

TEST_CASE("tensors") {
  sized_session s;
  Eigen::Tensor<float, 3, Eigen::RowMajor> x(2, 3, 5), y(2, 3, 5), turned(3, 2, 5);
  x.setConstant(2);
  Eigen::Tensor<float, 1> b(5);
  b.setConstant(0.5f);
  s.bind_to(x, b);
  s.run(x, std::as_const(b), y);
  CHECK(y(1, 2, 4) == 2.5f);
  CHECK(error_of([&] { return s.run(turned, b, y); }) ==
        "input 'x': range has the wrong shape, expected [2, 3, 5], found [3, 2, 5]");
  Eigen::TensorMap<Eigen::Tensor<float, 3, Eigen::RowMajor>> map(y.data(), 2, 3, 5);
  s.run(x, b, map);
  Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3, 5>, Eigen::RowMajor> fixed_size;
  s.run(x, b, fixed_size);
  CHECK(fixed_size(1, 1, 1) == 2.5f);
}
