// SPDX-License-Identifier: MIT
// Pass: scales and shifts by numbers known before the run move into the weights of the product beside them, or, where
// there are no weights, behind it (DNNFusion, section 3.4.2, rewriting by mathematical properties):
//   (x W) s = x (W s)      (x W + b) s = x (W s) + b s      (x W + b) + t = x W + (b + t)      s, t: a number a column
//   (x s) W = x (s W)      (x + t) W = x W + t W                                              s, t: a number a row of W
//   (a s) (b t) = (a b) (s t)                                                                  s, t: one number
// and the same of convolutions, columns and rows being channels (BatchNormalization folded into Conv), of quotients
// and differences, and where movement operators lie between: PyTorch scales queries behind a Transpose. Shifts in
// front of a convolution that pads stay, since what it pads with would have to be shifted, too.
// A scale in front of a product that the kernel of its operand applies as it stores this stays there. Nothing moves
// past a value that others read.
// Takes a graph without composites; guarantees the same function where all numbers are finite, up to rounding: products
// and sums are reassociated.
#pragma once

#include <bit>
#include <cstddef>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/operand_along.hpp"
#include "dnnkit/pass/rebuilt_facts.hpp"
#include "dnnkit/pass/weighted_product.hpp"

namespace dnnkit {

namespace detail {

class scale_folding {
 public:
  static constexpr std::string_view name = "fold scales into products";

  constexpr scale_folding(const graph& g, decision_notes notes) : g_(g), notes_(notes), facts_(g) {}

  // Does the graph do anything with numbers known before the run to a value that is not? Convolutional networks whose
  // normalisations are gone (pass/fold_normalizations.hpp) often do not, and need not be built anew.
  static constexpr bool may_fold(const graph& g) {
    const vector<std::uint8_t> setup = setup_values(g);
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (n.inputs.count != 2 || setup.items[n.output] != 0 || kind_of(n) == adjustment::none) continue;
      if (setup.items[g.input_of(n, 0)] != 0 || setup.items[g.input_of(n, 1)] != 0) return true;
    }
    return false;
  }

  // The rule for rebuild().
  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) {
    facts_.note_readers(n, inputs);
    if (g_.is<op::conv>(n) || g_.is<op::matmul>(n)) {
      if (!is_real(g_.at(n.output).type.type)) return {};
      if (may_have_weight(b.value(), inputs)) return with_scaled_input(b, n, inputs);
      return g_.is<op::matmul>(n) ? with_scaled_factors(b, n, inputs) : tensor{};
    }
    if (inputs.size() != 2) return {};
    const found f = adjustment_in(b.value(), n, inputs.id(0), inputs.id(1));
    if (f.how == adjustment::none || !is_floating(g_.at(n.output).type.type)) return {};
    const place y{f.x, extents_in(b.value(), f.t, f.x), is_one_number(b.value(), f.t)};
    const node_id into = product_before(b.value(), f.how, y);
    if (into == none) return {};
    notes_.add(
        {name, "folded",
         is_scale(f.how) ? "it multiplies each column by a number known before the run, which goes into the weights"
                         : "it adds a number known before the run to each column, which goes into the bias"},
        g_, n, b.value(), b.value().node_at(into));
    return moved(b, f.how, f.x, in_full_rank(b, f.t, y));
  }

 private:
  struct found {
    adjustment how = adjustment::none;
    value_id x = none, t = none;
  };
  // A value, and the extents of a factor along its axes.
  struct place {
    value_id v = none;
    shape extents;
    bool is_one_number = false;
  };

  // Types that a product's sums are rounded to no further than its operands.
  static constexpr bool is_real(dtype type) { return type == f32 || type == f64; }

