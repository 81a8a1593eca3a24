/// @file
/// Checks of CertificateSigningRequests: of the requester, the request and the issued certificate.
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

/// Writes the user into a new request, and replaces what the client has set there, because signers
/// rely on it. Returns kForbidden for a client certificate of the group system:masters, which
/// nobody may get. Succeeds for other types. As kube-apiserver's strategy and its admission plugin
/// CertificateSubjectRestriction.
apimachinery::Result<void> StampRequester(const ResourceType& type, const User& user,
                                          codec::JsonTree& object);

/// Adds what is wrong with a request. It must be a PKCS#10 request with a valid signature, for a
/// signer and with known usages.
void CheckCertificateRequest(const codec::JsonTree& object, FieldCauses& causes);

/// Adds causes when the update changes an issued certificate, or sets one that is invalid.
void CheckIssuedCertificate(const codec::JsonTree& current, const codec::JsonTree& object,
                            FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CERTIFICATE_REQUESTS_H_
