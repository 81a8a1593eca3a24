/// @file
/// FakeLock: a lease in memory, for tests of electors and of code that uses them.
#ifndef KUBEXX_LEADERELECTION_TESTING_FAKE_LOCK_H_
#define KUBEXX_LEADERELECTION_TESTING_FAKE_LOCK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/leaderelection/lock.h"

namespace kubexx::leaderelection::testing {

/// The lease "ns/lease" with the API server's rules for versions, conflicts and watches. All
/// electors of a test share it. Thread-safe.
class FakeLock final : public Lock {
 public:
  /// Called before each request with "get", "create", "update" or "watch"; an error that it returns
  /// is the answer. May block until `stop`.
  using Fault =
      std::function<apimachinery::Result<void>(std::string_view verb, const std::stop_token& stop)>;

  apimachinery::Result<Lease> Get(std::stop_token stop) override;
  apimachinery::Result<Lease> Create(Lease lease, std::stop_token stop) override;
  apimachinery::Result<Lease> Update(const Lease& lease, std::stop_token stop) override;
  apimachinery::Result<void> Watch(Sink sink, std::stop_token stop) override;
  apimachinery::ObjectKey Key() const override { return {.namespace_ = "ns", .name = "lease"}; }

  void SetFault(Fault fault);
  /// Returns the stored lease.
  std::optional<Lease> Stored() const;
  /// Stores `lease` whatever its version is.
  void Put(Lease lease);
  void Remove();
  /// Returns how many requests with a verb there have been, including failed ones.
  int Count(std::string_view verb) const;
  /// Blocks until `condition` holds for the stored lease. It is tested after each request and
  /// change.
  void Await(const std::function<bool(const std::optional<Lease>&)>& condition,
             const base::testing::Where& where = base::testing::Where::current()) const;
  /// Blocks until there have been `n` requests with a verb.
  void AwaitCount(std::string_view verb, int n,
                  const base::testing::Where& where = base::testing::Where::current()) const;

 private:
  apimachinery::Result<void> Begin(std::string_view verb, const std::stop_token& stop);
  Lease StoreLocked(Lease lease) KX_REQUIRES(mu_);
  /// Describes the stored lease for a failure message.
  std::string DescribeLocked() const KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  std::optional<Lease> lease_ KX_GUARDED_BY(mu_);
  std::int64_t version_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, int, std::less<>> counts_ KX_GUARDED_BY(mu_);
  Fault fault_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::leaderelection::testing

#endif  // KUBEXX_LEADERELECTION_TESTING_FAKE_LOCK_H_
