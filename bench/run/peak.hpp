// SPDX-License-Identifier: MIT
// Measures a kernel against the multiply-add peak of the same core: samples of both alternate, so that a busy machine
// slows both.
#pragma once

#include <dnnkit/cpu/micro/vec.hpp>
#include <dnnkit/runtime/aligned_memory.hpp>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Time that this thread has had a core for: what other programs take on a shared machine does not count.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

// GFLOP/s of independent multiply-adds on registers, on the calling thread, over about a third of a millisecond.
inline double peak_sample() {
  using dnnkit::cpu::float_vec;
  constexpr int chains = 12;  // a multiply-add takes 4 cycles and two start in each
  constexpr long rounds = 100'000;
  float_vec::native sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = float_vec(1.0f + static_cast<float>(i)).v;
  float_vec::native factor = float_vec(0.999f).v, addend = float_vec(0.001f).v;
  asm volatile("" : "+m"(factor), "+m"(addend));
  const double begin = thread_seconds();
  for (long k = 0; k < rounds; ++k) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sum[i] = sum[i] * factor + addend;
  }
  const double time = thread_seconds() - begin;
  for (int i = 0; i < chains; ++i) asm volatile("" : : "m"(sum[i]));
  return static_cast<double>(rounds) * chains * 2 * dnnkit::cpu::float_lanes / time / 1e9;
}

// Memory as sessions have it, filled with values in [-1, 1) that repeat from run to run.
class buffer {
 public:
  explicit buffer(std::ptrdiff_t count, bool fill = true)
      : size_(static_cast<std::size_t>(count)), memory_(size_ * sizeof(float)) {
    static unsigned state = 1;
    for (std::size_t i = 0; i < size_; ++i) {
      state = state * 1664525U + 1013904223U;
      data()[i] = fill ? static_cast<float>(state >> 8U) / 8388608.0f - 1.0f : 0.0f;
    }
  }
  float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  std::size_t size() const { return size_; }
  float& operator[](std::ptrdiff_t i) const { return data()[i]; }

 private:
  std::size_t size_;
  dnnkit::aligned_memory memory_;
};

struct options {
  std::string filter;
  int threads = 1;

  options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
        threads = std::max(1, std::atoi(argv[++i]));
      } else {
        filter = argv[i];
      }
    }
  }
  bool wants(const std::string& name) const { return name.find(filter) != std::string::npos; }
};

// Times work(first, last) over [0, units), prints one JSON line. flops: of the whole range; peak: a sample of how many
// 1e9 of them the core can do a second.
template <class Work>
void report(const options& o, const std::string& name, const std::string& shape, std::ptrdiff_t units, double flops,
            Work&& work, double (*peak_sample)() = &bench::peak_sample) {
  const int threads = static_cast<int>(std::min<std::ptrdiff_t>(o.threads, units));
  bool stop = false;
  std::barrier<> start(threads), done(threads);
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads; ++t) {
    helpers.emplace_back([&, t] {
      for (;;) {
        start.arrive_and_wait();
        if (stop) return;
        work(units * t / threads, units * (t + 1) / threads);
        done.arrive_and_wait();
      }
    });
  }
  const auto once = [&] {
    start.arrive_and_wait();
    work(0, units / threads);
    done.arrive_and_wait();
  };
  const auto clock = threads == 1 ? thread_seconds : seconds;
  const auto timed = [&](int repetitions) {
    const double begin = clock();
    for (int r = 0; r < repetitions; ++r) once();
    return (clock() - begin) / repetitions;
  };

  timed(3);
  peak_sample();
  const int repetitions =
      std::max(1, static_cast<int>(1e-3 / timed(3)));  // a sample takes about a millisecond at least
  std::vector<double> times, peaks;
  for (double begin = seconds(); times.size() < 15 || (seconds() - begin < 0.3 && times.size() < 101);) {
    peaks.push_back(peak_sample());
    times.push_back(timed(repetitions));
  }
  stop = true;
  if (threads > 1) start.arrive_and_wait();
  for (auto& h : helpers) h.join();

  const double gflops = flops / median(times) / 1e9, peak = median(peaks);
  std::printf(R"({"name": "%s", "shape": "%s", "threads": %d, "gflops": %.1f, "peak_gflops": %.1f, "percent": %.1f})"
              "\n",
              name.c_str(), shape.c_str(), threads, gflops, peak, 100 * gflops / (peak * threads));
  std::fflush(stdout);
}

// Ends the program when a kernel's output differs from the plain sum.
inline void expect_close(const std::string& name, double got, double want, double reduction) {
  const double difference = got > want ? got - want : want - got;
  if (difference <= 1e-6 * (4 + reduction)) return;
  std::fprintf(stderr, "%s: wrong result %g, expected %g\n", name.c_str(), got, want);
  std::exit(1);
}

}  // namespace bench
