// SPDX-License-Identifier: MIT
// LABELS: sanitize
// Tests of reading and writing PNG files: every kind of PNG, the shipped photographs, and each malformed file.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "examples/support/png.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/png_file.hpp"
#include "tests/support/temporary_folder.hpp"

using dnnkit::replacing_file;
using dnnkit::examples::image;
using dnnkit::examples::load_png;
using dnnkit::examples::psnr;
using dnnkit::examples::save_png;

static const std::string assets = DNNKIT_ASSETS;

static image load(const std::string& bytes) {
  const temporary_folder folder;
  write_file(folder / "f.png", bytes);
  return load_png(folder / "f.png");
}

// The message about a malformed file, from the file's name on.
static std::string complaint(const std::string& bytes) {
  const std::string message = error_of([&] { return load(bytes); });
  const std::size_t name = message.find("f.png");
  return name == std::string::npos ? message : message.substr(name);
}

TEST_CASE("RGB and RGBA of 8 bits are taken as they are") {
  const image rgb = load(png_file(header(2, 2, 8, 2), {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 250, 251, 252}}));
  CHECK(rgb.width == 2);
  CHECK(rgb.height == 2);
  CHECK(rgb.channels == 3);
  CHECK(rgb.pixels == row{1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252});
  const image rgba = load(png_file(header(1, 2, 8, 6), {{1, 2, 3, 4}, {5, 6, 7, 0}}));
  CHECK(rgba.channels == 4);
  CHECK(rgba.pixels == row{1, 2, 3, 4, 5, 6, 7, 0});
}

TEST_CASE("an image of one pixel") {
  const image one = load(png_file(header(1, 1, 8, 2), {{9, 8, 7}}));
  CHECK(one.pixels == row{9, 8, 7});
}

TEST_CASE("gray becomes RGB, of any depth") {
  CHECK(load(png_file(header(2, 1, 8, 0), {{10, 200}})).pixels == row{10, 10, 10, 200, 200, 200});
  CHECK(load(png_file(header(3, 1, 4, 0), {{0x0f, 0x70}})).pixels == row{0, 0, 0, 255, 255, 255, 119, 119, 119});
  CHECK(load(png_file(header(4, 1, 2, 0), {{0x1b}})).pixels == row{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255});
  CHECK(load(png_file(header(2, 1, 1, 0), {{0x40}})).pixels == row{0, 0, 0, 255, 255, 255});
  const image with_alpha = load(png_file(header(2, 1, 8, 4), {{10, 1, 20, 2}}));
  CHECK(with_alpha.channels == 4);
  CHECK(with_alpha.pixels == row{10, 10, 10, 1, 20, 20, 20, 2});
}

TEST_CASE("palettes are looked up, with transparency where they have it") {
  const std::string palette = chunk("PLTE", std::string("\x01\x02\x03\x0a\x14\x1e\xff\x80\x40", 9));
  CHECK(load(png_file(header(3, 1, 8, 3), {{2, 0, 1}}, palette)).pixels == row{255, 128, 64, 1, 2, 3, 10, 20, 30});
  CHECK(load(png_file(header(3, 1, 2, 3), {{0x84}}, palette)).pixels == row{255, 128, 64, 1, 2, 3, 10, 20, 30});
  const image clear = load(png_file(header(2, 1, 8, 3), {{1, 0}}, palette + chunk("tRNS", "\x07\x63")));
  CHECK(clear.channels == 4);
  CHECK(clear.pixels == row{10, 20, 30, 99, 1, 2, 3, 7});
}

TEST_CASE("a transparent colour becomes alpha") {
  const image clear =
      load(png_file(header(2, 1, 8, 2), {{1, 2, 3, 4, 5, 6}}, chunk("tRNS", std::string("\0\1\0\2\0\3", 6))));
  CHECK(clear.pixels == row{1, 2, 3, 0, 4, 5, 6, 255});
}

