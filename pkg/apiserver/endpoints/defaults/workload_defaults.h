/// @file
/// Defaults of the objects that have a template of pods.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_WORKLOAD_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_WORKLOAD_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the missing fields of a Deployment and of its template. As apps/v1's
/// SetDefaults_Deployment.
void SetDeploymentDefaults(codec::JsonTree& object);
/// The same for a ReplicaSet.
void SetReplicaSetDefaults(codec::JsonTree& object);
/// The same for a StatefulSet and its claims.
void SetStatefulSetDefaults(codec::JsonTree& object);
/// The same for a DaemonSet.
void SetDaemonSetDefaults(codec::JsonTree& object);

/// The same for a ReplicationController, which also takes its selector and its labels from the
/// template when it has none. As core/v1's SetDefaults_ReplicationController.
void SetReplicationControllerDefaults(codec::JsonTree& object);
/// The same for a PodTemplate.
void SetPodTemplateDefaults(codec::JsonTree& object);

/// The same for a Job, which also takes its labels from the template when it has none. As
/// batch/v1's SetDefaults_Job.
void SetJobDefaults(codec::JsonTree& object);
/// Sets the missing fields of the pods of a CronJob's Jobs. The Jobs get those of a Job when they
/// are made.
void SetCronJobDefaults(codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_WORKLOAD_DEFAULTS_H_
