// SPDX-License-Identifier: MIT
// What a rule can be wrong in. None of these functions is constexpr: a rule that is a constant does not compile where
// it is written, and the compiler names the function, "call to non-constexpr function ..."; of rules that are made at
// run time they throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace dnnkit::rewrite::mistake {

template <char Variable> [[noreturn]] void the_left_side_has_no_variable() {
  throw std::invalid_argument(std::string("rule: the left side has no variable ") + Variable);
}
template <char Slot> [[noreturn]] void the_left_side_has_no_attributes_named() {
  throw std::invalid_argument(std::string("rule: the left side has no attributes named ") + Slot);
}
// `f` stands for an operator, in whatever of its forms: `projection`, `selection`.
template <char Operator> [[noreturn]] void the_left_side_has_no_operator_variable() {
  throw std::invalid_argument(std::string("rule: the left side has no operator ") + Operator);
}
[[noreturn]] inline void the_left_side_is_no_operator() {
  throw std::invalid_argument("rule: the left side is no operator");
}
template <std::size_t Most> [[noreturn]] void a_side_has_more_terms_than() {
  throw std::invalid_argument("rule: a side has more than " + std::to_string(Most) + " terms");
}
// Of a side together; x[p] stands for any number of them.
template <std::size_t Most> [[noreturn]] void attributes_have_more_numbers_than() {
  throw std::invalid_argument("rule: attributes have more than " + std::to_string(Most) + " numbers: name them, x[p]");
}
template <std::size_t Most> [[noreturn]] void there_are_no_more_variables_than() {
  throw std::invalid_argument("rule: there are no more than " + std::to_string(Most) + " variables");
}
template <std::size_t Most> [[noreturn]] void there_are_no_more_names_of_attributes_than() {
  throw std::invalid_argument("rule: there are no more than " + std::to_string(Most) + " names of attributes");
}
template <std::size_t Most> [[noreturn]] void a_list_has_more_sets_than() {
  throw std::invalid_argument("rules: a list has more than " + std::to_string(Most) + " sets");
}

}  // namespace dnnkit::rewrite::mistake
