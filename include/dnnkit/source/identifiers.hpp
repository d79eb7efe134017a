// SPDX-License-Identifier: MIT
// Identifiers made of names from a file, and which of them are taken.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dnnkit::generation {

using word_set = std::set<std::string, std::less<>>;

// Keywords, what generated code calls by these names, and macros that headers of the system define.
inline const word_set& reserved_words() {
  static const word_set list{
      // keywords
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
      "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
      "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // names that generated code uses
      "dk", "dnnkit", "main", "std",
      // macros
      "alloca", "assert", "assert_perror", "be16toh", "be32toh", "be64toh", "complex", "d_fileno", "errno", "h_addr",
      "h_errno", "htobe16", "htobe32", "htobe64", "htole16", "htole32", "htole64", "i386", "imaginary", "le16toh",
      "le32toh", "le64toh", "linux", "major", "makedev", "math_errhandling", "minor", "offsetof", "pthread_cleanup_pop",
      "pthread_cleanup_push", "s6_addr", "sa_handler", "sa_sigaction", "sched_priority", "setjmp", "si_addr", "si_band",
      "si_code", "si_fd", "si_int", "si_overrun", "si_pid", "si_ptr", "si_status", "si_stime", "si_timerid", "si_uid",
      "si_utime", "si_value", "sigmask", "sigsetjmp", "st_atime", "st_ctime", "st_mtime", "stderr", "stdin", "stdout",
      "strdupa", "strndupa", "timeradd", "timerclear", "timercmp", "timerisset", "timersub", "unix", "va_arg",
      "va_copy", "va_end", "va_start"};
  return list;
}

// Types and functions that C has in the global namespace, by which a model cannot be called there; and `build`, its
// member.
inline const word_set& global_words() {
  static const word_set list{
      "abort", "abs", "accept", "access", "acos", "acosh", "asin", "asinh", "atan", "atanh", "atoi", "bind", "brk",
      "build", "cbrt", "ceil", "chmod", "clock", "close", "connect", "copysign", "cos", "cosh", "creat", "daemon",
      "dirent", "div", "doctest", "drem", "dup", "dysize", "encrypt", "erf", "erfc", "exit", "exp", "exp2", "expm1",
      "fabs", "fdim", "ffs", "flock", "floor", "fma", "fmax", "fmin", "fmod", "fmt", "fork", "free", "frexp", "gamma",
      "gets", "getopt", "hypot", "ilogb", "index", "infinity", "iovec", "isinf", "isnan", "itimerval", "kill", "labs",
      "lconv", "ldexp", "ldiv", "lgamma", "linger", "link", "listen", "log", "log10", "log1p", "log2", "logb", "malloc",
      "mkdir", "modf", "nan", "nice", "open", "option", "pause", "pipe", "poll", "pow", "printf", "profil", "putenv",
      "puts", "raise", "rand", "random", "read", "recv", "remainder", "remove", "remquo", "rename", "rindex", "rint",
      "rmdir", "round", "rusage", "sbrk", "scalb", "scanf", "select", "send", "shutdown", "sigaction", "sigevent",
      "signal", "significand", "sigval", "sin", "sinh", "sleep", "socket", "splice", "sqrt", "stat", "statx", "strlen",
      "swab", "symlink", "sync", "syscall", "system", "tan", "tanh", "tee", "tgamma", "time", "timespec", "timeval",
      "timex", "timezone", "tm", "trunc", "truncate", "ulimit", "umask", "ungetc", "unlink", "vfork", "wait", "write",
      // types of C
      "clock_t", "clockid_t", "dev_t", "div_t", "double_t", "float_t", "fpos_t", "gid_t", "id_t", "ino_t", "int16_t",
      "int32_t", "int64_t", "int8_t", "intmax_t", "intptr_t", "jmp_buf", "key_t", "ldiv_t", "locale_t", "mbstate_t",
      "mode_t", "off_t", "pid_t", "ptrdiff_t", "sigset_t", "size_t", "ssize_t", "stack_t", "time_t", "timer_t", "uid_t",
      "uint", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintmax_t", "uintptr_t", "va_list", "wint_t"};
  return list;
}

inline bool is_reserved(std::string_view s) { return reserved_words().contains(s); }

inline constexpr std::size_t longest_identifier = 60;

// `s` as an identifier in snake_case of at most longest_identifier characters: what is none of its characters becomes
// one underscore; `otherwise` when nothing is left. No two underscores follow each other, and none is in front: such
// names belong to the compiler.
inline std::string identifier(std::string_view s, std::string_view otherwise) {
  std::string id;
  bool lower_before = false;
  for (char c : s) {
    if (id.size() >= longest_identifier) break;
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (upper && lower_before) id += '_';
    lower_before = lower || digit;
    if (upper) id += static_cast<char>(c - 'A' + 'a');
    else if (lower || digit) id += c;
    else if (!id.empty() && id.back() != '_') id += '_';
  }
  if (id.size() > longest_identifier) id.pop_back();
  while (!id.empty() && id.back() == '_') id.pop_back();
  if (id.empty()) id = otherwise;
  if (id[0] >= '0' && id[0] <= '9') id = std::string(otherwise) + "_" + id;
  return is_reserved(id) ? id + "_" : id;
}

// May a model be called `s`, as a type in the global namespace?
inline bool is_type_name(std::string_view s) {
  if (s.empty() || s[0] == '_' || (s[0] >= '0' && s[0] <= '9') || s.find("__") != s.npos) return false;
  for (char c : s)
    if (c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return false;
  return !is_reserved(s) && !global_words().contains(s);
}
// A name like `s` for which that is so.
inline std::string type_name(std::string_view s, std::string_view otherwise) {
  std::string name = identifier(s, otherwise);
  while (!name.empty() && name.back() == '_') name.pop_back();
  return is_type_name(name) ? name : name + "_" + std::string(otherwise);
}

// The names of one scope.
class name_scope {
 public:
  name_scope(std::initializer_list<std::string_view> taken) { taken_.insert(taken.begin(), taken.end()); }

  bool contains(std::string_view name) const { return taken_.contains(name); }
  bool take(const std::string& name) { return taken_.insert(name).second; }
  // `wanted`, or where that is taken `wanted` with the first number from 2 on that makes it another name; it is taken
  // from now on.
  std::string add(const std::string& wanted) {
    if (take(wanted)) return wanted;
    int& number = last_number_.try_emplace(wanted, 1).first->second;
    while (true)
      if (std::string name = numbered(wanted, ++number); take(name)) return name;
  }
  static std::string numbered(const std::string& name, int number) {
    return name + (name.ends_with('_') ? "" : "_") + std::to_string(number);
  }

 private:
  word_set taken_;
  std::map<std::string, int> last_number_;  // of those given out
};

}  // namespace dnnkit::generation
