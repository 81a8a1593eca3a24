#include "kubexx/codec/json_tree.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kubexx/codec/internal/json_number.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;

// Of members with the same key the last counts, as in Go.
void DropDuplicates(std::vector<JsonTree::Member>& members) {
  std::vector<std::size_t> order(members.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(
      order, {}, [&members](std::size_t i) -> const std::string& { return members[i].key; });
  std::vector<bool> dropped(members.size());
  bool any = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (members[order[i - 1]].key == members[order[i]].key) {
      dropped[order[i - 1]] = true;
      any = true;
    }
  }
  if (!any) {
    return;
  }
  std::vector<JsonTree::Member> kept;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!dropped[i]) {
      kept.push_back(std::move(members[i]));
    }
  }
  members = std::move(kept);
}

bool SameMembers(const JsonTree& a, const JsonTree& b) {
  const std::span<const JsonTree::Member> left = a.members();
  const std::span<const JsonTree::Member> right = b.members();
  if (left.size() != right.size()) {
    return false;
  }
  std::size_t same = 0;  // Most objects that are compared have one order.
  while (same < left.size() && left[same].key == right[same].key) {
    if (left[same].value != right[same].value) {
      return false;
    }
    ++same;
  }
  if (same == left.size()) {
    return true;
  }
  const MemberIndex others(&b);
  return std::ranges::all_of(left.subspan(same), [&others](const JsonTree::Member& member) {
    const JsonTree* const other = others.Find(member.key);
    return other != nullptr && member.value == *other;
  });
}

}  // namespace

/// Builds the tree of a text that internal::IsJson has accepted, which bounds the recursion.
class JsonTree::Builder {
 public:
  explicit Builder(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  JsonTree Value() {
    SkipSpace();
    JsonTree out;
    switch (*at_) {
      case '{':
        out.value_ = Members();
        break;
      case '[':
        out.value_ = Elements();
        break;
      case '"':
        out.value_ = String();
        break;
      case 't':
      case 'f':
        out.value_ = *at_ == 't';
        at_ += *at_ == 't' ? 4 : 5;
        break;
      case 'n':
        at_ += 4;
        break;
      default: {
        const char* const from = at_;
        at_ = internal::ScanValue(at_, end_);
        out.value_ = Number{std::string(from, at_)};
      }
    }
    return out;
  }

 private:
  void SkipSpace() { at_ = internal::SkipSpace(at_, end_); }

  std::string String() {
    const char* const from = at_;
    at_ = internal::ScanString(at_, end_);
    std::string out;
    internal::AppendUnquoted({from, static_cast<std::size_t>(at_ - from)}, out);
    return out;
  }

  // Steps over the opening bracket or a comma; false, and over it, at the closing bracket.
  bool Next(char close) {
    ++at_;
    SkipSpace();
    if (*at_ != close) {
      return true;
    }
    ++at_;
    return false;
  }
  // After a value: true at a comma; otherwise steps over the closing bracket.
  bool More() {
    SkipSpace();
    if (*at_ == ',') {
      return true;
    }
    ++at_;
    return false;
  }

  std::vector<Member> Members() {
    std::vector<Member> members;
    if (Next('}')) {
      for (bool more = true; more;) {
        std::string key = String();
        SkipSpace();
        ++at_;  // the colon
        members.push_back({.key = std::move(key), .value = Value()});
        more = More() && Next('}');
      }
    }
    DropDuplicates(members);
    return members;
  }

  std::vector<JsonTree> Elements() {
    std::vector<JsonTree> elements;
    if (Next(']')) {
      for (bool more = true; more;) {
        elements.push_back(Value());
        more = More() && Next(']');
      }
    }
    return elements;
  }

  const char* at_;
  const char* const end_;
};

JsonTree::JsonTree(double value) {
  Number number;
  internal::AppendDouble(value, number.text);
  value_ = std::move(number);
}

JsonTree JsonTree::Array() { return Array(std::vector<JsonTree>()); }
JsonTree JsonTree::Object() { return Object(std::vector<Member>()); }

JsonTree JsonTree::Array(std::vector<JsonTree> elements) {
  JsonTree out;
  out.value_ = std::move(elements);
  return out;
}

JsonTree JsonTree::Object(std::vector<Member> members) {
  DropDuplicates(members);
  JsonTree out;
  out.value_ = std::move(members);
  return out;
}

Result<JsonTree> JsonTree::Parse(std::string_view text) {
  if (!internal::IsJson(text)) {
    return Fail(Malformed("", "not one JSON value of at most " +
                                  std::to_string(internal::kMaxJsonDepth) + " levels"));
  }
  return Builder(text).Value();
}

std::optional<bool> JsonTree::AsBool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::int64_t> JsonTree::AsInt() const {
  const Number* number = std::get_if<Number>(&value_);
  if (number == nullptr) {
    return std::nullopt;
  }
  const std::string& text = number->text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) {
    return value;
  }
  // 1e3 and 2.0 are whole numbers, too; beyond 2^53 a double is not exact.
  const std::optional<double> real = AsDouble();
  constexpr double kExact = 9007199254740992.0;
  if (error == std::errc() && real && *real >= -kExact && *real <= kExact &&
      static_cast<double>(static_cast<std::int64_t>(*real)) == *real) {
    return static_cast<std::int64_t>(*real);
  }
  return std::nullopt;
}

