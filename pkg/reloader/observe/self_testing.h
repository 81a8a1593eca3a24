/// @file
/// Tries out whether an operator that is installed does its work.
#ifndef KUBEXX_RELOADER_OBSERVE_SELF_TESTING_H_
#define KUBEXX_RELOADER_OBSERVE_SELF_TESTING_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// What is tried out, and where.
struct SelfTestOptions {
  std::string namespace_{};
  /// The operator's, in the same namespace; empty: it is not looked at.
  std::string deployment{};
  /// Whether one rollout is tried out. It needs an operator that watches the namespace.
  bool reload = true;
  /// Of the objects that are made for that; no others may have it.
  std::string name{};
  AnnotationKeys keys{};
  base::Clock& clock = base::Clock::Real();
};

/// First waits until the operator's Deployment is rolled out and available, which includes that
/// /ready has answered for each pod. Then makes a ConfigMap and a Deployment without replicas that
/// asks to be rolled for it, changes the ConfigMap, waits until the operator has written to the
/// Deployment, and deletes both, also when something fails. Each thing that has come true is told
/// to `tell`. Blocks until `stop` is requested: then the error, kTimeout, says what it waited for.
/// An answer of a server in trouble (429, 500 and more, or none) while it waits is no failure. When
/// the two objects cannot be deleted, the error names what is left.
apimachinery::Result<void> RunSelfTest(const std::shared_ptr<rest::RESTClient>& client,
                                       const SelfTestOptions& options,
                                       base::FunctionRef<void(const std::string& what)> tell,
                                       const std::stop_token& stop);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_SELF_TESTING_H_
