#include "kubexx/reloader/alerts.h"

#include <utility>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

using apimachinery::Result;
using codec::JsonTree;

std::string AlertText(const SourceId& source, const WorkloadId& workload,
                      std::string_view additional_info) {
  const auto bold = [](std::string_view text) { return "*" + std::string(text) + "*"; };
  return (additional_info.empty() ? std::string() : std::string(additional_info) + " : ") +
         "Reloader detected changes in " + bold(source.key.name) + " of type " +
         bold(NamesOf(source.type).upper) + " in namespace " + bold(source.key.namespace_) +
         ". Hence reloaded " + bold(workload.key.name) + " of type " +
         bold(KindName(workload.kind)) + " in namespace " + bold(workload.key.namespace_);
}

Message AlertFor(std::string_view sink, std::string_view text) {
  JsonTree body = JsonTree::Object();
  if (sink == "slack") {
    JsonTree attachment = JsonTree::Object();
    attachment["author_name"] = "Reloader";
    attachment["color"] = "good";
    attachment["text"] = text;
    body["attachments"].Append(std::move(attachment));
  } else if (sink == "teams" || sink == "gchat") {
    body["text"] = text;
  } else {
    std::string plain(text);
    std::erase(plain, '*');
    return {"text/plain", std::move(plain)};
  }
  return {"application/json", body.ToJson()};
}

bool AlertAccepted(std::string_view sink, int status) {
  if (sink == "teams" || sink == "gchat") {
    return status == 200;
  }
  return status < 400 && (status < 300 || status == 304);
}

void Alerts::OnWrite(const WriteReport& report) {
  if (!report.outcome) {
    return;
  }
  for (const SourceId& source : report.causes) {
    sender_.Send(
        AlertFor(settings_.sink, AlertText(source, report.workload, settings_.additional_info)));
  }
}

Result<std::unique_ptr<MessageSender>> NewAlertSender(const AlertSettings& settings,
                                                      metrics::Registry* registry) {
  MessageSender::Options options;
  options.name = "alert";
  options.accepts = [sink = settings.sink](int status) { return AlertAccepted(sink, status); };
  options.registry = registry;
  auto made = NewHttpSender(std::move(options), {.url = settings.url, .proxy = settings.proxy});
  if (!made) {
    return apimachinery::Fail(
        made.status().WithContext("ALERT_WEBHOOK_URL or ALERT_WEBHOOK_PROXY"));
  }
  return made;
}

}  // namespace kubexx::reloader
