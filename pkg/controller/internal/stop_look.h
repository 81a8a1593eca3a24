/// @file
/// StopLook: notices a stop even when a callback of its token hangs.
#ifndef KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_
#define KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_

#include <stop_token>
#include <thread>

namespace kubexx::controller::internal {

/// Requests one stop when another one is requested. A token runs its callbacks one after the other,
/// the newest first, so a user's callback that hangs would keep older ones from running. Therefore
/// this class also checks the token every half second.
class StopLook {
 public:
  /// Ends when `ended` has been requested. The owner must request it before the destructor.
  StopLook(std::stop_token stop, std::stop_source ended);

 private:
  std::jthread thread_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_
