// SPDX-License-Identifier: MIT
// Repeated stretches of a sequence of expressions become functions: of all stretches that occur several times, equal
// up to the contents of their gaps, the one whose function saves the most text is taken first, and so on (the greedy
// scheme of grammar compression by longest gain; Nevill-Manning and Witten, "Online and offline heuristics for
// inferring hierarchies of repetitions in sequences", 2000).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dnnkit/source/anti_unification.hpp"
#include "dnnkit/source/expression.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/recurrences.hpp"
#include "dnnkit/source/scopes.hpp"

namespace dnnkit::generation {

class repeats {
 public:
  // `kept`: values that are needed after the last expression (the graph's outputs).
  // Functions take their names from `names`.
  repeats(std::vector<expression> expressions, std::vector<value_id> kept, name_scope& names)
      : expressions_(std::move(expressions)), kept_(std::move(kept)), names_(names) {
    for (expression& x : expressions_) ids_.push_back(id_of(x));
  }

  // First single operators with their weights, and pairs of such (a product and its bias); then whole blocks.
  void run() {
    while (functions_.size() < most_functions && take_best(2, true)) {}
    while (functions_.size() < most_functions && take_best(longest, false)) {}
  }
  const std::vector<expression>& expressions() const { return expressions_; }
  const std::vector<function>& functions() const { return functions_; }

 private:
  // What is looked for is bounded, so that the work grows as the number of expressions and no faster. A block of more
  // expressions than this is a network of its own, and has blocks itself; in more functions than this nobody finds
  // their way.
  static constexpr std::size_t longest = 400;  // expressions of a block
  static constexpr std::size_t most_functions = 64;
  static constexpr std::size_t most_tries = 3000;  // proposals looked at for one function
  static constexpr std::int64_t least_gain = 120;

  struct stretch {
    std::int64_t bound = 0;  // of the gain, and what candidates are tried by
    std::size_t first = 0, length = 0;
    std::size_t where = 0;                        // the interval of its occurrences
    std::size_t number = 0;                       // in the order they were found
    bool operator<(const stretch& other) const {  // is tried earlier
      return bound != other.bound ? bound > other.bound : number < other.number;
    }
  };
  // Where a value comes from, seen from inside a stretch.
  struct origin_of_operand {
    bool inside = false;
    std::size_t expression = 0, output = 0;  // when inside
    friend bool operator==(const origin_of_operand&, const origin_of_operand&) = default;
  };
  struct place {
    std::size_t expression = 0, output = 0;
  };

  // Everything about the function a stretch would become.
  struct proposal {
    std::vector<std::size_t> firsts;  // of each occurrence
    std::size_t length = 0;
    function made;
    std::vector<std::vector<value_id>> tensors;  // by parameter, then by occurrence
    std::vector<anti_unification::variable> parameters;
    std::vector<std::pair<std::size_t, std::size_t>> results;  // expression within the stretch, output
    std::int64_t gain = 0;
  };

  bool take_best(std::size_t longest_stretch, bool leaves) {
    index();
    std::optional<proposal> best;
    for (const stretch& s : list_candidates(longest_stretch, leaves)) {
      const std::int64_t gain = best ? best->gain : least_gain;
      if (s.bound <= gain) break;
      if (most_gain(s) <= gain) continue;
      if (auto p = propose(s, gain)) best = std::move(p);
    }
    if (!best) return false;
    replace(*best, leaves);
    return true;
  }
  // Of functions whose calls do not overlap; see propose().
  std::int64_t most_gain(const stretch& s) const {
    const std::size_t calls = std::min(table_->at(s.where).count(), expressions_.size() / s.length);
    const std::int64_t body = lengths_[s.first + s.length] - lengths_[s.first];
    return of_module(gain_of(calls, body, 0));
  }

  // --- tables about the present sequence
  std::size_t id_of(const expression& x) { return known_.emplace(x.key, known_.size()).first->second; }
  void index() {
    places_.clear();
    last_use_.clear();
    lengths_.assign(1, 0);
    operators_.assign(1, 0);
    for (std::size_t i = 0; i < expressions_.size(); ++i) {
      lengths_.push_back(lengths_.back() + text_length(expressions_[i]));
      operators_.push_back(operators_.back() + expressions_[i].operators);
      for (std::size_t o = 0; o < expressions_[i].outputs.size(); ++o) places_[expressions_[i].outputs[o]] = {i, o};
      for (value_id v : expressions_[i].operands) last_use_[v] = i;
    }
    for (value_id v : kept_) last_use_[v] = expressions_.size();
    table_.emplace(ids_, longest);
  }
  static std::int64_t text_length(const expression& x) {
    std::size_t n = 0;
    const auto count = [&](const std::vector<part>& parts) {
      for (const part& p : parts)
        n += p.is == part::kind::text          ? p.text.size()
             : p.is == part::kind::weight_name ? 20
             : p.is == part::kind::list        ? 3 * p.count
                                               : 3;
    };
    count(x.before);
    count(x.after);
    for (const member_value& a : x.attributes) n += 4 + a.member.size(), count(a.value);
    return static_cast<std::int64_t>(n + 6);
  }

