#include "kubexx/crdgen/resolved_header.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/member_initialiser.h"
#include "kubexx/crdgen/names.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

/// Structs in structs in structs ... nest no deeper.
constexpr int kMaxStructDepth = 64;

constexpr std::string_view kRootMarker = "kubebuilder:object:root";
/// What only the object itself may have.
constexpr std::string_view kRootOnly[] = {
    "kubebuilder:resource",          "kubebuilder:subresource:status",
    "kubebuilder:subresource:scale", "kubebuilder:printcolumn",
    "kubebuilder:selectablefield",   "kubebuilder:metadata",
    "kubebuilder:storageversion",    "kubebuilder:unservedversion",
    "kubebuilder:deprecatedversion"};

/// v1, v2beta1 and the like, as namespaces of types are called.
bool IsApiVersion(std::string_view text) {
  const auto skip_number = [&text] {
    const std::size_t begin = text.size();
    while (!text.empty() && base::IsDigit(text[0])) {
      text.remove_prefix(1);
    }
    return text.size() < begin;
  };
  if (!text.starts_with('v')) {
    return false;
  }
  text.remove_prefix(1);
  if (!skip_number() || text.empty()) {
    return text.empty();
  }
  for (const std::string_view stage : {"alpha", "beta"}) {
    if (text.starts_with(stage)) {
      text.remove_prefix(stage.size());
      return skip_number() && text.empty();
    }
  }
  return false;
}

/// Whether the API server takes it for a group, or for a version if `may_have_dots` is false.
bool IsDomain(std::string_view text, bool may_have_dots) {
  return !text.empty() && base::IsLowerAlphanumeric(text.front()) &&
         base::IsLowerAlphanumeric(text.back()) && std::ranges::all_of(text, [&](char c) {
           return base::IsLowerAlphanumeric(c) || c == '-' || (c == '.' && may_have_dots);
         });
}

bool IsRoot(const HeaderStruct& structure) {
  const Marker* const marker = FindMarker(structure.comment.markers, kRootMarker);
  return marker != nullptr && marker->Find("")->AsBool().value_or(false);
}

class HeaderResolver {
 public:
  explicit HeaderResolver(const Header& header) : header_(header) { out_.header = &header; }

  Result<ResolvedHeader> Run() {
    KX_ASSIGN_OR_RETURN(const HeaderStruct* const root, Root());
    KX_RETURN_IF_ERROR(GroupAndVersion(*root));
    KX_RETURN_IF_ERROR(Metadata(*root));
    KX_RETURN_IF_ERROR(Add(*root, 0));
    return std::move(out_);
  }

 private:
  apimachinery::Error Error(std::size_t line, const std::string& message) const {
    return HeaderError(header_.path, line, message);
  }

  Result<const HeaderStruct*> Root() const {
    const HeaderStruct* root = nullptr;
    for (const HeaderStruct& structure : header_.structs) {
      if (!IsRoot(structure)) {
        KX_RETURN_IF_ERROR(CheckNoRoot(structure));
        continue;
      }
      if (root != nullptr) {
        return Error(structure.line, "a header has one kind, which is " + root->name + "; put " +
                                         structure.name + " into a header of its own");
      }
      root = &structure;
    }
    if (root == nullptr) {
      return Error(1, "there is no struct with +kubebuilder:object:root=true above it");
    }
    return root;
  }
  Result<void> CheckNoRoot(const HeaderStruct& structure) const {
    for (const Marker& marker : structure.comment.markers) {
      if (std::ranges::find(kRootOnly, marker.name()) != std::end(kRootOnly)) {
        return Error(
            marker.line,
            marker.Shown() + " belongs above the struct with +kubebuilder:object:root=true");
      }
    }
    return {};
  }

  Result<void> GroupAndVersion(const HeaderStruct& root) {
    const Marker* const group = FindMarker(header_.markers, "groupName");
    if (group == nullptr) {
      return Error(root.line,
                   "the group is missing: write '// +groupName=example.com' above the namespace");
    }
    out_.group = group->Text();
    if (!IsDomain(out_.group, true) || !out_.group.contains('.')) {
      return Error(group->line, "'" + out_.group + "' is not a group, such as example.com");
    }
    if (const Marker* const version = FindMarker(header_.markers, "versionName")) {
      out_.version = version->Text();
      if (!IsDomain(out_.version, false)) {
        return Error(version->line, "'" + out_.version + "' is not a version, such as v1");
      }
      return {};
    }
    // The package's name is the version in Go, too.
    const std::size_t colon = header_.namespace_.rfind(':');
    out_.version =
        colon == std::string::npos ? header_.namespace_ : header_.namespace_.substr(colon + 1);
    if (!IsApiVersion(out_.version)) {
      return Error(
          root.line,
          "the version is missing: write '// +versionName=v1' above the namespace, or give "
          "the namespace a version as its last name, as example_com::v1");
    }
    return {};
  }

