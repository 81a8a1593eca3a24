/// @file
/// The words of a notification or a digest, which each chat shows in its own form.
#ifndef KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_TEXT_H_
#define KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/reloader/notify/severity.h"
#include "kubexx/reloader/receivers/notification.h"
#include "kubexx/reloader/receivers/storm_digest.h"

namespace kubexx::reloader {

/// Plain text in parts. Each string is one line of valid UTF-8, in which nothing has a meaning yet:
/// who writes it into a format escapes what has one there.
struct NotificationText {
  Severity severity = Severity::kInfo;
  std::string title{};
  std::string body{};  ///< may be empty
  /// Labels and values.
  std::vector<std::pair<std::string, std::string>> facts{};
  /// The list of a digest.
  std::vector<std::string> lines{};
  /// The severity, the cluster, and the time in UTC.
  std::string footer{};
};

/// `cluster`: as in NotificationSettings; may be empty.
NotificationText TextOf(const Notification& notification, std::string_view cluster);
NotificationText TextOf(const StormDigest& digest, std::string_view cluster);

/// Returns `text` with at most `max_bytes`. What is cut off ends with words that say so, if there
/// is room for them.
std::string ShortText(std::string_view text, std::size_t max_bytes);

/// The line after the first lines of a list: "… and 3 more".
std::string MoreLine(std::size_t count);

/// Returns `escape(text)`, cut like ShortText to as much of the text as fits into `max_bytes` after
/// escaping. `escape` takes and returns a text, and returns at most a few bytes for each.
template <class Escape>
std::string FitEscaped(std::string_view text, std::size_t max_bytes, Escape escape) {
  std::size_t room = max_bytes;
  std::string escaped = escape(ShortText(text, room));
  while (escaped.size() > max_bytes) {
    room = room * max_bytes / (escaped.size() + 1);
    escaped = escape(ShortText(text, room));
  }
  return escaped;
}

/// Escapes the three characters that have a meaning in HTML and in Slack's texts: "&", "<", ">".
std::string EscapeMarkup(std::string_view text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_NOTIFICATION_TEXT_H_
