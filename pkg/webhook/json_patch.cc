#include "kubexx/webhook/json_patch.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/keyed_hash.h"
#include "kubexx/codec/json_text.h"
#include "kubexx/webhook/internal/list_pairs.h"
#include "kubexx/webhook/internal/list_steps.h"
#include "kubexx/webhook/internal/patch_budget.h"

namespace kubexx::webhook {
namespace {

using apimachinery::Result;
using simdjson::dom::element;
using simdjson::dom::element_type;

using Member = std::pair<std::string_view, element>;

/// The members of an object, ascending by name.
std::vector<Member> MembersOf(element value) {
  std::vector<Member> members;
  for (const auto field : simdjson::dom::object(value.get_object().value_unsafe())) {
    members.emplace_back(field.key, field.value);
  }
  std::ranges::stable_sort(members, {}, &Member::first);
  return members;
}

std::vector<element> ElementsOf(element value) {
  std::vector<element> elements;
  for (const element one : simdjson::dom::array(value.get_array().value_unsafe())) {
    elements.push_back(one);
  }
  return elements;
}

std::optional<element> Find(const std::vector<Member>& members, std::string_view name) {
  const auto found = std::ranges::lower_bound(members, name, {}, &Member::first);
  if (found == members.end() || found->first != name) {
    return std::nullopt;
  }
  return found->second;
}

/// Gives equal values equal numbers. It serves all documents that are compared.
class Numbers {
 public:
  std::uint32_t OfText(std::string&& text) {
    return numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }
  std::uint32_t OfKey(std::string_view key) { return OfText("k" + std::string(key)); }

 private:
  // Whoever sends an object chooses its texts.
  std::unordered_map<std::string, std::uint32_t, base::KeyedTextHash> numbers_;
};

/// A document with a number for each value, so that two values are compared in one step, however
/// large they are and however often it is done.
class Numbered {
 public:
  /// A value, and the place of its number.
  struct Value {
    element json;
    std::size_t node = 0;
  };
  using Field = std::pair<std::string_view, Value>;

  Numbered(element root, Numbers& numbers) : root_(root) { Add(root, numbers); }

  Value root() const { return {.json = root_}; }
  std::uint32_t NumberOf(const Value& value) const { return nodes_[value.node].number; }

  /// The members of an object, ascending by name.
  std::vector<Field> FieldsOf(const Value& value) const {
    std::vector<Field> fields;
    std::size_t node = value.node + 1;
    for (const auto field : simdjson::dom::object(value.json.get_object().value_unsafe())) {
      fields.emplace_back(field.key, Value{.json = field.value, .node = node});
      node = nodes_[node].end;
    }
    std::ranges::stable_sort(fields, {}, &Field::first);
    return fields;
  }
  std::vector<Value> ElementsOf(const Value& value) const {
    std::vector<Value> elements;
    std::size_t node = value.node + 1;
    for (const element one : simdjson::dom::array(value.json.get_array().value_unsafe())) {
      elements.push_back({.json = one, .node = node});
      node = nodes_[node].end;
    }
    return elements;
  }

 private:
  struct Node {
    std::uint32_t number = 0;
    std::uint32_t end = 0;  ///< the node after the value's last one
  };

  static void AppendNumber(std::uint32_t number, std::string& out) {
    char bytes[sizeof(number)];
    std::memcpy(bytes, &number, sizeof(number));
    out.append(bytes, sizeof(number));
  }

  std::uint32_t Add(element value, Numbers& numbers) {
    const std::size_t node = nodes_.size();
    nodes_.emplace_back();
    std::string text;
    if (value.is_object()) {
      std::vector<std::pair<std::string_view, std::uint32_t>> members;
      for (const auto field : simdjson::dom::object(value.get_object().value_unsafe())) {
        members.emplace_back(field.key, Add(field.value, numbers));
      }
      std::ranges::stable_sort(members, {}, &decltype(members)::value_type::first);
      text = "{";
      for (const auto& [key, number] : members) {
        AppendNumber(numbers.OfKey(key), text);
        AppendNumber(number, text);
      }
    } else if (value.is_array()) {
      text = "[";
      for (const element one : simdjson::dom::array(value.get_array().value_unsafe())) {
        AppendNumber(Add(one, numbers), text);
      }
    } else {
      text = simdjson::minify(value);
    }
    const std::uint32_t number = numbers.OfText(std::move(text));
    nodes_[node] = {.number = number, .end = static_cast<std::uint32_t>(nodes_.size())};
    return number;
  }

