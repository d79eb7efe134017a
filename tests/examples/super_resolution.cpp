// SPDX-License-Identifier: MIT
// The program super_resolution, run as a user would: its results, its options, and what it says about bad input.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/weights/safetensors.hpp"
#include "dnnkit/weights/safetensors_writer.hpp"
#include "examples/support/png.hpp"
#include "tests/support/json_syntax.hpp"
#include "tests/support/png_file.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

using dnnkit::examples::image;
using dnnkit::examples::load_png;

static const std::string assets = DNNKIT_ASSETS;

static program_run enlarge(const std::vector<std::string>& arguments) {
  return run_program("super_resolution", arguments);
}
static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The number behind "PSNR ".
static double psnr_of(const program_run& run) {
  const std::size_t at = run.output.find("PSNR ");
  REQUIRE(at != std::string::npos);
  return std::strtod(run.output.c_str() + at + 5, nullptr);
}

// What the program makes of a PNG file put together by hand.
static image enlarged(const std::string& bytes) {
  const temporary_folder folder;
  write_file(folder / "in.png", bytes);
  const program_run run = enlarge({(folder / "in.png").string(), (folder / "out.png").string()});
  REQUIRE_MESSAGE(run.status == 0, run.errors);
  return load_png(folder / "out.png");
}

TEST_CASE("the photographs, as PyTorch enlarges them") {
  for (const auto& [name, expected] : {std::pair("chelsea", 34.832), std::pair("coffee", 31.250)}) {
    CAPTURE(name);
    const temporary_folder folder;
    const std::string out = (folder / "out.png").string(), prefix = assets + "/" + name;
    const program_run run = enlarge({prefix + "_low.png", out, "--reference", prefix + "_high.png"});
    CHECK(run.status == 0);
    CHECK(psnr_of(run) == doctest::Approx(expected).epsilon(0.005 / expected));
    const image found = load_png(out), truth = load_png(prefix + "_wdsr_pytorch.png");
    CHECK(has(run.output, out + ": " + size_text(truth) + " pixels\n"));
    REQUIRE(found.pixels.size() == truth.pixels.size());
    std::size_t equal = 0;
    int worst = 0;
    for (std::size_t i = 0; i < found.pixels.size(); ++i) {
      const int difference = std::abs(found.pixels[i] - truth.pixels[i]);
      equal += difference == 0;
      worst = std::max(worst, difference);
    }
    CHECK(worst <= 1);
    CHECK(static_cast<double>(equal) >= 0.999 * static_cast<double>(found.pixels.size()));
  }
}

