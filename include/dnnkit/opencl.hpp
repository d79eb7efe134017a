// SPDX-License-Identifier: MIT
// The door to OpenCL: networks compiled for targets::opencl,
//   using net = dk::compile<model, dk::targets::opencl>;
// run in sessions like any others. Programs link to OpenCL (in CMake: dnnkit::opencl).
#pragma once

#include "dnnkit/graph.hpp"
#include "dnnkit/runtime/cl_session.hpp"
