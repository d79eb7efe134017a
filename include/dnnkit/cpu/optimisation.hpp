// SPDX-License-Identifier: MIT
// Says once a unit that its kernels are compiled without optimisation. It is a message, which -Werror makes no error
// of. Nothing is said where DNNKIT_NO_OPTIMISATION_WARNING is defined, nor under sanitizers, whose users know.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(undefined_behavior_sanitizer)
#define DNNKIT_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DNNKIT_SANITIZED
#endif

#if !defined(__OPTIMIZE__) && !defined(DNNKIT_SANITIZED) && !defined(DNNKIT_NO_OPTIMISATION_WARNING)
#pragma message(                                                                                              \
    "dnnkit: this unit is compiled without optimisation, and networks for the processor run 60 to 120 times " \
    "slower than with -O3 -march=native; define DNNKIT_NO_OPTIMISATION_WARNING where that is meant")
#endif
#undef DNNKIT_SANITIZED
