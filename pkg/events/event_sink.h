/// @file
/// EventSink: stores the events of a recorder.
#ifndef KUBEXX_EVENTS_EVENT_SINK_H_
#define KUBEXX_EVENTS_EVENT_SINK_H_

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::events {

/// Stores events of type E, which is core::v1::Event or events::v1::Event. Used by one thread at a
/// time. Errors are those of kubernetes::ResourceClient: an error with a `code` came from the
/// server. An exception gives the event up.
template <class E>
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual apimachinery::Result<E> Create(const E& event, std::stop_token stop) = 0;
  /// Applies the strategic merge patch to the event with the namespace and name of `event`.
  virtual apimachinery::Result<E> Patch(const E& event, const std::string& patch,
                                        std::stop_token stop) = 0;
};

/// Stores events on the API server. Needs the verbs create and patch on events of E's group.
template <class E>
class ClientSink final : public EventSink<E> {
 public:
  explicit ClientSink(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  apimachinery::Result<E> Create(const E& event, std::stop_token stop) override {
    return Client(event).Create(event, {}, std::move(stop));
  }
  apimachinery::Result<E> Patch(const E& event, const std::string& patch,
                                std::stop_token stop) override {
    return Client(event).Patch(event.metadata.name, rest::PatchType::kStrategicMerge, patch, {},
                               std::move(stop));
  }

 private:
  kubernetes::ResourceClient<E> Client(const E& event) const {
    return {client_, event.metadata.namespace_};
  }

  std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_EVENT_SINK_H_