  // --- what operators of the new graph are
  static constexpr adjustment kind_of(const node& n) {
    if (n.op->id == id_of<op::mul>) return adjustment::times;
    if (n.op->id == id_of<op::div>) return adjustment::over;
    if (n.op->id == id_of<op::add>) return adjustment::plus;
    return n.op->id == id_of<op::sub> ? adjustment::minus : adjustment::none;
  }
  constexpr found adjustment_in(const graph& now, const node& n, value_id first, value_id second) {
    const adjustment how = kind_of(n);
    if (how == adjustment::none) return {};
    const bool commutes = how == adjustment::times || how == adjustment::plus;
    for (std::size_t side = 0; side < (commutes ? 2u : 1u); ++side) {
      const value_id x = side == 0 ? first : second, t = side == 0 ? second : first;
      if (facts_.is_setup(now, x) || !facts_.is_setup(now, t)) continue;
      const shape& s = now.at(x).type.dims;
      const shape& of_t = now.at(t).type.dims;
      bool grows = of_t.size() > s.size();
      for (std::size_t d = 0; d < of_t.size() && !grows; ++d)
        grows = !(of_t[d] == dim(1)) && !(of_t[d] == s[d + s.size() - of_t.size()]);
      if (!grows) return {how, x, t};
    }
    return {};
  }
  constexpr found adjustment_of(const graph& now, value_id v) {
    const node* const n = producer_of(now, v);
    if (n == nullptr || n->inputs.count != 2) return {};
    return adjustment_in(now, *n, now.input_of(*n, 0), now.input_of(*n, 1));
  }
  static constexpr const node* producer_of(const graph& now, value_id v) {
    const node_id p = now.at(v).producer;
    return p == none ? nullptr : &now.node_at(p);
  }
  static constexpr bool is_one_number(const graph& now, value_id t) {
    if (now.at(t).from == origin::constant && now.at(t).data.count == 1) return true;
    for (dim d : now.at(t).type.dims)
      if (!(d == dim(1))) return false;
    return true;
  }
  // The extents of t along the axes of v, to which it broadcasts.
  static constexpr shape extents_in(const graph& now, value_id t, value_id v) {
    const shape& own = now.at(t).type.dims;
    const std::size_t missing = now.at(v).type.dims.size() - own.size();
    shape s = shape::filled(missing, 1);
    for (dim d : own) s.push_back(d);
    return s;
  }
  static constexpr bool varies_along_one(const shape& extents, std::size_t axis) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (d != axis && !(extents[d] == dim(1))) return false;
    return true;
  }
  // Makes the extents of a factor along one side of movement operator n those along the other; false when it is moved
  // in a way that the factor cannot follow. `back`: from n's output to its input.
  static constexpr bool follow(graph& now, const node& n, shape& extents, bool back) {
    const value_id side[] = {now.input_of(n, 0), n.output};
    if (now.is<op::transpose>(n)) {
      extents = permuted(extents, now.as<op::transpose>(n).order(extents.size()), back);
      return true;
    }
    const shape from = now.at(side[back]).type.dims, to = now.at(side[!back]).type.dims;
    const atoms parts = keeps_order(now, n) ? atoms_of(now.symbols, from, to) : atoms{};
    if (parts.sizes.empty()) return false;
    extents = shape_along(parts, extents, from, to);
    return true;
  }
  // The factor itself, which has a number for each element of n's value on that side.
  static constexpr tensor followed(builder& b, const node& n, tensor t, bool back) {
    if (t.rank() == 0) return t;
    const graph& now = b.value();
    const value_id side[] = {now.input_of(n, 0), n.output};
    if (now.is<op::transpose>(n)) {
      const int_list order = now.as<op::transpose>(n).order(static_cast<std::size_t>(t.rank()));
      return b.apply(op::transpose{back ? inverse_of(order) : order}, {t});
    }
    const shape from = now.at(side[back]).type.dims, to = now.at(side[!back]).type.dims;
    return operand_along(b, t, from, to);
  }
  static constexpr shape permuted(const shape& s, const int_list& order, bool back) {
    shape result = s;
    for (std::size_t d = 0; d < s.size(); ++d) {
      const auto from = static_cast<std::size_t>(order[d]);
      result[back ? from : d] = s[back ? d : from];
    }
    return result;
  }
  static constexpr bool keeps_order(const graph& now, const node& n) {
    return now.is<op::reshape>(n) || now.is<op::flatten>(n) || now.is<op::squeeze>(n) || now.is<op::unsqueeze>(n) ||
           now.is<op::identity>(n);
  }
  constexpr bool has_weight(const graph& now, const node& n) {
    if (!now.is<op::matmul>(n) && !now.is<op::conv>(n)) return false;
    const value_id w = now.input_of(n, 1);
    if (!facts_.is_setup(now, w) || facts_.is_setup(now, now.input_of(n, 0))) return false;
    if (now.is<op::matmul>(n)) return now.at(w).type.dims.size() == 2 && is_real(now.at(n.output).type.type);
    const value_id bias = now.input_of(n, 2);
    return bias == none || facts_.is_setup(now, bias);
  }
  constexpr bool may_have_weight(const graph& now, const rebuilt_inputs& inputs) {
    const value_id x = inputs.id(0), w = inputs.id(1);
    const bool has_bias = inputs.size() > 2 && inputs.id(2) != none;
    return !facts_.is_setup(now, x) && facts_.is_setup(now, w) && (!has_bias || facts_.is_setup(now, inputs.id(2)));
  }
  static constexpr std::size_t column_axis(const graph& now, const node& n) {
    return now.is<op::conv>(n) ? 1 : now.at(n.output).type.dims.size() - 1;
  }

  // --- behind a product
  // The product that has a place for what is done to a value behind it; none where there is no such product.
  constexpr node_id product_before(graph& now, adjustment how, place p) {
    bool is_first = true, takes = is_scale(how);
    while (facts_.has_one_reader(p.v)) {
      const node_id k = now.at(p.v).producer;
      if (k == none) return none;
      const node& n = now.node_at(k);
      if (has_weight(now, n)) {
        takes = takes || (is_first && now.is<op::conv>(n));
        return takes && (p.is_one_number || varies_along_one(p.extents, column_axis(now, n))) ? k : none;
      }
      if (n.op->kind == form::movement) {
        if (!p.is_one_number && !follow(now, n, p.extents, true)) return none;
        p.v = now.input_of(now.node_at(k), 0);
        continue;
      }
      const found f = adjustment_of(now, p.v);
      if (f.how != adjustment::plus && f.how != adjustment::minus) return none;
      takes = takes || (is_first && is_no_larger(p, extents_in(now, f.t, f.x)));
      is_first = false;
      p.v = f.x;
    }
    return none;
  }
  // Is the sum of a bias and what is added to it as large as the bias?
  static constexpr bool is_no_larger(const place& p, const shape& of_bias) {
    for (std::size_t d = 0; d < p.extents.size() && !p.is_one_number; ++d)
      if (!(p.extents[d] == dim(1)) && of_bias[d] == dim(1)) return false;
    return true;
  }

  // t, which broadcasts to the place's value, as a tensor of its rank; of rank 0 when it is one number.
  static constexpr tensor in_full_rank(builder& b, value_id t, const place& p) {
    const value& v = b.value().at(t);
    if (!p.is_one_number) return same_shape(v.type.dims, p.extents) ? tensor{&b, t} : reshaped({&b, t}, p.extents);
    if (v.from == origin::constant)
      return b.constant_from_codes({b.value().constants[v.data.first]}, shape{}, v.type.type);
    return reshaped({&b, t}, {});
  }
  // t with no more axes than `rank`, but for those that it needs.
  static constexpr tensor without_leading_ones(tensor t, std::int64_t rank) {
    shape dims = t.dims();
    while (static_cast<std::int64_t>(dims.size()) > rank && dims[0] == dim(1)) dims.erase(0);
    return static_cast<std::int64_t>(dims.size()) == t.rank() ? t : reshaped(t, dims);
  }

  // v, which product_before() has said yes to, with t taken into the product.
  constexpr tensor moved(builder& b, adjustment how, value_id v, tensor t) {
    graph& now = b.value();
    const node n = now.node_at(now.at(v).producer);
    const builder::name_scope scope(b, n.name);
    if (has_weight(now, n)) {
      weighted_product whole(b, now, n, [&](std::size_t i) { return tensor{&b, now.input_of(n, i)}; });
      whole.adjust_columns(how, in_one_axis(b, t));
      return whole.result();
    }
    if (n.op->kind == form::movement) {
      const value_id in = now.input_of(n, 0);
      return copied(b, n, moved(b, how, in, followed(b, n, t, true)));
    }
    const found f = adjustment_of(now, v);
    const tensor x{&b, f.x}, bias{&b, f.t}, same = without_leading_ones(t, bias.rank());
    if (is_scale(how)) return adjusted(f.how, moved(b, how, f.x, t), adjusted(how, bias, same));
    if (f.how == adjustment::plus) return adjusted(f.how, x, adjusted(how, bias, same));
    return adjusted(f.how, x, adjusted(how == adjustment::plus ? adjustment::minus : adjustment::plus, bias, same));
  }
  // Movement operator n, reading x instead.
  static constexpr tensor copied(builder& b, node n, tensor x) {
    graph& now = b.value();
    const tensor_type type = now.at(n.output).type;
    n.inputs = graph::end_of(now.operands, 1);
    now.operands.push_back(x.id());
    return {&b, now.add_node(n, type)};
  }
  static constexpr tensor in_one_axis(builder& b, tensor t) {
    return t.rank() < 2 ? t : reshaped(t, {element_count(b.value().symbols, t.dims())});
  }

  // --- in front of a product
  // What is done to operand v of a product, perhaps behind movement operators: the innermost of these, and what is
  // done.
  struct operand_scale {
    found f;
    vector<node_id> chain;  // the movement operators behind it, the last first
  };
  constexpr operand_scale scale_of(const graph& now, value_id v) {
    operand_scale s;
    for (; facts_.has_one_reader(v); v = now.input_of(now.node_at(s.chain.back()), 0)) {
      const node* const n = producer_of(now, v);
      if (n == nullptr) return s;
      if (n->op->kind != form::movement) {
        s.f = adjustment_of(now, v);
        return s;
      }
      s.chain.push_back(now.at(v).producer);
    }
    return s;
  }
  // Is x computed by an operator for this scale alone, whose kernel may then do both? `but_adjusted`: by another than
  // one that may itself go into the weights.
  constexpr bool is_stored_scaled(const graph& now, value_id x, bool but_adjusted) {
    while (facts_.has_one_reader(x)) {
      const node* const n = producer_of(now, x);
      if (n == nullptr) return false;
      if (n->op->kind == form::movement) x = now.input_of(*n, 0);
      else if (const found f = adjustment_of(now, x); but_adjusted && f.how != adjustment::none) x = f.x;
      else return true;
    }
    return false;
  }
  // The operand without the scale.
  constexpr tensor unscaled(builder& b, const operand_scale& s) {
    tensor x{&b, s.f.x};
    for (std::size_t i = s.chain.count; i-- > 0;) {
      const node n = b.value().node_at(s.chain.items[i]);
      const builder::name_scope scope(b, n.name);
      x = copied(b, n, x);
    }
    return x;
  }

  constexpr tensor with_scaled_input(builder& b, const node& n, const rebuilt_inputs& inputs) {
    if (scale_of(b.value(), inputs.id(0)).f.how == adjustment::none) return {};
    weighted_product whole(b, g_, n, [&](std::size_t i) { return inputs[i]; });
    if (!whole.convolves && whole.weight.rank() != 2) return {};
    bool any = false;
    while (true) {
      const operand_scale s = scale_of(b.value(), whole.x.id());
      if (s.f.how == adjustment::none || is_stored_scaled(b.value(), s.f.x, true)) break;
      if (!is_scale(s.f.how) && !whole.reads_x_alone()) break;
      const tensor t = along_rows(b, s, whole.x, whole.row_axis());
      if (!t.present()) break;
      whole.x = unscaled(b, s);
      whole.adjust_rows(s.f.how, t);
      any = true;
    }
    if (!any) return {};
    const tensor y = whole.result();
    notes_.add({name, "folded", "its operand was scaled by numbers known before the run, which go into the weights"},
               g_, n, b.value(), b.value().node_at(b.value().at(y.id()).producer));
    return y;
  }
  // What operand x of a product is scaled by, as a tensor of rank 0 or, when it varies along `axis` of x alone, of rank
  // 1; tensor{} when it varies otherwise.
  static constexpr tensor along_rows(builder& b, const operand_scale& s, tensor x, std::size_t axis) {
    const bool is_number = is_one_number(b.value(), s.f.t);
    const place p{s.f.x, extents_in(b.value(), s.f.t, s.f.x), is_number};
    if (is_number) return in_full_rank(b, s.f.t, p);
    shape extents = p.extents;
    for (std::size_t i = s.chain.count; i-- > 0;)
      if (!follow(b.value(), b.value().node_at(s.chain.items[i]), extents, false)) return {};
    if (extents.size() != static_cast<std::size_t>(x.rank()) || !varies_along_one(extents, axis)) return {};
    tensor t = in_full_rank(b, s.f.t, p);
    for (std::size_t i = s.chain.count; i-- > 0;) t = followed(b, b.value().node_at(s.chain.items[i]), t, false);
    return in_one_axis(b, t);
  }

  // --- beside a product of two activations
  constexpr tensor with_scaled_factors(builder& b, const node& n, const rebuilt_inputs& inputs) {
    if (facts_.is_setup(b.value(), inputs.id(0)) || facts_.is_setup(b.value(), inputs.id(1))) return {};
    const auto number_of = [&](tensor x) {
      operand_scale s = scale_of(b.value(), x.id());
      if (s.f.how == adjustment::none || !is_scale(s.f.how) || !is_one_number(b.value(), s.f.t)) s.f = {};
      return s;
    };
    const auto is_free = [&](const operand_scale& s) { return is_stored_scaled(b.value(), s.f.x, false); };
    const operand_scale left = number_of(inputs[0]), right = number_of(inputs[1]);
    const bool of_left = left.f.how != adjustment::none, of_right = right.f.how != adjustment::none;
    const bool both = of_left && of_right;
    if (!both && !(of_left && !is_free(left)) && !(of_right && !is_free(right))) return {};
    const tensor y = matmul(of_left ? unscaled(b, left) : inputs[0], of_right ? unscaled(b, right) : inputs[1]);
    const std::string_view verdict = both      ? "moved the scales of both operands behind"
                                     : of_left ? "moved the scale of the first operand behind"
                                               : "moved the scale of the second operand behind";
    notes_.add({name, verdict, "one scale of the product stands for those of its factors"}, g_, n);
    const operand_scale& first = of_left ? left : right;
    const tensor t = number(b, first);
    if (!both) return adjusted(first.f.how, y, t);
    const bool alike = left.f.how == right.f.how;
    return adjusted(left.f.how, y, product_of_numbers(b, t, number(b, right), alike));
  }
  static constexpr tensor number(builder& b, const operand_scale& s) {
    return in_full_rank(b, s.f.t, {s.f.x, {}, true});
  }
  // s t, or s / t, computed now where both are constants.
  static constexpr tensor product_of_numbers(builder& b, tensor s, tensor t, bool times) {
    const graph& now = b.value();
    const value &x = now.at(s.id()), &y = now.at(t.id());
    if (x.from != origin::constant || y.from != origin::constant) return times ? s * t : s / t;
    const double p = std::bit_cast<double>(now.constants[x.data.first]),
                 q = std::bit_cast<double>(now.constants[y.data.first]);
    return b.scalar(times ? p * q : p / q, s.type());
  }

  const graph& g_;
  decision_notes notes_;
  rebuilt_facts facts_;
};

}  // namespace detail

namespace passes {

struct fold_scales {
  static constexpr std::string_view name = detail::scale_folding::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::conv>(g) && !has_operator<op::matmul>(g)) return g;
    if (!detail::scale_folding::may_fold(g)) return g;
    detail::scale_folding folding(g, notes);
    return rebuild(
        g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return folding.replaced(b, n, inputs); });
  }
};

}  // namespace passes

}  // namespace dnnkit