  element root_;
  std::vector<Node> nodes_;
};

using NumberedValue = Numbered::Value;

std::optional<NumberedValue> Find(const std::vector<Numbered::Field>& fields,
                                  std::string_view name) {
  const auto found = std::ranges::lower_bound(fields, name, {}, &Numbered::Field::first);
  if (found == fields.end() || found->first != name) {
    return std::nullopt;
  }
  return found->second;
}

/// Collects the operations.
class Writer {
 public:
  void Write(std::string_view operation, std::string_view path, std::optional<element> value) {
    out_ += out_.empty() ? "[" : ",";
    out_ += R"({"op":")";
    out_ += operation;
    out_ += R"(","path":)";
    codec::AppendQuotedJson(path, out_);
    if (value) {
      out_ += R"(,"value":)";
      out_ += simdjson::minify(*value);
    }
    out_ += '}';
  }
  void WriteMove(std::string_view from, std::string_view path) {
    out_ += out_.empty() ? "[" : ",";
    out_ += R"({"op":"move","from":)";
    codec::AppendQuotedJson(from, out_);
    out_ += R"(,"path":)";
    codec::AppendQuotedJson(path, out_);
    out_ += '}';
  }
  std::string Finish() && {
    if (!out_.empty()) {
      out_ += ']';
    }
    return std::move(out_);
  }

 private:
  std::string out_;
};

/// Path of a member or element: RFC 6901.
std::string Below(const std::string& path, std::string_view name) {
  std::string below = path + "/";
  for (const char c : name) {
    if (c == '~' || c == '/') {
      below += c == '~' ? "~0" : "~1";
    } else {
      below += c;
    }
  }
  return below;
}
std::string Below(const std::string& path, std::size_t index) {
  return path + "/" + std::to_string(index);
}

class Differ {
 public:
  Differ(element before, element after) : before_(before, numbers_), after_(after, numbers_) {}

  std::string Diff(element original) && {
    if (!Equal(before_.root(), after_.root())) {
      Diff(original, before_.root(), after_.root(), "");
    }
    return std::move(writer_).Finish();
  }

 private:
  bool Equal(const NumberedValue& before, const NumberedValue& after) const {
    return before_.NumberOf(before) == after_.NumberOf(after);
  }

  /// Of two values that are not equal.
  void Diff(element original, const NumberedValue& before, const NumberedValue& after,
            const std::string& path) {
    bool done = false;
    if (original.is_object() && before.json.is_object() && after.json.is_object()) {
      done = DiffObjects(original, before, after, path);
    } else if (original.is_array() && before.json.is_array() && after.json.is_array()) {
      done = DiffArrays(original, before, after, path);
    }
    if (!done) {
      writer_.Write("replace", path, after.json);
    }
  }

  /// Whether the budget has enough for operations on so many members or elements, each of which
  /// writes the path. What this adds up to is the depth times the number of values.
  bool MayWrite(const std::string& path, std::size_t operations) {
    constexpr std::size_t kBytesInAStep = 16;
    return budget_.Spend(operations * (1 + path.size() / kBytesInAStep));
  }

