#include "kubexx/leaderelection/lock.h"

#include <utility>

#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::leaderelection {

using apimachinery::Fail;
using apimachinery::Result;
using kubernetes::WatchEvent;

LeaseLock::LeaseLock(std::shared_ptr<rest::RESTClient> client, apimachinery::ObjectKey key)
    : key_(std::move(key)), client_(std::move(client), key_.namespace_) {}

Result<Lock::Lease> LeaseLock::Get(std::stop_token stop) {
  return client_.Get(key_.name, std::move(stop));
}

Result<Lock::Lease> LeaseLock::Create(Lease lease, std::stop_token stop) {
  lease.metadata = {};
  lease.metadata.namespace_ = key_.namespace_;
  lease.metadata.name = key_.name;
  return client_.Create(lease, {}, std::move(stop));
}

Result<Lock::Lease> LeaseLock::Update(const Lease& lease, std::stop_token stop) {
  return client_.Update(lease, {}, std::move(stop));
}

Result<void> LeaseLock::Watch(Sink sink, std::stop_token stop) {
  // Without a version the watch begins with the lease as it is now. The name as a field selector is
  // what lets a role that is limited to this one lease allow the watch.
  const apimachinery::ListOptions options{.field_selector = "metadata.name=" + key_.name};
  return client_.Watch(
      options,
      [&sink](WatchEvent<Lease>&& event) -> Result<void> {
        if (event.type == codec::WatchEventType::kAdded ||
            event.type == codec::WatchEventType::kModified) {
          sink(std::move(event.object));
        }
        return {};
      },
      std::move(stop));
}

rest::Config LockClientConfig(rest::Config config) {
  config.qps = -1;
  if (!config.user_agent.empty()) {
    config.user_agent += "/leader-election";
  }
  return config;
}

}  // namespace kubexx::leaderelection
