// SPDX-License-Identifier: MIT
// Targets: types with the facts that passes and the cost model ask for. Which one a unit of a program is compiled for
// is asked in cpu/micro/isa.hpp alone.
//
//   channels_last     do its kernels gain from activations that are stored channels last, with room for a border
//                     (pass/select_layouts.hpp)? Then it has float_lanes. Else all values are row-major.
//   activations       what they are kept in: how many dimensions of a value may be contiguous at a time; a buffer where
//                     it is not said
//   multiplies_bytes  has it kernels for products of 8-bit integers, so that products of dequantised numbers become
//                     such (pass/quantised_products.hpp)?
//   facts             of a processor: what the cost model is told
//
// Whatever depends on the target has it in its name, as a template argument: compile<Model, Target>. A model is then
// another network for each target, and the linker takes neither's code for that of the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/cost/coefficients.hpp"
#include "dnnkit/cost/profile.hpp"

namespace dnnkit {

// What memory activations are kept in. Along so many of its dimensions a value can be read without gaps: SmartMem's k
// (section 3.2.2); a texture has rows and columns, and caches for both.
enum class memory_kind : std::uint8_t { buffer, texture };
constexpr int contiguous_dimensions(memory_kind kind) { return kind == memory_kind::texture ? 2 : 1; }
// Of the activations of a target.
template <class Target> constexpr int contiguous_dimensions_of() {
  if constexpr (requires { Target::activations; }) return contiguous_dimensions(Target::activations);
  else if constexpr (requires { Target::facts.activations; }) return contiguous_dimensions(Target::facts.activations);
  else return contiguous_dimensions(memory_kind::buffer);
}

// What the cost model and blocking assume of one core. Sizes of caches are smaller than what most cores have: too small
// costs a per cent, too large ten.
struct cpu_facts {
  int float_lanes = 4;  // 32-bit elements in a vector register
  int vector_registers = 16;
  double multiply_adds = 2;  // of vectors, a cycle
  std::int64_t l1_bytes = 32 * 1024, l1_ways = 8;
  std::int64_t l2_bytes = 1024 * 1024;
  std::int64_t l3_bytes = 16 * 1024 * 1024;                              // the core's share
  double l1_width = 40, l2_width = 30, l3_width = 12, memory_width = 5;  // bytes a cycle
  double loads = 2;                                                      // of vectors, a cycle
  // Elements of a product's first factor, next to each other along the reduction, that one load brings: multiply-adds
  // take one of them from a register. 1: they take vectors alone, and each element is loaded into all lanes of one.
  int elements_a_load = 1;
  // Adding four products of bytes to each lane of a vector takes as long as so many multiply-adds of floats.
  double products_of_bytes = 4;
  bool tile_registers = false;  // takes products of bytes in tile registers (cpu/micro/byte_tiles.hpp)
  measured_profile profile = measured_profile::nothing;  // what fusion looks up (cost/profiles.hpp)
  cost_coefficients costs{};
};

// What an instruction set has for products of bytes: those of pairs of 16-bit numbers; one instruction that adds four
// of bytes to each 32-bit lane; besides, registers of 16 rows of 64 bytes, of which one adds all products to another.
enum class byte_products : int { in_pairs, in_vectors, in_tiles };

template <int VectorBytes, int VectorRegisters, byte_products Bytes = byte_products::in_pairs, int ElementsALoad = 1>
struct vector_target {
  static constexpr bool channels_last = true, multiplies_bytes = true;
  static constexpr memory_kind activations = memory_kind::buffer;
  static constexpr byte_products products_of_bytes = Bytes;
  static constexpr int vector_bytes = VectorBytes, vector_registers = VectorRegisters;
  static constexpr std::int64_t float_lanes = VectorBytes / 4;  // 32-bit elements in a vector register
  static constexpr cpu_facts facts{.float_lanes = VectorBytes / 4,
                                   .vector_registers = VectorRegisters,
                                   .elements_a_load = ElementsALoad,
                                   .products_of_bytes = Bytes == byte_products::in_pairs ? 4.0 : 1.0,
                                   .tile_registers = Bytes == byte_products::in_tiles,
                                   .profile = VectorBytes == 64   ? measured_profile::avx512
                                              : VectorBytes == 32 ? measured_profile::avx2
                                                                  : measured_profile::nothing};
};

// Instruction sets: what programs, the tool and CMake call them, and the flags with which a compiler makes units of
// them, whatever flags come before.
namespace targets {
struct portable : vector_target<16, 16> {
  static constexpr std::string_view name = "portable", flags = "";
};
struct sse2 : vector_target<16, 16> {
  static constexpr std::string_view name = "sse2", flags = "-march=x86-64";
};
struct avx2 : vector_target<32, 16> {
  static constexpr std::string_view name = "avx2", flags = "-march=x86-64 -mavx2 -mfma -mf16c";
};
struct avx512 : vector_target<64, 32> {
  static constexpr std::string_view name = "avx512",
                                    flags = "-march=x86-64 -mavx2 -mfma -mf16c -mavx512vl -mavx512bw -mavx512dq";
};
// With VNNI, whose instructions take products of bytes.
struct avx512_vnni : vector_target<64, 32, byte_products::in_vectors> {
  static constexpr std::string_view name = "avx512_vnni",
                                    flags = "-march=x86-64 -mfma -mf16c -mavx512vl -mavx512bw -mavx512dq -mavx512vnni";
};
// With AMX besides, whose tile registers take products of bytes; the system must let a program have them.
struct avx512_amx : vector_target<64, 32, byte_products::in_tiles> {
  static constexpr std::string_view name = "avx512_amx",
                                    flags = "-march=x86-64-v4 -mavx512vnni -mavx512vbmi -mamx-tile -mamx-int8";
};
struct neon : vector_target<16, 32, byte_products::in_pairs, 4> {
  static constexpr std::string_view name = "neon", flags = "-march=armv8-a";
};

// A program that holds a network for each of these and chooses when it starts (runtime/versions.hpp). Facts, and with
// them the plan that the compiler shows, are those of the first.
template <class First, class... Others> struct one_of : First {};
}  // namespace targets

// The facts of a processor, if there are any. It refers to them; a flag says whether, as under its sanitizers g++
// compares no address with null in constant expressions.
class known_facts {
 public:
  constexpr known_facts() = default;
  constexpr known_facts(const cpu_facts& facts) : facts_(&facts), are_known_(true) {}
  constexpr explicit operator bool() const { return are_known_; }
  constexpr const cpu_facts& operator*() const { return *facts_; }
  constexpr const cpu_facts* operator->() const { return facts_; }

 private:
  const cpu_facts* facts_ = nullptr;
  bool are_known_ = false;
};
// Unknown where a target has none, or is another kind of device.
template <class Target> constexpr known_facts facts_of() {
  if constexpr (requires(const cpu_facts* p) { p = &Target::facts; }) return Target::facts;
  else return {};
}

}  // namespace dnnkit
