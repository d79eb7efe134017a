// SPDX-License-Identifier: MIT
// A small lexer for generated C++, written without the library, and a check that a generated header is a model and
// nothing else: that no name of a file has found a way out of a literal or a comment.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cpp {

struct token {
  enum class kind { word, number, string, character, punctuation, directive };
  kind is;
  std::string text;  // of strings and characters what they stand for; of directives the line
  friend bool operator==(const token&, const token&) = default;
};

// `text` as compilers see it that take ??/ for a backslash.
inline std::string with_trigraphs(std::string_view text) {
  std::string s;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool three = text.substr(i, 3) == "?\?/";
    s += three ? '\\' : text[i];
    i += three ? 2 : 0;
  }
  return s;
}

// The tokens of `text` without comments. Throws std::runtime_error where it is no C++, or not plainly so: characters
// beyond ASCII, raw strings, literals that do not end, lines that end in a backslash (with or without spaces behind
// it).
class lexer {
 public:
  static std::vector<token> run(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\n' && (text[i] < 0x20 || text[i] >= 0x7f))
        throw std::runtime_error("a character that is not plain");
      const std::size_t behind = std::min(text.find_first_not_of(' ', i + 1), text.size());
      if (text[i] == '\\' && (behind == text.size() || text[behind] == '\n'))
        throw std::runtime_error("a line that ends in a backslash");
    }
    lexer l(text);
    while (l.next()) {}
    return l.tokens_;
  }

 private:
  explicit lexer(std::string_view text) : text_(text) {}

  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  static bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  std::string rest_of_line() {
    const std::size_t end = std::min(text_.find('\n', i_), text_.size());
    std::string line = text_.substr(i_, end - i_);
    i_ = end;
    return line;
  }
  bool next() {
    if (i_ == text_.size()) return false;
    const char c = at(i_);
    if (c == '\n') line_begins_ = true, ++i_;
    else if (c == ' ') ++i_;
    else if (text_.compare(i_, 2, "//") == 0) rest_of_line();
    else if (text_.compare(i_, 2, "/*") == 0) throw std::runtime_error("a comment of several lines");
    else {
      if (c == '#' && line_begins_) tokens_.push_back({token::kind::directive, rest_of_line()});
      else if (c == '"' || c == '\'') literal(c);
      else if (is_of_word(c)) word();
      else if (text_.compare(i_, 2, "::") == 0) tokens_.push_back({token::kind::punctuation, "::"}), i_ += 2;
      else tokens_.push_back({token::kind::punctuation, std::string(1, c)}), ++i_;
      line_begins_ = false;
    }
    return true;
  }
  void word() {
    const std::size_t begin = i_;
    const bool number = std::isdigit(static_cast<unsigned char>(at(i_)));
    while (is_of_word(at(i_)) || (number && (at(i_) == '.' || (at(i_) == '-' && at(i_ - 1) == 'e')))) ++i_;
    tokens_.push_back({number ? token::kind::number : token::kind::word, text_.substr(begin, i_ - begin)});
    if (at(i_) == '"' || at(i_) == '\'') throw std::runtime_error("a literal with a prefix");
  }
  void literal(char quote) {
    std::string s;
    for (++i_; at(i_) != quote; ++i_) {
      if (i_ >= text_.size() || at(i_) == '\n') throw std::runtime_error("a literal without end");
      if (at(i_) != '\\') {
        s += at(i_);
        continue;
      }
      const char c = at(++i_);
      if (c == 'n') s += '\n';
      else if (c == '\\' || c == '"' || c == '\'' || c == '?') s += c;
      else {
        int code = 0;
        for (int k = 0; k < 3; ++k, ++i_) {
          if (at(i_) < '0' || at(i_) > '7') throw std::runtime_error("an escape that is not known");
          code = 8 * code + (at(i_) - '0');
        }
        --i_;
        s += static_cast<char>(code);
      }
    }
    ++i_;
    tokens_.push_back({quote == '"' ? token::kind::string : token::kind::character, std::move(s)});
  }

  std::string text_;
  std::size_t i_ = 0;
  bool line_begins_ = true;
  std::vector<token> tokens_;
};

