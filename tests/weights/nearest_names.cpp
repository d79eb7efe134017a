// SPDX-License-Identifier: MIT
// Tests of the distance of names, its laws over random texts, and of the choice among names.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/nearest_names.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using dnnkit::detail::edit_distance;
using names = std::vector<std::string_view>;

names nearest(std::string_view wanted, const names& all, std::size_t count = 3) {
  return dnnkit::detail::nearest_names(wanted, all, count);
}

}  // namespace

TEST_CASE("distances") {
  CHECK(edit_distance("", "", 9) == 0);
  CHECK(edit_distance("", "abc", 9) == 3);
  CHECK(edit_distance("kitten", "sitting", 9) == 3);
  CHECK(edit_distance("weight", "weigth", 9) == 2);
  CHECK(edit_distance("weight", "bias", 2) == 3);  // more than was asked for
}

TEST_CASE("laws of distances") {
  std::mt19937 random(7);
  INFO("seed 7");
  const auto text = [&] {
    std::string s;
    for (auto n = random() % 8; n > 0; --n) s += static_cast<char>('a' + random() % 3);
    return s;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string a = text(), b = text(), c = text();
    const std::size_t ab = edit_distance(a, b, 99);
    CHECK(ab == edit_distance(b, a, 99));
    CHECK((ab == 0) == (a == b));
    CHECK(ab <= std::max(a.size(), b.size()));
    CHECK(edit_distance(a, c, 99) <= ab + edit_distance(b, c, 99));
    for (std::size_t most = 0; most < 8; ++most) CHECK(edit_distance(a, b, most) == std::min(ab, most + 1));
  }
}

TEST_CASE("names like the one that is wanted, the nearest first") {
  const names all{"conv1.bias", "conv1.weight", "conv2.weight", "fc.weight", "model.head.weight"};
  CHECK(nearest("conv1.weigth", all) == names{"conv1.weight", "conv2.weight"});
  CHECK(nearest("conv3.weight", all) == names{"conv1.weight", "conv2.weight"});
  CHECK(nearest("conv3.weight", all, 1) == names{"conv1.weight"});
  CHECK(nearest("head.weight", all)[0] == "model.head.weight");
  CHECK(nearest("module.fc.weight", all)[0] == "fc.weight");
  CHECK(nearest("bn0.weight", all).empty());  // ".weight" makes no two layers alike
  CHECK(nearest("fc.wieght", all) == names{"fc.weight"});
  CHECK(nearest("embedding", all).empty());
  CHECK(nearest("", all).empty());
  CHECK(nearest("c", {"a", "b"}).empty());  // nothing of them is the same
}
