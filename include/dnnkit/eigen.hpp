// SPDX-License-Identifier: MIT
// Eigen's matrices, vectors, arrays and maps, and the tensors of its unsupported part, as inputs and outputs of run():
//
//   Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> x(length, 64), y(length, 8);
//   s.bind_to(x);      // symbols take their values from x.rows() and x.cols()
//   s.run(x, y);       // reads and writes them where they are
//
// Elements must lie in a row, row-major, as ONNX's tensors do: a column-major matrix, Eigen's default, is refused by
// the compiler, and so are expressions that are not in memory; a part of a larger matrix is refused at run time when
// there is something between its rows. A matrix fits a tensor whose last extent is cols(), and the product of the
// others rows(); a vector fits any tensor of its size; an Eigen::Tensor of rank n fits extent by extent.
#pragma once

#include <Eigen/Core>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

namespace detail {

// Never defined: which of each is called says what a type derives from.
template <class Derived> std::true_type is_matrix(const Eigen::DenseBase<Derived>*);
std::false_type is_matrix(const volatile void*);
template <class Derived> std::true_type is_plain_object(const Eigen::PlainObjectBase<Derived>*);
std::false_type is_plain_object(const volatile void*);

template <class T>
concept eigen_matrix = decltype(is_matrix(std::declval<const T*>()))::value;
template <class T>
concept eigen_plain_object = decltype(is_plain_object(std::declval<const T*>()))::value;

// Tensors are known by what they have, so that the unsupported part of Eigen is needed by those alone who use it.
template <class T>
concept eigen_tensor = requires(const std::remove_const_t<T>& x) {
  typename std::remove_const_t<T>::Scalar;
  { std::remove_const_t<T>::NumIndices } -> std::convertible_to<int>;
  { std::remove_const_t<T>::Layout } -> std::convertible_to<int>;
  x.data();
  x.dimensions();
};

// Maps, references and blocks are of elements that others own.
template <eigen_matrix T>
requires(!eigen_plain_object<T>) inline constexpr bool outlives_call<T> = true;

template <class Access, class Element> constexpr auto span_of_known_size(Element* data, std::int64_t size) {
  if constexpr (Access::size == std::dynamic_extent) return std::span<Element>(data, static_cast<std::size_t>(size));
  else return std::span<Element, Access::size>(data, Access::size);
}

}  // namespace detail

template <detail::eigen_matrix T> struct argument_access<T> {
  using matrix = std::remove_const_t<T>;
  static constexpr bool is_vector = matrix::IsVectorAtCompileTime != 0;
  static constexpr bool in_memory = (Eigen::internal::traits<matrix>::Flags & Eigen::DirectAccessBit) != 0;
  static_assert(in_memory, "dnnkit: this Eigen expression is not in memory; evaluate it first: x.eval()");
  static_assert(!in_memory || is_vector || matrix::IsRowMajor,
                "dnnkit: this Eigen matrix is column-major; declare it with Eigen::RowMajor, or copy an input with "
                "dk::row_major(x)");

  using element = std::remove_pointer_t<decltype(std::declval<T&>().data())>;

  // Nothing lies between the elements, whatever the strides are at run time.
  static constexpr bool is_dense =
      detail::eigen_plain_object<matrix> ||
      (matrix::InnerStrideAtCompileTime == 1 && (is_vector || (matrix::InnerSizeAtCompileTime != Eigen::Dynamic &&
                                                               static_cast<int>(matrix::OuterStrideAtCompileTime) ==
                                                                   static_cast<int>(matrix::InnerSizeAtCompileTime))));
  static constexpr std::size_t size = is_dense && matrix::SizeAtCompileTime != Eigen::Dynamic
                                          ? static_cast<std::size_t>(matrix::SizeAtCompileTime)
                                          : std::dynamic_extent;

  // Throws dnnkit::error when something lies between the elements.
  static auto elements(T& x) noexcept(is_dense) {
    if constexpr (!is_dense) {
      const bool rows_meet = is_vector || x.outerSize() <= 1 || x.outerStride() == x.innerSize();
      if (x.size() != 0 && (!rows_meet || (x.innerStride() != 1 && x.innerSize() > 1)))
        throw error("its elements do not lie in a row; copy it first", "Eigen matrix");
    }
    return detail::span_of_known_size<argument_access, element>(x.data(), x.size());
  }
  static std::array<std::int64_t, is_vector ? 1 : 2> extents(T& x) noexcept {
    if constexpr (is_vector) return {x.size()};
    else return {x.rows(), x.cols()};
  }
  static constexpr std::array<std::int64_t, is_vector ? 1 : 2> known_extents = [] {
    if constexpr (is_vector) return std::array<std::int64_t, 1>{matrix::SizeAtCompileTime};
    else return std::array<std::int64_t, 2>{matrix::RowsAtCompileTime, matrix::ColsAtCompileTime};
  }();
};

template <detail::eigen_tensor T> struct argument_access<T> {
  using tensor_type = std::remove_const_t<T>;
  static constexpr std::size_t rank = static_cast<std::size_t>(tensor_type::NumIndices);
  static_assert(static_cast<int>(tensor_type::Layout) == static_cast<int>(Eigen::RowMajor) || rank <= 1,
                "dnnkit: this Eigen tensor is column-major; declare it with Eigen::RowMajor, or use swap_layout()");

  using element = std::remove_pointer_t<decltype(std::declval<T&>().data())>;
  static constexpr std::size_t size = std::dynamic_extent;

  static auto elements(T& x) noexcept {
    return detail::span_of_known_size<argument_access, element>(x.data(), x.dimensions().TotalSize());
  }
  static std::array<std::int64_t, rank == 0 ? 1 : rank> extents(T& x) noexcept {
    std::array<std::int64_t, rank == 0 ? 1 : rank> list{1};
    for (std::size_t i = 0; i < rank; ++i) list[i] = x.dimensions()[i];
    return list;
  }
  static constexpr std::array<std::int64_t, rank == 0 ? 1 : rank> known_extents{};
};

// A copy of x, row-major, for an input. It is constant, so that nobody takes it for an output.
template <class Derived>
const Eigen::Matrix<typename Derived::Scalar, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime,
                    Derived::ColsAtCompileTime == 1 && Derived::RowsAtCompileTime != 1 ? Eigen::ColMajor
                                                                                       : Eigen::RowMajor>
row_major(const Eigen::DenseBase<Derived>& x) {
  return x.derived().matrix();
}

}  // namespace dnnkit
