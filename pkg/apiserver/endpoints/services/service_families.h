/// @file
/// The addresses of a Service and the IP families that they are of.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/services/service_ranges.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The fields of a Service's spec that belong together.
struct ServiceFamilies {
  std::string type{};
  std::string cluster_ip{};
  std::vector<std::string> cluster_ips{};
  std::vector<std::string> families{};
  std::string policy{};  ///< "" for none
  bool has_selector = false;

  /// What a spec has.
  static ServiceFamilies Of(const codec::JsonTree& spec);
  /// What a stored spec has, with what kube-apiserver adds to those that were written before there
  /// were such fields. `ipv6`: of the range that Services have by default.
  static ServiceFamilies OfStored(const codec::JsonTree& spec, bool ipv6);
  /// Gives `spec` these addresses, families and policy.
  void WriteTo(codec::JsonTree& spec) const;

  /// Another's name has no address.
  bool is_name() const { return type == "ExternalName"; }
  /// It is to have none.
  bool is_headless() const { return cluster_ips.size() == 1 && cluster_ips.front() == "None"; }
  /// The addresses as JSON.
  std::string AddressesText() const;
};

/// Adds what is wrong about the fields by themselves; `old` is null for a new Service. As
/// kube-apiserver's ValidateServiceClusterIPsRelatedFields.
void CheckServiceFamilies(const ServiceFamilies* old, const ServiceFamilies& fields,
                          FieldCauses& causes);

/// Gives an update the addresses that it leaves out, and makes clusterIP and clusterIPs agree where
/// the client has written one of them. `old` is null for a new Service.
void MatchServiceAddresses(const ServiceFamilies* old, ServiceFamilies& fields);

/// Whether a Service that prefers two families says nothing new about them: it stays as it is when
/// the server's ranges have changed.
bool KeepsPreferredFamilies(const ServiceFamilies* old, const ServiceFamilies& fields);

/// Decides on the families of a Service from what the client has written and the ranges that there
/// are, and adds what does not fit. As kube-apiserver's initIPFamilyFields.
void ChooseServiceFamilies(const ServiceRanges& ranges, const ServiceFamilies* old,
                           ServiceFamilies& fields, FieldCauses& causes);

/// Adds what an update may not change of the addresses and families.
void CheckServiceFamiliesChange(const ServiceFamilies& old, const ServiceFamilies& fields,
                                FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_FAMILIES_H_
