/// @file
/// CertificateSigningRequests: who asks, for what, and what may be answered.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_REQUESTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_REQUESTS_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether objects of `type` are CertificateSigningRequests of certificates.k8s.io.
bool IsCertificateRequest(const ResourceType& type);

/// Writes into a new request who makes it, over whatever the client says of that: signers decide by
/// it. kForbidden for a client certificate of the group system:masters, which nobody is given.
/// Success for other types. As kube-apiserver's strategy and its admission
/// CertificateSubjectRestriction.
apimachinery::Result<void> StampRequester(const ResourceType& type, const User& user,
                                          codec::JsonTree& object);

/// What is wrong with a request: it is a PKCS#10 request with a good signature, for a signer and
/// known usages.
void CheckCertificateRequest(const codec::JsonTree& object, FieldCauses& causes);

/// A certificate is set once, and is one.
void CheckIssuedCertificate(const codec::JsonTree& current, const codec::JsonTree& object,
                            FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_REQUESTS_H_
