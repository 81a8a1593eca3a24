#include "kubexx/apiserver/rbac/coverage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "kubexx/apiserver/rbac/internal/dimension.h"

namespace kubexx::apiserver::rbac {
namespace {

using internal::Dimension;
using internal::Naming;
using internal::Places;
using internal::RuleSet;
using Texts = std::vector<std::string>;

/// The limit for the words of sets of rules that are looked at, which is about 0.1 s.
constexpr std::size_t kMaxSteps = 20'000'000;
/// The limit for the bytes of a message's missing rules. At least one of them is always shown.
constexpr std::size_t kMaxTextBytes = 512 << 10;
/// The cost of a word in a message in addition to its own bytes.
constexpr std::size_t kBytesPerWord = 16;

/// A value of a rule that is needed. Without text, it stands for all names.
struct Wish {
  const std::string* text = nullptr;
  std::size_t times = 1;  ///< that it is there
  std::array<const Naming*, 2> naming{};
};

/// The paths of all rules that the user has. "*" at the end stands for any text.
class Paths {
 public:
  void Add(std::string_view pattern, std::size_t rule) {
    exact_[pattern].push_back(rule);
    if (pattern.ends_with('*')) {
      const std::string_view start = pattern.substr(0, pattern.find_last_not_of('*') + 1);
      starts_[start.size()][start].push_back(rule);
    }
  }
  /// Adds the rules that have the path. Returns the number of steps that this took.
  std::size_t AddTo(std::string_view path, RuleSet& rules) const {
    std::size_t steps = AddAll(exact_, path, rules);
    for (const auto& [size, starts] : starts_) {
      if (size > path.size()) {
        break;
      }
      steps += AddAll(starts, path.substr(0, size), rules);
    }
    return steps;
  }

 private:
  using ByText = std::map<std::string_view, Places>;

  static std::size_t AddAll(const ByText& patterns, std::string_view text, RuleSet& rules) {
    const auto found = patterns.find(text);
    if (found == patterns.end()) {
      return 1 + text.size() / 16;
    }
    for (const std::size_t rule : found->second) {
      rules.Add(rule);
    }
    return 1 + text.size() / 16 + found->second.size();
  }

  ByText exact_;
  std::map<std::size_t, ByText> starts_;  // by their size
};

class Comparison {
 public:
  Comparison(const std::vector<Rule>& held, std::stop_token stop)
      : stop_(std::move(stop)),
        all_(RuleSet::All(held.size())),
        groups_(held.size()),
        resources_(held.size()),
        names_(held.size()),
        verbs_(held.size()) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      groups_.Add(held[i].groups, i);
      resources_.Add(held[i].resources, i);
      verbs_.Add(held[i].verbs, i);
      if (held[i].names.empty()) {
        names_.AddAll(i);
      }
      for (const std::string& name : held[i].names) {
        names_.Add(name, i);  // "*" is an ordinary name here.
      }
      for (const std::string& path : held[i].paths) {
        paths_.Add(path, i);
      }
    }
    for (Dimension* const one : {&groups_, &resources_, &names_, &verbs_}) {
      one->Finish(held.size());
    }
  }

  void AddPaths(const Rule& wanted) {
    const std::vector<Wish> verbs = Wishes(verbs_, wanted.verbs);
    for (const std::string& path : wanted.paths) {
      RuleSet having(all_.words() * 64);
      Spend(all_.words() + paths_.AddTo(path, having));
      for (const Wish& verb : verbs) {
        if (ended_) {
          return;
        }
        if (!Meets(having, verbs_, verb)) {
          Rule rule;
          rule.verbs = {*verb.text};
          rule.paths = {path};
          Note(path.size() + verb.text->size() + kBytesPerWord);
          path_rules_.push_back(std::move(rule));
        }
      }
    }
  }

