#include "kubexx/rest/rest_client.h"

#include <utility>

#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/url.h"

#ifndef KUBEXX_VERSION
#define KUBEXX_VERSION "dev"
#endif

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kDefaultUserAgent = "kubexx/" KUBEXX_VERSION " (linux/amd64)";

std::string_view ContentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "application/json";
}

}  // namespace

RESTClient::RESTClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RESTClient::~RESTClient() = default;

Result<std::shared_ptr<RESTClient>> RESTClient::New(Config config, Options options) {
  if (config.user_agent.empty()) {
    config.user_agent = kDefaultUserAgent;
  } else if (!CheckHeader("User-Agent", config.user_agent)) {
    return Fail(Reason::kInvalidConfig, "user_agent has control characters");
  }
  KX_ASSIGN_OR_RETURN(auto sender, internal::Sender::New(std::move(config), std::move(options)));
  return std::shared_ptr<RESTClient>(
      new RESTClient(std::unique_ptr<Impl>(new Impl{.sender = std::move(sender)})));
}

Request RESTClient::Verb(std::string method) { return {*this, std::move(method)}; }

Request RESTClient::Patch(PatchType type) {
  Request request = Verb("PATCH");
  request.content_type_ = ContentTypeOf(type);
  return request;
}

const Config& RESTClient::config() const { return impl_->sender->config(); }

bool RESTClient::CanOpenStreams() const { return impl_->sender->CanNotify(); }

}  // namespace kubexx::rest
