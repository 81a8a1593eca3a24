// What the examples in comments of headers need around them. header_examples_test.py puts each
// example in the place of the line "EXAMPLE <header> <number>" and compiles the whole.
#include <chrono>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/autoscaling/v1/resources.gen.h"
#include "kubexx/api/autoscaling/v1/types.gen.h"
#include "kubexx/api/autoscaling/v2/resources.gen.h"
#include "kubexx/api/autoscaling/v2/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/apiserver/server/testing/interceptor.h"
#include "kubexx/authfilter/auth_filter.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/typed_event.h"
#include "kubexx/certrotator/cert_rotator.h"
#include "kubexx/certwatcher/cert_watcher.h"
#include "kubexx/codec/json_path.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/retry.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/controller/testing/await.h"
#include "kubexx/informers/type_options.h"
#include "kubexx/kubernetes/managed_fields_upgrade.h"
#include "kubexx/kubernetes/pager.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/logging/logger.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/otlp/settings.h"
#include "kubexx/otlp/tracing.h"
#include "kubexx/remotecommand/port_forwarder.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/webhook/server.h"

using namespace kubexx;
using namespace kubexx::api::apps::v1;
using namespace kubexx::api::core::v1;
using namespace kubexx::controller;
using apimachinery::ObjectKey;
using apimachinery::Result;
using kubernetes::ApplyObject;
using leaderelection::LeaderElector;
using leaderelection::LeaseLock;
namespace apps = kubexx::api::apps;
using Website = Deployment;  // some type

Result<int> F();
template <class A, class B>
Result<std::pair<A, B>> G(A x);
Result<int> Macros() {
  // EXAMPLE pkg/apimachinery/status.h 1
  return a + b;
}

// EXAMPLE pkg/controller/manager.h 1

void Program() {
  // EXAMPLE pkg/controller/manager.h 2
}

class Lines {
  void Await(const base::testing::Where& where) const {
    using base::MutexLock;
    using base::testing::Patience;
    // EXAMPLE pkg/base/testing/await.h 1
  }
  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  std::vector<std::string> lines_;
};

void Log(controller::Context& context, const std::string& name) {
  // EXAMPLE pkg/logging/logger.h 1
}

std::vector<controller::Request> UsersOf(const Secret& secret);
void Build(Manager& manager) {
  // EXAMPLE pkg/controller/builder.h 1
}

void Wait(std::shared_ptr<rest::RESTClient> client) {
  // EXAMPLE pkg/controller/testing/await.h 1
}

void Serve() {
  // EXAMPLE pkg/apiserver/server/testing/api_server.h 1
}

void Intercept() {
  // EXAMPLE pkg/apiserver/server/testing/interceptor.h 1
}

// EXAMPLE pkg/cache/typed_event.h 1

void IndexNodes(const std::shared_ptr<cache::SharedInformer<Pod>>& informer) {
  // EXAMPLE pkg/cache/indexer_set.h 2
}

void WorkInSeveral(Manager& manager, const rest::Config& config_of_west,
                   std::vector<Request> (*requests_of)(const ConfigMap&)) {
  // EXAMPLE pkg/controller/manager.h 3
}

void ReadElsewhere(const Request& request, Context& context, const std::shared_ptr<Cluster>& west) {
  // EXAMPLE pkg/controller/client.h 2
}

void ConvertVersions(const std::unique_ptr<Manager>& manager) {
  // EXAMPLE pkg/webhook/conversion.h 1
}

Result<void> RotateCertificates(const std::shared_ptr<rest::RESTClient>& client,
                                const rest::Config& config) {
  // EXAMPLE pkg/certrotator/cert_rotator.h 1
  return {};
}

void Trace(ManagerOptions& options) {
  // EXAMPLE pkg/otlp/tracing.h 1
}

void CacheSome() {
  // EXAMPLE pkg/informers/type_options.h 1
}

void Select(Manager& manager, Context& context, const std::string& node) {
  // EXAMPLE pkg/cache/indexer_set.h 1
}

Result<std::set<std::string>> ImagesOf(std::shared_ptr<rest::RESTClient> client) {
  std::set<std::string> images;
  // EXAMPLE pkg/kubernetes/pager.h 1
  return images;
}

Result<void> PrintImages(const Pod& pod) {
  // EXAMPLE pkg/codec/json_path.h 1
  return {};
}

void ApplyAs(Context& context, const ApplyObject<Deployment>& wanted) {
  // EXAMPLE pkg/controller/client.h 1
}

void UpgradeFields(const controller::Client& client, const ObjectKey& key) {
  // EXAMPLE pkg/kubernetes/managed_fields_upgrade.h 1
}

Result<void> Admit(certwatcher::CertWatcher* watcher, metrics::Registry& registry) {
  // EXAMPLE pkg/webhook/server.h 1
  return {};
}

void ServeMetrics(metrics::Registry& registry) {
  // EXAMPLE pkg/metrics/http_server.h 1
}
void ServeMetricsSecurely(std::shared_ptr<rest::RESTClient> client,
                          certwatcher::CertWatcher* watcher, metrics::Registry& registry) {
  // EXAMPLE pkg/metrics/http_server.h 2
}

void Apply(kubernetes::ResourceClient<Deployment> deployments) {
  // EXAMPLE pkg/kubernetes/apply.h 1
}

void Elect(std::shared_ptr<rest::RESTClient> client, metrics::Registry& registry,
           std::stop_token stop, std::function<void(std::stop_token)> run_controllers) {
  // EXAMPLE pkg/leaderelection/leader_elector.h 1
}

void Fetch(const std::string& url);
Result<void> Forwarded(const std::shared_ptr<rest::RESTClient>& client) {
  // EXAMPLE pkg/remotecommand/port_forwarder.h 1
  return {};
}

void Wake();
void WakeAt(base::TimePoint time);
void Turns(std::unique_ptr<rest::ResponseStream> stream, rest::Request::ChunkSink sink) {
  using rest::StreamRead;
  // EXAMPLE pkg/rest/response_stream.h 1
  turn();
}
