/// @file
/// Finds which of many rules have a value, without looking at each rule.
#ifndef KUBEXX_APISERVER_RBAC_INTERNAL_DIMENSION_H_
#define KUBEXX_APISERVER_RBAC_INTERNAL_DIMENSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::apiserver::rbac::internal {

/// A set of held rules, by their indexes.
class RuleSet {
 public:
  explicit RuleSet(std::size_t rules = 0) : words_((rules + 63) / 64) {}

  static RuleSet All(std::size_t rules) {
    RuleSet all(rules);
    for (std::size_t i = 0; i < rules; ++i) {
      all.Add(i);
    }
    return all;
  }
  void Add(std::size_t rule) { words_[rule / 64] |= std::uint64_t{1} << (rule % 64); }
  bool Has(std::size_t rule) const { return (words_[rule / 64] >> (rule % 64) & 1) != 0; }
  bool Meets(const RuleSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) {
        return true;
      }
    }
    return false;
  }
  void BecomeBoth(const RuleSet& a, const RuleSet& b) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] = a.words_[i] & b.words_[i];
    }
  }
  void AddBoth(const RuleSet& a, const RuleSet& b) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= a.words_[i] & b.words_[i];
    }
  }
  std::size_t words() const { return words_.size(); }

 private:
  std::vector<std::uint64_t> words_;
};

using Places = std::vector<std::size_t>;

/// The rules that name a value: as a bit set in `many`, or as indexes in `few` when they are few.
struct Naming {
  Places few{};
  std::optional<RuleSet> many{};

  std::size_t steps() const { return many ? many->words() : few.size(); }
};

/// One list of all held rules, such as their verbs or their resources: which rule has which value.
class Dimension {
 public:
  explicit Dimension(std::size_t rules) : all_(rules) {}

  /// Records that the rule has all values.
  void AddAll(std::size_t rule) { all_.Add(rule); }
  void Add(std::string_view value, std::size_t rule) { named_[value].few.push_back(rule); }
  void Add(const std::vector<std::string>& values, std::size_t rule) {
    for (const std::string& value : values) {
      if (value == "*") {
        AddAll(rule);
      }
      Add(value, rule);
    }
  }
  /// Must be called once, after all values have been added.
  void Finish(std::size_t rules) {
    for (auto& [value, naming] : named_) {
      if (naming.few.size() <= all_.words()) {
        continue;
      }
      naming.many.emplace(rules);
      for (const std::size_t rule : naming.few) {
        naming.many->Add(rule);
      }
      naming.few = {};
    }
  }
  const RuleSet& all() const { return all_; }
  /// Returns the rules that name the value, or null when none does.
  const Naming* WhoNames(std::string_view value) const {
    const auto found = named_.find(value);
    return found == named_.end() ? nullptr : &found->second;
  }

 private:
  RuleSet all_;
  // Not hashed, because the authors of rules choose the keys.
  std::map<std::string_view, Naming> named_;
};

}  // namespace kubexx::apiserver::rbac::internal

#endif  // KUBEXX_APISERVER_RBAC_INTERNAL_DIMENSION_H_
