#include "kubexx/apiserver/managedfields/type.h"

#include <algorithm>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"

namespace kubexx::apiserver::managedfields {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::Cardinality;
using codec::FieldSchema;
using codec::JsonTree;
using codec::Kind;
using codec::TypeSchema;

/// Finds a field, also one that is inlined into the object around it.
std::pair<const TypeSchema*, const FieldSchema*> FindField(const TypeSchema& schema,
                                                           std::string_view name) {
  for (const FieldSchema& field : schema.fields) {
    if ((field.flags & codec::kInline) != 0 && field.message != nullptr) {
      if (const auto found = FindField(*field.message, name); found.second != nullptr) {
        return found;
      }
    } else if (field.name == name) {
      return {&schema, &field};
    }
  }
  return {nullptr, nullptr};
}

bool IsTrue(const JsonTree& schema, std::string_view member) {
  const JsonTree* const found = schema.Find(member);
  return found != nullptr && found->AsBool().value_or(false);
}

bool IsOpen(const FieldSchema& field) {
  return field.kind == Kind::kJsonValue || field.kind == Kind::kRawExtension ||
         field.kind == Kind::kFieldsV1;
}

bool IsNumber(const FieldSchema& field) {
  return field.kind == Kind::kInt32 || field.kind == Kind::kInt64 || field.kind == Kind::kUint32 ||
         field.kind == Kind::kUint64 || field.kind == Kind::kDouble;
}

bool IsPlainText(const FieldSchema& field) {
  return field.kind == Kind::kString || field.kind == Kind::kBytes;
}

std::vector<std::string_view> Split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parts.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

}  // namespace

Type Type::Builtin(const TypeSchema& schema) { return At(Form::kStruct, &schema, nullptr); }

Type Type::Custom(const JsonTree* schema) {
  static const JsonTree kOpen = [] {
    JsonTree open = JsonTree::Object();
    open["type"] = "object";
    open["x-kubernetes-preserve-unknown-fields"] = true;
    return open;
  }();
  Type type = OfCustom(schema == nullptr ? kOpen : *schema, false);
  type.root_ = true;
  return type;
}

Type Type::Anything() { return At(Form::kAnything, nullptr, nullptr); }

Type Type::At(Form form, const TypeSchema* schema, const FieldSchema* field) {
  Type type;
  type.form_ = form;
  type.schema_ = schema;
  type.field_ = field;
  return type;
}

Type Type::OfCustom(const JsonTree& schema, bool preserve) {
  Type type;
  type.form_ = Form::kCustom;
  type.custom_ = &schema;
  type.preserve_ = preserve || IsTrue(schema, "x-kubernetes-preserve-unknown-fields");
  return type;
}

const TypeSchema* Type::Struct() const {
  if (form_ == Form::kStruct) {
    return schema_;
  }
  return form_ == Form::kElement && field_->kind == Kind::kMessage ? field_->message : nullptr;
}

bool Type::IsUntyped() const {
  return form_ == Form::kAnything || form_ == Form::kAtom ||
         (form_ == Form::kElement && field_->kind == Kind::kJsonValue) ||
         (form_ == Form::kElement && field_->kind == Kind::kMessage &&
          field_->message->json_form != codec::JsonForm::kObject &&
          field_->message->json_form != codec::JsonForm::kBareObject) ||
         (form_ == Form::kCustom && custom_->TextAt("type").empty());
}

bool Type::IsMap() const {
  return Struct() != nullptr ||
         (form_ == Form::kContainer && field_->cardinality == Cardinality::kMap) ||
         (form_ == Form::kElement && IsOpen(*field_)) ||
         (form_ == Form::kCustom && custom_->TextAt("type") == "object");
}

bool Type::IsList() const {
  return (form_ == Form::kContainer && field_->cardinality == Cardinality::kRepeated) ||
         (form_ == Form::kElement && field_->kind == Kind::kStringList) ||
         (form_ == Form::kCustom && custom_->TextAt("type") == "array");
}

Type::Shape Type::ShapeOf(const JsonTree& value) const {
  if (!value.IsNull()) {
    return value.IsObject() ? Shape::kMap : (value.IsArray() ? Shape::kList : Shape::kScalar);
  }
  if (IsUntyped() || IsMap()) {
    return Shape::kMap;
  }
  return IsList() ? Shape::kList : Shape::kScalar;
}

