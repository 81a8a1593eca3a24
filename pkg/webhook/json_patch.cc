#include "kubexx/webhook/json_patch.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/codec/json_text.h"

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

bool Equal(element a, element b) {
  if (a.type() != b.type()) {
    return false;
  }
  switch (a.type()) {
    case element_type::OBJECT:
      return std::ranges::equal(MembersOf(a), MembersOf(b), [](const Member& x, const Member& y) {
        return x.first == y.first && Equal(x.second, y.second);
      });
    case element_type::ARRAY:
      return std::ranges::equal(ElementsOf(a), ElementsOf(b), Equal);
    case element_type::STRING:
      return a.get_string().value_unsafe() == b.get_string().value_unsafe();
    case element_type::INT64:
      return a.get_int64().value_unsafe() == b.get_int64().value_unsafe();
    case element_type::UINT64:
      return a.get_uint64().value_unsafe() == b.get_uint64().value_unsafe();
    case element_type::DOUBLE:
      return a.get_double().value_unsafe() == b.get_double().value_unsafe();
    case element_type::BOOL:
      return a.get_bool().value_unsafe() == b.get_bool().value_unsafe();
    case element_type::NULL_VALUE:
      return true;
  }
  return false;
}

/// Whether two elements of lists are versions of one thing: not when they have different names.
bool IsSameThing(element a, element b) {
  if (!a.is_object() || !b.is_object()) {
    return a.type() == b.type();
  }
  const auto name_a = a.at_key("name");
  const auto name_b = b.at_key("name");
  return name_a.error() != simdjson::SUCCESS || name_b.error() != simdjson::SUCCESS ||
         Equal(name_a.value_unsafe(), name_b.value_unsafe());
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
  void Diff(element original, element before, element after, const std::string& path) {
    if (Equal(before, after)) {
      return;
    }
    if (original.is_object() && before.is_object() && after.is_object()) {
      DiffObjects(original, before, after, path);
    } else if (original.is_array() && before.is_array() && after.is_array()) {
      DiffArrays(original, before, after, path);
    } else {
      writer_.Write("replace", path, after);
    }
  }

  std::string Finish() && { return std::move(writer_).Finish(); }

 private:
  void DiffObjects(element original, element before, element after, const std::string& path) {
    const auto originals = MembersOf(original);
    const auto befores = MembersOf(before);
    const auto afters = MembersOf(after);
    for (const auto& [name, value] : befores) {
      if (!Find(afters, name) && Find(originals, name)) {
        writer_.Write("remove", Below(path, name), std::nullopt);
      }
    }
    for (const auto& [name, value] : afters) {
      const auto old = Find(befores, name);
      const auto there = Find(originals, name);
      if (old && there) {
        Diff(*there, *old, value, Below(path, name));
      } else if (!old || !Equal(*old, value)) {
        writer_.Write(there ? "replace" : "add", Below(path, name), value);
      }
    }
  }

  void DiffArrays(element original, element before, element after, const std::string& path) {
    const auto originals = ElementsOf(original);
    const auto befores = ElementsOf(before);
    const auto afters = ElementsOf(after);
    if (originals.size() != befores.size()) {
      writer_.Write("replace", path, after);
      return;
    }
    // What is the same at both ends stays.
    const std::size_t shorter = std::min(befores.size(), afters.size());
    std::size_t head = 0;
    while (head < shorter && Equal(befores[head], afters[head])) {
      ++head;
    }
    std::size_t tail = 0;
    while (tail < shorter - head &&
           Equal(befores[befores.size() - 1 - tail], afters[afters.size() - 1 - tail])) {
      ++tail;
    }
    const std::size_t common = shorter - tail;
    for (std::size_t i = head; i < common; ++i) {
      if (IsSameThing(befores[i], afters[i])) {
        Diff(originals[i], befores[i], afters[i], Below(path, i));
      } else {
        writer_.Write("replace", Below(path, i), afters[i]);
      }
    }
    for (std::size_t i = befores.size() - tail; i > common; --i) {
      writer_.Write("remove", Below(path, i - 1), std::nullopt);
    }
    for (std::size_t i = common; i < afters.size() - tail; ++i) {
      writer_.Write("add", Below(path, i), afters[i]);
    }
  }

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
  Differ differ;
  differ.Diff(original_root, before_root, after_root, "");
  return std::move(differ).Finish();
}

}  // namespace kubexx::webhook
