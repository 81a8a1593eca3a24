#include "kubexx/apiserver/endpoints/token_file.h"

#include <string>
#include <utility>

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// The fields of one line; a field in quotes may hold commas, and quotes written twice.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && line.substr(i + 1).starts_with('"')) {
      fields.back().push_back(c);
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  return fields;
}

}  // namespace

Result<std::vector<UserToken>> ParseTokenFile(std::string_view text) {
  std::vector<UserToken> tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = WithoutSpaces(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.find('\n') == std::string_view::npos
                                                 ? text.size()
                                                 : text.find('\n') + 1));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    std::vector<std::string> fields = Fields(line);
    if (fields.size() < 3 || WithoutSpaces(fields[0]).empty() || WithoutSpaces(fields[1]).empty()) {
      return Fail(Reason::kInvalidConfig, "line " + std::to_string(number) +
                                              ": want token,user,uid and then, perhaps, "
                                              "\"group1,group2\"");
    }
    UserToken one;
    one.token = apimachinery::Bytes(std::string(WithoutSpaces(fields[0])));
    one.user.name = WithoutSpaces(fields[1]);
    one.user.uid = WithoutSpaces(fields[2]);
    if (fields.size() > 3) {
      for (const std::string& group : Fields(fields[3])) {
        if (!WithoutSpaces(group).empty()) {
          one.user.groups.emplace_back(WithoutSpaces(group));
        }
      }
    }
    tokens.push_back(std::move(one));
  }
  return tokens;
}

}  // namespace kubexx::apiserver
