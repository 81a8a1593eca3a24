/// @file
/// A custom resource whose types are written by hand, with a marker and a type of each sort that
/// kubexx-codegen knows. controller_gen/v1/types.go has the same in Go.
// +groupName=test.example.com
#ifndef KUBEXX_TEST_CRDS_GADGET_H_
#define KUBEXX_TEST_CRDS_GADGET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/box.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apimachinery/values.h"

namespace kubexx::crds::v1 {

/// Tier says how much is promised.
// +kubebuilder:validation:Enum=Gold;Silver;"";"true"
// +kubebuilder:validation:MaxLength=10
using Tier = std::string;
inline constexpr char kTierGold[] = "Gold";

/// Names are set once.
// +listType=set
// +kubebuilder:validation:MaxItems=5
// +kubebuilder:validation:items:MinLength=1
using Names = std::vector<std::string>;

// A part without a description of its own.
// +structType=atomic
struct Port {
  // +kubebuilder:validation:Minimum=1
  // +kubebuilder:validation:Maximum=65535
  std::int32_t number = 80;
  // +kubebuilder:default=TCP
  std::string protocol{"TCP"};
  std::optional<std::string> name{};
  bool operator==(const Port&) const = default;
};

/// Schedule says when a gadget runs.
///
/// It has two paragraphs.
// +kubebuilder:validation:XValidation:rule="!has(self.cron) || !has(self.every)",message="either cron or every",reason="FieldValueForbidden",fieldPath=".cron"
// +kubebuilder:validation:MinProperties=1
struct Schedule {
  // +kubebuilder:validation:Pattern=`^(\d+|\*)( (\d+|\*)){4}$`
  std::optional<std::string> cron{};
  std::optional<kubexx::apimachinery::Duration> every{};
  bool operator==(const Schedule&) const = default;
};

/// GadgetSpec is what somebody wants.
// +kubebuilder:validation:XValidation:rule="self.size >= 1",messageExpression="'no gadgets of the tier ' + self.tier"
struct GadgetSpec {
  /// size is the number of gadgets.
  // +kubebuilder:validation:Minimum=0
  // +kubebuilder:validation:ExclusiveMinimum=true
  // +kubebuilder:validation:Maximum=100
  // +kubebuilder:validation:MultipleOf=1
  // +kubebuilder:default=3
  // +kubebuilder:example=5
  // +kubebuilder:title="The size"
  std::int32_t size = 3;
  std::int64_t max_bytes{};
  double weight{};
  bool enabled{};
  std::optional<bool> paused;
  // +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the tier is immutable"
  Tier tier;
  /// other_tier has a description of its own.
  // +optional
  Tier other_tier;
  // +kubebuilder:validation:MinLength=2
  // +kubebuilder:validation:Format=uri
  // +optional
  std::string link;
  // +kubebuilder:validation:XIntOrString
  // +kubebuilder:validation:Pattern="^(\\d+|\\d+%)$"
  std::optional<kubexx::apimachinery::IntOrString> surge;
  std::optional<kubexx::apimachinery::Quantity> memory;
  std::optional<kubexx::apimachinery::Time> since;
  std::optional<kubexx::apimachinery::MicroTime> until;
  std::optional<kubexx::apimachinery::Bytes> token;
  // +kubebuilder:pruning:PreserveUnknownFields
  std::optional<kubexx::apimachinery::JsonValue> extra;
  // +kubebuilder:validation:Type=object
  std::optional<kubexx::apimachinery::JsonValue> settings;
  // +kubebuilder:validation:EmbeddedResource
  std::optional<kubexx::apimachinery::RawExtension> template_;
  std::optional<Names> names;
  /// aliases are of the same type.
  // +optional
  Names aliases;
  // +listType=map
  // +listMapKey=number
  // +listMapKey=protocol
  // +kubebuilder:validation:MinItems=1
  std::vector<Port> ports;
  std::vector<kubexx::apimachinery::Bool> bits;
  // +mapType=atomic
  // +kubebuilder:validation:MaxProperties=8
  // +kubebuilder:default={color: red, "two words": `x`}
  std::optional<std::map<std::string, std::string>> labels;
  // +optional
  std::map<std::string, Port> by_name;
  kubexx::apimachinery::Box<Schedule> schedule;
  // +kubebuilder:default={cron: "* * * * *"}
  std::optional<Schedule> fallback;
  // +nullable
  std::optional<std::optional<std::string>> note;
  // +nullable
  // +required
  std::optional<std::string> reason;
  // +nullable
  std::optional<std::optional<std::vector<std::string>>> args;
  // +jsonName=podIPs
  // +default=["10.0.0.1"]
  std::optional<std::vector<std::string>> pod_ips;
  // +kubebuilder:default={80,443}
  // +listType=atomic
  std::optional<std::vector<std::int32_t>> numbers;
  bool operator==(const GadgetSpec&) const = default;
};

/// GadgetStatus is what there is.
struct GadgetStatus {
  std::optional<std::int32_t> replicas;
  std::optional<std::string> selector;
  // +listType=map
  // +listMapKey=type
  std::optional<std::vector<kubexx::api::meta::v1::Condition>> conditions;
  bool operator==(const GadgetStatus&) const = default;
};

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=gadgets,singular=gadget,shortName=gd;gdt,categories={all,things},scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="The tier",type=string,JSONPath=".spec.tier",description="What is promised",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:selectablefield:JSONPath=`.spec.tier`
// +kubebuilder:metadata:annotations="example.com/owner=tests",labels={"a=b","c=d"}

/// Gadget is a thing.
struct Gadget {
  kubexx::api::meta::v1::ObjectMeta metadata;
  /// spec is required.
  GadgetSpec spec;
  std::optional<GadgetStatus> status;
  bool operator==(const Gadget&) const = default;
};

}  // namespace kubexx::crds::v1

#endif  // KUBEXX_TEST_CRDS_GADGET_H_