// Whether a header (onnx::model_header) says more than one struct `name` that builds a model: includes other than those
// it may need, anything outside the struct, any word that is neither the language's nor the library's nor declared
// before.
class model_check {
 public:
  // Empty, or what is wrong.
  static std::string run(const std::string& header, const std::string& name) {
    try {
      const std::vector<token> tokens = lexer::run(header);
      if (tokens != lexer::run(with_trigraphs(header))) return "trigraphs change the meaning";
      model_check check(tokens);
      check.header();
      check.body(name);
      return {};
    } catch (const std::runtime_error& wrong) { return wrong.what(); }
  }

 private:
  explicit model_check(const std::vector<token>& tokens) : tokens_(tokens) {}

  static void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error(what);
  }
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text &&
           (tokens_[i].is == token::kind::word || tokens_[i].is == token::kind::punctuation);
  }
  bool is_word(std::size_t i) const { return i < tokens_.size() && tokens_[i].is == token::kind::word; }

  void header() {
    static const std::set<std::string> allowed{
        "#pragma once",    "#include <array>",       "#include <cstdint>",         "#include <limits>",
        "#include <span>", "#include <string_view>", "#include <dnnkit/graph.hpp>"};
    while (i_ < tokens_.size() && tokens_[i_].is == token::kind::directive) {
      require(allowed.contains(tokens_[i_].text), "a directive: " + tokens_[i_].text);
      ++i_;
    }
  }
  void body(const std::string& name) {
    const std::vector<std::string> begin{"struct", name,        "{",  "static",  "constexpr", "void", "build",
                                         "(",      "dnnkit",    "::", "builder", "&",         "g",    ")",
                                         "{",      "namespace", "dk", "=",       "dnnkit",    ";"};
    for (const std::string& word : begin) require(is(i_++, word), "the struct does not begin with '" + word + "'");
    declared_ = {"g"};
    for (std::size_t i = i_; i < tokens_.size(); ++i)  // members may be used before they are declared
      if (is_word(i) && is(i - 1, ">") && is(i + 1, "{")) declared_.insert(tokens_[i].text);
    int depth = 2;
    for (; i_ < tokens_.size() && depth > 0; ++i_) {
      require(tokens_[i_].is != token::kind::directive, "a directive inside: " + tokens_[i_].text);
      depth += is(i_, "{") - is(i_, "}");
      if (is_word(i_)) word();
    }
    require(depth == 0 && is(i_, ";") && i_ + 1 == tokens_.size(), "there is more than the struct");
  }
  void word() {
    static const std::set<std::string> keywords{"auto", "const", "constexpr", "double", "false",       "float",
                                                "for",  "int",   "return",    "static", "static_cast", "true"};
    static const std::set<std::string> standard{"array", "int64_t", "numeric_limits", "span", "string_view"};
    const std::string& w = tokens_[i_].text;
    if (is(i_ - 1, ".")) return;  // of a tensor, a builder, or a designated initialiser
    if (is(i_ - 1, "::")) {
      std::size_t first = i_ - 1;
      while (is(first - 2, "::")) first -= 2;
      const bool own = is(first - 1, "dk"), of_limits = is(i_ - 2, ">");
      require(own || of_limits || (is(first - 1, "std") && standard.contains(w)), "a foreign name: " + w);
      return;
    }
    if (is(i_ + 1, "::")) return require(w == "dk" || w == "std", "a foreign name: " + w + "::");
    if (keywords.contains(w)) return;
    if ((is_word(i_ - 1) && !is(i_ - 1, "return")) || is(i_ - 1, ">")) declared_.insert(w);  // behind its type
    require(declared_.contains(w), "a word nobody declared: " + w);
  }

  const std::vector<token>& tokens_;
  std::size_t i_ = 0;
  std::set<std::string> declared_;
};

}  // namespace cpp