std::optional<double> JsonTree::AsDouble() const {
  const Number* number = std::get_if<Number>(&value_);
  if (number == nullptr) {
    return std::nullopt;
  }
  double value = 0;
  const std::string& text = number->text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::span<const JsonTree::Member> JsonTree::members() const {
  const auto* members = std::get_if<std::vector<Member>>(&value_);
  return members == nullptr ? std::span<const Member>() : *members;
}
std::span<JsonTree::Member> JsonTree::members() {
  auto* members = std::get_if<std::vector<Member>>(&value_);
  return members == nullptr ? std::span<Member>() : *members;
}
std::span<const JsonTree> JsonTree::elements() const {
  const auto* elements = std::get_if<std::vector<JsonTree>>(&value_);
  return elements == nullptr ? std::span<const JsonTree>() : *elements;
}
std::span<JsonTree> JsonTree::elements() {
  auto* elements = std::get_if<std::vector<JsonTree>>(&value_);
  return elements == nullptr ? std::span<JsonTree>() : *elements;
}

std::size_t JsonTree::size() const { return IsArray() ? elements().size() : members().size(); }

const JsonTree* JsonTree::Find(std::string_view key) const {
  const auto all = members();
  const auto found = std::ranges::find(all, key, &Member::key);
  return found == all.end() ? nullptr : &found->value;
}
JsonTree* JsonTree::Find(std::string_view key) {
  return const_cast<JsonTree*>(std::as_const(*this).Find(key));
}

JsonTree& JsonTree::operator[](std::string_view key) {
  if (JsonTree* found = Find(key)) {
    return *found;
  }
  if (!IsObject()) {
    value_ = std::vector<Member>();
  }
  return std::get<std::vector<Member>>(value_)
      .emplace_back(Member{.key = std::string(key), .value = {}})
      .value;
}

bool JsonTree::Erase(std::string_view key) {
  auto* all = std::get_if<std::vector<Member>>(&value_);
  return all != nullptr &&
         std::erase_if(*all, [key](const Member& member) { return member.key == key; }) != 0;
}

JsonTree& JsonTree::Append(JsonTree element) {
  if (!IsArray()) {
    value_ = std::vector<JsonTree>();
  }
  return std::get<std::vector<JsonTree>>(value_).emplace_back(std::move(element));
}

const JsonTree* JsonTree::At(std::span<const std::string_view> path) const {
  const JsonTree* node = this;
  for (const std::string_view step : path) {
    if (node->IsArray()) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      const bool there = error == std::errc() && end == step.data() + step.size() &&
                         index < node->elements().size();
      node = there ? &node->elements()[index] : nullptr;
    } else {
      node = node->Find(step);
    }
    if (node == nullptr) {
      return nullptr;
    }
  }
  return node;
}
JsonTree* JsonTree::At(std::span<const std::string_view> path) {
  return const_cast<JsonTree*>(std::as_const(*this).At(path));
}

void JsonTree::AppendJson(std::string& out) const {
  bool first = true;
  const auto comma = [&first, &out] {
    out += first ? "" : ",";
    first = false;
  };
  switch (type()) {
    case Type::kNull:
      out += "null";
      break;
    case Type::kBool:
      out += std::get<bool>(value_) ? "true" : "false";
      break;
    case Type::kNumber:
      out += std::get<Number>(value_).text;
      break;
    case Type::kString:
      internal::AppendQuoted(std::get<std::string>(value_), out);
      break;
    case Type::kArray:
      out += '[';
      for (const JsonTree& element : elements()) {
        comma();
        element.AppendJson(out);
      }
      out += ']';
      break;
    case Type::kObject:
      out += '{';
      for (const Member& member : members()) {
        comma();
        internal::AppendQuoted(member.key, out);
        out += ':';
        member.value.AppendJson(out);
      }
      out += '}';
      break;
  }
}

std::string JsonTree::ToJson() const {
  std::string out;
  AppendJson(out);
  return out;
}

bool operator==(const JsonTree& a, const JsonTree& b) {
  if (a.type() != b.type()) {
    return false;
  }
  switch (a.type()) {
    case JsonTree::Type::kNull:
      return true;
    case JsonTree::Type::kBool:
      return a.AsBool() == b.AsBool();
    case JsonTree::Type::kNumber:
      return std::get<JsonTree::Number>(a.value_).text ==
                 std::get<JsonTree::Number>(b.value_).text ||
             (a.AsInt() == b.AsInt() && (a.AsInt() || a.AsDouble() == b.AsDouble()));
    case JsonTree::Type::kString:
      return *a.AsString() == *b.AsString();
    case JsonTree::Type::kArray:
      return std::ranges::equal(a.elements(), b.elements());
    case JsonTree::Type::kObject:
      return SameMembers(a, b);
  }
  return false;
}

}  // namespace kubexx::codec
