/// @file
/// The conditions of CertificateSigningRequests, which say who has approved or denied them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_DECISIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_DECISIONS_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds causes when a write of `part` removes a condition of a decision, approves or denies through
/// anything but the subresource approval, or does both. As certificates validation's
/// validateCertificateSigningRequestUpdate.
void CheckCertificateDecisions(WritePart part, const codec::JsonTree& current,
                               const codec::JsonTree& object, FieldCauses& causes);

/// Puts the conditions of decisions that `current` has in place of those of `object`: a write of
/// the status does not change what was decided. Those of a type of which there are more or fewer
/// than before stay, as CheckCertificateDecisions refuses them.
void KeepCertificateDecisions(const codec::JsonTree& current, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_DECISIONS_H_
