/// @file
/// Schedules of CronJobs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// What is wrong with a CronJob's schedule; "" for a good one. Five fields, or one of the macros
/// such as "@daily".
std::string ScheduleProblem(std::string_view schedule);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_
