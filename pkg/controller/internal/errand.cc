#include "kubexx/controller/internal/errand.h"

#include <memory>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/internal/function_runnable.h"
#include "kubexx/controller/internal/guarded.h"

namespace kubexx::controller::internal {

using apimachinery::Result;

bool TrySend(RunnableGroup& group, std::string name, std::function<void()> errand) {
  const auto runnable = std::make_shared<FunctionRunnable>(
      std::move(name), Stage::kOther,
      [errand = std::move(errand)](const std::stop_token&) -> Result<void> {
        errand();
        return {};
      });
  const Result<void> added = Guarded([&]() -> Result<void> {
    group.Add(runnable);
    return {};
  });
  return added.has_value();
}

void Send(RunnableGroup& group, std::string name, const std::function<void()>& errand) {
  if (!TrySend(group, std::move(name), errand)) {
    errand();
  }
}

}  // namespace kubexx::controller::internal
