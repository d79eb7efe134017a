// SPDX-License-Identifier: MIT
// The kernel of a matrix product with few rows or few columns, which is as fast as the other operand is read: a group
// makes the results of some of its lines (rows of A, columns of B), and its items divide these and K among themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/product_shape.hpp"
#include "dnnkit/opencl/staged_load.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// How many rows or columns are few: an item has a sum for each.
inline constexpr std::int64_t few_lines = 4;

template <class Set> class lines_of_product {
 public:
  constexpr lines_of_product(recipe_writer<Set>& w, const product_shape<Set>& shape)
      : w_(w), shape_(shape), few_rows_(shape.extents.m <= few_lines) {}

  constexpr void write() {
    const product_extents& x = shape_.extents;
    const std::size_t ra = shape_.rank_of_a(), rb = shape_.rank_of_b(), k = shape_.k_of_b();
    walk_ = few_rows_ ? walk_of(w_, 1, k, k + 1, k + 1, rb)
                      : walk_of(w_, 0, ra - 1, ra, shape_.first_row(), shape_.last_row());
    few_ = few_rows_ ? x.m : x.n;
    many_ = few_rows_ ? x.n : x.m;
    divide();
    w_.out << "// " << w_.self.anchor.name << ' ' << x.m << 'x' << x.n << 'x' << x.k << ": " << lines_
           << " lines a group, K among " << parts_ << " items each\n";
    const std::int64_t groups = (many_ + lines_ - 1) / lines_;
    w_.out << "__attribute__((reqd_work_group_size(" << group << ",1,1)))\n";
    w_.begin(groups * x.batch, group);
    w_.out << "local float sums[" << few_ * parts_ * lines_ << "];\nconst int id=get_local_id(0),first=get_group_id(0)%"
           << groups << '*' << lines_ << ",z=get_group_id(0)/" << groups << ";\n";
    shape_.write_batch();
    const std::int64_t across = lines_ / per_item();
    if (walk_.along_k) w_.out << "const int part=id%" << parts_ << ",line=id/" << parts_ << ";\n";
    else w_.out << "const int part=id/" << across << ",line=id%" << across << (walk_.by_four ? "*4;\n" : ";\n");
    sum_parts();
    merge_parts();
    store();
    w_.end();
  }

 private:
  static constexpr std::int64_t group = 256;

  constexpr std::int64_t per_item() const { return walk_.by_four && !walk_.along_k ? 4 : 1; }
  constexpr std::int64_t step() const { return walk_.by_four && walk_.along_k ? 4 : 1; }
  constexpr const char* type() const { return walk_.by_four ? "float4 " : "float "; }

  // As many lines a group as leave no compute unit idle, within what is read in whole sectors of memory.
  constexpr void divide() {
    const std::int64_t least = !walk_.along_k ? 16 : w_.writes_texels() ? 4 : 1, most = walk_.along_k ? 8 : 64;
    lines_ = most;
    while (lines_ > least && (many_ + lines_ - 1) / lines_ * shape_.extents.batch < product_gpu{}.compute_units)
      lines_ /= 2;
    parts_ = group * per_item() / lines_;
  }

  constexpr void sum_parts() {
    w_.out << type() << "mine[" << few_ << "];\n";
    for (std::int64_t f = 0; f < few_; ++f) w_.out << "mine[" << f << "]=0;\n";
    w_.out << "#pragma unroll 4\nfor(int k0=part" << (step() == 4 ? "*4" : "") << ";k0<" << shape_.extents.k
           << ";k0+=" << parts_ * step() << "){\nconst int many=";
    if (many_ % lines_ != 0) w_.out << "min(first+line," << many_ - per_item() << ");\n";
    else w_.out << "first+line;\n";
    w_.out << type() << "v;\n{\nconst int k=k0," << (few_rows_ ? 'n' : 'm') << "=many;\n";
    few_rows_ ? shape_.write_b() : shape_.write_a();
    const char prefix = few_rows_ ? 'y' : 'x';
    const operand_ref from = w_.input(few_rows_ ? 1 : 0);
    if (walk_.by_four) {
      const recipe_load l = *detail::main_load(w_, from);
      w_.out << "v=";
      w_.four_elements(l, prefix);
      w_.out << ";\n}\n";
    } else {
      const expression x = tree_writer<Set>(w_, prefix)(from, w_.self.anchor.name);
      w_.out << "v=" << x << ";\n}\n";
    }
    for (std::int64_t f = 0; f < few_; ++f)
      for (std::int64_t u = 0; u < step(); ++u) {
        w_.out << "{\nconst int k=k0";
        if (u != 0) w_.out << '+' << u;
        w_.out << ',' << (few_rows_ ? 'm' : 'n') << '=' << f << ";\n";
        few_rows_ ? shape_.write_a() : shape_.write_b();
        const expression x =
            tree_writer<Set>(w_, few_rows_ ? 'x' : 'y')(w_.input(few_rows_ ? 0 : 1), w_.self.anchor.name);
        const bool is_lane = step() == 4;
        w_.out << "mine[" << f << ']';
        if (is_lane) w_.out << '.' << "xyzw"[u];
        w_.out << "=fma(";
        if (per_item() == 4) w_.out << "(float4)(" << x << "),v,mine[" << f << ']';
        else if (is_lane)
          w_.out << x << ",v."
                 << "xyzw"[u] << ",mine[" << f << "]."
                 << "xyzw"[u];
        else w_.out << x << ",v,mine[" << f << ']';
        w_.out << ");\n}\n";
      }
    w_.out << "}\n";
  }

  // The parts of a line are added by halves: always in the same order.
  constexpr void merge_parts() {
    for (std::int64_t f = 0; f < few_; ++f) {
      const auto place = [&]() -> source_writer& {
        return w_.out << "sums[" << f * parts_ * lines_ << "+part*" << lines_ << "+line]";
      };
      if (per_item() == 4) {
        w_.out << "vstore4(mine[" << f << "],0,&";
        place() << ");\n";
      } else {
        place() << "=mine[" << f << ']';
        if (step() == 4) w_.out << ".x+mine[" << f << "].y+mine[" << f << "].z+mine[" << f << "].w";
        w_.out << ";\n";
      }
    }
    w_.out << "for(int h=" << parts_ / 2 << ";h>0;h/=2){\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor(int e=id;e<h*" << lines_
           << ";e+=" << group << "){\n";
    for (std::int64_t f = 0; f < few_; ++f)
      w_.out << "sums[" << f * parts_ * lines_ << "+e]+=sums[" << f * parts_ * lines_ << "+e+h*" << lines_ << "];\n";
    w_.out << "}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
  }

  constexpr void store() {
    w_.begin_share(lines_ * few_, group);
    w_.out << "const int line=e%" << lines_ << ',' << (few_rows_ ? 'm' : 'n') << "=e/" << lines_ << ','
           << (few_rows_ ? 'n' : 'm') << "=first+line;\n";
    if (many_ % lines_ != 0) w_.out << "if(" << (few_rows_ ? 'n' : 'm') << '<' << many_ << ")";
    w_.out << "{\n";
    const expression sum = expression::statement(element_kind::real, &w_.out, "sums[", (few_rows_ ? "m*" : "n*"),
                                                 parts_ * lines_, "+line]");
    shape_.write_result();
    tree_writer<Set>(w_, 'c', sum).store_outputs();
    w_.out << "}\n}\n";
  }

  recipe_writer<Set>& w_;
  const product_shape<Set>& shape_;
  bool few_rows_;
  staged_walk walk_;
  std::int64_t few_ = 1, many_ = 1, lines_ = 8, parts_ = 32;
};

}  // namespace dnnkit::opencl
