#include "kubexx/apiserver/schema/internal/values.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::schema::internal {
namespace {

using codec::JsonTree;

constexpr std::size_t kStepsOfText = 10;

bool SameElements(const JsonTree& a, const JsonTree& b, Budget& budget) {
  return std::ranges::equal(
      a.elements(), b.elements(),
      [&budget](const JsonTree& x, const JsonTree& y) { return Same(x, y, budget); });
}

bool SameMembers(const JsonTree& a, const JsonTree& b, Budget& budget) {
  // Most objects that are compared have the same order of members.
  std::optional<codec::MemberIndex> index;
  const std::span<const JsonTree::Member> others = b.members();
  for (std::size_t i = 0; i < others.size(); ++i) {
    const JsonTree::Member& member = a.members()[i];
    const JsonTree* other = &others[i].value;
    budget.Spend(member.key.size() / kBytesPerStep);
    if (others[i].key != member.key) {
      if (!index) {
        budget.Spend(b.size());
        index.emplace(&b);
      }
      other = index->Find(member.key);
    }
    if (other == nullptr || !Same(member.value, *other, budget)) {
      return false;
    }
  }
  return true;
}

/// Appends the value with sorted members, so that equal values have equal text.
void AppendSorted(const JsonTree& value, std::string& out) {
  if (value.IsObject()) {
    std::vector<const JsonTree::Member*> members;
    for (const JsonTree::Member& member : value.members()) {
      members.push_back(&member);
    }
    std::ranges::sort(members, {}, &JsonTree::Member::key);
    out += '{';
    for (const JsonTree::Member* const member : members) {
      JsonTree(member->key).AppendJson(out);
      AppendSorted(member->value, out);
    }
    out += '}';
  } else if (value.IsArray()) {
    out += '[';
    for (const JsonTree& element : value.elements()) {
      AppendSorted(element, out);
      out += ',';
    }
    out += ']';
  } else if (const auto number = value.AsDouble(); number && !value.AsInt()) {
    out += JsonTree(*number).ToJson();
  } else {
    value.AppendJson(out);
  }
}

}  // namespace

bool Same(const JsonTree& a, const JsonTree& b, Budget& budget) {
  budget.Spend(1);
  if (budget.ended() || a.type() != b.type() || a.size() != b.size()) {
    return false;
  }
  if (a.IsArray()) {
    return SameElements(a, b, budget);
  }
  if (a.IsObject()) {
    return SameMembers(a, b, budget);
  }
  if (const std::string* const text = a.AsString()) {
    budget.Spend(text->size() / kBytesPerStep);
  }
  return a == b;
}

std::string SortedText(const JsonTree& value, Budget& budget) {
  std::string text;
  AppendSorted(value, text);
  // A value may have two bytes, a digit and a comma, and its text is put into a set.
  budget.Spend(kStepsOfText + text.size() / 2);
  return text;
}

JsonTree KeysOf(const Schema& list, const JsonTree& element) {
  const codec::MemberIndex given(&element);
  std::vector<JsonTree::Member> keys;
  for (const std::string& name : list.list_keys) {
    if (const JsonTree* const found = given.Find(name)) {
      keys.push_back({.key = name, .value = *found});
    }
  }
  return JsonTree::Object(std::move(keys));
}

std::string KeyText(const Schema& list, const JsonTree& element, Budget& budget) {
  budget.Spend(list.list_keys.size() + element.size());
  return SortedText(KeysOf(list, element), budget);
}

}  // namespace kubexx::apiserver::schema::internal
