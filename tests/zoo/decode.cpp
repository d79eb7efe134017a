// SPDX-License-Identifier: MIT
// Runs the zoo's GPT-2 token after token, with keys and values of all tokens in the session: decode IDS OUTPUT ROUNDS.
// IDS: i64, one a token; OUTPUT gets the logits of each, f32. Prints the milliseconds of each token, the least of all
// rounds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "decoder.hpp"          // generated from a graph of with_past.py
#include "decoder_weights.hpp"  // generated

#include "dnnkit/runtime/stateful_session.hpp"

namespace dk = dnnkit;

#define LAYER(n) dk::feedback<"present_key" #n, "past_key" #n>, dk::feedback<"present_value" #n, "past_value" #n>
using session = dk::stateful_session<dk::session<dk::compile<decoder>>, LAYER(0), LAYER(1), LAYER(2), LAYER(3),
                                     LAYER(4), LAYER(5), LAYER(6), LAYER(7), LAYER(8), LAYER(9), LAYER(10), LAYER(11)>;
#undef LAYER

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: decode IDS OUTPUT ROUNDS\n";
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::int64_t> ids(bytes.size() / sizeof(std::int64_t));
  std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(std::int64_t));

  session s(decoder_weights());
  s.reserve({{"P", static_cast<std::int64_t>(ids.size())}});
  constexpr std::size_t vocabulary = 50257;
  std::vector<float> logits(ids.size() * vocabulary);
  std::vector<double> least(ids.size(), std::numeric_limits<double>::max());
  for (int round = std::atoi(argv[3]); round > 0; --round) {
    s.reset();
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const auto begin = std::chrono::steady_clock::now();
      s.run(std::span(ids).subspan(t, 1), std::span(logits).subspan(t * vocabulary, vocabulary));
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      least[t] = std::min(least[t], time.count());
    }
  }
  std::ofstream(argv[2], std::ios::binary)
      .write(reinterpret_cast<const char*>(logits.data()), static_cast<std::streamsize>(logits.size() * sizeof(float)));
  for (const double milliseconds : least) std::cout << milliseconds << ' ';
  std::cout << '\n';
  return 0;
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
