/// @file
/// Messages for the workflows of Microsoft Teams.
#ifndef KUBEXX_RELOADER_RECEIVERS_TEAMS_MESSAGE_H_
#define KUBEXX_RELOADER_RECEIVERS_TEAMS_MESSAGE_H_

#include <cstddef>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notification_text.h"

namespace kubexx::reloader {

/// Teams takes messages of up to 28 KB, with all that is around the text.
inline constexpr std::size_t kMaxTeamsBytes = 28'000;

/// The text as an Adaptive Card in a message. The card consists of text runs, in which nothing has
/// a meaning but two braces, which are parted. What does not fit is cut, with words that say so.
codec::JsonTree TeamsMessage(const NotificationText& text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_TEAMS_MESSAGE_H_
