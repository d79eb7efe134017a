// SPDX-License-Identifier: MIT
// A number whose operations write OpenCL C: with expressions for T, the operators' own apply(), accumulate(), finish()
// and the like write what they compute (operator/scalar.hpp, operator/statistics.hpp). Each operation is one statement,
// so that nothing is written twice that is used twice.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/source_writer.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::opencl {

// What comparisons give are truth values, 0 or 1. Integers are computed with 64 bits, whatever they are stored in.
enum class element_kind : std::uint8_t { real, truth, integer };
constexpr std::string_view type_of(element_kind kind) {
  constexpr std::string_view types[] = {"float", "int", "long"};
  return types[static_cast<std::size_t>(kind)];
}

// A variable of the kernel, or a literal.
class expression {
 public:
  using value_type = float;

  constexpr expression() = default;
  template <number N> constexpr explicit expression(N literal) : literal_(static_cast<float>(literal)) {}
  // The variable called PREFIX and its number.
  constexpr expression(source_writer& out, char prefix, int name, element_kind kind = element_kind::real)
      : out_(&out), kind_(kind), prefix_(prefix), name_(name) {}

  constexpr element_kind kind() const { return kind_; }
  constexpr source_writer* out() const { return out_; }
  constexpr float literal() const { return literal_; }

  friend constexpr source_writer& operator<<(source_writer& out, const expression& x) {
    if (x.out_ != nullptr) return out << x.prefix_ << x.name_;
    return out << '(' << x.literal_ << ')';  // a minus may stand before it
  }

  friend constexpr expression operator+(const expression& a, const expression& b) { return binary("+", a, b); }
  friend constexpr expression operator-(const expression& a, const expression& b) { return binary("-", a, b); }
  friend constexpr expression operator*(const expression& a, const expression& b) { return binary("*", a, b); }
  friend constexpr expression operator/(const expression& a, const expression& b) { return binary("/", a, b); }
  friend constexpr expression operator<(const expression& a, const expression& b) { return compared("<", a, b); }
  friend constexpr expression operator>(const expression& a, const expression& b) { return compared(">", a, b); }
  friend constexpr expression operator<=(const expression& a, const expression& b) { return compared("<=", a, b); }
  friend constexpr expression operator>=(const expression& a, const expression& b) { return compared(">=", a, b); }
  friend constexpr expression operator==(const expression& a, const expression& b) { return compared("==", a, b); }
  friend constexpr expression operator!=(const expression& a, const expression& b) { return compared("!=", a, b); }
  friend constexpr expression operator&(const expression& a, const expression& b) { return compared("&", a, b); }
  friend constexpr expression operator|(const expression& a, const expression& b) { return compared("|", a, b); }
  friend constexpr expression operator^(const expression& a, const expression& b) { return compared("^", a, b); }
  friend constexpr expression operator~(const expression& a) { return statement(element_kind::truth, a.out_, "!", a); }
  friend constexpr expression operator-(const expression& a) {
    return a.out_ == nullptr ? expression(-a.literal_) : statement(kind_of_sum(a, a), a.out_, "-", a);
  }

  // A new variable with the value of what the parts spell; `out` is that of an operand.
  template <class... Parts>
  static constexpr expression statement(element_kind kind, source_writer* out, const Parts&... parts) {
    const expression result(*out, 't', out->new_name(), kind);
    *out << "const " << type_of(kind) << ' ' << result << '=';
    (*out << ... << parts) << ";\n";
    return result;
  }

 private:
  static constexpr element_kind kind_of_sum(const expression& a, const expression& b) {
    const bool is_integer = a.kind_ == element_kind::integer && b.kind_ == element_kind::integer;
    return is_integer ? element_kind::integer : element_kind::real;
  }
  static constexpr source_writer* writer_of(const expression& a, const expression& b) {
    return a.out_ != nullptr ? a.out_ : b.out_;
  }
  static constexpr expression binary(std::string_view symbol, const expression& a, const expression& b) {
    if (source_writer* const out = writer_of(a, b)) return statement(kind_of_sum(a, b), out, a, symbol, b);
    return expression(symbol == "+"   ? a.literal_ + b.literal_
                      : symbol == "-" ? a.literal_ - b.literal_
                      : symbol == "*" ? a.literal_ * b.literal_
                                      : a.literal_ / b.literal_);
  }
  static constexpr expression compared(std::string_view symbol, const expression& a, const expression& b) {
    return statement(element_kind::truth, writer_of(a, b), a, symbol, b);
  }

  source_writer* out_ = nullptr;  // of a variable; a literal has none
  element_kind kind_ = element_kind::real;
  char prefix_ = 't';
  int name_ = 0;
  float literal_ = 0;
};

// condition ? a : b
constexpr expression select(const expression& condition, const expression& a, const expression& b) {
  return expression::statement(a.kind(), condition.out(), condition, '?', a, ':', b);
}
constexpr expression select(bool condition, const expression& a, const expression& b) { return condition ? a : b; }

namespace detail {
constexpr expression called(std::string_view function, const expression& x) {
  return expression::statement(element_kind::real, x.out(), function, '(', x, ')');
}
constexpr expression called(std::string_view function, const expression& a, const expression& b) {
  source_writer* const out = a.out() != nullptr ? a.out() : b.out();
  return expression::statement(element_kind::real, out, function, '(', a, ',', b, ')');
}
}  // namespace detail

