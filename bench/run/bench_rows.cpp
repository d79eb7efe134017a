// SPDX-License-Identifier: MIT
// Reductions, row operators, Resize and Pad inside networks against the bandwidth of a copy: bench_rows [part of a
// name], one JSON object a line. Measured is the last kernel of each network, the others only bring its input into the
// order that networks have there; bytes: each of its operands once. The copy moves as many bytes in the same memory, in
// turns.
#include "network.hpp"

namespace {

namespace dk = dnnkit;
using dk::f32;

// Times the last kernel.
struct stop_watch {
  double begin = 0, time = 0;
  static constexpr bool is_last(const dk::plan_view& plan, std::size_t step) { return step + 1 == plan.steps.size(); }
  void before(const dk::plan_view& plan, std::size_t step) noexcept {
    if (is_last(plan, step)) begin = bench::thread_seconds();
  }
  void after(const dk::plan_view& plan, std::size_t step) noexcept {
    if (is_last(plan, step)) time = bench::thread_seconds() - begin;
  }
};

// An image as convolutions leave it: channels last.
constexpr dk::tensor image(dk::builder& g, const char* name, std::int64_t channels, std::int64_t size) {
  return dk::max_pool(g.input(name, f32, {1, channels, size, size}), {.kernel_shape = {1, 1}});
}
// x + y + g, which no kernel before can compute, because g needs all of both; so the reader's prologue does.
constexpr dk::tensor sum_of_images(dk::builder& g, std::int64_t channels, std::int64_t size) {
  const dk::tensor x = image(g, "x", channels, size), y = image(g, "y", channels, size);
  const dk::row_axes all{2, 3};
  return x + (dk::reduce_max(x, {.axes = all}) + dk::reduce_max(y, {.axes = all})) + y;
}

template <std::int64_t Channels, std::int64_t Size> struct pooled {
  static constexpr void build(dk::builder& g) { g.output("y", dk::global_average_pool(image(g, "x", Channels, Size))); }
};
template <std::int64_t Channels, std::int64_t Size> struct pooled_sum {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::global_average_pool(sum_of_images(g, Channels, Size)));
  }
};
template <std::int64_t Channels, std::int64_t Size> struct pooled_rows {  // row-major
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::global_average_pool(g.input("x", f32, {1, Channels, Size, Size})));
  }
};
template <std::int64_t Channels, std::int64_t Size> struct softmax_of_channels {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = image(g, "x", Channels, Size);
    g.output("y", dk::transpose(dk::softmax(x, {.axis = 1}), {.perm = {0, 2, 3, 1}}));
  }
};
template <std::int64_t Channels, std::int64_t Size> struct softmax_of_sum {
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = sum_of_images(g, Channels, Size);
    g.output("y", dk::transpose(dk::softmax(y, {.axis = 1}), {.perm = {0, 2, 3, 1}}));
  }
};
template <std::int64_t Rows, std::int64_t Width> struct softmax_of_rows {
  static constexpr void build(dk::builder& g) { g.output("y", dk::softmax(g.input("x", f32, {Rows, Width}))); }
};
template <std::int64_t Rows, std::int64_t Width> struct layer_norm {
  static constexpr void build(dk::builder& g) {
    const dk::tensor scale = g.input("scale", f32, {Width}), bias = g.input("bias", f32, {Width});
    g.output("y", dk::layer_normalization(g.input("x", f32, {Rows, Width}), scale, bias));
  }
};
// Over the channels of an image, as in ConvNeXt.
template <std::int64_t Channels, std::int64_t Size> struct layer_norm_of_sum {
  static constexpr void build(dk::builder& g) {
    const dk::tensor scale = g.input("scale", f32, {Channels}), bias = g.input("bias", f32, {Channels});
    const dk::tensor x = dk::transpose(sum_of_images(g, Channels, Size), {.perm = {0, 2, 3, 1}});
    g.output("y", dk::layer_normalization(x, scale, bias));
  }
};
template <std::int64_t Channels, std::int64_t Size, std::int64_t Groups> struct group_norm {
  static constexpr void build(dk::builder& g) {
    const dk::tensor scale = g.input("scale", f32, {Channels}), bias = g.input("bias", f32, {Channels});
    const dk::tensor y = dk::group_normalization(image(g, "x", Channels, Size), scale, bias, {.num_groups = Groups});
    g.output("y", dk::transpose(y, {.perm = {0, 2, 3, 1}}));
  }
};
template <std::int64_t Channels, std::int64_t Size> struct instance_norm {
  static constexpr void build(dk::builder& g) {
    const dk::tensor scale = g.input("scale", f32, {Channels}), bias = g.input("bias", f32, {Channels});
    const dk::tensor y = dk::instance_normalization(image(g, "x", Channels, Size), scale, bias);
    g.output("y", dk::transpose(y, {.perm = {0, 2, 3, 1}}));
  }
};

