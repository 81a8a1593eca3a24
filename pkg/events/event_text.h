/// @file
/// Names and texts of events within the API's limits.
#ifndef KUBEXX_EVENTS_EVENT_TEXT_H_
#define KUBEXX_EVENTS_EVENT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::events {

/// The API's limits in bytes: of messages and notes, and of reasons, actions and instances.
inline constexpr std::size_t kMaxNoteBytes = 1024;
/// The API server refuses longer ones.
inline constexpr std::size_t kMaxReasonBytes = 128;

/// "<object>.<nanoseconds in hex>", or a UUID when that is not a DNS subdomain: names of some kinds
/// of objects are no names for events. As client-go's GenerateEventName.
std::string EventName(std::string_view object, std::int64_t unix_nanoseconds);

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_EVENT_TEXT_H_