  bool DiffObjects(element original, const NumberedValue& before, const NumberedValue& after,
                   const std::string& path) {
    const auto originals = MembersOf(original);
    const auto befores = before_.FieldsOf(before);
    const auto afters = after_.FieldsOf(after);
    if (!MayWrite(path, befores.size() + afters.size())) {
      return false;
    }
    for (const auto& [name, value] : befores) {
      if (!Find(afters, name) && Find(originals, name)) {
        writer_.Write("remove", Below(path, name), std::nullopt);
      }
    }
    for (const auto& [name, value] : afters) {
      const auto old = Find(befores, name);
      const auto there = Find(originals, name);
      if (old && Equal(*old, value)) {
        continue;
      }
      if (old && there) {
        Diff(*there, *old, value, Below(path, name));
      } else {
        writer_.Write(there ? "replace" : "add", Below(path, name), value.json);
      }
    }
    return true;
  }

  bool DiffArrays(element original, const NumberedValue& before, const NumberedValue& after,
                  const std::string& path) {
    const auto originals = ElementsOf(original);
    const auto befores = before_.ElementsOf(before);
    const auto afters = after_.ElementsOf(after);
    if (originals.size() != befores.size() || !MayWrite(path, befores.size() + afters.size())) {
      return false;
    }
    const internal::ListPairs pairs =
        internal::PairLists(ForPairing(before_, befores), ForPairing(after_, afters), budget_);
    for (const internal::ListStep& step :
         internal::ListSteps(befores.size(), afters.size(), pairs)) {
      const std::string at = Below(path, step.index);
      switch (step.kind) {
        case internal::ListStep::Kind::kRemove:
          writer_.Write("remove", at, std::nullopt);
          break;
        case internal::ListStep::Kind::kReplace:
          writer_.Write("replace", at, afters[step.element].json);
          break;
        case internal::ListStep::Kind::kAdd:
          writer_.Write("add", at, afters[step.element].json);
          break;
        case internal::ListStep::Kind::kMove:
          writer_.WriteMove(Below(path, step.from), at);
          break;
      }
    }
    for (const auto& [i, j] : pairs) {
      if (!Equal(befores[i], afters[j])) {
        Diff(originals[i], befores[i], afters[j], Below(path, j));
      }
    }
    return true;
  }

  std::vector<internal::ListElement> ForPairing(const Numbered& document,
                                                std::span<const NumberedValue> values) {
    std::vector<internal::ListElement> elements;
    elements.reserve(values.size());
    for (const NumberedValue& value : values) {
      internal::ListElement& out = elements.emplace_back();
      out.value = document.NumberOf(value);
      if (value.json.is_array()) {
        out.type = internal::ListElement::Type::kArray;
      } else if (value.json.is_object()) {
        out.type = internal::ListElement::Type::kObject;
        for (const auto& [key, member] : document.FieldsOf(value)) {
          out.members.emplace_back(numbers_.OfKey(key), document.NumberOf(member));
          if (key == "name") {
            out.name = out.members.back().second;
          }
        }
        std::ranges::sort(out.members);
      }
    }
    return elements;
  }

  Numbers numbers_;
  const Numbered before_;
  const Numbered after_;
  internal::PatchBudget budget_;
  Writer writer_;
};

Result<element> Parse(simdjson::dom::parser& parser, std::string_view json, const char* what) {
  const auto parsed = parser.parse(json.data(), json.size());
  if (parsed.error() != simdjson::SUCCESS) {
    return apimachinery::Fail(
        apimachinery::Malformed(what, simdjson::error_message(parsed.error())));
  }
  return parsed.value_unsafe();
}

}  // namespace

Result<std::string> MakeJsonPatch(std::string_view original, std::string_view before,
                                  std::string_view after) {
  simdjson::dom::parser original_parser;
  simdjson::dom::parser before_parser;
  simdjson::dom::parser after_parser;
  KX_ASSIGN_OR_RETURN(const element original_root,
                      Parse(original_parser, original, "original object"));
  KX_ASSIGN_OR_RETURN(const element before_root, Parse(before_parser, before, "object"));
  KX_ASSIGN_OR_RETURN(const element after_root, Parse(after_parser, after, "changed object"));
  return Differ(before_root, after_root).Diff(original_root);
}

}  // namespace kubexx::webhook
