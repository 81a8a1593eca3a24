/// @file
/// The annotation with which a workload names sources of other namespaces.
#ifndef KUBEXX_RELOADER_PLAN_FOREIGN_LIST_H_
#define KUBEXX_RELOADER_PLAN_FOREIGN_LIST_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/pattern_list.h"

namespace kubexx::reloader {

/// A value of kReloadOnOtherNamespaces. A value type.
struct ForeignList {
  /// The most items that count: each is looked up for every plan.
  static constexpr std::size_t kMaxItems = 100;

  std::set<SourceId> sources{};
  /// Items that name no ConfigMap or Secret of another namespace, each with the reason.
  std::vector<BadItem> bad_items{};
};

/// Reads a value; `namespace_` is the workload's. An item is KIND/NAMESPACE/NAME, with the kind in
/// the singular or in the plural, in any case. Nothing in it is a pattern. Pure.
ForeignList ForeignListIn(std::string_view text, std::string_view namespace_);

/// The sources of other namespaces that the workload names: in its own annotation, or in that of
/// its pod template where it has none itself. Empty without AnnotationKeys::other_namespaces.
std::set<SourceId> ForeignSourcesOf(const Workload& workload, const AnnotationKeys& keys);

/// Whether ForeignSourcesOf contains `source`, without reading the items that cannot name it.
bool NamesForeignSource(const Workload& workload, const AnnotationKeys& keys,
                        const SourceId& source);

/// What is wrong with the annotation that ForeignSourcesOf reads.
std::vector<BadItem> BadForeignItems(const Workload& workload, const AnnotationKeys& keys);

/// Whether the workload has the annotation, whatever is in it and whether or not it has an effect.
bool NamesForeign(const Workload& workload);

/// What a workload is told of a source that it names and that does not roll it, because it is not
/// there or does not allow it: the same words, whichever it is.
BadItem NotAvailable(const SourceId& id);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FOREIGN_LIST_H_
