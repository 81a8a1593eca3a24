#include "kubexx/reloader/in_place/reloaded_changes.h"

#include <algorithm>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::reloader {
namespace {

/// Whether the workload's mark says that its pods are being reloaded for these data.
bool IsMarkedFor(const ReloadedData& data, const Workload& workload) {
  const std::string* mark = Find(workload.annotations, kReloadingInPlace);
  return mark != nullptr && IsReloadingInPlace(workload.annotations, workload.uid) &&
         mark->ends_with(" " + MarkOf(data));
}

/// Whether all causes are among those that the reload is for.
bool IsOf(const ReloadedData& data, const Change& change) {
  return std::ranges::all_of(change.causes,
                             [&](const SourceId& cause) { return data.contains(cause); });
}

bool Has(const ReloadedData& asked, const ReloadedData::value_type& one) {
  const auto found = asked.find(one.first);
  return found != asked.end() && found->second == one.second;
}

}  // namespace

ReloadedData DataOf(const std::vector<Change>& changes) {
  ReloadedData data;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      if (std::ranges::find(change.causes, source) != change.causes.end()) {
        data[source] = digest;
      }
    }
  }
  return data;
}

std::vector<Change> WithUnknownData(std::vector<Change> changes) {
  for (Change& change : changes) {
    std::erase_if(change.sources, [&](const auto& source) {
      return std::ranges::find(change.causes, source.first) == change.causes.end();
    });
    for (auto& [source, digest] : change.sources) {
      digest = UnknownData();
    }
  }
  return changes;
}

std::string MarkOf(const ReloadedData& data) {
  std::string text;
  for (const auto& [source, digest] : data) {
    text += std::string(NamesOf(source.type).kind) + "/" + source.key.name + "=" +
            digest.ToString() + ";";
  }
  return DigestOf(text).ToString();
}

bool IsBegun(const Plan& plan, const Change& change) {
  return std::ranges::all_of(change.causes, [&](const SourceId& cause) {
    const auto recorded = plan.baseline.digests.find(cause);
    return recorded != plan.baseline.digests.end() && recorded->second == UnknownData();
  });
}

bool IsUnderWay(const Plan& plan, const InPlaceReloads::Report& report, const Change& change) {
  return IsBegun(plan, change) &&
         (report.state == InPlaceReloads::State::kNone || IsOf(report.data, change));
}

bool IsForData(const ReloadedData& data, const InPlaceReloads::Report& report,
               const Workload& workload) {
  return report.state == InPlaceReloads::State::kNone ? IsMarkedFor(data, workload)
                                                      : report.data == data;
}

bool HasAll(const ReloadedData& asked, const ReloadedData& data) {
  return std::ranges::all_of(data, [&](const auto& one) { return Has(asked, one); });
}

bool HasSome(const ReloadedData& asked, const ReloadedData& data) {
  return std::ranges::any_of(data, [&](const auto& one) { return Has(asked, one); });
}

}  // namespace kubexx::reloader
