// SPDX-License-Identifier: MIT
// `dnnkit build` as other commands call it.
#pragma once

#include <optional>
#include <string>

namespace dnnkit::tool {

// What is said on standard error besides messages of a compiler that fails.
enum class build_says : unsigned char { what_it_does, nothing };

// Does what `dnnkit build` with these arguments does, argv[0] being the command's name, and returns the program's path;
// nothing when the help was asked for.
std::optional<std::string> built(int argc, char** argv, build_says says = build_says::what_it_does);

}  // namespace dnnkit::tool
