#include "kubexx/crdgen/member_type.h"

#include <algorithm>
#include <map>
#include <string>

#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/known_schema.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

/// An alias of an alias of an alias ... is resolved so many times.
constexpr std::size_t kMaxAliases = 8;

// NOLINTBEGIN(modernize-use-designated-initializers): a table
constexpr KnownType kKnownTypes[] = {
    {"bool", "kBool", "", R"({"type":"boolean"})", true},
    {"std::int32_t", "kInt32", "", R"({"type":"integer","format":"int32"})", true},
    {"std::int64_t", "kInt64", "", R"({"type":"integer","format":"int64"})", true},
    {"double", "kDouble", "", R"({"type":"number"})", true},
    {"std::string", "kString", "", R"({"type":"string"})", true},
    {"::kubexx::apimachinery::Bytes", "kBytes", "", R"({"type":"string","format":"byte"})", true},
    {"::kubexx::apimachinery::IntOrString", "kIntOrString", "", kIntOrStringSchema, false},
    {"::kubexx::apimachinery::Quantity", "kQuantity", "", kQuantitySchema, false},
    {"::kubexx::apimachinery::Time", "kTime", "", R"({"type":"string","format":"date-time"})",
     false},
    {"::kubexx::apimachinery::MicroTime", "kMicroTime", "",
     R"({"type":"string","format":"date-time"})", false},
    {"::kubexx::apimachinery::DateTime", "kDateTime", "",
     R"({"type":"string","format":"date-time"})", false},
    {"::kubexx::apimachinery::Duration", "kDuration", "", R"({"type":"string"})", false},
    {"::kubexx::apimachinery::JsonValue", "kJsonValue", "",
     R"({"x-kubernetes-preserve-unknown-fields":true})", false},
    {"::kubexx::apimachinery::RawExtension", "kRawExtension", "",
     R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})", false},
    {"::kubexx::apimachinery::Bool", "kBool", "", R"({"type":"boolean"})", false},
    {"::kubexx::api::meta::v1::Condition", "kMessage",
     "::kubexx::api::meta::v1::internal::kConditionSchema", kConditionSchema, false},
};
// NOLINTEND(modernize-use-designated-initializers)

/// What to write instead of types that look useful.
std::string_view AdviceForType(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kAdvice = {
      {"std::uint32_t", "std::int64_t, with +kubebuilder:validation:Minimum=0"},
      {"std::uint64_t", "std::int64_t, with +kubebuilder:validation:Minimum=0"},
      {"std::size_t", "std::int64_t, with +kubebuilder:validation:Minimum=0"},
      {"std::int8_t", "std::int32_t"},
      {"std::int16_t", "std::int32_t"},
      {"std::string_view", "std::string"},
      {"std::set", "std::vector, with +listType=set"},
      {"std::unordered_set", "std::vector, with +listType=set"},
      {"std::list", "std::vector"},
      {"std::deque", "std::vector"},
      {"std::array", "std::vector, with +kubebuilder:validation:MinItems and MaxItems"},
      {"std::unordered_map", "std::map"},
      {"std::unique_ptr", "kubexx::apimachinery::Box, or std::optional"},
      {"std::shared_ptr", "kubexx::apimachinery::Box, or std::optional"},
      {"std::variant", "a struct with a std::optional for each alternative"},
      {"std::pair", "a struct with two members"},
      {"std::tuple", "a struct with a member for each value"},
      {"std::any", "kubexx::apimachinery::JsonValue"},
      {"std::chrono::seconds", "kubexx::apimachinery::Duration"},
      {"std::chrono::milliseconds", "kubexx::apimachinery::Duration"}};
  const auto advice = kAdvice.find(name);
  return advice == kAdvice.end() ? std::string_view() : advice->second;
}

/// Whether a type is this one of the library, with its namespaces or the last of them only.
bool IsLibraryType(std::string_view written, std::string_view name) {
  if (name.starts_with("std::")) {
    return written == name || (name.ends_with("_t") && written == name.substr(5));
  }
  if (!name.starts_with("::")) {
    return written == name;
  }
  name.remove_prefix(2);
  return written == name || (name.ends_with("::" + std::string(written)));
}

class TypeResolver {
 public:
  explicit TypeResolver(const Header& header) : header_(header) {}

  Result<MemberType> Run(const HeaderType& type) {
    KX_RETURN_IF_ERROR(Value(type, 0));
    return std::move(out_);
  }

 private:
  apimachinery::Error Error(const HeaderType& type, const std::string& message) const {
    return HeaderError(header_.path, type.line, message);
  }
  static bool IsOptional(const HeaderType& type) { return type.name == "std::optional"; }
  static bool IsBox(const HeaderType& type) {
    return !type.arguments.empty() && IsLibraryType(type.name, "::kubexx::apimachinery::Box");
  }
  Result<void> ExpectArguments(const HeaderType& type, std::size_t count) const {
    if (type.arguments.size() != count) {
      return Error(type, type.name + " has " + std::to_string(count) + " argument" +
                             (count == 1 ? "" : "s") + " in angle brackets");
    }
    return {};
  }

