// SPDX-License-Identifier: MIT
// Repeated stretches of a sequence of items become functions: of all stretches that occur several times, equal up to
// the contents of their gaps, the one whose function saves the most text is taken first, and so on (the greedy scheme
// of grammar compression by longest gain; Nevill-Manning and Witten, "Online and offline heuristics for inferring
// hierarchies of repetitions in sequences", 2000).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/onnx/generate/columns.hpp"
#include "dnnkit/onnx/generate/identifiers.hpp"
#include "dnnkit/onnx/generate/item.hpp"
#include "dnnkit/onnx/generate/scopes.hpp"

namespace dnnkit::generation {

class repeats {
 public:
  // `kept`: values that are needed after the last item (the graph's outputs).
  // Functions take their names from `names`.
  repeats(std::vector<item> items, std::vector<value_id> kept, name_scope& names)
      : items_(std::move(items)), kept_(std::move(kept)), names_(names) {}

  // First single operators with their weights, and pairs of such (a product and its bias); then whole blocks.
  void run() {
    while (take_best(2, true)) {}
    while (take_best(longest, false)) {}
  }
  const std::vector<item>& items() const { return items_; }
  const std::vector<function>& functions() const { return functions_; }

 private:
  static constexpr std::size_t longest = 400;  // items of a block
  static constexpr std::int64_t least_gain = 120;

  struct stretch {
    std::int64_t bound = 0;  // of the gain
    std::size_t first = 0, length = 0;
  };
  // Where a value comes from, seen from inside a stretch.
  struct origin_of_operand {
    bool inside = false;
    std::size_t item = 0, output = 0;  // when inside
    friend bool operator==(const origin_of_operand&, const origin_of_operand&) = default;
  };
  struct place {
    std::size_t item = 0, output = 0;
  };

  // Everything about the function a stretch would become.
  struct proposal {
    std::vector<std::size_t> firsts;  // of each occurrence
    std::size_t length = 0;
    function made;
    std::vector<std::vector<value_id>> tensors;  // by parameter, then by occurrence
    std::vector<columns::column> parameters;
    std::vector<std::pair<std::size_t, std::size_t>> results;  // item within the stretch, output
    std::int64_t gain = 0;
  };

