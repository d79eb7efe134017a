// SPDX-License-Identifier: MIT
// The kernel behind products and convolutions, C[m][n] = sum over k of A[m][k] B[k][n], with tiles in local memory and
// registers: a group makes a tile of C (product_tile.hpp), an item tm rows and tn columns of it, both in fours. A stage
// is read into registers while the one before is multiplied, so there are two in local memory. Slices of the group sum
// over parts of K; their sums are added in local memory, always in the same order, where the epilogue reads each
// element once and stores neighbours side by side.
//
// Where several groups make a tile, each writes its sums to memory and then counts itself; the one that finds all
// others counted adds them up, in the order of K whoever it is. What OpenCL 1.2 says of groups is less than that needs:
// that what was written before a fence is seen by whoever sees a later atomic. Devices do that for volatile data, which
// no first-level cache keeps, with the fence that dnnkit_publish (expression.hpp) is.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/staged_load.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// K, cut into stages. Stages of a product take the next `tile.depth` numbers k. Those of a convolution may take whole
// channels: `period` taps of each of so many channels, and k counts inside the stage, whose number is `stage`; what an
// item reads is then the same in every stage but for the channel.
struct staged_depth {
  std::int64_t count = 1;                 // K
  std::int64_t channels = 0, period = 1;  // of a stage; channels 0: a product's
};

