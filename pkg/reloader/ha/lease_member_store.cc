// Stores the members as Leases.
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/api/coordination/v1/schema.gen.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/ha/membership.h"

namespace kubexx::reloader {
namespace {

using api::coordination::v1::Lease;
using apimachinery::Reason;
using apimachinery::Result;

constexpr char kMemberLabel[] = "kubexx.io/reloader-member-of";
constexpr char kShardsAnnotation[] = "kubexx.io/reloader-shards";
constexpr std::int32_t kLeaseSeconds = 15;
// Clocks differ by far less than this.
constexpr std::chrono::minutes kSurelyOver{10};

/// The number of shards into which the member divides the namespaces. 0 when the Lease does not
/// tell.
int ShardsOf(const Lease& lease) {
  const auto found = lease.metadata.annotations.find(kShardsAnnotation);
  int shards = 0;
  if (found != lease.metadata.annotations.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shards);
    if (error != std::errc() || end != text.data() + text.size() || shards < 0) {
      return 0;
    }
  }
  return shards;
}

Member MemberFrom(const Lease& lease, int shards) {
  const auto renewed = lease.spec.renew_time.value_or(apimachinery::MicroTime());
  const auto limit = apimachinery::MicroTime::From(std::chrono::system_clock::now() - kSurelyOver);
  return {.name = lease.spec.holder_identity.value_or(""),
          .version = lease.metadata.resource_version,
          .shards = shards,
          .created = lease.metadata.creation_timestamp.seconds,
          .is_abandoned = renewed < limit};
}

class LeaseMemberStore final : public MemberStore {
 public:
  LeaseMemberStore(std::shared_ptr<rest::RESTClient> client, apimachinery::ObjectKey lease,
                   std::string identity, int shards)
      : leases_(std::move(client), lease.namespace_),
        lease_(std::move(lease)),
        identity_(std::move(identity)),
        shards_(shards) {}

  Result<void> Renew(std::stop_token until, base::Duration limit) override {
    const base::StopTimer timer(base::Clock::Real(), until, limit);
    const std::stop_token stop = timer.token();
    own_.metadata.name = NameOf(identity_);
    own_.metadata.namespace_ = lease_.namespace_;
    own_.metadata.labels[kMemberLabel] = lease_.name;
    own_.metadata.annotations[kShardsAnnotation] = std::to_string(shards_);
    own_.spec.holder_identity = identity_;
    own_.spec.lease_duration_seconds = kLeaseSeconds;
    own_.spec.renew_time = apimachinery::MicroTime::From(std::chrono::system_clock::now());
    if (!own_.metadata.resource_version.empty()) {
      auto updated = leases_.Update(own_, {}, stop);
      if (updated) {
        own_ = *std::move(updated);
        return {};
      }
      if (!apimachinery::IsObjectNotFound(updated.error()) &&
          updated.error().reason != Reason::kConflict) {
        return apimachinery::Fail(updated.error());
      }
    }
    own_.metadata.resource_version.clear();
    own_.metadata.uid.clear();
    auto created = leases_.Create(own_, {}, stop);
    if (!created && created.error().reason == Reason::kAlreadyExists) {
      created = leases_.Get(own_.metadata.name, stop);  // the next call renews it
    }
    if (!created) {
      return apimachinery::Fail(created.error());
    }
    own_ = *std::move(created);
    return {};
  }

  Result<std::vector<Member>> List(std::stop_token stop, base::Duration limit) override {
    const base::StopTimer timer(base::Clock::Real(), stop, limit);
    KX_ASSIGN_OR_RETURN(const auto list, leases_.List(Selection(), timer.token()));
    std::vector<Member> members;
    for (const Lease& lease : list.items) {
      // A copy of a member's Lease under another name, perhaps from a backup, belongs to no member:
      // nobody renews it, and Remove would not find it.
      if (lease.metadata.name != NameOf(lease.spec.holder_identity.value_or(""))) {
        continue;
      }
      members.push_back(MemberFrom(lease, ShardsOf(lease)));
    }
    return members;
  }

  Result<std::optional<Member>> Leader(std::stop_token stop, base::Duration limit) override {
    const base::StopTimer timer(base::Clock::Real(), stop, limit);
    const auto lease = leases_.Get(lease_.name, timer.token());
    if (!lease) {
      return apimachinery::IsObjectNotFound(lease.error())
                 ? Result<std::optional<Member>>(std::nullopt)
                 : apimachinery::Fail(lease.error());
    }
    if (lease->spec.holder_identity.value_or("").empty()) {
      return std::nullopt;  // the holder has released it
    }
    Member leader = MemberFrom(*lease, 1);
    leader.created = 0;  // the Lease is older than its holder
    return leader;
  }

  Result<void> Remove(const std::string& name, std::stop_token stop,
                      base::Duration limit) override {
    const base::StopTimer timer(base::Clock::Real(), stop, limit);
    const auto removed = leases_.Delete(NameOf(name), {}, timer.token());
    if (!removed && !apimachinery::IsObjectNotFound(removed.error())) {
      return apimachinery::Fail(removed.error());
    }
    return {};
  }

  Result<void> Watch(const std::function<void()>& on_change, std::stop_token stop) override {
    return leases_.Watch(
        Selection(),
        [&](kubernetes::WatchEvent<Lease>&& event) -> Result<void> {
          if (event.type == codec::WatchEventType::kAdded ||
              event.type == codec::WatchEventType::kDeleted) {
            on_change();
          }
          return {};
        },
        std::move(stop));
  }

 private:
  std::string NameOf(const std::string& identity) const {
    return lease_.name + "-member-" + identity;
  }
  apimachinery::ListOptions Selection() const {
    apimachinery::ListOptions options;
    options.label_selector = std::string(kMemberLabel) + "=" + lease_.name;
    return options;
  }

  kubernetes::ResourceClient<Lease> leases_;
  const apimachinery::ObjectKey lease_;
  const std::string identity_;
  const int shards_;
  Lease own_;  // only Renew uses it
};

}  // namespace

std::unique_ptr<MemberStore> NewLeaseMemberStore(std::shared_ptr<rest::RESTClient> client,
                                                 apimachinery::ObjectKey lease,
                                                 std::string identity, int shards) {
  return std::make_unique<LeaseMemberStore>(std::move(client), std::move(lease),
                                            std::move(identity), shards);
}

}  // namespace kubexx::reloader
