#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kubexx/apiserver/managedfields/internal/member_index.h"
#include "kubexx/apiserver/managedfields/typed.h"

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;
using Shape = Type::Shape;

/// The elements of a list that have one name.
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

/// Null is for what is not there; of two values one is.
class Comparer {
 public:
  explicit Comparer(Comparison& result) : result_(result) {}

  void Visit(const Type& type, const JsonTree* before, const JsonTree* after) {
    if (before != nullptr && after != nullptr && *before == *after) {
      return;  // Most of an object, most of the time.
    }
    bool leaf = false;
    if (before == nullptr || after == nullptr) {
      leaf = VisitAs(type, type.ShapeOf(before == nullptr ? *after : *before), before, after);
    } else {
      const Shape old_shape = type.ShapeOf(*before);
      const Shape new_shape = type.ShapeOf(*after);
      if (old_shape != new_shape) {
        VisitAs(type, old_shape, before, after);
      }
      leaf = VisitAs(type, new_shape, before, after);
    }
    if (!leaf && before == nullptr) {
      result_.added.Insert(path_);
    } else if (!leaf && after == nullptr) {
      result_.removed.Insert(path_);
    }
  }

 private:
  /// Whether the value counts as a whole.
  bool VisitAs(const Type& type, Shape shape, const JsonTree* before, const JsonTree* after) {
    const JsonTree::Type container =
        shape == Shape::kMap ? JsonTree::Type::kObject : JsonTree::Type::kArray;
    if (shape == Shape::kScalar || (shape == Shape::kMap ? type.AtomicMap() : type.AtomicList()) ||
        (IsEmpty(before, container) && IsEmpty(after, container))) {
      VisitLeaf(before, after);
      return true;
    }
    if (shape == Shape::kMap) {
      VisitMembers(type, before, after);
    } else {
      VisitElements(type, before, after);
    }
    return false;
  }

  void VisitLeaf(const JsonTree* before, const JsonTree* after) {
    if (before == nullptr) {
      result_.added.Insert(path_);
    } else if (after == nullptr) {
      result_.removed.Insert(path_);
    } else if (*before != *after) {
      result_.modified.Insert(path_);
    }
  }

  void Descend(const Type& type, PathElement step, const JsonTree* before, const JsonTree* after) {
    path_.push_back(std::move(step));
    Visit(type, before, after);
    path_.pop_back();
  }

  void VisitMembers(const Type& type, const JsonTree* before, const JsonTree* after) {
    const internal::MemberIndex of_before(before);
    const internal::MemberIndex of_after(after);
    if (before != nullptr) {
      for (const JsonTree::Member& member : before->members()) {
        Descend(type.Member(member.key), PathElement::Field(member.key), &member.value,
                of_after.Find(member.key));
      }
    }
    if (after != nullptr) {
      for (const JsonTree::Member& member : after->members()) {
        if (of_before.Find(member.key) == nullptr) {
          Descend(type.Member(member.key), PathElement::Field(member.key), nullptr, &member.value);
        }
      }
    }
  }

  using Groups = std::map<PathElement, Group>;

  static void Sort(const Type& type, const JsonTree* list,
                   std::vector<const JsonTree*> Group::* side, Groups& groups) {
    if (list == nullptr) {
      return;
    }
    for (const JsonTree& element : list->elements()) {
      if (const auto step = type.StepTo(element)) {
        (groups[*step].*side).push_back(&element);
      }
    }
  }

  void VisitElements(const Type& type, const JsonTree* before, const JsonTree* after) {
    Groups groups;
    Sort(type, before, &Group::before, groups);
    Sort(type, after, &Group::after, groups);
    const Type element = type.Element();
    for (const auto& [step, group] : groups) {
      const JsonTree* const old_one = group.before.empty() ? nullptr : group.before.front();
      const JsonTree* const new_one = group.after.empty() ? nullptr : group.after.front();
      if (group.before.size() <= 1 && group.after.size() <= 1) {
        Descend(element, step, old_one, new_one);
        continue;
      }
      // Elements with one name count as a whole, and differently from one that is alone.
      if (group.before.size() == 1) {
        Descend(element, step, old_one, nullptr);
      } else if (group.after.size() == 1) {
        Descend(element, step, nullptr, new_one);
      }
      path_.push_back(step);
      if (group.after.size() < 2) {
        result_.removed.Insert(path_);
      } else if (group.before.size() < 2) {
        result_.added.Insert(path_);
      } else if (!SameElements(group.before, group.after)) {
        result_.modified.Insert(path_);
      }
      path_.pop_back();
    }
  }

  Comparison& result_;
  Path path_;
};

}  // namespace

Comparison Compare(const Type& type, const JsonTree& before, const JsonTree& after) {
  Comparison result;
  Comparer(result).Visit(type, &before, &after);
  return result;
}

}  // namespace kubexx::apiserver::managedfields
