// SPDX-License-Identifier: MIT
// Evaluates a recipe's tree of loads and element-wise operators, an element or a vector of elements at a time
// (DNNFusion, section 3.4.4: intermediates live in registers, common subtrees are computed once).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/lanes.hpp"
#include "dnnkit/cpu/micro/small_float.hpp"
#include "dnnkit/cpu/micro/trigonometry.hpp"
#include "dnnkit/cpu/recipe_access.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/attributes.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The operator type behind an op_info.
template <class Net, operator_id Id> struct find_operator {
  using set = typename dnnkit::detail::set_of_model<typename Net::model>::type;
  static constexpr std::size_t position = set::find(Id);
  static_assert(set::distinct,
                "dnnkit: an op_set lists an operator twice, or two operators of the same qualified name");
  static_assert(position < set::size,
                "dnnkit: the model uses an operator that is in no op_set; give the model a member "
                "`static constexpr auto ops = dnnkit::builtin_ops + dnnkit::op_set<...>{}`");
  using type = typename set::template at<position>;
};

template <class Net, std::size_t R> struct tree {
  using access = recipe_access<Net, R>;
  static constexpr recipe self = access::self;
  static constexpr kernel_spec spec = access::spec;

  // --- which nodes a value needs
  static constexpr std::size_t node_count = self.nodes.count;
  using node_set = std::array<bool, (node_count == 0 ? 1 : node_count)>;

  static constexpr void need(operand_ref r, node_set& set) {
    if (r.from != source::node || set[r.index]) return;
    set[r.index] = true;
    for (operand_ref in : Net::plan.refs_of(Net::plan.nodes[self.nodes.first + r.index].inputs)) need(in, set);
  }
  // Types that name a set: GCC 12 gives arrays that differ in leading zeros the same name as template arguments.
  template <operand_ref Root> struct nodes_of {
    static constexpr node_set needed = [] {
      node_set set{};
      need(Root, set);
      return set;
    }();
  };
  struct nodes_of_outputs {
    static constexpr node_set needed = [] {
      node_set set{};
      for (std::size_t i = 0; i < self.outputs.count; ++i) need(Net::plan.outputs[self.outputs.first + i].value, set);
      return set;
    }();
  };

  // --- loads
  template <std::size_t L> [[gnu::always_inline]] static auto pointer(const kernel_call& call) {
    constexpr recipe_load l = access::template load<L>;
    return reinterpret_cast<const element<l.type>*>(call.operands[l.operand]);
  }
  // The place of the element that load L reads at coordinates c, counted from its operand's first.
  template <std::size_t L, std::size_t Step = 0>
  [[gnu::always_inline]] static index_t element_place(const kernel_call& call, const coordinates& c) {
    constexpr recipe_load l = access::template load<L>;
    if constexpr (Step == l.movement.count) {
      return view_address<Net, l.axes, l.offset>(call, c);
    } else {
      constexpr movement_step m = Net::plan.movement[l.movement.first + Step];
      const movement_context<m.in_shape, m.out_shape> context{call};
      if constexpr (m.op.id == operator_id::none) {
        return element_place<L, Step + 1>(call, broadcast_coordinates(context, 0, c));
      } else {
        using Op = typename find_operator<Net, m.op.id>::type;
        constexpr Op op = decode<Op>(Net::plan.attributes.data() + m.attributes.first);
        return op.at(context, c, [&](const coordinates& in) { return element_place<L, Step + 1>(call, in); });
      }
    }
  }
  template <std::size_t L>
  [[gnu::always_inline]] static computed<access::template load<L>.type> load_element(const kernel_call& call,
                                                                                     const coordinates& c) {
    return pointer<L>(call)[element_place<L>(call, c)];
  }
  // The same, where steps along axis Along are steps in memory: what movement operators make of the other coordinates
  // is worked out for the first element along it, which compilers see to be the same for all vectors of a row.
  template <std::size_t L, std::size_t Along>
  [[gnu::always_inline]] static index_t place_along(const kernel_call& call, const coordinates& c) {
    constexpr recipe_load l = access::template load<L>;
    if constexpr (l.movement.count == 0) {
      return element_place<L>(call, c);
    } else {
      coordinates first = c;
      first[Along] = 0;
      return element_place<L>(call, first) + c[Along] * extent_value<stride_along(Net::plan, l, Along).stride>(call);
    }
  }
  // Elements that lie next to each other, of which the first n are there; the others are zero.
  template <class Vector, class T> [[gnu::always_inline]] static Vector load_next(const T* p, auto n) {
    constexpr bool all = is_constant<decltype(n)>;
    if constexpr (std::is_same_v<T, bool>)
      return load_next<Vector>(reinterpret_cast<const std::uint8_t*>(p), n) != Vector(0);
    else if constexpr (std::is_same_v<T, typename Vector::value_type> && all) return Vector::load(p);
    else if constexpr (std::is_same_v<T, typename Vector::value_type>) return Vector::load(p, n);
    else if constexpr (all) return load_as<Vector>(p);
    else return load_as<Vector>(p, n);
  }
  template <class T> [[gnu::always_inline]] static void store_next(auto x, T* p, auto n) {
    constexpr bool all = is_constant<decltype(n)>;
    if constexpr (std::is_same_v<T, bool>) store_next(x & decltype(x)(1), reinterpret_cast<std::uint8_t*>(p), n);
    else if constexpr (std::is_same_v<T, typename decltype(x)::value_type> && all) x.store(p);
    else if constexpr (std::is_same_v<T, typename decltype(x)::value_type>) x.store(p, n);
    else if constexpr (all) store_as(x, p);
    else store_as(x, p, n);
  }
  // Lanes elements from coordinates c on along axis Along, of which the first n are there; the others are zero.
  template <std::size_t L, int Lanes, std::size_t Along>
  [[gnu::always_inline]] static auto load_lanes(const kernel_call& call, const coordinates& c, auto n) {
    constexpr recipe_load l = access::template load<L>;
    if constexpr (Lanes == 1) {
      return load_element<L>(call, c);
    } else {
      using vector = lanes<l.type, Lanes>;
      constexpr lane_stride s = stride_along(Net::plan, l, Along);
      if constexpr (s.single && s.stride == 0) {
        const auto x = load_element<L>(call, c);
        if constexpr (l.type == dtype::boolean) return mask_of<vector>(x);
        else return vector(x);
      } else if constexpr (has_lanes(l.type) && s.single && s.stride == 1) {
        return load_next<vector>(pointer<L>(call) + place_along<L, Along>(call, c), n);
      } else if constexpr (l.type == dtype::f32 && s.single) {
        const float* p = pointer<L>(call) + place_along<L, Along>(call, c);
        return vector::gather(p, extent_value<s.stride>(call), n);
      } else if constexpr (s.single) {
        const auto* p = pointer<L>(call) + place_along<L, Along>(call, c);
        const index_t step = extent_value<s.stride>(call);
        if constexpr (is_computed_in_f32(l.type)) {
          element<l.type> all[Lanes]{};
          for (int i = 0; i < Lanes; ++i)
            if (i < n) all[i] = p[i * step];
          return load_next<vector>(all, constant<Lanes>{});
        }
        using number = computed<l.type>;
        return lanes_from<l.type, Lanes>([&](int i) { return i < n ? static_cast<number>(p[i * step]) : number(0); });
      } else {
        vector v(0);
        coordinates each = c;
        for (int i = 0; i < n; ++i, ++each[Along]) {
          const auto x = load_element<L>(call, each);
          if constexpr (l.type == dtype::boolean) v.set(i, mask_of<vector>(x)[0]);
          else v.set(i, x);
        }
        return v;
      }
    }
  }

  // Shapes of one movement operator, as operator/access.hpp's context.
  template <local_shape In, local_shape Out> struct movement_context {
    const kernel_call& call;
    using real = float;
    static constexpr std::size_t rank(std::size_t) { return In.count; }
    static constexpr std::size_t out_rank() { return Out.count; }
    constexpr index_t in(std::size_t, std::size_t d) const { return extent(In, d); }
    constexpr index_t out(std::size_t d) const { return extent(Out, d); }
    constexpr index_t value(dim attribute) const {
      return access::bound(local_extent::from_attribute(attribute), call);
    }

   private:
    constexpr index_t extent(local_shape s, std::size_t d) const {
      return access::bound(Net::plan.local_extents[s.first + d], call);
    }
  };

  // --- values
  template <operand_ref Ref, int Lanes> [[gnu::always_inline]] static constexpr auto literal() {
    constexpr recipe_constant c = access::template literal<Ref.index>;
    using number = computed<c.type>;
    constexpr number x = as_stored<c.type>(is_floating(c.type) ? static_cast<number>(std::bit_cast<double>(c.code))
                                                               : static_cast<number>(c.code));
    if constexpr (Lanes > 1 && c.type == dtype::boolean) return mask_of<lanes<c.type, Lanes>>(x);
    else return lanes<c.type, Lanes>(x);
  }

  // The operator of node K.
  template <std::size_t K> using operator_of_node = typename find_operator<Net, access::template node<K>.op.id>::type;
  template <std::size_t K>
  static constexpr auto operation = decode<operator_of_node<K>>(Net::plan.attributes.data() +
                                                                access::template node<K>.attributes.first);

  // Is node K computed in vectors? Asked once, not wherever a tree is evaluated: compilers answer slowly.
  template <std::size_t K> static constexpr bool in_vectors = computes_in_vectors(spec, operand_ref{source::node, K});

  // The nodes' values of one evaluation.
  template <int Lanes> static auto make_frame() {
    return []<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple<lanes<access::template node<K>.type, Lanes>...>{};
    }
    (std::make_index_sequence<node_count>{});
  }

  // Where a value is computed; loads and stores there.
  template <int Lanes, std::size_t Along> struct place {
    const kernel_call& call;
    const coordinates& c;

    template <std::size_t L> [[gnu::always_inline]] auto load(auto n) const {
      return load_lanes<L, Lanes, Along>(call, c, n);
    }
    template <std::size_t O> [[gnu::always_inline]] void store(auto n, auto x) const {
      tree::store<O, Lanes, Along>(call, c, n, x);
    }
  };

  template <int Lanes, class Place, class Anchor> struct evaluation {
    const Place& at;
    Anchor anchor;
    decltype(make_frame<Lanes>()) frame;

    template <operand_ref Ref> [[gnu::always_inline]] auto value(auto n) const {
      if constexpr (Ref.from == source::load) return at.template load<Ref.index>(n);
      else if constexpr (Ref.from == source::node) return std::get<Ref.index>(frame);
      else if constexpr (Ref.from == source::constant) return literal<Ref, Lanes>();
      else return as_anchor<self.anchor_type>(anchor);
    }
    template <std::size_t K, std::size_t... I> [[gnu::always_inline]] void by_lanes(const auto& operands) {
      static constexpr dtype type = access::template node<K>.type;
      static constexpr std::size_t first = access::template node<K>.inputs.first;
      std::get<K>(frame) = lanes_from<type, Lanes>([&](int i) {
        return as_stored<type>(converted<computed<type>>(
            operation<K>.apply(lane_of<spec.type_of(Net::plan.refs[first + I])>(std::get<I>(operands), i)...)));
      });
    }
    template <std::size_t K> [[gnu::always_inline]] void compute(auto n) {
      constexpr recipe_node x = access::template node<K>;
      [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        using result = std::remove_reference_t<decltype(std::get<K>(frame))>;
        constexpr operand_ref operand = Net::plan.refs[x.inputs.first];  // of a Cast
        if constexpr (Lanes > 1 && !in_vectors<K>)
          by_lanes<K, I...>(std::tuple(value<Net::plan.refs[x.inputs.first + I]>(n)...));
        else if constexpr (!std::is_arithmetic_v<result> && x.op.id == id_of<op::cast>)
          std::get<K>(frame) =
              as_stored<x.type>(converted_lanes<x.type, spec.type_of(operand), is_bounded(spec, operand)>(
                  operation<K>.apply(value<operand>(n))));
        else
          std::get<K>(frame) =
              as_stored<x.type>(converted<result>(operation<K>.apply(value<Net::plan.refs[x.inputs.first + I]>(n)...)));
      }
      (std::make_index_sequence<x.inputs.count>{});
    }
    // Inlined whole: called, it would leave every value of the frame in memory.
    template <class Nodes> [[gnu::always_inline]] void compute_all(auto n) {
      [&]<std::size_t... K>(std::index_sequence<K...>) __attribute__((always_inline)) {
        (
            [&]() __attribute__((always_inline)) {
              if constexpr (Nodes::needed[K]) compute<K>(n);
            }(),
            ...);
      }
      (std::make_index_sequence<node_count>{});
    }
  };

  // The value of Ref at coordinates c: Lanes elements along axis Along, the first n of them valid (n: constant<Lanes>
  // or a smaller index_t). `anchor` is the anchor's result there, anything where there is none.
  template <operand_ref Ref, int Lanes, std::size_t Along>
  [[gnu::always_inline]] static auto evaluate(const kernel_call& call, const coordinates& c, auto n, auto anchor) {
    return evaluate_at<Ref, Lanes>(place<Lanes, Along>{call, c}, n, anchor);
  }
  template <operand_ref Ref, int Lanes>
  [[gnu::always_inline]] static auto evaluate_at(const auto& at, auto n, auto anchor) {
    evaluation<Lanes, std::remove_cvref_t<decltype(at)>, decltype(anchor)> e{at, anchor, {}};
    e.template compute_all<nodes_of<Ref>>(n);
    return e.template value<Ref>(n);
  }

  // --- outputs
  template <std::size_t O, int Lanes, std::size_t Along>
  [[gnu::always_inline]] static void store(const kernel_call& call, const coordinates& c, auto n, auto x) {
    constexpr recipe_output o = access::template output<O>;
    auto* base = reinterpret_cast<element<o.type>*>(call.operands[o.operand]);
    if constexpr (Lanes == 1) {
      base[view_address<Net, o.axes, o.offset>(call, c)] = static_cast<element<o.type>>(x);
    } else {
      constexpr lane_stride s = stride_along(Net::plan, o.axes, Along);
      if constexpr (has_lanes(o.type) && s.single && s.stride == 1) {
        store_next(x, base + view_address<Net, o.axes, o.offset>(call, c), n);
      } else if constexpr (s.single) {
        auto* p = base + view_address<Net, o.axes, o.offset>(call, c);
        const index_t step = extent_value<s.stride>(call);
        const auto elements = as_elements<o.type>(x);
        for (int i = 0; i < n; ++i) p[i * step] = static_cast<element<o.type>>(elements[i]);
      } else {
        constexpr index_t run = has_lanes(o.type) ? plan::run_along(Net::plan, o.axes, Along) : 1;
        if constexpr (run >= Lanes)
          if (c[Along] % run + Lanes <= run)
            return store_next(x, base + view_address<Net, o.axes, o.offset>(call, c), n);
        coordinates each = c;
        const auto elements = as_elements<o.type>(x);
        for (int i = 0; i < n; ++i, ++each[Along])
          base[view_address<Net, o.axes, o.offset>(call, each)] = static_cast<element<o.type>>(elements[i]);
      }
    }
  }

  // Computes and stores all outputs at a place, given the anchor's result there.
  template <int Lanes> [[gnu::always_inline]] static void finish_at(const auto& at, auto n, auto anchor) {
    [&]<std::size_t... O>(std::index_sequence<O...>) __attribute__((always_inline)) {
      evaluation<Lanes, std::remove_cvref_t<decltype(at)>, decltype(anchor)> e{at, anchor, {}};
      e.template compute_all<nodes_of_outputs>(n);
      (at.template store<O>(n, e.template value<access::template output<O>.value>(n)), ...);
    }
    (std::make_index_sequence<self.outputs.count>{});
  }
  template <int Lanes, std::size_t Along>
  [[gnu::always_inline]] static void finish(const kernel_call& call, const coordinates& c, auto n, auto anchor) {
    finish_at<Lanes>(place<Lanes, Along>{call, c}, n, anchor);
  }

  // A tile of the iteration space: vectors run along axis Along, rows of the tile along axis Rows. Addresses are worked
  // out once, for its first element, and lie at fixed steps from there.
  template <int Lanes, std::size_t Rows, std::size_t Along> class tile {
   public:
    [[gnu::always_inline]] tile(const kernel_call& call, const coordinates& origin) : call_(call), origin_(origin) {
      [&]<std::size_t... L>(std::index_sequence<L...>) { (set_load<L>(), ...); }
      (std::make_index_sequence<self.loads.count>{});
      [&]<std::size_t... O>(std::index_sequence<O...>) { (set_output<O>(), ...); }
      (std::make_index_sequence<self.outputs.count>{});
    }
    // Finishes vector j of row i: n valid lanes.
    [[gnu::always_inline]] void finish(index_t i, index_t j, auto n, auto anchor) const {
      finish_at<Lanes>(spot{*this, i, j * Lanes}, n, anchor);
    }
    // The same for one row of vector j after another: what they have in common is loaded once. Compilers cannot see
    // that it is the same in all of them, since a byte that is stored may be part of anything.
    [[gnu::always_inline]] auto column(index_t j, auto n) const {
      return [&]<std::size_t... L>(std::index_sequence<L...>) __attribute__((always_inline)) {
        return column_of<decltype(n), decltype(kept<L>(spot{*this, 0, j * Lanes}, n))...>{
            *this, j * Lanes, n, {kept<L>(spot{*this, 0, j * Lanes}, n)...}};
      }
      (std::make_index_sequence<self.loads.count>{});
    }

   private:
    static constexpr bool steps(slice_of axes) {
      const lane_stride row = stride_along(Net::plan, axes, Rows), lane = stride_along(Net::plan, axes, Along);
      return row.single && lane.single && (lane.stride == 0 || lane.stride == 1);
    }
    static constexpr bool load_steps(const recipe_load& l) {
      return has_lanes(l.type) && l.movement.count == 0 && steps(l.axes);
    }
    static constexpr bool output_steps(const recipe_output& o) {
      return has_lanes(o.type) && steps(o.axes) && stride_along(Net::plan, o.axes, Along).stride == 1;
    }
    // Elements from one row of the tile to the next, and to row i: a constant product where the compiler knows them.
    template <slice_of Axes> static constexpr local_extent row_step = stride_along(Net::plan, Axes, Rows).stride;
    template <slice_of Axes> [[gnu::always_inline]] static constexpr index_t row_at(index_t i, index_t step) {
      if constexpr (row_step<Axes>.is_known()) return i * row_step<Axes>.value();
      else return i * step;
    }
    template <std::size_t L> [[gnu::always_inline]] void set_load() {
      constexpr recipe_load l = access::template load<L>;
      if constexpr (spec.outputs_read(L) && load_steps(l)) {
        loads_[L] = pointer<L>(call_) + view_address<Net, l.axes, l.offset>(call_, origin_);
        load_row_[L] = extent_value<row_step<l.axes>>(call_);
      }
    }
    template <std::size_t O> [[gnu::always_inline]] void set_output() {
      constexpr recipe_output o = access::template output<O>;
      if constexpr (output_steps(o)) {
        outputs_[O] = reinterpret_cast<element<o.type>*>(call_.operands[o.operand]) +
                      view_address<Net, o.axes, o.offset>(call_, origin_);
        output_row_[O] = extent_value<row_step<o.axes>>(call_);
      }
    }

    struct spot {
      const tile& t;
      index_t i, lane;

      [[gnu::always_inline]] coordinates here() const {
        coordinates c = t.origin_;
        c[Rows] += i;
        c[Along] += lane;
        return c;
      }
      template <std::size_t L> [[gnu::always_inline]] auto load(auto n) const {
        constexpr recipe_load l = access::template load<L>;
        if constexpr (!load_steps(l)) {
          return load_lanes<L, Lanes, Along>(t.call_, here(), n);
        } else {
          using vector = cpu::lanes<l.type, Lanes>;
          const auto* p = static_cast<const element<l.type>*>(t.loads_[L]) + row_at<l.axes>(i, t.load_row_[L]);
          constexpr bool is_one = stride_along(Net::plan, l.axes, Along).stride == 0;
          if constexpr (is_one && l.type == dtype::boolean) return mask_of<vector>(*p);
          else if constexpr (is_one) return vector(*p);
          else return load_next<vector>(p + lane, n);
        }
      }
      template <std::size_t O> [[gnu::always_inline]] void store(auto n, auto x) const {
        if constexpr (!output_steps(access::template output<O>)) {
          tree::store<O, Lanes, Along>(t.call_, here(), n, x);
        } else {
          constexpr recipe_output o = access::template output<O>;
          auto* const row = static_cast<element<o.type>*>(t.outputs_[O]) + row_at<o.axes>(i, t.output_row_[O]);
          store_next(x, row + lane, n);
        }
      }
    };

    // Is load L the same in all rows, and an address known for it?
    template <std::size_t L>
    static constexpr bool is_kept = [] {
      constexpr recipe_load l = access::template load<L>;
      return spec.outputs_read(L) && load_steps(l) && row_step<l.axes>.is_known() && row_step<l.axes>.value() == 0;
    }();
    struct not_kept {};
    template <std::size_t L> [[gnu::always_inline]] static auto kept(const spot& first, auto n) {
      if constexpr (is_kept<L>) return first.template load<L>(n);
      else return not_kept{};
    }
    template <class N, class... Kept> struct column_of {
      const tile& t;
      index_t lane;
      N n;
      std::tuple<Kept...> all;

      [[gnu::always_inline]] void finish(index_t i, auto anchor) const {
        finish_at<Lanes>(spot_in_column{{t, i, lane}, all}, n, anchor);
      }
    };
    template <class Kept> struct spot_in_column {
      spot here;
      const Kept& all;

      template <std::size_t L> [[gnu::always_inline]] auto load(auto n) const {
        if constexpr (is_kept<L>) return std::get<L>(all);
        else return here.template load<L>(n);
      }
      template <std::size_t O> [[gnu::always_inline]] void store(auto n, auto x) const { here.template store<O>(n, x); }
    };
    template <class Kept> spot_in_column(spot, const Kept&) -> spot_in_column<Kept>;

    static constexpr std::size_t load_count = self.loads.count == 0 ? 1 : self.loads.count;
    const kernel_call& call_;
    coordinates origin_;
    std::array<const void*, load_count> loads_{};
    std::array<index_t, load_count> load_row_{};
    std::array<void*, self.outputs.count> outputs_{};
    std::array<index_t, self.outputs.count> output_row_{};
  };
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
