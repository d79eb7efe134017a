// SPDX-License-Identifier: MIT
// The kernel of a depthwise convolution of images: a group makes a rectangle of pixels of some channels
// (depthwise_tile.hpp). The part of the input that their windows see is staged in local memory, zeros around it, in the
// order that it is stored in, and so are the weights. An item has pixels of a column: what it reads of the input's
// column serves all taps that lie above each other. Sums go through local memory, too, so that what follows reads and
// writes neighbours side by side whatever the order of the output.
#pragma once

#include <cstdint>

#include "dnnkit/opencl/depthwise_tile.hpp"
#include "dnnkit/opencl/tiled_windows.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// Of a convolution with two spatial axes, a channel of the input a channel of the output.
template <class Set> constexpr depthwise_extents depthwise_extents_of(const convolution_shape<Set>& c) {
  depthwise_extents x{window_extents_of(c)};
  x.m = c.op.group;
  x.batch = c.input[0].value();
  const std::optional<recipe_load> input = detail::main_load(c.w, c.w.input(0));
  x.reads_channels = input && detail::run_along(c.w, *input, c.input, 1, 2).is_dense;
  return x;
}

template <class Set> class depthwise_windows {
 public:
  constexpr depthwise_windows(const convolution_shape<Set>& shape, const depthwise_tile& tile)
      : shape_(shape), w_(shape.w), x_(depthwise_extents_of(shape)), t_(tile) {}

  constexpr void write() {
    auto& out = w_.out;
    out << "// " << w_.self.anchor.name << ", depthwise: " << t_.px << 'x' << t_.height() << " pixels of "
        << t_.channels << " channels, " << t_.rows << " an item\n";
    w_.comment_nodes();
    out << "__attribute__((reqd_work_group_size(" << t_.items() << ",1,1)))\n";
    w_.begin(x_.groups(t_), t_.items());
    const std::int64_t across = detail::divided_up(x_.width, t_.px), down = detail::divided_up(x_.height, t_.height()),
                       deep = detail::divided_up(x_.m, t_.channels);
    out << "local float work[" << x_.local(t_) << "];\nlocal float*const taps=work+" << t_.channels * x_.pitch(t_)
        << ";\nconst int id=get_local_id(0),group=get_group_id(0),column=id%" << t_.px << ",row=id/" << t_.px << '%'
        << t_.bands << '*' << t_.rows << ",layer=id/" << t_.px * t_.bands << ";\nconst int first=group%" << deep << '*'
        << t_.channels << ",left=group/" << deep << '%' << across << '*' << t_.px << ",top=group/" << deep * across
        << '%' << down << '*' << t_.height() << ",image=group/" << deep * across * down << ";\n";
    stage_pixels();
    stage_weights();
    out << "barrier(CLK_LOCAL_MEM_FENCE);\n";
    multiply();
    store();
    w_.end();
  }

 private:
  constexpr bool is_cut() const { return x_.m % t_.channels != 0; }

  constexpr void stage_pixels() {
    auto& out = w_.out;
    const std::int64_t patch = x_.patch(t_), numbers = t_.channels * patch;
    out << "float staged[" << detail::divided_up(numbers, t_.items()) << "];\n";
    const auto place = [&] {
      if (x_.reads_channels) out << "const int channel=e%" << t_.channels << ",pixel=e/" << t_.channels << ";\n";
      else out << "const int channel=e/" << patch << ",pixel=e%" << patch << ";\n";
    };
    w_.share(numbers, t_.items(), [&] {
      place();
      out << "const int x0=image,x1=first+channel,x2=top*" << x_.stride[0] << "+pixel/" << x_.patch_width(t_) << '-'
          << shape_.over.pad_begin(0) << ",x3=left*" << x_.stride[1] << "+pixel%" << x_.patch_width(t_) << '-'
          << shape_.over.pad_begin(1) << ";\nif((uint)x2<" << shape_.input[2].value() << "&&(uint)x3<"
          << shape_.input[3].value();
      if (is_cut()) out << "&&x1<" << x_.m;
      out << "){\n";
      const expression value = tree_writer<Set>(w_, 'x')(w_.input(0), w_.self.anchor.name);
      out << "staged[q]=" << value << ";\n}else staged[q]=0;\n";
    });
    w_.share(numbers, t_.items(), [&] {
      place();
      out << "work[channel*" << x_.pitch(t_) << "+pixel]=staged[q];\n";
    });
  }
  constexpr void stage_weights() {
    auto& out = w_.out;
    w_.share(t_.channels * x_.taps(), t_.items(), [&] {
      out << "const int y0=first+e/" << x_.taps() << ",y1=0,y2=e/" << x_.kernel[1] << '%' << x_.kernel[0] << ",y3=e%"
          << x_.kernel[1] << ";\n";
      if (is_cut()) out << "if(y0<" << x_.m << ')';
      out << "{\n";
      const expression tap = tree_writer<Set>(w_, 'y')(w_.input(1), w_.self.anchor.name);
      out << "taps[e]=" << tap << ";\n}\n";
    });
  }

  constexpr void multiply() {
    auto& out = w_.out;
    const std::int64_t column = x_.reach(0, t_.rows);
    out << "local const float*const seen=work+layer*" << x_.pitch(t_) << "+row*" << x_.stride[0] * x_.patch_width(t_)
        << "+column*" << x_.stride[1] << ",*const by=taps+layer*" << x_.taps() << ";\nfloat sums[" << t_.rows
        << "];\ndnnkit_unroll(p," << t_.rows << ")sums[p]=0;\ndnnkit_unroll(kx," << x_.kernel[1] << "){\nfloat b["
        << column << "];\ndnnkit_unroll(r," << column << ")b[r]=seen[r*" << x_.patch_width(t_) << "+kx*"
        << x_.dilation[1] << "];\ndnnkit_unroll(ky," << x_.kernel[0] << "){\nconst float a=by[ky*" << x_.kernel[1]
        << "+kx];\ndnnkit_unroll(p," << t_.rows << ")sums[p]=fma(a,b[p*" << x_.stride[0] << "+ky*" << x_.dilation[0]
        << "],sums[p]);\n}\n}\n";
  }

  // Sums lie in local memory by channel, row and column, or, where the output has channels side by side, by row, column
  // and channel.
  constexpr void store() {
    auto& out = w_.out;
    const bool by_channel = writes_channels();
    out << "barrier(CLK_LOCAL_MEM_FENCE);\ndnnkit_unroll(p," << t_.rows << ")work[";
    if (by_channel) out << "((row+p)*" << t_.px << "+column)*" << t_.channels << "+layer";
    else out << "layer*" << t_.pixels() << "+(row+p)*" << t_.px << "+column";
    out << "]=sums[p];\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
    w_.begin_share(t_.channels * t_.pixels(), t_.items());
    if (by_channel)
      out << "const int c1=first+e%" << t_.channels << ",c2=top+e/" << t_.channels * t_.px << ",c3=left+e/"
          << t_.channels << '%' << t_.px << ";\n";
    else
      out << "const int c1=first+e/" << t_.pixels() << ",c2=top+e/" << t_.px << '%' << t_.height() << ",c3=left+e%"
          << t_.px << ";\n";
    w_.begin_within({{"c1", x_.m, t_.channels}, {"c2", x_.height, t_.height()}, {"c3", x_.width, t_.px}});
    out << "const int c0=image;\n";
    const expression sum(out, 't', out.new_name());
    out << "const float " << sum << "=work[e];\n";
    store_sum(shape_, sum);
    out << "}\n}\n";
  }
  constexpr bool writes_channels() const {
    const recipe_output& o = w_.plan.outputs[w_.self.outputs.first];
    for (const view_axis& a : w_.plan.axes_of(o.axes))
      if (a.of == 1 && a.stride == 1 && !w_.writes_texels()) return true;
    return false;
  }

  const convolution_shape<Set>& shape_;
  recipe_writer<Set>& w_;
  depthwise_extents x_;
  depthwise_tile t_;
};

}  // namespace dnnkit::opencl