bool Type::AtomicMap() const {
  if (form_ == Form::kAtom) {
    return true;
  }
  if (form_ == Form::kCustom) {
    return custom_->TextAt("x-kubernetes-map-type") == "atomic";
  }
  if (form_ != Form::kStruct && field_ != nullptr) {
    const MergeRule* const rule = MergeRuleOf(schema_->name, field_->name);
    if (rule != nullptr && form_ == Form::kContainer) {
      return rule->merge == Merge::kAtomic;
    }
    if (rule != nullptr && field_->cardinality != Cardinality::kRepeated &&
        field_->cardinality != Cardinality::kMap) {
      return rule->merge == Merge::kAtomic;
    }
  }
  const TypeSchema* const own = Struct();
  return own != nullptr && MergeRuleOf(own->name, "") != nullptr;
}

Merge Type::ListMerge() const {
  if (form_ == Form::kContainer) {
    const MergeRule* const rule = MergeRuleOf(schema_->name, field_->name);
    return rule == nullptr ? Merge::kAtomic : rule->merge;
  }
  if (form_ == Form::kCustom) {
    const std::string_view type = custom_->TextAt("x-kubernetes-list-type");
    return type == "map" ? Merge::kKeys : (type == "set" ? Merge::kSet : Merge::kAtomic);
  }
  return Merge::kAtomic;
}

bool Type::Declares(std::string_view member) const {
  if (form_ == Form::kCustom) {
    const JsonTree* const properties = custom_->Find("properties");
    return (IsWholeObject() &&
            (member == "metadata" || member == "apiVersion" || member == "kind")) ||
           (properties != nullptr && properties->Find(member) != nullptr);
  }
  const TypeSchema* const own = Struct();
  return own != nullptr && (FindField(*own, member).second != nullptr ||
                            (!own->kind.empty() && (member == "apiVersion" || member == "kind")));
}

const PatchRule* Type::PatchRuleOf(std::string_view member) const {
  const TypeSchema* const own = Struct();
  if (own == nullptr) {
    return nullptr;
  }
  const auto [owner, field] = FindField(*own, member);
  return field == nullptr ? nullptr : managedfields::PatchRuleOf(owner->name, field->name);
}

Type Type::Member(std::string_view name) const {
  switch (form_) {
    case Form::kAnything:
    case Form::kAtom:
      return At(form_, nullptr, nullptr);
    case Form::kCustom:
      return CustomMember(name);
    case Form::kContainer:
      return field_->cardinality == Cardinality::kMap ? At(Form::kElement, schema_, field_)
                                                      : Type();
    default:
      break;
  }
  if (form_ == Form::kElement && (IsOpen(*field_) || IsUntyped())) {
    return Anything();
  }
  const TypeSchema* const own = Struct();
  if (own == nullptr) {
    return {};
  }
  const auto [owner, field] = FindField(*own, name);
  if (field == nullptr) {
    return Declares(name) ? At(Form::kText, nullptr, nullptr) : Type();
  }
  const bool container =
      field->cardinality == Cardinality::kRepeated || field->cardinality == Cardinality::kMap;
  return At(container ? Form::kContainer : Form::kElement, owner, field);
}

bool Type::IsWholeObject() const {
  return root_ || IsTrue(*custom_, "x-kubernetes-embedded-resource");
}

bool Type::Prunes(std::string_view name) const {
  return form_ == Form::kCustom && IsMap() && !preserve_ && !Declares(name) &&
         custom_->Find("additionalProperties") == nullptr;
}

Type Type::CustomMember(std::string_view name) const {
  if (IsWholeObject() && name == "metadata") {
    return Builtin(codec::SchemaOf<api::meta::v1::ObjectMeta>());
  }
  if (IsWholeObject() && (name == "apiVersion" || name == "kind")) {
    return At(Form::kText, nullptr, nullptr);
  }
  const JsonTree* const properties = custom_->Find("properties");
  if (const JsonTree* const own = properties == nullptr ? nullptr : properties->Find(name)) {
    return OfCustom(*own, preserve_);
  }
  const JsonTree* const others = custom_->Find("additionalProperties");
  if (others == nullptr) {
    return preserve_ || properties == nullptr || properties->size() == 0 ? Anything() : Type();
  }
  if (others->IsObject()) {
    return OfCustom(*others, preserve_);
  }
  return others->AsBool().value_or(false) ? Anything() : Type();
}

