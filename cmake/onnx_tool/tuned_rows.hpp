// SPDX-License-Identifier: MIT
// Tables of tuned kernels (dnnkit/cost/tuned.hpp) as the tool holds them, and as the headers that it writes and reads.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/cost/tuned.hpp"

namespace dnnkit::tool {

struct tuned_row {
  std::uint64_t key = 0;
  std::string family;
  double microseconds = 0;  // 0: the kernel is to be of this family, whatever others take
  std::array<kernel_genes, tuned_kernel::most_stages> genes{};
  std::string comment = {};  // what the kernel computes

  friend bool operator<(const tuned_row& a, const tuned_row& b) {
    return a.key != b.key ? a.key < b.key : a.family < b.family;
  }
};

// The table, in order; it refers to the rows. Of rows for one kernel of one family, the last one counts.
std::vector<tuned_kernel> table_of(const std::vector<tuned_row>& rows);

// `rows` with those of `more`, which replace rows for the same kernels of the same families; in order.
std::vector<tuned_row> merged(std::vector<tuned_row> rows, const std::vector<tuned_row>& more);

// The name of the table in a header: that of the file.
std::string table_name(const std::filesystem::path& header);
// A header with dnnkit::tuned::NAME. `about` says what was measured, in one line.
std::string header_of(const std::vector<tuned_row>& rows, const std::string& name, const std::string& about);
// The rows of such a header's text; `file` is named in errors. Raises dnnkit::error for a row that cannot be read, and
// for a text without the line that declares a table.
std::vector<tuned_row> rows_of(std::string_view header, const std::string& file);
// The same of a file.
std::vector<tuned_row> read_rows(const std::filesystem::path& header);

// --tuned NAME or FILE, and its rows; none where it is not given.
void add_tuned_option(cxxopts::Options& options);
std::vector<tuned_row> tuned_rows_of(const cxxopts::ParseResult& arguments);

}  // namespace dnnkit::tool
