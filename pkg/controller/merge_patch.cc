#include "kubexx/controller/merge_patch.h"

#include <simdjson.h>

#include "kubexx/codec/json_text.h"

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
  // A name of the API or of a map; the parser has unescaped it.
  codec::AppendQuotedJson(name, out);
  out += ':';
  out += value;
}

/// The patch's text; "{}" when there is no difference.
std::string Difference(const object& from, const object& to) {
  std::string patch = "{";
  for (const auto& [name, value] : to) {
    if (value.is_null()) {
      continue;
    }
    element before;
    const bool existed = from.at_key(name).get(before) == simdjson::SUCCESS && !before.is_null();
    if (existed && before.is_object() && value.is_object()) {
      const std::string inner =
          Difference(before.get_object().value_unsafe(), value.get_object().value_unsafe());
      if (inner != "{}") {
        AppendMember(name, inner, patch);
      }
      continue;
    }
    const std::string text = simdjson::minify(value);
    if (!existed || simdjson::minify(before) != text) {
      AppendMember(name, text, patch);
    }
  }
  for (const auto& [name, value] : from) {
    element after;
    const bool exists = to.at_key(name).get(after) == simdjson::SUCCESS && !after.is_null();
    if (!exists && !value.is_null()) {
      AppendMember(name, "null", patch);
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
  return Difference(before, after);
}

}  // namespace kubexx::controller