  void AddResources(const Rule& wanted) {
    const std::array<const Dimension*, kLevels> dimensions = {&groups_, &resources_, &names_,
                                                              &verbs_};
    Levels levels;
    levels[0].wishes = Wishes(groups_, wanted.groups);
    levels[1].wishes = ResourceWishes(wanted.resources);
    levels[2].wishes = wanted.names.empty() ? std::vector<Wish>(1) : NameWishes(wanted.names);
    levels[3].wishes = Wishes(verbs_, wanted.verbs);
    RuleSet whole = all_;
    for (std::size_t i = kLevels; i-- > 0;) {
      levels[i].dimension = dimensions[i];
      levels[i].having = all_;
      RuleSet narrowed = whole;
      for (const Wish& wish : levels[i].wishes) {
        if (ended_) {
          return;
        }
        Narrow(whole, *levels[i].dimension, wish, narrowed);
        std::swap(whole, narrowed);
      }
      levels[i].whole = whole;
    }
    Walk(levels, 0, all_);
  }

  Missing Take() {
    Missing missing;
    missing.complete = !ended_;
    missing.rules = std::move(path_rules_);
    for (auto& [what, verbs] : resource_rules_) {
      const auto& [group, resource, name] = what;
      Rule rule;
      rule.groups = {*group.text};
      rule.resources = {*resource.text};
      if (name.text != nullptr) {
        rule.names = {*name.text};
      }
      rule.verbs = std::move(verbs);
      missing.rules.push_back(std::move(rule));
    }
    std::vector<std::pair<std::string, Rule>> sorted;
    sorted.reserve(missing.rules.size());
    for (Rule& rule : missing.rules) {
      std::string text = rule.ToString();
      sorted.emplace_back(std::move(text), std::move(rule));
    }
    std::ranges::sort(sorted, {}, &std::pair<std::string, Rule>::first);
    missing.rules.clear();
    for (auto& [text, rule] : sorted) {
      if (missing.rules.empty() || missing.rules.back() != rule) {
        missing.rules.push_back(std::move(rule));
      }
    }
    return missing;
  }
  bool ended() const { return ended_; }

 private:
  /// The levels are groups, resources, names and verbs.
  static constexpr std::size_t kLevels = 4;
  struct Level {
    const Dimension* dimension = nullptr;
    std::vector<Wish> wishes{};
    /// The rules that have all wishes of this level and of those below it.
    RuleSet whole{};
    /// The rules that have the wishes on the present walk down to here.
    RuleSet having{};
    const Wish* at = nullptr;
  };
  using Levels = std::array<Level, kLevels>;

  /// Compares texts by their content and not by their address. No text comes first.
  struct Text {
    const std::string* text = nullptr;
    bool operator<(const Text& other) const {
      return text == nullptr || other.text == nullptr ? text == nullptr && other.text != nullptr
                                                      : *text < *other.text;
    }
  };

  static std::vector<Wish> Wishes(const Dimension& dimension, const Texts& texts) {
    std::vector<Wish> wishes;
    wishes.reserve(texts.size());
    for (const std::string& text : texts) {
      wishes.push_back({.text = &text, .naming = {dimension.WhoNames(text), nullptr}});
    }
    return wishes;
  }
  /// A name that is there twice has each verb twice. As in kube-apiserver's answer, the order is
  /// verb by verb, and name by name within each verb.
  std::vector<Wish> NameWishes(const Texts& texts) const {
    std::vector<Wish> wishes;
    std::map<std::string_view, std::size_t> places;
    for (const std::string& text : texts) {
      const auto [place, is_new] = places.try_emplace(text, wishes.size());
      if (is_new) {
        wishes.push_back({.text = &text, .naming = {names_.WhoNames(text), nullptr}});
      } else {
        ++wishes[place->second].times;
      }
    }
    return wishes;
  }
  /// A resource as it is written: only "*" gives "*", only "pods/" gives "pods/", and "*/scale"
  /// gives "pods/scale", too.
  std::vector<Wish> ResourceWishes(const Texts& texts) const {
    std::vector<Wish> wishes = Wishes(resources_, texts);
    for (Wish& wish : wishes) {
      if (const std::size_t slash = wish.text->find('/'); slash != std::string::npos) {
        wish.naming[1] = resources_.WhoNames("*" + wish.text->substr(slash));
      }
    }
    return wishes;
  }

