/// @file
/// Annotations for Grafana's HTTP API.
#ifndef KUBEXX_RELOADER_RECEIVERS_GRAFANA_ANNOTATION_H_
#define KUBEXX_RELOADER_RECEIVERS_GRAFANA_ANNOTATION_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notification.h"
#include "kubexx/reloader/receivers/storm_digest.h"

namespace kubexx::reloader {

/// Grafana refuses an annotation whose tags, as a JSON array, are longer than this, unless its
/// setting tags_length allows more.
inline constexpr std::size_t kMaxGrafanaTags = 500;
/// How much of a tag before or after its colon Grafana's database keeps.
inline constexpr std::size_t kMaxGrafanaTagPart = 100;

/// The body of POST /api/annotations: the time in milliseconds, tags, and a text. Grafana shows the
/// text as HTML, so "&", "<" and ">" are escaped. The tags are "kubexx-reloader", "severity:info",
/// "cluster:…", "namespace:…", "workload:Kind/name" and "source:Kind/name"; the last ones are left
/// out when there are too many.
codec::JsonTree GrafanaAnnotation(const Notification& notification, std::string_view cluster);
/// The same for a digest, from the first notification to the last.
codec::JsonTree GrafanaAnnotation(const StormDigest& digest, std::string_view cluster);

/// The address of the API of the Grafana at `url`, which may have a path and a query.
std::string AnnotationsUrl(std::string_view url);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_GRAFANA_ANNOTATION_H_