  // The most promising stretches that occur several times and have one result, the first occurrence of each.
  std::vector<stretch> list_candidates(std::size_t longest_stretch, bool leaves) const {
    const std::size_t n = expressions_.size();
    const auto& intervals = table_->intervals();
    std::vector<std::size_t> first_bit{0};  // of an interval, in `seen`: one for each length that is its own
    for (const auto& x : intervals) first_bit.push_back(first_bit.back() + x.length - intervals[x.parent].length);
    std::vector<bool> seen(first_bit.back());

    std::vector<stretch> list;
    std::size_t number = 0;
    std::vector<std::size_t> around;                       // the intervals of the stretches from s on, by length
    std::vector<std::size_t> ending(longest_stretch + 1);  // results by where they are used last, from s on
    for (std::size_t s = 0; s < n; ++s) {
      around.clear();
      for (std::size_t k = table_->deepest(s); k != recurrences::whole; k = intervals[k].parent) around.push_back(k);
      if (around.empty()) continue;
      std::fill(ending.begin(), ending.end(), 0);
      periods period(ids_, s);
      std::size_t open = 0;  // values of the stretch that are used behind it
      bool weight = false;
      const std::size_t most = std::min(longest_stretch, intervals[around.front()].length);
      for (std::size_t length = 1; length <= most; ++length) {
        const expression& x = expressions_[s + length - 1];
        while (intervals[around.back()].length < length) around.pop_back();
        const std::size_t where = around.back();
        const bool is_power = period.next();
        weight = weight || (x.has_weight && x.function == expression::no_function);
        for (value_id v : x.outputs)
          if (const auto use = last_use_.find(v); use != last_use_.end() && use->second >= s + length) {
            ++open;
            if (use->second - s <= longest_stretch) ++ending[use->second - s];
          }
        open -= ending[length - 1];
        if (open != 1 || (leaves && (!x.has_weight || !every_has_weight(s, length)))) continue;
        if (!leaves && operators_[s + length] - operators_[s] < 3) continue;
        if (!leaves && length == 1 && x.function != expression::no_function) continue;
        if (is_power) continue;  // a loop says it better
        const std::size_t bit = first_bit[where] + length - intervals[intervals[where].parent].length - 1;
        if (seen[bit]) continue;  // of equal sequences the first one stands for all
        seen[bit] = true;
        const std::int64_t body = lengths_[s + length] - lengths_[s];
        list.push_back({static_cast<std::int64_t>(intervals[where].count() - 1) * body, s, length, where, number++});
      }
      if (list.size() > 4 * most_tries) keep_best(list);
    }
    keep_best(list);
    std::sort(list.begin(), list.end());
    return list;
  }
  static void keep_best(std::vector<stretch>& list) {
    if (list.size() <= most_tries) return;
    std::nth_element(list.begin(), list.begin() + most_tries, list.end());
    list.resize(most_tries);
  }
  // Whether a stretch is a shorter one several times over, for one length after the other (the borders of Knuth, Morris
  // and Pratt).
  class periods {
   public:
    periods(const std::vector<std::size_t>& ids, std::size_t first)
        : ids_(ids.begin() + static_cast<std::ptrdiff_t>(first)) {}
    bool next() {
      std::size_t border = border_.empty() ? 0 : border_.back();
      const std::size_t length = border_.size();  // without the new element
      if (length > 0) {
        while (border > 0 && at(border) != at(length)) border = border_[border - 1];
        border += at(border) == at(length);
      }
      border_.push_back(border);
      return border > 0 && (length + 1) % (length + 1 - border) == 0;
    }

   private:
    std::size_t at(std::size_t i) const { return ids_[static_cast<std::ptrdiff_t>(i)]; }
    std::vector<std::size_t>::const_iterator ids_;
    std::vector<std::size_t> border_;
  };
  bool every_has_weight(std::size_t s, std::size_t length) const {
    for (std::size_t i = s; i < s + length; ++i)
      if (!expressions_[i].has_weight || expressions_[i].function != expression::no_function) return false;
    return true;
  }
  // --- one candidate
  origin_of_operand origin_in(value_id v, std::size_t first, std::size_t length) const {
    const auto p = places_.find(v);
    if (p == places_.end() || p->second.expression < first || p->second.expression >= first + length) return {};
    return {true, p->second.expression - first, p->second.output};
  }
  bool same_wiring(std::size_t a, std::size_t b, std::size_t length) const {
    for (std::size_t k = 0; k < length; ++k) {
      const expression &x = expressions_[a + k], &y = expressions_[b + k];
      for (std::size_t r = 0; r < x.operands.size(); ++r)
        if (!(origin_in(x.operands[r], a, length) == origin_in(y.operands[r], b, length))) return false;
    }
    return true;
  }

