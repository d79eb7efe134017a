// SPDX-License-Identifier: MIT
// Products summed over named axes: ONNX's Einsum, said in terms of Transpose, Reshape, MatMul and ReduceSum, two
// operands at a time from the left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/slice.hpp"

namespace dnnkit {

namespace detail {

// The axes of one operand by their letters; those of an ellipsis are -1 (the last one), -2, ...
using axis_names = static_vector<std::int32_t, max_rank>;

constexpr bool has(const axis_names& names, std::int32_t n) {
  for (std::int32_t m : names)
    if (m == n) return true;
  return false;
}

struct einsum_terms {
  vector<axis_names> inputs;
  axis_names output;
  std::string_view wrong;  // empty when the equation is right
};

// Reads "ij,jk->ik" for operands of these ranks; without "->" the output has, in order, the letters that occur once.
class einsum_parser {
 public:
  constexpr einsum_parser(std::string_view equation, const vector<std::size_t>& ranks) : ranks_(ranks) {
    for (char c : equation)
      if (c != ' ') rest_.push_back(c);
  }
  constexpr einsum_terms run() {
    einsum_terms t;
    for (std::size_t k = 0; k < ranks_.size() && t.wrong.empty(); ++k) {
      if (k > 0 && !take(',')) t.wrong = "the equation has fewer terms than there are inputs";
      axis_names names;
      if (t.wrong.empty()) t.wrong = term(names, ranks_[k]);
      t.inputs.push_back(names);
    }
    if (!t.wrong.empty()) return t;
    if (take('-')) {
      if (!take('>')) t.wrong = "the equation has a '-' without '>'";
      else t.wrong = term(t.output, most_unnamed_, true);
    } else {
      for (std::int32_t n = -static_cast<std::int32_t>(most_unnamed_); n < 0; ++n) t.output.push_back(n);
      for (std::int32_t n = 1; n < 128; ++n)
        if (times(t, n) == 1 && t.output.size() < max_rank) t.output.push_back(n);
    }
    if (t.wrong.empty() && at_ != rest_.size()) t.wrong = "the equation has more terms than there are inputs";
    for (std::size_t i = 0; i < t.output.size() && t.wrong.empty(); ++i) {
      if (times(t, t.output[i]) == 0) t.wrong = "the output names an axis that no input has";
      for (std::size_t j = 0; j < i; ++j)
        if (t.output[j] == t.output[i]) t.wrong = "the output names an axis twice";
    }
    return t;
  }

 private:
  constexpr bool take(char c) {
    if (at_ >= rest_.size() || rest_[at_] != c) return false;
    ++at_;
    return true;
  }
  static constexpr std::size_t times(const einsum_terms& t, std::int32_t n) {
    std::size_t count = 0;
    for (const axis_names& names : t.inputs)
      for (std::int32_t m : names) count += m == n;
    return count;
  }
  constexpr std::string_view term(axis_names& names, std::size_t rank, bool is_output = false) {
    std::size_t named = 0, end = at_;
    bool ellipsis = false;
    for (; end < rest_.size() && rest_[end] != ',' && rest_[end] != '-'; ++end)
      if (rest_[end] == '.') ellipsis = true;
      else ++named;
    if (is_output) rank = named + (ellipsis ? most_unnamed_ : 0);
    if (rank > max_rank || (ellipsis ? named > rank : named != rank))
      return "a term of the equation does not have as many axes as its tensor";
    const std::size_t unnamed = rank - named;
    if (unnamed > most_unnamed_) most_unnamed_ = unnamed;
    while (at_ < end) {
      const char c = rest_[at_];
      if (c == '.') {
        if (!take('.') || !take('.') || !take('.')) return "the equation has dots that are no ellipsis";
        for (std::size_t i = unnamed; i > 0; --i) names.push_back(-static_cast<std::int32_t>(i));
        continue;
      }
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return "the equation has a character that is no letter";
      names.push_back(c);
      ++at_;
    }
    return {};
  }

