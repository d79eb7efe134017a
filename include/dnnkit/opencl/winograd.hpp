// SPDX-License-Identifier: MIT
// The kernel of a convolution of images with 3 x 3 taps by Winograd's F(2x2, 3x3) (Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, section 4.1): a square of 2 x 2 outputs sees 4 x 4 elements of a channel of the input.
// Transformed, and so the taps, they are multiplied element by element, so that the sum over channels is 16 products of
// matrices, weights by squares; what comes of these is transformed back. Of 36 multiplications 16 are left.
// A group transforms what it stages when it goes to local memory (winograd_tile.hpp): weights too, which are read as
// they lie. Items are for elements of one position; what all positions have of a square is brought together in local
// memory, where the epilogue reads it. Groups that share a tile hand their sums over as those of tiled_loop.hpp do.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/tiled_windows.hpp"
#include "dnnkit/opencl/winograd_tile.hpp"

namespace dnnkit::opencl {

template <class Set> class winograd_windows {
 public:
  constexpr winograd_windows(const convolution_shape<Set>& shape, const winograd_tile& tile)
      : shape_(shape),
        w_(shape.w),
        x_(window_extents_of(shape)),
        t_(tile),
        steps_(detail::divided_up(x_.k, t_.depth * t_.parts)),
        tiles_(groups_of(x_, t_)) {}

  constexpr void write() {
    auto& out = w_.out;
    out << "// " << w_.self.anchor.name << ' ' << x_.m << 'x' << x_.height << 'x' << x_.width << " from " << x_.k
        << " channels by Winograd's algorithm: " << t_.bm << " channels of " << t_.bt << " squares, " << t_.tm << 'x'
        << t_.tn << " an item, stages of " << t_.depth;
    if (t_.parts != 1) out << ", " << t_.parts << " groups a tile";
    out << '\n';
    w_.comment_nodes();
    out << "__attribute__((reqd_work_group_size(" << t_.items() << ",1,1)))\n";
    work_size work;
    work.known = tiles_ * t_.parts;
    work.group_size = t_.items();
    if (t_.parts != 1) work.counters = tiles_, work.handed_numbers = work.known * 4 * t_.bm * t_.bt;
    w_.begin(work);
    const std::int64_t blocks = detail::divided_up(x_.m, t_.bm), columns = detail::divided_up(squares(x_), t_.bt);
    out << "local float4 work[" << t_.local() / 4
        << "];\nconst int id=get_local_id(0),group=get_group_id(0),position=id/" << t_.items_of_position() << ",t=id%"
        << t_.items_of_position() << ',';
    w_.place_items(t_.down(), t_.across());
    out << ";\n";
    if (t_.parts != 1) out << "const int tile=group%" << tiles_ << ",share=group/" << tiles_ << ";\n";
    const std::string_view tile = t_.parts != 1 ? "tile" : "group";
    out << "const int m0=" << tile << '%' << blocks << '*' << t_.bm << ",n0=" << tile << '/' << blocks << '%' << columns
        << '*' << t_.bt << ",z=" << tile << '/' << blocks * columns << ";\n";
    write_image(shape_);
    stages();
    results();
    w_.end();
  }

 private:
  constexpr std::int64_t weights() const { return t_.bm * t_.depth; }  // tasks of a stage
  constexpr std::int64_t tasks() const { return (t_.bm + t_.bt) * t_.depth; }
  constexpr bool is_cut() const { return x_.k % (t_.depth * steps_ * t_.parts) != 0; }

  constexpr void stages() {
    auto& out = w_.out;
    const bool has_bits = registers(0).bits && registers(1).bits;
    out << "float4 sums[" << t_.tm << "][" << t_.tn / 4 << "];\ndnnkit_unroll(i," << t_.tm << ")dnnkit_unroll(j,"
        << t_.tn / 4 << ")sums[i][j]=(float4)(0);\nfor(int s=0;s<=" << steps_ << ";++s){\n"
        << (has_bits ? "ushort" : "float") << " staged[" << detail::divided_up(tasks(), t_.items()) << "][16];\nif(s<"
        << steps_ << "){  // the next stage into registers\nconst int first=";
    if (t_.parts != 1) out << "(share*" << steps_ << "+s)";
    else out << 's';
    out << '*' << t_.depth << ";\n";
    share([&] { fetch_weights(has_bits); }, [&] { fetch_pixels(has_bits); });
    out << "}\nif(s>0){  // this stage is multiplied\nlocal const float4*const from=work+(s-1)%2*" << t_.stage() / 4
        << "+position*" << t_.of_position() / 4 << ";\n";
    const auto of_channel = [&](std::int64_t pitch) {
      if (t_.keeps_loop()) out << "+c*" << pitch / 4;
    };
    if (t_.keeps_loop()) out << "_Pragma(\"unroll 1\")for(int c=0;c<" << t_.depth << ";++c)";
    out << "{\nlocal const float4*const la=from+row";
    of_channel(t_.pitch(t_.bm));
    out << ",*const lb=from+" << t_.depth * t_.pitch(t_.bm) / 4 << "+column";
    of_channel(t_.pitch(t_.bt));
    out << ";\ndnnkit_multiply_stage(" << t_.tm / 4 << ',' << t_.tn / 4 << ',' << t_.pitch(t_.bm) / 4 << ','
        << t_.pitch(t_.bt) / 4 << ',' << t_.down() << ',' << t_.across() << ',' << (t_.keeps_loop() ? 1 : t_.depth)
        << ")\n}\n}\nif(s<" << steps_
        << "){  // the next one is transformed\nlocal float*const to=(local float*)work+s%2*" << t_.stage() << ";\n";
    share([&] { put_weights(has_bits); }, [&] { put_pixels(has_bits); });
    out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n";
  }
  // What each of a stage's tasks does: a filter's taps of a channel, or what a square sees of one.
  constexpr void share(auto of_weights, auto of_pixels) {
    w_.share(tasks(), t_.items(), [&] {
      w_.out << "if(e<" << weights() << "){\nconst int lk=e%" << t_.depth << ",lm=e/" << t_.depth << ";\n";
      of_weights();
      w_.out << "}else{\nconst int lt=(e-" << weights() << ")%" << t_.bt << ",lk=(e-" << weights() << ")/" << t_.bt
             << ";\n";
      of_pixels();
      w_.out << "}\n";
    });
  }
  constexpr void fetch_weights(bool has_bits) {
    auto& out = w_.out;
    out << "dnnkit_unroll(i,9){\nconst int ";
    write_filter(shape_, t_.bm);
    out << ",y1=first+lk,y2=i/3,y3=i%3;\n";
    if (is_cut()) out << "if(y1<" << x_.k << ')';
    out << "{\n";
    read(1, 'y', has_bits);
    out << (is_cut() ? "}else staged[q][i]=0;\n}\n" : "}\n}\n");
  }
  constexpr void fetch_pixels(bool has_bits) {
    auto& out = w_.out;
    const std::int64_t across = squares(x_.width);
    out << "const int k=first+lk,square=n0+lt;\ndnnkit_unroll(i,16){\nconst int x0=image,x1=";
    if (shape_.op.group != 1) out << "part*" << x_.k << '+';
    out << "k,x2=square/" << across << "*2+i/4-" << shape_.over.pad_begin(0) << ",x3=square%" << across << "*2+i%4-"
        << shape_.over.pad_begin(1) << ";\nif((uint)x2<" << shape_.input[2].value() << "&&(uint)x3<"
        << shape_.input[3].value();
    if (is_cut()) out << "&&k<" << x_.k;
    out << "){\n";
    read(0, 'x', has_bits);
    out << "}else staged[q][i]=0;\n}\n";
  }
  constexpr staged_registers registers(std::size_t input) const {
    return staged_registers::of(w_, w_.input(input), false);
  }
  constexpr void read(std::size_t input, char prefix, bool has_bits) {
    write_staged(w_, input, prefix, "staged[q][i]", has_bits ? registers(input).bits : std::nullopt);
    w_.out << ";\n";
  }

  constexpr void begin_put(std::int64_t numbers, bool has_bits) {
    w_.out << "float d[" << numbers << "];\ndnnkit_unroll(i," << numbers
           << ")d[i]=" << (has_bits ? "dnnkit_float(staged[q][i])" : "staged[q][i]") << ";\n";
  }
  // The taps g of a filter become G g G', four rows and columns of three.
  constexpr void put_weights(bool has_bits) {
    begin_put(9, has_bits);
    w_.out << "float h[12];\ndnnkit_unroll(i,3){\nconst float even=0.5f*(d[i]+d[6+i]),odd=0.5f*d[3+i];\nh[i]=d[i];\n"
              "h[3+i]=even+odd;\nh[6+i]=even-odd;\nh[9+i]=d[6+i];\n}\nlocal float*const u=to+lk*"
           << t_.pitch(t_.bm)
           << "+lm;\ndnnkit_unroll(i,4){\nconst float even=0.5f*(h[3*i]+h[3*i+2]),odd=0.5f*h[3*i+1];\n";
    put_row("h[3*i]", "even+odd", "even-odd", "h[3*i+2]");
  }
  // What a square sees, d, becomes B' d B: each column's differences and sums, then each row's.
  constexpr void put_pixels(bool has_bits) {
    begin_put(16, has_bits);
    w_.out << "float h[16];\ndnnkit_unroll(i,4){\nh[i]=d[i]-d[8+i];\nh[4+i]=d[4+i]+d[8+i];\nh[8+i]=d[8+i]-d[4+i];\n"
              "h[12+i]=d[4+i]-d[12+i];\n}\nlocal float*const u=to+"
           << t_.depth * t_.pitch(t_.bm) << "+lk*" << t_.pitch(t_.bt) << "+lt;\ndnnkit_unroll(i,4){\n";
    put_row("h[4*i]-h[4*i+2]", "h[4*i+1]+h[4*i+2]", "h[4*i+2]-h[4*i+1]", "h[4*i+1]-h[4*i+3]");
  }
  constexpr void put_row(std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
    const std::string_view of_row[] = {a, b, c, d};
    for (int j = 0; j < 4; ++j) w_.out << "u[(4*i+" << j << ")*" << t_.of_position() << "]=" << of_row[j] << ";\n";
    w_.out << "}\n";
  }

  constexpr void results() {
    auto& out = w_.out;
    const std::int64_t rows = 4 * t_.down(), columns = 4 * t_.across(), all = t_.turns() * t_.turn();
    const bool is_handed = t_.parts != 1;
    if (is_handed) out << "volatile global float4*const theirs=handed+tile*" << t_.parts * all << ";\n";
    out << "dnnkit_unroll(turn," << t_.turns() << "){  // what positions have of a square is transformed back\n"
        << "dnnkit_unroll(i,4)work[(position*" << rows << "+row*4+i)*" << t_.across() << "+column]=sums[turn/"
        << t_.tn / 4 << "*4+i][turn%" << t_.tn / 4
        << "];\nbarrier(CLK_LOCAL_MEM_FENCE);\nlocal const float*const all=(local const float*)work;\nfor(int e=id;e<"
        << t_.turn() << ";e+=" << t_.items() << "){\nfloat h[8];\ndnnkit_unroll(i,4){\nconst float a=all[e+i*"
        << t_.turn() << "],b=all[e+(4+i)*" << t_.turn() << "],c=all[e+(8+i)*" << t_.turn() << "],d=all[e+(12+i)*"
        << t_.turn() << "];\nh[i]=a+b+c;\nh[4+i]=b-c-d;\n}\n";
    const std::string_view square = "(float4)(h[0]+h[1]+h[2],h[1]-h[2]-h[3],h[4]+h[5]+h[6],h[5]-h[6]-h[7])";
    if (is_handed) {
      out << "theirs[share*" << all << "+turn*" << t_.turn() << "+e]=" << square << ";\n}\n";
    } else {
      out << "const float4 square=" << square << ";\n";
      store(rows, columns);
      out << "}\n";
    }
    out << "barrier(CLK_LOCAL_MEM_FENCE);\n}\n";
    if (!is_handed) return;
    w_.begin_last_group(t_.parts);
    out << "for(int f=id;f<" << all << ";f+=" << t_.items() << "){\nconst int turn=f/" << t_.turn() << ",e=f%"
        << t_.turn() << ";\nfloat4 of[" << t_.parts << "];\ndnnkit_unroll(p," << t_.parts << ")of[p]=theirs[p*" << all
        << "+f];\nfloat4 square=of[0];\ndnnkit_unroll(p," << t_.parts - 1 << ")square+=of[p+1];\n";
    store(rows, columns);
    out << "}\n}\n";
  }
  // Through what follows the convolution, where `square` is what there is of channel e / columns of the turn.
  constexpr void store(std::int64_t rows, std::int64_t columns) {
    auto& out = w_.out;
    const std::int64_t across = squares(x_.width);
    out << "const int m=m0+turn/" << t_.tn / 4 << '*' << rows << "+e/" << columns << ",n=n0+turn%" << t_.tn / 4 << '*'
        << columns << "+e%" << columns << ";\nconst float of_square[4]={square.x,square.y,square.z,square.w};\n"
        << "dnnkit_unroll(i,4){\nconst int c2=n/" << across << "*2+i/2,c3=n%" << across << "*2+i%2;\n";
    // Squares beyond the last lie below the image.
    const std::int64_t below = squares(x_) % t_.bt == 0 ? winograd_tile::side : x_.height + 1;
    w_.begin_within({{"m", x_.m, t_.bm}, {"c2", x_.height, below}, {"c3", x_.width, winograd_tile::side}});
    store_value(shape_, [&] { out << "of_square[i]"; });
    out << "}\n}\n";
  }

  const convolution_shape<Set>& shape_;
  recipe_writer<Set>& w_;
  window_extents x_;
  winograd_tile t_;
  std::int64_t steps_, tiles_;
};

}  // namespace dnnkit::opencl
