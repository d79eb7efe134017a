// SPDX-License-Identifier: MIT
// Pass: rewriting by rules that are data (rewrite/rule.hpp), to a fixed point: what is replaced lowers the work of the
// graph (rewrite/work.hpp). `Rules` is a list of them with static storage, `Allowed` what they may do to elements:
// passes::apply_rules<my_rules, rewrite::licence::exact>, or up to so many units in the last place:
// passes::apply_rules<my_rules, rewrite::approximates(4)>. (DNNFusion, section 3.4.2.)
// The log has what was rewritten, and of rules that are none of the library's where and why they were not applied, too.
// Takes a graph without composites; guarantees the same function within what the licence of each rule says.
#pragma once

#include <string_view>

#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/rewriter.hpp"
#include "dnnkit/pass/unapplied_rules.hpp"
#include "dnnkit/rewrite/rules.hpp"

namespace dnnkit::passes {

template <const rewrite::rule_list& Rules, rewrite::licence_limit Allowed = rewrite::licence::approximates,
          rewrite::search_by Search = rewrite::search_by::beam>
struct apply_rules {
  static constexpr std::string_view name = "apply rules";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    rewrite::rewriter rewriter(Rules, Allowed, Search);
    if (!notes.wanted()) return rewriter.run(static_cast<graph&&>(g), notes);
    const rewrite::unapplied_rules unapplied(name, notes);
    graph after = rewriter.run(g, notes);
    unapplied.note(g, after, Rules, rewrite::rules::all, Allowed);
    return after;
  }
};

}  // namespace dnnkit::passes