  const vector<std::size_t>& ranks_;
  vector<char> rest_;
  std::size_t at_ = 0, most_unnamed_ = 0;
};

// A tensor whose axes have names.
template <class T> struct named_tensor {
  T t;
  axis_names names;

  constexpr std::size_t position(std::int32_t n) const {
    std::size_t i = 0;
    while (i < names.size() && names[i] != n) ++i;
    return i;
  }
  constexpr void order(const axis_names& wanted) {
    if (wanted == names) return;
    int_list perm;
    for (std::int32_t n : wanted) perm.push_back(static_cast<std::int64_t>(position(n)));
    t = dnnkit::transpose(t, {.perm = perm});
    names = wanted;
  }
  constexpr void reshape(const shape& s) { t = t.owner().apply(op::reshape{s}, {t}); }

  // An axis named twice is read along its diagonal: the two, next to each other, as one of step n + 1.
  constexpr void take_diagonals() {
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = i + 1; j < names.size(); ++j) {
        if (names[i] != names[j]) continue;
        int_list perm;
        for (std::size_t k = 0; k < names.size(); ++k)
          if (k != i && k != j) perm.push_back(static_cast<std::int64_t>(k));
        perm.push_back(static_cast<std::int64_t>(i));
        perm.push_back(static_cast<std::int64_t>(j));
        const std::int64_t n = t.dims()[i].value();
        t = dnnkit::transpose(t, {.perm = perm});
        shape joined = t.dims();
        joined.resize(joined.size() - 2);
        joined.push_back(n * n);
        reshape(joined);
        const auto last = static_cast<std::int64_t>(joined.size()) - 1;
        t = dnnkit::slice(t, {.starts = {0}, .ends = {n * n}, .axes = {last}, .steps = {n + 1}});
        const std::int32_t twice = names[i];
        names.erase(j);
        names.erase(i);
        names.push_back(twice);
        return take_diagonals();
      }
  }
  template <class Keep> constexpr void sum_all_but(Keep keep) {
    row_axes over;
    axis_names left;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (keep(names[i])) left.push_back(names[i]);
      else over.list.push_back(static_cast<std::int64_t>(i));
    if (over.list.empty()) return;
    t = dnnkit::reduce_sum(t, {.axes = over, .keepdims = false});
    names = left;
  }
};

template <class T> constexpr dim elements_of_axes(const named_tensor<T>& x, const axis_names& names) {
  dim n = 1;
  for (std::int32_t name : names) n = x.t.owner().value().symbols.mul(n, x.t.dims()[x.position(name)]);
  return n;
}

// The product of a and b, summed over the common axes that `keep` does not hold: a batched product of matrices.
template <class T, class Keep> constexpr named_tensor<T> contract(named_tensor<T> a, named_tensor<T> b, Keep keep) {
  a.sum_all_but([&](std::int32_t n) { return has(b.names, n) || keep(n); });
  b.sum_all_but([&](std::int32_t n) { return has(a.names, n) || keep(n); });
  const auto extent_in = [](const named_tensor<T>& x, std::int32_t n) { return x.t.dims()[x.position(n)]; };
  axis_names repeated;  // to be summed, and of extent 1 in one of them alone: a common factor of what the other sums
  for (std::int32_t n : a.names)
    if (has(b.names, n) && !keep(n) && (extent_in(a, n) == dim(1)) != (extent_in(b, n) == dim(1)))
      repeated.push_back(n);
  a.sum_all_but([&](std::int32_t n) { return !has(repeated, n); });
  b.sum_all_but([&](std::int32_t n) { return !has(repeated, n); });
  axis_names batch, inner, rows, columns, sorted;
  for (std::int32_t n : a.names)
    if (!has(b.names, n)) rows.push_back(n);
    else if (keep(n)) batch.push_back(n);
    else inner.push_back(n);
  for (std::int32_t n : b.names)
    if (!has(a.names, n)) columns.push_back(n);
  const auto joined = [](const axis_names& x, const axis_names& y, const axis_names& z) {
    axis_names all = x;
    for (std::int32_t n : y) all.push_back(n);
    for (std::int32_t n : z) all.push_back(n);
    return all;
  };
  // Axes of an ellipsis come first and in order.
  for (std::int32_t n = -static_cast<std::int32_t>(max_rank); n < 0; ++n)
    if (has(batch, n)) sorted.push_back(n);
  for (std::int32_t n : batch)
    if (n > 0) sorted.push_back(n);
  const dim m = elements_of_axes(a, rows), k = elements_of_axes(a, inner), n = elements_of_axes(b, columns);
  a.order(joined(sorted, rows, inner));
  b.order(joined(sorted, inner, columns));
  named_tensor<T> y{a.t, joined(sorted, rows, columns)};
  shape left = a.t.dims(), right = b.t.dims(), whole;
  left.resize(sorted.size());
  right.resize(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) whole.push_back(left[i] == dim(1) ? right[i] : left[i]);
  for (std::size_t i = 0; i < rows.size(); ++i) whole.push_back(a.t.dims()[sorted.size() + i]);
  for (std::size_t i = 0; i < columns.size(); ++i) whole.push_back(b.t.dims()[sorted.size() + inner.size() + i]);
  if (inner.empty()) {  // nothing is summed: the elements are multiplied, broadcast
    for (std::size_t i = 0; i < rows.size(); ++i) left.push_back(a.t.dims()[sorted.size() + i]);
    for (std::size_t i = 0; i < columns.size(); ++i) left.push_back(1);
    for (std::size_t i = 0; i < rows.size(); ++i) right.push_back(1);
    for (std::size_t i = 0; i < columns.size(); ++i) right.push_back(b.t.dims()[sorted.size() + i]);
    a.reshape(left);
    b.reshape(right);
    y.t = dnnkit::mul(a.t, b.t);
    return y;
  }
  left.push_back(m), left.push_back(k);
  right.push_back(k), right.push_back(n);
  a.reshape(left);
  b.reshape(right);
  y.t = dnnkit::matmul(a.t, b.t);
  y.reshape(whole);
  return y;
}

}  // namespace detail

