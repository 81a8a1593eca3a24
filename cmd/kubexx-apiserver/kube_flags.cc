#include "kube_flags.h"

#include <filesystem>
#include <system_error>

#include "kubexx/apiserver/server/server_identity.h"
#include "kubexx/base/replace_file.h"
#include "kubexx/http/certificate.h"
#include "security_flags.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr const char* kNoEffect = "Is taken and has no effect here.";

constexpr const char* kValuesWithoutEffect[] = {
    "api-audiences",
    "endpoint-reconciler-type",
    "feature-gates",
    "insecure-bind-address",
    "kubelet-certificate-authority",
    "max-mutating-requests-inflight",
    "max-requests-inflight",
    "min-request-timeout",
    "oidc-ca-file",
    "proxy-client-cert-file",
    "proxy-client-key-file",
    "request-timeout",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
    "runtime-config",
    "service-account-issuer",
    "service-account-jwks-uri",
    "service-account-key-file",
    "service-account-signing-key-file",
    "storage-backend",
    "storage-media-type",
    "tls-sni-cert-key",
    "v",
    "vmodule",
};

constexpr const char* kSwitchesWithoutEffect[] = {
    "anonymous-auth",
    "enable-aggregator-routing",
    "enable-bootstrap-token-auth",
    "enable-priority-and-fairness",
    "encryption-provider-config-automatic-reload",
    "profiling",
    "service-account-extend-token-expiration",
    "service-account-lookup",
    "watch-cache",
};

std::string HostPort(const KubeFlags& kube) {
  const bool brackets = kube.bind_address.find(':') != std::string::npos;
  return (brackets ? "[" + kube.bind_address + "]" : kube.bind_address) + ":" +
         std::to_string(kube.secure_port);
}

Result<void> Write(const std::string& name, std::string_view text, mode_t mode) {
  if (const std::error_code error = base::ReplaceFile(name, text, mode)) {
    return Fail(Reason::kInvalidConfig, "cannot write " + name + ": " + error.message());
  }
  return {};
}

/// As kube-apiserver: what is in the folder is used, what is not is made.
Result<void> TakeCertificate(const std::string& folder, Settings& settings) {
  settings.certificate_file = folder + "/apiserver.crt";
  settings.key_file = folder + "/apiserver.key";
  std::error_code error;
  if (std::filesystem::exists(settings.certificate_file, error) &&
      std::filesystem::exists(settings.key_file, error)) {
    return {};
  }
  std::filesystem::create_directories(folder, error);  // What fails fails again when it is written.
  KX_ASSIGN_OR_RETURN(
      const http::KeyPair made,
      http::SelfSigned({"localhost", "127.0.0.1", apiserver::HostOfAddress(settings.address)}));
  KX_RETURN_IF_ERROR(Write(settings.key_file, made.key.view(), 0600));
  return Write(settings.certificate_file, made.certificate, 0644);
}

}  // namespace

void AddKubeFlags(flags::FlagSet& flags, KubeFlags& kube, Settings& settings) {
  AddSharedFlags(flags, settings);
  flags.AddString("bind-address", "The address to listen on.", &kube.bind_address);
  flags.AddInt("secure-port", "The port to listen on.", &kube.secure_port);
  flags.AddInt("insecure-port", "Has to be 0, as since Kubernetes 1.20.", &kube.insecure_port);
  flags.AddString("cert-dir",
                  "Folder with apiserver.crt and apiserver.key, which are made when they are not "
                  "there, unless --tls-cert-file names others.",
                  &kube.cert_dir);
  flags.AddList("admission-control", "As --enable-admission-plugins, formerly.",
                &kube.admission_control);
  flags.AddBool("allow-privileged", "Has to be true: privileged containers are not refused.",
                &kube.allow_privileged);
  AddSecurityFlags(flags, &kube.refused);
  for (const char* const name : kValuesWithoutEffect) {
    flags.AddCustom(name, kNoEffect, "string", "",
                    [](std::string_view) -> Result<void> { return {}; });
  }
  for (const char* const name : kSwitchesWithoutEffect) {
    flags.AddBool(name, kNoEffect, &kube.no_effect);
  }
  flags.AllowUnknown(&kube.unknown);
}

Result<void> TakeKubeFlags(const KubeFlags& kube, Settings& settings) {
  if (kube.insecure_port != 0) {
    return Fail(Reason::kInvalidConfig,
                "--insecure-port has to be 0: nothing is served without TLS, as since Kubernetes "
                "1.20");
  }
  if (!kube.allow_privileged) {
    return Fail(Reason::kInvalidConfig,
                "--allow-privileged=false is not supported: privileged containers are not refused; "
                "leave the flag out");
  }
  if (!kube.refused.empty()) {
    return Fail(Reason::kInvalidConfig, kube.refused.front());
  }
  KX_RETURN_IF_ERROR(CheckUnknownFlags(kube.unknown));
  KX_RETURN_IF_ERROR(CheckPlugins(kube.admission_control));
  settings.address = HostPort(kube);
  settings.service_accounts = true;  // As there, unless --disable-admission-plugins names it.
  if (!kube.cert_dir.empty() && settings.certificate_file.empty()) {
    return TakeCertificate(kube.cert_dir, settings);
  }
  return {};
}

}  // namespace kubexx::cmd
