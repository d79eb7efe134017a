// SPDX-License-Identifier: MIT
// Example 2: a photograph at twice its size, by a network for images of any height and width.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <new>
#include <optional>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/inspect/dot.hpp"
#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/inspect/trace.hpp"
#include "dnnkit/runtime/progress.hpp"
#include "examples/support/arguments.hpp"
#include "examples/support/planes.hpp"
#include "examples/support/png.hpp"

namespace dk = dnnkit;
using dk::examples::image, dk::examples::load_png, dk::examples::size_text;

struct wdsr {  // WDSR-b: a residual network whose activations are wide and whose 3x3 convolutions are narrow
  static constexpr void build(dk::builder& g) {
    auto conv = [&](dk::tensor t, std::string_view name, int in, int out, int k) {
      const auto weight = g.weight(name, ".weight", {out, in, k, k}), bias = g.weight(name, ".bias", {out});
      return dk::conv(t, weight, bias, {.pads = dk::int_list::filled(4, k / 2)});
    };
    const auto x = g.input("x", dk::f32, {1, 3, dk::sym{"H", {1, 16384}}, dk::sym{"W", {1, 16384}}}) - 0.45;
    auto y = conv(x, "head", 3, 24, 3);
    for (int i = 0; i < 8; ++i) {
      auto part = [&](int j) { return dk::text("body.") << i << "." << j; };
      auto z = dk::relu(conv(y, part(0).view(), 24, 144, 1));
      z = conv(z, part(2).view(), 144, 20, 1);
      y = conv(z, part(3).view(), 20, 24, 3) + y;
    }
    y = conv(y, "tail", 24, 12, 3) + conv(x, "skip", 3, 12, 5);
    y = dk::depth_to_space(y, {.blocksize = 2, .mode = dk::op::depth_to_space_mode::crd}) + 0.45;
    g.output("y", dk::clip(y, {.min = 0, .max = 1}));
  }
};

using net = dk::compile<wdsr>;      // one program for all sizes
static_assert(net::kernels <= 27);  // one a convolution

// The image to compare with: the one given, else X_high.png beside X_low.png if it has the right size.
std::optional<image> find_reference(const cxxopts::ParseResult& arguments, const image& low) {
  const bool given = arguments.count("reference") != 0;
  std::string path = arguments[given ? "reference" : "in"].as<std::string>();
  if (!given) {
    if (!path.ends_with("_low.png")) return {};
    path.replace(path.size() - 7, 3, "high");
    if (!std::filesystem::exists(path)) return {};
  }
  image found = load_png(path);
  if (found.width == 2 * low.width && found.height == 2 * low.height) return found;
  if (!given) return {};
  throw dk::error("reference has another size", path, size_text({2 * low.width, 2 * low.height, 3, {}}),
                  size_text(found));
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  dk::replacing_file file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

void enlarge(const cxxopts::ParseResult& arguments) {
  const auto path = [&](const char* option) { return arguments[option].as<std::string>(); };
  dk::replacing_file out(path("out"));  // opened first: no work is done for a result that cannot be written
  std::optional<dk::replacing_file> trace;
  if (arguments.count("trace")) trace.emplace(path("trace"));
  const image low = load_png(path("in"));
  const std::optional<image> reference = find_reference(arguments, low);
  const auto height = static_cast<std::int64_t>(low.height), width = static_cast<std::int64_t>(low.width);
  if (arguments.count("dot")) write_text(path("dot"), dk::dot<net>());
  if (arguments.count("explain")) std::cout << dk::explain<net>({{"H", height}, {"W", width}});

  dk::thread_pool loop(arguments["threads"].as<std::size_t>());             // of one thread: the calling one
  const dk::packed_weights<net> weights(dk::safetensors(path("weights")));  // packed once for all sessions
  const std::vector<float> x = to_planes(low);
  std::vector<float> y(4 * x.size());
  const bool is_terminal = isatty(STDERR_FILENO) != 0;  // elsewhere one line, in the end
  auto bar = dk::progress([is_terminal](std::size_t done, std::size_t total) {
    if (is_terminal || done == total)
      std::cerr << (is_terminal ? "\r" : "") << "kernel " << done << " of " << total << (done == total ? "\n" : "")
                << std::flush;
  });
  dk::session<net, decltype(bar)> session(weights, bar);
  session.bind({{"H", height}, {"W", width}});
  session.run(loop, x, y);
  const image high = to_doubled_image(y, low);
  dk::examples::save_png(out, high);
  std::cout << out.name() << ": " << size_text(high) << " pixels\n";
  std::cout << std::fixed << std::setprecision(3);
  if (reference) std::cout << "PSNR " << psnr(*reference, y) << " dB\n";  // before rounding to 8 bits

  if (trace) {
    dk::session<net, dk::chrome_trace> traced(weights);
    traced.bind({{"H", height}, {"W", width}});
    traced.run(loop, x, y);
    traced.observer().write(*trace);
  }
  if (arguments.count("time")) {
    dk::session<net> timed(weights);
    timed.bind({{"H", height}, {"W", width}});
    timed.run(loop, x, y);
    std::array<double, 11> milliseconds;
    for (double& time : milliseconds) {
      const auto begin = std::chrono::steady_clock::now();
      timed.run(loop, x, y);
      time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + 5, milliseconds.end());
    std::cout << milliseconds[5] << '\n';
  }
}

int main(int argc, char** argv) {
  cxxopts::Options options("super_resolution", "Doubles the size of an image.");
  const auto text = [] { return cxxopts::value<std::string>(); };
  auto add = options.add_options();
  add("in", "PNG file to enlarge; transparency is enlarged by repeating pixels", text());
  add("out", "PNG file to write", text());
  add("weights", "safetensors file", text()->default_value(DNNKIT_ASSETS "/wdsr_x2.safetensors"));
  add("reference", "PNG file to compare with (if left out: X_high.png beside X_low.png)", text());
  add("threads", "number of threads, 1 to 1024", cxxopts::value<std::size_t>()->default_value("1"));
  add("explain", "print what was made of the network and why");
  add("dot", "write that as a Graphviz file", text());
  add("trace", "write when each kernel ran, for chrome://tracing", text());
  add("time", "print the median of 11 runs of the network in milliseconds, last");
  options.positional_help("IN.png OUT.png");
  options.parse_positional({"in", "out"});
  const cxxopts::ParseResult arguments = dk::examples::parse_arguments(options, argc, argv, {"in", "out"});
  if (const auto n = arguments["threads"].as<std::size_t>(); n < 1 || n > dk::thread_pool::largest) {
    std::cerr << "super_resolution: --threads takes 1 to 1024; see super_resolution --help\n";
    return 2;
  }
  try {
    enlarge(arguments);
  } catch (const dk::error& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  } catch (const std::bad_alloc&) {
    std::cerr << "not enough memory for an image of this size\n";
    return 1;
  }
}
