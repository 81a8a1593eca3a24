#include "security_flags.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "kubexx/base/ascii.h"

namespace kubexx::cmd {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr const char* kUseModes = "use --authorization-mode=RBAC";
constexpr const char* kUseTokens = "use --client-ca-file or --token-auth-file";
constexpr const char* kNotEncrypted =
    "what is stored is not encrypted; keep the store to yourself, and leave the flag out";
constexpr const char* kNoAudit = "no audit log is written; leave the flag out";
constexpr const char* kSpoken =
    "TLS 1.2 with ECDHE and AES-GCM or ChaCha20, and TLS 1.3 are spoken; leave the flag out";

struct SecurityFlag {
  const char* name;
  const char* advice;
  /// Values that change nothing, separated by spaces.
  std::string_view harmless = "";
};

constexpr SecurityFlag kFlags[] = {
    {"admission-control-config-file", "admission cannot be configured; leave the flag out"},
    {"audit-log-path", kNoAudit},
    {"audit-policy-file", kNoAudit},
    {"audit-webhook-config-file", kNoAudit},
    {"authentication-config", kUseTokens},
    {"authentication-token-webhook-config-file", kUseTokens},
    {"authorization-config", kUseModes},
    {"authorization-policy-file", kUseModes},
    {"authorization-webhook-config-file", kUseModes},
    {"encryption-provider-config", kNotEncrypted},
    {"etcd-prefix", "objects are kept below /registry", "/registry /registry/"},
    {"etcd-servers-overrides", "all objects are kept in --etcd-servers"},
    {"experimental-encryption-provider-config", kNotEncrypted},
    {"oidc-issuer-url", kUseTokens},
    {"service-account-max-token-expiration",
     "tokens are good for as long as they are asked for; leave the flag out", "0 0s"},
    {"tls-cipher-suites", kSpoken},
    {"tls-curve-preferences", kSpoken},
    {"tls-min-version", kSpoken, "VersionTLS10 VersionTLS11 VersionTLS12"},
};

/// What names of flags have in them that are about security.
constexpr std::string_view kTelling[] = {"admission", "anonymous", "audit", "auth",
                                         "encrypt",   "oidc",      "tls",   "token"};

/// They only say how something is done that other flags switch on.
constexpr std::string_view kDetails[] = {
    "audit-log-", "audit-webhook-", "authentication-token-webhook-", "authorization-webhook-",
    "oidc-",
};

/// A flag that names something is no detail.
constexpr std::string_view kNaming[] = {"config", "file", "path", "url"};

/// They refuse, or change, what others may do, and kube-apiserver has them only where they are
/// asked for. NodeRestriction is none of them: without the node authorizer nodes have no rights but
/// those that a role gives them.
constexpr std::string_view kGuards[] = {
    "AlwaysDeny",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodSecurityPolicy",
    "PodTolerationRestriction",
    "SecurityContextDeny",
};

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

/// The name of a flag as it was given, "--name=value" or "--name value".
std::string_view NameOf(std::string_view given) {
  given.remove_prefix(std::min(given.find_first_not_of('-'), given.size()));
  return given.substr(0, given.find_first_of("= "));
}

bool HasAny(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool MayBeAboutSecurity(const std::string& name) {
  const bool detail = std::ranges::any_of(
      kDetails, [&name](std::string_view prefix) { return name.starts_with(prefix); });
  return HasAny(name, kTelling) && (!detail || HasAny(name, kNaming));
}

}  // namespace

void AddSecurityFlags(flags::FlagSet& flags, std::vector<std::string>* refused) {
  for (const SecurityFlag& flag : kFlags) {
    flags.AddCustom(
        flag.name, "Is not supported: " + std::string(flag.advice) + ".", "string", "",
        [&flag, refused](std::string_view value) -> Result<void> {
          if (!value.empty() && !HasWord(flag.harmless, value)) {
            refused->push_back("--" + std::string(flag.name) + " is not supported: " + flag.advice);
          }
          return {};
        });
  }
}

Result<void> CheckUnknownFlags(const std::vector<std::string>& unknown) {
  for (const std::string& given : unknown) {
    if (MayBeAboutSecurity(base::ToLower(NameOf(given)))) {
      return Fail(Reason::kInvalidConfig,
                  "--" + std::string(NameOf(given)) +
                      " is not known, and its name suggests that it restricts access; without it "
                      "the server might allow more than you intend: correct it or leave it out");
    }
  }
  return {};
}

Result<void> CheckPlugins(const std::vector<std::string>& enabled) {
  for (const std::string& plugin : enabled) {
    if (std::ranges::find(kGuards, plugin) != std::end(kGuards)) {
      return Fail(Reason::kInvalidConfig, "--enable-admission-plugins: this server has no " +
                                              plugin +
                                              ", and would not refuse what that plugin refuses; "
                                              "leave it out");
    }
  }
  return {};
}

}  // namespace kubexx::cmd
