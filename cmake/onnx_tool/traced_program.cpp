// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/traced_program.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "cmake/onnx_tool/compiler.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/mapped_file.hpp"

namespace dnnkit::tool {

namespace {

// What is started while one lives runs on one processor.
class pinned {
 public:
  explicit pinned(std::optional<std::size_t> core) : is_pinned_(core.has_value()) {
    if (!is_pinned_) return;
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    if (*core < CPU_SETSIZE) CPU_SET(*core, &one);
    has_failed_ = sched_setaffinity(0, sizeof one, &one) != 0;
  }
  ~pinned() {
    if (is_pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  bool has_failed() const { return has_failed_; }

 private:
  bool is_pinned_, has_failed_ = false;
  cpu_set_t before_{};
};

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

// The number behind the last `key` in a line; nothing where there is none.
std::optional<double> number_behind(std::string_view line, std::string_view key) {
  const std::size_t at = line.rfind(key);
  if (at == line.npos) return std::nullopt;
  double x = 0;
  const char* const begin = line.data() + at + key.size();
  if (std::from_chars(begin, line.data() + line.size(), x).ec != std::errc()) return std::nullopt;
  return x;
}

}  // namespace

std::size_t processor_numbered(std::size_t core) {
  if (pinned(core).has_failed())
    throw error("is no processor that programs may run on", "--core", {}, std::to_string(core));
  return core;
}

traced_program::traced_program(std::filesystem::path program, std::vector<std::string> arguments,
                               std::filesystem::path folder, std::optional<std::size_t> core)
    : program_(absolute(program)), folder_(absolute(folder)), arguments_(std::move(arguments)), core_(core) {
  std::filesystem::create_directories(folder_);
}

std::string traced_program::run(const std::vector<std::string>& more) const {
  command_line command{{program_.string()}, folder_ / "said.txt"};
  command.words.insert(command.words.end(), arguments_.begin(), arguments_.end());
  command.words.insert(command.words.end(), more.begin(), more.end());
  const pinned here(core_);
  run_compilers({command}, 1, {}, "the program failed; its messages are above");
  return text_of_file(command.log);
}
std::vector<double> traced_program::times(std::size_t steps) const {
  const std::filesystem::path trace = folder_ / "trace.json";
  run({"--trace", trace.string()});
  return times_in_trace(text_of_file(trace), steps, trace.string());
}
double traced_program::milliseconds(std::size_t runs) const {
  const std::string said = run({"--time", std::to_string(runs)});
  std::string_view last(said);
  while (last.ends_with('\n')) last.remove_suffix(1);
  last.remove_prefix(last.rfind('\n') + 1);
  double x = 0;
  if (std::from_chars(last.data(), last.data() + last.size(), x).ec != std::errc())
    throw error("the program says no time", program_.string(), "a number of milliseconds", std::string(last));
  return x;
}
std::filesystem::path traced_program::outputs() const {
  const std::filesystem::path folder = folder_ / "outputs";
  std::filesystem::create_directories(folder);
  run({"--output", folder.string()});
  return folder;
}

std::vector<double> times_in_trace(std::string_view trace, std::size_t steps, const std::string& file) {
  if (!trace.starts_with("{\"displayTimeUnit\"")) throw error("is no trace of a program", file);
  std::vector<double> times(steps, 0);
  for (std::string_view rest = trace; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto time = number_behind(line, ",\"dur\":"), step = number_behind(line, "\"kernel\":");
    if (!time || !step) continue;
    if (!(*step >= 1 && *step <= static_cast<double>(steps)))
      throw error("the program has other kernels than are planned", file, fmt::format("at most {}", steps),
                  fmt::format("kernel {}", *step));
    times[static_cast<std::size_t>(*step) - 1] += *time;
  }
  return times;
}

double largest_difference(const std::filesystem::path& expected, const std::filesystem::path& found) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const auto& file : std::filesystem::directory_iterator(expected)) {
    if (!exists(found / file.path().filename())) return infinite;
    const host_tensor a = read_npy(file.path()), b = read_npy(found / file.path().filename());
    if (a.type != b.type || a.dims != b.dims || a.integers != b.integers) return infinite;
    double magnitude = 0, difference = 0;
    for (std::size_t i = 0; i < a.reals.size(); ++i) {
      const double x = a.reals[i], y = b.reals[i];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (!std::isfinite(x) || !std::isfinite(y)) return infinite;
      difference = std::max(difference, std::fabs(x - y));
    }
    for (double x : a.reals)
      if (std::isfinite(x)) magnitude = std::max(magnitude, std::fabs(x));
    if (difference > 0) largest = std::max(largest, difference / magnitude);
  }
  return largest;
}

}  // namespace dnnkit::tool
