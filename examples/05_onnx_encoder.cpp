// SPDX-License-Identifier: MIT
// Example 5: a BERT-style encoder for texts of any length from one binary. examples/assets/encoder.onnx leaves the
// length open; the generated model has it as the symbol L, and a session is told its value when a text comes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "encoder.hpp"                 // generated: the struct encoder
#include "encoder_weights.hpp"         // generated: encoder_weights() maps the .onnx file
#define CXXOPTS_VECTOR_DELIMITER '\0'  // a text may have commas
#include "examples/support/arguments.hpp"

namespace dk = dnnkit;

namespace {

using net = dk::compile<encoder>;
static_assert(!net::is_static);  // extents are expressions over L, which is between 1 and 128

constexpr std::size_t width = 64;  // of the vector that stands for a character

// One vector for each character.
std::vector<float> encode(dk::session<net>& session, const std::vector<std::int64_t>& characters) {
  session.bind({{"L", static_cast<std::int64_t>(characters.size())}});
  const std::vector<std::int64_t> mask(characters.size(), 1);  // all of them are there
  std::vector<float> vectors(characters.size() * width);
  session.run(characters, mask, vectors);
  return vectors;
}

std::vector<std::int64_t> characters_of(const std::string& text) {
  std::vector<std::int64_t> all;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) > 127) throw dk::error("has a character that is not ASCII", "'" + text + "'");
    all.push_back(c);
  }
  return all;
}

// The vectors' mean, of length 1.
std::vector<double> summary(const std::vector<float>& vectors) {
  std::vector<double> mean(width);
  for (std::size_t i = 0; i < vectors.size(); ++i) mean[i % width] += vectors[i];
  double squares = 0;
  for (const double x : mean) squares += x * x;
  for (double& x : mean) x /= std::sqrt(squares);
  return mean;
}

// How alike the encoder finds the first text and each other one: the cosine of the angle between their means.
void compare(dk::session<net>& session, const std::vector<std::string>& texts) {
  const std::vector<double> first = summary(encode(session, characters_of(texts[0])));
  for (const std::string& t : texts) {
    const std::vector<double> other = summary(encode(session, characters_of(t)));
    double cosine = 0;
    for (std::size_t i = 0; i < width; ++i) cosine += first[i] * other[i];
    std::cout << cosine << "  " << t << '\n';
  }
}

template <class T> std::vector<T> elements(const dk::stored_tensor& t) {
  std::vector<T> all(t.data.size() / sizeof(T));
  std::memcpy(all.data(), t.data.data(), t.data.size());
  return all;
}

// Every length for which there is a result of ONNX Runtime's, one session for all.
int check(dk::session<net>& session) {
  const dk::safetensors expected(std::filesystem::path(DNNKIT_ASSETS) / "encoder_expected.safetensors");
  constexpr std::string_view prefix = "input_ids.";
  std::size_t lengths = 0;
  bool right = true;
  for (const dk::stored_tensor& given : expected.tensors()) {
    if (!given.name.starts_with(prefix)) continue;
    const std::string length(given.name.substr(prefix.size()));
    const auto wanted = elements<float>(expected.at("last_hidden_state." + length));
    const auto found = encode(session, elements<std::int64_t>(given));
    double difference = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      difference = std::max(difference, static_cast<double>(std::abs(found[i] - wanted.at(i))));
    std::cout << "length " << length << ": at most " << difference << " from ONNX Runtime\n";
    right = right && found.size() == wanted.size() && difference < 1e-4;
    ++lengths;
  }
  return right && lengths == 7 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  cxxopts::Options options("onnx_encoder",
                           "Compares the first text with the others; without any, checks lengths from 1 to 128.");
  options.add_options()("texts", "up to 128 ASCII characters each", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"texts"});
  options.positional_help("[TEXT...]");
  const auto arguments = dk::examples::parse_arguments(options, argc, argv);
  dk::session<net> session(encoder_weights());
  if (!arguments.count("texts")) return check(session);
  compare(session, arguments["texts"].as<std::vector<std::string>>());
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