  // What a function with so many calls saves in characters, its calls and its definition taken off.
  static std::int64_t gain_of(std::size_t call_count, std::int64_t body, std::size_t argument_count) {
    const auto calls = static_cast<std::int64_t>(call_count), arguments = static_cast<std::int64_t>(argument_count);
    const std::int64_t many = std::max<std::int64_t>(0, arguments - 5);  // a call of more than these is hard to read
    return calls * (body - 20 - 8 * arguments - 6 * many * many) - body - 60 - 20 * arguments;
  }
  static std::int64_t of_module(std::int64_t gain) { return gain + std::max<std::int64_t>(0, gain) / 4; }

  // The function that s would become, where it gains more than `least`.
  std::optional<proposal> propose(const stretch& s, std::int64_t least) const {
    proposal p;
    p.length = s.length;
    const auto places = table_->places(table_->at(s.where));
    std::vector<std::size_t> equal(places.begin(), places.end());
    std::sort(equal.begin(), equal.end());
    for (std::size_t i : equal)
      if ((p.firsts.empty() || i >= p.firsts.back() + s.length) && same_wiring(s.first, i, s.length))
        p.firsts.push_back(i);
    if (p.firsts.size() < 2) return std::nullopt;
    find_results(p);
    if (p.results.size() != 1) return std::nullopt;
    find_tensors(p);
    if (p.tensors.size() > 4) return std::nullopt;
    const std::int64_t body = lengths_[s.first + s.length] - lengths_[s.first];
    const auto gain = [&](std::size_t parameters) {
      return gain_of(p.firsts.size(), body, p.tensors.size() + parameters);
    };
    if (!find_parameters(p, [&](std::size_t n) { return of_module(gain(n)) > least; })) return std::nullopt;
    p.gain = gain(p.parameters.size());
    if (p.gain > 0 && of_module(p.gain) > least && is_module(p)) p.gain = of_module(p.gain);
    return p.gain > least ? std::optional(std::move(p)) : std::nullopt;
  }
  void find_results(proposal& p) const {
    for (std::size_t k = 0; k < p.length; ++k)
      for (std::size_t o = 0; o < expressions_[p.firsts[0] + k].outputs.size(); ++o)
        for (std::size_t first : p.firsts) {
          const auto use = last_use_.find(expressions_[first + k].outputs[o]);
          if (use == last_use_.end() || use->second < first + p.length) continue;
          p.results.emplace_back(k, o);
          if (p.results.size() > 1) return;
          break;
        }
  }
  void find_tensors(proposal& p) const {
    for (std::size_t k = 0; k < p.length; ++k)
      for (std::size_t r = 0; r < expressions_[p.firsts[0] + k].operands.size(); ++r) {
        if (origin_in(expressions_[p.firsts[0] + k].operands[r], p.firsts[0], p.length).inside) continue;
        std::vector<value_id> values;
        for (std::size_t first : p.firsts) values.push_back(expressions_[first + k].operands[r]);
        if (std::find(p.tensors.begin(), p.tensors.end(), values) == p.tensors.end()) p.tensors.push_back(values);
      }
  }
  // False as soon as there are so many that enough(number) is false.
  template <class Enough> bool find_parameters(proposal& p, Enough enough) const {
    anti_unification c(names_);
    for (std::size_t k = 0; k < p.length; ++k) {
      const expression& pattern = expressions_[p.firsts[0] + k];
      body_expression b{pattern, {}, {}};
      for (std::size_t i = 0; i < pattern.gaps.size(); ++i) {
        std::vector<const gap*> values;
        for (std::size_t first : p.firsts) values.push_back(&expressions_[first + k].gaps[i]);
        anti_unification::code code = c.add(values);
        b.gaps.push_back(std::move(code.text));
        b.suffixes.push_back(std::move(code.suffix));
      }
      if (!enough(c.size())) return false;
      p.made.body.push_back(std::move(b));
    }
    p.parameters = c.parameters();
    return true;
  }
  // A module of the exporter's framework, by the names of its nodes: all of them lie below a path, the neighbours not.
  bool is_module(const proposal& p) const {
    for (std::size_t first : p.firsts) {
      const std::string_view path = path_of_stretch(first, p.length);
      if (path.empty()) return false;
      const auto below = [&](std::size_t i) {
        for (const std::string& n : expressions_[i].node_names)
          if (n.starts_with(path)) return true;
        return false;
      };
      if ((first > 0 && below(first - 1)) || (first + p.length < expressions_.size() && below(first + p.length)))
        return false;
    }
    return true;
  }
  std::string_view path_of_stretch(std::size_t first, std::size_t length) const {
    common_path c;
    for (std::size_t i = first; i < first + length; ++i) c.add(expressions_[i].node_names);
    return c.path();
  }

