// SPDX-License-Identifier: MIT
// Products, convolutions and attention on an OpenCL device, one kernel each, as networks have them: the first two with
// a bias and a Relu behind, attention beside the kernels that it is where stages are not joined.
// Each is compared with sums in double precision at some elements, then timed by the device's own clock (events) and by
// the host's (launches one behind the other and one finish, so with the gaps between them).
//   g++ -std=c++20 -O2 -Iinclude bench/run/bench_opencl.cpp -lOpenCL -o bench_opencl
//   DNNKIT_OPENCL_DEVICE=NVIDIA ./bench_opencl [--sweep [--within F] [--family NAME]] [--part I/N] [--lock FILE] [a
//   part of a name]
// --sweep: also with every other tile there is. --within F: with those that are expected to take at most F times what
// the chosen one is (of products and convolutions, but for depthwise ones).
// --family: those of this family only, as "windows".
// --part: kernels I, I + N, ... only. --lock: kernels are timed while FILE is locked, so that several processes, which
// have a part each, compile at once and time in turns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/opencl/attention.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "opencl_device.hpp"
#include "opencl_shapes.hpp"

namespace {

using namespace bench;
namespace cl = dnnkit::opencl;

// How a kernel divides its work.
struct division : cl::family_choice {
  cl::attention_tile attention{};
};

// Attention is one kernel, whatever is expected of it: launches cost more than anything.
constexpr dk::gpu_facts eager{.launch = 1e4, .gap = 5e3};
struct joining : dk::targets::opencl {
  struct joins {
    static constexpr const dk::gpu_facts& facts = eager;
    static constexpr auto families = dk::targets::opencl::joins::families;
  };
};

class problem {
 public:
  problem(const device& d, const shape& s) : d_(d), s_(s) {
    plan_ = dk::default_pipeline::run<joining>(graph_of(s)).plan;
    if (plan_.steps.size() != 1) throw std::runtime_error(s.name + " is not one kernel");
    std::mt19937 random(1);
    std::uniform_real_distribution<float> real(-1, 1);
    const auto made = [&](std::int64_t n) {
      std::vector<float> v(static_cast<std::size_t>(n));
      for (float& e : v) e = real(random);
      return v;
    };
    x_ = made(count(s.x));
    w_ = made(count(s.w));
    if (s.is_attention) b_ = made(count(s.w));
    else if (s.has_bias) b_ = made(s.is_conv ? s.w[0] : s.is_transposed ? s.w[s.w.size() - 2] : s.w.back());
    if (s.is_normalised) ones_.assign(static_cast<std::size_t>(s.w[0]), 1);
    const dk::plan_view v = view();
    for (std::int32_t b : v.numbers_of(v.steps[0].operands)) {
      const dk::plan::buffer& buffer = v.buffers[static_cast<std::size_t>(b)];
      if (buffer.where == dk::plan::storage::tiles) {
        buffers_.push_back(nullptr);
        continue;
      }
      const bool is_output = buffer.where == dk::plan::storage::output;
      const std::string_view name = v.text_of(buffer.name);
      std::vector<float>& data = name == "x" ? x_ : name == "w" ? w_ : name == "b" ? b_ : ones_;
      cl_int status = 0;
      const auto bytes = static_cast<std::size_t>(buffer.elements.value()) * sizeof(float);
      buffers_.push_back(clCreateBuffer(d.context,
                                        is_output ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                                        is_output ? nullptr : data.data(), &status));
      check(status, "making a buffer");
      if (is_output) output_ = buffers_.back(), outputs_ = buffer.elements.value();
    }
  }
  ~problem() {
    for (cl_mem b : buffers_)
      if (b != nullptr) clReleaseMemObject(b);
  }
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  division choice() const {
    cl::source_writer nowhere(nullptr, 0);
    const dk::plan_view plan = view();  // which the writer refers to
    cl::recipe_writer<dk::builtin_set> w(plan, plan.steps[0].kernel, nowhere);
    if (s_.is_attention) return {{}, cl::choose_attention_tile(attention())};
    if (s_.is_normalised)
      return {{cl::family::tiles, {}, cl::choose_normalised_tile(cl::product_shape<dk::builtin_set>(w).extents)}, {}};
    return {cl::choose_family(w), {}};
  }
  cl::attention_extents attention() const { return {s_.x[0], s_.x[1], s_.w[1], s_.x[2], s_.w[2]}; }
  double flops() const {
    if (s_.is_attention) return 4.0 * static_cast<double>(count(s_.x) * s_.w[1]);
    const std::int64_t k = s_.is_conv ? count(s_.w) / s_.w[0] : s_.depth();
    return 2.0 * static_cast<double>(outputs_ * k);
  }
  // Calls visit(division) with all tiles of a family, or with those that are expected to take `within` times the least.
  void for_choices(cl::family family, double within, auto visit) const {
    if (s_.is_attention)
      return cl::for_attention_tiles(attention(), {}, [&](const cl::attention_tile& t) { visit(division{{}, t}); });
    cl::source_writer nowhere(nullptr, 0);
    const dk::plan_view plan = view();  // which the writer refers to
    cl::recipe_writer<dk::builtin_set> w(plan, plan.steps[0].kernel, nowhere);
    const auto tiles = [&](const cl::product_extents& x, std::int64_t depth) {
      const auto clocks = [&](const cl::product_tile& t) { return cl::detail::clocks_of_tile(x, t, {}); };
      const double most = within * clocks(cl::choose_product_tile(x, depth));
      cl::for_product_tiles(x, depth, {}, [&](const cl::product_tile& t) {
        if (clocks(t) <= most) visit(division{{family, {}, t}, {}});
      });
    };
    if (!s_.is_conv) return tiles(cl::product_shape<dk::builtin_set>(w).extents, 0);
    const cl::convolution_shape<dk::builtin_set> c(w);
    if (family == cl::family::windows || family == cl::family::winograd) {
      const cl::window_extents x = cl::window_extents_of(c);
      if (cl::is_for_winograd(x)) {
        const double most = within * cl::detail::clocks_of_winograd(x, cl::choose_winograd_tile(x), {});
        cl::for_winograd_tiles(x, {}, [&](const cl::winograd_tile& t) {
          if (cl::detail::clocks_of_winograd(x, t, {}) <= most)
            visit(division{{cl::family::winograd, {}, {}, {}, {}, t}, {}});
        });
      }
      const double most = within * cl::detail::clocks_of_windows(x, cl::choose_window_tile(x), {});
      return cl::for_window_tiles(x, {}, [&](const cl::window_tile& t) {
        if (cl::detail::clocks_of_windows(x, t, {}) <= most) visit(division{{cl::family::windows, {}, {}, t}, {}});
      });
    }
    if (family == cl::family::depthwise_windows) visit(division{{cl::family::depthwise, {}}, {}});
    if (family == cl::family::depthwise_windows)
      return cl::for_depthwise_tiles(cl::depthwise_extents_of(c), {}, [&](const cl::depthwise_tile& t) {
        visit(division{{family, {}, {}, {}, t}, {}});
      });
    if (const cl::window_tile t = c.axes == 2 ? cl::choose_window_tile(cl::window_extents_of(c)) : cl::window_tile{};
        c.axes == 2 && c.over.taps() > 1 && t.px != 0)
      visit(division{{cl::family::windows, {}, {}, t}, {}});
    const cl::staged_depth depth = c.depth();
    tiles(c.extents, depth.channels == 0 ? 0 : c.depth_of(depth.channels * depth.period));
  }