Type Type::Element() const {
  if (form_ == Form::kContainer) {
    return At(Form::kElement, schema_, field_);
  }
  if (form_ == Form::kCustom) {
    const JsonTree* const items = custom_->Find("items");
    return items != nullptr && items->IsObject() ? OfCustom(*items, preserve_)
                                                 : At(Form::kAtom, nullptr, nullptr);
  }
  return At(Form::kAtom, nullptr, nullptr);
}

std::vector<std::string_view> Type::Keys() const {
  if (form_ == Form::kContainer) {
    const MergeRule* const rule = MergeRuleOf(schema_->name, field_->name);
    return rule == nullptr ? std::vector<std::string_view>() : Split(rule->keys);
  }
  std::vector<std::string_view> keys;
  const JsonTree* const list =
      form_ == Form::kCustom ? custom_->Find("x-kubernetes-list-map-keys") : nullptr;
  if (list != nullptr) {
    for (const JsonTree& key : list->elements()) {
      if (key.AsString() != nullptr) {
        keys.push_back(*key.AsString());
      }
    }
  }
  return keys;
}

std::optional<JsonTree> Type::DefaultOf(std::string_view key) const {
  if (form_ == Form::kCustom) {
    const JsonTree* const found = custom_->At({"items", "properties", key, "default"});
    return found == nullptr ? std::optional<JsonTree>() : *found;
  }
  if (form_ == Form::kContainer && field_->message != nullptr) {
    for (const KeyDefault& one : KeyDefaults()) {
      if (one.type == field_->message->name && one.field == key) {
        auto value = JsonTree::Parse(one.json);
        return value ? std::optional(std::move(*value)) : std::nullopt;
      }
    }
  }
  return std::nullopt;
}

Result<PathElement> Type::StepTo(const JsonTree& element) const {
  if (ListMerge() == Merge::kSet) {
    if (element.IsObject() || element.IsArray() || element.IsNull()) {
      return Fail(Reason::kMalformed, "an element of a set is not a scalar");
    }
    return PathElement::Value(element);
  }
  if (!element.IsObject()) {
    return Fail(Reason::kMalformed, "an element of an associative list with keys is not a map");
  }
  JsonTree keys = JsonTree::Object();
  std::string names;
  for (const std::string_view key : Keys()) {
    names += (names.empty() ? "\"" : " \"") + std::string(key) + "\"";
    if (const JsonTree* const own = element.Find(key)) {
      keys[key] = *own;
    } else if (std::optional<JsonTree> value = DefaultOf(key)) {
      keys[key] = std::move(*value);
    }
  }
  if (keys.size() == 0) {
    return Fail(Reason::kMalformed,
                "associative list with keys has an element that omits all key fields [" + names +
                    "] (and doesn't have default values for any key fields)");
  }
  return PathElement::Key(keys);
}

std::string_view Type::Mismatch(const JsonTree& value) const {
  if (value.IsNull() || IsUntyped()) {
    return {};
  }
  if (IsMap() || IsList()) {
    const bool fits = IsMap() ? value.IsObject() : value.IsArray();
    return fits ? "" : (IsMap() ? "expected map" : "expected list");
  }
  if (value.IsObject() || value.IsArray()) {
    return "expected a scalar";
  }
  const std::string_view type = form_ == Form::kCustom ? custom_->TextAt("type") : "";
  const bool built_in = form_ == Form::kElement;
  if ((type == "string" || (built_in && IsPlainText(*field_)) || form_ == Form::kText) &&
      value.AsString() == nullptr) {
    return "expected string";
  }
  if ((type == "integer" || type == "number" || (built_in && IsNumber(*field_))) &&
      !value.AsDouble()) {
    return "expected numeric (int or float)";
  }
  if ((type == "boolean" || (built_in && field_->kind == Kind::kBool)) && !value.AsBool()) {
    return "expected boolean";
  }
  return {};
}

}  // namespace kubexx::apiserver::managedfields
