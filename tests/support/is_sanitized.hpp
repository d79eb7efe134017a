// SPDX-License-Identifier: MIT
// Is this program compiled with a sanitizer, which makes it five to ten times slower?
#pragma once

namespace harness {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace harness