  struct times {
    double event = 0, launch = 0, error = 0;  // us, us, the largest error relative to sqrt(K)
  };
  // `turn` is held while the kernel runs.
  times measure(const division& choice, const lock_file& turn) {
    std::string text(1 << 18, '\0');
    cl::source_writer out(text.data(), text.size());
    const dk::plan_view plan = view();  // which the writer refers to
    cl::recipe_writer<dk::builtin_set> w(plan, plan.steps[0].kernel, out);
    if (s_.is_attention) cl::write_attention(w, choice.attention);
    else if (s_.is_normalised) cl::write_normalised_product(w, choice.tile);
    else if (!cl::write_chosen_family(w, choice)) throw std::runtime_error(s_.name + " has no fast family");
    if (!w.draft.error.empty()) throw std::runtime_error(w.draft.error.str());
    text.resize(out.size());
    const std::string source = std::string(cl::prelude) + text;
    const cl_program program = program_of(d_, source);
    cl_int status = 0;
    const std::string name = "k" + std::to_string(view().steps[0].kernel);
    const cl_kernel kernel = clCreateKernel(program, name.c_str(), &status);
    check(status, "making a kernel");
    const cl_uint zero = 0;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      check(clSetKernelArg(kernel, static_cast<cl_uint>(2 * i), sizeof(cl_mem), &buffers_[i]), "an argument");
      check(clSetKernelArg(kernel, static_cast<cl_uint>(2 * i + 1), sizeof zero, &zero), "an argument");
    }
    if (w.draft.work.counters != 0) {
      const auto first = static_cast<cl_uint>(2 * buffers_.size());
      check(clSetKernelArg(kernel, first, sizeof(cl_mem), &d_.handed), "an argument");
      check(clSetKernelArg(kernel, first + 1, sizeof(cl_mem), &d_.counters), "an argument");
      if (w.draft.work.handed_numbers > device::most_handed || w.draft.work.counters > device::most_counters)
        throw std::runtime_error(s_.name + " hands over more than there is room for");
    }
    const auto group = static_cast<std::size_t>(w.draft.work.group_size);
    const std::size_t items = static_cast<std::size_t>(w.draft.work.known) * group;
    const auto start_on = [&](cl_command_queue queue, cl_event* event) {
      check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, event), "starting a kernel");
    };
    const lock_file::held now(turn);
    times t;
    t.error = error_of([&] { start_on(d_.plain, nullptr); });
    std::vector<double> events;
    for (int i = 0; i < 11; ++i) {
      cl_event event = nullptr;
      start_on(d_.timed, &event);
      check(clWaitForEvents(1, &event), "waiting");
      cl_ulong begin = 0, end = 0;
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
      clReleaseEvent(event);
      events.push_back(static_cast<double>(end - begin) * 1e-3);
    }
    std::sort(events.begin(), events.end());
    t.event = events[events.size() / 2];
    const int times_each = std::clamp(static_cast<int>(2e3 / t.event), 2, 200);
    t.launch = time_of(d_, times_each, [&] { start_on(d_.plain, nullptr); });
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return t;
  }

 private:
  dk::plan_view view() const { return dk::plan::view_of(plan_); }

  double error_of(auto run) {
    std::vector<float> y(static_cast<std::size_t>(outputs_), -77.0F);
    check(clEnqueueWriteBuffer(d_.plain, output_, CL_TRUE, 0, y.size() * sizeof(float), y.data(), 0, nullptr, nullptr),
          "writing");
    run();
    check(clEnqueueReadBuffer(d_.plain, output_, CL_TRUE, 0, y.size() * sizeof(float), y.data(), 0, nullptr, nullptr),
          "reading");
    const reference r{s_, x_, w_, b_};
    double worst = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
      const std::int64_t at = i == 0 ? outputs_ - 1 : i * 7919 * 104729 % outputs_;
      double sum = s_.is_attention ? r.attention(at)
                   : s_.is_conv    ? r.convolution(at, out_extent(0), out_extent(1))
                                   : r.product(at);
      if (s_.has_bias && !s_.is_attention) sum = std::max(sum, 0.0);
      const double error = std::abs(sum - static_cast<double>(y[static_cast<std::size_t>(at)]));
      worst = error > worst || std::isnan(error) ? error : worst;
    }
    return worst / std::sqrt(flops() / 2 / static_cast<double>(outputs_));
  }
  std::int64_t out_extent(std::size_t i) const {
    const auto j = static_cast<std::size_t>(i);
    return (s_.x[j + (s_.has_channels_last ? 1 : 2)] + s_.conv.pads[i] + s_.conv.pads[i + 2] - s_.w[j + 2]) /
               s_.conv.strides[i] +
           1;
  }

  const device& d_;
  const shape& s_;
  dk::plan::plan_draft plan_;
  std::vector<float> x_, w_, b_, ones_;
  std::vector<cl_mem> buffers_;
  cl_mem output_ = nullptr;
  std::int64_t outputs_ = 0;
};

