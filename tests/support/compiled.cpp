// SPDX-License-Identifier: MIT
// The check of compiled.hpp.
#include "tests/support/compiled.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "dnnkit/weights/safetensors.hpp"

namespace harness {

namespace dk = dnnkit;

namespace {

// A caller's memory between two guards, at an address that is aligned for the elements and no more.
class guarded_bytes {
 public:
  guarded_bytes(std::size_t bytes, std::size_t element) : bytes_(bytes), memory_(bytes + 2 * guard + element, mark) {
    begin_ = memory_.data() + guard;
    const auto address = reinterpret_cast<std::uintptr_t>(begin_);
    begin_ += (element - address % element) % element;
    if ((reinterpret_cast<std::uintptr_t>(begin_) / element) % 2 == 0) begin_ += element;
  }
  std::byte* data() { return begin_; }
  std::size_t size() const { return bytes_; }
  bool intact() const {
    const std::byte* begin = begin_;
    return std::all_of(memory_.data(), begin, [](std::byte b) { return b == mark; }) &&
           std::all_of(begin + bytes_, memory_.data() + memory_.size(), [](std::byte b) { return b == mark; });
  }

 private:
  static constexpr std::size_t guard = 64;
  static constexpr std::byte mark{1};
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::byte* begin_;
};

guarded_bytes stored(const dk::host_tensor& t, bool fill) {
  guarded_bytes b(t.count() * dk::size_of(t.type), dk::size_of(t.type));
  if (fill)
    with_type(t.type, [&]<class T>(T) {
      for (std::size_t i = 0; i < t.count(); ++i) {
        const T x = stored_element<T>(t, i);
        std::memcpy(b.data() + i * sizeof(T), &x, sizeof(T));
      }
    });
  return b;
}

dk::host_tensor loaded(guarded_bytes& b, const dk::host_tensor& like) {
  dk::host_tensor t(like.type, like.dims);
  with_type(t.type, [&]<class T>(T) {
    for (std::size_t i = 0; i < t.count(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        t.integers[i] = static_cast<std::int64_t>(b.data()[i]);  // anything but 0 and 1 is wrong
      } else {
        T x;
        std::memcpy(&x, b.data() + i * sizeof(T), sizeof(T));
        if (dk::is_floating(t.type)) t.reals[i] = static_cast<double>(x);
        else t.integers[i] = static_cast<std::int64_t>(x);
      }
    }
  });
  return t;
}

class check {
 public:
  check(const compiled_network& network, std::uint64_t seed, double part)
      : network_(network),
        kernels_(network.kernels.begin(), network.kernels.end()),
        graph_(network.make_graph()),
        seed_(seed),
        part_(part),
        data_(random_data(graph_, seed)) {
    for (dk::cpu::kernel_entry& k : kernels_) k.cycles_an_element = 0;  // none is too small to be shared among threads
  }

  std::string run() {
    const std::vector<std::byte> file = safetensors_bytes(data_.weights);
    const auto tables = std::make_shared<const dk::packed_tables>(network_.plan, kernels_,
                                                                  dk::safetensors::from_memory(file, "weights"));
    dk::execution e(network_.plan, kernels_, tables);
    for (std::uint64_t round = 0; round < (network_.plan.is_static ? 1u : 3u); ++round) {
      if (round > 0) {  // other extents, the same weights
        test_data other = random_data(graph_, seed_ + round * 7919);
        other.weights = data_.weights;
        data_ = std::move(other);
      }
      if (const std::string wrong = run_once(e); !wrong.empty()) return network_.name + where() + ": " + wrong;
    }
    return {};
  }

 private:
  std::string where() const {
    std::string s;
    for (const auto& [name, value] : data_.symbols) s += " " + name + "=" + std::to_string(value);
    return s;
  }

  std::string run_once(dk::execution& e) {
    const std::vector<dk::host_tensor> expected = reference(graph_, data_);
    std::vector<double> allowed = tolerances(graph_, data_, expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (const double x : expected[k].reals) allowed[k] = std::max(allowed[k], part_ * std::fabs(x));
    if (!network_.plan.is_static) {
      std::vector<dk::binding> bindings;
      for (const auto& [name, value] : data_.symbols) bindings.push_back({name, value});
      e.bind(bindings);
    }
    for (std::size_t i = 0; i < data_.inputs.size(); ++i)
      if (e.elements(network_.plan.inputs[i]) != static_cast<std::int64_t>(data_.inputs[i].count()))
        return "the plan's input is not the graph's";
    const auto serial = results_of(e, dk::serial, expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
      if (const std::string wrong = difference(serial[k], expected[k], allowed[k]); !wrong.empty())
        return "output " + std::to_string(k) + ": " + wrong;
    for (std::size_t threads = 1; threads <= 4; ++threads) {
      dk::thread_pool pool(threads);
      const auto again = threads == 1 ? results_of(e, dk::serial, expected) : results_of(e, pool, expected);
      for (std::size_t k = 0; k < expected.size(); ++k)
        if (!same_bits(again[k], serial[k]))
          return "output " + std::to_string(k) + " depends on the number of threads or on the run before";
    }
    return error_;
  }

  static bool same_bits(const dk::host_tensor& a, const dk::host_tensor& b) {
    return a.integers == b.integers &&
           (a.reals.empty() || std::memcmp(a.reals.data(), b.reals.data(), a.reals.size() * sizeof(double)) == 0);
  }

  std::vector<dk::host_tensor> results_of(dk::execution& e, const dk::parallel_for& loop,
                                          const std::vector<dk::host_tensor>& like) {
    std::vector<guarded_bytes> inputs, outputs;
    std::vector<std::byte*> in, out;
    for (const dk::host_tensor& t : data_.inputs) inputs.push_back(stored(t, true));
    for (const dk::host_tensor& t : like) outputs.push_back(stored(t, false));
    for (guarded_bytes& b : inputs) in.push_back(b.data());
    for (guarded_bytes& b : outputs) out.push_back(b.data());
    dk::no_observer nobody;
    e.run(in.data(), out.data(), loop, nobody);
    std::vector<dk::host_tensor> results;
    for (std::size_t k = 0; k < like.size(); ++k) {
      if (!outputs[k].intact()) error_ = "written outside output " + std::to_string(k);
      results.push_back(loaded(outputs[k], like[k]));
    }
    return results;
  }

  const compiled_network& network_;
  std::vector<dk::cpu::kernel_entry> kernels_;
  const dk::graph graph_;
  const std::uint64_t seed_;
  const double part_;
  test_data data_;
  std::string error_;
};

}  // namespace

std::string compiled_error(const compiled_network& network, std::uint64_t seed, double part) {
  return check(network, seed, part).run();
}

}  // namespace harness
