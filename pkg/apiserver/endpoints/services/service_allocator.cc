#include "kubexx/apiserver/endpoints/services/service_allocator.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kTakenAddress = "provided IP is already allocated";
constexpr const char* kTakenPort = "provided port is already allocated";
constexpr const char* kForeignAddress = "the provided network does not match the current range";
/// As in kube-apiserver, a dry run shows node ports from here on, which no Service gets.
constexpr std::int64_t kFirstDryPort = 32769;

std::uint64_t Random() {
  thread_local std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace

ServiceAllocator::ServiceAllocator(storage::Storage& storage, ServiceRanges ranges, bool shared)
    : storage_(storage), ranges_(std::move(ranges)), shared_(shared) {
  for (const AddressRange& range : ranges_.addresses) {
    pools_.emplace_back(AddressRange::kFirst, range.last(), range.low());
  }
  pools_.emplace_back(ranges_.ports.first, ranges_.ports.last, ranges_.ports.low());
}

std::optional<ServiceAllocator::Item> ServiceAllocator::ItemOf(std::string_view address) const {
  for (std::size_t i = 0; i < ranges_.addresses.size(); ++i) {
    if (const auto number = ranges_.addresses[i].NumberOf(address)) {
      return Item{.pool = i, .number = *number};
    }
  }
  return std::nullopt;
}

std::optional<ServiceAllocator::Item> ServiceAllocator::ItemOf(std::int64_t port) const {
  return port < ranges_.ports.first || port > ranges_.ports.last
             ? std::nullopt
             : std::optional(Item{.pool = port_pool(), .number = static_cast<std::uint64_t>(port)});
}

std::vector<ServiceAllocator::Item> ServiceAllocator::ItemsOf(const JsonTree& service) const {
  std::vector<Item> items;
  const JsonTree* const spec = service.Find("spec");
  if (spec == nullptr) {
    return items;
  }
  const auto add = [&items](const std::optional<Item>& item) {
    if (item && std::ranges::find(items, *item) == items.end()) {
      items.push_back(*item);
    }
  };
  const auto add_port = [&](const JsonTree* port) {
    add(port == nullptr ? std::nullopt : ItemOf(port->AsInt().value_or(0)));
  };
  add(ItemOf(spec->TextAt("clusterIP")));
  for (const std::string& address : StringsAt(*spec, "clusterIPs")) {
    add(ItemOf(address));
  }
  for (const JsonTree& port : ElementsAt(*spec, {"ports"})) {
    add_port(port.Find("nodePort"));
  }
  add_port(spec->Find("healthCheckNodePort"));
  return items;
}

Result<bool> ServiceAllocator::Fill(const ResourceType& type, bool again,
                                    const std::stop_token& stop) {
  const auto is_known = [this, again] {
    const base::MutexLock lock(mu_);
    return filled_ && !again;
  };
  if (is_known()) {
    return false;
  }
  std::optional<http::Waiting> waiting;  // for another that reads
  if (const CurrentRequest* const current = CurrentRequest::Get(); current != nullptr && shared_) {
    waiting.emplace(current->request());
    KX_RETURN_IF_ERROR(waiting->Check());
  }
  const base::MutexLock turn(reading_);
  waiting.reset();
  if (is_known()) {
    return false;
  }
  {
    const base::MutexLock lock(mu_);
    kept_.clear();
    doubted_ = false;
  }
  std::vector<Item> found;
  const auto read = [&](storage::KeyValue&& kv) -> Result<void> {
    const auto json = JsonOfStored(type, *kv.value, kv.mod_revision, stop);
    const auto service = json ? JsonTree::Parse(*json) : JsonTree();
    // A Service that cannot be read has no address about which anybody could be told.
    if (service) {
      std::ranges::copy(ItemsOf(*service), std::back_inserter(found));
    }
    return {};
  };
  KX_RETURN_IF_ERROR(storage_.GetList(type.prefix, {}, read, stop));
  const base::MutexLock lock(mu_);
  for (NumberPool& pool : pools_) {
    pool.Clear();
  }
  for (const Item& item : found) {
    pools_[item.pool].Take(item.number);
  }
  for (const Item& item : kept_) {
    pools_[item.pool].Take(item.number);
  }
  for (const Item& item : claimed_) {
    pools_[item.pool].Take(item.number);
  }
  filled_ = !doubted_;
  return true;
}

ServiceAllocator::Claim::Claim(Claim&& other) noexcept
    : allocator_(std::exchange(other.allocator_, nullptr)),
      type_(other.type_),
      dry_run_(other.dry_run_),
      stop_(std::move(other.stop_)),
      prepared_(other.prepared_),
      read_(other.read_),
      taken_(std::move(other.taken_)),
      given_up_(std::move(other.given_up_)),
      dry_ports_(std::move(other.dry_ports_)) {}

Result<void> ServiceAllocator::Claim::Prepare(bool again) {
  if (!prepared_ || (again && !read_)) {
    KX_ASSIGN_OR_RETURN(read_, allocator_->Fill(*type_, again || allocator_->shared_, stop_));
    prepared_ = true;
  }
  return {};
}

Result<bool> ServiceAllocator::Claim::Take(const Item& item) {
  KX_RETURN_IF_ERROR(Prepare());
  if (TryTake(item)) {
    return true;
  }
  KX_RETURN_IF_ERROR(Prepare(true));
  return TryTake(item);
}

Result<std::optional<std::uint64_t>> ServiceAllocator::Claim::TakeAny(std::size_t pool) {
  KX_RETURN_IF_ERROR(Prepare());
  if (const auto number = TryTakeAny(pool)) {
    return number;
  }
  KX_RETURN_IF_ERROR(Prepare(true));
  return TryTakeAny(pool);
}

bool ServiceAllocator::Claim::TryTake(const Item& item) {
  const base::MutexLock lock(allocator_->mu_);
  if (!allocator_->pools_[item.pool].Take(item.number)) {
    return false;
  }
  allocator_->claimed_.insert(item);
  taken_.push_back(item);
  return true;
}

std::optional<std::uint64_t> ServiceAllocator::Claim::TryTakeAny(std::size_t pool) {
  const std::uint64_t random = Random();
  const base::MutexLock lock(allocator_->mu_);
  const auto number = allocator_->pools_[pool].TakeAny(random);
  if (number) {
    const Item item{.pool = pool, .number = *number};
    allocator_->claimed_.insert(item);
    taken_.push_back(item);
  }
  return number;
}

Result<std::string> ServiceAllocator::Claim::TakeAddress(const std::string& address) {
  const auto item = allocator_->ItemOf(address);
  if (!item || dry_run_) {
    return item ? "" : kForeignAddress;
  }
  KX_ASSIGN_OR_RETURN(const bool taken, Take(*item));
  return taken ? "" : kTakenAddress;
}

Result<std::string> ServiceAllocator::Claim::TakePort(std::int64_t port) {
  const auto item = allocator_->ItemOf(port);
  if (dry_run_) {
    KX_RETURN_IF_ERROR(Prepare());
    const base::MutexLock lock(allocator_->mu_);
    if ((item && allocator_->pools_[item->pool].IsTaken(item->number)) ||
        !dry_ports_.insert(port).second) {
      return kTakenPort;
    }
    return "";
  }
  if (!item) {
    return "provided port is not in the valid range. The range of valid ports is " +
           ranges().ports.ToString();
  }
  KX_ASSIGN_OR_RETURN(const bool taken, Take(*item));
  return taken ? "" : kTakenPort;
}

Result<std::optional<std::string>> ServiceAllocator::Claim::TakeAnyAddress(bool ipv6) {
  const auto& all = ranges().addresses;
  const auto range = std::ranges::find(all, ipv6, &AddressRange::is_ipv6);
  if (range == all.end()) {
    return std::nullopt;
  }
  if (dry_run_) {
    return range->network();
  }
  KX_ASSIGN_OR_RETURN(const auto number, TakeAny(static_cast<std::size_t>(range - all.begin())));
  return number ? std::optional(range->AddressOf(*number)) : std::nullopt;
}

Result<std::optional<std::int64_t>> ServiceAllocator::Claim::TakeAnyPort() {
  if (dry_run_) {
    const std::int64_t port = dry_ports_.empty() ? kFirstDryPort : *dry_ports_.rbegin() + 1;
    dry_ports_.insert(port);
    return port;
  }
  KX_ASSIGN_OR_RETURN(const auto number, TakeAny(allocator_->port_pool()));
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

void ServiceAllocator::Claim::GiveUp(const std::optional<Item>& item) {
  if (item && !dry_run_) {
    const base::MutexLock lock(allocator_->mu_);
    allocator_->claimed_.insert(*item);
    given_up_.push_back(*item);
  }
}

void ServiceAllocator::Claim::GiveUpAddress(std::string_view address) {
  GiveUp(allocator_->ItemOf(address));
}

void ServiceAllocator::Claim::GiveUpPort(std::int64_t port) { GiveUp(allocator_->ItemOf(port)); }

void ServiceAllocator::Claim::GiveUpAll(const JsonTree& service) {
  for (const Item& item : allocator_->ItemsOf(service)) {
    GiveUp(item);
  }
}

void ServiceAllocator::Claim::End(Outcome outcome) {
  if (allocator_ == nullptr) {
    return;
  }
  ServiceAllocator& allocator = *std::exchange(allocator_, nullptr);
  if (taken_.empty() && given_up_.empty()) {
    return;
  }
  const base::MutexLock lock(allocator.mu_);
  for (const std::vector<Item>* const list : {&taken_, &given_up_}) {
    for (const Item& item : *list) {
      allocator.claimed_.erase(allocator.claimed_.find(item));
    }
  }
  if (outcome != Outcome::kUndone) {
    allocator.kept_.insert(allocator.kept_.end(), taken_.begin(), taken_.end());
  }
  if (outcome == Outcome::kUnknown) {
    allocator.doubted_ = true;
    allocator.filled_ = false;  // Everything stays taken until the Services have been read.
    return;
  }
  for (const Item& item : outcome == Outcome::kDone ? given_up_ : taken_) {
    allocator.pools_[item.pool].GiveBack(item.number);
  }
}

}  // namespace kubexx::apiserver
