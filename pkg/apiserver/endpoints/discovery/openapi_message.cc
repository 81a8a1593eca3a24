#include "kubexx/apiserver/endpoints/discovery/openapi_message.h"

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "kubexx/apiserver/endpoints/response/wire.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

struct MessageField;
using MessageFields = std::span<const MessageField>;
using Appender = void (*)(const MessageField& field, const JsonTree& value, std::string& out);

/// A member of a JSON object with its place in the protobuf message.
struct MessageField {
  std::string_view name;
  int tag;
  Appender append;
};

std::string MessageOf(MessageFields fields, const JsonTree& object);

void PutText(const MessageField& field, const JsonTree& value, std::string& out) {
  if (const std::string* const text = value.AsString()) {
    AppendField(field.tag, *text, out);
  }
}

void PutTexts(const MessageField& field, const JsonTree& value, std::string& out) {
  for (const JsonTree& element : value.elements()) {
    PutText(field, element, out);
  }
}

void PutFlag(const MessageField& field, const JsonTree& value, std::string& out) {
  if (value.AsBool().value_or(false)) {
    AppendNumber(field.tag, 1, out);
  }
}

void PutCount(const MessageField& field, const JsonTree& value, std::string& out) {
  AppendNumber(field.tag, static_cast<std::uint64_t>(value.AsInt().value_or(0)), out);
}

void PutDouble(const MessageField& field, const JsonTree& value, std::string& out) {
  AppendFixed64(field.tag, std::bit_cast<std::uint64_t>(value.AsDouble().value_or(0)), out);
}

/// Encodes openapi.v2.Any, whose YAML may be JSON.
std::string AnyMessage(const JsonTree& value) {
  std::string any;
  AppendField(2, value.ToJson(), any);
  return any;
}

void PutAny(const MessageField& field, const JsonTree& value, std::string& out) {
  AppendField(field.tag, AnyMessage(value), out);
}

void PutAnys(const MessageField& field, const JsonTree& value, std::string& out) {
  for (const JsonTree& element : value.elements()) {
    PutAny(field, element, out);
  }
}

/// Encodes a member of a map: {name = 1; value = 2}.
void AppendNamed(int tag, std::string_view name, std::string_view value, std::string& out) {
  std::string named;
  AppendField(1, name, named);
  AppendField(2, value, named);
  AppendField(tag, named, out);
}

std::string SchemaMessage(const JsonTree& schema);

void PutSchemas(const MessageField& field, const JsonTree& value, std::string& out) {
  for (const JsonTree& element : value.elements()) {
    AppendField(field.tag, SchemaMessage(element), out);
  }
}

/// Encodes a message of which `value` is one field: {schema = 1}.
void PutWrappedSchema(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string wrapped;
  if (const auto flag = value.AsBool()) {
    AppendNumber(2, *flag ? 1 : 0, wrapped);
  } else {
    AppendField(1, SchemaMessage(value), wrapped);
  }
  AppendField(field.tag, wrapped, out);
}

void PutWrappedText(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string wrapped;
  PutText({.name = {}, .tag = 1, .append = PutText}, value, wrapped);
  AppendField(field.tag, wrapped, out);
}

/// Encodes a map of schemas: {additional_properties = 1}.
void PutNamedSchemas(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string map;
  for (const JsonTree::Member& member : value.members()) {
    AppendNamed(1, member.key, SchemaMessage(member.value), map);
  }
  AppendField(field.tag, map, out);
}

constexpr MessageField kDocs[] = {{"description", 1, PutText}, {"url", 2, PutText}};

void PutDocs(const MessageField& field, const JsonTree& value, std::string& out) {
  AppendField(field.tag, MessageOf(kDocs, value), out);
}

