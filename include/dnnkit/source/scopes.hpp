// SPDX-License-Identifier: MIT
// Names of nodes read as paths ("/encoder/layer.0/attention/Add"), and what functions and variables are called after
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/source/identifiers.hpp"

namespace dnnkit::generation {

// The folders of a name: "/a/b.0/Add" has "a", "b.0".
inline std::vector<std::string> folders_of(std::string_view name) {
  std::vector<std::string> list;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] == '/') {
      if (i > begin) list.emplace_back(name.substr(begin, i - begin));
      begin = i + 1;
    }
  return list;
}

// The deepest path with a slash at its end that all names given lie below.
class common_path {
 public:
  void add(std::string_view name) {
    if (!begun_) path_ = name.substr(0, name.rfind('/') + 1);
    begun_ = true;
    while (!path_.empty() && !name.starts_with(path_)) {
      path_.remove_suffix(1);
      path_ = path_.substr(0, path_.rfind('/') + 1);
    }
  }
  void add(const std::vector<std::string>& names) {
    for (const std::string& n : names) add(n);
  }
  // Part of one of the names; empty when there is none.
  std::string_view path() const { return path_ == "/" ? std::string_view() : path_; }

 private:
  std::string_view path_;
  bool begun_ = false;
};
inline std::string path_of(const std::vector<std::string>& names) {
  common_path c;
  c.add(names);
  return std::string(c.path());
}

// Letters of a folder's name: "layer1.0" is "layer".
inline std::string letters_of(std::string_view folder) {
  std::string s;
  for (char c : folder)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') s += c;
    else if (c == '-') s += '_';
  while (!s.empty() && s.back() == '_') s.pop_back();
  return s;
}

// What modules at these paths are: the last folder they have in common but for its number.
inline std::string module_name(const std::vector<std::string>& paths, std::string_view otherwise) {
  std::vector<std::vector<std::string>> folders;
  std::size_t depth = 100;
  for (const std::string& p : paths) {
    folders.push_back(folders_of(p));
    depth = std::min(depth, folders.back().size());
  }
  for (std::size_t d = depth; d-- > 0;) {
    bool equal = true;
    for (const auto& f : folders) equal = equal && letters_of(f[d]) == letters_of(folders[0][d]);
    if (equal && letters_of(folders[0][d]).size() > 1) return identifier(letters_of(folders[0][d]), otherwise);
  }
  return std::string(otherwise);
}

}  // namespace dnnkit::generation
