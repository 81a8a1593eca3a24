#include "kubexx/crdgen/header_definition.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/header_schema.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::CustomResourceColumnDefinition;
using api::apiextensions::v1::CustomResourceDefinition;
using api::apiextensions::v1::CustomResourceDefinitionNames;
using api::apiextensions::v1::CustomResourceDefinitionVersion;
using api::apiextensions::v1::CustomResourceSubresources;
using api::apiextensions::v1::CustomResourceSubresourceScale;
using api::apiextensions::v1::CustomResourceSubresourceStatus;
using api::apiextensions::v1::CustomResourceValidation;
using apimachinery::Result;

/// By the rules that hold for most English words; +kubebuilder:resource:path says another one.
std::string PluralOf(const std::string& singular) {
  const auto ends = [&singular](std::initializer_list<std::string_view> ends_of_words) {
    return std::ranges::any_of(ends_of_words,
                               [&](std::string_view end) { return singular.ends_with(end); });
  };
  if (ends({"s", "x", "z", "ch", "sh"})) {
    return singular + "es";
  }
  if (ends({"y"}) && !ends({"ay", "ey", "iy", "oy", "uy"})) {
    return singular.substr(0, singular.size() - 1) + "ies";
  }
  return singular + "s";
}

/// Of the kind, without its versions: what all headers must agree about.
struct KindFacts {
  CustomResourceDefinitionNames names{};
  std::string scope = "Namespaced";

  bool operator==(const KindFacts&) const = default;
};

class VersionReader {
 public:
  explicit VersionReader(const ResolvedHeader& resolved)
      : resolved_(resolved), markers_(resolved.root().comment.markers) {}

  Result<KindFacts> Facts() const {
    KindFacts facts;
    facts.names.kind = resolved_.root().name;
    facts.names.list_kind = facts.names.kind + "List";
    facts.names.singular = base::ToLower(facts.names.kind);
    facts.names.plural = PluralOf(facts.names.singular);
    const Marker* const marker = FindMarker(markers_, "kubebuilder:resource");
    if (marker == nullptr) {
      return facts;
    }
    const auto set = [marker](std::string_view argument, std::string& place) {
      if (marker->Find(argument) != nullptr) {
        place = marker->Text(argument);
      }
    };
    set("path", facts.names.plural);
    set("singular", facts.names.singular);
    set("scope", facts.scope);
    facts.names.short_names = marker->Texts("shortName");
    facts.names.categories = marker->Texts("categories");
    if (facts.scope != "Namespaced" && facts.scope != "Cluster") {
      return Error(*marker, "has a scope that is neither Namespaced nor Cluster");
    }
    std::vector<std::string> names = facts.names.short_names;
    names.push_back(facts.names.plural);
    names.push_back(facts.names.singular);
    for (const std::string& name : names) {
      if (name.empty() || !base::IsLower(name[0]) || !std::ranges::all_of(name, [](char c) {
            return base::IsLowerAlphanumeric(c) || c == '-';
          })) {
        return Error(*marker, "has the name '" + name +
                                  "', which is not made of small letters, digits and '-'");
      }
    }
    return facts;
  }

  Result<CustomResourceDefinitionVersion> Version() const {
    CustomResourceDefinitionVersion version;
    version.name = resolved_.version;
    version.served = true;
    version.schema = CustomResourceValidation();
    KX_ASSIGN_OR_RETURN(version.schema->open_api_v3_schema, SchemaOfHeader(resolved_));
    for (const Marker& marker : markers_) {
      KX_RETURN_IF_ERROR(Apply(marker, version));
    }
    return version;
  }

 private:
  apimachinery::Error Error(const Marker& marker, const std::string& message) const {
    return HeaderError(resolved_.header->path, marker.line, marker.Shown() + " " + message);
  }

  Result<void> ExpectPath(const Marker& marker, std::string_view argument) const {
    const std::string path = marker.Text(argument);
    if (marker.Find(argument) != nullptr && !path.starts_with('.')) {
      return Error(marker, "has the path '" + path + "', which does not begin with '.'");
    }
    return {};
  }