  bool take_best(std::size_t longest_stretch, bool leaves) {
    index();
    std::vector<stretch> candidates = list_candidates(longest_stretch, leaves);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const stretch& a, const stretch& b) { return a.bound > b.bound; });
    std::optional<proposal> best;
    std::size_t tried = 0;
    for (const stretch& s : candidates) {
      if (s.bound <= (best ? best->gain : least_gain) || ++tried > 3000) break;
      if (auto p = propose(s); p && p->gain > (best ? best->gain : least_gain)) best = std::move(p);
    }
    if (!best) return false;
    replace(*best, leaves);
    return true;
  }

  // --- tables about the present sequence
  void index() {
    ids_.clear();
    places_.clear();
    last_use_.clear();
    lengths_.assign(1, 0);
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      ids_.push_back(known.emplace(items_[i].key, known.size()).first->second);
      lengths_.push_back(lengths_.back() + text_length(items_[i]));
      for (std::size_t o = 0; o < items_[i].outputs.size(); ++o) places_[items_[i].outputs[o]] = {i, o};
      for (value_id v : items_[i].operands) last_use_[v] = i;
    }
    for (value_id v : kept_) last_use_[v] = items_.size();
    const std::size_t n = items_.size();
    common_.assign((n + 1) * (n + 1), 0);
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = n; j-- > 0;)
        if (ids_[i] == ids_[j] && i != j)
          common_[i * (n + 1) + j] = static_cast<std::uint16_t>(
              std::min<std::size_t>(longest, common_[(i + 1) * (n + 1) + j + 1] + std::size_t{1}));
  }
  static std::int64_t text_length(const item& x) {
    std::size_t n = 0;
    const auto count = [&](const std::vector<piece>& pieces) {
      for (const piece& p : pieces)
        n += p.is == piece::kind::text          ? p.text.size()
             : p.is == piece::kind::weight_name ? 20
             : p.is == piece::kind::list        ? 3 * p.count
                                                : 3;
    };
    count(x.before);
    count(x.after);
    for (const member_value& a : x.attributes) n += 4 + a.member.size(), count(a.value);
    return static_cast<std::int64_t>(n + 6);
  }

  std::vector<stretch> list_candidates(std::size_t longest_stretch, bool leaves) const {
    const std::size_t n = items_.size();
    std::vector<stretch> list;
    std::set<std::uint64_t> seen;  // hashes; a collision costs a candidate
    for (std::size_t s = 0; s < n; ++s) {
      std::vector<std::uint16_t> row(common_.begin() + static_cast<std::ptrdiff_t>(s * (n + 1)),
                                     common_.begin() + static_cast<std::ptrdiff_t>(s * (n + 1) + n));
      std::sort(row.rbegin(), row.rend());
      std::size_t open = 0;  // values of the stretch that are used behind it
      std::map<std::size_t, std::size_t> ending;
      bool weight = false;
      std::size_t occurrences = row.size();
      std::uint64_t hash = 0;
      for (std::size_t length = 1; length <= std::min(longest_stretch, n - s); ++length) {
        const item& x = items_[s + length - 1];
        hash = (hash + ids_[s + length - 1] + 1) * 0x9e3779b97f4a7c15;
        while (occurrences > 0 && row[occurrences - 1] < length) --occurrences;
        if (occurrences == 0) break;
        weight = weight || (x.has_weight && x.function == item::no_function);
        for (value_id v : x.outputs)
          if (const auto use = last_use_.find(v); use != last_use_.end() && use->second >= s + length)
            ++open, ++ending[use->second];
        if (const auto e = ending.find(s + length - 1); e != ending.end()) open -= e->second;
        if (open != 1 || (leaves && (!x.has_weight || !every_has_weight(s, length)))) continue;
        if (!leaves && operators(s, length) < 3) continue;
        if (!leaves && length == 1 && x.function != item::no_function) continue;
        const std::int64_t body = lengths_[s + length] - lengths_[s];
        if (is_power(s, length)) continue;        // a loop says it better
        if (!seen.insert(hash).second) continue;  // of equal sequences the first one stands for all
        list.push_back({static_cast<std::int64_t>(occurrences) * body, s, length});
      }
    }
    return list;
  }
  // A stretch that is a shorter one several times over.
  bool is_power(std::size_t s, std::size_t length) const {
    for (std::size_t period = 1; 2 * period <= length; ++period)
      if (length % period == 0 && common_[s * (items_.size() + 1) + s + period] >= length - period) return true;
    return false;
  }
  bool every_has_weight(std::size_t s, std::size_t length) const {
    for (std::size_t i = s; i < s + length; ++i)
      if (!items_[i].has_weight || items_[i].function != item::no_function) return false;
    return true;
  }
  std::size_t operators(std::size_t s, std::size_t length) const {
    std::size_t n = 0;
    for (std::size_t i = s; i < s + length; ++i) n += items_[i].operators;
    return n;
  }

  // --- one candidate
  origin_of_operand origin_in(value_id v, std::size_t first, std::size_t length) const {
    const auto p = places_.find(v);
    if (p == places_.end() || p->second.item < first || p->second.item >= first + length) return {};
    return {true, p->second.item - first, p->second.output};
  }
  bool same_wiring(std::size_t a, std::size_t b, std::size_t length) const {
    for (std::size_t k = 0; k < length; ++k) {
      const item &x = items_[a + k], &y = items_[b + k];
      for (std::size_t r = 0; r < x.operands.size(); ++r)
        if (!(origin_in(x.operands[r], a, length) == origin_in(y.operands[r], b, length))) return false;
    }
    return true;
  }

  std::optional<proposal> propose(const stretch& s) const {
    proposal p;
    p.length = s.length;
    for (std::size_t i = 0; i + s.length <= items_.size();) {
      const bool equal = i == s.first || common_[s.first * (items_.size() + 1) + i] >= s.length;
      if (equal && same_wiring(s.first, i, s.length)) p.firsts.push_back(i), i += s.length;
      else ++i;
    }
    if (p.firsts.size() < 2) return std::nullopt;
    find_results(p);
    if (p.results.size() != 1) return std::nullopt;
    find_tensors(p);
    if (p.tensors.size() > 4) return std::nullopt;
    find_parameters(p);
    const auto calls = static_cast<std::int64_t>(p.firsts.size());
    const auto arguments = static_cast<std::int64_t>(p.tensors.size() + p.parameters.size());
    const std::int64_t body = lengths_[s.first + s.length] - lengths_[s.first];
    const std::int64_t many = std::max<std::int64_t>(0, arguments - 5);  // a call of more than these is hard to read
    p.gain = calls * (body - 20 - 8 * arguments - 6 * many * many) - body - 60 - 20 * arguments;
    if (is_module(p)) p.gain += p.gain / 4;
    return p;
  }
  void find_results(proposal& p) const {
    for (std::size_t k = 0; k < p.length; ++k)
      for (std::size_t o = 0; o < items_[p.firsts[0] + k].outputs.size(); ++o)
        for (std::size_t first : p.firsts) {
          const auto use = last_use_.find(items_[first + k].outputs[o]);
          if (use == last_use_.end() || use->second < first + p.length) continue;
          p.results.emplace_back(k, o);
          break;
        }
  }
  void find_tensors(proposal& p) const {
    for (std::size_t k = 0; k < p.length; ++k)
      for (std::size_t r = 0; r < items_[p.firsts[0] + k].operands.size(); ++r) {
        if (origin_in(items_[p.firsts[0] + k].operands[r], p.firsts[0], p.length).inside) continue;
        std::vector<value_id> values;
        for (std::size_t first : p.firsts) values.push_back(items_[first + k].operands[r]);
        if (std::find(p.tensors.begin(), p.tensors.end(), values) == p.tensors.end()) p.tensors.push_back(values);
      }
  }
  void find_parameters(proposal& p) const {
    columns c(names_);
    for (std::size_t k = 0; k < p.length; ++k) {
      const item& pattern = items_[p.firsts[0] + k];
      body_item b{pattern, {}, {}};
      for (std::size_t i = 0; i < pattern.slots.size(); ++i) {
        std::vector<slot> values;
        for (std::size_t first : p.firsts) values.push_back(items_[first + k].slots[i]);
        columns::code code = c.add(values);
        b.slots.push_back(std::move(code.text));
        b.suffixes.push_back(std::move(code.suffix));
      }
      p.made.body.push_back(std::move(b));
    }
    p.parameters = c.parameters();
  }
  // A module of the exporter's framework, by the names of its nodes: all of them lie below a path, the neighbours not.
  bool is_module(const proposal& p) const {
    for (std::size_t first : p.firsts) {
      const std::string path = common_path(first, p.length);
      if (path.empty()) return false;
      const auto below = [&](std::size_t i) {
        for (const std::string& n : items_[i].node_names)
          if (n.starts_with(path)) return true;
        return false;
      };
      if ((first > 0 && below(first - 1)) || (first + p.length < items_.size() && below(first + p.length)))
        return false;
    }
    return true;
  }
  std::string common_path(std::size_t first, std::size_t length) const {
    std::vector<std::string> names;
    for (std::size_t i = first; i < first + length; ++i)
      names.insert(names.end(), items_[i].node_names.begin(), items_[i].node_names.end());
    return path_of(names);
  }

  // --- the function itself
  void replace(proposal& p, bool leaf) {
    function& f = p.made;
    const std::string wanted = leaf ? leaf_name(p) : block_name(p);
    f.name = names_.add(wanted.size() > 1 ? wanted : "block_" + wanted);  // letters are for tensors
    for (const auto& t : p.tensors) f.tensors.push_back(t[0]);
    for (const columns::column& c : p.parameters) f.parameters.push_back(c.as);
    for (const auto& [k, o] : p.results) f.results.push_back(items_[p.firsts[0] + k].outputs[o]);
    f.is_leaf = leaf;
    f.calls = p.firsts.size();
    std::vector<item> items;
    std::size_t next = 0;
    for (std::size_t i = 0; i < items_.size();) {
      if (next == p.firsts.size() || i != p.firsts[next]) {
        items.push_back(std::move(items_[i++]));
        continue;
      }
      items.push_back(call(p, next));
      i += p.length;
      ++next;
    }
    functions_.push_back(std::move(f));
    items_ = std::move(items);
  }
  item call(const proposal& p, std::size_t occurrence) const {
    item x;
    x.function = functions_.size();
    x.text(p.made.name + "(");
    for (std::size_t t = 0; t < p.tensors.size(); ++t) {
      x.text(t == 0 ? "" : ", ");
      x.operand(p.tensors[t][occurrence]);
    }
    for (const columns::column& c : p.parameters) {
      x.text(x.operands.empty() && x.slots.empty() ? "" : ", ");
      slot s = c.values[occurrence];
      s.role = c.as.name;
      x.value(std::move(s));
    }
    x.text(")");
    const std::size_t first = p.firsts[occurrence];
    for (const auto& [k, o] : p.results) x.outputs.push_back(items_[first + k].outputs[o]);
    for (std::size_t i = first; i < first + p.length; ++i) {
      x.operators += items_[i].operators;
      x.has_weight = x.has_weight || items_[i].has_weight;
      x.node_names.insert(x.node_names.end(), items_[i].node_names.begin(), items_[i].node_names.end());
    }
    x.operator_name = p.made.name;
    make_key(x);
    return x;
  }

  std::string leaf_name(const proposal& p) const {
    const std::string& first = items_[p.firsts[0]].operator_name;
    if (first == "conv" || first == "conv_transpose")
      for (const member_value& a : items_[p.firsts[0]].attributes)
        if (a.member == "group") return is_depthwise(p) ? "depthwise_" + first : "grouped_" + first;
    if (first == "matmul" || first == "gemm") return "linear";
    if (first.ends_with("_normalization")) return first == "batch_normalization" ? "batch_norm" : "norm";
    return first == "gather" ? "embedding" : first;
  }
  // One input channel a group, in all calls.
  bool is_depthwise(const proposal& p) const {
    for (std::size_t first : p.firsts)
      for (const slot& s : items_[first].slots)
        if (s.role == "in" && s.size != 1) return false;
    return true;
  }
  std::string block_name(const proposal& p) const {
    std::vector<std::string> names;
    for (std::size_t first : p.firsts) names.push_back(common_path(first, p.length));
    const std::string name = module_name(names, "block");
    for (const body_item& b : p.made.body)  // a stage made of layers is called layers
      if (b.pattern.function != item::no_function && functions_[b.pattern.function].name == name)
        return name.ends_with('s') ? name + "_stage" : name + "s";
    return name;
  }

  std::vector<item> items_;
  std::vector<value_id> kept_;
  name_scope& names_;
  std::vector<function> functions_;
  std::vector<std::size_t> ids_;       // equal for items of one pattern
  std::vector<std::int64_t> lengths_;  // of text, summed up
  std::map<value_id, place> places_;   // where values are computed
  std::map<value_id, std::size_t> last_use_;
  std::vector<std::uint16_t> common_;  // [i][j]: how many items from i on have the patterns of those from j on
};

}  // namespace dnnkit::generation
