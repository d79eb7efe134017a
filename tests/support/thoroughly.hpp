// SPDX-License-Identifier: MIT
// What of a test is left to thorough builds, because of what it takes to compile.
#pragma once

namespace harness {

// The option DNNKIT_THOROUGH_TESTS, which bash tests/run.sh turns off.
#if defined(DNNKIT_QUICK_TESTS)
inline constexpr bool is_thorough = false;
#else
inline constexpr bool is_thorough = true;
#endif

// Calls the generic lambda `checks` in a thorough build; in another, what it calls is not even compiled.
template <class Checks> void thoroughly([[maybe_unused]] Checks checks) {
  if constexpr (is_thorough) checks(0);
}

}  // namespace harness
