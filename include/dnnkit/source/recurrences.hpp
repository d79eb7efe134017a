// SPDX-License-Identifier: MIT
// Where the stretches of a sequence occur again, up to a longest length: a suffix array (Manber and Myers, "Suffix
// arrays: a new method for on-line string searches", 1993) and the tree of its intervals (Abouelhoda, Kurtz and
// Ohlebusch, "Replacing suffix trees with enhanced suffix arrays", 2004). Time and memory grow as n log n.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace dnnkit::generation {

class recurrences {
 public:
  // The places from which on `length` elements are the same, longer ones being in intervals within this one.
  struct interval {
    std::size_t length = 0;
    std::size_t begin = 0, end = 0;  // in the order of suffixes
    std::size_t parent = 0;          // around this one, of a shorter length
    std::size_t count() const { return end - begin; }
  };
  static constexpr std::size_t whole = 0;  // the interval of length 0

  // Lengths beyond `longest` count as `longest`.
  recurrences(const std::vector<std::size_t>& sequence, std::size_t longest) : longest_(longest) {
    sort(sequence);
    find_intervals();
  }

  // In how many elements the sequences that begin at i and at j agree; i != j.
  std::size_t common(std::size_t i, std::size_t j) const {
    std::size_t n = 0;
    for (std::size_t k = ranks_.size(); k-- > 0;)
      while (std::max(i, j) + n < order_.size() && ranks_[k][i + n] == ranks_[k][j + n]) n += std::size_t{1} << k;
    return std::min(n, longest_);
  }
  const std::vector<interval>& intervals() const { return intervals_; }
  const interval& at(std::size_t number) const { return intervals_[number]; }
  // The number of the interval of the longest stretch from `i` on that occurs elsewhere too.
  std::size_t deepest(std::size_t i) const { return owner_[i]; }
  // In no order.
  std::span<const std::uint32_t> places(const interval& x) const {
    return std::span(order_).subspan(x.begin, x.count());
  }

 private:
  // ranks_[k][i] are equal where 2^k elements are, which gives the order by 2^(k+1) elements.
  void sort(const std::vector<std::size_t>& sequence) {
    const std::size_t n = sequence.size();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    std::vector<std::pair<std::size_t, std::size_t>> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = {sequence[i], 0};
    for (std::size_t width = 1;; width *= 2) {
      std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
      std::vector<std::uint32_t> rank(n);
      std::uint32_t distinct = 0;
      for (std::size_t k = 0; k < n; ++k) {
        distinct += k == 0 || keys[order_[k]] != keys[order_[k - 1]];
        rank[order_[k]] = distinct;
      }
      ranks_.push_back(std::move(rank));
      if (distinct == n || width >= longest_) break;
      for (std::size_t i = 0; i < n; ++i)  // behind the end is 0, which is no rank
        keys[i] = {ranks_.back()[i], i + width < n ? ranks_.back()[i + width] : 0};
    }
  }
  void find_intervals() {
    const std::size_t n = order_.size();
    owner_.assign(n, whole);
    intervals_.push_back({0, 0, n, whole});
    std::vector<std::size_t> open{whole};  // each within the one before
    for (std::size_t k = 1; k <= n; ++k) {
      const std::size_t length = k < n ? common(order_[k - 1], order_[k]) : 0;
      std::size_t begin = k - 1, closed = whole;
      owner_[order_[k - 1]] = open.back();
      while (intervals_[open.back()].length > length) {
        closed = open.back();
        open.pop_back();
        intervals_[closed].end = k;
        intervals_[closed].parent = open.back();
        begin = intervals_[closed].begin;
      }
      if (intervals_[open.back()].length == length) continue;
      intervals_.push_back({length, begin, n, open.back()});
      open.push_back(intervals_.size() - 1);
      if (closed == whole) owner_[order_[k - 1]] = open.back();
      else intervals_[closed].parent = open.back();
    }
  }

  std::size_t longest_;
  std::vector<std::uint32_t> order_;               // places, by what follows them
  std::vector<std::vector<std::uint32_t>> ranks_;  // by place
  std::vector<interval> intervals_;
  std::vector<std::size_t> owner_;  // by place
};

}  // namespace dnnkit::generation
