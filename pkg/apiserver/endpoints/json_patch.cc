#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/patch.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

// As kube-apiserver: a small patch must not take much time, nor become a large object by copying
// what it has copied.
constexpr std::size_t kMaxOperations = 10000;
constexpr std::size_t kMaxCopiedBytes = 3 << 20;
/// Elements of arrays that a patch may move: a fifth of a second.
constexpr std::size_t kMaxMovedElements = 10'000'000;
/// What JsonTree::Parse reads: an object that is stored must not nest deeper.
constexpr std::size_t kMaxDepth = 512;

std::size_t DepthOf(const JsonTree& value) {
  std::size_t depth = 0;
  for (const JsonTree& element : value.elements()) {
    depth = std::max(depth, DepthOf(element));
  }
  for (const JsonTree::Member& member : value.members()) {
    depth = std::max(depth, DepthOf(member.value));
  }
  return depth + 1;
}

/// The steps of a JSON pointer, unescaped.
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
      // "~0" is "~" itself; "~01" stays "~1".
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

std::optional<std::size_t> IndexOf(const JsonTree& array, std::string_view step, bool may_append) {
  if (may_append && step == "-") {
    return array.size();
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const std::size_t limit = array.size() + (may_append ? 1 : 0);
  if (error != std::errc() || end != step.data() + step.size() || index >= limit) {
    return std::nullopt;
  }
  return index;
}

JsonTree* Parent(JsonTree& object, const std::vector<std::string>& steps) {
  std::vector<std::string_view> views(steps.begin(), steps.end() - 1);
  return object.At(std::span<const std::string_view>(views));
}

/// What a patch has cost so far: elements of arrays that had to move.
class Budget {
 public:
  bool Take(std::size_t elements) {
    moved_ += elements;
    return moved_ <= kMaxMovedElements;
  }
  bool exceeded() const { return moved_ > kMaxMovedElements; }

 private:
  std::size_t moved_ = 0;
};

bool Remove(JsonTree& object, const std::vector<std::string>& steps, Budget& budget) {
  JsonTree* const parent = steps.empty() ? nullptr : Parent(object, steps);
  if (parent == nullptr) {
    return false;
  }
  if (!parent->IsArray()) {
    return parent->Erase(steps.back());
  }
  const auto index = IndexOf(*parent, steps.back(), false);
  if (!index || !budget.Take(parent->size())) {
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
           Budget& budget) {
  if (steps.size() + DepthOf(value) > kMaxDepth) {
    return false;
  }
  if (steps.empty()) {
    object = std::move(value);
    return true;
  }
  JsonTree* const parent = Parent(object, steps);
  if (parent == nullptr || (!parent->IsArray() && !parent->IsObject())) {
    return false;
  }
  if (parent->IsObject()) {
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

const JsonTree* Get(const JsonTree& object, const std::vector<std::string>& steps) {
  const std::vector<std::string_view> views(steps.begin(), steps.end());
  return object.At(std::span<const std::string_view>(views));
}

std::string TextOf(const JsonTree& operation, std::string_view member) {
  const JsonTree* const found = operation.Find(member);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? std::string() : *text;
}

bool Apply(JsonTree& object, std::string_view op, const std::vector<std::string>& steps,
           const std::vector<std::string>& from, const JsonTree& value, Budget& budget) {
  if (op == "add") {
    return AddAt(object, steps, value, budget);
  }
  if (op == "remove") {
    return Remove(object, steps, budget);
  }
  if (op == "replace") {
    // As kube-apiserver: a member need not be there.
    const JsonTree* const parent = steps.empty() ? nullptr : Parent(object, steps);
    if (parent != nullptr && parent->IsObject()) {
      return AddAt(object, steps, value, budget);
    }
    if (Get(object, steps) == nullptr || steps.size() + DepthOf(value) > kMaxDepth) {
      return false;
    }
    const std::vector<std::string_view> views(steps.begin(), steps.end());
    *object.At(std::span<const std::string_view>(views)) = value;
    return true;
  }
  const JsonTree* const source = Get(object, op == "test" ? steps : from);
  if (op == "test") {
    return source == nullptr ? value.IsNull() : *source == value;
  }
  if (source == nullptr || (op != "copy" && op != "move")) {
    return false;
  }
  JsonTree moved = *source;
  return (op == "copy" || Remove(object, from, budget)) &&
         AddAt(object, steps, std::move(moved), budget);
}

}  // namespace

Result<JsonTree> ApplyJsonPatch(JsonTree object, const JsonTree& patch) {
  if (!patch.IsArray()) {
    return Fail(Reason::kBadRequest, "a JSON patch is an array of operations");
  }
  if (patch.size() > kMaxOperations) {
    return Fail(Reason::kRequestEntityTooLarge,
                "a JSON patch has at most " + std::to_string(kMaxOperations) + " operations", 413);
  }
  std::size_t copied = 0;
  Budget budget;
  for (const JsonTree& operation : patch.elements()) {
    const std::string op = TextOf(operation, "op");
    const std::string path = TextOf(operation, "path");
    const auto steps = Steps(path);
    const auto from = Steps(TextOf(operation, "from"));
    const JsonTree* const source = op == "copy" && from ? Get(object, *from) : nullptr;
    copied += source == nullptr ? 0 : source->ToJson().size();
    if (copied > kMaxCopiedBytes) {
      return Fail(Reason::kRequestEntityTooLarge, "the JSON patch copies too much", 413);
    }
    const JsonTree* const value = operation.Find("value");
    if (!steps || !from ||
        !Apply(object, op, *steps, *from, value == nullptr ? JsonTree() : *value, budget)) {
      if (budget.exceeded()) {
        return Fail(Reason::kRequestEntityTooLarge, "the JSON patch moves too many elements", 413);
      }
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
  for (const JsonTree::Member& member : patch.members()) {
    if (member.value.IsNull()) {
      object.Erase(member.key);
    } else {
      JsonTree& slot = object[member.key];
      slot = ApplyMergePatch(std::move(slot), member.value);
    }
  }
  return object;
}

}  // namespace kubexx::apiserver