  Result<void> Metadata(const HeaderStruct& root) {
    if (root.members.empty() || root.members[0].name != "metadata" ||
        !("::kubexx::api::meta::v1::" + root.members[0].type.name).ends_with("::ObjectMeta")) {
      return Error(root.line, "the first member of " + root.name +
                                  " must be 'kubexx::api::meta::v1::ObjectMeta metadata;'");
    }
    out_.metadata = root.members.data();
    if (!IsInitiallyEmpty(*out_.metadata, {})) {
      return Error(out_.metadata->line, "the metadata must have no initialiser other than {}");
    }
    for (const Marker& marker : out_.metadata->comment.markers) {
      return Error(marker.line, marker.Shown() + " is not supported for the metadata");
    }
    return {};
  }

  /// After the structs of its members.
  Result<void> Add(const HeaderStruct& structure, int depth) {
    if (depth > kMaxStructDepth) {
      return Error(structure.line, "the structs nest too deeply");
    }
    if (!open_.insert(&structure).second) {
      return Error(structure.line, structure.name +
                                       " contains itself, which no definition can say: write "
                                       "kubexx::apimachinery::JsonValue for the inner one");
    }
    int height = 0;
    ResolvedStruct resolved{.structure = &structure};
    std::set<std::string, std::less<>> names;
    if (IsRoot(structure)) {
      names = {"apiVersion", "kind", "metadata"};
    }
    for (const HeaderMember& member : structure.members) {
      if (&member == out_.metadata) {
        continue;
      }
      KX_ASSIGN_OR_RETURN(ResolvedMember field, Field(member));
      if (!names.insert(field.json_name).second) {
        return Error(member.line, "there is a field " + field.json_name + " already");
      }
      const HeaderStruct* const inner = field.type.structure;
      if (inner != nullptr && !added_.contains(inner)) {  // or around this one
        KX_RETURN_IF_ERROR(Add(*inner, depth + 1));
      }
      if (inner != nullptr) {
        height = std::max(height, added_.at(inner) + 1);
      }
      resolved.members.push_back(std::move(field));
    }
    if (height > kMaxStructDepth) {
      return Error(structure.line, "the structs nest too deeply");
    }
    open_.erase(&structure);
    added_.emplace(&structure, height);
    out_.structs.push_back(std::move(resolved));
    return {};
  }

  Result<ResolvedMember> Field(const HeaderMember& member) const {
    ResolvedMember field{.member = &member};
    KX_ASSIGN_OR_RETURN(field.type, ResolveType(header_, member.type));
    const Marker* const name = FindMarker(member.comment.markers, "jsonName");
    field.json_name = name != nullptr ? name->Text() : JsonName(member.name);
    if (field.json_name.empty()) {
      const std::string spelling = JsonSpelling(member.name);
      return Error(member.line,
                   "the name in JSON of " + member.name + " would be '" + spelling +
                       "', and a field of that name has a member " + MemberName(spelling) +
                       ": call it so, or write '// +jsonName=" + spelling + "' above it");
    }
    field.is_nullable = FindMarker(member.comment.markers, "nullable") != nullptr;
    KX_RETURN_IF_ERROR(SetRequired(field));
    KX_RETURN_IF_ERROR(CheckNull(field));
    KX_RETURN_IF_ERROR(CheckInitialiser(field));
    return field;
  }

  static const Marker* DefaultOf(const HeaderMember& member) {
    const Marker* const marker = FindMarker(member.comment.markers, "kubebuilder:default");
    return marker != nullptr ? marker : FindMarker(member.comment.markers, "default");
  }
  static bool IsOptional(const MemberType& type) {
    return type.shape == Shape::kOptional || type.is_optional_container;
  }

