// SPDX-License-Identifier: MIT
// The kernel of a convolution of images whose filters have several taps: a group makes some channels of a rectangle of
// pixels (window_tile.hpp). The part of the input that all of its windows see is staged in local memory once, zeros
// around it, and so are the weights, those of a tap and a channel of the input side by side. An item has pixels of a
// column: what it reads of the input's column serves all taps that lie above each other. A stage is read into registers
// while the one before is multiplied; slices of the group have channels of their own in each stage, and their sums are
// added in local memory, always in the same order, where the epilogue reads each element once.
#pragma once

#include <cstdint>

#include "dnnkit/opencl/tiled_convolution.hpp"
#include "dnnkit/opencl/tree_writer.hpp"
#include "dnnkit/opencl/window_tile.hpp"

namespace dnnkit::opencl {

// Of a convolution with two spatial axes.
template <class Set> constexpr window_extents window_extents_of(const convolution_shape<Set>& c) {
  window_extents x{.m = c.out,
                   .k = c.in,
                   .height = c.w.space()[2].value(),
                   .width = c.w.space()[3].value(),
                   .batch = c.extents.batch};
  for (std::size_t i = 0; i < 2; ++i) {
    x.kernel[i] = c.over.kernel(i);
    x.stride[i] = c.over.stride(i);
    x.dilation[i] = c.over.dilation(i);
  }
  return x;
}

template <class Set> class tiled_windows {
 public:
  constexpr tiled_windows(const convolution_shape<Set>& shape, const window_tile& tile)
      : shape_(shape), w_(shape.w), x_(window_extents_of(shape)), t_(tile) {}

  constexpr void write() {
    auto& out = w_.out;
    out << "// " << w_.self.anchor.name << ' ' << x_.m << 'x' << x_.height << 'x' << x_.width << " from " << x_.k
        << " channels, " << x_.kernel[0] << 'x' << x_.kernel[1] << " taps: " << t_.bm << " channels of " << t_.px << 'x'
        << t_.py << " pixels, " << t_.tm << 'x' << window_tile::rows << " an item, " << t_.slices
        << (t_.slices == 1 ? " slice of " : " slices of ") << t_.channels
        << (t_.channels == 1 ? " channel" : " channels") << " a stage\n";
    w_.comment_nodes();
    out << "__attribute__((reqd_work_group_size(" << t_.items() << ",1,1)))\n";
    w_.begin(x_.groups(t_), t_.items());
    const std::int64_t blocks = detail::divided_up(x_.m, t_.bm), across = detail::divided_up(x_.width, t_.px),
                       down = detail::divided_up(x_.height, t_.py);
    out << "local float4 work[" << x_.local(t_) / 4
        << "];\nconst int id=get_local_id(0),group=get_group_id(0),slice=id/" << t_.items_of_slice() << ",t=id%"
        << t_.items_of_slice() << ";\nconst int column=t%" << t_.px << ",row=t/" << t_.px << '%'
        << t_.py / window_tile::rows << '*' << window_tile::rows << ",block=t/" << t_.px * (t_.py / window_tile::rows)
        << ";\nconst int m0=group%" << blocks << '*' << t_.bm << ",x0=group/" << blocks << '%' << across << '*' << t_.px
        << ",y0=group/" << blocks * across << '%' << down << '*' << t_.py << ",z=group/" << blocks * across * down
        << ";\n";
    write_image(shape_);
    stages();
    sums();
    w_.end();
  }

 private:
  constexpr std::int64_t weights() const { return t_.staged_channels() * x_.taps(); }  // of a stage and channel
  constexpr std::int64_t fours() const { return t_.tm / 4; }
  constexpr std::int64_t steps() const { return detail::divided_up(x_.k, t_.staged_channels()); }
  constexpr std::int64_t patch() const { return x_.patch(t_); }
  // Eight of a row of weights, of all rows, then the next eight: items that are neighbours read them side by side, and
  // write to different banks.
  constexpr std::int64_t weight_loads() const { return detail::divided_up(weights(), 8) * 8 * t_.bm; }
  constexpr std::int64_t patch_loads() const { return t_.staged_channels() * patch(); }

  constexpr void stages() {
    auto& out = w_.out;
    out << "float4 sums[" << fours() << "][" << window_tile::rows << "];\ndnnkit_unroll(i," << fours()
        << ")dnnkit_unroll(p," << window_tile::rows << ")sums[i][p]=(float4)(0);\nfor(int s=0;s<=" << steps()
        << ";++s){\n"
        << registers(1).type() << " fa[" << detail::divided_up(weight_loads(), t_.items()) << "];\n"
        << registers(0).type() << " fb[" << detail::divided_up(patch_loads(), t_.items()) << "];\nif(s<" << steps()
        << "){  // the next stage into registers\nconst int first=s*" << t_.staged_channels() << ";\n";
    fetch_weights();
    fetch_patches();
    out << "}\nif(s>0){  // this stage is multiplied\nlocal const float*const la=(local const float*)work+(s-1)%2*"
        << x_.stage(t_) << "+slice*" << t_.channels * x_.taps() * t_.pitch() << "+block*" << t_.tm
        << ",*const lb=(local const float*)work+(s-1)%2*" << x_.stage(t_) << '+' << weights() * t_.pitch() << "+slice*"
        << t_.channels * patch() << "+row*" << x_.stride[0] * x_.patch_width(t_) << "+column*" << x_.stride[1] << ";\n";
    multiply();
    out << "}\nif(s<" << steps() << "){\nlocal float*const la=(local float*)work+s%2*" << x_.stage(t_)
        << ",*const lb=la+" << weights() * t_.pitch() << ";\n";
    w_.share(weight_loads(), t_.items(), [&] {
      write_place_of_weight();
      out << "la[lk*" << t_.pitch() << "+lm]=" << registers(1).value("fa[q]").view() << ";\n}\n";
    });
    w_.share(patch_loads(), t_.items(), [&] { out << "lb[e]=" << registers(0).value("fb[q]").view() << ";\n"; });
    out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n";
  }

  constexpr void write_place_of_weight() {
    w_.out << "const int lm=e/8%" << t_.bm << ",lk=e%8+e/" << 8 * t_.bm << "*8;\n";
    if (weights() % 8 != 0) w_.out << "if(lk<" << weights() << ')';
    w_.out << "{\n";
  }
  constexpr void fetch_weights() {
    auto& out = w_.out;
    w_.share(weight_loads(), t_.items(), [&] {
      write_place_of_weight();
      if (is_cut()) out << "fa[q]=0;\nif(first+lk/" << x_.taps() << '<' << x_.k << "){\n";
      out << "const int ";
      write_filter(shape_, t_.bm);
      out << ",y1=first+lk/" << x_.taps() << ",y2=lk/" << x_.kernel[1] << '%' << x_.kernel[0] << ",y3=lk%"
          << x_.kernel[1] << ";\n";
      read(1, 'y', "fa[q]");
      out << (is_cut() ? ";\n}\n}\n" : ";\n}\n");
    });
  }
  constexpr staged_registers registers(std::size_t input) const {
    return staged_registers::of(w_, w_.input(input), false);
  }
  constexpr void read(std::size_t input, char prefix, std::string_view to) {
    write_staged(w_, input, prefix, to, registers(input).bits);
  }
  constexpr bool is_cut() const { return x_.k % t_.staged_channels() != 0; }
  constexpr void fetch_patches() {
    auto& out = w_.out;
    w_.share(patch_loads(), t_.items(), [&] {
      out << "const int k=first+e/" << patch() << ",x0_=x0,y0_=y0;\n{\nconst int x0=image,x1=";
      if (shape_.op.group != 1) out << "part*" << x_.k << '+';
      out << "k,x2=y0_*" << x_.stride[0] << "+e/" << x_.patch_width(t_) << '%' << x_.reach(0, t_.py) << '-'
          << shape_.over.pad_begin(0) << ",x3=x0_*" << x_.stride[1] << "+e%" << x_.patch_width(t_) << '-'
          << shape_.over.pad_begin(1) << ";\nif((uint)x2<" << shape_.input[2].value() << "&&(uint)x3<"
          << shape_.input[3].value();
      if (is_cut()) out << "&&k<" << x_.k;
      out << "){\n";
      read(0, 'x', "fb[q]");
      out << ";\n}else fb[q]=0;\n}\n";
    });
  }

  constexpr void multiply() {
    auto& out = w_.out;
    const std::int64_t column = x_.reach(0, window_tile::rows);
    const auto loop = [&](std::string_view variable, std::int64_t times) {  // compilers unroll what is short
      out << "for(int " << variable << "=0;" << variable << '<' << times << ";++" << variable << ')';
    };
    loop("c", t_.channels);
    loop("kx", x_.kernel[1]);
    out << "{\nfloat b[" << column << "];\ndnnkit_unroll(r," << column << ")b[r]=lb[c*" << patch() << "+r*"
        << x_.patch_width(t_) << "+kx*" << x_.dilation[1] << "];\ndnnkit_unroll(ky," << x_.kernel[0]
        << ")dnnkit_unroll(i," << fours() << "){\nconst float4 a=*(local const float4*)&la[(c*" << x_.taps() << "+ky*"
        << x_.kernel[1] << "+kx)*" << t_.pitch() << "+i*4];\ndnnkit_unroll(p," << window_tile::rows
        << ")sums[i][p]=fma(a,(float4)(b[p*" << x_.stride[0] << "+ky*" << x_.dilation[0] << "]),sums[i][p]);\n}\n}\n";
  }

  constexpr void sums() {
    auto& out = w_.out;
    const std::int64_t tile = t_.bm * t_.pixels(), kept = x_.kept_slices(t_);
    const auto place = [&](std::string_view slice) {
      out << "local float*const to=(local float*)work+";
      if (!slice.empty()) out << slice << '*' << tile << '+';
      out << "block*" << t_.tm * t_.pixels() << "+row*" << t_.px << "+column;\n";
    };
    const auto each = [&](std::string_view assigned, std::string_view read) {
      for (int u = 0; u < 4; ++u) {
        out << "dnnkit_unroll(i," << fours() << ")dnnkit_unroll(p," << window_tile::rows << ")";
        const auto mine = [&] {
          out << "sums[i][p]."
              << "xyzw"[u];
        };
        const auto theirs = [&] { out << "to[(i*4+" << u << ")*" << t_.pixels() << "+p*" << t_.px << ']'; };
        assigned == "to" ? theirs() : mine();
        out << read;
        assigned == "to" ? mine() : theirs();
        out << ";\n";
      }
    };
    out << "// the slices' sums are added, and stored through what follows the convolution\n";
    if (kept != t_.slices) {
      out << "if(slice>=" << kept << "){\n";
      out << "const int upper=slice-" << kept << ";\n";
      place("upper");
      each("to", "=");
      out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif(slice<" << kept << "){\n";
      place("slice");
      each("mine", "+=");
      each("to", "=");  // where nobody else has read
      out << "}\n";
    } else {
      out << "{\n";
      place(t_.slices == 1 ? "" : "slice");
      each("to", "=");
      out << "}\n";
    }
    out << "barrier(CLK_LOCAL_MEM_FENCE);\nlocal const float*const all=(local const float*)work;\n";
    w_.begin_share(tile, t_.items());
    out << "const int m=m0+e/" << t_.pixels() << ",c2=y0+e/" << t_.px << '%' << t_.py << ",c3=x0+e%" << t_.px << ";\n";
    w_.begin_within({{"m", x_.m, t_.bm}, {"c2", x_.height, t_.py}, {"c3", x_.width, t_.px}});
    store_value(shape_, [&] {
      out << "all[e]";
      for (std::int64_t s = 1; s < kept; ++s) out << "+all[e+" << s * tile << ']';
    });
    out << "}\n}\n";
  }

  const convolution_shape<Set>& shape_;
  recipe_writer<Set>& w_;
  window_extents x_;
  window_tile t_;
};

}  // namespace dnnkit::opencl
