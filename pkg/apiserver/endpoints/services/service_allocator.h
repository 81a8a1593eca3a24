/// @file
/// Allocates IP addresses and node ports to Services.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ALLOCATOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/services/number_pool.h"
#include "kubexx/apiserver/endpoints/services/service_ranges.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Knows which addresses and ports are taken, from the stored Services, which it reads when it
/// needs them first, and from the running writes. So no two Services of this server get the same.
/// Before it refuses a Service it reads the stored Services again, because they may have been
/// changed behind its back. When other servers write to the same store, it reads the Services for
/// each write that needs something; it cannot see what those servers allocate at the same moment.
/// Thread-safe; blocks while it reads.
class ServiceAllocator {
 public:
  class Claim;

  /// `storage` must outlive it. `shared` says that other servers write to the same storage.
  ServiceAllocator(storage::Storage& storage, ServiceRanges ranges, bool shared);

  const ServiceRanges& ranges() const { return ranges_; }

 private:
  /// A number in one of the pools.
  struct Item {
    std::size_t pool = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Item&) const = default;
  };

  /// The pool of ports is the last one.
  std::size_t port_pool() const { return ranges_.addresses.size(); }
  /// The item of an address or a port; std::nullopt when it is outside the ranges.
  std::optional<Item> ItemOf(std::string_view address) const;
  std::optional<Item> ItemOf(std::int64_t port) const;
  /// The items that a Service holds.
  std::vector<Item> ItemsOf(const codec::JsonTree& service) const;
  /// Reads the stored Services if that is needed, or in any case with `again`. Returns whether it
  /// has read them.
  apimachinery::Result<bool> Fill(const ResourceType& type, bool again,
                                  const std::stop_token& stop);

  storage::Storage& storage_;
  const ServiceRanges ranges_;
  const bool shared_;
  /// Held while the Services are read, which may take long. Taken before mu_.
  base::Mutex reading_;
  base::Mutex mu_;
  std::vector<NumberPool> pools_ KX_GUARDED_BY(mu_);
  /// The items of all claims, both taken and to be given up. No other claim gets them.
  std::multiset<Item> claimed_ KX_GUARDED_BY(mu_);
  bool filled_ KX_GUARDED_BY(mu_) = false;
  /// What claims kept that have ended since the last read began: it is unknown whether the result
  /// includes them.
  std::vector<Item> kept_ KX_GUARDED_BY(mu_);
  bool doubted_ KX_GUARDED_BY(mu_) = false;  // a claim since then; see Claim::Doubt
};

/// What one write takes and gives up. Items are given up only when the claim is committed; without
/// a commit, the destructor gives back the taken items. A claim for a dry run takes nothing, and
/// answers as kube-apiserver does for dry runs. Not thread-safe; must not outlive the allocator.
class ServiceAllocator::Claim {
 public:
  /// `type` is the type of Services. It must outlive the claim.
  Claim(ServiceAllocator& allocator, const ResourceType& type, bool dry_run, std::stop_token stop)
      : allocator_(&allocator), type_(&type), dry_run_(dry_run), stop_(std::move(stop)) {}
  ~Claim() { End(Outcome::kUndone); }
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&&) = delete;

  const ServiceRanges& ranges() const { return allocator_->ranges_; }

  /// Takes an address. Returns the reason when it cannot be taken, "" when it was taken, and errors
  /// of the store.
  apimachinery::Result<std::string> TakeAddress(const std::string& address);
  /// The same for a node port.
  apimachinery::Result<std::string> TakePort(std::int64_t port);
  /// Takes a free address of the family, for which there must be a range. Returns std::nullopt when
  /// all are taken, and errors of the store.
  apimachinery::Result<std::optional<std::string>> TakeAnyAddress(bool ipv6);
  /// The same for node ports.
  apimachinery::Result<std::optional<std::int64_t>> TakeAnyPort();

  void GiveUpAddress(std::string_view address);
  void GiveUpPort(std::int64_t port);
  /// Gives up everything that a Service holds.
  void GiveUpAll(const codec::JsonTree& service);

  /// Must be called when the Service has been written.
  void Commit() { End(Outcome::kDone); }
  /// Must be called when it is unknown whether the Service has been written. Then the stored
  /// Services are read again for the next allocation.
  void Doubt() { End(Outcome::kUnknown); }

 private:
  enum class Outcome : std::uint8_t { kDone, kUndone, kUnknown };

  /// Makes sure, once, that the allocator knows the taken items. With `again` it reads the stored
  /// Services unless this claim has read them.
  apimachinery::Result<void> Prepare(bool again = false);
  apimachinery::Result<bool> Take(const Item& item);
  apimachinery::Result<std::optional<std::uint64_t>> TakeAny(std::size_t pool);
  bool TryTake(const Item& item);
  std::optional<std::uint64_t> TryTakeAny(std::size_t pool);
  void GiveUp(const std::optional<Item>& item);
  void End(Outcome outcome);

  ServiceAllocator* allocator_;  // null when it has ended
  const ResourceType* type_;
  bool dry_run_;
  std::stop_token stop_;
  bool prepared_ = false;
  bool read_ = false;
  std::vector<Item> taken_{};
  std::vector<Item> given_up_{};
  std::set<std::int64_t> dry_ports_{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_SERVICE_ALLOCATOR_H_
