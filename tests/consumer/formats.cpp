// SPDX-License-Identifier: MIT
// Writes with fmt what dnnkit's functions give.
#include <dnnkit/fmt.hpp>

int main() { return fmt::format("{} {}", dnnkit::f32, dnnkit::shape{1, 3}) == "f32 [1, 3]" ? 0 : 1; }
