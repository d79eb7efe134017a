// SPDX-License-Identifier: MIT
// A number whose operations write OpenCL C: with expressions for T, the operators' own apply(), accumulate(), finish()
// and the like write what they compute (operator/scalar.hpp, operator/statistics.hpp). Each operation is one statement,
// so that nothing is written twice that is used twice.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/source_writer.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::opencl {

// What comparisons give are truth values, 0 or 1. Integers are computed with 64 bits, whatever they are stored in. Four
// reals, of neighbours, can be added, subtracted, multiplied and divided, by one real as well.
enum class element_kind : std::uint8_t { real, truth, integer, fours };
constexpr std::string_view type_of(element_kind kind) {
  constexpr std::string_view types[] = {"float", "int", "long", "float4"};
  return types[static_cast<std::size_t>(kind)];
}

// A variable of the kernel, or a literal.
class expression {
 public:
  using value_type = float;

  constexpr expression() = default;
  template <number N>
  constexpr explicit expression(N literal)
      : kind_(std::same_as<N, bool> ? element_kind::truth : element_kind::real),
        literal_(static_cast<float>(literal)) {}
  // The variable called PREFIX and its number.
  constexpr expression(source_writer& out, char prefix, int name, element_kind kind = element_kind::real)
      : out_(&out), kind_(kind), prefix_(prefix), name_(name) {}

  constexpr element_kind kind() const { return kind_; }
  constexpr source_writer* out() const { return out_; }
  constexpr bool is_literal() const { return out_ == nullptr; }
  constexpr float literal() const { return literal_; }
  constexpr bool is_literal(float x) const { return is_literal() && literal_ == x; }

  friend constexpr source_writer& operator<<(source_writer& out, const expression& x) {
    if (x.out_ != nullptr) return out << x.prefix_ << x.name_;
    if (x.kind_ == element_kind::real || x.kind_ == element_kind::fours)
      return out << '(' << x.literal_ << ')';  // a minus may stand before it
    return out << '(' << static_cast<std::int64_t>(x.literal_) << ')';
  }

  friend constexpr expression operator+(const expression& a, const expression& b) {
    return binary("+", a, b, [](float x, float y) { return x + y; });
  }
  friend constexpr expression operator-(const expression& a, const expression& b) {
    return binary("-", a, b, [](float x, float y) { return x - y; });
  }
  friend constexpr expression operator*(const expression& a, const expression& b) {
    return binary("*", a, b, [](float x, float y) { return x * y; });
  }
  friend constexpr expression operator/(const expression& a, const expression& b) {
    return binary("/", a, b, [](float x, float y) { return x / y; });
  }
  friend constexpr expression operator<(const expression& a, const expression& b) {
    return compared("<", a, b, [](float x, float y) { return x < y; });
  }
  friend constexpr expression operator>(const expression& a, const expression& b) {
    return compared(">", a, b, [](float x, float y) { return x > y; });
  }
  friend constexpr expression operator<=(const expression& a, const expression& b) {
    return compared("<=", a, b, [](float x, float y) { return x <= y; });
  }
  friend constexpr expression operator>=(const expression& a, const expression& b) {
    return compared(">=", a, b, [](float x, float y) { return x >= y; });
  }
  friend constexpr expression operator==(const expression& a, const expression& b) {
    return compared("==", a, b, [](float x, float y) { return x == y; });
  }
  friend constexpr expression operator!=(const expression& a, const expression& b) {
    return compared("!=", a, b, [](float x, float y) { return x != y; });
  }
  friend constexpr expression operator&(const expression& a, const expression& b) {
    return a.is_literal(0) || b.is_literal(1) ? a : b.is_literal(0) || a.is_literal(1) ? b : written("&", a, b);
  }
  friend constexpr expression operator|(const expression& a, const expression& b) {
    return a.is_literal(1) || b.is_literal(0) ? a : b.is_literal(1) || a.is_literal(0) ? b : written("|", a, b);
  }
  friend constexpr expression operator^(const expression& a, const expression& b) { return written("^", a, b); }
  friend constexpr expression operator~(const expression& a) {
    return a.is_literal() ? expression(a.literal_ == 0) : statement(element_kind::truth, a.out_, "!", a);
  }
  friend constexpr expression operator-(const expression& a) {
    return a.is_literal() ? expression(-a.literal_) : statement(kind_of_sum(a, a), a.out_, "-", a);
  }