// An operand is an object with
//   operand_ref from; staged_walk walk;
//   char prefix;                      its coordinates' first letter
//   void begin();                     writes what is needed once (A's; z is the number of the product in its batch)
//   void coordinates();               writes its coordinates at m or n, and k (and stage)
//   void condition(auto condition);   where it is 0 but for conditions: condition() << each of them
// and, where elements are not those of `from`,
//   expression value();               writes what is read for one of them, or for four neighbours, at the coordinates,
//   expression finished(expression);  and what it is, from that, when it goes to local memory
template <class Set> class tiled_loop {
 public:
  constexpr tiled_loop(recipe_writer<Set>& w, const product_extents& x, const staged_depth& depth,
                       const product_tile& tile)
      : w_(w), x_(x), depth_(depth), t_(tile) {}

  // result(sum) writes what stores the element m, n of C.
  constexpr void write(const auto& a, const auto& b, auto result) {
    steps_ = detail::divided_up(stages(), t_.slices * t_.parts);
    w_.out << "// " << w_.self.anchor.name << ' ' << x_.m << 'x' << x_.n << 'x' << depth_.count;
    if (x_.batch != 1) w_.out << ", " << x_.batch << " of them";
    w_.out << ": tiles of " << t_.bm << 'x' << t_.bn << ", " << t_.tm << 'x' << t_.tn << " an item, " << t_.slices
           << (t_.slices == 1 ? " slice" : " slices") << " of K, stages of " << t_.depth;
    if (t_.parts != 1) w_.out << ", " << t_.parts << " groups a tile";
    w_.out << '\n';
    w_.comment_nodes();
    w_.out << "__attribute__((reqd_work_group_size(" << t_.items() << ",1,1)))\n";
    const std::int64_t rows = detail::divided_up(x_.m, t_.bm), columns = detail::divided_up(x_.n, t_.bn);
    tiles_ = rows * columns * x_.batch;
    work_size work;
    work.known = tiles_ * t_.parts;
    work.group_size = t_.items();
    if (t_.parts != 1) work.counters = tiles_, work.handed_numbers = work.known * t_.bm * t_.bn;
    w_.begin(work);
    w_.out << "local float4 work[" << t_.local() / 4
           << "];\nconst int id=get_local_id(0),group=get_group_id(0),slice=id/" << t_.items_of_slice() << ",t=id%"
           << t_.items_of_slice() << ";\n";
    if (t_.parts != 1) w_.out << "const int tile=group%" << tiles_ << ",share=group/" << tiles_ << ";\n";
    const std::string_view tile = t_.parts != 1 ? "tile" : "group";
    w_.out << "const int n0=" << tile << '%' << columns << '*' << t_.bn << ",m0=" << tile << '/' << columns << '%'
           << rows << '*' << t_.bm << ",z=" << tile << '/' << columns * rows << ";\n";
    w_.out << "const int ";
    w_.place_items(down(), across());
    w_.out << ";\n";
    a.begin();
    stages(a, b);
    sums(result);
    w_.end();
  }

 private:
  constexpr std::int64_t across() const { return t_.bn / t_.tn; }
  constexpr std::int64_t down() const { return t_.bm / t_.tm; }
  constexpr std::int64_t pitch_of_a() const { return t_.bm + 4; }

  constexpr std::int64_t stages() const {
    return depth_.channels != 0 ? detail::divided_up(depth_.count, depth_.channels * depth_.period)
                                : detail::divided_up(depth_.count, t_.depth);
  }

  constexpr void stages(const auto& a, const auto& b) {
    const std::int64_t nt = t_.items_of_slice();
    w_.out << "local float4*const mine=work+slice*" << t_.stage() / 2 << ";\nfloat4 sums[" << t_.tm << "][" << t_.tn / 4
           << "];\n";
    unroll("i", t_.tm);
    unroll("j", t_.tn / 4);
    w_.out << "sums[i][j]=(float4)(0);\nfor(int s=0;s<=" << steps_ << ";++s){\n";
    registers("fa", a, t_.bm * t_.depth, nt);
    registers("fb", b, t_.bn * t_.depth, nt);
    w_.out << "if(s<" << steps_ << "){  // the next stage into registers\n";
    write_stage();
    fetch("fa", 'm', a, t_.bm, x_.m);
    fetch("fb", 'n', b, t_.bn, x_.n);
    w_.out << "}\nif(s>0){  // this stage is multiplied\n";
    multiply();
    w_.out << "}\nif(s<" << steps_ << "){\n";
    if constexpr (requires { a.value(); }) write_stage();
    w_.out << "local float*const la=(local float*)(mine+s%2*" << t_.stage() / 4 << "),*const lb=la+"
           << t_.depth * pitch_of_a() << ";\n";
    put("fa", "la", 'm', a, t_.bm, x_.m, pitch_of_a());
    put("fb", "lb", 'n', b, t_.bn, x_.n, t_.bn);
    w_.out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n";
  }
  constexpr void write_stage() {
    w_.out << "const int stage=";
    if (t_.parts != 1) w_.out << "share*" << t_.slices * steps_ << '+';
    if (t_.slices != 1) w_.out << "slice*" << steps_ << '+';
    w_.out << "s;\n";
  }

  constexpr void unroll(std::string_view variable, std::int64_t times) {
    w_.out << "dnnkit_unroll(" << variable << ',' << times << ")";
  }
  constexpr staged_registers registers_of(const auto& operand) const {
    if constexpr (requires { operand.value(); }) return operand.registers();
    else return staged_registers::of(w_, operand.from, operand.walk.by_four);
  }
  constexpr void registers(std::string_view name, const auto& operand, std::int64_t numbers, std::int64_t nt) {
    w_.out << registers_of(operand).type() << ' ' << name << '['
           << detail::divided_up(numbers / operand.walk.width(), nt) << "];\n";
  }
  // Begins the loop over an item's share of `lines` x depth numbers: q of them, each with its place lm or ln, lk.
  constexpr void begin_share(char line, staged_walk walk, std::int64_t lines, std::int64_t nt) {
    const std::int64_t loads = lines * t_.depth / walk.width();
    unroll("q", detail::divided_up(loads, nt));
    w_.out << "{\nconst int e=t+q*" << nt << ";\n";
    if (loads % nt != 0) w_.out << "if(e<" << loads << ")";
    w_.out << "{\n";
    const std::int64_t fast = (walk.along_k ? t_.depth : lines) / walk.width();
    const auto times = [&] {
      if (walk.by_four) w_.out << "*4";
    };
    w_.out << "const int l" << (walk.along_k ? 'k' : line) << "=e%" << fast;
    times();
    w_.out << ",l" << (walk.along_k ? line : 'k') << "=e/" << fast << ";\n";
  }

  // Begins what is done with one of an item's share, or with four: its line and k, its coordinates, and a block, under
  // the condition that it is there. Returns whether there is one.
  constexpr bool begin_element(char line, const auto& operand, std::int64_t lines, std::int64_t extent) {
    // Lines beyond the last are computed from it, and not stored.
    w_.out << "const int " << line << '=';
    const std::int64_t last = extent - (operand.walk.by_four && !operand.walk.along_k ? 4 : 1);
    if (extent % lines != 0) w_.out << "min(" << line << "0+l" << line << ',' << last << ')';
    else w_.out << line << "0+l" << line;
    w_.out << ",k=";
    if (depth_.channels == 0) w_.out << "stage*" << t_.depth << '+';
    w_.out << "lk;\n";
    operand.coordinates();
    bool is_conditional = false;
    const auto condition = [&]() -> source_writer& {
      w_.out << (is_conditional ? "&&" : "if(");
      is_conditional = true;
      return w_.out;
    };
    const std::int64_t covered = steps_ * t_.slices * t_.parts;
    if (depth_.channels == 0) {
      if (covered * t_.depth > depth_.count) condition() << "k<" << depth_.count;
    } else {
      if (depth_.channels * depth_.period < t_.depth) condition() << "k<" << depth_.channels * depth_.period;
      if (covered * depth_.channels * depth_.period > depth_.count)
        condition() << "stage*" << depth_.channels << "+k/" << depth_.period << '<' << depth_.count / depth_.period;
    }
    operand.condition(condition);
    w_.out << (is_conditional ? "){\n" : "{\n");
    return is_conditional;
  }
  constexpr void end_element(std::string_view name, const expression& x, bool is_conditional) {
    w_.out << name << "[q]=" << x;
    end_element(name, is_conditional);
  }
  constexpr void end_element(std::string_view name, bool is_conditional) {
    w_.out << (is_conditional ? ";\n}else " : ";\n}\n");
    if (is_conditional) w_.out << name << "[q]=0;\n";
  }

  constexpr void fetch(std::string_view name, char line, const auto& operand, std::int64_t lines, std::int64_t extent) {
    begin_share(line, operand.walk, lines, t_.items_of_slice());
    const bool is_conditional = begin_element(line, operand, lines, extent);
    if (const staged_registers r = registers_of(operand); r.bits) {
      w_.out << name << "[q]=";
      w_.stored_bits(*r.bits, w_.named(operand.prefix), r.by_four);
      end_element(name, is_conditional);
    } else {
      end_element(name, read(operand), is_conditional);
    }
    w_.out << "}\n}\n";
  }
  constexpr expression read(const auto& operand) {
    if constexpr (requires { operand.value(); }) {
      return operand.value();
    } else {
      if (!operand.walk.by_four) return tree_writer<Set>(w_, operand.prefix)(operand.from, w_.self.anchor.name);
      return w_.four(*detail::main_load(w_, operand.from), w_.named(operand.prefix));
    }
  }

  // From registers into local memory, by k: lines `pitch` apart.
  constexpr void put(std::string_view name, std::string_view to, char line, const auto& operand, std::int64_t lines,
                     std::int64_t extent, std::int64_t pitch) {
    const staged_walk walk = operand.walk;
    begin_share(line, walk, lines, t_.items_of_slice());
    text element;
    element << name << "[q]";
    text value = registers_of(operand).value(element.view());
    if constexpr (requires { operand.value(); }) {
      const element_kind kind = walk.by_four ? element_kind::fours : element_kind::real;
      w_.out << type_of(kind) << " finished=0;\n";
      begin_element(line, operand, lines, extent);
      const expression x = expression::statement(kind, &w_.out, value.view());
      const expression result = operand.finished(x);
      w_.out << "finished=" << result << ";\n}\n";
      value = text("finished");
    }
    const auto place = [&](std::int64_t more) -> source_writer& {
      w_.out << to << "[lk*" << pitch << "+l" << line;
      if (more != 0) w_.out << '+' << more;
      return w_.out << ']';
    };
    if (!walk.by_four) {
      place(0) << '=' << value.view() << ";\n";
    } else if (!walk.along_k) {
      w_.out << "*(local float4*)&";
      place(0) << '=' << value.view() << ";\n";
    } else {
      w_.out << "const float4 four=" << value.view() << ";\n";
      for (int u = 0; u < 4; ++u)
        place(u * pitch) << "=four."
                         << "xyzw"[u] << ";\n";
    }
    w_.out << "}\n}\n";
  }

  constexpr void multiply() {
    const std::int64_t lda = pitch_of_a() / 4;
    w_.out << "local const float4*const la=mine+(s-1)%2*" << t_.stage() / 4 << "+row,*const lb=mine+(s-1)%2*"
           << t_.stage() / 4 << '+' << t_.depth * lda << "+column;\n";
    w_.out << "dnnkit_multiply_stage(" << t_.tm / 4 << ',' << t_.tn / 4 << ',' << lda << ',' << t_.bn / 4 << ','
           << down() << ',' << across() << ',' << t_.depth << ")\n";
  }

  constexpr void sums(auto result) {
    const std::int64_t tile = t_.bm * t_.bn;
    w_.out << "// the slices' sums are added"
           << (t_.parts == 1 ? ", and stored through what follows the product\n" : "\n");
    unroll("i", t_.tm);
    unroll("j", t_.tn / 4);
    w_.out << "work[";
    if (t_.slices != 1) w_.out << "slice*" << tile / 4 << '+';
    w_.out << "(row*4+i/4*" << down() * 4 << "+i%4)*" << t_.bn / 4 << "+column+j*" << across()
           << "]=sums[i][j];\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
    if (t_.parts != 1) add_parts();
    w_.out << "local const float*const all=(local const float*)work;\n";
    w_.begin_share(tile, t_.items());
    w_.out << "const int m=m0+e/" << t_.bn << ",n=n0+e%" << t_.bn << ";\n";
    const bool cuts_m = x_.m % t_.bm != 0, cuts_n = x_.n % t_.bn != 0;
    if (cuts_m || cuts_n) {
      w_.out << "if(";
      if (cuts_m) w_.out << "m<" << x_.m << (cuts_n ? "&&" : "");
      if (cuts_n) w_.out << "n<" << x_.n;
      w_.out << ")";
    }
    w_.out << "{\n";
    const expression sum(w_.out, 't', w_.out.new_name());
    w_.out << "const float " << sum << '=';
    add_slices("all", t_.parts == 1 ? t_.slices : 1, tile);
    w_.out << ";\n";
    result(sum);
    w_.out << "}\n}\n";
    if (t_.parts != 1) w_.out << "}\n";
  }

  // "all[e]+all[e+96]": the same element of all slices, or parts, `size` apart.
  constexpr void add_slices(std::string_view from, std::int64_t count, std::int64_t size) {
    w_.out << from << "[e]";
    for (std::int64_t s = 1; s < count; ++s) w_.out << '+' << from << "[e+" << s * size << ']';
  }

  // The sums of this group go to the others. Leaves the sums of all in local memory, in the last group, for which what
  // follows is; the condition stays open.
  constexpr void add_parts() {
    const std::int64_t fours = t_.bm * t_.bn / 4;
    w_.out << "volatile global float4*const theirs=handed+tile*" << t_.parts * fours << ";\nfor(int e=id;e<" << fours
           << ";e+=" << t_.items() << ")theirs[share*" << fours << "+e]=";
    add_slices("work", t_.slices, fours);
    w_.out << ";\n";
    w_.begin_last_group(t_.parts);
    w_.out << "for(int e=id;e<" << fours << ";e+=" << t_.items() << "){\nfloat4 of[" << t_.parts << "];\n";
    unroll("p", t_.parts);
    w_.out << "of[p]=theirs[p*" << fours << "+e];\nfloat4 sum=of[0];\n";
    unroll("p", t_.parts - 1);
    w_.out << "sum+=of[p+1];\nwork[e]=sum;\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
  }

  recipe_writer<Set>& w_;
  product_extents x_;
  staged_depth depth_;
  product_tile t_;
  std::int64_t steps_ = 1, tiles_ = 1;
};

}  // namespace dnnkit::opencl
