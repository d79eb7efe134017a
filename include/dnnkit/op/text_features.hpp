// SPDX-License-Identifier: MIT
// How often known sequences occur in a text given as numbers: ONNX's TfIdfVectorizer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

// Of a sequence that occurs n times: n, its weight if n > 0, n times its weight.
enum class text_weighting : std::int64_t { tf, idf, tfidf };

namespace op {

// X [C] or [N, C], and as tensors ONNX's attributes ngram_counts, ngram_indexes, pool_int64s and, optionally, weights:
// the pool holds the sequences, those of one number first, ngram_counts where those of each length begin, ngram_indexes
// each sequence's place in the output [size] or [N, size]. Sequences of min_gram_length to max_gram_length are looked
// for with up to max_skip_count numbers left out between any two.
struct tf_idf_vectorizer {
  std::int64_t min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, size = 0;
  text_weighting mode = text_weighting::tf;

  static constexpr std::string_view name = "TfIdfVectorizer";
  static constexpr std::string_view operands = "x, ngram_counts, ngram_indexes, pool, weights";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 5, optional_inputs = 1;
  static constexpr std::array<element, 5> elements{element::index, element::index, element::index, element::index,
                                                   element::common};
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("min_gram_length", self.min_gram_length);
    visit("max_gram_length", self.max_gram_length);
    visit("max_skip_count", self.max_skip_count);
    visit("size", self.size);
    visit("mode", self.mode);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 1, 2)) return;
    for (std::size_t i = 1; i < c.inputs(); ++i)
      if (c.has(i) && !c.require_rank(i, 1, 1)) return;
    if (!c.require(min_gram_length >= 1 && min_gram_length <= max_gram_length && max_skip_count >= 0 && size >= 0,
                   "lengths, skips and size must not be negative"))
      return;
    if (c.rank(0) == 1) c.out(f32, {size});
    else c.out(f32, {c.in(0)[0], size});
  }
  static constexpr footprint reads(const inference& c, std::size_t input) {
    if (input == 0 && c.rank(0) == 2) return {needs::same(0), needs::whole};
    return {input == 4 ? needs::some_chosen : needs::whole};
  }
  void compute(const auto& c, auto y, auto x, auto counts, auto indexes, auto pool, auto weights) const {
    const std::int64_t all = output_count(c), rows = c.rank(0) == 1 ? 1 : c.in(0, 0), length = c.in(0, c.rank(0) - 1);
    for (std::int64_t n = 0; n < all; ++n) y.store(n, 0.0f);
    const std::int64_t known = weights.present() ? std::min(c.in(2, 0), c.in(4, 0)) : c.in(2, 0);  // sequences
    if (known == 0) return;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t sequence = 0;  // number of the next one in the pool
      for (std::int64_t gram = 1; gram <= c.in(1, 0); ++gram) {
        const auto place_in_pool = [&](std::int64_t n) {
          return n < c.in(1, 0) ? within(c, static_cast<std::int64_t>(counts[n]), 0, c.in(3, 0), "ngram count")
                                : c.in(3, 0);
        };
        const std::int64_t begin = place_in_pool(gram - 1), end = place_in_pool(gram);
        for (std::int64_t at = begin; at + gram <= end; at += gram, ++sequence) {
          if (gram < min_gram_length || gram > max_gram_length) continue;
          const std::int64_t times = occurrences(x, row * length, length, pool, at, gram);
          if (times == 0) continue;
          const std::int64_t number = within(c, sequence, 0, known - 1, "number of a sequence");
          const std::int64_t place = position_in(c, indexes[number], size);
          const double weight = weights.present() ? static_cast<double>(weights[number]) : 1;
          const auto count = static_cast<double>(times);
          const double value = mode == text_weighting::tf    ? count
                               : mode == text_weighting::idf ? weight
                                                             : count * weight;
          y.store(row * size + place, static_cast<float>(value));
        }
      }
    }
  }

 private:
  std::int64_t occurrences(const auto& x, std::int64_t first, std::int64_t length, const auto& pool, std::int64_t at,
                           std::int64_t gram) const {
    std::int64_t times = 0;
    for (std::int64_t step = 1; step - 1 <= (gram == 1 ? 0 : max_skip_count) && (gram - 1) * step < length; ++step)
      for (std::int64_t start = 0; start + (gram - 1) * step < length; ++start) {
        bool same = true;
        for (std::int64_t k = 0; same && k < gram; ++k) same = x[first + start + k * step] == pool[at + k];
        times += same;
      }
    return times;
  }
};

}  // namespace op

}  // namespace dnnkit
