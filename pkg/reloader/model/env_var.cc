#include "kubexx/reloader/model/env_var.h"

namespace kubexx::reloader {

std::string EnvVarName(SourceType type, std::string_view source_name) {
  std::string name(kEnvVarPrefix);
  const std::size_t begin = name.size();
  for (const char c : source_name) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (c == '/') {
      name.append("__");
    } else if ((upper >= 'A' && upper <= 'Z') || (upper >= '0' && upper <= '9')) {
      name.push_back(upper);
    } else if (name.size() > begin && name.back() != '_') {
      name.push_back('_');
    }
  }
  name.push_back('_');
  name.append(NamesOf(type).upper);
  return name;
}

}  // namespace kubexx::reloader
