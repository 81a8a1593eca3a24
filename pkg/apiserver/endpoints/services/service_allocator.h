/// @file
/// Which addresses and ports of nodes Services have.
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

/// Knows what is taken from the stored Services, which it reads when the first one wants something,
/// and from the writes that are under way: two never get the same. What is taken is looked for once
/// more before somebody is refused: somebody might have been at the store. Where other servers
/// write to it the Services are read for each write that wants something; what those servers give
/// out at the same moment it cannot see. Thread-safe; blocks for reading.
class ServiceAllocator {
 public:
  class Claim;

  /// `storage` must outlive it. `shared`: others write to it, too.
  ServiceAllocator(storage::Storage& storage, ServiceRanges ranges, bool shared);

  const ServiceRanges& ranges() const { return ranges_; }

 private:
  /// A pool and a number of it.
  struct Item {
    std::size_t pool = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Item&) const = default;
  };

  /// The pool of ports is the last one.
  std::size_t port_pool() const { return ranges_.addresses.size(); }
  /// None for what is out of the ranges.
  std::optional<Item> ItemOf(std::string_view address) const;
  std::optional<Item> ItemOf(std::int64_t port) const;
  /// What a Service has.
  std::vector<Item> ItemsOf(const codec::JsonTree& service) const;
  /// Reads the Services where that is needed; `again`: in any case. Whether it has.
  apimachinery::Result<bool> Fill(const ResourceType& type, bool again,
                                  const std::stop_token& stop);

  storage::Storage& storage_;
  const ServiceRanges ranges_;
  const bool shared_;
  /// Held while the Services are read: what ended meanwhile might be in what was read, or not.
  base::Mutex mu_;
  std::vector<NumberPool> pools_ KX_GUARDED_BY(mu_);
  /// Those of all claims, taken or to be given up: nobody else gets them.
  std::multiset<Item> claimed_ KX_GUARDED_BY(mu_);
  bool filled_ KX_GUARDED_BY(mu_) = false;
};

/// What one write takes and gives up. Until it is committed nothing is given up, and if it never
/// is, what was taken is given back. That of a dry run takes nothing, and says what kube-apiserver
/// says then. Not thread-safe; must not outlive the allocator.
class ServiceAllocator::Claim {
 public:
  /// `type` is that of Services, and must outlive it.
  Claim(ServiceAllocator& allocator, const ResourceType& type, bool dry_run, std::stop_token stop)
      : allocator_(&allocator), type_(&type), dry_run_(dry_run), stop_(std::move(stop)) {}
  ~Claim() { End(Outcome::kUndone); }
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&&) = delete;

  const ServiceRanges& ranges() const { return allocator_->ranges_; }

  /// What is in the way of taking it, "" for nothing. Errors of the store.
  apimachinery::Result<std::string> TakeAddress(const std::string& address);
  /// The same of a port.
  apimachinery::Result<std::string> TakePort(std::int64_t port);
  /// A free one of the family, which there has to be; none when all are taken. Errors of the store.
  apimachinery::Result<std::optional<std::string>> TakeAnyAddress(bool ipv6);
  /// The same of ports.
  apimachinery::Result<std::optional<std::int64_t>> TakeAnyPort();

  void GiveUpAddress(std::string_view address);
  void GiveUpPort(std::int64_t port);
  /// All that a Service has.
  void GiveUpAll(const codec::JsonTree& service);

  /// What was claimed for has been written.
  void Commit() { End(Outcome::kDone); }
  /// Nobody knows whether it has been: the Services are read again when something is wanted.
  void Doubt() { End(Outcome::kUnknown); }

 private:
  enum class Outcome : std::uint8_t { kDone, kUndone, kUnknown };

  /// Makes known what is taken; once. `again`: whether that has to be read, if it was not.
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
