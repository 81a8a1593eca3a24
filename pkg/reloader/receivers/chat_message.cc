#include "kubexx/reloader/receivers/chat_message.h"

#include <utility>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxParagraph = 4000;

JsonTree Paragraph(std::string_view text, std::size_t max_bytes) {
  JsonTree widget = JsonTree::Object();
  widget["textParagraph"]["text"] = FitEscaped(text, max_bytes, EscapeMarkup);
  return widget;
}

JsonTree LabeledParagraph(const std::string& label, std::string_view text, std::size_t max_bytes) {
  JsonTree widget = JsonTree::Object();
  JsonTree& decorated = widget["decoratedText"];
  decorated["topLabel"] = label;
  decorated["text"] = FitEscaped(text, max_bytes, EscapeMarkup);
  decorated["wrapText"] = true;
  return widget;
}

/// The first lines, of which all together have at most `max_bytes`, and how many more there are.
std::string FirstLines(const std::vector<std::string>& lines, std::size_t max_bytes) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (text.size() + lines[i].size() + 1 > max_bytes) {
      return text + (text.empty() ? "" : "\n") + MoreLine(lines.size() - i);
    }
    text += (text.empty() ? "" : "\n") + lines[i];
  }
  return text;
}

JsonTree GoogleChatCard(const NotificationText& text, std::size_t max_text) {
  JsonTree widgets = JsonTree::Array();
  if (!text.body.empty()) {
    widgets.Append(Paragraph(text.body, max_text));
  }
  for (const auto& [label, value] : text.facts) {
    widgets.Append(LabeledParagraph(label, value, max_text));
  }
  if (!text.lines.empty()) {
    // With room for what escaping adds to a few characters.
    widgets.Append(Paragraph(FirstLines(text.lines, max_text * 3 / 4), max_text));
  }
  if (widgets.size() == 0) {
    widgets.Append(Paragraph(text.title, max_text));
  }
  JsonTree section = JsonTree::Object();
  section["widgets"] = std::move(widgets);
  JsonTree card = JsonTree::Object();
  card["header"]["title"] = ShortText(text.title, max_text);  // plain text
  card["header"]["subtitle"] = ShortText(text.footer, max_text);
  card["sections"] = JsonTree::Array({std::move(section)});
  JsonTree with_id = JsonTree::Object();
  with_id["cardId"] = "notification";
  with_id["card"] = std::move(card);
  JsonTree message = JsonTree::Object();
  message["cardsV2"] = JsonTree::Array({std::move(with_id)});
  return message;
}

}  // namespace

JsonTree GoogleChatMessage(const NotificationText& text) {
  for (std::size_t max_text = kMaxParagraph;; max_text /= 2) {
    JsonTree message = GoogleChatCard(text, max_text);
    if (message.ToJson().size() <= kMaxGoogleChatBytes || max_text < 2) {
      return message;
    }
  }
}

std::string PlainMessage(const NotificationText& text) {
  std::string message = text.title;
  if (!text.body.empty()) {
    message += "\n" + text.body;
  }
  for (const auto& [label, value] : text.facts) {
    message += "\n" + label + ": " + value;
  }
  message = ShortText(message, kMaxPlainBytes / 2);
  if (!text.lines.empty()) {
    message += "\n" + FirstLines(text.lines, kMaxPlainBytes / 2 - 1000);
  }
  return message + "\n" + ShortText(text.footer, 500) + "\n";
}

}  // namespace kubexx::reloader
