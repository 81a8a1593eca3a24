/// @file
/// Lock: the Lease that an election is about, on the API server or in a fake.
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
/// Every call blocks, and ends with kCancelled soon after its stop_token is requested. An elector
/// takes an exception for a request that has failed, perhaps after it was done.
class Lock {
 public:
  using Lease = api::coordination::v1::Lease;
  /// Receives the lease as it is when the watch begins, and after each change.
  using Sink = base::FunctionRef<void(Lease&&)>;

  virtual ~Lock() = default;
  /// Reads the lease. Returns kNotFound if it does not exist.
  virtual apimachinery::Result<Lease> Get(std::stop_token stop) = 0;
  /// Creates the lease with the spec of `lease`; the lock fills in the name. Returns kAlreadyExists
  /// if it exists.
  virtual apimachinery::Result<Lease> Create(Lease lease, std::stop_token stop) = 0;
  /// Replaces the lease. Returns kConflict unless `lease` has the resource version that is stored.
  virtual apimachinery::Result<Lease> Update(const Lease& lease, std::stop_token stop) = 0;
  /// Watches the lease, and returns when the watch ends. The deletion of the lease is not reported.
  virtual apimachinery::Result<void> Watch(Sink sink, std::stop_token stop) = 0;
  /// The namespace and name of the lease, which never change.
  virtual apimachinery::ObjectKey Key() const = 0;
};

/// The Lease `key` of coordination.k8s.io/v1, like client-go's LeaseLock. Needs the verbs get,
/// create and update on it. With the verb watch as well, a candidate takes a released lease over at
/// once.
class LeaseLock final : public Lock {
 public:
  /// `client` should serve this lock only (see LockClientConfig), so that the election neither
  /// waits for the rate limit of other requests nor makes them wait.
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

/// Returns `config` for the client of a LeaseLock, without a rate limit, and with "leader-election"
/// at the end of the user agent.
rest::Config LockClientConfig(rest::Config config);

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_LOCK_H_
