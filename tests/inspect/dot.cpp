// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// dot: the text is well-formed, and every operator, kernel and edge of both example networks is in it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/dot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/walk.hpp"
#include "tests/support/models.hpp"

namespace dk = dnnkit;

TEST_CASE("a name is a string of Graphviz's language, whatever is in it") {
  using dk::detail::dot_string;
  CHECK(dot_string("layer1/conv") == "\"layer1/conv\"");
  CHECK(dot_string("\"]; } digraph {\n\\N\\") == "\"\\\"]; } digraph {\\n\\\\N\\\\\"");
  CHECK(dot_string("a\r\x7f&#34;\xff\u00fc") == "\"a\\n\\n&amp;#34;?\u00fc\"");
}

namespace {

// What a reader of the text sees. Every statement that dot() writes is on a line of its own.
struct picture {
  std::map<std::string, std::string> labels;  // of nodes, by identifier
  std::map<std::string, int> clusters;        // of nodes: which cluster, 0 for none
  std::vector<std::string> titles;            // of clusters
  std::vector<std::pair<std::string, std::string>> edges;
  std::set<std::string> edge_labels;
  int cluster_count = 0, depth = 0;
};

// The quoted string from the first '"' after `from` on, unescaped; checks that it ends.
std::string label_of(const std::string& line) {
  std::size_t i = line.find("label=\"");
  REQUIRE(i != std::string::npos);
  std::string s;
  for (i += 7; i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\') ++i;
    s += line[i];
  }
  REQUIRE(i < line.size());
  return s;
}

picture read(const std::string& text) {
  picture p;
  std::istringstream lines(text);
  int cluster = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    REQUIRE(start != std::string::npos);
    line = line.substr(start);
    if (line.ends_with("{")) {
      ++p.depth;
      if (line.starts_with("subgraph cluster_")) cluster = ++p.cluster_count;
      continue;
    }
    if (line == "}") {
      --p.depth;
      cluster = 0;
      continue;
    }
    REQUIRE(line.ends_with(";"));
    if (line.starts_with("label=")) p.titles.push_back(label_of(line));
    if (const std::size_t arrow = line.find(" -> "); arrow != std::string::npos) {
      const std::size_t end = line.find(" [");
      p.edges.emplace_back(line.substr(0, arrow), line.substr(arrow + 4, end - arrow - 4));
      p.edge_labels.insert(label_of(line));
    } else if (const std::size_t end = line.find(" [");
               end != std::string::npos && !line.starts_with("node ") && !line.starts_with("edge ")) {
      CHECK(p.labels.emplace(line.substr(0, end), label_of(line)).second);  // declared once
      p.clusters[line.substr(0, end)] = cluster;
    }
  }
  return p;
}

template <class Net> picture check() {
  const std::string text = dk::dot<Net>();
  const picture p = read(text);
  CHECK(text.starts_with("digraph "));
  CHECK(p.depth == 0);
  CHECK(p.cluster_count == static_cast<int>(Net::kernels + Net::plan.setup_steps.size()));
  std::set<std::string> connected;
  for (const auto& [from, to] : p.edges) {
    CHECK(p.labels.count(from) == 1);
    CHECK(p.labels.count(to) == 1);
    connected.insert(from);
    connected.insert(to);
  }
  // every live operator is drawn at least once, under its ONNX name; so are copies in a second layout, of which the
  // graph as rewritten has none, and behind which operators have other numbers
  const dk::graph g = dk::rewritten_graph_of<typename Net::model, typename Net::pipeline>();
  const auto alive = dk::live_nodes(g);
  std::map<std::string, std::set<std::string>> wanted, drawn;  // numbers by operator
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n] != 0) wanted[std::string(g.nodes[n].op->name)].insert(std::to_string(n));
  for (const auto& [id, label] : p.labels)
    for (const auto& [op, numbers] : wanted)
      if (id[0] != 'v' && (label == op || label.starts_with(op + "n")))  // "\n" read without its backslash
        drawn[op].insert(id.substr(id.rfind('_') + 1));
  for (const auto& [op, numbers] : wanted) {
    CAPTURE(op);
    CHECK((op == "Identity" ? drawn[op].size() >= numbers.size() : drawn[op].size() == numbers.size()));
  }
  // from the inputs, every kernel of a run is reached, and so are the outputs
  std::set<std::string> reached;
  for (const auto& [id, label] : p.labels)
    if (id[0] == 'v') reached.insert(id);
  for (bool more = true; more;) {
    more = false;
    for (const auto& [from, to] : p.edges)
      if (reached.count(from) && reached.insert(to).second) more = true;
  }
  std::set<int> clusters;
  for (const std::string& id : reached) clusters.insert(p.clusters.at(id));
  CHECK(clusters.size() == Net::kernels + 1);
  CHECK(reached.count("out0") == 1);
  return p;
}

// A branch within a branch.
struct branches {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {1, 4});
    const auto outer = g.input("outer", dk::boolean, {1}), inner = g.input("inner", dk::boolean, {1});
    const auto weight = [&](const char* name) { return g.weight(name, {4, 4}); };
    const auto deep = g.named("deep", dk::matmul(x, weight("a")));
    const auto shallow = g.named("shallow", dk::matmul(x, weight("b")));
    const auto joined = g.named("inner join", dk::combine(dk::reshape(inner, {}), deep, shallow));
    const auto other = g.named("other", dk::matmul(x, weight("c")));
    const auto y = g.named("outer join", dk::combine(dk::reshape(outer, {}), joined, other));
    g.output("y", g.named("last", dk::softmax(y)));
  }
};

struct quoted {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("an \"input\" \\", dk::f32, {4});
    g.output("y", g.named("a \"name\"", dk::relu(x)));
  }
};

}  // namespace

TEST_CASE("digits") {
  const picture p = check<dk::compile<models::digits>>();
  CHECK(p.edge_labels.count("f32 [1, 16, 8, 8]") == 1);
  CHECK(p.edge_labels.count("f32 [1, 128]") == 1);  // Flatten, a view in the last kernel
}

TEST_CASE("wdsr") {
  const picture p = check<dk::compile<models::wdsr>>();
  CHECK(p.edge_labels.count("f32 [1, 144, H, W]") == 1);
  CHECK(p.edge_labels.count("f32 [1, 3, 2*H, 2*W]") == 1);
}

TEST_CASE("what a branch alone needs says on which conditions it runs") {
  const picture p = check<dk::compile<branches>>();
  const auto titled = [&](std::string_view name) {
    for (const std::string& t : p.titles)
      if (t.find(": " + std::string(name)) != t.npos) return t.substr(t.find(": ") + 2);
    return std::string("no kernel");
  };  // "\n" read without its backslash
  CHECK(titled("deep") == "deepnif outer and inner");
  CHECK(titled("shallow") == "shallownif outer and not inner");
  CHECK(titled("other") == "othernif not outer");
  CHECK(titled("last") == "last");
  CHECK(p.titles.size() == static_cast<std::size_t>(p.cluster_count));
}

TEST_CASE("names are quoted") {
  const picture p = check<dk::compile<quoted>>();
  CHECK(p.labels.at("v0") == "an \"input\" \\");
  CHECK(p.labels.at("k1_0") ==
        "Relun"
        "a \"name\"");  // "\n" read without its backslash
}
