/// @file
/// What is left in the cluster of a Job between its deletion and its creation.
#ifndef KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_
#define KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// A Job that may have been deleted and is to be created.
struct KeptJob {
  std::string old_uid{};      ///< of the Job that is deleted
  std::string old_version{};  ///< its resourceVersion; empty of a keeper that names none
  std::string token{};        ///< what it is rolled for
  dynamic::Unstructured body{};
};

/// The keeper of `kept`: a Job that is suspended, so that it never has pods, with the whole body of
/// the other in an annotation. It is there before the old Job is deleted and goes when the new one
/// has been created, so that whoever finds it after the process was killed can finish the work. It
/// needs no rights but those to Jobs, and holds nothing that is not in a Job already. It has
/// neither the labels nor the owners of the other: nobody takes it for that.
dynamic::Unstructured KeeperFor(const KeptJob& kept);

/// Reads back what KeeperFor made. kMalformed for anything else.
apimachinery::Result<KeptJob> KeptBy(const dynamic::Unstructured& keeper);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_JOB_KEEPER_H_
