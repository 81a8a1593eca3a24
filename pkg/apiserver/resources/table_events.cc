// Tables of Events. The two groups have the same fields under different names.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Returns the first of the two members that exists and is not empty.
std::string Either(const JsonTree& o, std::string_view core, std::string_view other) {
  const std::string text = StringAt(o, {core});
  return text.empty() ? StringAt(o, {other}) : text;
}

/// Returns the object that the Event is about.
const JsonTree& EventSubject(const JsonTree& o) {
  static const JsonTree kNothing = JsonTree::Object();
  const JsonTree* found = o.Find("involvedObject");
  found = found == nullptr ? o.Find("regarding") : found;
  return found == nullptr ? kNothing : *found;
}

std::string FirstSeen(const JsonTree& o) {
  const std::string first = Either(o, "firstTimestamp", "deprecatedFirstTimestamp");
  return SinceText(first.empty() ? StringAt(o, {"eventTime"}) : first);
}

JsonTree LastSeenCell(const JsonTree& o) {
  if (const std::string last = StringAt(o, {"series", "lastObservedTime"}); !last.empty()) {
    return SinceText(last);
  }
  const std::string last = Either(o, "lastTimestamp", "deprecatedLastTimestamp");
  return last.empty() ? FirstSeen(o) : SinceText(last);
}
JsonTree FirstSeenCell(const JsonTree& o) { return FirstSeen(o); }
JsonTree EventTypeCell(const JsonTree& o) { return StringAt(o, {"type"}); }
JsonTree EventReasonCell(const JsonTree& o) { return StringAt(o, {"reason"}); }
JsonTree EventObjectCell(const JsonTree& o) {
  const std::string kind = base::ToLower(EventSubject(o).TextAt("kind"));
  const std::string_view name = EventSubject(o).TextAt("name");
  return name.empty() ? kind : kind + "/" + std::string(name);
}
JsonTree SubobjectCell(const JsonTree& o) {
  return std::string(EventSubject(o).TextAt("fieldPath"));
}
JsonTree SourceCell(const JsonTree& o) {
  const JsonTree* source = o.Find("source");
  source = source == nullptr ? o.Find("deprecatedSource") : source;
  std::string component(source == nullptr ? "" : source->TextAt("component"));
  std::string instance(source == nullptr ? "" : source->TextAt("host"));
  component =
      component.empty() ? Either(o, "reportingComponent", "reportingController") : component;
  instance = instance.empty() ? StringAt(o, {"reportingInstance"}) : instance;
  return instance.empty() ? component : component + ", " + instance;
}
JsonTree MessageCell(const JsonTree& o) {
  std::string message = Either(o, "message", "note");
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!message.empty() && is_space(message.back())) {
    message.pop_back();
  }
  std::size_t begin = 0;
  while (begin < message.size() && is_space(message[begin])) {
    ++begin;
  }
  return message.substr(begin);
}
JsonTree CountCell(const JsonTree& o) {
  if (o.At({"series", "count"}) != nullptr) {
    return NumberAt(o, {"series", "count"});
  }
  const std::int64_t count = NumberAt(o, {"count"}) + NumberAt(o, {"deprecatedCount"});
  return count == 0 ? std::int64_t{1} : count;
}

constexpr Column kEventColumns[] = {
    {"Last Seen", "string", LastSeenCell},     {"Type", "string", EventTypeCell},
    {"Reason", "string", EventReasonCell},     {"Object", "string", EventObjectCell},
    {"Subobject", "string", SubobjectCell, 1}, {"Source", "string", SourceCell, 1},
    {"Message", "string", MessageCell},        {"First Seen", "string", FirstSeenCell, 1},
    {"Count", "string", CountCell, 1},         {"Name", "string", NameCell, 1, "name"}};

}  // namespace

constexpr ColumnTable kEventTable{.columns = kEventColumns};

}  // namespace kubexx::apiserver
