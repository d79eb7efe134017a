// SPDX-License-Identifier: MIT
// A run as a flat list of commands. What a plan and the values of its symbols decide is decided when the list is made;
// a run is one loop over it. Here is what all targets have in common; each adds commands of its own.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "dnnkit/runtime/observer.hpp"

namespace dnnkit::detail {

// A step of the plan begins: the observer is told, and may be one that can stop the run.
struct begin_step {
  std::size_t step;
};
// It has ended.
struct end_step {
  std::size_t step;
};
// Where the condition is not as needed, the run goes on at command `otherwise`.
struct skip_unless {
  std::byte* const* condition;  // a boolean; behind a pointer, because it may be the caller's
  bool needed;
  std::size_t otherwise = 0;
};

template <class... Work> using command = std::variant<begin_step, end_step, skip_unless, Work...>;

// Makes a list. Steps that follow each other under the same conditions are skipped together.
template <class... Work> class command_list {
 public:
  // What is added from now on runs under these conditions, outermost first: an outer one is looked at before those that
  // only it lets be computed.
  void enter(std::span<const skip_unless> conditions) {
    std::size_t same = 0;
    while (same < open_.size() && same < conditions.size() && is_open(open_[same], conditions[same])) ++same;
    for (; open_.size() > same; open_.pop_back())
      std::get<skip_unless>(commands_[open_.back()]).otherwise = commands_.size();
    for (const skip_unless& c : conditions.subspan(same)) {
      open_.push_back(commands_.size());
      commands_.push_back(c);
    }
  }
  void add(const command<Work...>& c) { commands_.push_back(c); }
  // The list, when all has been added.
  std::vector<command<Work...>> finished() {
    enter({});
    return std::move(commands_);
  }

 private:
  bool is_open(std::size_t at, const skip_unless& c) const {
    const skip_unless& open = std::get<skip_unless>(commands_[at]);
    return open.condition == c.condition && open.needed == c.needed;
  }

  std::vector<command<Work...>> commands_;
  std::vector<std::size_t> open_;  // conditions whose ends are not known yet
};

template <class Work, class Device, class Command> constexpr bool carried_out(const Command& c, Device& device) {
  const Work* const work = std::get_if<Work>(&c);
  if (work != nullptr) device(*work);
  return work != nullptr;
}

// Carries the commands out one after the other; those of the target are calls of `device`. False when the observer
// stopped it, which does not hear of steps that are skipped.
template <class... Work, observer Observer, class Device>
[[nodiscard]] bool carry_out(const std::vector<command<Work...>>& commands, const plan_view& plan, Observer& observer,
                             Device device) noexcept(nothrow_observer<Observer> &&
                                                     (noexcept(device(std::declval<const Work&>())) && ...)) {
  for (std::size_t at = 0; at < commands.size();) {
    const command<Work...>& c = commands[at++];
    if (const auto* begin = std::get_if<begin_step>(&c)) {
      if constexpr (can_stop<Observer>) {
        if (!observer.before(plan, begin->step)) return false;
      } else {
        observer.before(plan, begin->step);
      }
    } else if (const auto* end = std::get_if<end_step>(&c)) {
      observer.after(plan, end->step);
    } else if (const auto* skip = std::get_if<skip_unless>(&c)) {
      if ((**skip->condition != std::byte{0}) != skip->needed) at = skip->otherwise;
    } else {
      static_cast<void>((carried_out<Work>(c, device) || ...));
    }
  }
  return true;
}

}  // namespace dnnkit::detail
