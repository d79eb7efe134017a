// SPDX-License-Identifier: MIT
// Tests of the names of files: different ones for different tensors, from which the tensors' can be read.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/npy_name.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

using dnnkit::npy_name;
using dnnkit::npy_names_of_outputs;

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

TEST_CASE("outputs whose names are too long for files are numbered") {
  using names = std::vector<std::string>;
  const std::string fits(216, 'a'), longer(217, 'a'), quoted(100, '/');
  CHECK(npy_names_of_outputs({"y", fits}) == names{"y.npy", fits + ".npy"});
  CHECK(npy_names_of_outputs({"y", longer, quoted}) == names{"y.npy", "out_1.npy", "out_2.npy"});
  CHECK(npy_names_of_outputs({"out_0", "y"}) == names{"out_0.npy", "y.npy"});
  CHECK(error_of([&] {
          static_cast<void>(npy_names_of_outputs({"out_1", longer}));
        }) == "out_1.npy: is the file of two outputs: the name of one is too long, and the other is called so");
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
