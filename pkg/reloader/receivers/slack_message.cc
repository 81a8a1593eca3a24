#include "kubexx/reloader/receivers/slack_message.h"

#include <string>
#include <string_view>
#include <utility>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxSlackFields = 10;

std::string WithSeverity(const NotificationText& text) {
  return text.severity == Severity::kInfo
             ? text.title
             : std::string(SeverityName(text.severity)) + ": " + text.title;
}

JsonTree SlackText(std::string_view text, std::size_t max_bytes) {
  JsonTree object = JsonTree::Object();
  object["type"] = "plain_text";
  object["text"] = FitEscaped(text, max_bytes, EscapeMarkup);
  object["emoji"] = false;  // else ":warning:" would be a picture
  return object;
}

JsonTree SlackBlock(const char* type, const char* member, JsonTree value) {
  JsonTree block = JsonTree::Object();
  block["type"] = type;
  block[member] = std::move(value);
  return block;
}

/// Adds sections with as many lines each as fit, until there are `max_blocks`.
void AddLines(const std::vector<std::string>& lines, std::size_t max_blocks, JsonTree& blocks) {
  std::string section;
  const auto end_section = [&section, &blocks] {
    if (!section.empty()) {
      blocks.Append(SlackBlock("section", "text", SlackText(section, kMaxSlackText)));
      section.clear();
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // A line of its own is cut by SlackText. Escaped lines are measured, as Slack does.
    const std::string line = ShortText(lines[i], kMaxSlackText / 2);
    const std::size_t size = EscapeMarkup(section).size() + 1 + EscapeMarkup(line).size();
    if (!section.empty() && size > kMaxSlackText) {
      end_section();
    }
    if (section.empty() && blocks.size() + 1 >= max_blocks) {
      section = MoreLine(lines.size() - i);
      break;
    }
    section += (section.empty() ? "" : "\n") + line;
  }
  end_section();
}

}  // namespace

JsonTree SlackMessage(const NotificationText& text) {
  const std::string title = WithSeverity(text);
  JsonTree blocks = JsonTree::Array();
  blocks.Append(SlackBlock("header", "text", SlackText(title, kMaxSlackHeader)));
  if (!text.body.empty()) {
    blocks.Append(SlackBlock("section", "text", SlackText(text.body, kMaxSlackText)));
  }
  JsonTree fields = JsonTree::Array();
  for (const auto& [label, value] : text.facts) {
    if (fields.size() == kMaxSlackFields) {
      break;
    }
    fields.Append(SlackText(label + "\n" + value, kMaxSlackField));
  }
  if (fields.size() > 0) {
    blocks.Append(SlackBlock("section", "fields", std::move(fields)));
  }
  AddLines(text.lines, kMaxSlackBlocks - 1, blocks);
  blocks.Append(SlackBlock("context", "elements",
                           JsonTree::Array({SlackText(text.footer, kMaxSlackContext)})));
  JsonTree message = JsonTree::Object();
  message["text"] = FitEscaped(title, kMaxSlackText, EscapeMarkup);  // where blocks cannot be shown
  message["blocks"] = std::move(blocks);
  return message;
}

}  // namespace kubexx::reloader