TEST_CASE("the reference beside the photograph is found, and threads change nothing") {
  const temporary_folder folder;
  const std::string in = assets + "/chelsea_low.png";
  const program_run one = enlarge({in, (folder / "1.png").string()});
  const program_run three = enlarge({in, (folder / "3.png").string(), "--threads", "3"});
  CHECK(one.status == 0);
  CHECK(three.status == 0);
  CHECK(has(one.output, "PSNR 34.832 dB\n"));
  CHECK(read_file(folder / "1.png") == read_file(folder / "3.png"));
  const std::size_t last = one.errors.rfind("kernel "), of = one.errors.rfind(" of ");  // progress
  REQUIRE(last < of);
  REQUIRE(of != std::string::npos);
  const std::string number = one.errors.substr(last + 7, of - last - 7);
  CHECK(!has(one.errors, "\r"));  // no terminal
  CHECK(std::stoi(number) >= 19);
  CHECK(has(one.errors.substr(of), " of " + number + "\n"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("a file X_high.png of another size beside X_low.png is no reference") {
  const temporary_folder folder;
  write_file(folder / "x_low.png", png_file(header(2, 1, 8, 2), {{1, 2, 3, 4, 5, 6}}));
  write_file(folder / "x_high.png", png_file(header(1, 1, 8, 2), {{1, 2, 3}}));
  const program_run run = enlarge({(folder / "x_low.png").string(), (folder / "out.png").string()});
  CHECK(run.status == 0);
  CHECK_FALSE(has(run.output, "PSNR"));
}

TEST_CASE("--explain, --dot, --trace and --time") {
  const temporary_folder folder;
  write_file(folder / "in.png", png_file(header(2, 1, 8, 2), {{10, 20, 30, 200, 210, 220}}));
  const program_run run =
      enlarge({(folder / "in.png").string(), (folder / "out.png").string(), "--explain", "--dot",
               (folder / "net.dot").string(), "--trace", (folder / "trace.json").string(), "--time"});
  REQUIRE_MESSAGE(run.status == 0, run.errors);
  CHECK(has(run.output, "kernel 19: "));
  CHECK(has(run.output, "operators, kernels              48 "));
  CHECK(has(run.output, "f32 [1, 3, 2, 4], graph output"));
  CHECK(read_file(folder / "net.dot").starts_with("digraph "));
  const std::string trace = read_file(folder / "trace.json");
  CHECK(json_syntax::valid(trace));
  CHECK(has(trace, "\"name\":\"body.7.3\""));
  // the last line is a number and nothing else
  REQUIRE(run.output.ends_with("\n"));
  const std::size_t line = run.output.rfind('\n', run.output.size() - 2) + 1;
  const std::string last = run.output.substr(line, run.output.size() - line - 1);
  CHECK(last.find_first_not_of("0123456789.") == std::string::npos);
  CHECK(std::strtod(last.c_str(), nullptr) > 0);
}

TEST_CASE("--help") {
  const program_run run = enlarge({"--help"});
  CHECK(run.status == 0);
  for (const char* option : {"--weights", "--reference", "--threads", "--explain", "--trace", "--dot", "--time"})
    CHECK(has(run.output, option));
}

TEST_CASE("an image of one pixel") {
  const image out = enlarged(png_file(header(1, 1, 8, 2), {{250, 128, 7}}));
  CHECK(size_text(out) == "2x2");
  CHECK(out.channels == 3);
}

TEST_CASE("16 bits, gray and palettes are converted to the RGB they show") {
  const image rgb = enlarged(png_file(header(2, 1, 8, 2), {{7, 7, 7, 200, 200, 200}}));
  CHECK(enlarged(png_file(header(2, 1, 8, 0), {{7, 200}})).pixels == rgb.pixels);
  CHECK(enlarged(png_file(header(2, 1, 16, 2), {{7, 7, 7, 7, 7, 7, 200, 200, 200, 200, 200, 200}})).pixels ==
        rgb.pixels);
  const std::string palette = chunk("PLTE", std::string("\xc8\xc8\xc8\x07\x07\x07", 6));
  CHECK(enlarged(png_file(header(2, 1, 8, 3), {{1, 0}}, palette)).pixels == rgb.pixels);
}

TEST_CASE("transparency is enlarged by repeating it; colours are those of the opaque image") {
  const image rgb = enlarged(png_file(header(1, 2, 8, 2), {{10, 20, 30}, {40, 50, 60}}));
  const image rgba = enlarged(png_file(header(1, 2, 8, 6), {{10, 20, 30, 0}, {40, 50, 60, 99}}));
  REQUIRE(rgba.channels == 4);
  CHECK(size_text(rgba) == "2x4");
  for (std::size_t p = 0; p < 8; ++p) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(rgba.pixels[4 * p + c] == rgb.pixels[3 * p + c]);
    CHECK(rgba.pixels[4 * p + 3] == (p < 4 ? 0 : 99));
  }
}

// Runs on a small good image with one thing changed; returns what it says: one line, and one more for each of the
// `listed` tensors.
static std::string refusal(const std::vector<std::string>& more, int status, const std::string& in = {},
                           const std::string& out = {}, std::size_t listed = 0) {
  const temporary_folder folder;
  write_file(folder / "good.png", png_file(header(2, 1, 8, 2), {{10, 20, 30, 200, 210, 220}}));
  const std::string result = out.empty() ? (folder / "out.png").string() : out;
  std::vector<std::string> arguments{in.empty() ? (folder / "good.png").string() : in, result};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const program_run run = enlarge(arguments);
  CHECK(run.status == status);
  CHECK(run.output.empty());
  CHECK(folder.entries() == 1);  // neither a result nor a part of one
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1 + static_cast<std::ptrdiff_t>(listed));
  std::string message = run.errors;
  for (const std::string& path : {folder.path().string() + "/", assets + "/"})
    for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path))
      message.erase(at, path.size());
  return message;
}

TEST_CASE("inputs that are no image") {
  CHECK(refusal({}, 1, "/no/such.png") == "/no/such.png: cannot open file (No such file or directory)\n");
  CHECK(refusal({}, 1, assets) == assets + ": is a directory, expected a file\n");
  CHECK(refusal({}, 1, assets + "/wdsr_x2.safetensors") == "wdsr_x2.safetensors: is not a PNG file\n");
  const temporary_folder folder;
  const auto damaged = [&](const std::string& bytes) {
    write_file(folder / "bad.png", bytes);
    std::string message = refusal({}, 1, (folder / "bad.png").string());
    return message.substr(message.find("bad.png"));
  };
  CHECK(damaged("") == "bad.png: file is empty\n");
  CHECK(damaged("GIF89a, say") == "bad.png: is not a PNG file\n");
  const std::string photograph = read_file(assets + "/chelsea_low.png");
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{20}, std::size_t{100}, photograph.size() / 2, photograph.size() - 1})
    CHECK(damaged(photograph.substr(0, size)) == "bad.png: PNG file is damaged (the file ends too early)\n");
  std::string flipped = photograph;
  flipped[photograph.size() / 2] ^= 1;
  CHECK(damaged(flipped).starts_with("bad.png: PNG file is damaged ("));
  CHECK(damaged(png_file(header(0, 1, 8, 2), {})).starts_with("bad.png: PNG file is damaged ("));
  write_file(folder / "wide.png", png_file(header(16385, 1, 8, 2), {row(3 * 16385, 9)}));
  CHECK(refusal({}, 1, (folder / "wide.png").string()) ==
        "symbol 'W': symbol is out of its bounds, expected 1 to 16384, found 16385\n");
}

