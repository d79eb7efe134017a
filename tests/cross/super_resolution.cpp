// SPDX-License-Identifier: MIT
// The network of examples/02_super_resolution on a small image, with what ONNX Runtime computes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/graph.hpp>

#include <array>
#include <cstddef>
#include <filesystem>

#include "tests/support/models.hpp"

TEST_CASE("an image of 6 x 7 pixels is enlarged as ONNX Runtime enlarges it") {
  dnnkit::session<dnnkit::compile<models::wdsr>> session{
      dnnkit::safetensors(std::filesystem::path(DNNKIT_ASSETS) / "wdsr_x2.safetensors")};
  session.bind({{"H", 6}, {"W", 7}});
  std::array<float, 3 * 6 * 7> x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(37 * i % 64) / 64;
  std::array<float, 3 * 12 * 14> y;
  session.run(x, y);
  constexpr std::array<double, 24> every_21st{
      0.030850350856781006, 0.7427101731300354,  0.020609945058822632, 0.7633093595504761,  0.016233503818511963,
      0.9326899647712708,   0.11045056581497192, 0.9425716400146484,   0.24339579045772552, 0.034578144550323486,
      0.26717323064804077,  0.12272825837135315, 0.4288935959339142,   0.2269355207681656,  0.5292769074440002,
      0.20780421793460846,  0.5400581955909729,  0.30608510971069336,  0.6576834917068481,  0.40537121891975403,
      0.7229503393173218,   0.3168495297431946,  0.7830691337585449,   0.27404913306236267};
  for (std::size_t i = 0; i < every_21st.size(); ++i)
    CHECK(static_cast<double>(y[21 * i]) == doctest::Approx(every_21st[i]).epsilon(1e-5));
}
