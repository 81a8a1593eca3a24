#include "kubexx/apiserver/endpoints/authz/impersonation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr const char* kAuthentication = "authentication.k8s.io";
constexpr const char* kAnonymous = "system:anonymous";
constexpr const char* kAuthenticated = "system:authenticated";
constexpr const char* kUnauthenticated = "system:unauthenticated";

/// The content of the headers. When a header may occur only once, the first one counts.
struct Wanted {
  User user{};
  std::vector<std::pair<std::string, std::string>> extra{};  // keys and values
};

void SetOnce(const std::string& value, std::string& field) {
  if (field.empty()) {
    field = value;
  }
}

Wanted Read(const http::Request& request) {
  constexpr std::string_view kExtra = "impersonate-extra-";
  Wanted wanted;
  for (const auto& [header, value] : request.headers) {
    const std::string name = base::ToLower(header);
    if (name == "impersonate-user") {
      SetOnce(value, wanted.user.name);
    } else if (name == "impersonate-uid") {
      SetOnce(value, wanted.user.uid);
    } else if (name == "impersonate-group") {
      wanted.user.groups.push_back(value);
    } else if (name.starts_with(kExtra)) {
      const std::string key = name.substr(kExtra.size());
      wanted.extra.emplace_back(DecodePath(key).value_or(key), value);
    }
  }
  return wanted;
}

/// Returns the namespace and the name of the account that a user is; both are "" for another user.
std::pair<std::string, std::string> AccountOf(std::string_view user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) {
    return {};
  }
  user.remove_prefix(kPrefix.size());
  const std::size_t colon = std::min(user.find(':'), user.size());
  const std::string_view namespace_ = user.substr(0, colon);
  const std::string_view name = user.substr(std::min(colon + 1, user.size()));
  if (!apimachinery::IsDnsLabel(namespace_) || !apimachinery::IsDnsSubdomain(name)) {
    return {};
  }
  return {std::string(namespace_), std::string(name)};
}

rbac::Request Right(const char* group, const char* resource, const std::string& name) {
  rbac::Request right;
  right.verb = "impersonate";
  right.group = group;
  right.resource = resource;
  right.name = name;
  return right;
}

/// Returns the rights in the order in which kube-apiserver checks them.
std::vector<rbac::Request> RightsFor(const Wanted& wanted) {
  std::vector<rbac::Request> rights = {Right("", "users", wanted.user.name)};
  if (const auto [namespace_, name] = AccountOf(wanted.user.name); !name.empty()) {
    rights.front() = Right("", "serviceaccounts", name);
    rights.front().namespace_ = namespace_;
  }
  if (!wanted.user.uid.empty()) {
    rights.push_back(Right(kAuthentication, "uids", wanted.user.uid));
  }
  for (const std::string& group : wanted.user.groups) {
    rights.push_back(Right("", "groups", group));
  }
  for (const auto& [key, value] : wanted.extra) {
    rights.push_back(Right(kAuthentication, "userextras", value));
    rights.back().subresource = key;
  }
  return rights;
}

/// Adds the groups of which everybody is a member.
void Complete(User& user) {
  const auto has = [&user](const char* group) {
    return std::ranges::find(user.groups, group) != user.groups.end();
  };
  if (const auto [namespace_, name] = AccountOf(user.name); !name.empty() && user.groups.empty()) {
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + namespace_};
  }
  if (user.name == kAnonymous) {
    if (!has(kUnauthenticated)) {
      user.groups.emplace_back(kUnauthenticated);
    }
  } else if (!has(kUnauthenticated) && !has(kAuthenticated)) {
    user.groups.emplace_back(kAuthenticated);
  }
}

}  // namespace

Result<User> Impersonate(Authorizer& authorizer, const http::Request& request, const User& user) {
  Wanted wanted = Read(request);
  if (wanted.user.name.empty()) {
    if (wanted.user == User() && wanted.extra.empty()) {
      return user;
    }
    return Fail(Reason::kBadRequest, "the header Impersonate-User is missing");
  }
  for (const rbac::Request& right : RightsFor(wanted)) {
    KX_RETURN_IF_ERROR(authorizer.CheckImpersonation(user, right, request.stop));
  }
  Complete(wanted.user);
  return std::move(wanted.user);
}

}  // namespace kubexx::apiserver
