#include "kubexx/controller/merge_patch.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/codec/json_text.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::controller {
namespace {

using apimachinery::Malformed;
using apimachinery::Result;
using simdjson::dom::element;
using simdjson::dom::object;

void AppendMember(std::string_view name, const std::string& value, std::string& out) {
  if (out.back() != '{') {
    out += ',';
  }
  // The key is a name of the API or the key of a map. The parser has unescaped it.
  codec::AppendQuotedJson(name, out);
  out += ':';
  out += value;
}

/// Finds the members of one object. The parser's own search looks at one member after the other,
/// which takes too long in a map of a hundred thousand.
class Members {
 public:
  explicit Members(const object& of) {
    for (const auto& [name, value] : of) {
      sorted_.emplace_back(name, value);
    }
    std::ranges::stable_sort(sorted_, {}, &Member::first);
  }
  /// Returns nothing when the member does not exist, or is null.
  std::optional<element> Find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(sorted_, name, {}, &Member::first);
    const bool there = found != sorted_.end() && found->first == name && !found->second.is_null();
    return there ? std::optional(found->second) : std::nullopt;
  }

 private:
  using Member = std::pair<std::string_view, element>;
  std::vector<Member> sorted_;
};

bool HasList(const element& value) {
  if (!value.is_object()) {
    return value.is_array();
  }
  const object members = value.get_object().value_unsafe();
  for (const auto& member : members) {
    if (HasList(member.value)) {
      return true;
    }
  }
  return false;
}

/// What is known of a JSON object: the type whose fields are its members, or that of all values of
/// a map. Both may be unknown.
struct Shape {
  const codec::TypeSchema* fields = nullptr;
  const codec::TypeSchema* values = nullptr;  ///< of a map
  bool is_map = false;
};

const codec::FieldSchema* FieldOf(const codec::TypeSchema& type, std::string_view name) {
  for (const codec::FieldSchema& field : type.fields) {
    if ((field.flags & codec::kInline) != 0 && field.message != nullptr) {
      if (const codec::FieldSchema* const found = FieldOf(*field.message, name)) {
        return found;
      }
    } else if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

Shape ShapeOf(const Shape& around, std::string_view name) {
  if (around.is_map) {
    return {.fields = around.values};
  }
  const codec::FieldSchema* const field =
      around.fields != nullptr ? FieldOf(*around.fields, name) : nullptr;
  if (field == nullptr || field->cardinality == codec::Cardinality::kRepeated) {
    return {};
  }
  if (field->cardinality == codec::Cardinality::kMap) {
    return {.values = field->message, .is_map = true};
  }
  return {.fields = field->message};
}

/// Returns the patch that removes each member.
std::string WithoutMembers(const object& of) {
  std::string patch = "{";
  for (const auto& member : of) {
    AppendMember(member.key, "null", patch);
  }
  return patch += '}';
}

/// Returns the patch as text, or "{}" when there is no difference. Sets `lists` when the patch
/// replaces or removes a list.
std::string Difference(const object& from, const object& to, const Shape& shape, bool& lists) {
  const Members in_from(from);
  const Members in_to(to);
  std::string patch = "{";
  for (const auto& [name, value] : to) {
    if (value.is_null()) {
      continue;
    }
    const std::optional<element> before = in_from.Find(name);
    if (before && before->is_object() && value.is_object()) {
      const std::string inner =
          Difference(before->get_object().value_unsafe(), value.get_object().value_unsafe(),
                     ShapeOf(shape, name), lists);
      if (inner != "{}") {
        AppendMember(name, inner, patch);
      }
      continue;
    }
    const std::string text = simdjson::minify(value);
    if (!before || simdjson::minify(*before) != text) {
      lists = lists || HasList(value) || (before && HasList(*before));
      AppendMember(name, text, patch);
    }
  }
  for (const auto& [name, value] : from) {
    if (value.is_null() || in_to.Find(name)) {
      continue;
    }
    lists = lists || HasList(value);
    if (!value.is_object() || !ShapeOf(shape, name).is_map) {
      AppendMember(name, "null", patch);
    } else if (const std::string keys = WithoutMembers(value.get_object().value_unsafe());
               keys != "{}") {
      AppendMember(name, keys, patch);
    }
  }
  patch += '}';
  return patch;
}

Result<object> Parse(simdjson::dom::parser& parser, std::string_view json, const char* which) {
  object parsed;
  if (const auto error = parser.parse(json.data(), json.size()).get(parsed)) {
    return apimachinery::Fail(Malformed(which, simdjson::error_message(error)));
  }
  return parsed;
}

}  // namespace

Result<std::string> MergePatchBetween(std::string_view from, std::string_view to) {
  simdjson::dom::parser from_parser;
  simdjson::dom::parser to_parser;
  KX_ASSIGN_OR_RETURN(const object before, Parse(from_parser, from, "from"));
  KX_ASSIGN_OR_RETURN(const object after, Parse(to_parser, to, "to"));
  bool lists = false;
  return Difference(before, after, {}, lists);
}

Result<std::string> MergePatchKeepingLists(std::string_view from, std::string_view to,
                                           const codec::TypeSchema* type) {
  simdjson::dom::parser from_parser;
  simdjson::dom::parser to_parser;
  KX_ASSIGN_OR_RETURN(const object before, Parse(from_parser, from, "from"));
  KX_ASSIGN_OR_RETURN(const object after, Parse(to_parser, to, "to"));
  bool lists = false;
  std::string patch = Difference(before, after, {.fields = type}, lists);
  std::string_view version;
  if (!lists || before["metadata"]["resourceVersion"].get(version) != simdjson::SUCCESS) {
    return patch;
  }
  KX_ASSIGN_OR_RETURN(codec::JsonTree tree, codec::JsonTree::Parse(patch));
  tree["metadata"]["resourceVersion"] = version;
  return tree.ToJson();
}

}  // namespace kubexx::controller
