#include "kubexx/reloader/kinds/object_field.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::size_t kMaxSteps = 20;
constexpr std::size_t kMaxFieldText = 300;
bool IsPlainName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '$';
  });
}

/// What may stand between brackets: the names of annotations and labels, and values of lists' keys.
/// Quotes and "*" are of other languages for paths, and would never match here.
bool IsShownText(std::string_view text) {
  return !text.empty() && text != "*" && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c <= '~' && std::string_view("[\"'`").find(c) == std::string_view::npos;
  });
}

/// Whether it can only be meant as the place of an element in its list, which is no name.
bool IsIndex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

apimachinery::Error NoField(std::string_view text) {
  return Fail(
      Reason::kInvalidConfig,
      "\"" + std::string(text) +
          "\" is not the names of members with dots between them, such as status.revision, "
          "status.conditions[type=Ready].reason or metadata.annotations[example.com/build]; "
          "an element of a list is named by one of its members, not by its place, and there are "
          "no quotes and no [*]");
}

/// Removes "[...]" from the front of `rest`, which begins with '['. std::nullopt when it is wrong.
std::optional<FieldStep> TakeBrackets(std::string_view& rest) {
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view inside = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  const std::size_t equals = inside.find('=');
  if (equals == std::string_view::npos) {
    return IsShownText(inside) && !IsIndex(inside)
               ? std::optional(FieldStep{.member = std::string(inside)})
               : std::nullopt;
  }
  FieldStep step{.key = std::string(inside.substr(0, equals)),
                 .value = std::string(inside.substr(equals + 1))};
  return IsPlainName(step.key) && IsShownText(step.value) ? std::optional(std::move(step))
                                                          : std::nullopt;
}

/// The steps of `text`; std::nullopt when it is wrong.
std::optional<std::vector<FieldStep>> StepsOf(std::string_view text) {
  std::vector<FieldStep> steps;
  while (true) {
    const std::string_view name = text.substr(0, text.find_first_of(".["));
    if (!IsPlainName(name)) {
      return std::nullopt;
    }
    steps.push_back({.member = std::string(name)});
    text.remove_prefix(name.size());
    while (text.starts_with('[')) {
      auto step = TakeBrackets(text);
      if (!step) {
        return std::nullopt;
      }
      steps.push_back(*std::move(step));
    }
    if (steps.size() > kMaxSteps) {
      return std::nullopt;
    }
    if (text.empty()) {
      return steps;
    }
    if (!text.starts_with('.')) {
      return std::nullopt;
    }
    text.remove_prefix(1);
  }
}

/// Whether the value is what is written as `text`: a text, a number, or true or false.
bool IsCalled(const JsonTree* value, std::string_view text) {
  if (value == nullptr || value->IsNull() || value->IsArray() || value->IsObject()) {
    return false;
  }
  const std::string* own = value->AsString();
  return own == nullptr ? value->ToJson() == text : *own == text;
}

/// Whether each write of the object changes the field.
bool IsOfEachWrite(const std::vector<FieldStep>& steps) {
  return steps[0].member == "metadata" &&
         (steps.size() == 1 || steps[1].member == "resourceVersion" ||
          steps[1].member == "managedFields");
}

const JsonTree* ElementOf(const JsonTree& list, const FieldStep& step) {
  const auto found = std::ranges::find_if(list.elements(), [&](const JsonTree& element) {
    return IsCalled(element.Find(step.key), step.value);
  });
  return found == list.elements().end() ? nullptr : &*found;
}

bool SaysNothing(const JsonTree& value) {
  const std::string* text = value.AsString();
  return value.IsNull() || (text != nullptr && text->empty()) ||
         ((value.IsArray() || value.IsObject()) && value.size() == 0);
}

/// Sorts the members of all objects in it.
void SortMembers(JsonTree& value) {
  std::ranges::sort(value.members(), {}, &JsonTree::Member::key);
  for (JsonTree::Member& member : value.members()) {
    SortMembers(member.value);
  }
  for (JsonTree& element : value.elements()) {
    SortMembers(element);
  }
}

}  // namespace

Result<ObjectField> ObjectField::Parse(std::string_view text) {
  if (text.starts_with('.')) {
    text.remove_prefix(1);  // as kubectl's JSONPath begins
  }
  auto steps = text.size() > kMaxFieldText ? std::nullopt : StepsOf(text);
  if (!steps) {
    return NoField(text.substr(0, kMaxFieldText));
  }
  if (IsOfEachWrite(*steps)) {
    return Fail(Reason::kInvalidConfig,
                "\"" + std::string(text) + "\" changes with each write of the object");
  }
  return ObjectField{std::string(text), *std::move(steps)};
}

const JsonTree* FieldValueOf(const ObjectField& field, const JsonTree& object) {
  const JsonTree* value = &object;
  for (const FieldStep& step : field.steps) {
    value = step.member.empty() ? ElementOf(*value, step) : value->Find(step.member);
    if (value == nullptr) {
      return nullptr;
    }
  }
  return SaysNothing(*value) ? nullptr : value;
}

std::string CanonicalText(const JsonTree& value) {
  if (!value.IsArray() && !value.IsObject()) {
    return value.ToJson();
  }
  JsonTree sorted = value;
  SortMembers(sorted);
  return sorted.ToJson();
}

}  // namespace kubexx::reloader
