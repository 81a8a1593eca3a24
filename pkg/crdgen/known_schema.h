/// @file
/// The schemas that controller-gen gives the types of the library, in JSON.
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
 "description": "Condition contains details for one aspect of the current state of this API Resource.",
 "properties": {
  "lastTransitionTime": {
   "description": "lastTransitionTime is the last time the condition transitioned from one status to another.\nThis should be when the underlying condition changed.  If that is not known, then using the time when the API field changed is acceptable.",
   "format": "date-time",
   "type": "string"
  },
  "message": {
   "description": "message is a human readable message indicating details about the transition.\nThis may be an empty string.",
   "maxLength": 32768,
   "type": "string"
  },
  "observedGeneration": {
   "description": "observedGeneration represents the .metadata.generation that the condition was set based upon.\nFor instance, if .metadata.generation is currently 12, but the .status.conditions[x].observedGeneration is 9, the condition is out of date\nwith respect to the current state of the instance.",
   "format": "int64",
   "minimum": 0,
   "type": "integer"
  },
  "reason": {
   "description": "reason contains a programmatic identifier indicating the reason for the condition's last transition.\nProducers of specific condition types may define expected values and meanings for this field,\nand whether the values are considered a guaranteed API.\nThe value should be a CamelCase string.\nThis field may not be empty.",
   "maxLength": 1024,
   "minLength": 1,
   "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
   "type": "string"
  },
  "status": {
   "description": "status of the condition, one of True, False, Unknown.",
   "enum": [
    "True",
    "False",
    "Unknown"
   ],
   "type": "string"
  },
  "type": {
   "description": "type of condition in CamelCase or in foo.example.com/CamelCase.",
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
   "description": "APIVersion defines the versioned schema of this representation of an object.\nServers should convert recognized schemas to the latest internal value, and\nmay reject unrecognized values.\nMore info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
   "type": "string"
  },
  "kind": {
   "description": "Kind is a string value representing the REST resource this object represents.\nServers may infer this from the endpoint the client submits requests to.\nCannot be updated.\nIn CamelCase.\nMore info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
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
