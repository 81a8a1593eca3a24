#include "kubexx/apiserver/controllers/refusals.h"

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/controller/manager.h"
#include "kubexx/events/core_recorder.h"
#include "kubexx/events/event_sink.h"

namespace kubexx::apiserver::controllers {

using api::core::v1::Event;
using apimachinery::Reason;

Refusals::Refusals(const Setup& setup, const std::string& component)
    : recorder_(std::make_shared<events::CoreRecorder>(
          std::make_shared<events::ClientSink<Event>>(setup.manager.client()),
          events::RecorderOptions{.component = component,
                                  .clock = setup.manager.clock(),
                                  .registry = setup.options.registry})) {}

bool Refusals::IsRefusal(const controller::Context& context, const apimachinery::Status& error) {
  return !context.stop.stop_requested() && !IsOfEndingNamespace(error) &&
         error.reason != Reason::kAlreadyExists && error.reason != Reason::kConflict;
}

}  // namespace kubexx::apiserver::controllers
