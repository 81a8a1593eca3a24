#include "kubexx/reloader/kinds/described_kind.h"

#include <algorithm>

namespace kubexx::reloader {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

std::string Described(const CustomKind& kind) {
  std::string path;
  for (const std::string& step : kind.pod_template) {
    path += (path.empty() ? "" : ".") + step;
  }
  return kind.resource + "." + kind.version + "." + kind.group + " with the pod template at " +
         path;
}

Result<DescribedKind> AgreedKind(const std::vector<DescribedKind>& all) {
  const DescribedKind& first = all.front();
  const auto other =
      std::ranges::find_if(all, [&](const DescribedKind& each) { return each.kind != first.kind; });
  if (other == all.end()) {
    return first;
  }
  const std::string here = Described(first.kind);
  const std::string there = Described(other->kind);
  return Fail(Reason::kConflict,
              "two operators describe " + first.kind.kind +
                  (other->kind.kind == first.kind.kind ? "" : " and " + other->kind.kind) +
                  " differently: for " + first.by + " it is " + here + ", for " + other->by + " " +
                  (here == there ? "the same with other rules" : there));
}

}  // namespace kubexx::reloader
