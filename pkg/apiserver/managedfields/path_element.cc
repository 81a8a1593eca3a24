#include "kubexx/apiserver/managedfields/path_element.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;

/// Numbers come before strings, these before booleans, and these before lists, maps and null.
int RankOf(const JsonTree& value) {
  switch (value.type()) {
    case JsonTree::Type::kNumber:
      return 0;
    case JsonTree::Type::kString:
      return 1;
    case JsonTree::Type::kBool:
      return 2;
    case JsonTree::Type::kArray:
      return 3;
    case JsonTree::Type::kObject:
      return 4;
    case JsonTree::Type::kNull:
      break;
  }
  return 5;
}

std::weak_ordering CompareNumbers(const JsonTree& a, const JsonTree& b) {
  if (a.AsInt() && b.AsInt()) {
    return *a.AsInt() <=> *b.AsInt();
  }
  const double x = a.AsDouble().value_or(0);
  const double y = b.AsDouble().value_or(0);
  return x < y ? std::weak_ordering::less
               : (y < x ? std::weak_ordering::greater : std::weak_ordering::equivalent);
}

std::weak_ordering CompareValues(const JsonTree& a, const JsonTree& b) {
  if (RankOf(a) != RankOf(b)) {
    return RankOf(a) <=> RankOf(b);
  }
  if (a.type() == JsonTree::Type::kNumber) {
    return CompareNumbers(a, b);
  }
  if (a.AsString() != nullptr) {
    return *a.AsString() <=> *b.AsString();
  }
  if (a.AsBool()) {
    return *a.AsBool() <=> *b.AsBool();
  }
  return a.IsNull() ? std::weak_ordering::equivalent : a.ToJson() <=> b.ToJson();
}

/// The members of both objects are in ascending order.
std::weak_ordering CompareKeys(const JsonTree& a, const JsonTree& b) {
  const auto left = a.members();
  const auto right = b.members();
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const auto order = left[i].key <=> right[i].key; order != 0) {
      return order;
    }
    if (const auto order = CompareValues(left[i].value, right[i].value); order != 0) {
      return order;
    }
  }
  return left.size() <=> right.size();
}

}  // namespace

PathElement PathElement::Field(std::string_view name) {
  return {Kind::kField, std::string(name), JsonTree()};
}

PathElement PathElement::Key(const JsonTree& members) {
  std::vector<JsonTree::Member> sorted(members.members().begin(), members.members().end());
  std::ranges::sort(sorted, {}, &JsonTree::Member::key);
  JsonTree value = JsonTree::Object(std::move(sorted));
  std::string text = value.ToJson();
  return {Kind::kKey, std::move(text), std::move(value)};
}

PathElement PathElement::Value(JsonTree value) {
  std::string text = value.ToJson();
  return {Kind::kValue, std::move(text), std::move(value)};
}

PathElement PathElement::Index(std::int64_t index) {
  return {Kind::kIndex, std::to_string(index), JsonTree(index)};
}

std::optional<PathElement> PathElement::Parse(std::string_view text) {
  if (text.size() < 2 || text[1] != ':') {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(2);
  if (text[0] == 'f') {
    return Field(rest);
  }
  if (text[0] == 'i') {
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    return error == std::errc() && end == rest.data() + rest.size() ? std::optional(Index(index))
                                                                    : std::nullopt;
  }
  if (text[0] != 'k' && text[0] != 'v') {
    return std::nullopt;
  }
  auto value = JsonTree::Parse(rest);
  if (!value || (text[0] == 'k' && !value->IsObject())) {
    return std::nullopt;
  }
  return text[0] == 'k' ? Key(*value) : Value(std::move(*value));
}

std::string PathElement::Serialized() const {
  constexpr std::string_view kLetters = "fkvi";
  return std::string(1, kLetters[static_cast<std::size_t>(kind_)]) + ":" + text_;
}

std::string PathElement::ToString() const {
  switch (kind_) {
    case Kind::kField:
      return "." + text_;
    case Kind::kValue:
      return "[=" + text_ + "]";
    case Kind::kIndex:
      return "[" + text_ + "]";
    case Kind::kKey:
      break;
  }
  std::string list;
  for (const JsonTree::Member& member : value_.members()) {
    list += (list.empty() ? "" : ",") + member.key + "=" + member.value.ToJson();
  }
  return "[" + list + "]";
}

std::weak_ordering PathElement::operator<=>(const PathElement& other) const {
  if (kind_ != other.kind_) {
    return kind_ <=> other.kind_;
  }
  switch (kind_) {
    case Kind::kField:
      return text_ <=> other.text_;
    case Kind::kKey:
      return CompareKeys(value_, other.value_);
    case Kind::kValue:
    case Kind::kIndex:
      break;
  }
  return CompareValues(value_, other.value_);
}

std::string ToString(const Path& path) {
  std::string text;
  for (const PathElement& element : path) {
    text += element.ToString();
  }
  return text;
}

}  // namespace kubexx::apiserver::managedfields
