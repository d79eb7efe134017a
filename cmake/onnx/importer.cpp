// SPDX-License-Identifier: MIT
// The importer of ONNX models.
#include "dnnkit/onnx/import.hpp"

template struct dnnkit::onnx::detail::importer<dnnkit::onnx::detail::import_walk>;
