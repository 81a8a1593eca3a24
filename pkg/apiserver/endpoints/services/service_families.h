/// @file
/// The addresses of a Service and their IP families.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/services/service_ranges.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The fields of a Service's spec about addresses and IP families.
struct ServiceFamilies {
  std::string type{};
  std::string cluster_ip{};
  std::vector<std::string> cluster_ips{};
  std::vector<std::string> families{};
  std::string policy{};  ///< ipFamilyPolicy; "" when it is missing
  bool has_selector = false;

  /// Reads the fields of a spec.
  static ServiceFamilies Of(const codec::JsonTree& spec);
  /// Reads the fields of a stored spec, and adds what kube-apiserver adds to Services that were
  /// stored before these fields existed. `ipv6` says whether the default address range is IPv6.
  static ServiceFamilies OfStored(const codec::JsonTree& spec, bool ipv6);
  /// Writes the addresses, families and policy to `spec`.
  void WriteTo(codec::JsonTree& spec) const;

  /// Whether the type is ExternalName, so that the Service has no address.
  bool is_name() const { return type == "ExternalName"; }
  /// Whether the Service is headless: clusterIP is "None".
  bool is_headless() const { return cluster_ips.size() == 1 && cluster_ips.front() == "None"; }
  /// The addresses as JSON.
  std::string AddressesText() const;
};

/// Adds what is wrong with the fields, independent of the server's ranges. `old` is null for a new
/// Service. As kube-apiserver's ValidateServiceClusterIPsRelatedFields.
void CheckServiceFamilies(const ServiceFamilies* old, const ServiceFamilies& fields,
                          FieldCauses& causes);

/// Adds the addresses that an update leaves out, and makes clusterIP and clusterIPs agree when the
/// client has written only one of them. `old` is null for a new Service.
void MatchServiceAddresses(const ServiceFamilies* old, ServiceFamilies& fields);

/// Whether the Service has the policy PreferDualStack and the update changes nothing about
/// families. Then it keeps its families even when the server's ranges have changed.
bool KeepsPreferredFamilies(const ServiceFamilies* old, const ServiceFamilies& fields);

/// Chooses the families of a Service from what the client has written and from the server's ranges,
/// and adds causes for contradictions. As kube-apiserver's initIPFamilyFields.
void ChooseServiceFamilies(const ServiceRanges& ranges, const ServiceFamilies* old,
                           ServiceFamilies& fields, FieldCauses& causes);

/// Adds causes for changes of addresses and families that an update may not make.
void CheckServiceFamiliesChange(const ServiceFamilies& old, const ServiceFamilies& fields,
                                FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_