  /// Whether a member with this value, which may be left out, is left out.
  static bool IsLeftOut(const codec::JsonTree& value) {
    const std::string* text = value.AsString();
    return value.IsNull() || value.AsBool() == false || value.AsDouble() == 0.0 ||
           (text != nullptr && text->empty()) ||
           ((value.IsObject() || value.IsArray()) && value.size() == 0);
  }

  Result<void> SetRequired(ResolvedMember& field) const {
    const HeaderMember& member = *field.member;
    bool is_required = false;
    bool is_optional = false;
    for (const Marker& marker : member.comment.markers) {
      is_required = is_required || marker.name() == "required" ||
                    marker.name() == "kubebuilder:validation:Required";
      is_optional = is_optional || marker.name() == "optional" ||
                    marker.name() == "kubebuilder:validation:Optional";
    }
    if (is_required && is_optional) {
      return Error(member.line, member.name + " cannot be required and optional");
    }
    const MemberType& type = field.type;
    field.is_required = is_required || (!is_optional && !IsOptional(type));
    const Marker* const by_default = DefaultOf(member);
    if (!field.is_required && !IsOptional(type) && by_default != nullptr &&
        !IsLeftOut(*by_default->Find({}))) {
      return Error(member.line, member.name +
                                    " is left out where it is empty, 0 or false, and the server "
                                    "puts the default in its place: put its type into "
                                    "std::optional");
    }
    if (IsOptional(type) || type.shape == Shape::kRepeated || type.shape == Shape::kMap) {
      return {};
    }
    if (!field.is_required && (type.known == nullptr || !type.known->may_be_omitted)) {
      return Error(member.line, "JSON cannot leave out " + member.name +
                                    " when it is not set: put its type into std::optional");
    }
    if (field.is_required && type.known != nullptr && type.known->kind == "kBytes") {
      return Error(member.line, "bytes that are empty are null in JSON: put the type of " +
                                    member.name + " into std::optional, with +required above it");
    }
    return {};
  }

  /// That what may be null has a place for it, and nothing else has.
  Result<void> CheckNull(const ResolvedMember& field) const {
    const MemberType& type = field.type;
    const bool is_json = type.known != nullptr && type.known->kind == "kJsonValue";
    if (field.is_nullable && !IsOptional(type) && !(is_json && type.shape == Shape::kPlain)) {
      return Error(field.member->line,
                   field.member->name +
                       " has no place for null: put its type into std::optional, or twice so that "
                       "null differs from a missing field");
    }
    if (type.is_twice_optional && (!field.is_nullable || field.is_required || is_json)) {
      return Error(field.member->line,
                   "two std::optional are for a field that may be missing or null; " +
                       field.member->name +
                       (is_json             ? " is JSON, which knows null, so one is enough"
                        : field.is_required ? " may not be missing"
                                            : " has no +nullable"));
    }
    return {};
  }

  /// That no initialiser shows where the server has no value. What is read begins as a new object,
  /// and a field that is missing changes nothing in it; a write would then store the initialiser.
  Result<void> CheckInitialiser(const ResolvedMember& field) const {
    const HeaderMember& member = *field.member;
    const MemberType& type = field.type;
    if (IsInitiallyEmpty(member, type)) {
      return {};
    }
    const bool is_struct = type.structure != nullptr || !type.known->table.empty();
    if (is_struct && type.shape == Shape::kPlain) {
      return Error(member.line, "the initialiser of " + member.name +
                                    " would be read where fields of it are missing: write '" +
                                    member.name + "{}', and initialise the members of " +
                                    member.type.name);
    }
    if (field.is_required || DefaultOf(member) != nullptr) {
      return {};
    }
    return Error(member.line, member.name +
                                  " may be missing, and its initialiser would be read instead: "
                                  "write '" +
                                  member.name +
                                  "{}', or let the server fill in the value: put "
                                  "+kubebuilder:default=... above it" +
                                  (IsOptional(type) ? "" : ", and its type into std::optional"));
  }

  const Header& header_;
  ResolvedHeader out_;
  std::set<const HeaderStruct*> open_;        ///< those around the one that is added
  std::map<const HeaderStruct*, int> added_;  ///< with the levels of structs in them
};

}  // namespace

Result<ResolvedHeader> ResolveHeader(const Header& header) { return HeaderResolver(header).Run(); }

}  // namespace kubexx::crdgen
