# SPDX-License-Identifier: MIT
"""C++ source of models of any size, written against the public builder: what bench/compile measures."""

import subprocess

# How far the compiler is taken: the graph alone, every pass on it, or the code of its kernels as well.
MODES = {
    "graph": """#include <dnnkit/graph/builder.hpp>
#include <dnnkit/op/builtin.hpp>

{model}
constexpr std::size_t operators = [] {{
  dk::builder g;
  model::build(g);
  if (!g.value().error.empty()) throw "the model is not a legal graph";
  return g.value().nodes.size();
}}();
extern const char operator_count[operators] = {{}};
""",
    "plan": """#include <dnnkit/compile.hpp>
#include <dnnkit/op/builtin.hpp>

{model}
using net = dk::compile<model>;
static_assert(net::kernels > 0);
extern const char kernel_count[net::kernels] = {{}}, distinct_kernel_count[net::distinct_kernels] = {{}};
""",
    "kernels": """#include <dnnkit/graph.hpp>
#include <span>

{model}
using net = dk::compile<model>;
extern const char kernel_count[net::kernels] = {{}}, distinct_kernel_count[net::distinct_kernels] = {{}};

dk::session<net> open(const char* weights) {{ return dk::session<net>(dk::safetensors(weights)); }}
void run(dk::session<net>& session, std::span<const float> x, std::span<float> y) {{ session.run(x, y); }}
""",
}

COUNTED = ["operator", "kernel", "distinct_kernel"]

MODEL = """namespace dk = dnnkit;

struct model {{
  static constexpr void build(dk::builder& g) {{
{body}
  }}
}};
"""

# One turn of a chain: an inverted residual block of eight operators, as an importer would write it out.
CHAIN = [
    'dk::conv(t, g.weight("expand{i}.weight", {{64, 16, 1, 1}}), g.weight("expand{i}.bias", {{64}}))',
    'dk::batch_normalization(t, g.batch_norm("expand_norm{i}", 64))',
    "dk::clip(t, {{.min = 0, .max = 6}})",
    'dk::conv(t, g.weight("filter{i}.weight", {{64, 64, 3, 3}}), g.weight("filter{i}.bias", {{64}}), {{.pads = {{1, 1, 1, 1}}}})',
    "dk::relu(t)",
    'dk::conv(t, g.weight("project{i}.weight", {{16, 64, 1, 1}}), g.weight("project{i}.bias", {{16}}))',
    'dk::batch_normalization(t, g.batch_norm("project_norm{i}", 16))',
    "t + kept",
]

# A transformer encoder as a user would write it: a loop over the blocks, thirty operators each.
TRANSFORMER = """    constexpr int length = 64, width = 256, heads = 4, inner = 4 * width;
    auto x = g.input("x", dk::f32, {{1, length, width}});
    for (int block = 0; block < {count}; ++block) {{
      auto name = [&](const char* part) {{ return dk::text("block") << block << "." << part; }};
      auto weight = [&](const char* part, const char* suffix, auto... dims) {{
        return g.weight(name(part).view(), suffix, {{dims...}});
      }};
      auto linear = [&](dk::tensor t, const char* part, int in, int out) {{
        return dk::matmul(t, weight(part, ".weight", in, out)) + weight(part, ".bias", out);
      }};
      auto norm = [&](dk::tensor t, const char* part) {{
        return dk::layer_normalization(t, weight(part, ".weight", width), weight(part, ".bias", width));
      }};
      auto split = [&](dk::tensor t) {{
        return dk::transpose(dk::reshape(t, {{1, length, heads, width / heads}}), {{.perm = {{0, 2, 1, 3}}}});
      }};
      auto n = norm(x, "attention_norm");
      auto query = split(linear(n, "query", width, width));
      auto key = split(linear(n, "key", width, width));
      auto value = split(linear(n, "value", width, width));
      auto scores = dk::softmax(dk::matmul(query, dk::transpose(key, {{.perm = {{0, 1, 3, 2}}}})) * 0.125);
      auto mixed = dk::transpose(dk::matmul(scores, value), {{.perm = {{0, 2, 1, 3}}}});
      x = x + linear(dk::reshape(mixed, {{1, length, width}}), "output", width, width);
      x = x + linear(dk::gelu(linear(norm(x, "feed_forward_norm"), "up", width, inner)), "down", inner, width);
    }}
    g.output("y", x);"""


class Model:
    def __init__(self, name, body):
        self.name = name
        self.body = body

    def source(self, mode):
        return MODES[mode].format(model=MODEL.format(body=self.body))


def chain(operators):
    lines = ['auto t = g.input("x", dk::f32, {1, 16, 14, 14});', "auto kept = t;"]
    for i in range(operators):
        lines.append(f"t = {CHAIN[i % len(CHAIN)].format(i=i // len(CHAIN))};")
        if i % len(CHAIN) == len(CHAIN) - 1:
            lines.append("kept = t;")
    lines.append('g.output("y", t);')
    return Model(f"chain {operators}", "\n".join("    " + line for line in lines))


def transformer(blocks):
    return Model(f"transformer {blocks}", TRANSFORMER.format(count=blocks))


def all_models():
    return [chain(n) for n in [8, 32, 128, 512, 2048]] + [transformer(n) for n in [1, 4, 12, 48]]


def counts(made):
    """Operators, kernels and distinct kernels of a compiled model: the sizes of the arrays in it named after them."""
    symbols = subprocess.run(["nm", "--print-size", made], check=True, stdout=subprocess.PIPE, text=True).stdout
    sizes = {fields[-1]: int(fields[1], 16) for fields in map(str.split, symbols.splitlines()) if len(fields) == 4}
    return {f"{name}s": sizes[f"{name}_count"] for name in COUNTED if f"{name}_count" in sizes}
