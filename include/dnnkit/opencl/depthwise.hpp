// SPDX-License-Identifier: MIT
// The kernel of a depthwise convolution: an item computes several neighbours of a row of the output from one strip of
// the input's row for each row of taps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dnnkit/opencl/tiled_convolution.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_depthwise(const convolution_shape<Set>& shape) {
  auto& w = shape.w;
  auto& out = w.out;
  constexpr std::int64_t group = 128, most_pixels = 4;
  const std::size_t last = shape.axes - 1, rank = shape.axes + 2;
  const std::int64_t width = w.space()[last + 2].value(), stride = shape.over.stride(last);
  const std::int64_t pixels = std::min(most_pixels, width), strips = (width + pixels - 1) / pixels;
  const std::int64_t strip = (pixels - 1) * stride + shape.over.reach(last);
  std::int64_t items = strips;
  for (std::size_t d = 0; d + 1 < rank; ++d) items *= w.space()[d].value();
  out << "// " << w.self.anchor.name << ", depthwise: " << pixels << " pixels an item, from strips of " << strip
      << '\n';
  w.begin((items + group - 1) / group, group);
  out << "int i=get_global_id(0);\nif(i>=" << items << ")return;\nconst int first=i%" << strips << '*' << pixels
      << ";i/=" << strips << ";\n";
  w.coordinates('c', w.space().first(rank - 1));
  out << "const int x0=c0,x1=c1/" << shape.out << ",y0=c1,y1=0;\nfloat sums[" << pixels << "];\n";
  expression bias(0);
  if (w.input(2).from != source::nothing) {
    out << "const int z0=c1;\n";
    bias = tree_writer<Set>(w, 'z')(w.input(2), w.self.anchor.name);
  }
  for (std::int64_t p = 0; p < pixels; ++p) out << "sums[" << p << "]=" << bias << ";\n";
  for (std::size_t i = 0; i < last; ++i) {
    out << "for(int k" << i << "=0;k" << i << '<' << shape.over.kernel(i) << ";++k" << i << "){\nconst int x" << i + 2
        << "=c" << i + 2 << '*' << shape.over.stride(i) << "+k" << i << '*' << shape.over.dilation(i) << '-'
        << shape.over.pad_begin(i) << ",y" << i + 2 << "=k" << i << ";\n";
    if (shape.has_border(i)) out << "if((uint)x" << i + 2 << ">=" << shape.input[i + 2].value() << ")continue;\n";
  }
  out << "float strip[" << strip << "];\n#pragma unroll\nfor(int s=0;s<" << strip << ";++s){\nstrip[s]=0;\nconst int x"
      << last + 2 << "=first*" << stride << "+s-" << shape.over.pad_begin(last) << ";\n";
  // The last item's pixels may end beyond the row.
  if (shape.has_border(last) || width % pixels != 0)
    out << "if((uint)x" << last + 2 << '<' << shape.input[last + 2].value() << ')';
  out << "{\n";
  const expression x = tree_writer<Set>(w, 'x')(w.input(0), w.self.anchor.name);
  out << "strip[s]=" << x << ";\n}\n}\n#pragma unroll\nfor(int k=0;k<" << shape.over.kernel(last)
      << ";++k){\nconst int y" << last + 2 << "=k;\n";
  const expression tap = tree_writer<Set>(w, 'y')(w.input(1), w.self.anchor.name);
  for (std::int64_t p = 0; p < pixels; ++p)
    out << "sums[" << p << "]=fma(" << tap << ",strip[" << p * stride << "+k*" << shape.over.dilation(last) << "],sums["
        << p << "]);\n";
  out << "}\n";
  for (std::size_t i = 0; i < last; ++i) out << "}\n";
  out << "#pragma unroll\nfor(int p=0;p<" << pixels << ";++p){\nconst int c" << rank - 1 << "=first+p;\n";
  if (w.writes_texels()) out << "const int lane=p;\n";
  if (width % pixels != 0) out << "if(c" << rank - 1 << '<' << width << ')';
  out << "{\n";
  const expression sum = expression::statement(element_kind::real, &out, "sums[p]");
  tree_writer<Set>(w, 'c', sum).store_outputs();
  out << "}\n}\n";
  w.end();
}

}  // namespace dnnkit::opencl