TEST_CASE("outputs that cannot be written are found before the work") {
  CHECK(refusal({}, 1, {}, "/no/such/folder/out.png") ==
        "/no/such/folder/out.png: cannot write file (No such file or directory)\n");
  CHECK(refusal({}, 1, "/no/such.png", assets) == assets + ": is a directory, expected a file to write\n");
  CHECK(refusal({"--trace", "/no/such/folder/t.json"}, 1) ==
        "/no/such/folder/t.json: cannot write file (No such file or directory)\n");
  CHECK(refusal({"--dot", "/no/such/folder/t.dot"}, 1) ==
        "/no/such/folder/t.dot: cannot write file (No such file or directory)\n");
}

TEST_CASE("a full device") {
  const temporary_folder folder;
  write_file(folder / "in.png", png_file(header(2, 1, 8, 2), {{10, 20, 30, 200, 210, 220}}));
  const program_run run = enlarge({(folder / "in.png").string(), "/dev/full"});
  CHECK(run.status == 1);
  CHECK(run.errors.ends_with("/dev/full: cannot write to file (No space left on device)\n"));
}

TEST_CASE("wrong weights") {
  CHECK(refusal({"--weights", "/no/such.file"}, 1) == "/no/such.file: cannot open file (No such file or directory)\n");
  const std::string other = refusal({"--weights", assets + "/digits_cnn.safetensors"}, 1, {}, {}, 54);
  CHECK(other.starts_with("digits_cnn.safetensors: 54 of the 54 tensors needed are missing or differ:\n"));
  CHECK(has(other, "head.weight"));
  CHECK(has(other, "tail.bias"));  // all that is missing, at once
  CHECK(has(refusal({"--weights", assets + "/chelsea_low.png"}, 1), "chelsea_low.png: "));

  const temporary_folder folder;
  const auto refused = [&](const std::vector<dnnkit::stored_tensor>& tensors) {
    dnnkit::save_safetensors(folder / "w.safetensors", tensors);
    return refusal({"--weights", (folder / "w.safetensors").string()}, 1, {}, {}, 1);
  };
  const dnnkit::safetensors good(assets + "/wdsr_x2.safetensors");
  std::vector<dnnkit::stored_tensor> tensors = good.tensors();
  const auto skip = std::find_if(tensors.begin(), tensors.end(), [](const auto& t) { return t.name == "skip.weight"; });
  REQUIRE(skip != tensors.end());
  skip->shape = {12, 75};  // the same bytes
  CHECK(has(refused(tensors), "skip.weight"));
  skip->shape = {12, 3, 5, 5};
  skip->dtype = dnnkit::dtype::i32;
  CHECK(has(refused(tensors), "skip.weight"));
  tensors.erase(skip);
  CHECK(has(refused(tensors), "skip.weight"));
  const std::string file = read_file(assets + "/wdsr_x2.safetensors");
  write_file(folder / "short", file.substr(0, file.size() - 4));
  CHECK(has(refusal({"--weights", (folder / "short").string()}, 1), "data is truncated"));
}

TEST_CASE("references that cannot be compared with") {
  CHECK(refusal({"--reference", assets + "/coffee_high.png"}, 1) ==
        "coffee_high.png: reference has another size, expected 4x2, found 600x400\n");
  CHECK(refusal({"--reference", "/no/such.png"}, 1) == "/no/such.png: cannot open file (No such file or directory)\n");
}

TEST_CASE("wrong usage") {
  const auto said = [](const std::vector<std::string>& arguments) {
    const program_run run = enlarge(arguments);
    CHECK(run.status == 2);
    CHECK(run.output.empty());
    CHECK(run.errors.starts_with("super_resolution: "));
    CHECK(run.errors.ends_with("; see super_resolution --help\n"));
    return run.errors;
  };
  CHECK(has(said({}), "argument in is missing"));
  CHECK(has(said({"a.png"}), "argument out is missing"));
  CHECK(has(said({"a.png", "b.png", "c.png"}), "unexpected argument 'c.png'"));
  CHECK(has(said({"a.png", "b.png", "--fast"}), "fast"));
  CHECK(has(said({"a.png", "b.png", "--threads", "0"}), "--threads takes 1 to 1024"));
  CHECK(has(said({"a.png", "b.png", "--threads", "1025"}), "--threads takes 1 to 1024"));
  CHECK(has(said({"a.png", "b.png", "--threads", "two"}), "two"));
  CHECK(has(said({"a.png", "b.png", "--threads", "-1"}), "-1"));
  said({"a.png", "b.png", "--weights"});
}
