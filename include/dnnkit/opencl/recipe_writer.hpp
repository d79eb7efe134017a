// SPDX-License-Identifier: MIT
// A recipe as OpenCL C: what all families of kernels write. A kernel has for each operand of its step the buffer that
// the operand lies in (b0, b1 ...) and the element of it where the operand begins (o0, o1 ...); p0, p1 ... point there.
// Or b0 is an image of texels of four elements; what is read and written there is read and written as in a buffer, but
// that a texel is written at a time: by an item that has its elements in turns of `lane`, from 0 to 3.
// Behind them come the step's extents (e0, e1 ...), which are not known before symbols have values, and, where
// work-groups hand sums over to each other (work_size.hpp), `handed` and `arrived`, the counters.
// Coordinates are variables whose names begin with one letter: c0, c1 ... are those of the iteration space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/opencl/expression.hpp"
#include "dnnkit/opencl/index.hpp"
#include "dnnkit/opencl/work_size.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::opencl {

// What there is to a kernel besides its source, and why there is none.
struct kernel_draft {
  work_size work;
  text error;
};

// A number, or the argument that the kernel gets for it: "8", "e0".
constexpr source_writer& operator<<(source_writer& out, local_extent e) {
  return e.is_known() ? out << e.value() : out << 'e' << e.of_step();
}

// What an element of a buffer is called; empty for types that kernels do not load and store.
constexpr std::string_view stored_as(dtype type) {
  switch (type) {
    case dtype::f32:
      return "float";
    case dtype::f16:
      return "half";
    case dtype::boolean:
    case dtype::u8:
      return "uchar";
    case dtype::i8:
      return "char";
    case dtype::i16:
      return "short";
    case dtype::u16:
    case dtype::bf16:
      return "ushort";
    case dtype::i32:
      return "int";
    case dtype::u32:
      return "uint";
    case dtype::i64:
      return "long";
    default:
      return {};
  }
}
// What it is computed with: numbers of 16 bits with 32, and only what is stored or cast is rounded.
constexpr element_kind computed_as(dtype type) {
  if (type == dtype::boolean) return element_kind::truth;
  return is_integral(type) ? element_kind::integer : element_kind::real;
}

constexpr bool is_written_with_reals(dtype type) {
  return computed_as(type) == element_kind::real && !stored_as(type).empty();
}
// As an element of that type: integers of fewer than 64 bits keep the lowest.
constexpr expression converted(const expression& x, dtype type) {
  const element_kind kind = computed_as(type);
  if (x.out() == nullptr || x.kind() == element_kind::fours) return x;
  if (kind == element_kind::truth) return x.kind() == kind ? x : x != expression(0);
  if (kind == element_kind::real) return x.kind() == kind ? x : expression::statement(kind, x.out(), "(float)", x);
  const std::string_view conversion = x.kind() == element_kind::real ? "convert_long_sat" : "";
  if (type == dtype::i64 && x.kind() == kind) return x;
  return expression::statement(kind, x.out(), '(', stored_as(type), ')', conversion, '(', x, ')');
}

// A real as one of 16 bits, where the type is that.
constexpr expression rounded(const expression& x, dtype type) {
  if (!is_half(type) || x.is_literal()) return x;
  return expression::statement(element_kind::real, x.out(), type == dtype::f16 ? "dnnkit_half(" : "dnnkit_bfloat(", x,
                               ')');
}