// Twice as high and as wide.
template <std::int64_t Channels, std::int64_t Size, dk::resize_mode Mode> struct resized {
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::resize(image(g, "x", Channels, Size), {.scales = {1, 1, 2, 2}, .mode = Mode});
    g.output("y", dk::transpose(y, {.perm = {0, 2, 3, 1}}));
  }
};
template <std::int64_t Channels, std::int64_t Size, dk::resize_mode Mode> struct resized_planes {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::resize(g.input("x", f32, {1, Channels, Size, Size}), {.scales = {1, 1, 2, 2}, .mode = Mode}));
  }
};
// Which no operator behind can take the place of.
template <std::int64_t Channels, std::int64_t Size, dk::pad_mode Mode> struct padded {
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::pad(image(g, "x", Channels, Size), {.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = Mode});
    g.output("y", dk::transpose(y, {.perm = {0, 2, 3, 1}}));
  }
};
template <std::int64_t Channels, std::int64_t Size, dk::pad_mode Mode> struct padded_planes {
  static constexpr void build(dk::builder& g) {
    g.output("y",
             dk::pad(g.input("x", f32, {1, Channels, Size, Size}), {.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = Mode}));
  }
};

// Bytes of the last kernel's operands.
std::int64_t bytes_of(const dk::plan_view& plan) {
  std::int64_t bytes = 0;
  for (const std::int32_t b : plan.numbers_of(plan.steps.back().operands)) {
    const dk::plan::buffer& of = plan.buffers[static_cast<std::size_t>(b)];
    bytes += of.elements.value() * static_cast<std::int64_t>(dk::size_of(of.type.type));
  }
  return bytes;
}

template <class Model> void measure(const bench::options& o, const std::string& name) {
  if (!o.wants(name)) return;
  using net = dk::compile<Model>;
  bench::network<net, stop_watch> n;
  const auto run = [&] {
    n.run();
    return n.observer().time;
  };

  const std::int64_t bytes = bytes_of(net::plan);
  const bench::buffer from(bytes / 8), to(bytes / 8);
  const auto copy = [&] {
    std::memcpy(from.data(), to.data(), static_cast<std::size_t>(bytes / 2));  // leaves both where a run would
    const double begin = bench::thread_seconds();
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(bytes / 2));
    asm volatile("" : : "r"(to.data()) : "memory");
    return bench::thread_seconds() - begin;
  };
  run();
  copy();
  std::vector<double> times, copies;
  for (const double begin = bench::seconds();
       times.size() < 15 || (bench::seconds() - begin < 0.3 && times.size() < 1001);) {
    copies.push_back(copy());
    run();  // as copy(): what it is going to write is near
    times.push_back(run());
  }
  const double rate = static_cast<double>(bytes) / bench::median(times) / 1e9,
               copied = static_cast<double>(bytes) / bench::median(copies) / 1e9;
  std::printf(R"({"name": "%s", "bytes": %lld, "gb_per_s": %.2f, "copy_gb_per_s": %.2f, "percent": %.1f})"
              "\n",
              name.c_str(), static_cast<long long>(bytes), rate, copied, 100 * rate / copied);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  measure<pooled<256, 56>>(o, "pooled_256x56x56");
  measure<pooled_sum<256, 56>>(o, "pooled_sum_256x56x56");
  measure<pooled<2048, 7>>(o, "pooled_2048x7x7");
  measure<pooled_sum<2048, 7>>(o, "pooled_sum_2048x7x7");
  measure<pooled_rows<2048, 7>>(o, "pooled_rows_2048x7x7");
  measure<softmax_of_channels<21, 128>>(o, "softmax_of_channels_21x128x128");
  measure<softmax_of_channels<256, 56>>(o, "softmax_of_channels_256x56x56");
  measure<softmax_of_sum<256, 56>>(o, "softmax_of_sum_256x56x56");
  measure<softmax_of_rows<1536, 128>>(o, "softmax_of_rows_1536x128");
  measure<layer_norm<128, 768>>(o, "layer_norm_128x768");
  measure<layer_norm<3136, 96>>(o, "layer_norm_3136x96");
  measure<layer_norm_of_sum<96, 56>>(o, "layer_norm_of_sum_96x56x56");
  measure<group_norm<128, 256, 32>>(o, "group_norm_128x256x256_32");
  measure<group_norm<512, 64, 32>>(o, "group_norm_512x64x64_32");
  measure<group_norm<320, 32, 32>>(o, "group_norm_320x32x32_32");
  measure<instance_norm<128, 128>>(o, "instance_norm_128x128x128");
  measure<resized<64, 80, dk::resize_mode::nearest>>(o, "resize_nearest_64x80x80");
  measure<resized<64, 80, dk::resize_mode::linear>>(o, "resize_linear_64x80x80");
  measure<resized<64, 80, dk::resize_mode::cubic>>(o, "resize_cubic_64x80x80");
  measure<resized_planes<32, 128, dk::resize_mode::nearest>>(o, "resize_nearest_planes_32x128x128");
  measure<resized_planes<32, 128, dk::resize_mode::linear>>(o, "resize_linear_planes_32x128x128");
  measure<resized_planes<32, 128, dk::resize_mode::cubic>>(o, "resize_cubic_planes_32x128x128");
  measure<padded<64, 80, dk::pad_mode::constant>>(o, "pad_64x80x80");
  measure<padded<64, 80, dk::pad_mode::reflect>>(o, "pad_reflect_64x80x80");
  measure<padded_planes<32, 128, dk::pad_mode::constant>>(o, "pad_planes_32x128x128");
  measure<padded_planes<32, 128, dk::pad_mode::reflect>>(o, "pad_reflect_planes_32x128x128");
}