  // --- the function itself
  void replace(proposal& p, bool leaf) {
    function& f = p.made;
    const std::string wanted = leaf ? leaf_name(p) : block_name(p);
    f.name = names_.add(wanted.size() > 1 ? wanted : "block_" + wanted);  // letters are for tensors
    for (const auto& t : p.tensors) f.tensors.push_back(t[0]);
    for (const anti_unification::variable& c : p.parameters) f.parameters.push_back(c.as);
    for (const auto& [k, o] : p.results) f.results.push_back(expressions_[p.firsts[0] + k].outputs[o]);
    f.is_leaf = leaf;
    f.calls = p.firsts.size();
    std::vector<expression> expressions;
    std::vector<std::size_t> ids;
    std::size_t next = 0;
    for (std::size_t i = 0; i < expressions_.size();) {
      if (next == p.firsts.size() || i != p.firsts[next]) {
        ids.push_back(ids_[i]);
        expressions.push_back(std::move(expressions_[i++]));
        continue;
      }
      expressions.push_back(call(p, next));
      ids.push_back(id_of(expressions.back()));
      i += p.length;
      ++next;
    }
    functions_.push_back(std::move(f));
    expressions_ = std::move(expressions);
    ids_ = std::move(ids);
  }
  expression call(const proposal& p, std::size_t occurrence) const {
    expression x;
    x.function = functions_.size();
    x.text(p.made.name + "(");
    for (std::size_t t = 0; t < p.tensors.size(); ++t) {
      x.text(t == 0 ? "" : ", ");
      x.operand(p.tensors[t][occurrence]);
    }
    for (const anti_unification::variable& c : p.parameters) {
      x.text(x.operands.empty() && x.gaps.empty() ? "" : ", ");
      gap s = c.values[occurrence];
      s.role = c.as.name;
      x.value(std::move(s));
    }
    x.text(")");
    const std::size_t first = p.firsts[occurrence];
    for (const auto& [k, o] : p.results) x.outputs.push_back(expressions_[first + k].outputs[o]);
    for (std::size_t i = first; i < first + p.length; ++i) {
      x.operators += expressions_[i].operators;
      x.has_weight = x.has_weight || expressions_[i].has_weight;
      x.node_names.insert(x.node_names.end(), expressions_[i].node_names.begin(), expressions_[i].node_names.end());
    }
    x.operator_name = p.made.name;
    make_key(x);
    return x;
  }

  std::string leaf_name(const proposal& p) const {
    const std::string& first = expressions_[p.firsts[0]].operator_name;
    if (first == "conv" || first == "conv_transpose")
      for (const member_value& a : expressions_[p.firsts[0]].attributes)
        if (a.member == "group") return is_depthwise(p) ? "depthwise_" + first : "grouped_" + first;
    if (first == "matmul" || first == "gemm") return "linear";
    if (first.ends_with("_normalization")) return first == "batch_normalization" ? "batch_norm" : "norm";
    return first == "gather" ? "embedding" : first;
  }
  // One input channel a group, in all calls.
  bool is_depthwise(const proposal& p) const {
    for (std::size_t first : p.firsts)
      for (const gap& s : expressions_[first].gaps)
        if (s.role == "in" && s.size != 1) return false;
    return true;
  }
  std::string block_name(const proposal& p) const {
    std::vector<std::string> names;
    for (std::size_t first : p.firsts) names.emplace_back(path_of_stretch(first, p.length));
    const std::string name = module_name(names, "block");
    for (const body_expression& b : p.made.body)  // a stage made of layers is called layers
      if (b.pattern.function != expression::no_function && functions_[b.pattern.function].name == name)
        return name.ends_with('s') ? name + "_stage" : name + "s";
    return name;
  }

  std::vector<expression> expressions_;
  std::vector<value_id> kept_;
  name_scope& names_;
  std::vector<function> functions_;
  std::map<std::string, std::size_t> known_;    // numbers of patterns, by key
  std::vector<std::size_t> ids_;                // equal for expressions of one pattern
  std::vector<std::int64_t> lengths_;           // of text, summed up
  std::vector<std::size_t> operators_;          // summed up
  std::unordered_map<value_id, place> places_;  // where values are computed
  std::unordered_map<value_id, std::size_t> last_use_;
  std::optional<recurrences> table_;
};

}  // namespace dnnkit::generation