  /// The name of a type of this header without its namespaces, of which the first may be missing.
  std::string_view Unqualified(std::string_view name) const {
    const std::size_t colons = name.rfind("::");
    const bool is_own =
        colons != std::string_view::npos &&
        ("::" + header_.namespace_).ends_with("::" + std::string(name.substr(0, colons)));
    return is_own ? name.substr(colons + 2) : name;
  }

  /// With the containers around it.
  Result<void> Value(const HeaderType& type, int optionals) {
    if (IsOptional(type) || IsBox(type)) {
      KX_RETURN_IF_ERROR(ExpectArguments(type, 1));
      if (optionals == 2 || out_.is_box) {
        return Error(type, "there is one std::optional too many");
      }
      out_.is_box = IsBox(type);
      return Value(type.arguments[0], optionals + 1);
    }
    if (const auto alias = header_.alias_index.find(Unqualified(type.name));
        alias != header_.alias_index.end()) {
      KX_ASSIGN_OR_RETURN(const HeaderAlias* const found, AliasAt(type, alias->second));
      out_.aliases.push_back(found);
      if (IsOptional(found->type) || IsBox(found->type)) {
        return Error(found->type, "an alias must not be optional; write std::optional<" +
                                      found->name + "> at the member");
      }
      return Value(found->type, optionals);
    }
    if (type.name == "std::vector") {
      KX_RETURN_IF_ERROR(ExpectArguments(type, 1));
      out_.shape = Shape::kRepeated;
      KX_RETURN_IF_ERROR(Element(type.arguments[0]));
    } else if (type.name == "std::map") {
      KX_RETURN_IF_ERROR(ExpectArguments(type, 2));
      if (type.arguments[0].name != "std::string") {
        return Error(type, "the keys of a map are std::string in JSON");
      }
      out_.shape = Shape::kMap;
      KX_RETURN_IF_ERROR(Element(type.arguments[1]));
    } else {
      KX_RETURN_IF_ERROR(Element(type));
      out_.shape = optionals > 0 ? Shape::kOptional : Shape::kPlain;
    }
    const bool is_container = out_.shape == Shape::kRepeated || out_.shape == Shape::kMap;
    out_.is_optional_container = is_container && optionals > 0;
    out_.is_twice_optional = optionals > 1;
    const bool is_struct = out_.known == nullptr || !out_.known->table.empty();
    if (out_.is_box && (is_container || !is_struct)) {
      return Error(type, "a Box is for a struct; write std::optional");
    }
    return CheckBool(type);
  }

  /// A std::vector<bool> has no elements with an address.
  Result<void> CheckBool(const HeaderType& type) const {
    if (out_.known == nullptr || out_.known->kind != "kBool") {
      return {};
    }
    const bool is_bool = out_.known->name == "bool";
    if (is_bool == (out_.shape == Shape::kRepeated)) {
      return Error(type, is_bool ? "write std::vector<kubexx::apimachinery::Bool>, as a "
                                   "std::vector<bool> has no elements with an address"
                                 : "write bool; apimachinery::Bool is for lists");
    }
    return {};
  }

  /// Without containers.
  Result<void> Element(const HeaderType& type) {
    if (const auto alias = header_.alias_index.find(Unqualified(type.name));
        alias != header_.alias_index.end()) {
      KX_ASSIGN_OR_RETURN(const HeaderAlias* const found, AliasAt(type, alias->second));
      out_.element_aliases.push_back(found);
      return Element(found->type);
    }
    if (const auto structure = header_.struct_index.find(Unqualified(type.name));
        structure != header_.struct_index.end()) {
      KX_RETURN_IF_ERROR(ExpectArguments(type, 0));
      out_.structure = &header_.structs[structure->second];
      return {};
    }
    const auto* const known = std::ranges::find_if(kKnownTypes, [&type](const KnownType& other) {
      return IsLibraryType(type.name, other.name);
    });
    if (known != std::end(kKnownTypes)) {
      KX_RETURN_IF_ERROR(ExpectArguments(type, 0));
      out_.known = known;
      return {};
    }
    if (type.name == "std::vector" || type.name == "std::map" || IsOptional(type) || IsBox(type)) {
      return Error(type,
                   "a " + type.name +
                       " as an element of a list or map is not supported: make it a member of "
                       "a struct, or write kubexx::apimachinery::JsonValue");
    }
    if (const std::string_view advice = AdviceForType(type.name); !advice.empty()) {
      return Error(type, type.name + " is not supported: write " + std::string(advice));
    }
    return Error(type,
                 "the type " + type.name +
                     " is unknown: a member has a struct or an alias of this header, or a type "
                     "in the table of the page custom-resources.md");
  }

  /// One that was declared before.
  Result<const HeaderAlias*> AliasAt(const HeaderType& type, std::size_t index) const {
    if (out_.aliases.size() + out_.element_aliases.size() == kMaxAliases) {
      return Error(type, "there are too many aliases of aliases");
    }
    return &header_.aliases[index];
  }

  const Header& header_;
  MemberType out_;
};

}  // namespace

Result<MemberType> ResolveType(const Header& header, const HeaderType& type) {
  return TypeResolver(header).Run(type);
}

}  // namespace kubexx::crdgen
