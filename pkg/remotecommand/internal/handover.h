/// @file
/// Handover: how messages come from the thread of the network to the thread of the sink.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_HANDOVER_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_HANDOVER_H_

#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/base/mutex.h"

namespace kubexx::remotecommand::internal {

/// A place for one message. One thread gives and ends, and another takes.
class Handover {
 public:
  /// Gives a message, when the last one has been taken. Its bytes stay the giver's, who leaves them
  /// alone until the taker has said that it needs them no longer.
  void Give(std::string_view message) {
    {
      const base::MutexLock lock(mu_);
      message_ = message;
    }
    changed_.notify_one();
  }

  /// Nothing is given after that.
  void End() {
    {
      const base::MutexLock lock(mu_);
      ended_ = true;
    }
    changed_.notify_one();
  }

  /// Waits for a message and takes it; std::nullopt after the end, when nothing is left.
  std::optional<std::string_view> Take() {
    const base::MutexLock lock(mu_);
    while (!message_ && !ended_) {
      changed_.wait(mu_);
    }
    return std::exchange(message_, std::nullopt);
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  bool ended_ KX_GUARDED_BY(mu_) = false;
  std::optional<std::string_view> message_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_HANDOVER_H_
