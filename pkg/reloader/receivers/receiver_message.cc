#include "kubexx/reloader/receivers/receiver_message.h"

#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/chat_message.h"
#include "kubexx/reloader/receivers/cloud_event.h"
#include "kubexx/reloader/receivers/grafana_annotation.h"
#include "kubexx/reloader/receivers/notification_text.h"
#include "kubexx/reloader/receivers/slack_message.h"
#include "kubexx/reloader/receivers/teams_message.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

// Teams takes twice the size for text whose encoding it is not told.
constexpr char kJsonType[] = "application/json; charset=utf-8";
constexpr char kTextType[] = "text/plain; charset=utf-8";
constexpr std::size_t kMaxBatch = 50;

/// `told`: a Notification or a StormDigest.
template <class Told>
Message OneMessage(const ReceiverSettings& receiver, const MessageOrigin& origin,
                   const Told& told) {
  switch (receiver.type) {
    case ReceiverType::kSlack:
      return {kJsonType, SlackMessage(TextOf(told, origin.cluster)).ToJson()};
    case ReceiverType::kTeams:
      return {kJsonType, TeamsMessage(TextOf(told, origin.cluster)).ToJson()};
    case ReceiverType::kGoogleChat:
      return {kJsonType, GoogleChatMessage(TextOf(told, origin.cluster)).ToJson()};
    case ReceiverType::kCloudEvents:
      return {kCloudEventType, CloudEventOf(told, origin.source, origin.cluster).ToJson()};
    case ReceiverType::kGrafana:
      return {kJsonType, GrafanaAnnotation(told, origin.cluster).ToJson()};
    case ReceiverType::kText:
      break;
  }
  return {kTextType, PlainMessage(TextOf(told, origin.cluster))};
}

}  // namespace

std::size_t MaxPerMessage(const ReceiverSettings& receiver) {
  return receiver.type == ReceiverType::kCloudEvents && receiver.batches ? kMaxBatch : 1;
}

Message MessageOf(const ReceiverSettings& receiver, const MessageOrigin& origin,
                  std::span<const std::shared_ptr<const Notification>> notifications) {
  if (notifications.size() == 1) {
    return OneMessage(receiver, origin, *notifications.front());
  }
  JsonTree batch = JsonTree::Array();
  for (const auto& notification : notifications) {
    batch.Append(CloudEventOf(*notification, origin.source, origin.cluster));
  }
  return {kCloudEventBatchType, batch.ToJson()};
}

Message MessageOf(const ReceiverSettings& receiver, const MessageOrigin& origin,
                  const StormDigest& digest) {
  return OneMessage(receiver, origin, digest);
}

}  // namespace kubexx::reloader
