// SPDX-License-Identifier: MIT
// Example 8: finds speech in a recording as if it came from a microphone, piece by piece of 32 ms. What the network
// remembers of the pieces before, h and c of an LSTM, stays in the session; a piece is a call that neither allocates
// nor locks. That is checked here, and so is the result: the same network run once over the whole recording.
//
// The network is examples/assets/speech.onnx, or a streaming model of silero-vad, which has the same ports:
// cmake -DDNNKIT_SPEECH_MODEL=.../silero_vad_16k_sequence.onnx.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "examples/09_speech_stream/real_time_counters.hpp"
#include "examples/support/arguments.hpp"
#include "examples/support/wav.hpp"
#include "speech.hpp"          // generated: the struct speech
#include "speech_weights.hpp"  // generated: speech_weights() maps the .onnx file

#include "dnnkit/runtime/stateful_session.hpp"

namespace dk = dnnkit;

namespace {

using net = dk::compile<speech>;
using session = dk::stateful_session<dk::session<net>, dk::feedback<"hn", "h">, dk::feedback<"cn", "c">>;

constexpr std::uint32_t rate = 16000;
constexpr std::size_t piece = 512, context = 64;  // samples; the network also sees the last of the piece before
constexpr double milliseconds = 1000.0 * piece / rate;

struct streamed {
  std::vector<float> probabilities;  // that somebody speaks, a piece each
  std::vector<double> microseconds;  // what each piece took
  dk::examples::real_time_counts counts;
};

// Piece after piece: the context in front of the first is silence.
streamed stream(session& detector, std::span<const float> samples) {
  const std::size_t pieces = samples.size() / piece;
  streamed all{std::vector<float>(pieces), std::vector<double>(pieces), {}};
  std::array<float, context + piece> heard{};
  const auto before = dk::examples::counted_so_far();
  for (std::size_t p = 0; p < pieces; ++p) {
    const auto begin = std::chrono::steady_clock::now();
    std::copy(heard.end() - context, heard.end(), heard.begin());
    std::ranges::copy(samples.subspan(p * piece, piece), heard.begin() + context);
    detector.run(heard, std::span(all.probabilities).subspan(p, 1));
    all.microseconds[p] = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto after = dk::examples::counted_so_far();
  all.counts = {after.allocations - before.allocations, after.locks - before.locks};
  return all;
}

// All pieces in one run.
std::vector<float> at_once(session& detector, std::span<const float> samples) {
  const std::size_t pieces = samples.size() / piece;
  std::vector<float> rows(pieces * (context + piece)), probabilities(pieces);
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t known = p == 0 ? 0 : context;
    std::ranges::copy(samples.subspan(p * piece - known, known + piece),
                      rows.begin() + static_cast<std::ptrdiff_t>((p + 1) * (context + piece) - known - piece));
  }
  detector.run(rows, probabilities);
  return probabilities;
}

// Where the network finds speech, as lines of "from to". It begins above 0.5 and ends below 0.35 for 0.2 s.
void print_speech(std::span<const float> probabilities) {
  const auto second = [](std::size_t p) { return static_cast<double>(p) * milliseconds / 1000; };
  std::size_t begin = 0, quiet = 0;
  bool speaks = false;
  for (std::size_t p = 0; p <= probabilities.size(); ++p) {
    const float probability = p < probabilities.size() ? probabilities[p] : 0;
    if (!speaks && probability > 0.5f) {
      speaks = true;
      begin = p;
    }
    quiet = probability < 0.35f ? quiet + 1 : 0;
    if (speaks && (quiet == 6 || p == probabilities.size())) {
      std::cout << fmt::format("  speech from {:.2f} s to {:.2f} s\n", second(begin), second(p + 1 - quiet));
      speaks = false;
    }
  }
}

int detect(const std::string& path) {
  const dk::examples::recording sound = dk::examples::load_wav(path);
  if (sound.rate != rate)
    throw dk::error("is recorded at another rate", path, fmt::format("{} Hz", rate), fmt::format("{} Hz", sound.rate));
  const std::size_t pieces = sound.samples.size() / piece;
  if (pieces == 0) throw dk::error("is shorter than a piece", path, fmt::format("{} samples", piece));

  const dk::packed_weights<net> weights(speech_weights());
  const auto binding_for = [](std::size_t n) {
    return dk::binding{net::plan.symbols[0].name.view(), static_cast<std::int64_t>(n)};
  };
  session detector(weights), whole(weights);
  detector.bind({binding_for(1)});
  whole.bind({binding_for(pieces)});

  streamed result = stream(detector, sound.samples);
  const std::vector<float> expected = at_once(whole, sound.samples);
  float difference = 0;
  for (std::size_t p = 0; p < pieces; ++p)
    difference = std::max(difference, std::abs(result.probabilities[p] - expected[p]));

  std::cout << fmt::format("{}: {} pieces of {} ms\n", path, pieces, milliseconds);
  print_speech(result.probabilities);
  std::ranges::sort(result.microseconds);
  std::cout << fmt::format("a piece takes {:.1f} us (median), {:.1f} us (worst)\n", result.microseconds[pieces / 2],
                           result.microseconds.back())
            << fmt::format("allocations and locks in all pieces: {}, {}\n", result.counts.allocations,
                           result.counts.locks)
            << fmt::format("largest difference from one run over the whole: {:.1e}\n", difference);
  return difference <= 1e-5f && result.counts.allocations == 0 && result.counts.locks == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  cxxopts::Options options("speech_stream", "Finds speech in a recording, piece by piece of 32 ms.");
  options.add_options()("recording", "WAV file of 16-bit samples, 16 kHz",
                        cxxopts::value<std::string>()->default_value(DNNKIT_ASSETS "/speech.wav"));
  options.parse_positional({"recording"});
  options.positional_help("[RECORDING.wav]");
  const auto arguments = dk::examples::parse_arguments(options, argc, argv);
  return detect(arguments["recording"].as<std::string>());
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
