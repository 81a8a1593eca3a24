#include "kubexx/reloader/ha/replica.h"

#include <optional>
#include <utility>

#include "kubexx/leaderelection/lock.h"
#include "kubexx/reloader/ha/leadership.h"
#include "kubexx/reloader/ha/membership.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

class LeaseReplica final : public Replica {
 public:
  LeaseReplica(std::shared_ptr<rest::RESTClient> client, const HaSettings& settings,
               std::function<void(int shard)> on_acquired, metrics::Registry* registry)
      : client_(std::move(client)),
        settings_(settings),
        held_(settings.shards),
        store_(NewLeaseMemberStore(client_, {settings.pod_namespace, kLeaseName}, settings.pod_name,
                                   settings.shards)),
        membership_(
            {.identity = settings.pod_name, .shards = settings.shards, .registry = registry},
            *store_) {
    reloader::Leadership::Options options;
    options.election.identity = settings_.pod_name;
    options.registry = registry;
    options.on_acquired = std::move(on_acquired);
    options.lock = [client = client_, settings = settings_](int shard) {
      return std::make_shared<leaderelection::LeaseLock>(
          client,
          apimachinery::ObjectKey{settings.pod_namespace, LeaseNameOf(shard, settings.shards)});
    };
    leadership_.emplace(std::move(options), held_, &membership_);
  }

  HeldShards& held_shards() override { return held_; }

  Result<void> Run(Lead lead, std::stop_token stop) override {
    // If the system has too few threads for all of it, this gives back what has begun.
    const Campaign campaign(*this);
    membership_.Start();
    KX_RETURN_IF_ERROR(leadership_->Start());
    lead(std::move(stop));
    return {};
  }

  Result<void> Check() const override { return leadership_->Check(); }

  std::optional<std::string> Problem() const override { return membership_.Problem(); }

  std::optional<std::string> Waiting() const override { return membership_.Waiting(); }

 private:
  /// Ends everything that Run has begun.
  class Campaign {
   public:
    explicit Campaign(LeaseReplica& replica) : replica_(replica) {}
    ~Campaign() {
      replica_.membership_.Stop();  // first, so that the other replicas prepare to take the shards
      replica_.leadership_->Stop();
    }
    Campaign(const Campaign&) = delete;
    Campaign& operator=(const Campaign&) = delete;

   private:
    LeaseReplica& replica_;
  };

  const std::shared_ptr<rest::RESTClient> client_;
  const HaSettings settings_;
  HeldShards held_;
  const std::unique_ptr<MemberStore> store_;
  Membership membership_;
  std::optional<reloader::Leadership> leadership_;
};

}  // namespace

std::shared_ptr<Replica> Replica::New(std::shared_ptr<rest::RESTClient> client,
                                      const HaSettings& settings,
                                      std::function<void(int shard)> on_acquired,
                                      metrics::Registry* registry) {
  return std::make_shared<LeaseReplica>(std::move(client), settings, std::move(on_acquired),
                                        registry);
}

}  // namespace kubexx::reloader