constexpr MessageField kSchema[] = {
    {"$ref", 1, PutText},
    {"format", 2, PutText},
    {"title", 3, PutText},
    {"description", 4, PutText},
    {"default", 5, PutAny},
    {"multipleOf", 6, PutDouble},
    {"maximum", 7, PutDouble},
    {"exclusiveMaximum", 8, PutFlag},
    {"minimum", 9, PutDouble},
    {"exclusiveMinimum", 10, PutFlag},
    {"maxLength", 11, PutCount},
    {"minLength", 12, PutCount},
    {"pattern", 13, PutText},
    {"maxItems", 14, PutCount},
    {"minItems", 15, PutCount},
    {"uniqueItems", 16, PutFlag},
    {"maxProperties", 17, PutCount},
    {"minProperties", 18, PutCount},
    {"required", 19, PutTexts},
    {"enum", 20, PutAnys},
    {"additionalProperties", 21, PutWrappedSchema},
    {"type", 22, PutWrappedText},
    {"items", 23, PutWrappedSchema},
    {"allOf", 24, PutSchemas},
    {"properties", 25, PutNamedSchemas},
    {"externalDocs", 29, PutDocs},
    {"example", 30, PutAny},
};
constexpr int kSchemaExtensions = 31;

void AppendExtensions(int tag, const JsonTree& object, std::string& out) {
  for (const JsonTree::Member& member : object.members()) {
    if (member.key.starts_with("x-")) {
      AppendNamed(tag, member.key, AnyMessage(member.value), out);
    }
  }
}

std::string SchemaMessage(const JsonTree& schema) {
  std::string message = MessageOf(kSchema, schema);
  AppendExtensions(kSchemaExtensions, schema, message);
  return message;
}

constexpr MessageField kQueryParameter[] = {
    {"required", 1, PutFlag}, {"in", 2, PutText},   {"description", 3, PutText},
    {"name", 4, PutText},     {"type", 6, PutText}, {"uniqueItems", 20, PutFlag}};

/// Encodes the ParametersItem.parameter.non_body_parameter.query_parameter_sub_schema of each.
void PutQueryParameters(const MessageField& field, const JsonTree& value, std::string& out) {
  for (const JsonTree& one : value.elements()) {
    std::string non_body;
    AppendField(3, MessageOf(kQueryParameter, one), non_body);
    std::string parameter;
    AppendField(2, non_body, parameter);
    std::string item;
    AppendField(1, parameter, item);
    AppendField(field.tag, item, out);
  }
}

constexpr MessageField kResponse[] = {{"description", 1, PutText}};

void PutResponses(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string responses;
  for (const JsonTree::Member& member : value.members()) {
    std::string response;
    AppendField(1, MessageOf(kResponse, member.value), response);
    AppendNamed(1, member.key, response, responses);
  }
  AppendField(field.tag, responses, out);
}

constexpr MessageField kOperation[] = {{"description", 3, PutText},
                                       {"operationId", 5, PutText},
                                       {"parameters", 8, PutQueryParameters},
                                       {"responses", 9, PutResponses}};
constexpr int kOperationExtensions = 13;

void PutOperation(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string operation = MessageOf(kOperation, value);
  AppendExtensions(kOperationExtensions, value, operation);
  AppendField(field.tag, operation, out);
}

constexpr MessageField kPathItem[] = {{"patch", 8, PutOperation}};

void PutPaths(const MessageField& field, const JsonTree& value, std::string& out) {
  std::string paths;
  for (const JsonTree::Member& path : value.members()) {
    AppendNamed(2, path.key, MessageOf(kPathItem, path.value), paths);
  }
  AppendField(field.tag, paths, out);
}

constexpr MessageField kInfo[] = {{"title", 1, PutText}, {"version", 2, PutText}};

void PutInfo(const MessageField& field, const JsonTree& value, std::string& out) {
  AppendField(field.tag, MessageOf(kInfo, value), out);
}

constexpr MessageField kDocument[] = {{"swagger", 1, PutText},
                                      {"info", 2, PutInfo},
                                      {"paths", 8, PutPaths},
                                      {"definitions", 9, PutNamedSchemas}};

std::string MessageOf(MessageFields fields, const JsonTree& object) {
  std::string message;
  for (const MessageField& field : fields) {
    if (const JsonTree* const value = object.Find(field.name)) {
      field.append(field, *value, message);
    }
  }
  return message;
}

}  // namespace

std::string OpenApiMessage(const JsonTree& document) { return MessageOf(kDocument, document); }

}  // namespace kubexx::apiserver
