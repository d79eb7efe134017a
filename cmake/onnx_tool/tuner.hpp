// SPDX-License-Identifier: MIT
// The course of `dnnkit tune`: generations of programs, each with a candidate of every kernel, are compiled and run in
// turns; what they took teaches the search what to try next, and becomes the rows of a table.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmake/onnx_tool/build.hpp"
#include "cmake/onnx_tool/genetic_search.hpp"
#include "cmake/onnx_tool/instruction_sets.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "cmake/onnx_tool/time_estimator.hpp"
#include "cmake/onnx_tool/traced_program.hpp"
#include "cmake/onnx_tool/tunable_kernels.hpp"
#include "cmake/onnx_tool/tuned_rows.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/plan/kernel_key.hpp"
#include "dnnkit/weights/replacing_file.hpp"

namespace dnnkit::tool {

struct tune_options {
  std::size_t generations = 4, population = 3, rounds = 9, jobs = 1;
  std::uint64_t seed = 1;
  std::optional<std::size_t> core;
  std::filesystem::path header;
};

// A folder that is removed with all that is in it, unless what failed has been left there to be looked at.
class work_folder {
 public:
  explicit work_folder(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (exists(folder_))
      throw error("is there already, and would be written to and removed", folder_.string(), "a name that is free");
    create_directories(folder_);
  }
  ~work_folder() {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove_all(folder_, ignored);
  }
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  void keep() { is_kept_ = true; }

 private:
  std::filesystem::path folder_;
  bool is_kept_ = false;
};

inline void write_text(const std::filesystem::path& to, const std::string& text) {
  replacing_file file(to);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

// --input NAME=FILE for each input of the programs: what is given, and of others files with ones, which most models
// take for tokens and masks as well.
inline std::vector<std::string> program_inputs(const dnnkit::graph& g, const cxxopts::ParseResult& arguments,
                                               const work_folder& folder) {
  std::map<std::string, std::string, std::less<>> given;
  if (arguments.count("input") != 0)
    for (const std::string& s : arguments["input"].as<std::vector<std::string>>())
      given[s.substr(0, s.rfind('='))] = s.substr(s.rfind('=') + 1);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const std::string name(g.name_of(g.inputs[i]));
    std::string& file = given[name];
    if (file.empty()) {
      std::vector<std::int64_t> dims;
      for (dim d : g.declared_input(i)) {
        if (!d.is_known())
          throw error("has an extent that is not known, and no value is given", fmt::format("input '{}'", name),
                      fmt::format("--input {}=FILE.npy, or --dim NAME=NUMBER", name),
                      print(g.symbols, g.declared_input(i)).str());
        dims.push_back(d.value());
      }
      host_tensor ones(g.at(g.inputs[i]).type.type, dims);
      std::ranges::fill(ones.reals, 1);
      std::ranges::fill(ones.integers, 1);
      const std::filesystem::path at = folder / fmt::format("input_{}.npy", i);
      write_npy(at, ones);
      file = at.string();
    }
    words.insert(words.end(), {"--input", fmt::format("{}={}", name, file)});
  }
  return words;
}

// The genome that a plan has chosen for a kernel; nothing where it has no such kernel.
inline std::optional<genome> genome_in(const plan::plan_view& plan, std::uint64_t key, const cpu_facts& facts) {
  for (const plan::step& s : plan.steps) {
    const std::size_t r = s.kernel;
    if (plan::key_of(kernel_spec(plan, r), facts) != key) continue;
    genome g{plan.choices[r].number};
    for (std::size_t i = 0; i < plan.stages_of(plan.recipes[r]); ++i)
      for (const named_gene& gene : all_genes) g.push_back(plan.choices[plan.number_of_stage(r, i)].genes.*gene.value);
    return g;
  }
  return std::nullopt;
}

class tuner {
 public:
  tuner(const model& m, const cxxopts::ParseResult& arguments, tune_options options, work_folder& folder)
      : model_(m),
        arguments_(arguments),
        options_(std::move(options)),
        folder_(folder),
        isa_(arguments.count("isa") != 0 ? std::string(set_named(arguments["isa"].as<std::string>()).name) : ""),
        facts_(facts_of({.isa = isa_})),
        plan_(logged_plan(m, {.isa = isa_})),
        view_(view_of(plan_)),
        kernels_(tunable_kernels(view_, facts_)),
        estimator_(tunable_kernel::features()),
        inputs_(program_inputs(m.imported.graph, arguments, folder)) {
    if (exists(options_.header)) known_ = read_rows(options_.header);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      search_space space = kernels_[k].space();
      for (const tuned_row& row : known_)
        if (const auto g = kernels_[k].genome_of(row)) space.starts.insert(space.starts.begin() + 1, *g);
      searches_.emplace_back(std::move(space), options_.seed + k);
      searches_.back().propose(1, [](const genome&) { return 1; });  // what the plan has, which base_ measures
    }
  }

