// SPDX-License-Identifier: MIT
// The kernels of a plan as `dnnkit tune` sees them: what may carry out each, and with what genes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/onnx_tool/genetic_search.hpp"
#include "cmake/onnx_tool/tuned_rows.hpp"
#include "dnnkit/cost/target.hpp"
#include "dnnkit/plan/kernel_family.hpp"
#include "dnnkit/plan/kernel_spec.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::tool {

// A genome of a kernel: the number of the family in the library's list, then all genes of each of its stages.
class tunable_kernel {
 public:
  // Of recipe r; plan and facts must outlive it.
  tunable_kernel(const plan::plan_view& plan, std::size_t r, const cpu_facts& facts);

  std::uint64_t key() const { return key_; }
  // "Conv Clip: 1x24x56x56, 144x24x1x1 -> 1x144x56x56"
  const std::string& text() const { return text_; }
  // What the plan has chosen.
  const genome& chosen() const { return chosen_; }
  // Families that match, that of the plan first, then by what they expect to take: those within `slowest` of the best.
  const std::vector<genome>& starts() const { return starts_; }
  search_space space() const;

  std::string_view family_of(const genome& g) const { return families_[static_cast<std::size_t>(g[0])].name; }
  // "conv_nhwc vectors 2, rows 7", stages apart by a stroke
  std::string text_of(const genome& g) const;
  tuned_row row_of(const genome& g, double microseconds) const;
  // Nothing where the row is about another kernel, or asks for what there is not.
  std::optional<genome> genome_of(const tuned_row& row) const;

  // What a genome is beside what the plan has chosen, for time_estimator.
  std::vector<double> features_of(const genome& g) const;
  static std::size_t features();

 private:
  static constexpr double slowest = 5;

  struct answer {
    genome genes;  // that the kernel has
    double cycles = 0;
  };
  // What the family says of a genome: genes that are 0 are its own business.
  std::optional<answer> ask(const genome& g) const;
  std::optional<genome> standing_for(const genome& g) const;
  // The genome that a family has by itself.
  const genome& start_of(std::int32_t family) const;
  std::size_t gene(std::size_t stage, std::size_t number) const { return 1 + stage * all_genes.size() + number; }
  // The positions of a tile of stages, which are decided before families are asked about the kernel as it is.
  std::size_t gene_of_positions() const { return chosen_.size() - 1; }
  std::vector<std::vector<std::int32_t>> values() const;

  kernel_spec spec_;
  std::span<const kernel_family> families_;
  const cpu_facts* facts_;
  std::uint64_t key_;
  std::string text_;
  genome chosen_;
  double cycles_of_chosen_ = 0;
  std::vector<genome> starts_;
};

// One for each key of the plan's kernels that a run calls.
std::vector<tunable_kernel> tunable_kernels(const plan::plan_view& plan, const cpu_facts& facts);

}  // namespace dnnkit::tool
