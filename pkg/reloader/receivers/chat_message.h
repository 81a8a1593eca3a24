/// @file
/// Messages for Google Chat, and for receivers of plain text.
#ifndef KUBEXX_RELOADER_RECEIVERS_CHAT_MESSAGE_H_
#define KUBEXX_RELOADER_RECEIVERS_CHAT_MESSAGE_H_

#include <cstddef>
#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notification_text.h"

namespace kubexx::reloader {

/// Google Chat takes messages of up to 32,000 bytes.
inline constexpr std::size_t kMaxGoogleChatBytes = 32'000;
/// How long a message of plain text may be; a choice of our own.
inline constexpr std::size_t kMaxPlainBytes = 16'000;

/// The text as a card (cardsV2) for a webhook of Google Chat. Its paragraphs are HTML, so "&", "<"
/// and ">" are escaped. What does not fit is cut, with words that say so.
codec::JsonTree GoogleChatMessage(const NotificationText& text);

/// The text as lines. What does not fit is cut, with words that say so.
std::string PlainMessage(const NotificationText& text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_CHAT_MESSAGE_H_
