// SPDX-License-Identifier: MIT
// Tests of the names of files: different ones for different tensors, from which the tensors' can be read.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/npy_name.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>

using dnnkit::npy_name;

namespace {

std::string unquoted(const std::string& file) {
  std::string s;
  for (std::size_t i = 0; i + 4 < file.size(); ++i)
    if (file[i] != '%') s += file[i];
    else if (i + 6 < file.size()) s += static_cast<char>(std::stoi(file.substr(i + 1, 2), nullptr, 16)), i += 2;
  return s;
}

}  // namespace

TEST_CASE("names of files") {
  CHECK(npy_name("y") == "y.npy");
  CHECK(npy_name("a_b") == "a_b.npy");
  CHECK(npy_name("a/b") == "a%2Fb.npy");
  CHECK(npy_name("layer/conv:0") == "layer%2Fconv%3A0.npy");
  CHECK(npy_name("v1.5") == "v1.5.npy");
  CHECK(npy_name("..") == "%2E..npy");
  CHECK(npy_name("") == "%.npy");
  CHECK(npy_name("ä%") == "%C3%A4%25.npy");
}

TEST_CASE("no two names of two bytes have one file, and none is hidden or elsewhere") {
  std::set<std::string> files;
  for (int a = 0; a < 256; ++a)
    for (int b = -1; b < 256; ++b) {
      std::string name{static_cast<char>(a)};
      if (b >= 0) name += static_cast<char>(b);
      const std::string file = npy_name(name);
      if (!files.insert(file).second || unquoted(file) != name || file[0] == '.' || file.find('/') != file.npos)
        FAIL(file);
    }
}
