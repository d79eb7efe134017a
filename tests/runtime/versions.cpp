// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// One program with kernels for several instruction sets: which one it runs with, and that its digits are read right
// with it. versions.sh runs this program with each of them, and looks at its objects.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/runtime/versions.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/fixtures/digits_in_versions.hpp"
#include "tests/support/error_of.hpp"

namespace {

namespace dk = dnnkit;

using net = dk::compile<digits_in_versions>;
static_assert(!std::is_same_v<net, dk::compile<models::digits>>);

using set = dk::detail::instruction_set;
constexpr std::array<set, 3> program{set{"sse2", 16, true}, {"avx512", 64, false}, {"avx2", 32, true}};

std::string chosen(std::span<const set> sets, std::string_view named) {
  return std::string(sets[dk::detail::choose_instruction_set(sets, named, program)].name);
}

// Of 360 images.
int digits_read_right() {
  const std::filesystem::path assets = DNNKIT_ASSETS;
  const dk::safetensors images(assets / "digits.safetensors");
  dk::session<net> session{dk::safetensors(assets / "digits_cnn.safetensors")};
  const auto pixels = images.at("test_x").data, truth = images.at("test_y").data;
  int right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    std::array<float, 64> image;
    std::array<float, 10> scores;
    for (std::size_t k = 0; k < 64; ++k) image[k] = static_cast<float>(pixels[64 * i + k]) / 16;
    session.run(image, scores);
    right += std::max_element(scores.begin(), scores.end()) - scores.begin() == static_cast<int>(truth[i]) ? 1 : 0;
  }
  return right;
}

}  // namespace

TEST_CASE("the widest that the processor has, or the one that is named") {
  CHECK(chosen(program, "") == "avx2");
  CHECK(chosen(program, "sse2") == "sse2");
  // of equally wide vectors those with products of bytes
  using dnnkit::byte_products;
  const set plain{"avx512", 64, true}, vnni{"avx512_vnni", 64, true, byte_products::in_vectors},
      amx{"avx512_amx", 64, true, byte_products::in_tiles}, narrow{"avx2", 32, true};
  CHECK(chosen(std::array<set, 3>{plain, vnni, narrow}, "") == "avx512_vnni");
  CHECK(chosen(std::array<set, 3>{plain, amx, vnni}, "") == "avx512_amx");
  CHECK(chosen(std::array<set, 2>{set{"bytes", 16, true, byte_products::in_tiles}, narrow}, "") == "avx2");
  CHECK(error_of([] { chosen(program, "avx512"); }) ==
        "DNNKIT_ISA: is no instruction set that the program can run with, expected one that the program has (sse2, "
        "avx512 and avx2) and the processor, too (sse2 and avx2), found avx512");
  CHECK(error_of([] { chosen(program, "sse9"); }).find("found sse9") != std::string::npos);
  CHECK(
      error_of([] { chosen(std::span(program).subspan(1, 1), ""); }) ==
      "kernels: they are for other processors, expected one that the program has (avx512) and the processor, too (sse2 "
      "and avx2)");
}

TEST_CASE("sessions run with the instruction set that was chosen") {
  if (const char* named = std::getenv("DNNKIT_ISA")) CHECK(std::string(dk::isa_of<net>()) == named);
  CHECK(dk::isa_of<dk::compile<models::digits>>() == dk::targets::native::name);
  MESSAGE(std::string(dk::isa_of<net>()));
  CHECK(digits_read_right() == 358);
}