// How many kernels a shape is where stages are not joined, and what all of them take, in microseconds; and whether they
// would be joined.
void measure_apart(const device& d, const shape& s, const lock_file& turn) {
  const dk::graph g = graph_of(s);
  using pipeline = dk::without<dk::default_pipeline, dk::passes::join_stages>;
  const dk::plan::plan_draft draft = pipeline::run<dk::targets::opencl>(g).plan;
  const dk::plan_view plan = dk::plan::view_of(draft);
  std::string source(cl::prelude);
  std::vector<cl::work_size> work;
  for (std::size_t r = 0; r < plan.recipes.size(); ++r) {
    std::string text(1 << 18, '\0');
    cl::source_writer out(text.data(), text.size());
    work.push_back(cl::write_kernel<dk::builtin_set>(plan, r, out).work);
    source.append(text, 0, out.size());
  }
  const cl_program program = program_of(d, source);
  cl_int status = 0;
  std::vector<cl_mem> buffers;
  for (const dk::plan::buffer& b : plan.buffers) {
    const std::vector<float> zeros(static_cast<std::size_t>(b.elements.value()));
    buffers.push_back(clCreateBuffer(d.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, zeros.size() * sizeof(float),
                                     const_cast<float*>(zeros.data()), &status));
    check(status, "making a buffer");
  }
  std::vector<cl_kernel> kernels;
  const cl_uint zero = 0;
  for (const dk::plan::step& step : plan.steps) {
    kernels.push_back(clCreateKernel(program, ("k" + std::to_string(step.kernel)).c_str(), &status));
    check(status, "making a kernel");
    cl_uint i = 0;
    for (const std::int32_t b : plan.numbers_of(step.operands)) {
      check(clSetKernelArg(kernels.back(), i++, sizeof(cl_mem), &buffers[static_cast<std::size_t>(b)]), "an argument");
      check(clSetKernelArg(kernels.back(), i++, sizeof zero, &zero), "an argument");
    }
    if (work[step.kernel].counters == 0) continue;
    check(clSetKernelArg(kernels.back(), i++, sizeof(cl_mem), &d.handed), "an argument");
    check(clSetKernelArg(kernels.back(), i++, sizeof(cl_mem), &d.counters), "an argument");
  }
  const lock_file::held now(turn);
  const auto start = [&] {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const cl::work_size& w = work[plan.steps[k].kernel];
      const auto group = static_cast<std::size_t>(w.group_size);
      const std::size_t items = static_cast<std::size_t>(w.groups({})) * group;
      check(clEnqueueNDRangeKernel(d.plain, kernels[k], 1, nullptr, &items, &group, 0, nullptr, nullptr), "starting");
    }
  };
  const double first = time_of(d, 1, start);
  const double us = time_of(d, std::clamp(static_cast<int>(4e3 / first), 2, 200), start);
  const bool is_one = dk::default_pipeline::run<dk::targets::opencl>(g).plan.steps.size() == 1;
  std::printf("    %zu kernels %*s %9.2f             plans have %s\n", kernels.size(), 31, "", us,
              is_one ? "one" : "these");
  for (cl_kernel k : kernels) clReleaseKernel(k);
  for (cl_mem b : buffers) clReleaseMemObject(b);
  clReleaseProgram(program);
}