template <class Set> class recipe_writer {
 public:
  // Writes recipe number r of a plan.
  constexpr recipe_writer(const plan_view& whole, std::size_t r, source_writer& source)
      : plan(whole), self(whole.recipes[r]), out(source), number_(r) {}
  // Writes stage i of it into the kernel that another writer began.
  constexpr recipe_writer(const recipe_writer& w, std::size_t i)
      : plan(w.plan), self(w.plan.stage_of(w.self, i)), out(w.out), number_(w.number_) {}

  const plan_view& plan;
  const recipe& self;
  source_writer& out;
  kernel_draft draft;

  constexpr std::span<const local_extent> space() const { return plan.extents_of(self.space); }
  constexpr std::span<const local_extent> input_shape(std::size_t i) const {
    return plan.extents_of(plan.shapes[self.anchor_shapes.first + i]);
  }
  constexpr operand_ref input(std::size_t i) const {
    return i < self.anchor_inputs.count ? plan.refs[self.anchor_inputs.first + i] : operand_ref{};
  }
  constexpr const std::int64_t* anchor_codes() const { return plan.attributes.data() + self.anchor_attributes.first; }

  // The first mistake is kept, as a sentence that begins with the operator, if it is one's.
  constexpr void fail(std::string_view op, std::string_view problem, std::string_view more = {}) {
    if (!draft.error.empty()) return;
    const std::string_view step = name_of_step();
    draft.error << op;
    if (op.empty()) draft.error << "kernel '" << step << "'";
    else if (!step.empty() && step != op) draft.error << " of kernel '" << step << "'";
    draft.error << ": " << problem << more;
  }

  // Where an operator has called a function that there is none of for integers.
  constexpr void fail_if_refused(std::string_view op) {
    if (!out.refused().empty()) fail(op, "there is no OpenCL kernel for this operator with integers");
  }

  // "// with Add, Relu": the operators beside the anchor.
  constexpr void comment_nodes() {
    for (std::uint32_t i = 0; i < self.nodes.count; ++i)
      out << (i == 0 ? "// with " : ", ") << plan.nodes[self.nodes.first + i].op.name;
    if (self.nodes.count != 0) out << '\n';
  }

  // "// Gather", and those beside it, of a kernel that says nothing else of itself.
  constexpr void comment_operators() {
    out << "// " << (self.anchor.id == operator_id::none ? "each element on its own" : self.anchor.name) << '\n';
    comment_nodes();
  }

  // The kernel's head.
  constexpr void begin(const work_size& work) {
    draft.work = work;
    const vector<stored_operand> all = operands();
    out << "kernel void k" << number_ << '(';
    for (std::size_t i = 0; i < all.size(); ++i) {
      out << (i == 0 ? "" : ",");
      if (all[i].texel_row != 0) out << (all[i].is_written ? "write" : "read") << "_only image2d_t b" << i;
      else out << "global " << stored_as(all[i].type) << "*b" << i << ",uint o" << i;
    }
    for (std::size_t i = 0; i < step_extents(); ++i) out << ",int e" << i;
    if (work.counters != 0) out << ",volatile global float4*handed,volatile global int*arrived";
    out << "){\n";
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].texel_row == 0)
        out << "global " << stored_as(all[i].type) << "*p" << i << "=b" << i << "+o" << i << ";\n";
      else if (all[i].is_written) out << "float texel" << i << "[4];\n";
  }
  // The same of a kernel all of whose extents the compiler knows: so many groups, each of so many work-items.
  constexpr void begin(std::int64_t groups, std::int64_t group_size) {
    work_size work;
    work.known = groups;
    work.group_size = group_size;
    begin(work);
  }
  // The head of a kernel with a work-item for each element of the iteration space, whose number is i.
  constexpr void begin_numbers() {
    work_size work = work_size::of(space(), [](std::size_t) { return true; });
    work.per_group = work.group_size = 64;
    has_lanes_ = writes_texels();
    if (has_lanes_) work.known /= 4;
    begin(work);
    out << (has_lanes_ ? "const int four" : "int i") << "=get_global_id(0);\nif(" << (has_lanes_ ? "four" : "i")
        << ">=";
    product(work);
    out << ")return;\n";
    if (has_lanes_) out << "dnnkit_unroll(lane,4){\nint i=four*4+lane;\n";
  }
  // The same with its coordinates c0, c1 ...
  constexpr void begin_elements() {
    begin_numbers();
    coordinates('c', space());
  }
  constexpr void end() { out << (has_lanes_ ? "}\n}\n" : "}\n"); }

  // Does it write an image?
  constexpr bool writes_texels() const {
    for (const recipe_output& o : plan.template part<recipe_output>(plan.outputs, self.outputs))
      if (o.texel_row != 0) return true;
    return false;
  }
  // A loop over elements e of `count`, of which each of `items` work-items has every so many, or every so many fours.
  constexpr void begin_share(std::int64_t count, std::int64_t items) {
    if (!writes_texels()) out << "for(int e=id;e<" << count << ";e+=" << items << "){\n";
    else
      out << "for(int four=id*4;four<" << count << ";four+=" << items * 4
          << ")dnnkit_unroll(lane,4){\nconst int e=four+lane;\n";
  }

  // An item's share of so many numbers, which `items` work-items have: q of them, e each.
  constexpr void share(std::int64_t count, std::int64_t items, auto body) {
    out << "dnnkit_unroll(q," << (count + items - 1) / items << "){\nconst int e=id+q*" << items << ";\n";
    if (count % items != 0) out << "if(e<" << count << ')';
    out << "{\n";
    body();
    out << "}\n}\n";
  }
  // "row=t/8*2+t%2,column=t/4%2*2+t/2%2": which of down x across items number t is. Items with the same rows and items
  // with the same columns are neighbours, or next to each other's, in fours of two by two where they make whole ones:
  // local memory then serves sixteen of them at once, not eight.
  constexpr void place_items(std::int64_t down, std::int64_t across) {
    out << "row=t/";
    if (down % 2 == 0 && across % 2 == 0) out << 2 * across << "*2+t%2,column=t/4%" << across / 2 << "*2+t/2%2";
    else out << across << ",column=t%" << across;
  }

  // A coordinate in tiles of so many, of which the last may go beyond its extent.
  struct tiled_coordinate {
    std::string_view name;
    std::int64_t extent, tile;
  };
  // "if(m<30&&c3<14){": begins a block for what is not beyond.
  constexpr void begin_within(std::initializer_list<tiled_coordinate> coordinates) {
    std::string_view before = "if(";
    for (const tiled_coordinate& c : coordinates) {
      if (c.extent % c.tile == 0) continue;
      out << before << c.name << '<' << c.extent;
      before = "&&";
    }
    out << (before == "&&" ? "){\n" : "{\n");
  }

  // Where `parts` groups make a tile and this one has handed its sums over, into local memory that is `work`: begins a
  // block for the last of them, which sees what all have (tiled_loop.hpp).
  constexpr void begin_last_group(std::int64_t parts) {
    out << "// the last group of the tile adds up the sums of all, and stores them through what follows\n"
           "local int*const last=(local int*)work;\nmem_fence(CLK_GLOBAL_MEM_FENCE);\n"
           "barrier(CLK_LOCAL_MEM_FENCE|CLK_GLOBAL_MEM_FENCE);\nif(id==0){\ndnnkit_publish();\n"
           "*last=atomic_inc(&arrived[tile])=="
        << parts - 1
        << ";\nif(*last){\ndnnkit_publish();\narrived[tile]=0;\n}\n}\n"
           "barrier(CLK_LOCAL_MEM_FENCE|CLK_GLOBAL_MEM_FENCE);\nconst int is_last=*last;\n"
           "barrier(CLK_LOCAL_MEM_FENCE);\nif(is_last){\n";
  }

  // How many elements there are: "24", "8*e0*e2".
  constexpr void product(const work_size& work) {
    if (work.known != 1 || work.other_count == 0) out << work.known;
    for (std::size_t i = 0; i < work.other_count; ++i)
      out << (i == 0 && work.known == 1 ? "e" : "*e") << work.others[i];
  }

  // Coordinates PREFIX0 ... of element i in row-major order, i being used up; of the dimensions that are `chosen` only.
  constexpr void coordinates(char prefix, std::span<const local_extent> extents, auto chosen) {
    std::size_t outermost = 0;
    while (outermost < extents.size() && (!chosen(outermost) || extents[outermost] == 1)) ++outermost;
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (!chosen(d)) continue;
      out << "const int " << prefix << d << '=';
      if (extents[d] == 1) out << 0;
      else out << "i%" << extents[d];
      if (d > outermost && !(extents[d] == 1)) out << ";i/=" << extents[d];
      out << ";\n";
    }
  }
  constexpr void coordinates(char prefix, std::span<const local_extent> extents) {
    coordinates(prefix, extents, [](std::size_t) { return true; });
  }

  // Coordinates PREFIX0 ...
  constexpr indices named(char prefix) const {
    indices c;
    for (std::size_t d = 0; d < max_rank; ++d) c[d] = index(out, prefix, static_cast<int>(d));
    return c;
  }
  // "8+c0/4*32+c0%4": where in its operand the element at these coordinates of a view lies
  constexpr void place(slice_of axes, local_extent offset, const indices& at) {
    sum_along(axes, offset, at, [](const view_axis& a) { return a.stride; });
  }
  // The same in an image whose rows have so many elements: "4*c1+c2,c0", the element of the row and the row.
  constexpr void place_in_image(slice_of axes, local_extent offset, const indices& at, std::int64_t row) {
    if (!has_rows_apart(axes, offset, row)) {
      out << '(';
      place(axes, offset, at);
      out << ")%" << row << ",(";
      place(axes, offset, at);
      out << ")/" << row;
      return;
    }
    sum_along(axes, offset.value() % row, at,
              [&](const view_axis& a) { return a.stride.value() % row == 0 ? 0 : a.stride.value(); });
    out << ',';
    sum_along(axes, offset.value() / row, at,
              [&](const view_axis& a) { return a.stride.value() % row == 0 ? a.stride.value() / row : 0; });
  }
  // The element that a load reads there: "p2[...]", numbers of 16 bits as those of 32.
  constexpr void element(const recipe_load& l, const indices& at) {
    if (l.texel_row != 0) {
      out << "dnnkit_element(b" << l.operand << ',';
      place_in_image(l.axes, l.offset, at, l.texel_row);
      out << ')';
      return;
    }
    if (l.type == dtype::f16) out << "vload_half(";
    else if (l.type == dtype::bf16) out << "as_float((uint)p" << l.operand << '[';
    else out << 'p' << l.operand << '[';
    place(l.axes, l.offset, at);
    if (l.type == dtype::f16) out << ",p" << l.operand << ')';
    else out << (l.type == dtype::bf16 ? "]<<16)" : "]");
  }
  // The same of four numbers side by side, a float4.
  constexpr void four_elements(const recipe_load& l, char prefix) { four_elements(l, named(prefix)); }
  constexpr void four_elements(const recipe_load& l, const indices& at) {
    if (l.texel_row != 0) {
      out << "dnnkit_texel(b" << l.operand << ',';
      place_in_image(l.axes, l.offset, at, l.texel_row);
      out << ')';
      return;
    }
    if (l.type == dtype::f16) out << "vloada_half4(0,p" << l.operand << '+';
    else out << "*(global const float4*)&p" << l.operand << '[';
    place(l.axes, l.offset, at);
    out << (l.type == dtype::f16 ? ")" : "]");
  }
  // One number of 16 bits, or four side by side, as they are stored.
  constexpr void stored_bits(const recipe_load& l, const indices& at, bool by_four) {
    out << "*(global const ushort" << (by_four ? "4" : "") << "*)&p" << l.operand << '[';
    place(l.axes, l.offset, at);
    out << ']';
  }
  // Four elements as a variable.
  constexpr expression four(const recipe_load& l, const indices& at) {
    const expression x(out, 't', out.new_name(), element_kind::fours);
    out << "const float4 " << x << '=';
    four_elements(l, at);
    out << ";\n";
    return x;
  }
  // Stores x where an output has these coordinates, rounded to what numbers of 16 bits there are.
  constexpr void store(const recipe_output& o, const indices& at, const expression& x) {
    if (o.texel_row != 0) {
      const expression exact = rounded(x, o.type);  // devices round towards zero what an image has no number for
      out << "texel" << o.operand << "[lane]=" << exact << ";\nif(lane==3)dnnkit_write_texel(b" << o.operand << ",texel"
          << o.operand << ',';
      place_in_image(o.axes, o.offset, at, o.texel_row);
      out << ");\n";
      return;
    }
    if (o.type == dtype::f16) {
      out << "vstore_half_rte(" << x << ',';
      place(o.axes, o.offset, at);
      out << ",p" << o.operand << ");\n";
      return;
    }
    out << 'p' << o.operand << '[';
    place(o.axes, o.offset, at);
    if (o.type == dtype::bf16) out << "]=as_uint(dnnkit_bfloat(" << x << "))>>16;\n";
    else out << "]=" << x << ";\n";
  }

  // A variable that statements may change: "float a3=<value>;"
  constexpr expression variable(const expression& value, element_kind kind = element_kind::real) {
    const expression x(out, 'a', out.new_name(), kind);
    out << opencl::type_of(kind) << ' ' << x << '=' << value << ";\n";
    return x;
  }
  constexpr void assign(const expression& variable, const expression& value) {
    out << variable << '=' << value << ";\n";
  }

 private:
  struct stored_operand {
    dtype type = dtype::f32;
    std::int32_t texel_row = 0;
    bool is_written = false;
  };
  // Of all stages.
  constexpr vector<stored_operand> operands() const {
    vector<stored_operand> all;
    const auto add = [&](std::size_t operand, const stored_operand& x) {
      while (all.size() <= operand) all.push_back({});
      all[operand] = x;
    };
    for (std::size_t s = 0; s < plan.stages_of(self); ++s) {
      const recipe& stage = plan.stage_of(self, s);
      for (const recipe_load& l : plan.template part<recipe_load>(plan.loads, stage.loads))
        add(l.operand, {l.type, l.texel_row, false});
      for (const recipe_output& o : plan.template part<recipe_output>(plan.outputs, stage.outputs))
        add(o.operand, {o.type, o.texel_row, true});
    }
    return all;
  }

  // Does each axis of a view lead along rows of so many elements, without leaving one, or from row to row?
  constexpr bool has_rows_apart(slice_of axes, local_extent offset, std::int64_t row) const {
    if (!offset.is_known() || offset.value() < 0) return false;
    std::int64_t last = offset.value() % row;
    for (const view_axis& a : plan.axes_of(axes)) {
      if (!a.stride.is_known() || !a.size.is_known() || a.stride.value() < 0) return false;
      if (a.stride.value() % row != 0) last += (a.size.value() - 1) * a.stride.value();
    }
    return last < row;
  }
  // "8+c0/4*32+c0%4": what the axes of a view make of coordinates, by the strides that they have for this.
  constexpr void sum_along(slice_of axes, local_extent first, const indices& at, auto stride_of) {
    const auto list = plan.axes_of(axes);
    bool is_empty = first == 0;
    if (!is_empty) out << first;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const local_extent stride = stride_of(list[i]);
      if (stride == 0) continue;
      out << (is_empty ? "" : "+");
      is_empty = false;
      out << at[static_cast<std::size_t>(list[i].of)];
      // Of the dimension, one of this axis spans all that is inside of it.
      for (std::size_t j = i + 1; j < list.size() && list[j].of == list[i].of; ++j)
        if (!(list[j].size == 1)) out << '/' << list[j].size;
      if (i > 0 && list[i - 1].of == list[i].of) out << '%' << list[i].size;
      if (!(stride == 1)) out << '*' << stride;
    }
    if (is_empty) out << 0;
  }
  // The first step that the kernel is for, if there is one. (g++ compares no address in a plan that is a constant with
  // null under its sanitizers.)
  constexpr std::optional<step> first_step() const {
    for (const step& s : plan.steps)
      if (s.kernel == number_) return s;
    for (const step& s : plan.setup_steps)
      if (s.kernel == number_) return s;
    return {};
  }
  constexpr std::size_t step_extents() const { return first_step() ? first_step()->extents.count : 0; }
  constexpr std::string_view name_of_step() const {
    return first_step() ? plan.text_of(first_step()->name) : std::string_view();
  }

  std::size_t number_;
  bool has_lanes_ = false;  // is the kernel a loop over them?
};

}  // namespace dnnkit::opencl
