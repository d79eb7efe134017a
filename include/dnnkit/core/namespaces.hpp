// SPDX-License-Identifier: MIT
// Where names live. What users call is in dnnkit. In dnnkit::plan are plans, what passes know while they make one, and
// what kernels are specified by; the namespaces of the library's parts read it as if it were theirs. Of these, users
// name passes (dnnkit::passes) in pipelines, and families of kernels (dnnkit::cpu).
#pragma once

namespace dnnkit {

namespace plan {}

namespace detail {
using namespace plan;
}
namespace passes {
using namespace plan;
}
namespace cpu {
using namespace plan;
}
namespace opencl {
using namespace plan;
}

}  // namespace dnnkit
