// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/tuned_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "cmake/onnx_tool/compiler.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/tuned_source.hpp"
#include "dnnkit/weights/mapped_file.hpp"

namespace dnnkit::tool {

std::vector<tuned_kernel> table_of(const std::vector<tuned_row>& rows) {
  std::vector<tuned_kernel> table;
  for (const tuned_row& row : rows) {
    tuned_kernel k{.key = row.key, .family = row.family, .microseconds = row.microseconds};
    std::ranges::copy(row.genes, std::begin(k.genes));
    table.push_back(k);
  }
  return table;
}

std::vector<tuned_row> merged(std::vector<tuned_row> rows, const std::vector<tuned_row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  std::stable_sort(rows.begin(), rows.end());
  std::vector<tuned_row> last;
  for (tuned_row& row : rows) {
    if (!last.empty() && !(last.back() < row)) last.back() = std::move(row);
    else last.push_back(std::move(row));
  }
  return last;
}

std::string table_name(const std::filesystem::path& header) {
  return generation::type_name(header.stem().string(), "kernels");
}

namespace {
// As much as fits a line.
std::string shortened(std::string comment) {
  constexpr std::size_t most = 110;
  if (comment.size() > most) comment = comment.substr(0, comment.rfind(' ', most)) + " ...";
  return comment;
}
}  // namespace

std::string header_of(const std::vector<tuned_row>& rows, const std::string& name, const std::string& about) {
  std::string s =
      "// SPDX-License-Identifier: MIT\n// Written by `dnnkit tune`, which measured it: " +
      generation::comment_text(about) +
      "\n#pragma once\n\n#include <dnnkit/cost/tuned.hpp>\n\nnamespace dnnkit::tuned {\n\nnamespace detail {\n"
      "// clang-format off\n";
  const std::vector<tuned_kernel> table = table_of(rows);
  const std::string array = "detail::measured_for_" + name;
  if (!table.empty()) {
    s += "inline constexpr tuned_kernel measured_for_" + name + "[] = {\n";
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!rows[i].comment.empty() && (i == 0 || rows[i - 1].key != rows[i].key))
        s += "    // " + shortened(generation::comment_text(rows[i].comment)) + "\n";
      s += "    " + generation::tuned_row_text(table[i], "\n     ") + ",\n";
    }
    s += "};\n";
  }
  return s + "// clang-format on\n}  // namespace detail\n\ninline constexpr tuned_table " + name +
         (table.empty() ? "{}" : " = " + array) + ";\n\n}  // namespace dnnkit::tuned\n";
}

namespace {

// Reads one row from the front of a line.
class row_reader {
 public:
  explicit row_reader(std::string_view line) : rest_(line) {}

  std::optional<tuned_row> read() {
    tuned_row row;
    if (!takes("{0x") || !number(row.key, 16) || !takes(",") || !word(row.family) || !takes(",")) return std::nullopt;
    if (!number(row.microseconds) || !(row.microseconds >= 0) || !std::isfinite(row.microseconds)) return std::nullopt;
    if (takes(",") && !all_genes_of(row)) return std::nullopt;
    if (!takes("}") || !takes(",")) return std::nullopt;
    return takes("//") || rest_.empty() ? std::optional(row) : std::nullopt;
  }

 private:
  // Is this next, spaces apart? Then it is read.
  bool takes(std::string_view text) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  template <class Number> bool number(Number& to, auto... base) {
    takes("");
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), to, base...);
    if (failure != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  // A name between quotes.
  bool word(std::string& to) {
    if (!takes("\"")) return false;
    const std::size_t end = rest_.find('"');
    to = rest_.substr(0, end);
    const bool is_name =
        end != rest_.npos && !to.empty() && std::ranges::all_of(to, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    rest_.remove_prefix(std::min(end, rest_.size() - 1) + 1);
    return is_name;
  }
  bool all_genes_of(tuned_row& row) {
    if (!takes("{")) return false;
    std::size_t stage = 0;
    do {
      if (stage == row.genes.size() || !genes(row.genes[stage++])) return false;
    } while (takes(","));
    return takes("}");
  }
  bool genes(kernel_genes& to) {
    if (!takes("{")) return false;
    if (takes("}")) return true;
    do {
      if (!takes(".")) return false;
      const auto* const gene =
          std::ranges::find_if(all_genes, [&](const named_gene& g) { return rest_.starts_with(g.name); });
      if (gene == all_genes.end() || !takes(gene->name) || !takes("=") || !number(to.*gene->value)) return false;
      if (to.*gene->value <= 0) return false;
    } while (takes(","));
    return takes("}");
  }

  std::string_view rest_;
};

}  // namespace

std::vector<tuned_row> rows_of(std::string_view header, const std::string& file) {
  std::vector<tuned_row> rows;
  std::string comment;  // of the rows that follow
  bool declares = false;
  for (std::size_t number = 1; !header.empty(); ++number) {
    std::string_view line = header.substr(0, header.find('\n'));
    header.remove_prefix(std::min(line.size() + 1, header.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    declares = declares || line.starts_with("inline constexpr tuned_table ");
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("// ")) comment = line.starts_with("// clang-format") ? "" : line.substr(3);
    if (!line.starts_with("{")) continue;
    std::string text(line);
    const std::size_t first = number;
    if (line.ends_with(',') && !line.ends_with("},")) {  // what is too long for a line goes on in the next one
      const std::string_view next = header.substr(0, header.find('\n'));
      header.remove_prefix(std::min(next.size() + 1, header.size()));
      text += next;
      ++number;
    }
    auto row = row_reader(text).read();
    if (!row)
      throw error("is no row of a table of tuned kernels", fmt::format("{}:{}", file, first),
                  "{0xKEY, \"FAMILY\", MICROSECONDS, {{.vectors = 2}}},", text);
    row->comment = comment;
    if (!rows.empty() && !(rows.back() < *row))
      throw error("the rows of the table are not in order", fmt::format("{}:{}", file, first));
    rows.push_back(std::move(*row));
  }
  if (!declares) throw error("is no header with a table of tuned kernels", file, "what `dnnkit tune` writes");
  return rows;
}

std::vector<tuned_row> read_rows(const std::filesystem::path& header) {
  const mapped_file file(header);
  const auto bytes = file.bytes();
  return rows_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, header.string());
}

void add_tuned_option(cxxopts::Options& options) {
  options.add_options()("tuned",
                        "a table of what kernels were measured to take, which is believed before estimates: a header "
                        "that `dnnkit tune` wrote, or the name of a table of the library, such as zen4",
                        cxxopts::value<std::string>());
}
std::vector<tuned_row> tuned_rows_of(const cxxopts::ParseResult& arguments) {
  if (arguments.count("tuned") == 0) return {};
  const std::string given = arguments["tuned"].as<std::string>();
  if (given.find('/') == given.npos && given.find('.') == given.npos && !given.empty())
    if (const auto of_library = include_folder() / "dnnkit" / "cost" / "tuned" / (given + ".hpp"); exists(of_library))
      return read_rows(of_library);
  return read_rows(given);
}

}  // namespace dnnkit::tool
