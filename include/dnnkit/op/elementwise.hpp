// SPDX-License-Identifier: MIT
// All element-wise operators.
#pragma once

#include "dnnkit/op/activation.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/transcendental.hpp"
