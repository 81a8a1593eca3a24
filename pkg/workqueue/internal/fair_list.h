/// @file
/// NewFairList: a ready list in which tenants take turns.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_FAIR_LIST_H_
#define KUBEXX_WORKQUEUE_INTERNAL_FAIR_LIST_H_

#include <memory>

#include "kubexx/workqueue/fair_options.h"
#include "kubexx/workqueue/internal/ready_list.h"

namespace kubexx::workqueue::internal {

/// Makes a list that gives the tenants that have keys their turns by deficit round robin, and the
/// keys of a tenant in order of arrival. In its turn a tenant gets as many keys as its weight. The
/// memory grows with the number of tenants that have keys.
std::unique_ptr<ReadyList> NewFairList(const FairOptions& options);

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_FAIR_LIST_H_
