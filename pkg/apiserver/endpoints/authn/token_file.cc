#include "kubexx/apiserver/endpoints/authn/token_file.h"

#include <algorithm>
#include <cstddef>
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

/// The fields of one line. A field in quotes may contain commas, and quotes that are written twice.
/// The fields are wiped at the end, and leave no copies while they grow.
class Fields {
 public:
  explicit Fields(std::string_view line);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields() { std::ranges::for_each(fields_, apimachinery::Wipe); }

  const std::vector<std::string>& get() const { return fields_; }

 private:
  void Begin(std::size_t size) { fields_.emplace_back().reserve(size); }

  std::vector<std::string> fields_{};
};

Fields::Fields(std::string_view line) {
  fields_.reserve(static_cast<std::size_t>(std::ranges::count(line, ',')) + 1);
  Begin(line.size());
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && line.substr(i + 1).starts_with('"')) {
      fields_.back().push_back(c);
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      Begin(line.size() - i);
    } else {
      fields_.back().push_back(c);
    }
  }
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
    const Fields split(line);
    const std::vector<std::string>& fields = split.get();
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
      const Fields groups(fields[3]);
      for (const std::string& group : groups.get()) {
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
