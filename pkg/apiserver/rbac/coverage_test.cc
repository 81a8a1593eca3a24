#include "kubexx/apiserver/rbac/coverage.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver::rbac {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Rule> RulesIn(std::string_view json) {
  auto tree = codec::JsonTree::Parse(R"({"rules":)" + std::string(json) + "}");
  EXPECT_TRUE(tree) << json;
  return tree ? ReadRules(*tree) : std::vector<Rule>();
}

/// What is missing, all of it.
std::vector<Rule> MissingRules(const std::vector<Rule>& held, const std::vector<Rule>& wanted) {
  Missing missing = NotCovered(held, wanted);
  EXPECT_TRUE(missing.complete);
  return std::move(missing.rules);
}

TEST(NotCovered, FindsWhatNobodyHolds) {
  const auto held = RulesIn(R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]},
                              {"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["x"]}])");
  EXPECT_THAT(
      MissingRules(held, RulesIn(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])")),
      IsEmpty());
  EXPECT_THAT(
      MissingRules(
          held,
          RulesIn(
              R"([{"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["x"]}])")),
      IsEmpty());
  for (const char* const more : {R"([{"verbs":["*"],"apiGroups":[""],"resources":["pods"]}])",
                                 R"([{"verbs":["get"],"apiGroups":["*"],"resources":["pods"]}])",
                                 R"([{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}])",
                                 R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]}])",
                                 R"([{"verbs":["get"],"nonResourceURLs":["/metrics"]}])"}) {
    EXPECT_THAT(MissingRules(held, RulesIn(more)), SizeIs(1)) << more;
    EXPECT_THAT(MissingRules(RulesIn(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},
                                     {"verbs":["*"],"nonResourceURLs":["*"]}])"),
                             RulesIn(more)),
                IsEmpty());
  }
}

TEST(NotCovered, ANameThatIsThereTwiceHasEachVerbTwice) {
  const auto missing = MissingRules({}, RulesIn(R"([{"verbs":["list","get"],"apiGroups":["b","b"],
      "resources":["jobs"],"resourceNames":["x","y","x"]}])"));
  ASSERT_THAT(missing, SizeIs(2));
  EXPECT_THAT(missing[0].verbs,
              ElementsAre("list", "list", "get", "get", "list", "list", "get", "get"));
  EXPECT_THAT(missing[1].verbs, ElementsAre("list", "get", "list", "get"));
}

TEST(NotCovered, NamesEachResourceWithItsVerbs) {
  const auto held = RulesIn(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
  const auto missing = MissingRules(held, RulesIn(R"([
      {"verbs":["get","list"],"apiGroups":[""],"resources":["pods","*/scale"]},
      {"verbs":["watch"],"apiGroups":[""],"resources":["pods"],"resourceNames":["x","y"]},
      {"verbs":["delete"],"apiGroups":[""],"resources":["pods"]},
      {"verbs":["get","post"],"nonResourceURLs":["/a<b\"\n"]}])"));
  std::vector<std::string> texts;
  for (const Rule& rule : missing) {
    texts.push_back(rule.ToString());
  }
  EXPECT_THAT(
      texts,
      ElementsAre(R"({APIGroups:[""], Resources:["*/scale"], Verbs:["get" "list"]})",
                  R"({APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["watch"]})",
                  R"({APIGroups:[""], Resources:["pods"], ResourceNames:["y"], Verbs:["watch"]})",
                  R"({APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]})",
                  R"({NonResourceURLs:["/a<b\"\n"], Verbs:["get"]})",
                  R"({NonResourceURLs:["/a<b\"\n"], Verbs:["post"]})"));
}

TEST(NotCovered, TakesResourcesAsTheyAreWritten) {
  const auto held =
      RulesIn(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods","*/scale"]}])");
  for (const auto& [resource, missing] :
       {std::pair("pods/", 1), {"*", 1}, {"pods/scale", 0}, {"*/scale", 0}, {"*/*", 1}}) {
    EXPECT_THAT(MissingRules(held, RulesIn(R"([{"verbs":["get"],"apiGroups":[""],"resources":[")" +
                                           std::string(resource) + R"("]}])")),
                SizeIs(missing))
        << resource;
  }
}

