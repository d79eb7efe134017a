// SPDX-License-Identifier: MIT
// Programs of `dnnkit build` that are run to be measured.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnnkit::tool {

// The number, if programs may run on that processor; else raises dnnkit::error.
std::size_t processor_numbered(std::size_t core);

class traced_program {
 public:
  // `arguments`: those of the program but for --trace and --output; `folder` is for what it writes; on processor number
  // `core`, if one is named.
  traced_program(std::filesystem::path program, std::vector<std::string> arguments, std::filesystem::path folder,
                 std::optional<std::size_t> core);

  // Runs it once. The microseconds of each of the plan's steps, 0 of those that did not run. Raises dnnkit::error where
  // the program fails.
  std::vector<double> times(std::size_t steps) const;
  // Runs it so many times in one go, after a first run; the median time of a run, in milliseconds.
  double milliseconds(std::size_t runs) const;
  // Runs it and leaves its outputs, files *.npy, in the folder that is returned.
  std::filesystem::path outputs() const;

 private:
  // Returns what it printed.
  std::string run(const std::vector<std::string>& more) const;

  std::filesystem::path program_, folder_;
  std::vector<std::string> arguments_;
  std::optional<std::size_t> core_;
};

// The microseconds that a trace (dnnkit/inspect/trace.hpp) has for each step. Raises dnnkit::error naming `file` for a
// step beyond the last one, and for a text that is no trace.
std::vector<double> times_in_trace(std::string_view trace, std::size_t steps, const std::string& file);

// The largest difference of two folders' .npy files, as a part of the largest magnitude in the file of the first;
// infinity where the one has what the other has not, or differs in another way.
double largest_difference(const std::filesystem::path& expected, const std::filesystem::path& found);

}  // namespace dnnkit::tool
