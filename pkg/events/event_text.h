/// @file
/// Names of events, and the API's limits for their texts.
#ifndef KUBEXX_EVENTS_EVENT_TEXT_H_
#define KUBEXX_EVENTS_EVENT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::events {

/// The API's limit for messages and notes, in bytes.
inline constexpr std::size_t kMaxNoteBytes = 1024;
/// The API's limit for reasons, actions and instances, in bytes. The API server refuses events with
/// longer ones.
inline constexpr std::size_t kMaxReasonBytes = 128;

/// Returns "<object>.<nanoseconds in hex>", or a UUID if that is not a DNS subdomain, because
/// objects of some kinds have names that an event cannot have. Semantics: client-go's
/// GenerateEventName.
std::string EventName(std::string_view object, std::int64_t unix_nanoseconds);

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_EVENT_TEXT_H_
