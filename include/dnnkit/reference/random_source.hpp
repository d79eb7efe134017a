// SPDX-License-Identifier: MIT
// Random numbers that constant expressions can draw too: splitmix64, a sequence fixed by its seed alone. Bytes may be
// given that decide the first choices, one each: so a fuzzer turns what it mutates into choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dnnkit {

class random_source {
 public:
  constexpr explicit random_source(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  // The bytes must outlive the source.
  constexpr explicit random_source(std::span<const std::uint8_t> choices) : random_source(choices.size()) {
    choices_ = choices;
  }

  constexpr std::uint64_t next() {
    if (!choices_.empty()) {
      const std::uint64_t choice = choices_[0];
      choices_ = choices_.subspan(1);
      return choice * 0x0101010101010101u;  // a fraction, too, is that part of 255
    }
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // A whole number from `least` to `most`, both included.
  constexpr std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  constexpr std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  constexpr bool chance(int percent) { return next() % 100 < static_cast<std::uint64_t>(percent); }
  // In [least, most).
  constexpr double real(double least, double most) {
    return least + (most - least) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  template <class T, std::size_t N> constexpr T pick(const T (&choices)[N]) { return choices[below(N)]; }

 private:
  std::uint64_t state_;
  std::span<const std::uint8_t> choices_;
};

}  // namespace dnnkit
