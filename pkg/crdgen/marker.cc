#include "kubexx/crdgen/marker.h"

#include <algorithm>
#include <optional>

#include "kubexx/crdgen/header_lexer.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

/// Two names that differ in more are not taken for each other's misspelling.
constexpr std::size_t kMaxTypos = 3;
/// A longer marker is none that a person wrote.
constexpr std::size_t kMaxMarkerBytes = std::size_t{16} << 10;

constexpr std::string_view kItemsPrefix = "kubebuilder:validation:items:";
constexpr std::string_view kValidationPrefix = "kubebuilder:validation:";

// NOLINTBEGIN(modernize-use-designated-initializers): tables, with a row for each argument and rule
constexpr MarkerArgument kTakesBool[] = {{"", MarkerValue::kBool}};
constexpr MarkerArgument kTakesCount[] = {{"", MarkerValue::kCount}};
constexpr MarkerArgument kTakesNumber[] = {{"", MarkerValue::kNumber}};
constexpr MarkerArgument kTakesText[] = {{"", MarkerValue::kText}};
constexpr MarkerArgument kTakesAny[] = {{"", MarkerValue::kAny}};
constexpr MarkerArgument kTakesList[] = {{"", MarkerValue::kList}};
constexpr MarkerArgument kTakesJson[] = {{"", MarkerValue::kJson}};
constexpr MarkerArgument kResourceArguments[] = {{"path", MarkerValue::kText, false},
                                                 {"singular", MarkerValue::kText, false},
                                                 {"shortName", MarkerValue::kTexts, false},
                                                 {"categories", MarkerValue::kTexts, false},
                                                 {"scope", MarkerValue::kText, false}};
constexpr MarkerArgument kScaleArguments[] = {{"specpath", MarkerValue::kText},
                                              {"statuspath", MarkerValue::kText},
                                              {"selectorpath", MarkerValue::kText, false}};
constexpr MarkerArgument kColumnArguments[] = {
    {"name", MarkerValue::kText},          {"type", MarkerValue::kText},
    {"JSONPath", MarkerValue::kText},      {"description", MarkerValue::kText, false},
    {"format", MarkerValue::kText, false}, {"priority", MarkerValue::kInteger, false}};
constexpr MarkerArgument kDeprecatedArguments[] = {{"warning", MarkerValue::kText, false}};
constexpr MarkerArgument kSelectableArguments[] = {{"JSONPath", MarkerValue::kText}};
constexpr MarkerArgument kMetadataArguments[] = {{"annotations", MarkerValue::kTexts, false},
                                                 {"labels", MarkerValue::kTexts, false}};
constexpr MarkerArgument kRuleArguments[] = {{"rule", MarkerValue::kText},
                                             {"message", MarkerValue::kText, false},
                                             {"messageExpression", MarkerValue::kText, false},
                                             {"reason", MarkerValue::kText, false},
                                             {"fieldPath", MarkerValue::kText, false},
                                             {"optionalOldSelf", MarkerValue::kBool, false}};

/// A value has a schema of its own in these places.
constexpr std::uint8_t kOnValue = kOnMember | kOnAlias;
constexpr std::uint8_t kOnSchema = kOnValue | kOnStruct;

