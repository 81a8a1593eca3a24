/// @file
/// What is sent to a receiver: notifications in its form.
#ifndef KUBEXX_RELOADER_RECEIVERS_RECEIVER_MESSAGE_H_
#define KUBEXX_RELOADER_RECEIVERS_RECEIVER_MESSAGE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/receivers/notification.h"
#include "kubexx/reloader/receivers/receiver_settings.h"
#include "kubexx/reloader/receivers/storm_digest.h"

namespace kubexx::reloader {

/// Who sends the messages.
struct MessageOrigin {
  std::string cluster{};  ///< see NotificationSettings
  std::string source{};   ///< see CloudEventSource
};

/// How many notifications one message to the receiver may hold: more than one only for CloudEvents.
std::size_t MaxPerMessage(const ReceiverSettings& receiver);

/// One message with all the notifications, of which there are between 1 and MaxPerMessage.
Message MessageOf(const ReceiverSettings& receiver, const MessageOrigin& origin,
                  std::span<const std::shared_ptr<const Notification>> notifications);
Message MessageOf(const ReceiverSettings& receiver, const MessageOrigin& origin,
                  const StormDigest& digest);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_RECEIVER_MESSAGE_H_
