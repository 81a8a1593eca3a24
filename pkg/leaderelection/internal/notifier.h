/// @file
/// Notifier: reports new leaders on a thread of its own.
#ifndef KUBEXX_LEADERELECTION_INTERNAL_NOTIFIER_H_
#define KUBEXX_LEADERELECTION_INTERNAL_NOTIFIER_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/base/mutex.h"

namespace kubexx::leaderelection::internal {

/// Calls a function with the newest string that it was given. Thread-safe. The destructor waits for
/// a running call, and for one that is due.
class Notifier {
 public:
  /// If the function is empty, there is no thread.
  explicit Notifier(std::function<void(const std::string&)> call);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  ~Notifier() = default;

  void Notify(std::string value);

 private:
  void Run(const std::stop_token& stop);

  const std::function<void(const std::string&)> call_;
  base::Mutex mu_;
  base::CondVar cv_;
  std::optional<std::string> due_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

}  // namespace kubexx::leaderelection::internal

#endif  // KUBEXX_LEADERELECTION_INTERNAL_NOTIFIER_H_