/// As Kubernetes has it: one combination after the other.
class Naive {
 public:
  static std::vector<std::string> Missing(const std::vector<Rule>& held,
                                          const std::vector<Rule>& wanted) {
    std::vector<Rule> rules;
    for (const Rule& rule : wanted) {
      Add(held, rule, rules);
    }
    std::vector<std::string> texts;
    for (const Rule& rule : rules) {
      texts.push_back(rule.ToString());
    }
    std::ranges::sort(texts);
    const auto same = std::ranges::unique(texts);
    texts.erase(same.begin(), same.end());
    return texts;
  }

 private:
  static bool Has(const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
  }
  static bool HasOrAll(const std::vector<std::string>& list, const std::string& value) {
    return Has(list, "*") || Has(list, value);
  }
  static bool HasPath(const std::vector<std::string>& list, const std::string& path) {
    return std::ranges::any_of(list, [&](const std::string& pattern) {
      return pattern == path ||
             (pattern.ends_with('*') &&
              path.starts_with(pattern.substr(0, pattern.find_last_not_of('*') + 1)));
    });
  }
  static bool HasResource(const Rule& held, const std::string& resource) {
    const std::size_t slash = resource.find('/');
    return HasOrAll(held.resources, resource) ||
           (slash != std::string::npos && Has(held.resources, "*" + resource.substr(slash)));
  }
  static void Add(const std::vector<Rule>& held, const Rule& wanted, std::vector<Rule>& rules) {
    for (const std::string& path : wanted.paths) {
      for (const std::string& verb : wanted.verbs) {
        if (std::ranges::none_of(held, [&](const Rule& one) {
              return HasOrAll(one.verbs, verb) && HasPath(one.paths, path);
            })) {
          rules.push_back({.verbs = {verb}, .paths = {path}});
        }
      }
    }
    std::vector<std::vector<std::string>> names;
    for (const std::string& name : wanted.names) {
      names.push_back({name});
    }
    if (names.empty()) {
      names.emplace_back();
    }
    for (const std::string& group : wanted.groups) {
      for (const std::string& resource : wanted.resources) {
        for (const std::string& verb : wanted.verbs) {
          for (const auto& name : names) {
            AddVerb(held, verb, {.groups = {group}, .resources = {resource}, .names = name}, rules);
          }
        }
      }
    }
  }
  static void AddVerb(const std::vector<Rule>& held, const std::string& verb, Rule rule,
                      std::vector<Rule>& rules) {
    if (std::ranges::any_of(held, [&](const Rule& one) {
          return HasOrAll(one.verbs, verb) && HasOrAll(one.groups, rule.groups[0]) &&
                 HasResource(one, rule.resources[0]) &&
                 (one.names.empty() || (!rule.names.empty() && Has(one.names, rule.names[0])));
        })) {
      return;
    }
    const auto known = std::ranges::find_if(rules, [&](const Rule& one) {
      return one.groups == rule.groups && one.resources == rule.resources &&
             one.names == rule.names && one.paths.empty();
    });
    (known == rules.end() ? rules.emplace_back(rule) : *known).verbs.push_back(verb);
  }
};

/// Some of a few words, often none and sometimes one twice.
std::vector<std::string> Some(std::mt19937& random, const std::vector<std::string>& words) {
  std::vector<std::string> some;
  while (random() % 3 != 0) {
    some.push_back(words[random() % words.size()]);
  }
  return some;
}

std::vector<Rule> SomeRules(std::mt19937& random) {
  std::vector<Rule> rules(random() % 4);
  for (Rule& rule : rules) {
    rule.verbs = Some(random, {"get", "list", "*", "a/b", "*/b"});
    rule.groups = Some(random, {"", "apps", "*", "a/b", "*/b"});
    rule.resources = Some(
        random, {"pods", "pods/log", "*/log", "*", "pods/", "*/", "*/*", "/log", "pods/log/x"});
    rule.names = Some(random, {"x", "y", "*", "", "a/b", "*/b"});
    rule.paths = Some(random, {"/a", "/a/*", "/a/b", "*", "", "/**", "/a/b*"});
  }
  return rules;
}

