// SPDX-License-Identifier: MIT
// The language and the compilers that dnnkit is written for: of any other one sentence is said, and
// DNNKIT_LANGUAGE_SUFFICES is not defined. The doors of the library include this before anything else.
#pragma once

#if __cplusplus < 202002L
#error "dnnkit needs C++20: compile with -std=c++20 or later (in CMake: target_compile_features(... cxx_std_20))"
#elif defined(__apple_build_version__) && __clang_major__ < 15
#error "dnnkit needs g++ 12, clang++ 16 or Apple's clang 15, or later"
#elif defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16
#error "dnnkit needs g++ 12, clang++ 16 or Apple's clang 15, or later"
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "dnnkit needs g++ 12, clang++ 16 or Apple's clang 15, or later"
#else
#define DNNKIT_LANGUAGE_SUFFICES
#endif
