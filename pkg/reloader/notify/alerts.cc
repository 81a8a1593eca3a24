#include "kubexx/reloader/notify/alerts.h"

#include <chrono>
#include <utility>

#include "kubexx/base/utf8.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

// A server's message may be long, and alert services accept only a few kilobytes.
constexpr std::size_t kMaxErrorBytes = 500;

constexpr double kTroublesPerSecond = 1.0 / 60;
constexpr int kTroublesAtOnce = 10;

std::string Bold(std::string_view text) { return "*" + std::string(text) + "*"; }

std::string Replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) {
    if (c == what) {
      result += by;
    } else {
      result += c;
    }
  }
  return result;
}

std::string WithInfo(std::string_view additional_info, std::string_view text) {
  return (additional_info.empty() ? std::string() : std::string(additional_info) + " : ") +
         std::string(text);
}

std::string NameOf(const WorkloadId& workload) {
  return Bold(workload.key.name) + " of type " + Bold(KindName(workload.kind)) + " in namespace " +
         Bold(workload.key.namespace_);
}

JsonTree SlackBody(std::string_view text, Severity severity) {
  // Slack has a meaning for these three characters.
  const std::string escaped =
      Replaced(Replaced(Replaced(text, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
  JsonTree attachment = JsonTree::Object();
  attachment["author_name"] = "Reloader";
  attachment["color"] = severity == Severity::kInfo      ? "good"
                        : severity == Severity::kWarning ? "warning"
                                                         : "danger";
  attachment["fallback"] = escaped;
  attachment["text"] = escaped;
  attachment["mrkdwn_in"].Append(JsonTree("text"));
  JsonTree body = JsonTree::Object();
  body["attachments"].Append(std::move(attachment));
  return body;
}

JsonTree TeamsBody(std::string_view text, Severity severity) {
  JsonTree block = JsonTree::Object();
  block["type"] = "TextBlock";
  block["text"] = Replaced(text, '*', "**");
  block["wrap"] = JsonTree(true);
  if (severity != Severity::kInfo) {
    block["color"] = severity == Severity::kWarning ? "Warning" : "Attention";
  }
  JsonTree card = JsonTree::Object();
  card["type"] = "AdaptiveCard";
  card["version"] = "1.2";
  card["body"].Append(std::move(block));
  JsonTree attachment = JsonTree::Object();
  attachment["contentType"] = "application/vnd.microsoft.card.adaptive";
  attachment["content"] = std::move(card);
  JsonTree body = JsonTree::Object();
  body["type"] = "message";
  body["attachments"].Append(std::move(attachment));
  return body;
}

}  // namespace

using apimachinery::Result;

std::string AlertText(const SourceId& source, const WorkloadId& workload,
                      std::string_view additional_info) {
  const apimachinery::ObjectKey object = ObjectKeyOf(source);
  return WithInfo(additional_info, "Reloader detected changes in " + Bold(object.name) +
                                       " of type " + Bold(NamesOf(source.type).upper) +
                                       " in namespace " + Bold(object.namespace_) +
                                       ". Hence reloaded " + NameOf(workload));
}

Message AlertFor(std::string_view sink, std::string_view text, Severity severity) {
  constexpr char kJson[] = "application/json";
  if (sink == "slack") {
    return {kJson, SlackBody(text, severity).ToJson()};
  }
  if (sink == "teams") {
    return {kJson, TeamsBody(text, severity).ToJson()};
  }
  if (sink == "gchat") {
    JsonTree body = JsonTree::Object();
    body["text"] = text;
    return {kJson, body.ToJson()};
  }
  return {"text/plain", Replaced(text, '*', "")};
}

bool AlertAccepted(std::string_view sink, int status) {
  if (sink == "teams" || sink == "gchat") {
    return status >= 200 && status < 300;
  }
  return status < 300 || status == 304;
}

Alerts::Alerts(AlertSettings settings, MessageSender& sender, base::Clock& clock)
    : settings_(std::move(settings)),
      sender_(sender),
      budget_(kTroublesPerSecond, kTroublesAtOnce, clock),
      failing_(clock) {}

void Alerts::Send(const std::string& text, Severity severity) {
  sender_.Send(AlertFor(settings_.sink, WithInfo(settings_.additional_info, text), severity));
}

void Alerts::SendBounded(std::string text, Severity severity) {
  {
    const base::MutexLock lock(mu_);
    if (budget_.Reserve() > base::Duration(0)) {
      budget_.Cancel();
      ++not_sent_;
      return;
    }
    if (not_sent_ > 0) {
      text += " (" + std::to_string(not_sent_) + " more about failed and held rollouts not sent)";
      not_sent_ = 0;
    }
  }
  Send(text, severity);
}

void Alerts::OnWrite(const WriteReport& report) {
  const bool is_news = failing_.IsNews(report);
  if (report.outcome) {
    for (const SourceId& source : report.causes) {
      Send(AlertText(source, report.workload, ""), Severity::kInfo);
    }
    return;
  }
  if (!is_news) {
    return;
  }
  std::string text = "Reloader could not reload " + NameOf(report.workload);
  if (!report.causes.empty()) {
    const SourceId& source = report.causes.front();
    text += " for " + Bold(source.key.name) + " of type " + Bold(NamesOf(source.type).upper);
  }
  SendBounded(text + "; it is tried again: " +
                  base::CutUtf8(report.outcome.error().message, kMaxErrorBytes),
              Severity::kError);
}

void Alerts::OnTrouble(const RolloutTrouble& trouble) {
  SendBounded("Reloader: " + trouble.message,
              trouble.is_bad ? Severity::kError : Severity::kWarning);
}

Result<std::unique_ptr<MessageSender>> NewAlertSender(const AlertSettings& settings,
                                                      metrics::Registry* registry) {
  MessageSender::Options options;
  options.name = "alert";
  options.accepts = [sink = settings.sink](int status) { return AlertAccepted(sink, status); };
  // 0.5 + 1 + 2 + 4 + 8 + 16 + 30 s is long enough for an alert service that restarts.
  options.attempts = 8;
  options.first_pause = std::chrono::milliseconds(500);
  options.registry = registry;
  auto made = NewHttpSender(std::move(options), {.url = settings.url, .proxy = settings.proxy});
  if (!made) {
    return apimachinery::Fail(made.error().WithContext("ALERT_WEBHOOK_URL or ALERT_WEBHOOK_PROXY"));
  }
  return made;
}

}  // namespace kubexx::reloader
