// SPDX-License-Identifier: MIT
// What a candidate of a kernel is expected to take, learnt from those that were measured (PatDNN, section 2.5.5, which
// has a small neural network for it): ridge regression of the logarithm of a time on some numbers that describe it.
#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace dnnkit::tool {

class time_estimator {
 public:
  explicit time_estimator(std::size_t features) : weights_(Eigen::VectorXd::Zero(column(features))) {}

  // A candidate took `ratio` of the time of another; numbers are 0 where both are alike.
  void learn(std::span<const double> features, double ratio) {
    rows_.insert(rows_.end(), features.begin(), features.end());
    logarithms_.push_back(std::log(ratio));
  }
  // Finds the weights. Numbers count by how much they vary, so that their units do not matter.
  void fit() {
    if (logarithms_.empty()) return;
    using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto n = column(logarithms_.size());
    const Eigen::Map<const matrix> x(rows_.data(), n, weights_.size());
    const Eigen::Map<const Eigen::VectorXd> y(logarithms_.data(), n);
    const Eigen::VectorXd spread = (x.colwise().squaredNorm().transpose() / static_cast<double>(n)).array().sqrt();
    const Eigen::VectorXd scale = (spread.array() > 0).select(spread.array().inverse(), 0);
    const Eigen::MatrixXd scaled = x * scale.asDiagonal();
    Eigen::MatrixXd normal = scaled.transpose() * scaled;
    normal.diagonal().array() += ridge;
    weights_ = scale.asDiagonal() * normal.ldlt().solve(scaled.transpose() * y);
  }
  // The ratio expected; 1 before anything was learnt.
  double ratio(std::span<const double> features) const {
    return std::exp(weights_.dot(Eigen::Map<const Eigen::VectorXd>(features.data(), weights_.size())));
  }
  std::size_t measurements() const { return logarithms_.size(); }

 private:
  static constexpr double ridge = 0.1;

  static Eigen::Index column(std::size_t n) { return static_cast<Eigen::Index>(n); }

  Eigen::VectorXd weights_;
  std::vector<double> rows_, logarithms_;
};

}  // namespace dnnkit::tool