void print(const char* name, const division& choice, bool is_attention, const problem& p, const problem::times& t) {
  const cl::product_tile& tile = choice.tile;
  std::string how(cl::name(choice.chosen));
  const cl::window_tile& windows = choice.windows;
  if (choice.chosen == cl::family::windows)
    how = std::to_string(windows.bm) + " of " + std::to_string(windows.px) + "x" + std::to_string(windows.py) + " " +
          std::to_string(windows.tm) + "x4 s" + std::to_string(windows.slices) + " c" +
          std::to_string(windows.channels);
  if (const cl::depthwise_tile& x = choice.depthwise; choice.chosen == cl::family::depthwise_windows)
    how = std::to_string(x.channels) + " of " + std::to_string(x.px) + "x" + std::to_string(x.rows) + "x" +
          std::to_string(x.bands);
  if (choice.chosen == cl::family::tiles)
    how = std::to_string(tile.bm) + "x" + std::to_string(tile.bn) + " " + std::to_string(tile.tm) + "x" +
          std::to_string(tile.tn) + " s" + std::to_string(tile.slices) + " k" + std::to_string(tile.depth) +
          (tile.parts == 1 ? "" : " g" + std::to_string(tile.parts));
  if (const cl::winograd_tile& x = choice.winograd; choice.chosen == cl::family::winograd)
    how = "W " + std::to_string(x.bm) + "x" + std::to_string(x.bt) + " " + std::to_string(x.tm) + "x" +
          std::to_string(x.tn) + " k" + std::to_string(x.depth) + (x.parts == 1 ? "" : " g" + std::to_string(x.parts));
  if (const cl::attention_tile& a = choice.attention; is_attention)
    how = std::to_string(a.bq) + "x" + std::to_string(a.bk) + " " + std::to_string(a.tm) + "x" + std::to_string(a.tn) +
          " s" + std::to_string(a.slices) + " k" + std::to_string(a.step) + (a.buffers == 1 ? " once" : "");
  std::printf("%-38s %9.2f %9.2f %9.0f  %-24s %.1e%s\n", name, t.event, t.launch, p.flops() / t.event * 1e-3,
              how.c_str(), t.error, t.error < 1e-5 ? "" : "  WRONG");
  std::fflush(stdout);
}

