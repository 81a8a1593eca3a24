#include "kubexx/webhook/json_patch.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kubexx/codec/json_text.h"
#include "kubexx/webhook/internal/list_pairs.h"

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

/// Gives equal values equal numbers.
class Numbers {
 public:
  std::uint32_t Of(element value) {
    std::string text;
    Append(value, text);
    return OfText(std::move(text));
  }

  internal::ListElement ElementOf(element value) {
    internal::ListElement out{.value = Of(value)};
    if (value.is_array()) {
      out.type = internal::ListElement::Type::kArray;
    } else if (value.is_object()) {
      out.type = internal::ListElement::Type::kObject;
      for (const auto& [key, member] : MembersOf(value)) {
        out.members.emplace_back(OfText(std::string(key)), Of(member));
        if (key == "name") {
          out.name = out.members.back().second;
        }
      }
      std::ranges::sort(out.members);
    }
    return out;
  }

 private:
  std::uint32_t OfText(std::string text) {
    return numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

  /// As JSON, with the members of objects in order: Equal takes no notice of theirs.
  static void Append(element value, std::string& out) {
    if (value.is_object()) {
      out += '{';
      for (const auto& [key, member] : MembersOf(value)) {
        codec::AppendQuotedJson(key, out);
        out += ':';
        Append(member, out);
        out += ',';
      }
      out += '}';
    } else if (value.is_array()) {
      out += '[';
      for (const element one : ElementsOf(value)) {
        Append(one, out);
        out += ',';
      }
      out += ']';
    } else {
      out += simdjson::minify(value);
    }
  }

  std::map<std::string, std::uint32_t> numbers_;
};

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
    const std::size_t befores_end = befores.size() - tail;
    const std::size_t afters_end = afters.size() - tail;
    auto pairs = PairsOf(std::span(befores).subspan(head, befores_end - head),
                         std::span(afters).subspan(head, afters_end - head));
    pairs.emplace_back(befores_end - head, afters_end - head);
    std::size_t from = head;  // in befores
    std::size_t to = head;    // in afters, and in what the operations so far have made
    for (const auto& [before_pair, after_pair] : pairs) {
      ReplaceElements(head + before_pair - from,
                      std::span(afters).subspan(to, head + after_pair - to), path, to);
      from = head + before_pair;
      to = head + after_pair;
      if (from < befores_end) {
        Diff(originals[from], befores[from], afters[to], Below(path, to));
        ++from;
        ++to;
      }
    }
  }

  static std::vector<std::pair<std::size_t, std::size_t>> PairsOf(std::span<const element> befores,
                                                                  std::span<const element> afters) {
    Numbers numbers;
    const auto elements_of = [&numbers](std::span<const element> list) {
      std::vector<internal::ListElement> elements;
      for (const element one : list) {
        elements.push_back(numbers.ElementOf(one));
      }
      return elements;
    };
    return internal::PairLists(elements_of(befores), elements_of(afters));
  }

  /// Puts `wanted` in the place of `count` elements from `index` on, which are other things.
  void ReplaceElements(std::size_t count, std::span<const element> wanted, const std::string& path,
                       std::size_t index) {
    const std::size_t common = std::min(count, wanted.size());
    for (std::size_t i = 0; i < common; ++i) {
      writer_.Write("replace", Below(path, index + i), wanted[i]);
    }
    for (std::size_t i = count; i > common; --i) {
      writer_.Write("remove", Below(path, index + i - 1), std::nullopt);
    }
    for (std::size_t i = common; i < wanted.size(); ++i) {
      writer_.Write("add", Below(path, index + i), wanted[i]);
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
