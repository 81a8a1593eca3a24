#include "kubexx/apiserver/endpoints/checks/same_value.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using codec::JsonTree;

/// The kind of a member, which follows from its name in the types whose parts are compared.
enum class MemberKind : std::uint8_t { kPlain, kQuantity, kQuantities, kTexts };

struct NamedKind {
  std::string_view name;
  MemberKind kind;
};

constexpr NamedKind kNamed[] = {
    {"sizeLimit", MemberKind::kQuantity},
    {"divisor", MemberKind::kQuantity},
    {"averageValue", MemberKind::kQuantity},
    {"tolerance", MemberKind::kQuantity},
    {"requests", MemberKind::kQuantities},
    {"limits", MemberKind::kQuantities},
    {"capacity", MemberKind::kQuantities},
    {"overhead", MemberKind::kQuantities},
    {"hard", MemberKind::kQuantities},
    {"podFixed", MemberKind::kQuantities},
    {"max", MemberKind::kQuantities},
    {"min", MemberKind::kQuantities},
    {"default", MemberKind::kQuantities},
    {"defaultRequest", MemberKind::kQuantities},
    {"maxLimitRequestRatio", MemberKind::kQuantities},
    // These are maps whose keys may be anything.
    {"labels", MemberKind::kTexts},
    {"annotations", MemberKind::kTexts},
    {"matchLabels", MemberKind::kTexts},
    {"nodeSelector", MemberKind::kTexts},
    {"parameters", MemberKind::kTexts},
    {"data", MemberKind::kTexts},
    {"options", MemberKind::kTexts},
    {"volumeAttributes", MemberKind::kTexts},
};

MemberKind MemberKindOf(std::string_view name) {
  const auto* const found = std::ranges::find(kNamed, name, &NamedKind::name);
  return found == std::end(kNamed) ? MemberKind::kPlain : found->kind;
}

bool IsNothing(const JsonTree* value) {
  return value == nullptr || value->IsNull() || (value->IsArray() && value->size() == 0);
}

bool SameQuantity(const JsonTree& a, const JsonTree& b) {
  const std::string* const text = a.AsString();
  const std::string* const other = b.AsString();
  return text == nullptr || other == nullptr
             ? a == b
             : Quantity::Compare(Quantity::FromCanonical(*text), Quantity::FromCanonical(*other)) ==
                   std::strong_ordering::equal;
}

bool SameDeep(const JsonTree& a, const JsonTree& b, MemberKind kind);

bool SameMembers(const JsonTree& a, const JsonTree& b, MemberKind kind) {
  const codec::MemberIndex in_b(&b);
  std::size_t here = 0;
  for (const JsonTree::Member& one : a.members()) {
    if (IsNothing(&one.value)) {
      continue;
    }
    const JsonTree* const other = in_b.Find(one.key);
    const bool of_quantities = kind == MemberKind::kQuantities;
    if (IsNothing(other) || !(of_quantities ? SameQuantity(one.value, *other)
                                            : SameDeep(one.value, *other, MemberKindOf(one.key)))) {
      return false;
    }
    ++here;
  }
  const auto there = std::ranges::count_if(
      b.members(), [](const JsonTree::Member& one) { return !IsNothing(&one.value); });
  return static_cast<std::size_t>(there) == here;
}

bool SameDeep(const JsonTree& a, const JsonTree& b, MemberKind kind) {
  if (kind == MemberKind::kQuantity) {
    return SameQuantity(a, b);
  }
  if (a.IsArray() && b.IsArray()) {
    return std::ranges::equal(a.elements(), b.elements(),
                              [](const JsonTree& one, const JsonTree& other) {
                                return SameDeep(one, other, MemberKind::kPlain);
                              });
  }
  return a.IsObject() && b.IsObject() && kind != MemberKind::kTexts ? SameMembers(a, b, kind)
                                                                    : a == b;
}

}  // namespace

bool SameValue(const JsonTree& a, const JsonTree& b) {
  return a == b || SameDeep(a, b, MemberKind::kPlain);
}

bool SameMember(const JsonTree* a, const JsonTree* b) {
  const auto is_missing = [](const JsonTree* value) { return value == nullptr || value->IsNull(); };
  return is_missing(a) || is_missing(b) ? is_missing(a) == is_missing(b) : SameValue(*a, *b);
}

bool SameSpecValue(const JsonTree& a, const JsonTree& b) {
  const auto is_compared = [](const JsonTree::Member& one) {
    return one.key != "metadata" && one.key != "status" && !IsNothing(&one.value);
  };
  const codec::MemberIndex in_b(&b);
  const auto same = [&](const JsonTree::Member& one) {
    const JsonTree* const other = in_b.Find(one.key);
    return !is_compared(one) ||
           (!IsNothing(other) &&
            (one.value == *other || SameDeep(one.value, *other, MemberKindOf(one.key))));
  };
  return std::ranges::all_of(a.members(), same) &&
         std::ranges::count_if(a.members(), is_compared) ==
             std::ranges::count_if(b.members(), is_compared);
}

}  // namespace kubexx::apiserver
