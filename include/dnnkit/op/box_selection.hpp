// SPDX-License-Identifier: MIT
// The best of overlapping boxes: ONNX's NonMaxSuppression.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/selection.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// boxes [batches, n, 4], scores [batches, classes, n] -> [count, 3] of batch, class and box (i64): class by class, the
// boxes of the highest scores above score_threshold, without those that overlap a better one by more than iou_threshold
// (intersection over union). Boxes are (y1, x1, y2, x2), two opposite corners, or (x, y, width, height), x and y being
// the centre, if center_point_box.
struct non_max_suppression {
  bool center_point_box = false;
  std::int64_t max_output_boxes_per_class = 0;
  float iou_threshold = 0, score_threshold = -std::numeric_limits<float>::infinity();

  static constexpr std::string_view name = "NonMaxSuppression";
  static constexpr std::string_view operands = "boxes, scores";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 2;
  static constexpr traits properties = detail::selecting;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("center_point_box", self.center_point_box);
    visit("max_output_boxes_per_class", self.max_output_boxes_per_class);
    visit("iou_threshold", self.iou_threshold);
    visit("score_threshold", self.score_threshold);
  }

  static constexpr void infer(inference& c) {
    if (!c.require_rank(0, 3, 3) || !c.require_rank(1, 3, 3)) return;
    if (!c.require_equal(c.in(0)[0], "the batch of boxes", c.in(1)[0], "that of scores") ||
        !c.require_equal(c.in(0)[1], "the number of boxes", c.in(1)[2], "that of scores") ||
        !c.require_equal(c.in(0)[2], "the last extent of boxes", 4, "expected"))
      return;
    c.out(i64, {dim::unknown(), 3});
  }
  coordinates extents(const auto& c, auto boxes, auto scores) const {
    return {static_cast<std::int64_t>(chosen(c, boxes, scores).size()) / 3, 3};
  }
  void compute(const auto& c, auto y, auto boxes, auto scores) const {
    const vector<std::int64_t> numbers = chosen(c, boxes, scores);
    for (std::size_t n = 0; n < numbers.size(); ++n) y.store(static_cast<std::int64_t>(n), numbers[n]);
  }

 private:
  struct box {
    double top, left, bottom, right;
  };

  box box_at(const auto& boxes, std::int64_t n) const {
    double v[4];
    for (std::int64_t k = 0; k < 4; ++k) v[k] = static_cast<double>(boxes[4 * n + k]);
    if (center_point_box) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    return {std::fmin(v[0], v[2]), std::fmin(v[1], v[3]), std::fmax(v[0], v[2]), std::fmax(v[1], v[3])};
  }
  static double area(const box& b) { return std::fmax(b.bottom - b.top, 0.0) * std::fmax(b.right - b.left, 0.0); }
  bool overlap(const box& a, const box& b) const {
    const double both = area({std::fmax(a.top, b.top), std::fmax(a.left, b.left), std::fmin(a.bottom, b.bottom),
                              std::fmin(a.right, b.right)});
    const double either = area(a) + area(b) - both;
    return either > 0 && both / either > static_cast<double>(iou_threshold);
  }
  // batch, class, box; batch, class, box; ...
  vector<std::int64_t> chosen(const auto& c, const auto& boxes, const auto& scores) const {
    const std::int64_t batches = c.in(0, 0), classes = c.in(1, 1), count = c.in(0, 1);
    vector<std::int64_t> result;
    for (std::int64_t b = 0; b < batches; ++b)
      for (std::int64_t k = 0; k < classes; ++k) {
        const auto score = [&](std::int64_t n) { return static_cast<double>(scores[(b * classes + k) * count + n]); };
        vector<std::int64_t> order;
        for (std::int64_t n = 0; n < count; ++n)
          if (score(n) > static_cast<double>(score_threshold)) order.push_back(n);
        merge_sort(order, [&](std::int64_t m, std::int64_t n) { return score(m) > score(n); });
        vector<box> kept;
        for (std::int64_t n : order) {
          if (static_cast<std::int64_t>(kept.size()) >= max_output_boxes_per_class) break;
          const box candidate = box_at(boxes, b * count + n);
          bool overlaps = false;
          for (const box& better : kept) overlaps = overlaps || overlap(better, candidate);
          if (overlaps) continue;
          kept.push_back(candidate);
          for (std::int64_t i : {b, k, n}) result.push_back(i);
        }
      }
    return result;
  }
};

}  // namespace op

inline constexpr function<op::non_max_suppression> non_max_suppression;

}  // namespace dnnkit