  void Narrow(const RuleSet& within, const Dimension& dimension, const Wish& wish, RuleSet& out) {
    Spend(1 + within.words());
    out.BecomeBoth(within, dimension.all());
    for (const Naming* const naming : wish.naming) {
      if (naming == nullptr) {
        continue;
      }
      Spend(naming->steps());
      if (naming->many) {
        out.AddBoth(within, *naming->many);
      }
      for (const std::size_t rule : naming->few) {
        if (within.Has(rule)) {
          out.Add(rule);
        }
      }
    }
  }

  bool Meets(const RuleSet& within, const Dimension& dimension, const Wish& wish) {
    Spend(1 + within.words());
    return within.Meets(dimension.all()) ||
           std::ranges::any_of(wish.naming, [&](const Naming* naming) {
             if (naming == nullptr) {
               return false;
             }
             Spend(naming->steps());
             return (naming->many && within.Meets(*naming->many)) ||
                    std::ranges::any_of(naming->few,
                                        [&](std::size_t rule) { return within.Has(rule); });
           });
  }

  /// Finds the wishes at this level and below that none of the rules in `within` has.
  void Walk(Levels& levels, std::size_t depth, const RuleSet& within) {
    Level& level = levels[depth];
    if (ended_ || within.Meets(level.whole)) {
      return;
    }
    for (const Wish& wish : level.wishes) {
      if (ended_) {
        return;
      }
      level.at = &wish;
      if (depth + 1 == kLevels) {
        if (!Meets(within, *level.dimension, wish)) {
          NoteResource(levels);
        }
      } else {
        Narrow(within, *level.dimension, wish, level.having);
        Walk(levels, depth + 1, level.having);
      }
    }
  }

  void NoteResource(const Levels& levels) {
    const auto [known, fresh] = resource_rules_.try_emplace(
        {Text{levels[0].at->text}, Text{levels[1].at->text}, Text{levels[2].at->text}});
    std::size_t bytes = kBytesPerWord + levels[3].at->text->size();
    for (std::size_t i = 0; fresh && i < 3; ++i) {
      bytes += kBytesPerWord + (levels[i].at->text == nullptr ? 0 : levels[i].at->text->size());
    }
    for (std::size_t i = 0; i < levels[2].at->times; ++i) {
      known->second.push_back(*levels[3].at->text);
      Note(bytes);
    }
  }

  void Note(std::size_t bytes) {
    text_bytes_ += bytes;
    ended_ = ended_ || text_bytes_ > kMaxTextBytes;
  }
  void Spend(std::size_t steps) {
    const bool asks = steps_ / kStepsPerLook != (steps_ + steps) / kStepsPerLook;
    steps_ += steps;
    ended_ = ended_ || steps_ > kMaxSteps || (asks && stop_.stop_requested());
  }
  static constexpr std::size_t kStepsPerLook = 1 << 16;

  const std::stop_token stop_;
  const RuleSet all_;
  Dimension groups_;
  Dimension resources_;
  Dimension names_;
  Dimension verbs_;
  Paths paths_;
  std::vector<Rule> path_rules_;
  std::map<std::tuple<Text, Text, Text>, Texts> resource_rules_;
  std::size_t steps_ = 0;
  std::size_t text_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace

Missing NotCovered(const std::vector<Rule>& held, const std::vector<Rule>& wanted,
                   const std::stop_token& stop) {
  Comparison comparison(held, stop);
  for (const Rule& rule : wanted) {
    if (comparison.ended()) {
      break;
    }
    comparison.AddPaths(rule);
    comparison.AddResources(rule);
  }
  return comparison.Take();
}

}  // namespace kubexx::apiserver::rbac
