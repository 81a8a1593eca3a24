/// @file
/// What the page shows of a policy.
#ifndef KUBEXX_RELOADER_UI_POLICY_RECORD_H_
#define KUBEXX_RELOADER_UI_POLICY_RECORD_H_

#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloadpolicy/clusterreloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"

namespace kubexx::reloader {

/// The key of a policy's record: "p/shop/gentle", and "p//gentle" for a ClusterReloadPolicy.
std::string PolicyKeyOf(const reloadpolicy::PolicyId& id);

/// The record: one JSON object on one line, with what `status` tells of the policy, its spec, when
/// its maintenance windows are open in the next seven days, and `waves`, its waves that are under
/// way. Without windows it has no "windows": rollouts may begin at any time. The times are those
/// from the last full hour on, so that a record does not change all the time.
std::string PolicyRecord(const reloadpolicy::v1alpha1::ReloadPolicy& policy,
                         const codec::JsonTree& waves, base::WallTime now);
std::string PolicyRecord(const reloadpolicy::v1alpha1::ClusterReloadPolicy& policy,
                         const codec::JsonTree& waves, base::WallTime now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_POLICY_RECORD_H_
