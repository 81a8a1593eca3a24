/// @file
/// What an election is about: a Lease on the API server, or a fake of one.
#ifndef KUBEXX_LEADERELECTION_LOCK_H_
#define KUBEXX_LEADERELECTION_LOCK_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::leaderelection {

/// One lease. Thread-safe: an elector watches on one thread while it reads and writes on another.
/// Every call blocks and ends with kCancelled soon after its stop_token.
class Lock {
 public:
  using Lease = api::coordination::v1::Lease;
  /// Is given the lease as it is when the watch begins, and after each change.
  using Sink = base::FunctionRef<void(Lease&&)>;

  virtual ~Lock() = default;
  /// kNotFound when there is no such lease.
  virtual apimachinery::Result<Lease> Get(std::stop_token stop) = 0;
  /// Creates it with the spec given; the lock fills in its name. kAlreadyExists if there is one.
  virtual apimachinery::Result<Lease> Create(Lease lease, std::stop_token stop) = 0;
  /// Replaces it; kConflict unless `lease` has the resource version that is stored.
  virtual apimachinery::Result<Lease> Update(const Lease& lease, std::stop_token stop) = 0;
  /// Returns when the watch ends; a lease that is deleted is not reported.
  virtual apimachinery::Result<void> Watch(Sink sink, std::stop_token stop) = 0;
  /// The namespace and name of the lease.
  virtual apimachinery::ObjectKey Key() const = 0;
};

/// The Lease `key` of coordination.k8s.io/v1, as client-go's LeaseLock. Needs the verbs get, create
/// and update on it; with watch too a released lease is taken over at once.
class LeaseLock final : public Lock {
 public:
  /// Give it a client of its own (see LockClientConfig), so that an election neither waits for
  /// other requests' rate limit nor makes them wait.
  LeaseLock(std::shared_ptr<rest::RESTClient> client, apimachinery::ObjectKey key);

  apimachinery::Result<Lease> Get(std::stop_token stop) override;
  apimachinery::Result<Lease> Create(Lease lease, std::stop_token stop) override;
  apimachinery::Result<Lease> Update(const Lease& lease, std::stop_token stop) override;
  apimachinery::Result<void> Watch(Sink sink, std::stop_token stop) override;
  apimachinery::ObjectKey Key() const override { return key_; }

 private:
  apimachinery::ObjectKey key_;
  kubernetes::ResourceClient<Lease> client_;
};

/// `config` for the client of a LeaseLock: without rate limit, and with "leader-election" at the
/// end of its user agent.
rest::Config LockClientConfig(rest::Config config);

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_LOCK_H_
