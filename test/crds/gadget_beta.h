/// @file
/// An older version of the custom resource in gadget.h.
// +groupName=test.example.com
// +versionName=v1beta1
#ifndef KUBEXX_TEST_CRDS_GADGET_BETA_H_
#define KUBEXX_TEST_CRDS_GADGET_BETA_H_

#include <cstdint>
#include <optional>

#include "kubexx/api/meta/v1/types.gen.h"

namespace kubexx::crds::beta {

struct GadgetSpec {
  std::optional<std::int32_t> size;
  bool operator==(const GadgetSpec&) const = default;
};

/// Gadget is a thing.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gadgets,singular=gadget,shortName=gd;gdt,categories={all,things},scope=Namespaced
// +kubebuilder:deprecatedversion:warning="test.example.com/v1beta1 is old"
// +kubebuilder:unservedversion
struct Gadget {
  kubexx::api::meta::v1::ObjectMeta metadata;
  std::optional<GadgetSpec> spec;
  bool operator==(const Gadget&) const = default;
};

}  // namespace kubexx::crds::beta

#endif  // KUBEXX_TEST_CRDS_GADGET_BETA_H_
