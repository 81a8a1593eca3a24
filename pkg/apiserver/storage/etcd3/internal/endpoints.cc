#include "kubexx/apiserver/storage/etcd3/internal/endpoints.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/apiserver/storage/etcd3/internal/version.h"
#include "kubexx/apiserver/storage/internal/errors.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::storage::etcd3::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using storage::internal::Cancelled;

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kSecure = "https://";
// A stop may go unnoticed for this time while there is no connection.
constexpr std::chrono::milliseconds kSlice{50};
constexpr int kFirstReconnectMs = 100;
constexpr int kMaxReconnectMs = 500;
// A connection that died silently is noticed within this time and the next.
constexpr int kKeepaliveMs = 30000;
constexpr int kKeepaliveTimeoutMs = 10000;

/// "" for no file.
Result<std::string> ReadPem(const std::string& path) {
  if (path.empty()) {
    return std::string();
  }
  auto text = apimachinery::ReadFile(path);
  if (!text) {
    return Fail(Reason::kInvalidConfig, text.error().message + " (for the connection to etcd)");
  }
  if (text->empty()) {
    return Fail(Reason::kInvalidConfig, path + ", for the connection to etcd, is empty");
  }
  return text;
}

Result<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const Etcd3Options& options,
                                                                  bool secure) {
  if (!secure) {
    return grpc::InsecureChannelCredentials();
  }
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return Fail(Reason::kInvalidConfig,
                "a client certificate for etcd needs its key, and a key its "
                "certificate; give both or none");
  }
  grpc::SslCredentialsOptions ssl;
  KX_ASSIGN_OR_RETURN(ssl.pem_root_certs, ReadPem(options.ca_file));
  KX_ASSIGN_OR_RETURN(ssl.pem_cert_chain, ReadPem(options.certificate_file));
  KX_ASSIGN_OR_RETURN(ssl.pem_private_key, ReadPem(options.key_file));
  auto credentials = grpc::SslCredentials(ssl);
  apimachinery::Wipe(ssl.pem_private_key);
  return credentials;
}

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  arguments.SetMaxSendMessageSize(std::numeric_limits<int>::max());
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return arguments;
}

}  // namespace

Result<std::unique_ptr<Endpoints>> Endpoints::Make(const Etcd3Options& options) {
  if (options.endpoints.empty()) {
    return Fail(Reason::kInvalidConfig, "no endpoint of etcd was given");
  }
  const bool secure = options.endpoints.front().starts_with(kSecure);
  KX_ASSIGN_OR_RETURN(const auto credentials, MakeCredentials(options, secure));
  std::unique_ptr<Endpoints> endpoints(new Endpoints());
  for (const std::string& url : options.endpoints) {
    const std::string_view scheme = secure ? kSecure : kPlain;
    std::string address = url.starts_with(scheme) ? url.substr(scheme.size()) : "";
    if (address.ends_with('/')) {
      address.pop_back();
    }
    if (address.empty() || address.find(':') == std::string::npos ||
        address.find('/') != std::string::npos) {
      return Fail(Reason::kInvalidConfig, "endpoint \"" + url + "\" of etcd is not " +
                                              std::string(scheme) + "<host>:<port>");
    }
    Endpoint member;
    member.address = address;
    member.channel = grpc::CreateCustomChannel(address, credentials, Arguments());
    member.kv = etcdserverpb::KV::NewStub(member.channel);
    member.watch = etcdserverpb::Watch::NewStub(member.channel);
    member.maintenance = etcdserverpb::Maintenance::NewStub(member.channel);
    endpoints->members_.push_back(std::move(member));
  }
  return endpoints;
}

void Endpoints::Leave(const Endpoint* member) {
  const auto place = static_cast<std::size_t>(member - members_.data());
  std::size_t expected = place;
  last_.compare_exchange_strong(expected, (place + 1) % members_.size());
}

const Endpoint* Endpoints::FindReady() {
  const std::size_t start = last_.load();
  for (std::size_t step = 0; step < members_.size(); ++step) {
    const std::size_t place = (start + step) % members_.size();
    if (members_[place].channel->GetState(true) == GRPC_CHANNEL_READY) {
      last_.store(place);
      return &members_[place];
    }
  }
  return nullptr;
}

Result<void> Endpoints::CheckVersion(const Endpoint& member, Deadline deadline,
                                     const std::stop_token& stop) {
  if (*member.good) {
    return {};
  }
  grpc::ClientContext context;
  context.set_deadline(deadline);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  etcdserverpb::StatusResponse response;
  const grpc::Status status = member.maintenance->Status(&context, {}, &response);
  if (status.ok() && !TellsProgressTruly(response.version())) {
    return Fail(Reason::kUnavailable,
                "etcd " + response.version() + " at " + member.address +
                    " reports the progress of a watch before it has sent all earlier events; "
                    "use 3.4.25, 3.5.8 or later");
  }
  if (status.ok() && !TellsProgressAlways(response.version())) {
    logging::Warning(
        "This etcd may not report the progress of idle watches, so that some lists take seconds; "
        "use 3.4.31, 3.5.13 or later",
        {{"etcd", member.address}, {"version", response.version()}});
  }
  // A server that speaks etcd's protocol without being etcd may not know this request.
  if (status.ok() || status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    *member.good = true;
  }
  return {};
}

Result<const Endpoint*> Endpoints::Connected(Deadline deadline, const std::stop_token& stop) {
  std::set<const Endpoint*> refused;
  apimachinery::Status refusal;
  for (std::size_t turn = 0; !stop.stop_requested(); ++turn) {
    if (const Endpoint* ready = FindReady(); ready != nullptr && !refused.contains(ready)) {
      const Result<void> checked = CheckVersion(*ready, deadline, stop);
      if (checked) {
        return ready;
      }
      refusal = checked.error();
      refused.insert(ready);
      Leave(ready);
      continue;
    } else if (ready != nullptr) {
      Leave(ready);  // the others may still be connecting
    }
    const Deadline now = std::chrono::system_clock::now();
    if (refused.size() == members_.size() || (now >= deadline && !refused.empty())) {
      return Fail(std::move(refusal));
    }
    if (now >= deadline) {
      return Fail(Reason::kUnavailable, "no connection to etcd at " + members_.front().address +
                                            (members_.size() > 1 ? " or the others" : "") +
                                            "; is it running?");
    }
    // All of them are connecting, and the first change of any of them ends the wait.
    const std::size_t share = std::max<std::size_t>(1, members_.size());
    const Endpoint& member = members_[turn % members_.size()];
    if (!refused.contains(&member)) {
      member.channel->WaitForConnected(std::min(deadline, now + kSlice / static_cast<int>(share)));
    }
  }
  return Cancelled("waiting for etcd");
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
