#include "kubexx/kubernetes/internal/list_steps.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kubexx::kubernetes::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using codec::JsonTree;

void AppendSized(std::string_view text, std::string& out) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

// Appends a text that two values share exactly when they are equal as JSON values.
void AppendCanonical(const JsonTree& value, std::string& out) {
  switch (value.type()) {
    case JsonTree::Type::kNull:
      out += 'n';
      return;
    case JsonTree::Type::kBool:
      out += *value.AsBool() ? 't' : 'f';
      return;
    case JsonTree::Type::kNumber:
      if (const auto integer = value.AsInt()) {
        out += 'i' + std::to_string(*integer) + ';';
      } else if (const auto number = value.AsDouble()) {
        out += 'd' + std::to_string(std::bit_cast<std::uint64_t>(*number)) + ';';
      } else {
        out += "d;";
      }
      return;
    case JsonTree::Type::kString:
      out += 's';
      AppendSized(*value.AsString(), out);
      return;
    case JsonTree::Type::kArray:
      out += '[';
      for (const JsonTree& element : value.elements()) {
        AppendCanonical(element, out);
      }
      out += ']';
      return;
    case JsonTree::Type::kObject: {
      std::vector<const JsonTree::Member*> members;
      for (const JsonTree::Member& member : value.members()) {
        members.push_back(&member);
      }
      std::ranges::sort(members, {}, &JsonTree::Member::key);
      out += '{';
      for (const JsonTree::Member* member : members) {
        AppendSized(member->key, out);
        AppendCanonical(member->value, out);
      }
      out += '}';
      return;
    }
  }
}

std::string Canonical(const JsonTree& value) {
  std::string out;
  AppendCanonical(value, out);
  return out;
}

}  // namespace

Result<ListSteps> ListSteps::Of(const JsonTree& fields) {
  ListSteps steps(fields);
  for (const JsonTree::Member& step : fields.members()) {
    KX_RETURN_IF_ERROR(steps.Add(step));
  }
  return steps;
}

Result<void> ListSteps::Add(const JsonTree::Member& step) {
  const bool keyed = step.key.starts_with("k:");
  if (!keyed && !step.key.starts_with("v:")) {
    return {};
  }
  auto operand = JsonTree::Parse(std::string_view(step.key).substr(2));
  if (!operand || (keyed && !operand->IsObject())) {
    return Fail(Malformed("metadata.managedFields", "\"" + step.key + "\" is not a path element"));
  }
  if (!keyed) {
    values_.insert(Canonical(*operand));
    return {};
  }
  std::vector<std::string> names;
  for (const JsonTree::Member& key : operand->members()) {
    names.push_back(key.key);
  }
  std::ranges::sort(names);
  const codec::MemberIndex keys(&*operand);
  std::string values;
  for (const std::string& name : names) {
    AppendCanonical(*keys.Find(name), values);
  }
  keyed_[std::move(names)].try_emplace(std::move(values),
                                       Keyed{.keys = *std::move(operand), .below = &step.value});
  if (keyed_.size() > kMaxKeySets) {
    return Fail(Malformed("metadata.managedFields", "the steps of a list have more than " +
                                                        std::to_string(kMaxKeySets) +
                                                        " different sets of keys"));
  }
  return {};
}

std::vector<ListSteps::Found> ListSteps::Find(const JsonTree& element, std::size_t index) const {
  std::vector<Found> found;
  const codec::MemberIndex members(&element);
  for (const auto& [names, by_values] : keyed_) {
    std::string values;
    const bool has_all = std::ranges::all_of(names, [&](const std::string& name) {
      const JsonTree* const value = members.Find(name);
      if (value != nullptr) {
        AppendCanonical(*value, values);
      }
      return value != nullptr;
    });
    const auto step = has_all ? by_values.find(values) : by_values.end();
    if (step != by_values.end()) {
      found.push_back({.keys = &step->second.keys, .below = step->second.below});
      break;
    }
  }
  if (!values_.empty() && values_.contains(Canonical(element))) {
    found.push_back({});
  }
  if (const JsonTree* const below = steps_.Find("i:" + std::to_string(index))) {
    found.push_back({.below = below});
  }
  return found;
}

}  // namespace kubexx::kubernetes::internal
