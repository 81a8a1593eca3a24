#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kubexx/apiserver/managedfields/typed.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;
using Shape = Type::Shape;

/// The elements of a list with the same name.
struct Group {
  std::vector<const JsonTree*> before{};
  std::vector<const JsonTree*> after{};
};

bool IsEmpty(const JsonTree* value, JsonTree::Type type) {
  return value == nullptr || value->type() != type || value->size() == 0;
}

bool SameElements(const std::vector<const JsonTree*>& a, const std::vector<const JsonTree*>& b) {
  return std::ranges::equal(
      a, b, [](const JsonTree* one, const JsonTree* other) { return *one == *other; });
}

/// The differences of two values: whether each of the sets has the value itself, and which of the
/// fields below it.
struct Difference {
  Comparison below{};
  bool removed = false;
  bool modified = false;
  bool added = false;
};

/// Collects the differences of the members or elements of a value step by step.
class Steps {
 public:
  void Add(const PathElement& step, Difference difference) {
    Add(step, difference.removed, std::move(difference.below.removed), removed_);
    Add(step, difference.modified, std::move(difference.below.modified), modified_);
    Add(step, difference.added, std::move(difference.below.added), added_);
  }
  Comparison Take() {
    return {.removed = FieldSet::FromNodes(std::move(removed_)),
            .modified = FieldSet::FromNodes(std::move(modified_)),
            .added = FieldSet::FromNodes(std::move(added_))};
  }

 private:
  using Nodes = std::vector<FieldSet::Node>;

  static void Add(const PathElement& step, bool member, FieldSet below, Nodes& nodes) {
    if (member || !below.empty()) {
      nodes.push_back({step, member, std::move(below)});
    }
  }

  Nodes removed_;
  Nodes modified_;
  Nodes added_;
};

// Null stands for a value that does not exist; at least one of the two exists.
Difference Visit(const Type& type, const JsonTree* before, const JsonTree* after);

Difference VisitLeaf(const JsonTree* before, const JsonTree* after) {
  return {.removed = after == nullptr,
          .modified = before != nullptr && after != nullptr && *before != *after,
          .added = before == nullptr};
}

Comparison VisitMembers(const Type& type, const JsonTree* before, const JsonTree* after) {
  Steps steps;
  const codec::MemberIndex of_before(before);
  const codec::MemberIndex of_after(after);
  if (before != nullptr) {
    for (const JsonTree::Member& member : before->members()) {
      steps.Add(PathElement::Field(member.key),
                Visit(type.Member(member.key), &member.value, of_after.Find(member.key)));
    }
  }
  if (after != nullptr) {
    for (const JsonTree::Member& member : after->members()) {
      if (of_before.Find(member.key) == nullptr) {
        steps.Add(PathElement::Field(member.key),
                  Visit(type.Member(member.key), nullptr, &member.value));
      }
    }
  }
  return steps.Take();
}

using Groups = std::map<PathElement, Group>;

void Sort(const Type& type, const JsonTree* list, std::vector<const JsonTree*> Group::* side,
          Groups& groups) {
  if (list == nullptr) {
    return;
  }
  for (const JsonTree& element : list->elements()) {
    if (const auto step = type.StepTo(element)) {
      (groups[*step].*side).push_back(&element);
    }
  }
}

Difference VisitGroup(const Type& element, const Group& group) {
  const JsonTree* const old_one = group.before.empty() ? nullptr : group.before.front();
  const JsonTree* const new_one = group.after.empty() ? nullptr : group.after.front();
  if (group.before.size() <= 1 && group.after.size() <= 1) {
    return Visit(element, old_one, new_one);
  }
  // Several elements with one name count as a whole, and differ from a single one.
  Difference difference;
  if (group.before.size() == 1) {
    difference = Visit(element, old_one, nullptr);
  } else if (group.after.size() == 1) {
    difference = Visit(element, nullptr, new_one);
  }
  if (group.after.size() < 2) {
    difference.removed = true;
  } else if (group.before.size() < 2) {
    difference.added = true;
  } else if (!SameElements(group.before, group.after)) {
    difference.modified = true;
  }
  return difference;
}

Comparison VisitElements(const Type& type, const JsonTree* before, const JsonTree* after) {
  Groups groups;
  Sort(type, before, &Group::before, groups);
  Sort(type, after, &Group::after, groups);
  const Type element = type.Element();
  Steps steps;
  for (const auto& [step, group] : groups) {
    steps.Add(step, VisitGroup(element, group));
  }
  return steps.Take();
}

/// `leaf` tells whether the value counts as a whole.
Difference VisitAs(const Type& type, Shape shape, const JsonTree* before, const JsonTree* after,
                   bool& leaf) {
  const JsonTree::Type container =
      shape == Shape::kMap ? JsonTree::Type::kObject : JsonTree::Type::kArray;
  leaf = shape == Shape::kScalar || (shape == Shape::kMap ? type.AtomicMap() : type.AtomicList()) ||
         (IsEmpty(before, container) && IsEmpty(after, container));
  if (leaf) {
    return VisitLeaf(before, after);
  }
  return {.below = shape == Shape::kMap ? VisitMembers(type, before, after)
                                        : VisitElements(type, before, after)};
}

Difference Together(const Difference& a, const Difference& b) {
  return {.below = {.removed = a.below.removed.Union(b.below.removed),
                    .modified = a.below.modified.Union(b.below.modified),
                    .added = a.below.added.Union(b.below.added)},
          .removed = a.removed || b.removed,
          .modified = a.modified || b.modified,
          .added = a.added || b.added};
}

Difference Visit(const Type& type, const JsonTree* before, const JsonTree* after) {
  if (before != nullptr && after != nullptr && *before == *after) {
    return {};  // this is the case for most of an object most of the time
  }
  bool leaf = false;
  Difference difference;
  if (before == nullptr || after == nullptr) {
    const JsonTree& one = before == nullptr ? *after : *before;
    difference = VisitAs(type, type.ShapeOf(one), before, after, leaf);
  } else {
    const Shape old_shape = type.ShapeOf(*before);
    const Shape new_shape = type.ShapeOf(*after);
    difference = VisitAs(type, new_shape, before, after, leaf);
    if (old_shape != new_shape) {
      bool ignored = false;
      difference = Together(VisitAs(type, old_shape, before, after, ignored), difference);
    }
  }
  difference.added = difference.added || (!leaf && before == nullptr);
  difference.removed = difference.removed || (!leaf && before != nullptr && after == nullptr);
  return difference;
}

}  // namespace

Comparison Compare(const Type& type, const JsonTree& before, const JsonTree& after) {
  return Visit(type, &before, &after).below;
}

}  // namespace kubexx::apiserver::managedfields
