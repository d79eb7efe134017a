// SPDX-License-Identifier: MIT
// One program, several versions of a model: networks that are compiled for targets::one_of<...>, of whose instruction
// sets the program chooses one when the first session, or packed weights, of a network are made:
//   using net = dk::compile<my_model, dk::targets::one_of<dk::targets::avx2, dk::targets::avx512>>;
// The widest vectors that the processor has, and of equally wide ones those with most for products of bytes, or what
// the environment variable DNNKIT_ISA names; one that is empty names nothing. Where that is none that the program has
// and the processor can run, the constructors of session and packed_weights, and isa_of(), throw dnnkit::error:
//   DNNKIT_ISA: is no instruction set that the program can run with, expected one that the program has (avx2 and
//   avx512) and the processor, too (sse2 and avx2), found avx512
// cpu/kernel_version.hpp says where the versions come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/kernel_version.hpp"
#include "dnnkit/cpu/micro/isa.hpp"
#include "dnnkit/runtime/session.hpp"

namespace dnnkit {

namespace detail {

// An instruction set as a program may have it.
struct instruction_set {
  std::string_view name;
  int vector_bytes;
  bool runs_here;
  byte_products bytes = byte_products::in_pairs;
};
template <class... Targets> std::array<instruction_set, sizeof...(Targets)> instruction_sets() noexcept {
  return {instruction_set{Targets::name, Targets::vector_bytes, cpu::processor_has<Targets>(),
                          Targets::products_of_bytes}...};
}

// "avx2 and avx512"; "none".
inline std::string list_of(std::span<const instruction_set> sets, bool only_here) {
  std::string s;
  std::size_t left = 0;
  for (const instruction_set& x : sets) left += !only_here || x.runs_here ? 1 : 0;
  if (left == 0) return "none";
  for (const instruction_set& x : sets) {
    if (only_here && !x.runs_here) continue;
    s.append(x.name).append(left == 1 ? "" : left == 2 ? " and " : ", ");
    --left;
  }
  return s;
}

// Which of a program's instruction sets it runs with: the one named, without a name the widest that runs here, of
// equally wide ones the one with most for products of bytes, of equals the first. `processor`: those that a processor
// may have. Throws dnnkit::error when it cannot.
inline std::size_t choose_instruction_set(std::span<const instruction_set> program, std::string_view named,
                                          std::span<const instruction_set> processor) {
  std::size_t best = program.size();
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program[i].runs_here || (!named.empty() && program[i].name != named)) continue;
    const auto rank = [](const instruction_set& s) { return 4 * s.vector_bytes + static_cast<int>(s.bytes); };
    if (best == program.size() || rank(program[i]) > rank(program[best])) best = i;
  }
  if (best == program.size())
    throw error(named.empty() ? "they are for other processors" : "is no instruction set that the program can run with",
                named.empty() ? "kernels" : "DNNKIT_ISA",
                "one that the program has (" + list_of(program, false) + ") and the processor, too (" +
                    list_of(processor, true) + ")",
                std::string(named));
  return best;
}

}  // namespace detail

template <class... Targets> struct backend<targets::one_of<Targets...>> {
  using weights = packed_tables;
  using execution = dnnkit::execution;
  static constexpr bool is_nothrow = true;  // a run cannot fail where there are no symbols

  // The version of Net that this program runs, the same each time. Throws dnnkit::error when there is none for this
  // processor, or not the one that DNNKIT_ISA names.
  template <class Net> static const cpu::kernel_version& version() {
    static const cpu::kernel_version chosen = choose<Net>();
    return chosen;
  }
  template <class Net> static const plan_view& plan() { return version<Net>().plan; }
  template <class Net> static std::span<const cpu::kernel_entry> kernels() { return version<Net>().kernels; }

  // "avx2 and avx512"
  static std::string names() { return detail::list_of(detail::instruction_sets<Targets...>(), false); }

 private:
  template <class Net> static cpu::kernel_version choose() {
    static constexpr std::array<cpu::kernel_version (*)() noexcept, sizeof...(Targets)> versions{
        &cpu::version_of<compile<typename Net::model, Targets, typename Net::pipeline>>::get...};
    const char* const named = std::getenv("DNNKIT_ISA");
    const auto processor = detail::instruction_sets<targets::sse2, targets::avx2, targets::avx512, targets::avx512_vnni,
                                                    targets::avx512_amx, targets::neon>();
    return versions[detail::choose_instruction_set(detail::instruction_sets<Targets...>(),
                                                   named == nullptr ? std::string_view() : named, processor)]();
  }
};

// The name of the instruction set that Net's sessions run with in this program. Throws dnnkit::error as making one
// does.
template <class Net> [[nodiscard]] std::string_view isa_of() {
  if constexpr (requires { backend<typename Net::target>::template version<Net>(); })
    return backend<typename Net::target>::template version<Net>().isa;
  else return Net::target::name;
}

}  // namespace dnnkit