TEST(NotCovered, IsWhatComparingAllCombinationsFinds) {
  for (unsigned seed = 0; seed < base::testing::LargeInput(3'000U); ++seed) {
    std::mt19937 random(seed);
    const std::vector<Rule> held = SomeRules(random);
    const std::vector<Rule> wanted = SomeRules(random);
    std::vector<std::string> texts;
    for (const Rule& rule : MissingRules(held, wanted)) {
      texts.push_back(rule.ToString());
    }
    ASSERT_THAT(texts, ElementsAreArray(Naive::Missing(held, wanted))) << "seed " << seed;
  }
}

std::vector<std::string> Many(const std::string& word, int count) {
  std::vector<std::string> many;
  for (int i = 0; i < count; ++i) {
    many.push_back(word + std::to_string(i));
  }
  return many;
}

/// Thirteen million combinations in one kilobyte.
Rule Bomb() {
  return {.verbs = Many("v", 60),
          .groups = Many("g", 60),
          .resources = Many("r", 60),
          .names = Many("n", 60)};
}

TEST(RuleBombTest, CombinationsThatNobodyHoldsAreToldOfSomeOnly) {
  const Missing missing = NotCovered({}, {Bomb()});
  EXPECT_FALSE(missing.complete);
  EXPECT_FALSE(missing.rules.empty());
  std::size_t bytes = 0;
  for (const Rule& rule : missing.rules) {
    bytes += rule.ToString().size();
  }
  EXPECT_LT(bytes, 1U << 20);
}

TEST(RuleBombTest, WhatOneRuleGivesIsNotComparedOneByOne) {
  Rule whole = Bomb();
  std::ranges::reverse(whole.verbs);
  EXPECT_TRUE(NotCovered({whole}, {Bomb()}).none());
  EXPECT_TRUE(NotCovered(RulesIn(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"),
                         {Bomb(), Bomb()})
                  .none());
  // Nor what different rules give to different groups.
  std::vector<Rule> held;
  for (const std::string& group : Bomb().groups) {
    held.push_back(Bomb());
    held.back().groups = {group};
  }
  EXPECT_TRUE(NotCovered(held, {Bomb()}).none());
  held.back().verbs.pop_back();
  const Missing missing = NotCovered(held, {Bomb()});
  EXPECT_THAT(missing.rules, SizeIs(3'600));
  EXPECT_TRUE(missing.complete);
}

TEST(RuleBombTest, WhoeverHoldsItInManyPiecesHasNotShownIt) {
  Rule half = Bomb();
  half.verbs.resize(30);
  Rule other = Bomb();
  other.verbs.erase(other.verbs.begin(), other.verbs.begin() + 30);
  std::vector<Rule> held = {half, other};
  held.resize(10'000, {.verbs = {"x"}, .groups = {"x"}, .resources = {"x"}});
  const Missing missing = NotCovered(held, {Bomb()});
  EXPECT_FALSE(missing.none());
  EXPECT_THAT(missing.rules, IsEmpty());
}

TEST(RuleBombTest, ManyPathsAreFoundAmongMany) {
  constexpr int kFolders = base::testing::LargeInput(1'000);
  std::vector<Rule> held;
  for (int i = 0; i < kFolders; ++i) {
    const std::string under = "/" + std::to_string(i);
    held.push_back({.verbs = {"get"}, .paths = {under + "/*"}});
    held.push_back({.verbs = {"get"}, .paths = Many(under + "-", 300)});
  }
  std::vector<Rule> wanted(1);
  wanted[0].verbs = {"get"};
  for (int i = 0; i < 100 * kFolders; ++i) {
    wanted[0].paths.push_back("/" + std::to_string(i % kFolders) + "/" + std::to_string(i));
  }
  EXPECT_TRUE(NotCovered(held, wanted).none());
  wanted[0].verbs = Many("v", 10'000);
  EXPECT_FALSE(NotCovered(held, wanted).none());
}

TEST(RuleBombTest, ALongWordDoesNotBecomeAMessageOfManyMegabytes) {
  Rule rule = Bomb();
  rule.groups = {std::string(1 << 20, 'g')};
  EXPECT_THAT(NotCovered({}, {rule}).rules, SizeIs(1));
}

TEST(RuleBombTest, WhoeverDoesNotWaitAnyMoreIsNotServedOn) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<Rule> held(100'000, {.verbs = {"x"}, .groups = {"x"}, .resources = {"x"}});
  held.push_back(Bomb());
  EXPECT_TRUE(NotCovered(held, {Bomb()}).none());
  EXPECT_FALSE(NotCovered(held, {Bomb()}, stop.get_token()).none());
}

}  // namespace
}  // namespace kubexx::apiserver::rbac
