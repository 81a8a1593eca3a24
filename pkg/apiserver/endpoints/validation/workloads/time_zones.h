/// @file
/// Names of time zones.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_TIME_ZONES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_TIME_ZONES_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// What is wrong with the name of a time zone such as "Europe/Berlin"; "" for a valid one. When the
/// system has no time zone data, every name of the right form is valid. Reads a few bytes of a
/// file.
std::string TimeZoneProblem(std::string_view name);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_TIME_ZONES_H_
