#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"

#include <utility>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using admission::ServiceReference;
using admission::Webhook;
using apimachinery::Fail;
using apimachinery::LabelMap;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

std::string Address(const std::string& host, std::int64_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Returns the port of a Service with that number, or null when it has none.
const JsonTree* PortOf(const JsonTree& service, std::int64_t number) {
  if (const JsonTree* const ports = service.At({"spec", "ports"})) {
    for (const JsonTree& port : ports->elements()) {
      const JsonTree* const found = port.Find("port");
      if (found != nullptr && found->AsInt() == number) {
        return &port;
      }
    }
  }
  return nullptr;
}

/// Returns the number of the port with this name, or 0 when there is none.
std::int64_t PortNamed(const JsonTree& holder, const std::string& name) {
  if (const JsonTree* const ports = holder.Find("ports")) {
    for (const JsonTree& port : ports->elements()) {
      const JsonTree* const number = port.Find("port");
      if (port.TextAt("name") == name && number != nullptr) {
        return number->AsInt().value_or(0);
      }
    }
  }
  return 0;
}

/// The first address in the subsets of Endpoints.
std::string AddressIn(const JsonTree& endpoints, const std::string& port_name) {
  const JsonTree* const subsets = endpoints.Find("subsets");
  for (const JsonTree& subset :
       subsets == nullptr ? std::span<const JsonTree>() : subsets->elements()) {
    const std::int64_t port = PortNamed(subset, port_name);
    const JsonTree* const ip = subset.At({"addresses", "0", "ip"});
    if (port != 0 && ip != nullptr && ip->AsString() != nullptr) {
      return Address(*ip->AsString(), port);
    }
  }
  return {};
}

}  // namespace

Webhooks::Webhooks(TypeRegistry& types, ObjectStore& objects,
                   std::shared_ptr<admission::Caller> caller, bool shared)
    : types_(types), objects_(objects), caller_(std::move(caller)), shared_(shared) {
  mutating_ = std::make_shared<const std::vector<Webhook>>();
  validating_ = mutating_;
}

Webhooks::List Webhooks::mutating() const {
  base::MutexLock lock(mu_);
  return mutating_;
}

Webhooks::List Webhooks::validating() const {
  base::MutexLock lock(mu_);
  return validating_;
}

Result<void> Webhooks::Sync(const std::stop_token& stop) {
  // Only one thread at a time reads, so that the last read counts. The revisions cannot decide
  // that, because a store that was restored has lower ones than before.
  const base::MutexLock syncing(sync_mu_);
  auto read = Read("mutatingwebhookconfigurations", &Webhooks::mutating_, stop);
  if (read) {
    read = Read("validatingwebhookconfigurations", &Webhooks::validating_, stop);
  }
  base::MutexLock lock(mu_);
  again_ = again_ || !read;
  return read;
}

void Webhooks::Tick(const std::stop_token& stop) {
  {
    base::MutexLock lock(mu_);
    if (!again_ && !shared_) {
      return;
    }
    again_ = false;
  }
  if (const auto synced = Sync(stop); !synced && !stop.stop_requested()) {
    logging::Log(
        storage::IsOutage(synced.error()) ? logging::Level::kDebug : logging::Level::kError,
        "Cannot read the webhook configurations; the server tries again",
        {{"error", synced.error()}});
  }
}

Result<void> Webhooks::Read(const char* plural, List Webhooks::* known,
                            const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("admissionregistration.k8s.io", "v1", plural);
  std::vector<Webhook> webhooks;
  // The keys, and thus the webhooks, come in the order of the names.
  KX_RETURN_IF_ERROR(objects_.storage().GetList(
      type->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        const auto json = JsonOfStored(*type, *kv.value, kv.mod_revision);
        const auto tree = json ? JsonTree::Parse(*json) : Fail(json.error());
        if (!tree) {
          logging::Error("Cannot read a webhook configuration",
                         {{"key", kv.key}, {"error", tree.error()}});
          return {};
        }
        for (Webhook& webhook : admission::ReadWebhooks(*tree)) {
          webhooks.push_back(std::move(webhook));
        }
        return {};
      },
      stop));
  auto made = std::make_shared<const std::vector<Webhook>>(std::move(webhooks));
  base::MutexLock lock(mu_);
  this->*known = std::move(made);
  return {};
}

Result<LabelMap> Webhooks::NamespaceLabels(const std::string& name, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const JsonTree object,
                      objects_.Get(*types_.Find("", "v1", "namespaces"), {.name = name}, stop));
  return MetaMap(object, "labels");
}

std::string Webhooks::FindEndpoint(const ServiceReference& service, const std::string& port_name,
                                   const std::stop_token& stop) {
  const apimachinery::ObjectKey key{.namespace_ = service.namespace_, .name = service.name};
  if (const auto endpoints = objects_.Get(*types_.Find("", "v1", "endpoints"), key, stop)) {
    if (std::string address = AddressIn(*endpoints, port_name); !address.empty()) {
      return address;
    }
  }
  const ResourceTypeRef type = types_.Find("discovery.k8s.io", "v1", "endpointslices");
  std::string found;
  (void)objects_.storage().GetList(
      type->prefix + service.namespace_ + "/", {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        const auto json = JsonOfStored(*type, *kv.value, kv.mod_revision);
        const auto slice = json ? JsonTree::Parse(*json) : Fail(json.error());
        const std::string label = "kubernetes.io/service-name";
        if (!slice || !found.empty() || !MetaMap(*slice, "labels").contains(label) ||
            MetaMap(*slice, "labels").at(label) != service.name) {
          return {};
        }
        const std::int64_t port = PortNamed(*slice, port_name);
        const JsonTree* const endpoints = slice->Find("endpoints");
        for (const JsonTree& endpoint :
             endpoints == nullptr ? std::span<const JsonTree>() : endpoints->elements()) {
          const JsonTree* const ready = endpoint.At({"conditions", "ready"});
          const JsonTree* const address = endpoint.At({"addresses", "0"});
          if (port != 0 && found.empty() && address != nullptr && address->AsString() != nullptr &&
              (ready == nullptr || ready->AsBool().value_or(true))) {
            found = Address(*address->AsString(), port);
          }
        }
        return {};
      },
      stop);
  return found;
}

Result<std::string> Webhooks::Resolve(const ServiceReference& service,
                                      const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const JsonTree object,
                      objects_.Get(*types_.Find("", "v1", "services"),
                                   {.namespace_ = service.namespace_, .name = service.name}, stop));
  if (const std::string external = StringAt(object, {"spec", "externalName"});
      StringAt(object, {"spec", "type"}) == "ExternalName" && !external.empty()) {
    return Address(external, service.port);
  }
  const JsonTree* const port = PortOf(object, service.port);
  const std::string named = "service " + service.namespace_ + "/" + service.name;
  if (port == nullptr) {
    return Fail(Reason::kServiceUnavailable,
                named + " has no port " + std::to_string(service.port));
  }
  if (std::string address = FindEndpoint(service, std::string(port->TextAt("name")), stop);
      !address.empty()) {
    return address;
  }
  // There would be nothing behind its address.
  return Fail(Reason::kServiceUnavailable,
              named +
                  " has no endpoints that are ready, and this server has no network of Services: "
                  "give it Endpoints, or the webhook a URL");
}

}  // namespace kubexx::apiserver
