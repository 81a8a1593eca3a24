// How a WorkloadListWatch lists single namespaces while nothing is watched.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/watch/workload_list_watch.h"

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;

void WorkloadListWatch::BeginFullList() {
  const base::MutexLock no_part(list_mu_);
  ++lists_;
  const base::MutexLock lock(mu_);
  has_parts_ = false;
}

bool WorkloadListWatch::HasParts() const {
  const base::MutexLock lock(mu_);
  return has_parts_;
}

Result<std::vector<cache::Object>> WorkloadListWatch::ListPart(const std::string& namespace_,
                                                               const std::string& version,
                                                               const std::stop_token& stop) {
  ListOptions options;
  options.resource_version = version;
  if (!version.empty()) {
    options.resource_version_match = "NotOlderThan";
  }
  std::vector<cache::Object> objects;
  const auto listed = options_.in_namespace(namespace_)
                          ->List(
                              options,
                              [&](cache::Object&& object) {
                                objects.push_back(std::move(object));
                                return Result<void>();
                              },
                              stop);
  if (!listed) {
    return Fail(listed.error());
  }
  if (!listed->continue_.empty()) {
    return Fail(Reason::kInternalError, "a list without a limit came in pages");
  }
  return objects;
}

bool WorkloadListWatch::ListNamespace(const std::string& namespace_, const std::string& version,
                                      PartSink sink, const std::stop_token& stop) {
  if (!options_.in_namespace || !IsOnDemand()) {
    return false;
  }
  std::uint64_t before = 0;
  {
    const base::MutexLock lock(list_mu_);
    before = lists_;
  }
  auto objects = ListPart(namespace_, version, stop);
  if (!objects && !version.empty()) {  // a server whose cache lags answers like this
    objects = ListPart(namespace_, "", stop);
  }
  if (!objects) {
    return false;
  }
  const base::MutexLock no_list(list_mu_);
  {
    const base::MutexLock lock(mu_);
    if (lists_ != before || (mode_ != Mode::kOnDemand && mode_ != Mode::kProbing)) {
      return false;
    }
    // Once this is set, a watch that is being tried passes on no events, except its first one after
    // the mode has changed.
    has_parts_ = true;
  }
  return sink(*std::move(objects)).has_value();
}

}  // namespace kubexx::reloader
