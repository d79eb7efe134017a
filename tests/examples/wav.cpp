// SPDX-License-Identifier: MIT
// LABELS: sanitize
// Tests of reading WAV files: the shipped recording, files with more chunks and channels, and malformed ones.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "examples/support/wav.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

using dnnkit::examples::load_wav;
using dnnkit::examples::recording;

namespace {

std::string number(std::uint64_t n, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(n >> (8 * i) & 255);
  return text;
}
std::string chunk(std::string_view name, const std::string& data) {
  return std::string(name) + number(data.size(), 4) + data + (data.size() % 2 ? std::string(1, '\0') : "");
}
std::string format(std::uint64_t kind, std::uint64_t channels, std::uint64_t bits) {
  const std::uint64_t frame = channels * bits / 8;
  return chunk("fmt ", number(kind, 2) + number(channels, 2) + number(8000, 4) + number(8000 * frame, 4) +
                           number(frame, 2) + number(bits, 2));
}
std::string riff(const std::string& chunks) { return "RIFF" + number(chunks.size() + 4, 4) + "WAVE" + chunks; }
std::string samples(const std::vector<int>& values) {
  std::string text;
  for (const int v : values) text += number(static_cast<std::uint64_t>(v), 2);
  return text;
}

recording load(const std::string& bytes) {
  const temporary_folder folder;
  write_file(folder / "f.wav", bytes);
  return load_wav(folder / "f.wav");
}
// The message about a malformed file, from the file's name on.
std::string complaint(const std::string& bytes) {
  const std::string message = error_of([&] { return load(bytes); });
  const std::size_t name = message.find("f.wav");
  return name == std::string::npos ? message : message.substr(name);
}

}  // namespace

TEST_CASE("samples of the first channel, other chunks passed over") {
  const recording one = load(riff(format(1, 1, 16) + chunk("data", samples({0, 16384, -32768, 32767}))));
  CHECK(one.rate == 8000);
  CHECK(one.samples == std::vector<float>{0, 0.5f, -1, 32767.0f / 32768});
  const recording two =
      load(riff(chunk("LIST", "odd") + format(0xFFFE, 2, 16) + chunk("data", samples({8192, 1, -8192, 2}) + "x")));
  CHECK(two.samples == std::vector<float>{0.25f, -0.25f});
}

TEST_CASE("a size that a program did not know is that of the rest") {
  const std::string data = chunk("data", samples({16384, 16384}));
  CHECK(load(riff(format(1, 1, 16)) + "data" + number(0xFFFFFFFF, 4) + data.substr(8)).samples.size() == 2);
  CHECK(load(riff(format(1, 1, 16)) + "data" + number(0xFFFFFFFF, 4)).samples.empty());
}

TEST_CASE("the shipped recording") {
  const recording speech = load_wav(std::string(DNNKIT_ASSETS) + "/speech.wav");
  CHECK(speech.rate == 16000);
  CHECK(speech.samples.size() % 512 == 0);
  CHECK(speech.samples.size() > 16000);
}

TEST_CASE("malformed files") {
  CHECK(complaint("RIFF") == "f.wav: is no WAV file");
  CHECK(complaint("RIFF0000AVI ") == "f.wav: is no WAV file");
  CHECK(complaint(riff("")) == "f.wav: has no chunk 'fmt '");
  CHECK(complaint(riff(chunk("fmt ", "short"))) == "f.wav: has no chunk 'fmt '");
  CHECK(complaint(riff(format(1, 1, 16))) == "f.wav: has no chunk 'data'");
  CHECK(complaint(riff(format(3, 1, 32) + chunk("data", ""))) ==
        "f.wav: has samples that cannot be read, expected 16-bit integers, found 32 bits, format 3, 1 channels");
  CHECK(complaint(riff(format(1, 0, 16) + chunk("data", ""))) ==
        "f.wav: has samples that cannot be read, expected 16-bit integers, found 16 bits, format 1, 0 channels");
}
