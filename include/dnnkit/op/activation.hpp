// SPDX-License-Identifier: MIT
// Activations, element by element: ONNX's Relu ... Mish.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

enum class gelu_approximation : std::int64_t { exact, by_tanh };

namespace op {

struct relu {
  static constexpr std::string_view name = "Relu";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) { return maximum(x, T(0)); }
};

struct leaky_relu {
  float alpha = 0.01f;

  static constexpr std::string_view name = "LeakyRelu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("alpha", self.alpha); }

  template <class T> constexpr T apply(T x) const { return select(x < T(0), T(alpha) * x, x); }
};

struct prelu {
  static constexpr std::string_view name = "PRelu";
  static constexpr std::string_view operands = "x, slope";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x, T slope) {
    return select(x < T(0), T(modular(slope) * modular(x)), x);
  }
};

struct clip {
  float min = std::numeric_limits<float>::lowest();
  float max = std::numeric_limits<float>::max();

  static constexpr std::string_view name = "Clip";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{.laws = algebra::projection};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("min", self.min);
    visit("max", self.max);
  }

  template <class T> constexpr T apply(T x) const { return minimum(maximum(x, T(min)), T(max)); }
};

struct sigmoid {
  static constexpr std::string_view name = "Sigmoid";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using dnnkit::sigmoid;
    return sigmoid(x);
  }
};

struct hard_sigmoid {
  float alpha = 0.2f;
  float beta = 0.5f;

  static constexpr std::string_view name = "HardSigmoid";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("alpha", self.alpha);
    visit("beta", self.beta);
  }

  template <class T> constexpr T apply(T x) const { return minimum(maximum(T(alpha) * x + T(beta), T(0)), T(1)); }
};

struct hard_swish {
  static constexpr std::string_view name = "HardSwish";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    return x * minimum(maximum(x * T(1.0f / 6.0f) + T(0.5f), T(0)), T(1));
  }
};

// x sigmoid(alpha x); with alpha = 1 also called SiLU
struct swish {
  float alpha = 1;

  static constexpr std::string_view name = "Swish";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("alpha", self.alpha); }

  template <class T> constexpr T apply(T x) const {
    using dnnkit::sigmoid;
    return alpha >= 0.001f ? times_sigmoid(x, alpha) : x * sigmoid(T(alpha) * x);
  }
};

// x times the probability that a standard normal variable is below x
struct gelu {
  gelu_approximation approximate = gelu_approximation::exact;

  static constexpr std::string_view name = "Gelu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("approximate", self.approximate); }

  template <class T> constexpr T apply(T x) const {
    return approximate == gelu_approximation::exact ? times_normal_cdf(x) : times_normal_cdf_by_tanh(x);
  }
};

struct elu {
  float alpha = 1;

  static constexpr std::string_view name = "Elu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("alpha", self.alpha); }

  template <class T> constexpr T apply(T x) const {
    using std::exp;
    return select(x < T(0), T(alpha) * (exp(x) - T(1)), x);
  }
};

struct selu {
  float alpha = 1.67326319f;
  float gamma = 1.05070102f;

  static constexpr std::string_view name = "Selu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("alpha", self.alpha);
    visit("gamma", self.gamma);
  }

  template <class T> constexpr T apply(T x) const {
    using std::exp;
    return T(gamma) * select(x < T(0), T(alpha) * (exp(x) - T(1)), x);
  }
};

// log(1 + exp(x)), without overflow, and as exact for a large -x, where 1 + exp(x) keeps little of exp(x): the
// logarithm of what it keeps is corrected by the share that that is (Goldberg, What every computer scientist should
// know about floating-point arithmetic, theorem 4).
struct softplus {
  static constexpr std::string_view name = "Softplus";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::abs;
    using std::exp;
    using std::log;
    const T small = exp(-abs(x)), above = T(1) + small, kept = above - T(1);
    return maximum(x, T(0)) + select(kept == T(0), small, log(above) * (small / kept));
  }
};

struct softsign {
  static constexpr std::string_view name = "Softsign";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::abs;
    return x / (T(1) + abs(x));
  }
};

// x tanh(softplus(x))
struct mish {
  static constexpr std::string_view name = "Mish";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::tanh;
    return x * tanh(softplus::apply(x));
  }
};

}  // namespace op

inline constexpr function<op::relu> relu;
inline constexpr function<op::leaky_relu> leaky_relu;
inline constexpr function<op::prelu> prelu;
inline constexpr function<op::clip> clip;
inline constexpr function<op::hard_sigmoid> hard_sigmoid;
inline constexpr function<op::hard_swish> hard_swish;
inline constexpr function<op::swish> swish;
inline constexpr function<op::gelu> gelu;
inline constexpr function<op::elu> elu;
inline constexpr function<op::selu> selu;
inline constexpr function<op::softplus> softplus;
inline constexpr function<op::softsign> softsign;
inline constexpr function<op::mish> mish;

template <graph_tensor T>
constexpr T sigmoid(T x, std::source_location caller =
                             std::source_location::current()) {  // shares its name with the function of one element
  return x.owner().apply(op::sigmoid{}, {x}, caller);
}
template <pattern_of_operators P> constexpr P sigmoid(const P& x) { return P::apply(op::sigmoid{}, x); }
template <graph_tensor T> constexpr T silu(T x, std::source_location caller = std::source_location::current()) {
  return swish(x, {}, caller);
}
template <pattern_of_operators P> constexpr P silu(const P& x) { return swish(x); }

}  // namespace dnnkit
