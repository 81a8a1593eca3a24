/// @file
/// Messages for Slack's incoming webhooks.
#ifndef KUBEXX_RELOADER_RECEIVERS_SLACK_MESSAGE_H_
#define KUBEXX_RELOADER_RECEIVERS_SLACK_MESSAGE_H_

#include <cstddef>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notification_text.h"

namespace kubexx::reloader {

// Limits of Slack's Block Kit.
inline constexpr std::size_t kMaxSlackBlocks = 50;
inline constexpr std::size_t kMaxSlackText = 3000;     ///< of a section
inline constexpr std::size_t kMaxSlackField = 2000;    ///< of a field in a section
inline constexpr std::size_t kMaxSlackHeader = 150;    ///< of a header
inline constexpr std::size_t kMaxSlackContext = 2000;  ///< of an element of a context

/// The text as blocks: a header, the body, the facts as fields, the lines, and the footer. What
/// does not fit is cut, with words that say so. All texts from elsewhere are of type plain_text, in
/// which only "&", "<" and ">" have a meaning; they are escaped.
codec::JsonTree SlackMessage(const NotificationText& text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_SLACK_MESSAGE_H_