TEST_CASE("16 bits are rounded to 8") {
  // round(v * 255 / 65535): 0x0080 -> 0.498, 0x0081 -> 0.502, 0x1234 -> 18.13, 0xff7f -> 254.502, 0xfeff -> 254.004
  const image rgb = load(png_file(header(2, 1, 16, 2), {{0x00, 0x80, 0x00, 0x81, 0x12, 0x34,  //
                                                         0xff, 0x7f, 0xff, 0xff, 0xfe, 0xff}}));
  CHECK(rgb.pixels == row{0, 1, 18, 255, 255, 254});
  CHECK(load(png_file(header(1, 1, 16, 0), {{0x80, 0x80}})).pixels == row{128, 128, 128});
  CHECK(load(png_file(header(1, 1, 16, 6), {{1, 1, 2, 2, 3, 3, 4, 4}})).pixels == row{1, 2, 3, 4});
}

TEST_CASE("interlaced files give the same pixels") {
  // 3x3, passes of Adam7: (0,0) | - | - | (2,0) | (0,2) (2,2) | (1,0) | (1,2): as x,y; then row 1.
  const std::vector<row> passes{{1}, {3}, {7, 9}, {2}, {8}, {4, 5, 6}};
  CHECK(load(png_file(header(3, 3, 8, 0, true), passes)).pixels ==
        row{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9});
}

