#include "kubexx/apiserver/managedfields/field_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Calls `both` for each step of either set, in ascending order. A set that does not have the step
/// gets null.
void Zip(const std::vector<FieldSet::Node>& a, const std::vector<FieldSet::Node>& b,
         base::FunctionRef<void(const FieldSet::Node*, const FieldSet::Node*)> both) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size()) {
      both(&a[i++], nullptr);
      continue;
    }
    if (i == a.size()) {
      both(nullptr, &b[j++]);
      continue;
    }
    const auto order = a[i].element <=> b[j].element;
    if (order < 0) {
      both(&a[i++], nullptr);
    } else if (order > 0) {
      both(nullptr, &b[j++]);
    } else {
      both(&a[i++], &b[j++]);
    }
  }
}

void AppendUnlessEmpty(FieldSet& set, FieldSet::Node node) {
  if (node.member || !node.below.empty()) {
    set.Append(std::move(node));
  }
}

}  // namespace

FieldSet::FieldSet() = default;
FieldSet::FieldSet(const FieldSet& other) = default;
FieldSet::FieldSet(FieldSet&& other) noexcept = default;
FieldSet& FieldSet::operator=(const FieldSet& other) = default;
FieldSet& FieldSet::operator=(FieldSet&& other) noexcept = default;
FieldSet::~FieldSet() = default;

Result<FieldSet> FieldSet::FromJson(const JsonTree& fields) {
  std::vector<Node> nodes;
  if (!fields.IsObject() && !fields.IsNull()) {
    return Fail(Reason::kMalformed, "the fields of a manager are no object");
  }
  for (const JsonTree::Member& member : fields.members()) {
    const std::string_view key = member.key;
    if (key == "." || (key.size() >= 2 && key[1] == ':' &&
                       std::string_view("fkvi").find(key[0]) == std::string_view::npos)) {
      continue;
    }
    const std::optional<PathElement> element = PathElement::Parse(key);
    if (!element) {
      return Fail(Reason::kMalformed, "\"" + member.key + "\" is no step of a path to a field");
    }
    KX_ASSIGN_OR_RETURN(FieldSet below, FromJson(member.value));
    // When nothing is below, the path ends here, with or without a dot.
    const bool ends = below.empty() || member.value.Find(".") != nullptr;
    nodes.push_back({.element = *element, .member = ends, .below = std::move(below)});
  }
  return FromNodes(std::move(nodes));
}

FieldSet FieldSet::FromNodes(std::vector<Node> nodes) {
  const auto comes_first = [](const Node& a, const Node& b) {
    return (a.element <=> b.element) < 0;
  };
  if (!std::ranges::is_sorted(nodes, comes_first)) {
    std::ranges::stable_sort(nodes, comes_first);
  }
  FieldSet set;
  for (std::size_t i = 0; i < nodes.size();) {
    Node node = std::move(nodes[i]);
    std::vector<FieldSet> others;
    for (++i; i < nodes.size() && nodes[i].element == node.element; ++i) {
      node.member = node.member || nodes[i].member;
      others.push_back(std::move(nodes[i].below));
    }
    if (!others.empty()) {
      others.push_back(std::move(node.below));
      node.below = UnionOf(std::move(others));
    }
    set.nodes_.push_back(std::move(node));
  }
  return set;
}

JsonTree FieldSet::ToJson() const {
  std::vector<JsonTree::Member> members;
  members.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    JsonTree below = node.below.ToJson();
    if (node.member && !node.below.empty()) {
      std::vector<JsonTree::Member> with_dot;
      with_dot.push_back({".", JsonTree::Object()});
      std::ranges::move(below.members(), std::back_inserter(with_dot));
      below = JsonTree::Object(std::move(with_dot));
    }
    members.push_back({node.element.Serialized(), std::move(below)});
  }
  return JsonTree::Object(std::move(members));
}

std::size_t FieldSet::size() const {
  std::size_t sum = 0;
  for (const Node& node : nodes_) {
    sum += (node.member ? 1 : 0) + node.below.size();
  }
  return sum;
}

const FieldSet::Node* FieldSet::Find(const PathElement& element) const {
  const auto found = std::ranges::lower_bound(nodes_, element, {}, &Node::element);
  return found != nodes_.end() && found->element == element ? &*found : nullptr;
}

FieldSet::Node& FieldSet::NodeAt(const PathElement& element) {
  const auto found = std::ranges::lower_bound(nodes_, element, {}, &Node::element);
  if (found != nodes_.end() && found->element == element) {
    return *found;
  }
  return *nodes_.insert(found, Node{.element = element});
}

bool FieldSet::Has(const Path& path) const {
  const FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node* const node = set->Find(path[i]);
    if (node == nullptr) {
      return false;
    }
    if (i + 1 == path.size()) {
      return node->member;
    }
    set = &node->below;
  }
  return false;
}

