#include "kubexx/reloader/receivers/grafana_annotation.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"
#include "kubexx/reloader/receivers/notification_text.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxGrafanaText = 8000;

std::int64_t Milliseconds(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// Adds a tag if there is room for it. The value may be empty.
void AddTag(std::string_view name, std::string_view value, JsonTree& tags) {
  std::string tag(name);
  if (!value.empty()) {
    tag += ":" + base::CutUtf8(value, kMaxGrafanaTagPart);
  }
  JsonTree more = tags;
  more.Append(std::move(tag));
  if (more.ToJson().size() <= kMaxGrafanaTags) {
    tags = std::move(more);
  }
}

/// "KIND/NAME", with the namespace where it is not that of the tag "namespace".
std::string TagOf(const reloadpolicy::ObjectRef& ref, std::string_view namespace_) {
  return ref.key.namespace_ == namespace_ ? ref.kind + "/" + ref.key.name : ref.ToString();
}

JsonTree AnnotationOf(const NotificationText& text, base::WallTime begin, JsonTree tags) {
  std::string shown = text.title;
  if (!text.body.empty()) {
    shown += "\n" + text.body;
  }
  for (const auto& [label, value] : text.facts) {
    shown += "\n" + label + ": " + value;
  }
  for (const std::string& line : text.lines) {
    shown += "\n" + line;
  }
  JsonTree annotation = JsonTree::Object();
  annotation["time"] = Milliseconds(begin);
  annotation["tags"] = std::move(tags);
  annotation["text"] = FitEscaped(shown, kMaxGrafanaText, EscapeMarkup);
  return annotation;
}

JsonTree CommonTags(Severity severity, std::string_view cluster) {
  JsonTree tags = JsonTree::Array();
  AddTag("kubexx-reloader", "", tags);
  AddTag("severity", base::ToLower(SeverityName(severity)), tags);
  if (!cluster.empty()) {
    AddTag("cluster", cluster, tags);
  }
  return tags;
}

}  // namespace

JsonTree GrafanaAnnotation(const Notification& notification, std::string_view cluster) {
  JsonTree tags = CommonTags(notification.severity, cluster);
  if (!notification.namespace_.empty()) {
    AddTag("namespace", notification.namespace_, tags);
  }
  if (notification.workload) {
    AddTag("workload", TagOf(*notification.workload, notification.namespace_), tags);
  }
  for (const reloadpolicy::ObjectRef& source : notification.sources) {
    AddTag("source", TagOf(source, notification.namespace_), tags);
  }
  return AnnotationOf(TextOf(notification, cluster), notification.time, std::move(tags));
}

JsonTree GrafanaAnnotation(const StormDigest& digest, std::string_view cluster) {
  JsonTree annotation =
      AnnotationOf(TextOf(digest, cluster), digest.begin(), CommonTags(digest.severity(), cluster));
  annotation["timeEnd"] = Milliseconds(digest.end());
  return annotation;
}

std::string AnnotationsUrl(std::string_view url) {
  const std::size_t end = std::min(url.find_first_of("?#"), url.size());
  std::string_view base = url.substr(0, end);
  while (base.ends_with('/')) {
    base.remove_suffix(1);
  }
  constexpr std::string_view kPath = "/api/annotations";
  return std::string(base) + std::string(base.ends_with(kPath) ? "" : kPath) +
         std::string(url.substr(end));
}

}  // namespace kubexx::reloader