TEST_CASE("gamma and colour profiles do not change samples") {
  const std::string gamma = chunk("gAMA", big_endian(100'000));
  CHECK(load(png_file(header(1, 1, 8, 2), {{50, 100, 150}}, gamma)).pixels == row{50, 100, 150});
  CHECK(load(png_file(header(1, 1, 16, 0), {{0x80, 0x80}}, gamma)).pixels == row{128, 128, 128});
}

TEST_CASE("the photographs, and what PyTorch made of them") {
  // The ratios as numpy works them out from the same files.
  for (const auto& [name, expected] : {std::pair("chelsea", 34.814962), std::pair("coffee", 31.242714)}) {
    const image low = load_png(assets + "/" + name + "_low.png"), high = load_png(assets + "/" + name + "_high.png");
    const image enlarged = load_png(assets + "/" + name + "_wdsr_pytorch.png");
    CHECK(high.width == 2 * low.width);
    CHECK(high.height == 2 * low.height);
    CHECK(psnr(high, enlarged) == doctest::Approx(expected).epsilon(1e-6 / expected));
  }
}

TEST_CASE("random images come back as they were saved") {
  const unsigned seed = 99;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const temporary_folder folder;
  for (int round = 0; round < 40; ++round) {
    image original{1 + random() % 70, 1 + random() % 70, 3 + random() % 2, {}};
    original.pixels.resize(original.width * original.height * original.channels);
    for (std::uint8_t& sample : original.pixels) sample = static_cast<std::uint8_t>(random());
    save_png(folder / "f.png", original);
    const image copy = load_png(folder / "f.png");
    CHECK(copy.width == original.width);
    CHECK(copy.height == original.height);
    CHECK(copy.channels == original.channels);
    CHECK(copy.pixels == original.pixels);
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("what is no PNG file is refused by name") {
  const temporary_folder folder;
  CHECK(error_of([&] { return load_png(folder / "absent.png"); }) ==
        (folder / "absent.png").string() + ": cannot open file (No such file or directory)");
  CHECK(error_of([&] { return load_png(folder.path()); }) ==
        folder.path().string() + ": is a directory, expected a file");
  CHECK(complaint("") == "f.png: file is empty");
  CHECK(complaint("\x89PNG\r\n") == "f.png: is not a PNG file");
  CHECK(complaint("\xff\xd8\xff\xe0 some JPEG file") == "f.png: is not a PNG file");
  CHECK(complaint(read_file(assets + "/digits_cnn.safetensors")) == "f.png: is not a PNG file");
}

TEST_CASE("truncated anywhere, a PNG file is refused") {
  const std::string whole = png_file(header(5, 4, 8, 2), std::vector<row>(4, row(15, 77)));
  REQUIRE(load(whole).pixels == row(60, 77));
  for (std::size_t size = 8; size < whole.size(); ++size) {
    const std::string message = complaint(whole.substr(0, size));
    CHECK(message == "f.png: PNG file is damaged (the file ends too early)");
  }
  const std::string photograph = read_file(assets + "/chelsea_low.png");
  CHECK(complaint(photograph.substr(0, photograph.size() / 2)) ==
        "f.png: PNG file is damaged (the file ends too early)");
}

TEST_CASE("damaged anywhere, a PNG file is refused or its pixels are the same") {
  const std::string whole = png_file(header(5, 4, 8, 2), std::vector<row>(4, row(15, 77)));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const std::string message = complaint(damaged);
    if (i < 8) CHECK(message == "f.png: is not a PNG file");
    if (message == "no error") CHECK(load(damaged).pixels == row(60, 77));
  }
}

TEST_CASE("malformed PNG files") {
  const std::vector<row> one{{0, 0, 0}};
  CHECK(complaint(signature + chunk("IHDR", "short")) == "f.png: PNG file is damaged (IHDR: invalid)");
  CHECK(complaint(png_file(header(0, 1, 8, 2), one)).starts_with("f.png: PNG file is damaged ("));
  CHECK(complaint(png_file(header(1, 1, 9, 2), one)).starts_with("f.png: PNG file is damaged ("));
  CHECK(complaint(png_file(header(1, 1, 8, 5), one)).starts_with("f.png: PNG file is damaged ("));
  CHECK(complaint(png_file(header(1, 1, 8, 3), {{0}})).starts_with("f.png: PNG file is damaged ("));  // no palette
  CHECK(complaint(signature + header(1, 1, 8, 2) + chunk("IEND", "")).starts_with("f.png: PNG file is damaged ("));
  CHECK(complaint(png_file(header(1, 9, 8, 2), one)).starts_with("f.png: PNG file is damaged ("));  // too few rows
  std::string wrong_crc = png_file(header(1, 1, 8, 2), one);
  wrong_crc[wrong_crc.size() - 12 - 1] ^= 1;  // the end of IDAT
  CHECK(complaint(wrong_crc) == "f.png: PNG file is damaged (IDAT: CRC error)");
}

TEST_CASE("images without measure are refused before memory is taken for them") {
  CHECK(complaint(png_file(header(40'000, 40'000, 8, 2), {{0}})) ==
        "f.png: image is too large, expected at most 1000000000 pixels, found 40000x40000");
  CHECK(complaint(png_file(header(0x7fffffff, 0x7fffffff, 16, 6), {{0}})) ==
        "f.png: image is too large, expected at most 1000000000 pixels, found 2147483647x2147483647");
  CHECK(complaint(png_file(header(1'000'000'000, 1, 16, 6), {{0}}))
            .starts_with(
                "f.png: PNG file is damaged (the file ends too early), expected data for 1000000000x1 pixels, "));
  CHECK(complaint(png_file(header(30'000, 30'000, 8, 2), {{0}}))
            .starts_with(
                "f.png: PNG file is damaged (the file ends too early), expected data for 30000x30000 pixels, found "));
}

TEST_CASE("images that cannot be saved") {
  const temporary_folder folder;
  const auto refusal = [&](const image& source) {
    const std::string message = error_of([&] { return save_png(folder / "f.png", source), 0; });
    return message.substr(message.find("f.png"));
  };
  CHECK(refusal({2, 2, 3, row(11)}) == "f.png: image cannot be saved, expected 12 samples, found 11");
  CHECK(refusal({2, 2, 1, row(4)}) == "f.png: image cannot be saved, expected 3 or 4 channels, found 1");
  CHECK(refusal({0, 2, 3, {}}) == "f.png: image cannot be saved, expected 1 to 1000000000 pixels, found 0x2");
  CHECK(refusal({SIZE_MAX, SIZE_MAX, 3, {}}).starts_with("f.png: image cannot be saved, expected 1 to "));
  CHECK(folder.entries() == 0);
}

TEST_CASE("an unwritable output is found before the image is there") {
  const temporary_folder folder;
  CHECK(error_of([&] { return replacing_file(folder / "no" / "out.png"); }) ==
        (folder / "no/out.png").string() + ": cannot write file (No such file or directory)");
  CHECK(error_of([&] {
          return save_png("/dev/full", {1, 1, 3, row(3)}), 0;
        }) == "/dev/full: cannot write to file (No space left on device)");
  replacing_file out(folder / "out.png");
  save_png(out, {1, 1, 3, {1, 2, 3}});
  CHECK(load_png(folder / "out.png").pixels == row{1, 2, 3});
}