void FieldSet::Insert(const Path& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    Node& node = set->NodeAt(path[i]);
    node.member = node.member || i + 1 == path.size();
    set = &node.below;
  }
}

const FieldSet& FieldSet::Below(const PathElement& element) const {
  static const FieldSet kEmpty;
  const Node* const node = Find(element);
  return node == nullptr ? kEmpty : node->below;
}

bool FieldSet::HasMember(const PathElement& element) const {
  const Node* const node = Find(element);
  return node != nullptr && node->member;
}

void FieldSet::Append(Node node) { nodes_.push_back(std::move(node)); }

FieldSet::Node* FieldSet::Find(const PathElement& element) {
  const auto found = std::ranges::lower_bound(nodes_, element, {}, &Node::element);
  return found != nodes_.end() && found->element == element ? &*found : nullptr;
}

void FieldSet::EraseEmpty() {
  std::erase_if(nodes_, [](const Node& node) { return !node.member && node.below.empty(); });
}

void FieldSet::Subtract(const FieldSet& other) {
  const auto subtract = [](Node& own, const Node& theirs) {
    own.member = own.member && !theirs.member;
    own.below.Subtract(theirs.below);
  };
  // Each step of the smaller set is looked up in the larger one: a large set may have to be
  // subtracted from thousands of small ones.
  if (nodes_.size() <= other.nodes_.size()) {
    for (Node& own : nodes_) {
      if (const Node* const theirs = other.Find(own.element)) {
        subtract(own, *theirs);
      }
    }
  } else {
    for (const Node& theirs : other.nodes_) {
      if (Node* const own = Find(theirs.element)) {
        subtract(*own, theirs);
      }
    }
  }
  EraseEmpty();
}

void FieldSet::SubtractRecursively(const FieldSet& other) {
  for (const Node& theirs : other.nodes_) {
    Node* const own = Find(theirs.element);
    if (own != nullptr && theirs.member) {
      own->member = false;
      own->below = FieldSet();
    } else if (own != nullptr) {
      own->below.SubtractRecursively(theirs.below);
    }
  }
  EraseEmpty();
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  if (empty() || other.empty()) {
    return empty() ? other : *this;
  }
  FieldSet result;
  Zip(nodes_, other.nodes_, [&result](const Node* a, const Node* b) {
    if (a == nullptr || b == nullptr) {
      result.Append(a == nullptr ? *b : *a);
      return;
    }
    result.Append({a->element, a->member || b->member, a->below.Union(b->below)});
  });
  return result;
}

FieldSet FieldSet::UnionOf(std::vector<FieldSet> sets) {
  while (sets.size() > 1) {
    const std::size_t half = (sets.size() + 1) / 2;
    for (std::size_t i = 0; half + i < sets.size(); ++i) {
      sets[i] = sets[i].Union(sets[half + i]);
    }
    sets.resize(half);
  }
  return sets.empty() ? FieldSet() : std::move(sets.front());
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  const bool is_smaller = nodes_.size() <= other.nodes_.size();
  const FieldSet& smaller = is_smaller ? *this : other;
  const FieldSet& larger = is_smaller ? other : *this;
  FieldSet result;
  for (const Node& a : smaller.nodes_) {
    if (const Node* const b = larger.Find(a.element)) {
      AppendUnlessEmpty(result, {a.element, a.member && b->member, a.below.Intersection(b->below)});
    }
  }
  return result;
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  FieldSet result;
  Zip(nodes_, other.nodes_, [&result](const Node* a, const Node* b) {
    if (a != nullptr) {
      AppendUnlessEmpty(result, b == nullptr ? *a
                                             : Node{a->element, a->member && !b->member,
                                                    a->below.Difference(b->below)});
    }
  });
  return result;
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  FieldSet result;
  Zip(nodes_, other.nodes_, [&result](const Node* a, const Node* b) {
    if (a != nullptr && (b == nullptr || !b->member)) {
      AppendUnlessEmpty(
          result,
          b == nullptr ? *a : Node{a->element, a->member, a->below.RecursiveDifference(b->below)});
    }
  });
  return result;
}

void FieldSet::ForEach(base::FunctionRef<void(const Path&)> each) const {
  Path path;
  ForEachBelow(path, each);
}

void FieldSet::ForEachBelow(Path& path, base::FunctionRef<void(const Path&)> each) const {
  for (const Node& node : nodes_) {
    if (node.member) {
      path.push_back(node.element);
      each(path);
      path.pop_back();
    }
  }
  for (const Node& node : nodes_) {
    if (!node.below.empty()) {
      path.push_back(node.element);
      node.below.ForEachBelow(path, each);
      path.pop_back();
    }
  }
}

bool FieldSet::operator==(const FieldSet& other) const { return nodes_ == other.nodes_; }

}  // namespace kubexx::apiserver::managedfields
