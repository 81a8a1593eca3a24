/// @file
/// StartThread: starts a thread, or tells that there is none.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_START_THREAD_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_START_THREAD_H_

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "kubexx/apimachinery/status.h"

namespace kubexx::remotecommand::internal {

/// Makes `thread`, which has none so far, one that runs `run`. Returns kUnavailable, and has not
/// called `run`, where the system has no thread left.
template <class Run>
apimachinery::Result<void> StartThread(std::jthread& thread, Run run) {
  try {
    thread = std::jthread(std::move(run));
  } catch (const std::system_error& error) {
    return apimachinery::Fail(apimachinery::Reason::kUnavailable,
                              std::string("no thread is left: ") + error.what());
  }
  return {};
}

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_START_THREAD_H_