constexpr MarkerRule kRules[] = {
    {"groupName", kOnHeader, false, kTakesText},
    {"versionName", kOnHeader, false, kTakesText},
    {"kubebuilder:object:root", kOnStruct, false, kTakesBool},
    {"kubebuilder:resource", kOnStruct, false, kResourceArguments},
    {"kubebuilder:subresource:status", kOnStruct, false, {}},
    {"kubebuilder:subresource:scale", kOnStruct, false, kScaleArguments},
    {"kubebuilder:printcolumn", kOnStruct, true, kColumnArguments},
    {"kubebuilder:selectablefield", kOnStruct, true, kSelectableArguments},
    {"kubebuilder:metadata", kOnStruct, true, kMetadataArguments},
    {"kubebuilder:storageversion", kOnStruct, false, {}},
    {"kubebuilder:unservedversion", kOnStruct, false, {}},
    {"kubebuilder:deprecatedversion", kOnStruct, false, kDeprecatedArguments},
    {"kubebuilder:validation:Minimum", kOnValue, false, kTakesNumber},
    {"kubebuilder:validation:Maximum", kOnValue, false, kTakesNumber},
    {"kubebuilder:validation:ExclusiveMinimum", kOnValue, false, kTakesBool},
    {"kubebuilder:validation:ExclusiveMaximum", kOnValue, false, kTakesBool},
    {"kubebuilder:validation:MultipleOf", kOnValue, false, kTakesNumber},
    {"kubebuilder:validation:MinLength", kOnValue, false, kTakesCount},
    {"kubebuilder:validation:MaxLength", kOnValue, false, kTakesCount},
    {"kubebuilder:validation:Pattern", kOnValue, false, kTakesText},
    {"kubebuilder:validation:Format", kOnValue, false, kTakesText},
    {"kubebuilder:validation:Enum", kOnValue, false, kTakesList},
    {"kubebuilder:validation:MinItems", kOnValue, false, kTakesCount},
    {"kubebuilder:validation:MaxItems", kOnValue, false, kTakesCount},
    {"kubebuilder:validation:UniqueItems", kOnValue, false, kTakesBool},
    {"kubebuilder:validation:MinProperties", kOnSchema, false, kTakesCount},
    {"kubebuilder:validation:MaxProperties", kOnSchema, false, kTakesCount},
    {"kubebuilder:validation:Type", kOnValue, false, kTakesText},
    {"kubebuilder:validation:XValidation", kOnSchema, true, kRuleArguments},
    {"kubebuilder:validation:XIntOrString", kOnValue, false, {}},
    {"kubebuilder:validation:XPreserveUnknownFields", kOnValue, false, {}},
    {"kubebuilder:validation:EmbeddedResource", kOnMember, false, {}},
    {"kubebuilder:validation:XEmbeddedResource", kOnValue, false, {}},
    {"kubebuilder:validation:Required", kOnMember, false, {}},
    {"kubebuilder:validation:Optional", kOnMember, false, {}},
    {"kubebuilder:pruning:PreserveUnknownFields", kOnValue, false, {}},
    {"kubebuilder:default", kOnMember, false, kTakesAny},
    {"kubebuilder:example", kOnMember, false, kTakesAny},
    {"kubebuilder:title", kOnSchema, false, kTakesText},
    {"default", kOnMember, false, kTakesJson},
    {"required", kOnMember, false, {}},
    {"optional", kOnMember, false, {}},
    {"nullable", kOnMember, false, {}},
    {"listType", kOnValue, false, kTakesText},
    {"listMapKey", kOnValue, true, kTakesText},
    {"mapType", kOnValue, false, kTakesText},
    {"structType", kOnMember | kOnStruct, false, kTakesText},
    {"jsonName", kOnMember, false, kTakesText},
};
// NOLINTEND(modernize-use-designated-initializers)

const MarkerRule* RuleNamed(std::string_view name) {
  const auto* const rule = std::ranges::find(kRules, name, &MarkerRule::name);
  return rule == std::end(kRules) ? nullptr : rule;
}

