#include "kubexx/reloader/patch.h"

#include <fmt/format.h>

#include <map>

namespace kubexx::reloader {
namespace {

// Names come from API objects and are plain; escaping keeps the patch well-formed whatever they
// hold.
void AppendQuoted(std::string_view text, std::string& out) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace

std::string StrategicMergePatch(const std::vector<Change>& changes) {
  std::map<std::string_view, std::vector<const Change*>> by_container;
  for (const Change& change : changes) {
    by_container[change.container].push_back(&change);
  }
  std::string out = R"({"spec":{"template":{"spec":{"containers":[)";
  for (const auto& [container, variables] : by_container) {
    out += out.back() == '[' ? R"({"name":)" : R"(,{"name":)";
    AppendQuoted(container, out);
    out += R"(,"env":[)";
    for (const Change* change : variables) {
      out += out.back() == '[' ? R"({"name":)" : R"(,{"name":)";
      AppendQuoted(change->variable, out);
      out += R"(,"value":)";
      AppendQuoted(change->value, out);
      out += "}";
    }
    out += "]}";
  }
  return out + "]}}}}";
}

}  // namespace kubexx::reloader
