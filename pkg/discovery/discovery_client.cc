#include "kubexx/discovery/discovery_client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/discovery/internal/fetch.h"
#include "kubexx/discovery/internal/legacy.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::discovery {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kAggregated = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string TextAt(const JsonTree& tree, std::string_view key) {
  const JsonTree* const value = tree.Find(key);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

Result<JsonTree> FetchJson(rest::RESTClient& client, std::string_view path,
                           const std::stop_token& stop) {
  rest::Request request = client.Get();
  KX_ASSIGN_OR_RETURN(const rest::Response response, request.AbsPath(path).Do(stop));
  auto tree = JsonTree::Parse(response.body);
  if (!tree) {
    return Fail(tree.error().WithContext(request.ToString()));
  }
  return tree;
}

// Whether the server does not know the aggregated form: it refuses the media type or answers with
// the old document.
bool IsOld(const apimachinery::Status& status) {
  return status.reason == Reason::kNotAcceptable || status.reason == Reason::kMalformed;
}

}  // namespace

DiscoveryClient::DiscoveryClient(std::shared_ptr<rest::RESTClient> client)
    : client_(std::move(client)) {}

Result<GroupList> DiscoveryClient::Groups(std::stop_token stop) const {
  GroupList out;
  for (const std::string_view path : {"/api", "/apis"}) {
    auto part = internal::Fetch<GroupList>(*client_, path, kAggregated, stop);
    if (part) {
      std::ranges::move(part->items, std::back_inserter(out.items));
      continue;
    }
    if (IsOld(part.error())) {
      return internal::LegacyGroups(*client_, stop);
    }
    // A server of extension groups only may have no core group.
    const bool optional = path == "/api" && (part.error().reason == Reason::kNotFound ||
                                             part.error().reason == Reason::kForbidden);
    if (!optional) {
      return Fail(std::move(part).error());
    }
  }
  return out;
}

Result<ServerVersion> DiscoveryClient::Version(std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, FetchJson(*client_, "/version", stop));
  return ServerVersion{.major = TextAt(tree, "major"),
                       .minor = TextAt(tree, "minor"),
                       .git_version = TextAt(tree, "gitVersion"),
                       .git_commit = TextAt(tree, "gitCommit"),
                       .build_date = TextAt(tree, "buildDate"),
                       .go_version = TextAt(tree, "goVersion"),
                       .platform = TextAt(tree, "platform")};
}

Result<std::map<std::string, std::string>> DiscoveryClient::OpenApiPaths(
    std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, FetchJson(*client_, "/openapi/v3", stop));
  const JsonTree* const paths = tree.Find("paths");
  if (paths == nullptr || !paths->IsObject()) {
    return Fail(Malformed("paths", "is missing in /openapi/v3"));
  }
  std::map<std::string, std::string> out;
  for (const JsonTree::Member& path : paths->members()) {
    out[path.key] = TextAt(path.value, "serverRelativeURL");
  }
  return out;
}

Result<std::string> DiscoveryClient::OpenApiDocument(std::string_view relative_url,
                                                     std::stop_token stop) const {
  rest::Request request = client_->Get();
  const std::size_t question = relative_url.find('?');
  request.AbsPath(relative_url.substr(0, question));
  if (question != std::string_view::npos) {
    std::string_view query = relative_url.substr(question + 1);
    while (!query.empty()) {
      const std::string_view pair = query.substr(0, query.find('&'));
      const std::size_t equals = std::min(pair.find('='), pair.size());
      request.Param(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
      query.remove_prefix(std::min(pair.size() + 1, query.size()));
    }
  }
  KX_ASSIGN_OR_RETURN(rest::Response response, request.Do(std::move(stop)));
  return std::move(response.body);
}

}  // namespace kubexx::discovery