/// The number of characters to add, remove or change that makes one name of the other, in capital
/// letters or not.
std::size_t Typos(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool is_same = (a[i] | 0x20) == (b[j] | 0x20);
      const std::size_t change = diagonal + (is_same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// How far a name is from that of a rule, whose first argument may follow it.
std::size_t DistanceTo(const MarkerRule& rule, std::string_view name) {
  if (rule.name.ends_with(":" + std::string(name))) {
    return 0;  // "+Minimum"
  }
  if (!rule.arguments.empty() && !rule.arguments[0].name.empty()) {
    name = name.substr(0, name.rfind(':'));  // "+kubebuilder:printcolumns:name"
  }
  return name.size() > rule.name.size() + kMaxTypos ? kMaxTypos + 1 : Typos(name, rule.name);
}

/// What a person may have meant.
std::string HintFor(std::string_view name) {
  const MarkerRule* best = nullptr;
  std::size_t fewest = kMaxTypos + 1;
  for (const MarkerRule& rule : kRules) {
    const std::size_t distance = DistanceTo(rule, name);
    if (distance < fewest) {
      fewest = distance;
      best = &rule;
    }
  }
  if (best != nullptr) {
    return "; is +" + std::string(best->name) + " meant?";
  }
  return "; the page custom-resources.md has a list of the markers, and a comment that is none "
         "must "
         "not begin with '+'";
}

std::string PlacesOf(const MarkerRule& rule) {
  std::string places;
  const auto add = [&](MarkerPlaces place, std::string_view text) {
    if ((rule.places & place) != 0) {
      places += (places.empty() ? "" : " or ") + std::string(text);
    }
  };
  add(kOnHeader, "the namespace");
  add(kOnStruct, "a struct");
  add(kOnAlias, "a 'using'");
  add(kOnMember, "a member");
  return places;
}

std::string NamesOf(std::span<const MarkerArgument> arguments) {
  std::string names;
  for (const MarkerArgument& argument : arguments) {
    names += (names.empty() ? "" : ", ") + std::string(argument.name);
  }
  return names;
}

/// Reads one marker.
class MarkerParser {
 public:
  MarkerParser(std::string_view path, std::size_t line) : path_(path) { marker_.line = line; }

  Result<Marker> Read(std::string_view text, MarkerPlaces place) {
    if (text.size() > kMaxMarkerBytes) {
      return Error("the marker is too long");
    }
    marker_.size = text.size();
    text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    std::string name(text.substr(0, equals));
    while (name.ends_with(' ')) {
      name.pop_back();
    }
    std::string rest(equals == std::string_view::npos ? "" : text.substr(equals + 1));
    const bool has_value = equals != std::string_view::npos;
    if (name.starts_with(kItemsPrefix)) {
      marker_.is_for_items = true;
      name = std::string(kValidationPrefix) + name.substr(kItemsPrefix.size());
    }
    marker_.rule = RuleNamed(name);
    if (marker_.rule == nullptr && has_value && name.contains(':')) {
      // The name of the first argument follows that of the marker.
      const std::size_t end = name.rfind(':');
      marker_.rule = RuleNamed(name.substr(0, end));
      rest = name.substr(end + 1) + "=" + rest;
      if (marker_.rule != nullptr && !IsNamed()) {
        marker_.rule = nullptr;
      }
    } else if (marker_.rule != nullptr && IsNamed() && has_value) {
      return Error(Name() + " has named arguments: +" + name + ":" +
                   std::string(marker_.rule->arguments[0].name) + "=...");
    }
    if (marker_.rule == nullptr || (marker_.is_for_items && !IsForValues())) {
      return Error("the marker +" + name + " is unknown" + HintFor(name));
    }
    if ((marker_.rule->places & place) == 0) {
      return Error(Name() + " belongs above " + PlacesOf(*marker_.rule));
    }
    KX_RETURN_IF_ERROR(ReadArguments(rest, has_value));
    return std::move(marker_);
  }

 private:
  apimachinery::Error Error(const std::string& message) const {
    return HeaderError(path_, marker_.line, message);
  }
  std::string Name() const { return marker_.Shown(); }
  bool IsNamed() const {
    return !marker_.rule->arguments.empty() && !marker_.rule->arguments[0].name.empty();
  }
  bool IsForValues() const {
    return (marker_.rule->places & kOnAlias) != 0 && marker_.name().starts_with(kValidationPrefix);
  }

  Result<void> ReadArguments(std::string_view text, bool has_value) {
    const std::span<const MarkerArgument> arguments = marker_.rule->arguments;
    if (arguments.empty()) {
      return has_value ? Result<void>(Error(Name() + " has no value")) : Result<void>();
    }
    MarkerReader reader(text);
    if (!IsNamed()) {
      if (!has_value) {
        return Error(Name() + " needs a value: +" + std::string(marker_.name()) + "=...");
      }
      KX_RETURN_IF_ERROR(ReadValue(arguments[0], reader));
    } else if (has_value) {
      do {
        KX_RETURN_IF_ERROR(ReadNamed(reader));
      } while (reader.Accept(','));
    }
    if (!reader.AtEnd()) {
      return Error(Name() + ": '" + std::string(reader.rest()) +
                   "' is too much; put the value in quotation marks, or in backquotes");
    }
    for (const MarkerArgument& argument : arguments) {
      if (argument.is_required && marker_.Find(argument.name) == nullptr) {
        return Error(Name() + " needs " + std::string(argument.name) + "=...");
      }
    }
    return {};
  }

  Result<void> ReadNamed(MarkerReader& reader) {
    const std::string name(reader.ReadName());
    const std::span<const MarkerArgument> arguments = marker_.rule->arguments;
    const auto argument = std::ranges::find(arguments, name, &MarkerArgument::name);
    if (argument == arguments.end()) {
      return Error(Name() + " has no argument '" + name + "'; there are " + NamesOf(arguments));
    }
    if (marker_.Find(name) != nullptr) {
      return Error(Name() + " has " + name + " twice");
    }
    if (!reader.Accept('=')) {
      return Error(Name() + ": " + name + " has no '=' and no value after it");
    }
    return ReadValue(*argument, reader);
  }

  Result<void> ReadValue(const MarkerArgument& argument, MarkerReader& reader) {
    auto value = reader.Read(argument.type);
    if (!value) {
      return Error(Name() + (argument.name.empty() ? "" : ": " + std::string(argument.name)) +
                   ": " + value.error().message);
    }
    marker_.arguments.emplace_back(argument.name, std::move(*value));
    return {};
  }

  const std::string_view path_;
  Marker marker_;
};

}  // namespace

std::string Marker::Shown() const {
  if (is_for_items) {
    return "+" + std::string(kItemsPrefix) + std::string(name().substr(kValidationPrefix.size()));
  }
  return "+" + std::string(name());
}

const codec::JsonTree* Marker::Find(std::string_view argument) const {
  for (const auto& [name, value] : arguments) {
    if (name == argument) {
      return &value;
    }
  }
  return nullptr;
}

std::string Marker::Text(std::string_view argument) const {
  const codec::JsonTree* const value = Find(argument);
  const std::string* const text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? "" : *text;
}

std::vector<std::string> Marker::Texts(std::string_view argument) const {
  std::vector<std::string> texts;
  const codec::JsonTree* const value = Find(argument);
  if (value != nullptr) {
    for (const codec::JsonTree& element : value->elements()) {
      texts.push_back(*element.AsString());
    }
  }
  return texts;
}

Result<Marker> ReadMarker(std::string_view text, MarkerPlaces place, std::string_view path,
                          std::size_t line) {
  return MarkerParser(path, line).Read(text, place);
}

const Marker* FindMarker(std::span<const Marker> markers, std::string_view name) {
  const auto found = std::ranges::find_if(markers, [name](const Marker& marker) {
    return marker.name() == name && !marker.is_for_items;
  });
  return found == markers.end() ? nullptr : &*found;
}

}  // namespace kubexx::crdgen
