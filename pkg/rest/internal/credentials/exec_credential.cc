#include "kubexx/rest/internal/credentials/exec_credential.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/schema.h"
#include "kubexx/rest/internal/config/file.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::Cardinality;
using codec::FieldSchema;
using codec::kContainerOps;
using codec::Kind;
using codec::kNoFlags;
using codec::kOmitEmpty;
using codec::TypeSchema;

struct Cluster {
  std::string server{};
  std::string tls_server_name{};
  bool insecure = false;
  apimachinery::Bytes ca{};
  std::string proxy_url{};
  bool disable_compression = false;
  std::optional<apimachinery::JsonValue> config{};
};

struct Spec {
  apimachinery::Box<Cluster> cluster{};
  bool interactive = false;
};

struct PluginStatus {
  std::optional<apimachinery::Time> expiration{};
  std::string token{};
  std::string certificate{};
  std::string key{};
};

struct Credential {
  Spec spec{};
  apimachinery::Box<PluginStatus> status{};
};

// Describes a field without protobuf tags, because this type is only used in JSON.
constexpr FieldSchema Plain(std::string_view name, Kind kind, std::size_t offset,
                            std::uint8_t flags = kOmitEmpty, const TypeSchema* message = nullptr) {
  return {.name = name,
          .kind = kind,
          .flags = flags,
          .offset = static_cast<std::uint32_t>(offset),
          .message = message};
}

constexpr FieldSchema Optional(std::string_view name, Kind kind, std::size_t offset,
                               const codec::ContainerOps* ops,
                               const TypeSchema* message = nullptr) {
  return {.name = name,
          .kind = kind,
          .cardinality = Cardinality::kOptional,
          .flags = kOmitEmpty,
          .offset = static_cast<std::uint32_t>(offset),
          .message = message,
          .ops = ops};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

constexpr FieldSchema kClusterFields[] = {
    Plain("server", Kind::kString, offsetof(Cluster, server), kNoFlags),
    Plain("tls-server-name", Kind::kString, offsetof(Cluster, tls_server_name)),
    Plain("insecure-skip-tls-verify", Kind::kBool, offsetof(Cluster, insecure)),
    Plain("certificate-authority-data", Kind::kBytes, offsetof(Cluster, ca)),
    Plain("proxy-url", Kind::kString, offsetof(Cluster, proxy_url)),
    Plain("disable-compression", Kind::kBool, offsetof(Cluster, disable_compression)),
    Optional("config", Kind::kJsonValue, offsetof(Cluster, config),
             &kContainerOps<std::optional<apimachinery::JsonValue>>),
};
constexpr TypeSchema kCluster{"ExecCredential.Cluster", "", "", "", kClusterFields};

constexpr FieldSchema kSpecFields[] = {
    Optional("cluster", Kind::kMessage, offsetof(Spec, cluster),
             &kContainerOps<apimachinery::Box<Cluster>>, &kCluster),
    Plain("interactive", Kind::kBool, offsetof(Spec, interactive), kNoFlags),
};
constexpr TypeSchema kSpec{"ExecCredential.Spec", "", "", "", kSpecFields};

constexpr FieldSchema kStatusFields[] = {
    Optional("expirationTimestamp", Kind::kTime, offsetof(PluginStatus, expiration),
             &kContainerOps<std::optional<apimachinery::Time>>),
    Plain("token", Kind::kString, offsetof(PluginStatus, token)),
    Plain("clientCertificateData", Kind::kString, offsetof(PluginStatus, certificate)),
    Plain("clientKeyData", Kind::kString, offsetof(PluginStatus, key)),
};
constexpr TypeSchema kStatus{"ExecCredential.Status", "", "", "", kStatusFields};

constexpr FieldSchema kCredentialFields[] = {
    Plain("spec", Kind::kMessage, offsetof(Credential, spec), kNoFlags, &kSpec),
    Optional("status", Kind::kMessage, offsetof(Credential, status),
             &kContainerOps<apimachinery::Box<PluginStatus>>, &kStatus),
};
constexpr std::string_view kGroup = "client.authentication.k8s.io";
constexpr TypeSchema kV1{"ExecCredential", kGroup, "v1", "ExecCredential", kCredentialFields};
constexpr TypeSchema kV1Beta1{"ExecCredential", kGroup, "v1beta1", "ExecCredential",
                              kCredentialFields};

#pragma GCC diagnostic pop

const TypeSchema& SchemaFor(const std::string& api_version) {
  return api_version.ends_with("/v1beta1") ? kV1Beta1 : kV1;
}

void Wipe(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

}  // namespace

ExecCredential::~ExecCredential() {
  Wipe(token);
  Wipe(certificate);
  Wipe(key);
}

Result<std::string> ExecInfo(const Config& config, bool interactive) {
  Credential object;
  object.spec.interactive = interactive;
  if (config.exec->provide_cluster_info) {
    Cluster cluster{.server = config.host,
                    .tls_server_name = config.tls.server_name,
                    .insecure = config.tls.insecure_skip_verify,
                    .proxy_url = config.proxy_url,
                    .disable_compression = config.disable_compression};
    std::string ca = config.tls.ca_data;
    if (ca.empty() && !config.tls.ca_file.empty()) {
      KX_ASSIGN_OR_RETURN(ca, ReadConfigFile(config.tls.ca_file, "certificate-authority"));
    }
    cluster.ca = apimachinery::Bytes(std::move(ca));
    if (!config.exec->cluster_extension.empty()) {
      cluster.config = apimachinery::JsonValue{.raw = config.exec->cluster_extension};
    }
    object.spec.cluster = std::move(cluster);
  }
  std::string out;
  codec::EncodeJson(SchemaFor(config.exec->api_version), &object, out);
  return out;
}

Result<ExecCredential> ParseExecCredential(const std::string& api_version, std::string_view text) {
  Credential object;
  KX_RETURN_IF_ERROR(codec::DecodeJson(SchemaFor(api_version), text, &object));
  if (!object.status.has_value()) {
    return Fail(apimachinery::Malformed("status", "is missing"));
  }
  PluginStatus& status = *object.status;
  ExecCredential out;
  out.token = std::move(status.token);
  out.certificate = std::move(status.certificate);
  out.key = std::move(status.key);
  if (out.token.empty() && out.certificate.empty() && out.key.empty()) {
    return Fail(apimachinery::Malformed("status", "has neither a token nor a certificate"));
  }
  if (out.certificate.empty() != out.key.empty()) {
    return Fail(apimachinery::Malformed("status",
                                        "has only one of clientCertificateData and clientKeyData"));
  }
  if (status.expiration.has_value() && !status.expiration->IsZero()) {
    // A time that is later than a clock can hold means that the credentials never expire.
    constexpr std::int64_t kFarFuture = 9'000'000'000;
    const std::int64_t seconds =
        std::clamp<std::int64_t>(status.expiration->seconds, 0, kFarFuture);
    out.expiration = base::WallTime(std::chrono::seconds(seconds));
  }
  return out;
}

}  // namespace kubexx::rest::internal
