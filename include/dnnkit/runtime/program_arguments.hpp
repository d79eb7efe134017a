// SPDX-License-Identifier: MIT
// The command line of a program around one network (runtime/program.hpp): its options, and what --help says of them.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/program_symbols.hpp"

namespace dnnkit::detail {

inline constexpr std::string_view program_usage =
    "  --input NAME=FILE.npy   the value of an input, once for each of them\n"
    "  --output FOLDER         where to write each output; without it none is written. The file is NAME.npy, in\n"
    "                          which all but letters, digits, . _ - ~ is %XX, or out_0.npy of the first where NAME\n"
    "                          is too long\n"
    "  --dim SYMBOL=NUMBER     the value of a symbol; what the inputs' shapes say need not be given\n"
    "  --weights FILE          weights from another file than the one the program was made with\n";

inline constexpr std::string_view program_usage_of_threads =
    "  --threads N             threads to run on, 1 by default\n"
    "  --spin MICROSECONDS     how long a thread that waits for others looks out before it sleeps, 0 by default: what\n"
    "                          runs on no more threads than there are idle processors takes less time with 200 or so\n";

// In its place, of a program whose target has devices.
inline constexpr std::string_view program_usage_of_devices =
    "  --device NAME|NUMBER    the device to run on: the first whose name holds NAME, or the one of that number; else\n"
    "                          what the environment variable DNNKIT_OPENCL_DEVICE says, or the first GPU, or any\n"
    "  --devices               print the devices there are, each with its number, and do nothing else\n"
    "  --on-device             the runs that --time measures have inputs and outputs in memory of the device, of all\n"
    "                          runs at once; only states are copied from the host and back\n";

inline constexpr std::string_view program_usage_of_times =
    "  --time N                run N times more; the median in milliseconds is the last line\n"
    "  --trace FILE.json       run once more and write the time of every kernel that runs; ui.perfetto.dev shows it\n"
    "  --help                  this text\n";

// Of a program with feedbacks.
inline constexpr std::string_view program_usage_of_states =
    "  A FILE.npy with one axis more in front holds the input of that many runs, one behind the other; all such\n"
    "  files hold as many, and any other is the same in all runs. Outputs have that axis as well. A state begins\n"
    "  with zeros, or with what --input gives for it, and is written as it is behind the last run. --time and\n"
    "  --trace take all these runs for one.\n";

inline constexpr std::array<std::string_view, 9> options_with_values{
    "--input", "--output", "--dim", "--weights", "--threads", "--spin", "--time", "--trace", "--device"};

struct program_arguments {
  std::map<std::string, std::filesystem::path, std::less<>> inputs;
  program_symbols::sizes sizes;
  std::optional<std::filesystem::path> output, weights, trace;
  std::optional<std::string> device;
  std::size_t threads = 1, repetitions = 0;
  std::chrono::microseconds spin{0};
  bool help = false, devices = false, on_device = false;
};

inline std::int64_t number_argument(std::string_view option, std::string_view text, std::int64_t least) {
  std::int64_t n = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure != std::errc() || end != text.data() + text.size() || n < least)
    throw error("is no number it takes", std::string(option), "at least " + std::to_string(least), std::string(text));
  return n;
}

// `has_devices`: the program's target has; they divide the work, whatever threads there are.
inline program_arguments parse_program_arguments(std::span<char* const> words, bool has_devices = false) {
  program_arguments a;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view option = words[i];
    if (option == "--help" || option == "-h") {
      a.help = true;
      continue;
    }
    if (has_devices && (option == "--devices" || option == "--on-device")) {
      (option == "--devices" ? a.devices : a.on_device) = true;
      continue;
    }
    std::optional<std::string_view> given;
    if (const std::size_t equals = option.find('='); option.starts_with("--") && equals != option.npos) {
      given = option.substr(equals + 1);
      option = option.substr(0, equals);
    }
    if (std::ranges::find(options_with_values, option) == options_with_values.end() ||
        (has_devices ? option == "--threads" || option == "--spin" : option == "--device"))
      throw error("is no option of this program; see --help", std::string(option));
    if (!given && i + 1 == words.size()) throw error("needs a value; see --help", std::string(option));
    const std::string_view value = given ? *given : words[++i];
    const auto pair = [&] {
      const std::size_t equals = value.rfind('=');
      if (equals == 0 || equals == value.npos)
        throw error("is no assignment", std::string(option), option == "--dim" ? "NAME=NUMBER" : "NAME=FILE.npy",
                    std::string(value));
      return std::pair(std::string(value.substr(0, equals)), std::string(value.substr(equals + 1)));
    };
    if (option == "--input") {
      const auto [name, file] = pair();
      if (!a.inputs.emplace(name, file).second) throw error("is given twice", "--input " + name);
    } else if (option == "--dim") {
      const auto [name, number] = pair();
      if (!a.sizes.emplace(name, number_argument("--dim " + name, number, 0)).second)
        throw error("is given twice", "--dim " + name);
    } else if (option == "--output") a.output = value;
    else if (option == "--weights") a.weights = value;
    else if (option == "--trace") a.trace = value;
    else if (option == "--device") a.device = value;
    else if (option == "--threads") a.threads = static_cast<std::size_t>(number_argument(option, value, 1));
    else if (option == "--spin") a.spin = std::chrono::microseconds(number_argument(option, value, 0));
    else a.repetitions = static_cast<std::size_t>(number_argument("--time", value, 1));
  }
  if (a.on_device && a.repetitions == 0 && !a.help && !a.devices)
    throw error("says how --time measures, which is not given", "--on-device");
  return a;
}

}  // namespace dnnkit::detail
