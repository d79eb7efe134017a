// SPDX-License-Identifier: MIT
// The domains of operators that are imported.
#pragma once

#include <string>
#include <string_view>

namespace dnnkit::onnx {

constexpr bool is_onnx(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
// ONNX Runtime's own operators, which its optimiser and its quantiser write.
constexpr bool is_microsoft(std::string_view domain) { return domain == "com.microsoft"; }

// Of which FlexAttention is imported.
constexpr bool is_preview(std::string_view domain) { return domain == "ai.onnx.preview"; }

// Why an operator of this domain that has no converter is not imported.
inline std::string reason_not_to_convert(std::string_view domain) {
  if (is_onnx(domain)) return "the operator is not supported";
  const std::string quoted = "'" + std::string(domain) + "'";
  return is_microsoft(domain) || is_preview(domain) ? "the operator of domain " + quoted + " is not supported"
                                                    : "operators of domain " + quoted + " are not supported";
}

}  // namespace dnnkit::onnx
