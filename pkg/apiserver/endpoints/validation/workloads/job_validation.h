/// @file
/// Checks of Jobs and CronJobs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a Job. As batch validation's ValidateJob.
void CheckJob(const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with a CronJob; `old` is null for a new one. Its schedule may have a time
/// zone only if it had one before. As batch validation's ValidateCronJobCreate and -Update.
void CheckCronJob(const codec::JsonTree* old, const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_JOB_VALIDATION_H_
