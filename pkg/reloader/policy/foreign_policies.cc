#include "kubexx/reloader/policy/foreign_policies.h"

#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {

using apimachinery::Reason;
using apimachinery::Result;
using reloadpolicy::v1alpha1::ReloadPolicy;

ForeignPolicies::ForeignPolicies(PolicyEnforcer& enforcer, List list, base::Clock& clock)
    : enforcer_(enforcer),
      list_(std::move(list)),
      reads_({.read = [this](const std::string& namespace_,
                             const std::stop_token& stop) { return ReadNow(namespace_, stop); },
              .clock = clock}) {}

Result<bool> ForeignPolicies::Read(const std::string& namespace_, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const Answer answer, reads_.Get(namespace_, stop));
  return answer.may_read;
}

bool ForeignPolicies::Refresh(std::size_t count,
                              base::FunctionRef<bool(const std::string&)> is_needed,
                              const std::stop_token& stop) {
  reads_.Refresh(count, is_needed, stop);
  return !reads_.TakeChanged().empty();
}

Result<ForeignPolicies::Answer> ForeignPolicies::ReadNow(const std::string& namespace_,
                                                         const std::stop_token& stop) {
  std::uint64_t asked = 0;
  {
    const base::MutexLock lock(mu_);
    asked = ++asked_;
  }
  auto policies = list_(namespace_, stop);
  if (!policies && !IsDenied(policies.error())) {
    return apimachinery::Fail(policies.error());
  }
  Answer answer{.may_read = policies.has_value()};
  if (policies) {
    for (const Found& each : *policies) {
      answer.versions[each.policy.id] = each.version;
    }
  }
  Tell(namespace_, asked, policies ? *std::move(policies) : std::vector<Found>(), answer.versions);
  return answer;
}

void ForeignPolicies::Tell(const std::string& namespace_, std::uint64_t asked,
                           std::vector<Found> policies, const Versions& versions) {
  const base::MutexLock lock(mu_);
  Told& told = told_[namespace_];
  if (asked < told.asked) {
    return;  // another has asked later, and was faster
  }
  told.asked = asked;
  const Versions before = std::exchange(told.versions, versions);
  for (Found& each : policies) {
    const auto known = before.find(each.policy.id);
    if (known == before.end() || known->second != each.version) {
      enforcer_.SetPolicy(std::move(each.policy));
    }
  }
  for (const auto& [id, version] : before) {
    if (!versions.contains(id)) {
      enforcer_.RemovePolicy(id);
    }
  }
}

ForeignPolicies::List NewPolicyList(std::shared_ptr<rest::RESTClient> client,
                                    std::shared_ptr<ServedApis> served) {
  return [client = std::move(client), served = std::move(served)](
             const std::string& namespace_,
             const std::stop_token& stop) -> Result<std::vector<ForeignPolicies::Found>> {
    std::vector<ForeignPolicies::Found> found;
    const auto list = kubernetes::ResourceClient<ReloadPolicy>(client, namespace_).List({}, stop);
    if (!list) {
      // What the server does not have, and may not be listed, is refused, too.
      const bool may_lack_it = list.error().reason == Reason::kNotFound || IsDenied(list.error());
      const auto has = may_lack_it
                           ? served->Has(api::ResourceOf<ReloadPolicy>(), ServedApis::kOfLate, stop)
                           : Result<bool>(true);
      if (!has || *has) {
        return apimachinery::Fail(list.error());
      }
      return found;
    }
    for (const ReloadPolicy& each : list->items) {
      found.push_back(
          {.policy = reloadpolicy::PolicyFrom(each),
           .version = each.metadata.uid + "/" + std::to_string(each.metadata.generation)});
    }
    return found;
  };
}

}  // namespace kubexx::reloader