  void run() {
    fmt::print(stderr, "{} kernels, seed {}\n", kernels_.size(), options_.seed);
    base_ = compiled("untuned", {}, std::vector<genome>());
    measure({&base_});
    first_ = base_.times;
    for (std::size_t k = 0; k < kernels_.size(); ++k) searches_[k].learn(kernels_[k].chosen(), first_[k]);
    for (std::size_t n = 0; n < options_.generations; ++n)
      if (!run_generation(n)) break;
    confirm();
    write_header();
    report();
  }

 private:
  // A program, what it has for each kernel, and what that took.
  struct measured_program {
    std::optional<traced_program> program;
    plan::plan_draft plan;
    std::vector<std::optional<genome>> genes;  // nothing where the program has not what was asked for
    std::vector<double> times;                 // microseconds of a run, least of all rounds
  };

  std::vector<std::string> build_words(const std::filesystem::path& program, const std::filesystem::path& table) const {
    std::vector<std::string> words{"build", arguments_["model"].as<std::string>(), "-o", program.string(),
                                   "-j",    std::to_string(options_.jobs)};
    if (!isa_.empty()) words.insert(words.end(), {"--isa", isa_});
    if (!table.empty()) words.insert(words.end(), {"--tuned", table.string()});
    for (const char* option : {"input", "dim"})
      if (arguments_.count(option) != 0)
        for (const std::string& value : arguments_[option].as<std::vector<std::string>>())
          words.insert(words.end(), {fmt::format("--{}", option), value});
    if (arguments_.count("include") != 0)
      words.push_back(fmt::format("--include={}", arguments_["include"].as<std::string>()));
    if (arguments_.count("flags") != 0)  // the plan is for this machine's processor, and the program must be, too
      words.push_back(
          fmt::format("--flags={}{}", arguments_["flags"].as<std::string>(), isa_.empty() ? " -march=native" : ""));
    if (arguments_.count("allow-linked-data") != 0) words.emplace_back("--allow-linked-data");
    return words;
  }
  // The program with these rows. `wanted`: the genome of each kernel; none where the plan decides.
  measured_program compiled(const std::string& name, const std::vector<tuned_row>& rows,
                            const std::vector<genome>& wanted) {
    measured_program p;
    p.plan = logged_plan(model_, {.isa = isa_, .tuned = rows});
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      p.genes.push_back(genome_in(view_of(p.plan), kernels_[k].key(), facts_));
      if (!wanted.empty() && p.genes.back() != wanted[k]) p.genes.back().reset();
    }
    std::filesystem::path table;
    if (!rows.empty()) write_text(table = folder_ / (name + ".hpp"), header_of(rows, table_name(table), "a trial"));
    const std::filesystem::path program = folder_ / name;
    std::vector<std::string> words = build_words(program, table);
    std::vector<char*> pointers;
    for (std::string& w : words) pointers.push_back(w.data());
    try {
      built(static_cast<int>(pointers.size()), pointers.data(), build_says::nothing);
    } catch (const error&) {
      folder_.keep();
      throw;
    }
    p.program.emplace(program, inputs_, folder_ / (name + ".runs"), options_.core);
    return p;
  }

  // Runs programs in turns, the untuned one first. Of one that fails nothing is known.
  void measure(const std::vector<measured_program*>& programs) const {
    std::vector<std::vector<double>> least(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i)
      least[i].assign(programs[i]->plan.steps.size(), std::numeric_limits<double>::infinity());
    for (std::size_t round = 0; round < options_.rounds; ++round)
      for (std::size_t i = 0; i < programs.size(); ++i) try {
          const std::vector<double> times = programs[i]->program->times(least[i].size());
          for (std::size_t s = 0; s < times.size(); ++s) least[i][s] = std::min(least[i][s], times[s]);
        } catch (const error& e) {
          if (i == 0) throw;
          if (round == 0) fmt::print(stderr, "a program is left out: {}\n", printable(e.what(), line_feeds::kept));
          for (auto& g : programs[i]->genes) g.reset();
        }
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const plan::plan_view plan = view_of(programs[i]->plan);
      std::map<std::uint64_t, double> of_key;  // of all steps that have such a kernel
      for (std::size_t s = 0; s < plan.steps.size(); ++s)
        of_key[plan::key_of(kernel_spec(plan, plan.steps[s].kernel), facts_)] += least[i][s];
      programs[i]->times.clear();
      for (const tunable_kernel& k : kernels_) programs[i]->times.push_back(of_key[k.key()]);
    }
  }

  // False where nothing is left to try.
  bool run_generation(std::size_t number) {
    std::vector<std::vector<genome>> proposals;
    std::size_t most = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      proposals.push_back(searches_[k].propose(
          options_.population, [&](const genome& g) { return estimator_.ratio(kernels_[k].features_of(g)); }));
      most = std::max(most, proposals.back().size());
    }
    if (most == 0) return false;
    std::vector<measured_program> programs;
    for (std::size_t p = 0; p < most; ++p) {
      fmt::print(stderr, "generation {} of {}: program {} of {}\n", number + 1, options_.generations, p + 1, most);
      std::vector<tuned_row> rows;
      std::vector<genome> wanted;
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        wanted.push_back(p < proposals[k].size() ? proposals[k][p] : best_of(k));
        if (wanted.back() != kernels_[k].chosen()) rows.push_back(kernels_[k].row_of(wanted.back(), 0));
      }
      try {
        programs.push_back(compiled(fmt::format("program_{}_{}", number + 1, p + 1), merged({}, rows), wanted));
      } catch (const error& e) {  // of a table: what is measured of the others is not lost
        fmt::print(stderr, "program {} is left out: {}\n", p + 1, printable(e.what(), line_feeds::kept));
      }
    }
    std::vector<measured_program*> all{&base_};
    for (measured_program& p : programs) all.push_back(&p);
    measure(all);
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (const measured_program& p : programs) learn(k, p);
    estimator_.fit();
    write_header();
    double tuned = 0, untuned = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      tuned += searches_[k].best().time;
      untuned += first_[k];
    }
    fmt::print(stderr, "generation {}: {:.0f} us untuned, {:.0f} with the best of each kernel; {} measurements\n",
               number + 1, untuned, tuned, estimator_.measurements());
    return true;
  }
  // In the time that the untuned program took at first, so that a machine that has become slower does not matter.
  void learn(std::size_t k, const measured_program& p) {
    if (!p.genes[k] || p.times[k] == 0 || base_.times[k] == 0) return;
    const double ratio = p.times[k] / base_.times[k];
    searches_[k].learn(*p.genes[k], first_[k] * ratio);
    if (*p.genes[k] != kernels_[k].chosen()) estimator_.learn(kernels_[k].features_of(*p.genes[k]), ratio);
  }

  // The best genome of a kernel: what the plan has, unless another is clearly better.
  const genome& best_of(std::size_t k) const {
    if (searches_[k].measured().empty()) return kernels_[k].chosen();
    const auto& best = searches_[k].best();
    return best.time < clearly * time_of(k, kernels_[k].chosen()) ? best.genes : kernels_[k].chosen();
  }
  double time_of(std::size_t k, const genome& g) const {
    for (const auto& i : searches_[k].measured())
      if (i.genes == g) return i.time;
    return std::numeric_limits<double>::infinity();
  }

  // Measures the program with the best of each kernel beside the untuned one: what was the best of many by chance is
  // not the best now. Its outputs must be those of the untuned one.
  void confirm() {
    std::vector<tuned_row> rows;
    std::vector<genome> wanted;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      wanted.push_back(best_of(k));
      if (wanted.back() != kernels_[k].chosen()) rows.push_back(kernels_[k].row_of(wanted.back(), 0));
    }
    if (rows.empty()) return;
    tuned_ = compiled("tuned", merged({}, rows), wanted);
    if (const double difference = largest_difference(base_.program->outputs(), tuned_.program->outputs());
        !(difference <= largest_allowed)) {
      folder_.keep();
      throw error("the tuned program's outputs are not those of the untuned one", (folder_ / "tuned").string(),
                  fmt::format("a difference of at most {} of the largest magnitude", largest_allowed),
                  fmt::format("{}", difference));
    }
    measure({&base_, &tuned_});
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      if (wanted[k] == kernels_[k].chosen()) continue;
      if (tuned_.genes[k]) {
        searches_[k].learn(kernels_[k].chosen(), base_.times[k]);
        searches_[k].learn(wanted[k], tuned_.times[k]);
      }
      if (!tuned_.genes[k] || tuned_.times[k] >= clearly * base_.times[k]) refuted_.push_back(k);
    }
  }

  // So many steps have the kernel.
  double steps_of(std::size_t k) const {
    const auto has_kernel = [&](const plan::step& s) {
      return plan::key_of(kernel_spec(view_, s.kernel), facts_) == kernels_[k].key();
    };
    return static_cast<double>(std::count_if(view_.steps.begin(), view_.steps.end(), has_kernel));
  }
  // A whole number of them, at least 1: an entry of 0 would say that it was not measured.
  static double nanoseconds(double microseconds) { return std::max(1.0, std::round(1e3 * microseconds)); }

  bool is_refuted(std::size_t k) const { return std::ranges::find(refuted_, k) != refuted_.end(); }
  // What was measured, one row for each family of each kernel; of one whose best was refuted, as it is untuned.
  std::vector<tuned_row> rows() const {
    std::vector<tuned_row> rows;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const genome& best = is_refuted(k) ? kernels_[k].chosen() : best_of(k);
      const double time = time_of(k, best);
      for (const genome& start : kernels_[k].starts()) {
        const genome* of_family = &start;
        if (best[0] == start[0]) of_family = &best;
        else
          for (const auto& i : searches_[k].measured())
            if (i.genes[0] == start[0] && i.time < clearly * time_of(k, *of_family)) of_family = &i.genes;
        const double measured = time_of(k, *of_family);
        if (measured < std::numeric_limits<double>::infinity() && (of_family == &best || measured > time))
          rows.push_back(kernels_[k].row_of(*of_family, nanoseconds(measured / steps_of(k)) / 1e3));
      }
    }
    return rows;
  }
  void write_header() const {
    write_text(options_.header,
               header_of(merged(known_, rows()), table_name(options_.header), "what kernels took, in microseconds"));
  }

  void report() {
    double tuned = 0, untuned = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const genome& best = is_refuted(k) ? kernels_[k].chosen() : best_of(k);
      const double before = time_of(k, kernels_[k].chosen()), now = time_of(k, best);
      tuned += now;
      untuned += before;
      if (best == kernels_[k].chosen()) continue;
      fmt::print("{:9.1f} -> {:9.1f} us ({:.2f})  {} -> {}  {}\n", before, now, now / before,
                 kernels_[k].text_of(kernels_[k].chosen()), kernels_[k].text_of(best), kernels_[k].text());
    }
    fmt::print("kernels: {:.3f} ms untuned, {:.3f} ms tuned ({:.3f})\n", untuned / 1e3, tuned / 1e3, tuned / untuned);
    if (tuned_.program) {
      double before = std::numeric_limits<double>::infinity(), now = before;
      for (std::size_t round = 0; round < options_.rounds; ++round) {
        before = std::min(before, base_.program->milliseconds(3));
        now = std::min(now, tuned_.program->milliseconds(3));
      }
      fmt::print("a run: {:.3f} ms untuned, {:.3f} ms tuned ({:.3f})\n", before, now, now / before);
    }
    fmt::print("{}\n", printable(options_.header.string()));
  }

  static constexpr double clearly = 0.98, largest_allowed = 1e-4;

  const model& model_;
  const cxxopts::ParseResult& arguments_;
  tune_options options_;
  work_folder& folder_;
  std::string isa_;
  cpu_facts facts_;
  plan::plan_draft plan_;
  plan::plan_view view_;
  std::vector<tunable_kernel> kernels_;
  std::vector<genetic_search> searches_;
  time_estimator estimator_;
  std::vector<std::string> inputs_;
  std::vector<tuned_row> known_;
  measured_program base_, tuned_;
  std::vector<double> first_;
  std::vector<std::size_t> refuted_;
};

}  // namespace dnnkit::tool
