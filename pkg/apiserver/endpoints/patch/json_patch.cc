#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/patch/merge_members.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/patch/patch_budget.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

// The limits are those of kube-apiserver: a small patch must neither take long nor make the object
// large by copying repeatedly what it has copied.
constexpr std::size_t kMaxOperations = 10000;
constexpr std::size_t kMaxCopiedBytes = 3 << 20;
/// JsonTree::Parse reads objects up to this depth, so a stored object must not nest deeper.
constexpr std::size_t kMaxDepth = 512;

std::size_t DepthOf(const JsonTree& value, PatchBudget& budget) {
  std::size_t depth = 0;
  if (!budget.Take(value.size())) {
    return kMaxDepth;
  }
  for (const JsonTree& element : value.elements()) {
    depth = std::max(depth, DepthOf(element, budget));
  }
  for (const JsonTree::Member& member : value.members()) {
    depth = std::max(depth, DepthOf(member.value, budget));
  }
  return depth + 1;
}

/// Returns the unescaped steps of a JSON pointer.
std::optional<std::vector<std::string>> Steps(std::string_view pointer) {
  std::vector<std::string> steps;
  if (!pointer.empty() && pointer.front() != '/') {
    return std::nullopt;
  }
  for (const char c : pointer) {
    if (c == '/') {
      steps.emplace_back();
    } else if (c == '1' && steps.back().ends_with('~')) {
      steps.back().back() = '/';
    } else if (c == '0' && steps.back().ends_with('~')) {
      // "~0" stands for "~" itself, so "~01" stands for "~1".
      steps.back() += '\0';
    } else {
      if (steps.back().ends_with('\0')) {
        steps.back().pop_back();
      }
      steps.back() += c;
    }
  }
  for (std::string& step : steps) {
    if (step.ends_with('\0')) {
      step.pop_back();
    }
  }
  return steps;
}

apimachinery::Status CannotApply(std::string_view op, std::string_view path) {
  return {Reason::kInvalid,
          "the server rejected our request due to an error in our request: the operation \"" +
              std::string(op) + "\" does not apply at \"" + std::string(path) + "\"",
          422};
}

/// Returns the place in the list that a step names. As in kube-apiserver, negative numbers count
/// from the end: -1 is the last element or, where one is added, the place behind it.
std::optional<std::size_t> IndexOf(const JsonTree& array, std::string_view step, bool may_append) {
  if (may_append && step == "-") {
    return array.size();
  }
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const auto limit = static_cast<std::int64_t>(array.size()) + (may_append ? 1 : 0);
  if (error != std::errc() || end != step.data() + step.size() || index >= limit ||
      index < -limit) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(index < 0 ? index + limit : index);
}