  static CustomResourceSubresources& Subresources(CustomResourceDefinitionVersion& version) {
    if (!version.subresources) {
      version.subresources = CustomResourceSubresources();
    }
    return *version.subresources;
  }

  Result<void> Apply(const Marker& marker, CustomResourceDefinitionVersion& version) const {
    const std::string_view name = marker.name();
    for (const std::string_view path : {"specpath", "statuspath", "selectorpath", "JSONPath"}) {
      KX_RETURN_IF_ERROR(ExpectPath(marker, path));
    }
    if (name == "kubebuilder:subresource:status") {
      if (!version.schema->open_api_v3_schema->properties.contains("status")) {
        return Error(marker, "needs a member 'status'");
      }
      Subresources(version).status = CustomResourceSubresourceStatus();
    } else if (name == "kubebuilder:subresource:scale") {
      CustomResourceSubresourceScale scale{.spec_replicas_path = marker.Text("specpath"),
                                           .status_replicas_path = marker.Text("statuspath")};
      if (marker.Find("selectorpath") != nullptr) {
        scale.label_selector_path = marker.Text("selectorpath");
      }
      Subresources(version).scale = std::move(scale);
    } else if (name == "kubebuilder:printcolumn") {
      return AddColumn(marker, version);
    } else if (name == "kubebuilder:selectablefield") {
      version.selectable_fields.push_back({.json_path = marker.Text("JSONPath")});
    } else if (name == "kubebuilder:storageversion") {
      version.storage = true;
    } else if (name == "kubebuilder:unservedversion") {
      version.served = false;
    } else if (name == "kubebuilder:deprecatedversion") {
      version.deprecated = true;
      if (marker.Find("warning") != nullptr) {
        version.deprecation_warning = marker.Text("warning");
      }
    }
    return {};
  }

  Result<void> AddColumn(const Marker& marker, CustomResourceDefinitionVersion& version) const {
    const std::string type = marker.Text("type");
    static constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean", "date"};
    if (std::ranges::find(kTypes, type) == std::end(kTypes)) {
      return Error(marker, "has the type '" + type +
                               "', which is not string, integer, number, boolean or date");
    }
    Subresources(version);  // as controller-gen does
    CustomResourceColumnDefinition column{.name = marker.Text("name"),
                                          .type = type,
                                          .format = marker.Text("format"),
                                          .description = marker.Text("description"),
                                          .json_path = marker.Text("JSONPath")};
    if (const codec::JsonTree* const priority = marker.Find("priority")) {
      const std::int64_t value = priority->AsInt().value_or(0);
      if (value < 0 || value > INT32_MAX) {
        return Error(marker, "has a priority that is not from 0 to 2147483647");
      }
      column.priority = static_cast<std::int32_t>(value);
    }
    version.additional_printer_columns.push_back(std::move(column));
    return {};
  }

  const ResolvedHeader& resolved_;
  const std::vector<Marker>& markers_;
};

apimachinery::Error RootError(const ResolvedHeader& resolved, const std::string& message) {
  return HeaderError(resolved.header->path, resolved.root().line, message);
}

/// Those of +kubebuilder:metadata: "key=value".
Result<void> AddMetadata(const ResolvedHeader& resolved, CustomResourceDefinition& definition) {
  for (const Marker& marker : resolved.root().comment.markers) {
    if (marker.name() != "kubebuilder:metadata") {
      continue;
    }
    for (const std::string_view argument : {"annotations", "labels"}) {
      auto& place =
          argument == "labels" ? definition.metadata.labels : definition.metadata.annotations;
      for (const std::string& text : marker.Texts(argument)) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
          return HeaderError(resolved.header->path, marker.line,
                             "'" + text + "' is not of the form key=value");
        }
        place[text.substr(0, equals)] = text.substr(equals + 1);
      }
    }
  }
  return {};
}

