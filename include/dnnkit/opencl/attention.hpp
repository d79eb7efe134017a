// SPDX-License-Identifier: MIT
// The kernel of attention, softmax(f(Q K')) V, whose scores are never stored: a group takes some queries of a head, and
// keys and values go through local memory a tile at a time, with the largest and the sum of each row of scores kept up
// to date (Milakov and Gimelshein, Online normalizer calculation for softmax; Dao et al., FlashAttention). Both
// products have tiles in registers, as tiled_loop.hpp has them; what comes next is read into registers while what is
// there is multiplied. Slices of the group take tiles of keys of their own, and their results are added in local
// memory, always in the same order, where the epilogue reads each element once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/opencl/attention_family.hpp"
#include "dnnkit/opencl/staged_load.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

template <class Set> class attention_writer {
 public:
  // w: of the last of the three stages.
  constexpr attention_writer(recipe_writer<Set>& w, const attention_extents& x, const attention_tile& tile)
      : w_(w), scores_(w, 0), weights_(w, 1), x_(x), t_(tile), rank_(w.space().size()) {}

  constexpr void write() {
    head();
    queries();
    w_.out << "float4 sums[" << t_.tm << "][" << t_.fours(x_) << "];\nfloat largest[" << t_.tm << "],total[" << t_.tm
           << "];\n";
    unroll("i", t_.tm);
    w_.out << "{\nlargest[i]=-FLT_MAX;\ntotal[i]=0;\n";
    unroll("j", t_.fours(x_));
    w_.out << "sums[i][j]=(float4)(0);\n}\n";
    registers();
    w_.out << "int turn=0;\n{\nconst int first=slice*" << t_.bk << ",c=0;\n";
    fetch(keys_);
    put(keys_);
    w_.out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor(int s=0;s<" << steps_ << ";++s){\nconst int first=(s*" << t_.slices
           << "+slice)*" << t_.bk << ";\nfloat scores[" << t_.tm << "][" << t_.tn << "];\n";
    unroll("i", t_.tm);
    unroll("j", t_.tn);
    w_.out << "scores[i][j]=0;\n";
    multiply_keys();
    weigh();
    multiply_values();
    w_.out << "}\n";
    merge();
    store();
    w_.end();
    for (const recipe_writer<Set>* stage : {&scores_, &weights_})
      if (w_.draft.error.empty()) w_.draft.error = stage->draft.error;
  }

 private:
  // K or V: `lines` of local memory, each of so many numbers `k` of a stage.
  struct staged {
    recipe_writer<Set>* w;
    operand_ref from;
    char prefix;
    staged_walk walk;
    bool is_keys;
    std::int64_t lines, depth, stages;
  };

  constexpr std::int64_t values_at_once() const { return t_.values_at_once(x_); }
  constexpr std::int64_t nt() const { return t_.items_of_slice(); }
  constexpr void unroll(std::string_view variable, std::int64_t times) {
    w_.out << "dnnkit_unroll(" << variable << ',' << times << ")";
  }

  constexpr void head() {
    const std::size_t q = scores_.input_shape(0).size(), k = scores_.input_shape(1).size(),
                      v = w_.input_shape(1).size();
    keys_ = {&scores_, scores_.input(1),      'y', walk_of(scores_, 1, k - 2, k - 1, k - 1, k), true, t_.bk,
             t_.step,  t_.depth(x_) / t_.step};
    values_ = {&w_,
               w_.input(1),
               'v',
               walk_of(w_, 1, v - 2, v - 1, v - 1, v),
               false,
               t_.width(x_),
               values_at_once(),
               t_.bk / values_at_once()};
    q_walk_ = walk_of(scores_, 0, q - 1, q, q - 2, q - 1);
    steps_ = t_.steps(x_);
    w_.out << "// attention of " << x_.heads << " heads, " << x_.queries << " queries, " << x_.keys << " keys of "
           << x_.depth << " numbers, values of " << x_.width << ": " << t_.bq << " queries a group, tiles of " << t_.bk
           << " keys, " << t_.tm << 'x' << t_.tn << " an item, " << t_.slices << (t_.slices == 1 ? " slice" : " slices")
           << " of the keys, stages of " << t_.step << " and " << values_at_once() << '\n';
    for (recipe_writer<Set>* stage : {&scores_, &weights_, &w_}) stage->comment_nodes();
    w_.out << "__attribute__((reqd_work_group_size(" << t_.items() << ",1,1)))\n";
    const std::int64_t blocks = detail::divided_up(x_.queries, t_.bq);
    w_.begin(blocks * x_.heads, t_.items());
    w_.out << "local float4 work[" << t_.local(x_) / 4 << "];\nconst int id=get_local_id(0),slice=id/" << nt()
           << ",t=id%" << nt() << ',';
    w_.place_items(t_.rows(), t_.across());
    w_.out << ",q0=get_group_id(0)%" << blocks << '*' << t_.bq << ";\nint i=get_group_id(0)/" << blocks << ";\n";
    w_.coordinates('g', w_.space().first(rank_ - 2));
    w_.out << "local float*const lq=(local float*)work,*const staged=lq+" << t_.bq * t_.query_pitch(x_) << "+slice*"
           << t_.slice(x_) << ",*const lp=staged+" << t_.buffers * t_.buffer(x_) << ",*const tops=lp+"
           << t_.bq * t_.weight_pitch() << ";\n";
  }

  // "const int y0=g0;...": the leading coordinates of an operand.
  constexpr void leading(char prefix, std::span<const local_extent> shape) {
    for (std::size_t d = 0; d + 2 < shape.size(); ++d) {
      w_.out << "const int " << prefix << d;
      if (shape[d] == 1) w_.out << "=0;\n";
      else w_.out << "=g" << d + rank_ - shape.size() << ";\n";
    }
  }
  // Four elements as they are stored, or one computed: "NAME=...;" at coordinates PREFIX0 ...
  constexpr void read(recipe_writer<Set>& w, operand_ref from, char prefix, bool by_four, std::string_view to) {
    if (by_four) {
      const recipe_load l = *detail::main_load(w, from);
      w_.out << to << '=';
      w.four_elements(l, prefix);
      w_.out << ";\n";
    } else {
      const expression x = tree_writer<Set>(w, prefix)(from, w.self.anchor.name);
      w_.out << to << '=' << x << ";\n";
    }
  }

  // The queries of a group, with zeros behind them as far as stages go.
  constexpr void queries() {
    const std::int64_t depth = t_.depth(x_);
    const bool by_four = q_walk_.by_four && q_walk_.along_k;
    const std::int64_t width = by_four ? 4 : 1;
    const auto shape = scores_.input_shape(0);
    w_.out << "for(int e=id;e<" << t_.bq * depth / width << ";e+=" << t_.items() << "){\nconst int lm=e/"
           << depth / width << ",k=e%" << depth / width << (by_four ? "*4" : "") << ";\n"
           << (by_four ? "float4" : "float") << " q=0;\n";
    if (depth > x_.depth) w_.out << "if(k<" << x_.depth << ')';
    w_.out << "{\n";
    leading('x', shape);
    w_.out << "const int x" << shape.size() - 2 << "=min(q0+lm," << x_.queries - 1 << "),x" << shape.size() - 1
           << "=k;\n";
    read(scores_, scores_.input(0), 'x', by_four, "q");
    w_.out << "}\n" << (by_four ? "*(local float4*)&" : "") << "lq[lm*" << t_.query_pitch(x_) << "+k]=q;\n}\n";
  }

  // --- keys and values, from memory into registers and from there into local memory
  constexpr std::int64_t numbers(const staged& s) const {
    return detail::divided_up(s.lines * s.depth / s.walk.width(), nt());
  }
  constexpr staged_registers form_of(const staged& s) const {
    return staged_registers::of(*s.w, s.from, s.walk.by_four);
  }
  constexpr std::string_view register_of(const staged& s) const {
    const staged_registers r = form_of(s);
    return r.bits ? (r.by_four ? "h4" : "h1") : r.by_four ? "f4" : "f1";
  }
  constexpr void registers() {
    const bool are_alike = register_of(keys_) == register_of(values_);
    const auto declare = [&](const staged& s, std::int64_t n) {
      w_.out << form_of(s).type() << ' ' << register_of(s) << '[' << n << "];\n";
    };
    declare(keys_, are_alike ? std::max(numbers(keys_), numbers(values_)) : numbers(keys_));
    if (!are_alike) declare(values_, numbers(values_));
  }
  // Begins the loop over an item's share of a stage: each number has its place, line ln and lk behind its beginning.
  constexpr void begin_share(const staged& s) {
    const std::int64_t loads = s.lines * s.depth / s.walk.width();
    unroll("q", numbers(s));
    w_.out << "{\nconst int e=t+q*" << nt() << ";\n";
    if (loads % nt() != 0) w_.out << "if(e<" << loads << ")";
    const std::int64_t fast = (s.walk.along_k ? s.depth : s.lines) / s.walk.width();
    w_.out << "{\nconst int l" << (s.walk.along_k ? 'k' : 'n') << "=e%" << fast << (s.walk.by_four ? "*4" : "") << ",l"
           << (s.walk.along_k ? 'n' : 'k') << "=e/" << fast << ";\n";
  }
  // Stage c of the tile whose first key is `first`. Keys beyond the last are read as the last is, and have no weight;
  // their values are 0, as no weight makes nothing of an infinity.
  constexpr void fetch(const staged& s) {
    const auto shape = s.w->input_shape(1);
    begin_share(s);
    const bool keys_by_four = s.walk.by_four && s.walk.along_k != s.is_keys;
    const bool cuts = steps_ * t_.slices * t_.bk > x_.keys;
    const auto key = [&](std::string_view of_tile) {
      if (cuts) w_.out << "min(first+" << of_tile << ',' << x_.keys - (keys_by_four ? 4 : 1) << ')';
      else w_.out << "first+" << of_tile;
    };
    leading(s.prefix, shape);
    w_.out << "const int " << s.prefix << shape.size() - 2 << '=';
    if (s.is_keys) {
      w_.out << "c*" << s.depth << "+lk," << s.prefix << shape.size() - 1 << '=';
      key("ln");
    } else {
      text of_tile;
      of_tile << "c*" << s.depth << "+lk";
      key(of_tile.view());
      w_.out << ',' << s.prefix << shape.size() - 1 << "=ln";
    }
    w_.out << ";\n";
    const std::int64_t covered = s.is_keys ? t_.depth(x_) : t_.width(x_), there = s.is_keys ? x_.depth : x_.width;
    if (covered > there || (cuts && !s.is_keys)) w_.out << register_of(s) << "[q]=0;\n";
    if (covered > there) w_.out << "if(" << s.prefix << shape.size() - (s.is_keys ? 2 : 1) << '<' << there << ')';
    if (cuts && !s.is_keys) w_.out << "if(first+c*" << s.depth << "+lk<" << x_.keys << ')';
    w_.out << "{\n";
    text to;
    to << register_of(s) << "[q]";
    if (const staged_registers r = form_of(s); r.bits) {
      w_.out << to.view() << '=';
      s.w->stored_bits(*r.bits, s.w->named(s.prefix), r.by_four);
      w_.out << ";\n";
    } else {
      read(*s.w, s.from, s.prefix, s.walk.by_four, to.view());
    }
    w_.out << "}\n}\n}\n";
  }
  // Keys line by line, values key by key.
  constexpr void put(const staged& s) {
    if (t_.buffers == 2) w_.out << "local float*const lb=staged+turn*" << t_.buffer(x_) << ";\n";
    else w_.out << "local float*const lb=staged;\n";
    begin_share(s);
    const std::int64_t pitch = s.is_keys ? t_.key_pitch() : t_.width(x_);
    const std::string_view place = s.is_keys ? "lb[ln*" : "lb[lk*", rest = s.is_keys ? "+lk" : "+ln";
    text element;
    element << register_of(s) << "[q]";
    const text value = form_of(s).value(element.view());
    if (!s.walk.by_four) {
      w_.out << place << pitch << rest << "]=" << value.view() << ";\n";
    } else if (s.walk.along_k == s.is_keys) {
      w_.out << "*(local float4*)&" << place << pitch << rest << "]=" << value.view() << ";\n";
    } else {
      w_.out << "const float4 four=" << value.view() << ";\n";
      for (int u = 0; u < 4; ++u)
        w_.out << place << pitch << rest << '+' << u * pitch << "]=four."
               << "xyzw"[u] << ";\n";
    }
    w_.out << "}\n}\n";
  }
  // Before what has been read is put where it goes: nobody reads there any more.
  constexpr void change_turn() {
    if (t_.buffers == 2) w_.out << "turn^=1;\n";
    else w_.out << "barrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  constexpr void write_buffer() {
    w_.out << "*const lb=(local const float4*)(staged";
    if (t_.buffers == 2) w_.out << "+turn*" << t_.buffer(x_);
    w_.out << ')';
  }
  // A loop over the stages of `s`, which has `multiplied` in each: while it is, the next of them, or the first of
  // `next`, is read.
  constexpr void stages(const staged& s, const staged& next, std::string_view next_tile, std::string_view condition,
                        auto multiplied, bool waits_at_end) {
    const auto in_both = [&](auto what, std::string_view tile_of_next) {
      if (s.stages > 1) w_.out << "if(u<" << s.stages - 1 << "){\n";
      if (s.stages > 1) {
        what(s, "", "u+1");
        w_.out << "}else ";
      }
      if (!condition.empty()) w_.out << "if(" << condition << ')';
      w_.out << "{\n";
      what(next, tile_of_next, "0");
      w_.out << "}\n";
    };
    w_.out << "for(int u=0;u<" << s.stages << ";++u){\n";
    in_both(
        [&](const staged& of, std::string_view tile, std::string_view stage) {
          if (!tile.empty()) w_.out << "const int first=" << tile << ";\n";
          w_.out << "const int c=" << stage << ";\n";
          fetch(of);
        },
        next_tile);
    w_.out << "{\n";
    multiplied();
    w_.out << "}\n";
    change_turn();
    in_both([&](const staged& of, std::string_view, std::string_view) { put(of); }, next_tile);
    if (!waits_at_end && s.stages > 1) w_.out << "if(u<" << s.stages - 1 << ")";
    if (waits_at_end || s.stages > 1) w_.out << "barrier(CLK_LOCAL_MEM_FENCE);\n";
    w_.out << "}\n";
  }

  // --- the two products, and what is between them
  constexpr void multiply_keys() {
    const std::int64_t pitch = t_.query_pitch(x_) / 4, key = t_.key_pitch() / 4;
    stages(
        keys_, values_, "", "",
        [&] {
          w_.out << "local const float4*const la=(local const float4*)lq+row*" << pitch << "+u*" << t_.step / 4 << ',';
          write_buffer();
          w_.out << "+column*" << key << ";\ndnnkit_score(" << t_.tm << ',' << t_.tn << ',' << t_.rows() * pitch << ','
                 << t_.across() * key << ',' << t_.step / 4 << ")\n";
        },
        false);
  }
  constexpr void multiply_values() {
    const std::int64_t pitch = t_.weight_pitch() / 4;
    text next_tile, is_next;
    next_tile << "((s+1)*" << t_.slices << "+slice)*" << t_.bk;
    is_next << "s<" << steps_ - 1;
    stages(
        values_, keys_, next_tile.view(), is_next.view(),
        [&] {
          w_.out << "local const float4*const la=(local const float4*)lp+row*" << pitch << "+u*" << values_at_once() / 4
                 << ',';
          write_buffer();
          w_.out << "+column;\ndnnkit_multiply(" << t_.tm << ',' << t_.fours(x_) << ',' << t_.rows() * pitch << ','
                 << t_.width(x_) / 4 << ',' << t_.across() << ',' << values_at_once() / 4 << ")\n";
        },
        true);
  }
  // What stands between the product and the softmax; weights for the products with values, and what has been summed so
  // far made smaller where a larger score has come.
  constexpr void weigh() {
    const operand_ref scored = plan_output(scores_), read = weights_.input(0);
    const bool has_tree = scored.from != source::anchor || read.from != source::load;
    const bool cuts = steps_ * t_.slices * t_.bk > x_.keys;
    if (has_tree || cuts) {
      unroll("i", t_.tm);
      unroll("j", t_.tn);
      w_.out << "{\nconst int n=first+column+j*" << t_.across() << ";\n";
      expression x(w_.out, 't', w_.out.new_name());
      w_.out << "const float " << x << "=scores[i][j];\n";
      if (has_tree) {
        for (std::size_t d = 0; d + 2 < rank_; ++d) w_.out << "const int c" << d << "=g" << d << ";\n";
        w_.out << "const int c" << rank_ - 2 << "=min(q0+row+i*" << t_.rows() << ',' << x_.queries - 1 << "),c"
               << rank_ - 1;
        if (cuts) w_.out << "=min(n," << x_.keys - 1 << ");\n";
        else w_.out << "=n;\n";
        x = tree_writer<Set>(scores_, 'c', x)(scored, scores_.self.anchor.name);
        x = tree_writer<Set>(weights_, 'c', x)(read, weights_.self.anchor.name);
      }
      w_.out << "scores[i][j]=";
      if (cuts) w_.out << "n<" << x_.keys << '?' << x << ":-INFINITY;\n}\n";
      else w_.out << x << ";\n}\n";
    }
    const std::int64_t across = t_.across();
    unroll("i", t_.tm);
    w_.out << "{\nfloat x=scores[i][0];\n";
    unroll("j", t_.tn - 1);
    w_.out << "x=fmax(x,scores[i][j+1]);\ntops[(row+i*" << t_.rows() << ")*" << across
           << "+column]=x;\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
    unroll("i", t_.tm);
    w_.out << "{\nfloat x=largest[i];\nlocal const float4*const all=(local const float4*)(tops+(row+i*" << t_.rows()
           << ")*" << across << ");\n";
    unroll("j", across / 4);
    w_.out << "x=fmax(x,fmax(fmax(all[j].x,all[j].y),fmax(all[j].z,all[j].w)));\n"
              "const float less=dnnkit_weight(largest[i],x);\nlargest[i]=x;\ntotal[i]*=less;\n";
    unroll("j", t_.fours(x_));
    w_.out << "sums[i][j]*=less;\n";
    unroll("j", t_.tn);
    w_.out << "{\nconst float weight=dnnkit_weight(scores[i][j],x);\ntotal[i]+=weight;\nlp[(row+i*" << t_.rows() << ")*"
           << t_.weight_pitch() << "+column+j*" << across << "]=weight;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  static constexpr operand_ref plan_output(const recipe_writer<Set>& w) {
    return w.plan.outputs[w.self.outputs.first].value;
  }

  // --- the slices' results are one: all of them relative to the largest score of a row, divided by its sum
  constexpr void merge() {
    const std::int64_t across = t_.across(), lines = t_.slices * t_.bq;
    w_.out << "local float*const totals=lq,*const parts=lq+" << lines * across << ",*const results=parts+" << lines
           << ";\n";
    unroll("i", t_.tm);
    w_.out << "{\nconst int line=slice*" << t_.bq << "+row+i*" << t_.rows() << ";\ntotals[line*" << across
           << "+column]=total[i];\nif(column==0)parts[line]=largest[i];\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
              "for(int e=id;e<"
           << t_.bq << ";e+=" << t_.items() << "){\nfloat x=parts[e],sum=0;\nfor(int s=e;s<" << lines << ";s+=" << t_.bq
           << ")x=fmax(x,parts[s]);\nfor(int s=e;s<" << lines << ";s+=" << t_.bq
           << "){\nconst float part=dnnkit_weight(parts[s],x);\nfloat mine=0;\nfor(int j=0;j<" << across
           << ";++j)mine+=totals[s*" << across << "+j];\nparts[s]=part;\nsum+=part*mine;\n}\nfor(int s=e;s<" << lines
           << ";s+=" << t_.bq << ")parts[s]/=sum;\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
    unroll("i", t_.tm);
    w_.out << "{\nconst int line=slice*" << t_.bq << "+row+i*" << t_.rows() << ";\n";
    unroll("j", t_.fours(x_));
    w_.out << "((local float4*)results)[line*" << t_.width(x_) / 4 << "+column+j*" << across
           << "]=sums[i][j]*parts[line];\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  constexpr void store() {
    w_.begin_share(t_.bq * x_.width, t_.items());
    w_.out << "const int lm=e/" << x_.width << ",n=e%" << x_.width << ",m=q0+lm;\n";
    if (x_.queries % t_.bq != 0) w_.out << "if(m<" << x_.queries << ')';
    w_.out << "{\n";
    const expression sum(w_.out, 't', w_.out.new_name());
    w_.out << "const float " << sum << "=results[lm*" << t_.width(x_) << "+n]";
    for (std::int64_t s = 1; s < t_.slices; ++s)
      w_.out << "+results[lm*" << t_.width(x_) << "+n+" << s * t_.bq * t_.width(x_) << ']';
    w_.out << ";\n";
    for (std::size_t d = 0; d + 2 < rank_; ++d) w_.out << "const int c" << d << "=g" << d << ";\n";
    w_.out << "const int c" << rank_ - 2 << "=m,c" << rank_ - 1 << "=n;\n";
    tree_writer<Set>(w_, 'c', sum).store_outputs();
    w_.out << "}\n}\n";
  }

  recipe_writer<Set>& w_;
  recipe_writer<Set> scores_, weights_;
  attention_extents x_;
  attention_tile t_;
  std::size_t rank_;
  staged keys_{}, values_{};
  staged_walk q_walk_;
  std::int64_t steps_ = 1;
};

// Writes the kernel of a recipe of several stages, which are those of attention: no others are joined for this target.
template <class Set> constexpr void write_attention(recipe_writer<Set>& w, const attention_tile& tile) {
  const attention_stages stages(kernel_spec(w.plan, w.self));
  if (const std::string_view why = stages.unfit(); !why.empty()) return w.fail(w.self.anchor.name, why);
  if (tile.bq == 0) return w.fail(w.self.anchor.name, "local memory does not hold some queries and keys of a head");
  attention_writer<Set>(w, stages.extents(), tile).write();
}
template <class Set> constexpr void write_attention(recipe_writer<Set>& w) {
  const attention_stages stages(kernel_spec(w.plan, w.self));
  write_attention(w, stages.unfit().empty() ? choose_attention_tile(stages.extents()) : attention_tile{.bq = 0});
}

}  // namespace dnnkit::opencl
