#include "kubexx/reloader/testing/new_informer.h"

#include <gtest/gtest.h>

#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/cache/shared_informer_base.h"

namespace kubexx::reloader {

std::shared_ptr<cache::SharedInformerBase> NewTestInformer(
    std::shared_ptr<cache::ListerWatcher> list_watch, cache::InformerOptions options) {
  return std::make_shared<cache::SharedInformerBase>(std::move(list_watch), std::move(options));
}

std::shared_ptr<cache::SharedInformerBase> NewTestInformer(
    std::vector<cache::NamespacedSource> list_watches, cache::InformerOptions options) {
  return std::make_shared<cache::SharedInformerBase>(std::move(list_watches), std::move(options));
}

void AwaitOperatorSync(const cache::SharedInformerBase& informer) {
  ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
  KX_AWAIT(informer.HandlerHasSynced("reloader"));
}

}  // namespace kubexx::reloader