// Functions as operators call them, and what OpenCL C or the prelude below calls them.
#define DNNKIT_OPENCL_FUNCTIONS(UNARY, BINARY) \
  UNARY(abs, "fabs")                           \
  UNARY(floor, "floor")                        \
  UNARY(ceil, "ceil")                          \
  UNARY(nearbyint, "rint")                     \
  UNARY(exp, "exp")                            \
  UNARY(exp_of_nonpositive, "exp")             \
  UNARY(log, "log")                            \
  UNARY(sqrt, "sqrt")                          \
  UNARY(reciprocal_sqrt, "rsqrt")              \
  UNARY(erf, "erf")                            \
  UNARY(sigmoid, "dnnkit_sigmoid")             \
  UNARY(sin, "sin")                            \
  UNARY(cos, "cos")                            \
  UNARY(tan, "tan")                            \
  UNARY(asin, "asin")                          \
  UNARY(acos, "acos")                          \
  UNARY(atan, "atan")                          \
  UNARY(sinh, "sinh")                          \
  UNARY(cosh, "cosh")                          \
  UNARY(tanh, "tanh")                          \
  UNARY(asinh, "asinh")                        \
  UNARY(acosh, "acosh")                        \
  UNARY(atanh, "atanh")                        \
  BINARY(minimum, "dnnkit_minimum")            \
  BINARY(maximum, "dnnkit_maximum")            \
  BINARY(larger, "fmax")                       \
  BINARY(pow, "pow")                           \
  BINARY(fmod, "fmod")
#define DNNKIT_OPENCL_UNARY(name, spelling) \
  constexpr expression name(const expression& x) { return detail::called(spelling, x); }
#define DNNKIT_OPENCL_BINARY(name, spelling) \
  constexpr expression name(const expression& a, const expression& b) { return detail::called(spelling, a, b); }
DNNKIT_OPENCL_FUNCTIONS(DNNKIT_OPENCL_UNARY, DNNKIT_OPENCL_BINARY)
#undef DNNKIT_OPENCL_BINARY
#undef DNNKIT_OPENCL_UNARY
#undef DNNKIT_OPENCL_FUNCTIONS

// What every program begins with. Minimum and maximum are NaN if either operand is (fmin and fmax give the other).
// dnnkit_multiply_stage is a stage of a product in tiles (tiled_loop.hpp): sums of tm fours of rows x tn fours of
// columns, over `depth` numbers k. la points to this item's first rows of A, the next four of them are `down` fours on,
// those of the next k `lda`; lb to its first columns of B, likewise `across` and `ldb`. dnnkit_multiply (attention.hpp)
// has rows of A apart, `rows` fours from one to the next, with four k in each: sums of tm rows x tn fours of columns,
// over `depth` fours of k.
// dnnkit_publish: what the work-group has written is there for all others, who see what this item writes from now on;
// OpenCL's fence is for its own group on NVIDIA's devices.
inline constexpr std::string_view prelude = R"(
#ifdef cl_nv_pragma_unroll
#define dnnkit_publish() __asm volatile("membar.gl;" ::: "memory")
#else
#define dnnkit_publish() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
float dnnkit_minimum(float a, float b) { return a != a || a < b ? a : b; }
float dnnkit_maximum(float a, float b) { return a != a || a > b ? a : b; }
float dnnkit_weight(float score, float largest) { return exp2((score - largest) * 0x1.715476p+0f); }
float dnnkit_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
#define dnnkit_unroll(i, n) _Pragma("unroll") for (int i = 0; i < n; ++i)
#define dnnkit_multiply_row(u, x, tn) \
  dnnkit_unroll(j, tn) sums[i * 4 + u][j] = fma((float4)(a[i].x), b[j], sums[i * 4 + u][j]);
#define dnnkit_multiply_stage(tm, tn, lda, ldb, down, across, depth)      \
  dnnkit_unroll(k, depth) {                                               \
    float4 a[tm], b[tn];                                                  \
    dnnkit_unroll(i, tm) a[i] = la[k * lda + i * down];                   \
    dnnkit_unroll(j, tn) b[j] = lb[k * ldb + j * across];                 \
    dnnkit_unroll(i, tm) {                                                \
      dnnkit_multiply_row(0, x, tn) dnnkit_multiply_row(1, y, tn)         \
      dnnkit_multiply_row(2, z, tn) dnnkit_multiply_row(3, w, tn)         \
    }                                                                     \
  }
#define dnnkit_multiply_k(u, x, tm, tn, ldb, across)               \
  dnnkit_unroll(j, tn) b[j] = lb[(k * 4 + u) * ldb + j * across];  \
  dnnkit_unroll(i, tm) dnnkit_unroll(j, tn) sums[i][j] = fma((float4)(a[i].x), b[j], sums[i][j]);
#define dnnkit_multiply(tm, tn, rows, ldb, across, depth) \
  dnnkit_unroll(k, depth) {                               \
    float4 a[tm], b[tn];                                  \
    dnnkit_unroll(i, tm) a[i] = la[i * rows + k];         \
    dnnkit_multiply_k(0, x, tm, tn, ldb, across)          \
    dnnkit_multiply_k(1, y, tm, tn, ldb, across)          \
    dnnkit_multiply_k(2, z, tm, tn, ldb, across)          \
    dnnkit_multiply_k(3, w, tm, tn, ldb, across)          \
  }
#define dnnkit_score(tm, tn, rows, across, depth)                                                              \
  dnnkit_unroll(k, depth) {                                                                                    \
    float4 a[tm], b[tn];                                                                                       \
    dnnkit_unroll(i, tm) a[i] = la[i * rows + k];                                                              \
    dnnkit_unroll(j, tn) b[j] = lb[j * across + k];                                                            \
    dnnkit_unroll(i, tm) dnnkit_unroll(j, tn) scores[i][j] = fma(                                              \
        a[i].x, b[j].x, fma(a[i].y, b[j].y, fma(a[i].z, b[j].z, fma(a[i].w, b[j].w, scores[i][j]))));          \
  }
)";

}  // namespace dnnkit::opencl
