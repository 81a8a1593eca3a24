#include "kubexx/reloader/receivers/cloud_event.h"

#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/receivers/notification_text.h"
#include "kubexx/rest/url.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

JsonTree RefTree(std::string_view kind, const apimachinery::ObjectKey& key) {
  JsonTree tree = JsonTree::Object();
  tree["kind"] = kind;
  if (!key.namespace_.empty()) {
    tree["namespace"] = key.namespace_;
  }
  tree["name"] = key.name;
  return tree;
}

JsonTree PolicyTree(const reloadpolicy::PolicyId& policy) {
  return RefTree(policy.namespace_.empty() ? "ClusterReloadPolicy" : "ReloadPolicy", policy);
}

std::string EventTime(base::WallTime time) {
  return apimachinery::MicroTime::From(time).ToString();
}

JsonTree EventWith(std::string_view id, std::string_view source, std::string_view reason) {
  JsonTree event = JsonTree::Object();
  event["specversion"] = "1.0";
  event["id"] = id;
  event["source"] = source;
  event["type"] = "io.kubexx.reloader." + std::string(reason);
  return event;
}

JsonTree DataWith(Severity severity, std::string_view reason, std::string_view cluster) {
  JsonTree data = JsonTree::Object();
  data["severity"] = SeverityName(severity);
  data["reason"] = reason;
  if (!cluster.empty()) {
    data["cluster"] = cluster;
  }
  return data;
}

void SetData(base::WallTime time, const char* schema, JsonTree data, JsonTree& event) {
  event["time"] = EventTime(time);
  event["datacontenttype"] = "application/json";
  event["dataschema"] = schema;
  event["data"] = std::move(data);
}

}  // namespace

JsonTree CloudEventOf(const Notification& notification, std::string_view source,
                      std::string_view cluster) {
  JsonTree event = EventWith(notification.id, source, notification.reason);
  if (std::string subject = SubjectOf(notification); !subject.empty()) {
    event["subject"] = std::move(subject);
  }
  JsonTree data = DataWith(notification.severity, notification.reason, cluster);
  if (!notification.namespace_.empty()) {
    data["namespace"] = notification.namespace_;
  }
  if (notification.workload) {
    data["workload"] = RefTree(notification.workload->kind, notification.workload->key);
  }
  if (!notification.sources.empty()) {
    for (const reloadpolicy::ObjectRef& each : notification.sources) {
      data["sources"].Append(RefTree(each.kind, each.key));
    }
  }
  if (notification.more_sources > 0) {
    data["moreSources"] = notification.more_sources;
  }
  for (const reloadpolicy::PolicyId& policy : notification.policies) {
    data["policies"].Append(PolicyTree(policy));
  }
  if (!notification.action.empty()) {
    data["inPlace"] = notification.action;
  }
  if (!notification.job.empty()) {
    data["job"] = notification.job;
  }
  if (notification.paused) {
    data["paused"] = true;
  }
  data["title"] = TextOf(notification, cluster).title;
  if (!notification.text.empty()) {
    data["message"] = notification.text;
  }
  SetData(notification.time, kNotificationSchema, std::move(data), event);
  return event;
}

JsonTree CloudEventOf(const StormDigest& digest, std::string_view source,
                      std::string_view cluster) {
  JsonTree event = EventWith(digest.id(), source, "Digest");
  JsonTree data = DataWith(digest.severity(), "Digest", cluster);
  data["title"] = TextOf(digest, cluster).title;
  data["begin"] = EventTime(digest.begin());
  data["end"] = EventTime(digest.end());
  data["total"] = digest.total();
  data["groups"] = JsonTree::Array();
  for (const auto& [key, group] : digest.Groups()) {
    JsonTree tree = JsonTree::Object();
    tree["severity"] = SeverityName(key.severity);
    tree["reason"] = key.reason;
    if (!key.namespace_.empty()) {
      tree["namespace"] = key.namespace_;
    }
    if (!key.source.empty()) {
      tree["source"] = key.source;
    }
    tree["count"] = group.count;
    for (const std::string& name : group.names) {
      tree["workloads"].Append(name);
    }
    data["groups"].Append(std::move(tree));
  }
  if (digest.others() > 0) {
    data["others"] = digest.others();
  }
  SetData(digest.end(), kDigestSchema, std::move(data), event);
  return event;
}

std::string CloudEventSource(std::string_view cluster, std::string_view namespace_,
                             std::string_view deployment) {
  std::string source;
  const auto add = [&source](const char* what, std::string_view name) {
    if (!name.empty()) {
      source += std::string("/") + what + "/" + rest::PercentEncode(name);
    }
  };
  add("clusters", cluster);
  add("namespaces", namespace_);
  add("deployments", deployment);
  return source.empty() ? "/kubexx-reloader" : source;
}

}  // namespace kubexx::reloader
