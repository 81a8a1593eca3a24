/// @file
/// Notifications as CloudEvents 1.0 in JSON.
#ifndef KUBEXX_RELOADER_RECEIVERS_CLOUD_EVENT_H_
#define KUBEXX_RELOADER_RECEIVERS_CLOUD_EVENT_H_

#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notification.h"
#include "kubexx/reloader/receivers/storm_digest.h"

namespace kubexx::reloader {

/// The media types of one event in structured mode, and of an array of several.
inline constexpr char kCloudEventType[] = "application/cloudevents+json";
inline constexpr char kCloudEventBatchType[] = "application/cloudevents-batch+json";
/// The attribute dataschema, a tag URI (RFC 4151): it names the form of `data`, which docs/reloader/notifications.md
/// describes. A form with other meanings gets another name.
inline constexpr char kNotificationSchema[] = "tag:reloader.kubexx.io,2026:notification/v1";
inline constexpr char kDigestSchema[] = "tag:reloader.kubexx.io,2026:digest/v1";

/// The event. `source`: the attribute, a URI reference that names the operator. `cluster` may be
/// empty. The attribute type is "io.kubexx.reloader." and the reason.
codec::JsonTree CloudEventOf(const Notification& notification, std::string_view source,
                             std::string_view cluster);
/// The same for a digest; its type is "io.kubexx.reloader.Digest".
codec::JsonTree CloudEventOf(const StormDigest& digest, std::string_view source,
                             std::string_view cluster);

/// The attribute source of the operator whose Deployment it is; either may be empty.
std::string CloudEventSource(std::string_view cluster, std::string_view namespace_,
                             std::string_view deployment);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_CLOUD_EVENT_H_
