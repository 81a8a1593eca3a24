/// @file
/// The schemas of the types of the library, in JSON: those of controller-gen, with descriptions of
/// our own.
#ifndef KUBEXX_CRDGEN_KNOWN_SCHEMA_H_
#define KUBEXX_CRDGEN_KNOWN_SCHEMA_H_

#include <string_view>

namespace kubexx::crdgen {

// clang-format off
/// Of apimachinery::IntOrString.
inline constexpr std::string_view kIntOrStringSchema =
    R"json({
 "anyOf": [
  {
   "type": "integer"
  },
  {
   "type": "string"
  }
 ],
 "x-kubernetes-int-or-string": true
})json";

/// Of apimachinery::Quantity.
inline constexpr std::string_view kQuantitySchema =
    R"json({
 "anyOf": [
  {
   "type": "integer"
  },
  {
   "type": "string"
  }
 ],
 "pattern": "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
 "x-kubernetes-int-or-string": true
})json";

/// Of api::meta::v1::Condition.
inline constexpr std::string_view kConditionSchema =
    R"json({
 "description": "A Condition says how one side of the object stands.",
 "properties": {
  "lastTransitionTime": {
   "description": "When the status became what it is, or, where that is not known, when it was written.",
   "format": "date-time",
   "type": "string"
  },
  "message": {
   "description": "What a person should know about it. It may be empty.",
   "maxLength": 32768,
   "type": "string"
  },
  "observedGeneration": {
   "description": "The metadata.generation that the condition is about. If the object has a later one, the condition may be out of date.",
   "format": "int64",
   "minimum": 0,
   "type": "integer"
  },
  "reason": {
   "description": "Why the status is what it is: one word in CamelCase, for programs.",
   "maxLength": 1024,
   "minLength": 1,
   "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
   "type": "string"
  },
  "status": {
   "description": "True, False or Unknown.",
   "enum": [
    "True",
    "False",
    "Unknown"
   ],
   "type": "string"
  },
  "type": {
   "description": "What the condition is about, in CamelCase, also with a domain in front, as in example.com/Ready.",
   "maxLength": 316,
   "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
   "type": "string"
  }
 },
 "required": [
  "lastTransitionTime",
  "message",
  "reason",
  "status",
  "type"
 ],
 "type": "object"
})json";

/// Of an object without its own fields.
inline constexpr std::string_view kObjectSchema =
    R"json({
 "type": "object",
 "properties": {
  "apiVersion": {
   "description": "The group and the version of the schema that the object has.",
   "type": "string"
  },
  "kind": {
   "description": "The kind of the object, in CamelCase. It cannot be changed.",
   "type": "string"
  },
  "metadata": {
   "type": "object"
  }
 }
})json";
// clang-format on

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_KNOWN_SCHEMA_H_
