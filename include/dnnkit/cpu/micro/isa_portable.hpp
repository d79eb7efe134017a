// SPDX-License-Identifier: MIT
// The instructions that vector types cannot express, of which no instruction set in particular has any: the names that
// the headers of others (isa_avx2.hpp, ...) overload for their vectors.
#pragma once

#include <cstdint>

#include "dnnkit/cpu/micro/isa.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

enum class rounding { half_even = 0, down = 1, up = 2, to_zero = 3 };

// The names exist for every target, so that "is there an overload for this vector" is a question a program may ask.
struct no_vector {};
void minimum(no_vector, no_vector);
void maximum(no_vector, no_vector);
void square_root(no_vector);
template <rounding> void round_to(no_vector);
void times_power_of_two(no_vector, no_vector);
void rounded_once(no_vector, no_vector, no_vector);
void plus_product(no_vector, no_vector, no_vector);
void plus_products_of_bytes(no_vector, no_vector, no_vector);
void products_of_pairs(no_vector, no_vector);
void lanes_of_bytes(const std::uint8_t*, no_vector);
void lanes_of_bytes(const std::int8_t*, no_vector);
void low_bytes(no_vector, std::uint8_t*);
void permuted(no_vector, no_vector);
void bytes_of_table(no_vector, no_vector, no_vector, no_vector, no_vector);
void load_halves(const std::uint16_t*, no_vector);
void store_halves(no_vector, std::uint16_t*);
void rounded_to_half(no_vector);
void store_whole(float*, no_vector);
template <int> void plus_products_of_lane(no_vector, no_vector, no_vector);
template <int> void next_lanes(no_vector);
void load_first(const float*, int, no_vector);
void store_first(float*, no_vector, int);

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
