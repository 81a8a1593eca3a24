#include "kubexx/reloader/receivers/teams_message.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxTeamsText = 3000;  // of one paragraph
constexpr std::size_t kMaxTeamsLines = 100;

/// "{{DATE(…)}}" would be a date in the reader's time zone.
std::string WithoutFunctions(std::string_view text) {
  std::string parted;
  for (const char c : text) {
    if (c == '{' && parted.ends_with('{')) {
      parted += ' ';
    }
    parted += c;
  }
  return parted;
}

JsonTree TextRun(std::string_view text) {
  JsonTree run = JsonTree::Object();
  run["type"] = "TextRun";
  run["text"] = WithoutFunctions(text);
  return run;
}

JsonTree RichText(std::vector<JsonTree> runs) {
  JsonTree block = JsonTree::Object();
  block["type"] = "RichTextBlock";
  block["inlines"] = JsonTree::Array(std::move(runs));
  return block;
}

const char* ColorOf(Severity severity) {
  return severity == Severity::kError     ? "Attention"
         : severity == Severity::kWarning ? "Warning"
                                          : "Good";
}

/// Each text has at most `max_text` bytes; there are at most `max_lines` lines.
JsonTree CardOf(const NotificationText& text, std::size_t max_text, std::size_t max_lines) {
  JsonTree body = JsonTree::Array();
  JsonTree title = TextRun(ShortText(text.title, max_text));
  title["size"] = "Medium";
  title["weight"] = "Bolder";
  title["color"] = ColorOf(text.severity);
  body.Append(RichText({std::move(title)}));
  if (!text.body.empty()) {
    body.Append(RichText({TextRun(ShortText(text.body, max_text))}));
  }
  for (const auto& [label, value] : text.facts) {
    JsonTree name = TextRun(label + ": ");
    name["weight"] = "Bolder";
    body.Append(RichText({std::move(name), TextRun(ShortText(value, max_text))}));
  }
  const std::size_t shown = std::min(text.lines.size(), max_lines);
  for (std::size_t i = 0; i < shown; ++i) {
    body.Append(RichText({TextRun(ShortText(text.lines[i], max_text))}));
  }
  if (shown < text.lines.size()) {
    body.Append(RichText({TextRun(MoreLine(text.lines.size() - shown))}));
  }
  JsonTree footer = TextRun(ShortText(text.footer, max_text));
  footer["isSubtle"] = true;
  footer["size"] = "Small";
  body.Append(RichText({std::move(footer)}));

  JsonTree card = JsonTree::Object();
  card["type"] = "AdaptiveCard";
  card["version"] = "1.2";
  card["body"] = std::move(body);
  return card;
}

}  // namespace

JsonTree TeamsMessage(const NotificationText& text) {
  JsonTree attachment = JsonTree::Object();
  attachment["contentType"] = "application/vnd.microsoft.card.adaptive";
  JsonTree message = JsonTree::Object();
  message["type"] = "message";
  std::size_t max_text = kMaxTeamsText;
  std::size_t max_lines = kMaxTeamsLines;
  while (true) {
    attachment["content"] = CardOf(text, max_text, max_lines);
    message["attachments"] = JsonTree::Array({attachment});
    // Characters that JSON escapes take up to six bytes, so only the whole tells.
    if (message.ToJson().size() <= kMaxTeamsBytes || max_text < 2) {
      return message;
    }
    max_lines /= 2;
    max_text = max_lines == 0 ? max_text / 2 : max_text * 3 / 4;
  }
}

}  // namespace kubexx::reloader
