/// @file
/// A stop that is seen whatever its callbacks are at.
#ifndef KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_
#define KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_

#include <stop_token>
#include <thread>

namespace kubexx::controller::internal {

/// Requests one stop when another is requested. The callbacks of a token run the newest first, so
/// one of a user's that hangs keeps older ones from running; this looks every half second as well.
class StopLook {
 public:
  /// Ends when `ended` has been requested, which it must be before the destructor.
  StopLook(std::stop_token stop, std::stop_source ended);

 private:
  std::jthread thread_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_STOP_LOOK_H_