  // A new variable with the value of what the parts spell; `out` is that of an operand.
  template <class... Parts>
  static constexpr expression statement(element_kind kind, source_writer* out, const Parts&... parts) {
    const expression result(*out, 't', out->new_name(), kind);
    *out << "const " << type_of(kind) << ' ' << result << '=';
    (*out << ... << parts) << ";\n";
    return result;
  }

  // What a and b are computed with together: literals that are whole numbers with what the other one is.
  static constexpr element_kind kind_of_both(const expression& a, const expression& b) {
    if (a.kind_ == b.kind_) return a.kind_;
    if (a.kind_ == element_kind::fours || b.kind_ == element_kind::fours) return element_kind::fours;
    if (a.is_whole_literal()) return b.kind_;
    return b.is_whole_literal() ? a.kind_ : element_kind::real;
  }
  // The same, a literal as one of that kind.
  constexpr expression as(element_kind kind) const {
    expression x = *this;
    if (is_literal()) x.kind_ = kind;
    return x;
  }
  static constexpr source_writer* writer_of(const expression& a, const expression& b) {
    return a.out_ != nullptr ? a.out_ : b.out_;
  }

 private:
  constexpr bool is_whole_literal() const {
    constexpr float most = 16'777'216;  // all whole numbers below are there
    return is_literal() && literal_ > -most && literal_ < most &&
           literal_ == static_cast<float>(static_cast<std::int64_t>(literal_));
  }
  static constexpr element_kind kind_of_sum(const expression& a, const expression& b) {
    const element_kind both = kind_of_both(a, b);
    return both == element_kind::truth ? element_kind::real : both;
  }
  static constexpr expression binary(std::string_view symbol, const expression& a, const expression& b,
                                     auto of_floats) {
    if (a.is_literal() && b.is_literal()) return expression(of_floats(a.literal_, b.literal_));
    const element_kind kind = kind_of_sum(a, b);
    return statement(kind, writer_of(a, b), a.as(kind), symbol, b.as(kind));
  }
  static constexpr expression compared(std::string_view symbol, const expression& a, const expression& b,
                                       auto of_floats) {
    if (a.is_literal() && b.is_literal()) return expression(of_floats(a.literal_, b.literal_));
    return written(symbol, a, b);
  }
  static constexpr expression written(std::string_view symbol, const expression& a, const expression& b) {
    const element_kind kind = kind_of_both(a, b);
    return statement(element_kind::truth, writer_of(a, b), a.as(kind), symbol, b.as(kind));
  }

  source_writer* out_ = nullptr;  // of a variable; a literal has none
  element_kind kind_ = element_kind::real;
  char prefix_ = 't';
  int name_ = 0;
  float literal_ = 0;
};

// condition ? a : b
constexpr expression select(const expression& condition, const expression& a, const expression& b) {
  if (condition.is_literal()) return condition.literal() != 0 ? a : b;
  const element_kind kind = expression::kind_of_both(a, b);
  return expression::statement(kind, condition.out(), condition, '?', a.as(kind), ':', b.as(kind));
}
constexpr expression select(bool condition, const expression& a, const expression& b) { return condition ? a : b; }

namespace detail {

constexpr expression called(std::string_view function, const expression& x) {
  if (x.kind() == element_kind::integer) x.out()->refuse(function);
  return expression::statement(element_kind::real, x.out(), function, '(', x, ')');
}
// Of reals or, by a function that there is for them, of integers.
constexpr expression called(std::string_view function, std::string_view of_integers, const expression& a,
                            const expression& b) {
  source_writer* const out = expression::writer_of(a, b);
  const element_kind kind = expression::kind_of_both(a, b);
  if (kind != element_kind::integer)
    return expression::statement(element_kind::real, out, function, '(', a, ',', b, ')');
  if (of_integers.empty()) out->refuse(function);
  return expression::statement(kind, out, of_integers, "((long)", a.as(kind), ",(long)", b.as(kind), ')');
}

}  // namespace detail

