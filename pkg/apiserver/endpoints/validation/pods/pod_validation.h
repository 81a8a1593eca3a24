/// @file
/// Checks of the specs of pods and of pod templates.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_VALIDATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether a spec belongs to a pod or to a template. A template has to meet fewer conditions.
enum class PodKind : std::uint8_t { kPod, kTemplate };

/// Adds what is wrong with a pod's spec, whose path is `path`. `more_volumes` are the names of
/// volumes that its owner will add. As core validation's ValidatePodSpec.
void CheckPodSpec(const codec::JsonTree& spec, PodKind kind, const std::string& path,
                  std::span<const std::string_view> more_volumes, FieldCauses& causes);

/// Adds what is wrong with a pod template, which may be null and whose path is `path`: its labels,
/// its annotations, and its required spec.
void CheckPodTemplate(const codec::JsonTree* pods, const std::string& path,
                      std::span<const std::string_view> more_volumes, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_VALIDATION_H_
