#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kubexx/apiserver/managedfields/typed.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using Shape = Type::Shape;

/// Without a value it is a container without elements, which is left out.
using Merged = Result<std::optional<JsonTree>>;

Merged MergeValues(const Type& type, const JsonTree* live, const JsonTree* config);

bool IsEmptyValue(const JsonTree* value, JsonTree::Type type) {
  return value == nullptr || value->type() != type || value->size() == 0;
}

Merged MergeMembers(const Type& type, const JsonTree* live, const JsonTree* config) {
  std::vector<JsonTree::Member> members;
  const codec::MemberIndex of_live(live);
  const codec::MemberIndex of_config(config);
  const auto merge = [&](const std::string& key) -> Result<void> {
    KX_ASSIGN_OR_RETURN(std::optional<JsonTree> value,
                        MergeValues(type.Member(key), of_live.Find(key), of_config.Find(key)));
    if (value) {
      members.push_back({key, std::move(*value)});
    }
    return {};
  };
  if (live != nullptr) {
    for (const JsonTree::Member& member : live->members()) {
      KX_RETURN_IF_ERROR(merge(member.key));
    }
  }
  if (config != nullptr) {
    for (const JsonTree::Member& member : config->members()) {
      if (of_live.Find(member.key) == nullptr) {
        KX_RETURN_IF_ERROR(merge(member.key));
      }
    }
  }
  return members.empty() ? std::optional<JsonTree>() : JsonTree::Object(std::move(members));
}

/// A list that is merged element by element.
class Elements {
 public:
  static Result<Elements> Of(const Type& type, const JsonTree* list, bool duplicates) {
    Elements elements;
    if (list == nullptr) {
      return elements;
    }
    for (const JsonTree& element : list->elements()) {
      KX_ASSIGN_OR_RETURN(PathElement step, type.StepTo(element));
      const auto [entry, is_new] = elements.by_step.emplace(step, &element);
      if (!is_new && !duplicates) {
        return Fail(Reason::kMalformed, "duplicate entries for key " + step.ToString());
      }
      if (!is_new) {
        entry->second = nullptr;
      }
      elements.steps.push_back(std::move(step));
      elements.values.push_back(&element);
    }
    return elements;
  }
  bool Has(const PathElement& step) const { return by_step.contains(step); }
  /// Returns null when there is none, or when there are several.
  const JsonTree* Only(const PathElement& step) const {
    const auto found = by_step.find(step);
    return found == by_step.end() ? nullptr : found->second;
  }

  std::vector<PathElement> steps{};
  std::vector<const JsonTree*> values{};
  std::map<PathElement, const JsonTree*> by_step{};
};

/// Walks through both lists. An element that only one list has keeps its place between its
/// neighbours. Elements that both have come in the order of the config.
class ListMerger {
 public:
  ListMerger(const Type& element, const Elements& live, const Elements& config)
      : element_(element), live_(live), config_(config) {
    for (const PathElement& step : config_.steps) {
      if (live_.Has(step)) {
        shared_.push_back(step);
      }
    }
  }

  Result<std::vector<JsonTree>> Run() {
    while (at_live_ < live_.steps.size() || at_config_ < config_.steps.size()) {
      KX_RETURN_IF_ERROR(Step());
    }
    return std::move(out_);
  }

 private:
  bool IsNextShared(const PathElement& step) const {
    return next_shared_ < shared_.size() && shared_[next_shared_] == step;
  }

  Result<void> Step() {
    const bool config_left = at_config_ < config_.steps.size();
    if (at_live_ < live_.steps.size()) {
      const PathElement& step = live_.steps[at_live_];
      if (!config_.Has(step)) {
        return Emit(live_.values[at_live_++], nullptr);
      }
      const bool same = config_left && step == config_.steps[at_config_];
      if (!same && config_left && next_shared_ < shared_.size() && !IsNextShared(step)) {
        ++at_live_;  // it comes later in the config
        return {};
      }
      if (same || done_.contains(step)) {
        ++at_live_;
      }
    }
    if (!config_left) {
      return {};
    }
    const PathElement& step = config_.steps[at_config_];
    const JsonTree* const config = config_.values[at_config_++];
    done_.insert(step);
    if (IsNextShared(step)) {
      ++next_shared_;
    }
    return Emit(live_.Only(step), config);
  }

  Result<void> Emit(const JsonTree* live, const JsonTree* config) {
    KX_ASSIGN_OR_RETURN(std::optional<JsonTree> value, MergeValues(element_, live, config));
    if (value) {
      out_.push_back(std::move(*value));
    }
    return {};
  }

  const Type element_;
  const Elements& live_;
  const Elements& config_;
  std::vector<PathElement> shared_;
  std::set<PathElement> done_;
  std::size_t next_shared_ = 0;
  std::size_t at_live_ = 0;
  std::size_t at_config_ = 0;
  std::vector<JsonTree> out_;
};

Merged MergeElements(const Type& type, const JsonTree* live, const JsonTree* config) {
  KX_ASSIGN_OR_RETURN(const Elements old_ones, Elements::Of(type, live, true));
  KX_ASSIGN_OR_RETURN(const Elements new_ones, Elements::Of(type, config, false));
  ListMerger merger(type.Element(), old_ones, new_ones);
  KX_ASSIGN_OR_RETURN(std::vector<JsonTree> elements, merger.Run());
  return elements.empty() ? std::optional<JsonTree>() : JsonTree::Array(std::move(elements));
}

Merged MergeValues(const Type& type, const JsonTree* live, const JsonTree* config) {
  const Shape shape = type.ShapeOf(config == nullptr ? *live : *config);
  const JsonTree::Type container =
      shape == Shape::kMap ? JsonTree::Type::kObject : JsonTree::Type::kArray;
  if (shape == Shape::kScalar || (shape == Shape::kMap ? type.AtomicMap() : type.AtomicList()) ||
      (IsEmptyValue(live, container) && IsEmptyValue(config, container))) {
    return std::optional<JsonTree>(config == nullptr ? *live : *config);
  }
  // A value that had another form before is replaced.
  const JsonTree* const old_one = live != nullptr && live->type() == container ? live : nullptr;
  const JsonTree* const new_one =
      config != nullptr && config->type() == container ? config : nullptr;
  return shape == Shape::kMap ? MergeMembers(type, old_one, new_one)
                              : MergeElements(type, old_one, new_one);
}

}  // namespace

Result<JsonTree> MergeConfig(const Type& type, const JsonTree& value, const JsonTree& config) {
  KX_ASSIGN_OR_RETURN(std::optional<JsonTree> merged, MergeValues(type, &value, &config));
  return merged ? std::move(*merged) : JsonTree::Object();
}

}  // namespace kubexx::apiserver::managedfields