// Of integers the absolute value wraps around, as that of the least number does.
constexpr expression abs(const expression& x) {
  if (x.kind() == element_kind::integer)
    return expression::statement(element_kind::integer, x.out(), "(long)abs(", x, ')');
  return detail::called("fabs", x);
}
constexpr bool is_integer(const expression& x) { return x.kind() == element_kind::integer; }
// By 0 every integer is 0; the least one by -1 is itself (operator/scalar.hpp).
constexpr expression quotient(const expression& a, const expression& b) {
  if (expression::kind_of_both(a, b) != element_kind::integer) return a / b;
  return detail::called("", "dnnkit_quotient", a, b);
}
constexpr expression modulo(const expression& a, const expression& b) {
  return detail::called("", "dnnkit_modulo", a, b);
}

// Functions as operators call them, and what OpenCL C or the prelude below calls them.
#define DNNKIT_OPENCL_FUNCTIONS(UNARY, BINARY) \
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
  BINARY(minimum, "dnnkit_minimum", "min")     \
  BINARY(maximum, "dnnkit_maximum", "max")     \
  BINARY(larger, "fmax", "max")                \
  BINARY(pow, "pow", "")                       \
  BINARY(fmod, "fmod", "")
#define DNNKIT_OPENCL_UNARY(name, spelling) \
  constexpr expression name(const expression& x) { return detail::called(spelling, x); }
#define DNNKIT_OPENCL_BINARY(name, spelling, of_integers)               \
  constexpr expression name(const expression& a, const expression& b) { \
    return detail::called(spelling, of_integers, a, b);                 \
  }
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
// dnnkit_float, dnnkit_floats: numbers of 16 bits, which stay as they are stored until they are needed.
// dnnkit_publish: what the work-group has written is there for all others, who see what this item writes from now on;
// OpenCL's fence is for its own group on NVIDIA's devices.
inline constexpr std::string_view prelude = R"(
#ifdef cl_nv_pragma_unroll
#define dnnkit_publish() __asm volatile("membar.gl;" ::: "memory")
float dnnkit_exp2(float x) {  // 0 below 2^-126
  float y;
  __asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
float dnnkit_float(ushort x) {
  float y;
  __asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
float4 dnnkit_floats(ushort4 x) {
  return (float4)(dnnkit_float(x.x), dnnkit_float(x.y), dnnkit_float(x.z), dnnkit_float(x.w));
}
#else
#define dnnkit_publish() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define dnnkit_exp2 exp2
float dnnkit_float(ushort x) { return vload_half(0, (const half*)&x); }
float4 dnnkit_floats(ushort4 x) { return vload_half4(0, (const half*)&x); }
#endif
long dnnkit_quotient(long a, long b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
long dnnkit_modulo(long a, long b) {
  const long r = a - dnnkit_quotient(a, b) * b;
  return b == 0 ? 0 : r == 0 || (r < 0) == (b < 0) ? r : r + b;
}
float dnnkit_half(float x) {  // the nearest number of 16 bits, even where two are
  const uint size = as_uint(x) & 0x7fffffff;
  if (size >= 0x7f800000) return x;
  if (size < 0x38800000) return copysign(fabs(x) + 0.5f - 0.5f, x);
  const uint nearest = (size + 0xfff + (size >> 13 & 1)) & 0xffffe000;
  return copysign(as_float(nearest > 0x477fe000 ? 0x7f800000 : nearest), x);
}
float dnnkit_bfloat(float x) {
  const uint bits = as_uint(x);
  return x != x ? NAN : as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}
float dnnkit_minimum(float a, float b) { return a != a || a < b ? a : b; }
float dnnkit_maximum(float a, float b) { return a != a || a > b ? a : b; }
float dnnkit_weight(float score, float largest) { return dnnkit_exp2((score - largest) * 0x1.715476p+0f); }
float dnnkit_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
#ifdef __IMAGE_SUPPORT__
float4 dnnkit_texel(read_only image2d_t from, int element, int row) {
  return read_imagef(from, (int2)(element >> 2, row));
}
float dnnkit_element(read_only image2d_t from, int element, int row) {
  const float4 texel = dnnkit_texel(from, element, row);
  return element & 2 ? (element & 1 ? texel.w : texel.z) : (element & 1 ? texel.y : texel.x);
}
void dnnkit_write_texel(write_only image2d_t to, const float* texel, int element, int row) {
  write_imagef(to, (int2)(element >> 2, row), (float4)(texel[0], texel[1], texel[2], texel[3]));
}
#endif
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