/// Returns the value to which `steps` lead. Null when there is none, or when the search would be
/// too much work.
JsonTree* Get(JsonTree& object, std::span<const std::string> steps, PatchBudget& budget) {
  JsonTree* at = &object;
  for (const std::string& step : steps) {
    if (!budget.Take(at->IsObject() ? at->size() : 1)) {
      return nullptr;
    }
    if (at->IsArray()) {
      const auto index = IndexOf(*at, step, false);
      at = index ? &at->elements()[*index] : nullptr;
    } else {
      const std::string_view one[] = {step};
      at = at->At(std::span<const std::string_view>(one));
    }
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

/// Returns the object or list that has the member or element of the last step.
JsonTree* Parent(JsonTree& object, const std::vector<std::string>& steps, PatchBudget& budget) {
  return Get(object, std::span(steps).first(steps.size() - 1), budget);
}

bool Remove(JsonTree& object, const std::vector<std::string>& steps, PatchBudget& budget) {
  JsonTree* const parent = steps.empty() ? nullptr : Parent(object, steps, budget);
  if (parent == nullptr || !budget.Take(parent->size())) {
    return false;
  }
  if (!parent->IsArray()) {
    return parent->Erase(steps.back());
  }
  const auto index = IndexOf(*parent, steps.back(), false);
  if (!index) {
    return false;
  }
  std::vector<JsonTree> rest;
  rest.reserve(parent->size());
  for (std::size_t i = 0; i < parent->size(); ++i) {
    if (i != *index) {
      rest.push_back(std::move(parent->elements()[i]));
    }
  }
  *parent = JsonTree::Array(std::move(rest));
  return true;
}

bool AddAt(JsonTree& object, const std::vector<std::string>& steps, JsonTree value,
           PatchBudget& budget) {
  if (steps.size() + DepthOf(value, budget) > kMaxDepth) {
    return false;
  }
  if (steps.empty()) {
    object = std::move(value);
    return true;
  }
  JsonTree* const parent = Parent(object, steps, budget);
  if (parent == nullptr || (!parent->IsArray() && !parent->IsObject())) {
    return false;
  }
  if (parent->IsObject()) {
    if (!budget.Take(parent->size())) {
      return false;
    }
    (*parent)[steps.back()] = std::move(value);
    return true;
  }
  const auto index = IndexOf(*parent, steps.back(), true);
  if (!index || !budget.Take(parent->size() - *index)) {
    return false;
  }
  parent->Append(std::move(value));
  const std::span<JsonTree> elements = parent->elements();
  std::rotate(elements.begin() + static_cast<std::ptrdiff_t>(*index), elements.end() - 1,
              elements.end());
  return true;
}

std::string TextOf(const JsonTree& operation, std::string_view member) {
  const JsonTree* const found = operation.Find(member);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? std::string() : *text;
}

bool Apply(JsonTree& object, std::string_view op, const std::vector<std::string>& steps,
           const std::vector<std::string>& from, const JsonTree& value, PatchBudget& budget) {
  if (op == "add") {
    return AddAt(object, steps, value, budget);
  }
  if (op == "remove") {
    return Remove(object, steps, budget);
  }
  if (op == "replace") {
    // As in kube-apiserver, the member need not exist.
    JsonTree* const parent = steps.empty() ? nullptr : Parent(object, steps, budget);
    if (parent != nullptr && parent->IsObject()) {
      return AddAt(object, steps, value, budget);
    }
    JsonTree* const replaced = Get(object, steps, budget);
    if (replaced == nullptr || steps.size() + DepthOf(value, budget) > kMaxDepth) {
      return false;
    }
    *replaced = value;
    return true;
  }
  JsonTree* const source = Get(object, op == "test" ? steps : from, budget);
  if (op == "test") {
    // Numbers are parsed to be compared, and may have millions of digits.
    if (source != nullptr && !source->IsObject() && !source->IsArray() &&
        !budget.TakeBytes(source->ToJson().size() + value.ToJson().size())) {
      return false;
    }
    return source == nullptr ? !budget.exceeded() && value.IsNull() : *source == value;
  }
  if (op == "copy" && source == nullptr) {
    // As kube-apiserver: null stands for a member that an object does not have.
    const JsonTree* const parent = from.empty() ? nullptr : Parent(object, from, budget);
    return parent != nullptr && parent->IsObject() && !budget.exceeded() &&
           AddAt(object, steps, JsonTree(), budget);
  }
  if (source == nullptr || (op != "copy" && op != "move")) {
    return false;
  }
  if (op == "copy") {
    return AddAt(object, steps, *source, budget);
  }
  JsonTree moved = std::move(*source);
  return Remove(object, from, budget) && AddAt(object, steps, std::move(moved), budget);
}

}  // namespace

Result<JsonTree> ApplyJsonPatch(JsonTree object, const JsonTree& patch, PatchBudget budget) {
  if (patch.IsNull()) {  // Go reads null as no operations.
    return object;
  }
  if (!patch.IsArray()) {
    return Fail(Reason::kBadRequest, "a JSON patch is an array of operations");
  }
  if (patch.size() > kMaxOperations) {
    return Fail(Reason::kRequestEntityTooLarge,
                "a JSON patch has at most " + std::to_string(kMaxOperations) + " operations", 413);
  }
  std::size_t copied = 0;
  for (const JsonTree& operation : patch.elements()) {
    const std::string op = TextOf(operation, "op");
    const std::string path = TextOf(operation, "path");
    const auto steps = Steps(path);
    const auto from = Steps(TextOf(operation, "from"));
    const JsonTree* const source = op == "copy" && from ? Get(object, *from, budget) : nullptr;
    copied += source == nullptr ? 0 : source->ToJson().size();
    if (copied > kMaxCopiedBytes) {
      return Fail(Reason::kRequestEntityTooLarge, "the JSON patch copies too much", 413);
    }
    const JsonTree* const value = operation.Find("value");
    if (!steps || !from ||
        !Apply(object, op, *steps, *from, value == nullptr ? JsonTree() : *value, budget)) {
      KX_RETURN_IF_ERROR(budget.Spend(0));
      return Fail(CannotApply(op, path));
    }
  }
  return object;
}

JsonTree ApplyMergePatch(JsonTree object, const JsonTree& patch) {
  if (!patch.IsObject()) {
    return patch;
  }
  if (!object.IsObject()) {
    object = JsonTree::Object();
  }
  return *MergeMembers(
      std::move(object), patch, [](std::string_view) { return false; },
      [](std::string_view, JsonTree old, const JsonTree& change) -> Result<JsonTree> {
        return ApplyMergePatch(std::move(old), change);
      });
}

}  // namespace kubexx::apiserver
