// SPDX-License-Identifier: MIT
// Random numbers, by the name that tests have for them.
#pragma once

#include "dnnkit/reference/random_source.hpp"

using dnnkit::random_source;