/// Exactly one is stored.
Result<void> CheckStorage(std::span<const ResolvedHeader> headers,
                          std::vector<CustomResourceDefinitionVersion>& versions) {
  if (versions.size() == 1) {
    versions[0].storage = true;
  }
  const auto stored = std::ranges::count(versions, true, &CustomResourceDefinitionVersion::storage);
  if (stored != 1) {
    return RootError(headers[0],
                     headers[0].root().name + " has " + std::to_string(versions.size()) +
                         " versions: exactly one of them needs +kubebuilder:storageversion, and " +
                         std::to_string(stored) + " have it");
  }
  if (std::ranges::none_of(versions, &CustomResourceDefinitionVersion::served)) {
    return RootError(headers[0], "no version of " + headers[0].root().name + " is served");
  }
  return {};
}

/// That kube-apiserver finds the schema of the selectable fields. It keeps what all versions have
/// in common in one place, the fields and the schemas each for themselves.
Result<void> CheckSelectable(const ResolvedHeader& resolved,
                             const std::vector<CustomResourceDefinitionVersion>& versions) {
  const auto all_have = [&versions](const auto member) {
    return std::ranges::all_of(versions, [&](const CustomResourceDefinitionVersion& version) {
      return version.*member == versions[0].*member;
    });
  };
  const Marker* const marker =
      FindMarker(resolved.root().comment.markers, "kubebuilder:selectablefield");
  const bool has_one_schema = all_have(&CustomResourceDefinitionVersion::schema);
  if (marker == nullptr || versions.size() == 1 ||
      has_one_schema == all_have(&CustomResourceDefinitionVersion::selectable_fields)) {
    return {};
  }
  return HeaderError(
      resolved.header->path, marker->line,
      marker->Shown() +
          (has_one_schema ? " must say the same of all versions, as they have the same schema"
                          : " must not say the same of all versions, as their schemas differ: "
                            "leave it out of one of them, or select another field there, too") +
          "; kube-apiserver would refuse the definition");
}

}  // namespace

Result<CustomResourceDefinition> DefinitionOf(std::span<const ResolvedHeader> versions) {
  CustomResourceDefinition definition;
  KX_ASSIGN_OR_RETURN(const KindFacts facts, VersionReader(versions[0]).Facts());
  for (const ResolvedHeader& resolved : versions) {
    const VersionReader reader(resolved);
    KX_ASSIGN_OR_RETURN(const KindFacts own, reader.Facts());
    if (own != facts) {
      return RootError(resolved, "+kubebuilder:resource must say the same of all versions of " +
                                     resolved.root().name + ", and differs from that in " +
                                     versions[0].header->path);
    }
    KX_ASSIGN_OR_RETURN(CustomResourceDefinitionVersion version, reader.Version());
    if (std::ranges::find(definition.spec.versions, version.name,
                          &CustomResourceDefinitionVersion::name) !=
        definition.spec.versions.end()) {
      return RootError(resolved, "another header has " + resolved.root().name + " of " +
                                     resolved.group + "/" + resolved.version + ", too");
    }
    definition.spec.versions.push_back(std::move(version));
    KX_RETURN_IF_ERROR(AddMetadata(resolved, definition));
  }
  KX_RETURN_IF_ERROR(CheckStorage(versions, definition.spec.versions));
  for (const ResolvedHeader& resolved : versions) {
    KX_RETURN_IF_ERROR(CheckSelectable(resolved, definition.spec.versions));
  }
  std::ranges::sort(definition.spec.versions, {}, &CustomResourceDefinitionVersion::name);
  definition.spec.group = versions[0].group;
  definition.spec.names = facts.names;
  definition.spec.scope = facts.scope;
  definition.metadata.name = facts.names.plural + "." + versions[0].group;
  return definition;
}

std::string FileNameOf(const CustomResourceDefinition& definition) {
  return definition.spec.group + "_" + definition.spec.names.plural + ".yaml";
}

std::string YamlOf(const CustomResourceDefinition& definition) {
  auto tree = codec::JsonTree::Parse(codec::EncodeJson(definition));
  if (!tree) {
    return tree.error().message;  // never: it was encoded a moment ago
  }
  tree->Erase("status");
  return "# Generated by kubexx-codegen; do not edit.\n---\n" +
         codec::JsonToYaml(tree->ToJson()).value_or("");
}

}  // namespace kubexx::crdgen
