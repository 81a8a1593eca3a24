#include "kubexx/apiserver/schema/version_fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/json_path.h"
#include "kubexx/codec/codec.h"

namespace kubexx::apiserver::schema {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxWarningBytes = 256;
constexpr std::int64_t kMaxSelectableFields = 8;

/// Returns the position of a control character in UTF-8 text.
std::optional<std::size_t> ControlIn(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0xffU;
    if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next < 0xa0)) {
      return i;
    }
  }
  return std::nullopt;
}

/// Returns the schema of the field to which the members lead, or null when there is none.
const JsonTree* FieldAt(const JsonTree& schema, const std::vector<std::string>& members) {
  const JsonTree* at = &schema;
  for (const std::string& member : members) {
    const JsonTree* next = at->At({"properties", member});
    if (next == nullptr) {
      next = at->Find("additionalProperties");
    }
    if (next == nullptr || !next->IsObject()) {
      return nullptr;
    }
    at = next;
  }
  return at;
}

bool IsScalar(std::string_view type) {
  return type == "string" || type == "boolean" || type == "integer";
}

}  // namespace

void CheckDeprecation(const JsonTree& version, const std::string& path, CauseList& causes) {
  const JsonTree* const warning = version.Find("deprecationWarning");
  const std::string* const text = warning == nullptr ? nullptr : warning->AsString();
  if (text == nullptr) {
    return;
  }
  const auto complain = [&](std::string_view what) {
    causes.Add(InvalidCause(path + ".deprecationWarning", *warning, what));
  };
  const JsonTree* const deprecated = version.Find("deprecated");
  if (deprecated == nullptr || !deprecated->AsBool().value_or(false)) {
    return complain("can only be set for deprecated versions");
  }
  if (text->size() > kMaxWarningBytes) {
    complain("must be <= 256 characters long");
  }
  if (text->empty()) {
    complain("must not be an empty string");
  }
  if (const auto index = ControlIn(*text)) {
    complain(
        "must only contain printable UTF-8 characters; non-printable character found at index " +
        std::to_string(*index));
  }
}

void CheckSelectableFields(const JsonTree& version, const std::string& path, CauseList& causes) {
  const JsonTree* const fields = version.Find("selectableFields");
  const JsonTree* const schema = version.At({"schema", "openAPIV3Schema"});
  if (fields == nullptr || schema == nullptr) {
    return;
  }
  std::set<std::vector<std::string>> paths;
  // Each field is looked up in the schema, so the search stops when there are enough faults.
  for (std::size_t i = 0;
       i < fields->elements().size() && !causes.full() && paths.size() <= kMaxCauses; ++i) {
    const std::string_view text = fields->elements()[i].TextAt("jsonPath");
    const std::string at = path + ".selectableFields[" + std::to_string(i) + "].jsonPath";
    if (text.empty()) {
      causes.Add(RequiredCause(at));
      continue;
    }
    const auto parsed = JsonPath::Parse(text);
    auto members = parsed ? parsed->Members() : std::nullopt;
    const JsonTree* const field = members ? FieldAt(*schema, *members) : nullptr;
    if (field == nullptr) {
      causes.Add(
          InvalidCause(at, text, "is an invalid path: it does not lead to a field of the schema"));
      continue;
    }
    if (members->front() == "metadata") {
      causes.Add(InvalidCause(at, text, "must not point to fields in metadata"));
    }
    if (!IsScalar(field->TextAt("type"))) {
      causes.Add(InvalidCause(
          at, text,
          "must point to a field of type string, boolean or integer. Enum string fields and "
          "strings with formats are allowed."));
    }
    if (!paths.insert(std::move(*members)).second) {
      causes.Add(DuplicateCause(at, text));
    }
  }
  if (std::cmp_greater(paths.size(), kMaxSelectableFields)) {
    causes.Add(TooManyCause(path + ".selectableFields", paths.size(), kMaxSelectableFields));
  }
}

void CheckSharedFields(const JsonTree& versions, CauseList& causes) {
  using Version = api::apiextensions::v1::CustomResourceDefinitionVersion;
  const auto elements = versions.elements();
  const auto has_fields = [](const JsonTree& version) {
    const JsonTree* const fields = version.Find("selectableFields");
    return fields != nullptr && fields->size() > 0;
  };
  if (elements.size() < 2 || std::ranges::none_of(elements, has_fields)) {
    return;
  }
  std::vector<Version> all;  // where it makes no difference whether an empty value is written
  for (const JsonTree& version : elements) {
    auto decoded = codec::DecodeJson<Version>(version.ToJson());
    if (!decoded) {
      return;
    }
    all.push_back(*std::move(decoded));
  }
  const auto all_have = [&all](const auto member) {
    return std::ranges::all_of(
        all, [&](const Version& version) { return version.*member == all[0].*member; });
  };
  const bool has_one_schema = all_have(&Version::schema);
  if (all_have(&Version::selectable_fields)) {
    if (!has_one_schema) {
      causes.Add(InvalidCause("spec.selectableFields", std::string_view(),
                              "may only be set when validations.schema is included"));
    }
    return;
  }
  for (std::size_t i = 0; has_one_schema && i < all.size(); ++i) {
    if (!all[i].selectable_fields.empty()) {
      causes.Add(InvalidCause("spec.versions[" + std::to_string(i) + "].selectableFields",
                              std::string_view(),
                              "may only be set when `version.schema.openAPIV3Schema` is not "
                              "included"));
    }
  }
}

}  // namespace kubexx::apiserver::schema
