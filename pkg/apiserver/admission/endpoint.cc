#include "kubexx/apiserver/admission/endpoint.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "kubexx/codec/base64.h"

namespace kubexx::apiserver::admission {

using apimachinery::Result;
using codec::JsonTree;

namespace {

// Cleans the path as path.Join does, through which client-go makes the path of a request:
// "https://host//a/./b/" becomes "https://host/a/b". The query, if there is one, stays.
std::string Cleaned(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t begin =
      std::min(scheme == std::string::npos ? url.size() : url.find('/', scheme + 3), url.size());
  const std::size_t end = std::min(url.find('?', begin), url.size());
  std::string path =
      std::filesystem::path("/" + url.substr(begin, end - begin)).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return url.substr(0, begin) + path + url.substr(end);
}

}  // namespace

ClientConfig ReadClientConfig(const JsonTree& config) {
  ClientConfig client;
  client.url = config.TextAt("url");
  if (!codec::DecodeBase64(config.TextAt("caBundle"), client.authority)) {
    client.authority.clear();
  }
  if (const JsonTree* const service = config.Find("service");
      service != nullptr && service->IsObject()) {
    ServiceReference& reference = client.service.emplace();
    reference.namespace_ = service->TextAt("namespace");
    reference.name = service->TextAt("name");
    reference.path = service->TextAt("path");
    if (const JsonTree* const port = service->Find("port")) {
      reference.port = port->AsInt().value_or(reference.port);
    }
  }
  return client;
}

Result<Endpoint> EndpointOf(const ClientConfig& client, std::chrono::seconds timeout,
                            ServiceResolver& services, const std::stop_token& stop) {
  Endpoint endpoint{.url = client.url, .authority = client.authority, .timeout = timeout};
  if (client.service) {
    KX_ASSIGN_OR_RETURN(const std::string address, services.Resolve(*client.service, stop));
    const std::string& path = client.service->path;
    endpoint.url = "https://" + address + (path.starts_with('/') ? "" : "/") + path;
    endpoint.server_name = client.service->name + "." + client.service->namespace_ + ".svc";
  }
  endpoint.url = Cleaned(endpoint.url);
  endpoint.url += (endpoint.url.find('?') == std::string::npos ? "?timeout=" : "&timeout=") +
                  std::to_string(timeout.count()) + "s";
  return endpoint;
}

}  // namespace kubexx::apiserver::admission
