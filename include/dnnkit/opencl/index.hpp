// SPDX-License-Identifier: MIT
// A coordinate whose operations write OpenCL C: with these for numbers, the movement operators' own at() write where an
// element comes from. What is known is computed at once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/source_writer.hpp"
#include "dnnkit/plan/local_extent.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit::opencl {

// A variable of the kernel, or a number.
class index {
 public:
  constexpr index() = default;
  constexpr index(std::int64_t known) : known_(known) {}
  // The variable called PREFIX and its number.
  constexpr index(source_writer& out, char prefix, int name) : out_(&out), prefix_(prefix), known_(name) {}
  // An extent that the kernel may be given as an argument.
  constexpr index(source_writer& out, plan::local_extent e)
      : index(e.is_known() ? index(e.value()) : index(out, 'e', static_cast<int>(e.of_step()))) {}

  friend constexpr source_writer& operator<<(source_writer& out, const index& x) {
    if (x.out_ != nullptr) return out << x.prefix_ << x.known_;
    return x.known_ < 0 ? out << '(' << x.known_ << ')' : out << x.known_;
  }

  friend constexpr index operator+(const index& a, const index& b) {
    if (a.is(0)) return b;
    if (b.is(0)) return a;
    return a.is_known() && b.is_known() ? index(a.known_ + b.known_) : statement(a, "+", b);
  }
  friend constexpr index operator-(const index& a, const index& b) {
    if (b.is(0)) return a;
    return a.is_known() && b.is_known() ? index(a.known_ - b.known_) : statement(a, "-", b);
  }
  friend constexpr index operator*(const index& a, const index& b) {
    if (a.is(0) || b.is(1)) return a;
    if (b.is(0) || a.is(1)) return b;
    return a.is_known() && b.is_known() ? index(a.known_ * b.known_) : statement(a, "*", b);
  }
  // Rounded towards zero; the divisor is not 0.
  friend constexpr index operator/(const index& a, const index& b) {
    if (a.is(0) || b.is(1)) return a;
    return a.is_known() && b.is_known() ? index(a.known_ / b.known_) : statement(a, "/", b);
  }
  friend constexpr index operator%(const index& a, const index& b) {
    if (a.is(0) || b.is(1)) return 0;
    return a.is_known() && b.is_known() ? index(a.known_ % b.known_) : statement(a, "%", b);
  }
  friend constexpr index operator-(const index& a) { return index(0) - a; }
  // 0 or 1
  friend constexpr index operator<(const index& a, const index& b) { return compared(a, "<", b, a.known_ < b.known_); }
  friend constexpr index operator<=(const index& a, const index& b) {
    return compared(a, "<=", b, a.known_ <= b.known_);
  }
  friend constexpr index operator>(const index& a, const index& b) { return b < a; }
  friend constexpr index operator>=(const index& a, const index& b) { return b <= a; }
  friend constexpr index operator==(const index& a, const index& b) {
    return compared(a, "==", b, a.known_ == b.known_);
  }
  friend constexpr index operator!=(const index& a, const index& b) {
    return compared(a, "!=", b, a.known_ != b.known_);
  }
  friend constexpr index both(const index& a, const index& b) {
    if (a.is(0) || b.is(1)) return a;
    return b.is(0) || a.is(1) ? b : statement(a, "&", b);
  }
  friend constexpr index either(const index& a, const index& b) {
    if (a.is(1) || b.is(0)) return a;
    return b.is(1) || a.is(0) ? b : statement(a, "|", b);
  }
  friend constexpr index negation(const index& a) { return a == index(0); }
  // condition ? a : b
  friend constexpr index select(const index& condition, const index& a, const index& b) {
    if (condition.is_known()) return condition.is(0) ? b : a;
    return spelt(*condition.out_, condition, "?", a, ":", b);
  }
  friend constexpr index select(bool condition, const index& a, const index& b) { return condition ? a : b; }

  constexpr bool is_known() const { return out_ == nullptr; }
  constexpr std::int64_t value() const { return known_; }  // @pre is_known()
  friend constexpr std::int64_t known_number(const index& n) { return n.value(); }
  constexpr source_writer* out() const { return out_; }

  // A new variable with the value of what the parts spell.
  template <class... Parts> static constexpr index spelt(source_writer& out, const Parts&... parts) {
    const index result(out, 'm', out.new_name());
    out << "const int " << result << '=';
    (out << ... << parts) << ";\n";
    return result;
  }

 private:
  constexpr bool is(std::int64_t n) const { return is_known() && known_ == n; }
  static constexpr index statement(const index& a, std::string_view symbol, const index& b) {
    return spelt(a.out_ != nullptr ? *a.out_ : *b.out_, a, symbol, b);
  }
  static constexpr index compared(const index& a, std::string_view symbol, const index& b, bool of_known) {
    return a.is_known() && b.is_known() ? index(of_known ? 1 : 0) : statement(a, symbol, b);
  }

  source_writer* out_ = nullptr;  // of a variable
  char prefix_ = 'm';
  std::int64_t known_ = 0;  // the number, or that in the variable's name
};

using indices = std::array<index, max_rank>;

}  // namespace dnnkit::opencl
