// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/tunable_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/inspect/trace.hpp"
#include "dnnkit/pass/choose_kernels.hpp"
#include "dnnkit/plan/kernel_key.hpp"

namespace dnnkit::tool {

namespace {

constexpr std::span<const kernel_family> library_families = cpu::default_families.table;
static_assert(all_genes.back().value == &kernel_genes::positions);

std::string extent_text(plan::local_extent e) { return e.is_known() ? std::to_string(e.value()) : "?"; }

std::string kernel_text(const kernel_spec& spec) {
  const auto joined = [](std::size_t rank, auto extent) {
    std::vector<std::string> extents;
    for (std::size_t d = 0; d < rank; ++d) extents.push_back(extent_text(extent(d)));
    return fmt::format("{}", fmt::join(extents, "x"));
  };
  std::vector<std::string> inputs;
  const kernel_spec first = spec.stage(0);
  for (std::size_t i = 0; i < first.inputs(); ++i)
    if (first.input(i).from != plan::source::nothing)
      inputs.push_back(joined(first.rank_of(i), [&](std::size_t d) { return first.extent_of(i, d); }));
  return fmt::format("{}: {}{}{}", dnnkit::detail::operators_of_kernel(spec.plan(), spec.self()),
                     fmt::join(inputs, ", "), inputs.empty() ? "" : " -> ",
                     joined(spec.rank(), [&](std::size_t d) { return spec.space(d); }));
}

}  // namespace

tunable_kernel::tunable_kernel(const plan::plan_view& plan, std::size_t r, const cpu_facts& facts)
    : spec_(plan, r),
      families_(library_families),
      facts_(&facts),
      key_(plan::key_of(spec_, facts)),
      text_(kernel_text(spec_)),
      chosen_(1 + spec_.stages() * all_genes.size(), 0) {
  chosen_[0] = plan.choices[r].number;
  std::vector<std::pair<double, genome>> others;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    if (!families_[f].is_asked(spec_, facts)) continue;
    genome g(chosen_.size(), 0);
    g[0] = static_cast<std::int32_t>(f);
    const std::optional<answer> a = ask(g);
    if (!a) continue;
    if (g[0] == chosen_[0]) {
      chosen_ = a->genes;
      cycles_of_chosen_ = a->cycles;
    } else {
      others.emplace_back(a->cycles, a->genes);
    }
  }
  std::sort(others.begin(), others.end());
  starts_.push_back(chosen_);
  for (auto& [cycles, g] : others)
    if (cycles <= slowest * cycles_of_chosen_) starts_.push_back(std::move(g));
}

std::optional<tunable_kernel::answer> tunable_kernel::ask(const genome& g) const {
  const std::size_t stages = spec_.stages();
  std::array<kernel_genes, tuned_kernel::most_stages> asked{};
  for (std::size_t i = 0; i < stages; ++i)
    for (std::size_t k = 0; k < all_genes.size(); ++k) asked[i].*all_genes[k].value = g[gene(i, k)];
  const kernel_family& family = families_[static_cast<std::size_t>(g[0])];
  const kernel_spec wanted = spec_.with(asked);
  const kernel_match match = family.match(wanted, *facts_);
  if (!match) return std::nullopt;
  answer a{g, match->cost.cycles};
  for (std::size_t i = 0; i < stages; ++i) {
    const kernel_match of_stage = i + 1 < stages ? family.stage(wanted.stage(i), *facts_) : match;
    const kernel_genes had = of_stage ? of_stage->genes : kernel_genes{};
    for (std::size_t k = 0; k < all_genes.size(); ++k) a.genes[gene(i, k)] = had.*all_genes[k].value;
  }
  if (const std::size_t p = gene_of_positions(); g[p] != 0 && a.genes[p] != 0) a.genes[p] = g[p];
  return a;
}

std::optional<genome> tunable_kernel::standing_for(const genome& g) const {
  const std::optional<answer> a = ask(g);
  if (!a) return std::nullopt;
  const std::optional<answer> again = ask(a->genes);
  if (!again || again->genes != a->genes) return std::nullopt;
  return a->genes;
}

