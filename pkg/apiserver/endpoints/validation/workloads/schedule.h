/// @file
/// Schedules of CronJobs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_

#include <string>
#include <string_view>

namespace kubexx::apiserver {

/// What is wrong with a CronJob's schedule; "" for a valid one. A schedule has five fields, or is a
/// macro such as "@daily".
std::string ScheduleProblem(std::string_view schedule);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_SCHEDULE_H_
