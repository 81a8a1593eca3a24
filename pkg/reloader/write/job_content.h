/// @file
/// Tells whether a Job has changed in more than its status.
#ifndef KUBEXX_RELOADER_WRITE_JOB_CONTENT_H_
#define KUBEXX_RELOADER_WRITE_JOB_CONTENT_H_

#include <string>

#include "kubexx/dynamic/unstructured.h"

namespace kubexx::reloader {

/// A digest of everything in `job` that a rollout is planned from or copies: all of it except its
/// status and what the API server changes with each write. Two reads of a Job between which only
/// its pods have come and gone have the same content and different resource versions. Pure.
std::string JobContentOf(const dynamic::Unstructured& job);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_JOB_CONTENT_H_