// What families answer to a series of values that covers what kernels take.
std::vector<std::vector<std::int32_t>> tunable_kernel::values() const {
  std::vector<std::int32_t> series;
  for (double x = 1; x < 10000; x = std::max(x + 1, std::floor(x * 1.2)))
    series.push_back(static_cast<std::int32_t>(x));
  std::vector<std::vector<std::int32_t>> all(chosen_.size());
  for (std::size_t i = 1; i < chosen_.size(); ++i) {
    std::set<std::int32_t> found;
    for (const genome& start : starts_) {
      if (start[i] == 0) continue;
      found.insert(start[i]);
      if (i == gene_of_positions()) {
        for (std::int32_t p = 1; p <= 64; p *= 2) found.insert(p);
        continue;
      }
      for (const std::int32_t value : series) {
        genome g(start.size(), 0);
        g[0] = start[0];
        g[i] = value;
        if (const auto a = ask(g); a && a->genes[i] != 0) found.insert(a->genes[i]);
      }
    }
    all[i].assign(found.begin(), found.end());
  }
  return all;
}

search_space tunable_kernel::space() const {
  return {starts_, values(), [this](const genome& g) { return standing_for(g); }};
}

std::string tunable_kernel::text_of(const genome& g) const {
  std::string s(family_of(g));
  for (std::size_t i = 0; i < spec_.stages(); ++i) {
    std::vector<std::string> genes;
    for (std::size_t k = 0; k < all_genes.size(); ++k)
      if (const std::int32_t n = g[gene(i, k)]; n != 0) genes.push_back(fmt::format("{} {}", all_genes[k].name, n));
    s += fmt::format("{} {}", i == 0 ? "" : " |", fmt::join(genes, ", "));
  }
  return s;
}

const genome& tunable_kernel::start_of(std::int32_t family) const {
  const auto start = std::ranges::find(starts_, family, [](const genome& s) { return s[0]; });
  return start == starts_.end() ? chosen_ : *start;
}

tuned_row tunable_kernel::row_of(const genome& g, double microseconds) const {
  tuned_row row{.key = key_, .family = std::string(family_of(g)), .microseconds = microseconds, .comment = text_};
  if (start_of(g[0]) == g) return row;  // the family decides so by itself
  for (std::size_t i = 0; i < spec_.stages(); ++i)
    for (std::size_t k = 0; k < all_genes.size(); ++k) row.genes[i].*all_genes[k].value = g[gene(i, k)];
  return row;
}

std::optional<genome> tunable_kernel::genome_of(const tuned_row& row) const {
  if (row.key != key_) return std::nullopt;
  const auto start =
      std::ranges::find(starts_, std::string_view(row.family), [&](const genome& s) { return family_of(s); });
  if (start == starts_.end()) return std::nullopt;
  genome g = *start;
  for (std::size_t i = 0; i < spec_.stages(); ++i)
    for (std::size_t k = 0; k < all_genes.size(); ++k)
      if (const std::int32_t asked = row.genes[i].*all_genes[k].value; asked != 0) g[gene(i, k)] = asked;
  const std::optional<genome> had = standing_for(g);
  return had == g ? had : std::nullopt;
}

// The logarithm of what is expected; which family it is, if another; of each gene, by how many octaves it is larger
// than where the family starts, and the square of that.
std::size_t tunable_kernel::features() { return 1 + library_families.size() + 2 * all_genes.size(); }
std::vector<double> tunable_kernel::features_of(const genome& g) const {
  std::vector<double> x(features(), 0);
  if (const std::optional<answer> a = ask(g); a && a->cycles > 0 && cycles_of_chosen_ > 0)
    x[0] = std::log(a->cycles / cycles_of_chosen_);
  if (g[0] != chosen_[0]) x[1 + static_cast<std::size_t>(g[0])] = 1;
  const genome& start = start_of(g[0]);
  for (std::size_t i = 0; i < spec_.stages(); ++i)
    for (std::size_t k = 0; k < all_genes.size(); ++k) {
      const std::int32_t here = g[gene(i, k)], there = start[gene(i, k)];
      if (here == 0 || there == 0) continue;
      const double octaves = std::log2(static_cast<double>(here) / there);
      double* const of_gene = &x[1 + library_families.size() + 2 * k];
      of_gene[0] += octaves;
      of_gene[1] += octaves * octaves;
    }
  return x;
}

std::vector<tunable_kernel> tunable_kernels(const plan::plan_view& plan, const cpu_facts& facts) {
  std::vector<tunable_kernel> kernels;
  std::set<std::uint64_t> keys;
  for (const plan::step& s : plan.steps)
    if (tunable_kernel k(plan, s.kernel, facts); keys.insert(k.key()).second) kernels.push_back(std::move(k));
  return kernels;
}

}  // namespace dnnkit::tool