// Which tiles are measured beside the chosen one: of a family, or of any.
struct sweep {
  bool is_wanted = false;
  double within = 1e9;
  std::string family;
};

void measure(const device& d, const shape& s, const sweep& others, auto is_ours, const lock_file& turn) try {
  problem p(d, s);
  const division chosen = p.choice();
  if (is_ours()) {
    print(s.name.c_str(), chosen, s.is_attention, p, p.measure(chosen, turn));
    if (s.is_attention || s.is_normalised) measure_apart(d, s, turn);
  }
  const bool has_tile = chosen.chosen == cl::family::tiles || chosen.chosen == cl::family::windows ||
                        chosen.chosen == cl::family::winograd || chosen.chosen == cl::family::depthwise_windows;
  if (!others.is_wanted || (!s.is_attention && !has_tile)) return;
  p.for_choices(chosen.chosen, others.within, [&](const division& other) {
    if (!others.family.empty() && cl::name(other.chosen) != others.family) return;
    if (!is_ours()) return;
    try {
      print(("  " + s.name).c_str(), other, s.is_attention, p, p.measure(other, turn));
    } catch (const std::exception& e) {  // too large for the device
      std::fprintf(stderr, "%s: %.200s\n", s.name.c_str(), e.what());
    }
  });
} catch (const std::exception& e) { std::fprintf(stderr, "%s: %s\n", s.name.c_str(), e.what()); }

}  // namespace

int main(int argc, char** argv) try {
  sweep others;
  std::size_t part = 0, parts = 1;
  const char* lock = nullptr;
  std::string wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--sweep") {
      others.is_wanted = true;
    } else if (argument == "--within" && i + 1 < argc) {
      others.within = std::strtod(argv[++i], nullptr);
    } else if (argument == "--family" && i + 1 < argc) {
      others.family = argv[++i];
      constexpr cl::family all[] = {cl::family::tiles, cl::family::depthwise, cl::family::depthwise_windows,
                                    cl::family::windows, cl::family::winograd};
      if (std::ranges::none_of(all, [&](cl::family f) { return cl::name(f) == others.family; }))
        throw std::runtime_error("--family is followed by tiles, depthwise, depthwise windows, windows or Winograd");
    } else if (argument == "--part" && i + 1 < argc) {
      char* end = nullptr;
      part = std::strtoul(argv[++i], &end, 10);
      parts = *end == '/' ? std::strtoul(end + 1, nullptr, 10) : 0;
      if (parts == 0) throw std::runtime_error("--part is followed by I/N");
    } else if (argument == "--lock" && i + 1 < argc) {
      lock = argv[++i];
    } else {
      wanted = argument;
    }
  }
  const device d;
  const lock_file turn(lock);
  std::printf("%-38s %9s %9s %9s  %-24s %s\n", "", "us, event", "us, host", "GFLOP/s", "tile, slices, depth",
              "error/sqrt(K)");
  std::size_t number = 0;
  for (const shape& s : shapes())
    if (s.name.find(wanted) != std::string::npos)
      measure(
          d, s, others, [&] { return number++ % parts == part; }, turn);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
