/// @file
/// Preserves a Job in the cluster between its deletion and its creation.
#ifndef KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_
#define KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// A Job that may have been deleted and must be created again.
struct KeptJob {
  std::string old_uid{};  ///< the UID of the Job that is deleted
  /// Its resourceVersion; empty when it was read from a keeper without one.
  std::string old_version{};
  std::string token{};  ///< see WorkloadWrite::token
  /// The Job to create.
  dynamic::Unstructured body{};
};

/// The keeper of `kept`: a suspended Job, which never has pods, with the whole Job to create in an
/// annotation. It is created before the old Job is deleted, and deleted after the new one has been
/// created. So whoever finds it, after the process was killed, can finish the work. It needs only
/// the rights to Jobs, and contains only what a Job contains already. It has neither the labels nor
/// the owner references of the other Job, so that no controller takes it for that Job.
dynamic::Unstructured KeeperFor(const KeptJob& kept);

/// Reads back what KeeperFor has made. Fails with kMalformed for anything else.
apimachinery::Result<KeptJob> KeptBy(const dynamic::Unstructured& keeper);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_