namespace op {

struct einsum {
  attribute_text equation = {};

  static constexpr std::string_view name = "Einsum";
  static constexpr form kind = form::composite;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::product;
  static constexpr void attributes(auto& self, auto&& visit) { visit("equation", self.equation); }

  constexpr void infer(inference& c) const {
    vector<std::size_t> ranks;
    for (std::size_t i = 0; i < c.inputs(); ++i) ranks.push_back(c.rank(i));
    const detail::einsum_terms terms =
        detail::einsum_parser(std::string_view(equation.begin(), equation.size()), ranks).run();
    if (!c.require(terms.wrong.empty(), terms.wrong)) return;
    shape extents(terms.output.size() == 0 ? shape{} : shape::filled(terms.output.size(), 1));
    for (std::size_t i = 0; i < c.inputs(); ++i)
      for (std::size_t d = 0; d < c.rank(i); ++d) {
        const std::int32_t axis = terms.inputs[i][d];
        if (!require_same(c, terms, i, d, axis)) return;
        for (std::size_t o = 0; o < extents.size(); ++o)
          if (terms.output[o] == axis && extents[o] == dim(1)) extents[o] = c.in(i)[d];
      }
    c.out(c.type(0), extents);
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    vector<std::size_t> ranks;
    for (const T& t : in) ranks.push_back(t.dims().size());
    const detail::einsum_terms terms =
        detail::einsum_parser(std::string_view(equation.begin(), equation.size()), ranks).run();
    detail::named_tensor<T> y{in[0], terms.inputs[0]};
    y.take_diagonals();
    for (std::size_t i = 1; i < in.size(); ++i) {
      detail::named_tensor<T> next{in[i], terms.inputs[i]};
      next.take_diagonals();
      y = detail::contract(y, next, [&](std::int32_t n) {
        bool needed = detail::has(terms.output, n);
        for (std::size_t k = i + 1; k < in.size(); ++k) needed = needed || detail::has(terms.inputs[k], n);
        return needed;
      });
    }
    y.sum_all_but([&](std::int32_t n) { return detail::has(terms.output, n); });
    y.order(terms.output);
    return y.t.id() == in[0].id() ? dnnkit::identity(y.t) : y.t;
  }

 private:
  // The extents of all axes of one name agree, or are 1 and broadcast; diagonals need known ones.
  static constexpr bool require_same(inference& c, const detail::einsum_terms& terms, std::size_t i, std::size_t d,
                                     std::int32_t axis) {
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t e = 0; e < (j == i ? d : c.rank(j)); ++e) {
        if (terms.inputs[j][e] != axis) continue;
        const dim a = c.in(i)[d], b = c.in(j)[e];
        if (j == i && !c.require(a.is_known(), "an axis named twice in one term needs a known extent")) return false;
        if (j != i && (a == dim(1) || b == dim(1))) continue;
        if (!c.require_equal(a, "an axis of one name", b, "another of that name")) return false;
      }
    return true;
  }
};

}  // namespace op

template <graph_tensor T = tensor>
constexpr T einsum(std::string_view equation, detail::tensor_list<T> inputs,
                   std::source_location caller = std::source_location::current()) {
  return detail::apply_to_list<T>(op::einsum{attribute_text(equation.begin(), equation.end())}, inputs, caller);
}

}  // namespace dnnkit
