#include "kubexx/rest/internal/config/kubeconfig_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "kubexx/codec/yaml.h"
#include "kubexx/rest/internal/config/file.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";
constexpr std::array<std::string_view, 4> kPaths = {"certificate-authority", "client-certificate",
                                                    "client-key", "tokenFile"};

bool Contains(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

// An alias in YAML may refer to a value that contains the alias itself, or many more aliases. So
// the expansion of a short text could be endless without these limits.
constexpr int kMaxExtensionDepth = 64;
constexpr std::size_t kMaxExtensionBytes = 1 << 20;

// Writes a value as YAML again, with quotes where it had quotes, because "1" in quotes is a string.
// Returns false when the value is nested too deep or is too large.
bool Emit(const YAML::Node& value, YAML::Emitter& out, int depth = 0) {
  if (depth > kMaxExtensionDepth || out.size() > kMaxExtensionBytes) {
    return false;
  }
  if (value.IsMap()) {
    out << YAML::BeginMap;
    for (const auto& field : value) {
      out << YAML::Key;
      if (!Emit(field.first, out, depth + 1)) {
        return false;
      }
      out << YAML::Value;
      if (!Emit(field.second, out, depth + 1)) {
        return false;
      }
    }
    out << YAML::EndMap;
  } else if (value.IsSequence()) {
    out << YAML::BeginSeq;
    for (const YAML::Node& item : value) {
      if (!Emit(item, out, depth + 1)) {
        return false;
      }
    }
    out << YAML::EndSeq;
  } else if (value.IsScalar() && value.Tag() == "!") {
    out << YAML::DoubleQuoted << value.Scalar();
  } else if (value.IsScalar()) {
    out << value.Scalar();
  } else {
    out << YAML::Null;
  }
  return true;
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  Result<Kubeconfig> Read() {
    KX_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(path_, "kubeconfig"));
    try {
      return ReadDocument(YAML::Load(text));
    } catch (const YAML::Exception& error) {
      // The parser's message does not quote the text; the position is enough to find the place.
      return Bad("line " + std::to_string(error.mark.line + 1), "is not valid YAML: " + error.msg);
    } catch (const std::exception& error) {
      return Bad("YAML", error.what());
    }
  }

 private:
  apimachinery::Error Bad(const std::string& field, const std::string& why) const {
    return Fail(Reason::kInvalidConfig, "kubeconfig " + path_ + ": " + field + ": " + why);
  }

  Result<Kubeconfig> ReadDocument(const YAML::Node& root) {
    Kubeconfig out;
    out.origin = path_;
    if (root.IsNull()) {
      return out;  // an empty file is an empty kubeconfig
    }
    if (!root.IsMap()) {
      return Bad("document", "must be a mapping");
    }
    if (const auto kind = root["kind"];
        kind && kind.IsScalar() && !kind.Scalar().empty() && kind.Scalar() != "Config") {
      return Bad("kind", "is \"" + kind.Scalar() + "\", not \"Config\"");
    }
    if (const auto current = root["current-context"]; current && !current.IsNull()) {
      if (!current.IsScalar()) {
        return Bad("current-context", "must be a string");
      }
      out.current_context = current.Scalar();
    }
    KX_RETURN_IF_ERROR(ReadList(root, "clusters", "cluster", out.clusters));
    KX_RETURN_IF_ERROR(ReadList(root, "users", "user", out.users));
    KX_RETURN_IF_ERROR(ReadList(root, "contexts", "context", out.contexts));
    return out;
  }

  Result<void> ReadList(const YAML::Node& root, const std::string& list, const std::string& member,
                        std::map<std::string, KubeconfigEntry>& out) {
    const YAML::Node items = root[list];
    if (!items || items.IsNull()) {
      return {};
    }
    if (!items.IsSequence()) {
      return Bad(list, "must be a list");
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::string path = list + "[" + std::to_string(i) + "]";
      const YAML::Node& item = items[i];
      if (!item.IsMap() || !item["name"] || !item["name"].IsScalar()) {
        return Bad(path, "must be a mapping with a name");
      }
      const std::string name = item["name"].Scalar();
      path += " \"" + name + "\"";
      KubeconfigEntry entry{.file = path_, .path = path};
      KX_RETURN_IF_ERROR(ReadFields(item[member], path + "." + member, entry));
      out.try_emplace(name, std::move(entry));
    }
    return {};
  }

  Result<void> ReadFields(const YAML::Node& node, const std::string& path, KubeconfigEntry& entry) {
    if (!node || node.IsNull()) {
      return {};
    }
    if (!node.IsMap()) {
      return Bad(path, "must be a mapping");
    }
    for (const auto& field : node) {
      if (!field.first.IsScalar()) {
        return Bad(path, "has a key that is not a string");
      }
      if (!field.second.IsNull()) {
        const std::string& key = field.first.Scalar();
        KX_RETURN_IF_ERROR(ReadField(key, field.second, path + "." + key, entry));
      }
    }
    return {};
  }

  Result<void> ReadField(const std::string& key, const YAML::Node& value, const std::string& path,
                         KubeconfigEntry& entry) {
    if (key == "extensions") {
      return ReadExtensions(value, path, entry);
    }
    if (key == "exec") {
      return ReadExec(value, path, entry);
    }
    if (key == "as-groups") {
      return ReadStrings(value, path, entry.as_groups);
    }
    if (key == "as-user-extra") {
      return ReadExtra(value, path, entry);
    }
    if (key == "auth-provider") {
      entry.fields[key] = "set";
      return {};
    }
    KX_ASSIGN_OR_RETURN(std::string text, ReadString(value, path));
    entry.fields[key] = Contains(kPaths, key) ? Absolute(text) : std::move(text);
    return {};
  }

  Result<std::string> ReadString(const YAML::Node& value, const std::string& path) {
    if (!value || value.IsNull()) {
      return std::string();
    }
    if (!value.IsScalar()) {
      return Bad(path, "must be a string");
    }
    return value.Scalar();
  }

  Result<void> ReadStrings(const YAML::Node& value, const std::string& path,
                           std::vector<std::string>& out) {
    if (!value || value.IsNull()) {
      return {};
    }
    if (!value.IsSequence()) {
      return Bad(path, "must be a list");
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      KX_ASSIGN_OR_RETURN(out.emplace_back(),
                          ReadString(value[i], path + "[" + std::to_string(i) + "]"));
    }
    return {};
  }

  Result<void> ReadExtra(const YAML::Node& value, const std::string& path, KubeconfigEntry& entry) {
    if (!value.IsMap()) {
      return Bad(path, "must be a mapping");
    }
    for (const auto& field : value) {
      KX_ASSIGN_OR_RETURN(const std::string key, ReadString(field.first, path));
      KX_RETURN_IF_ERROR(ReadStrings(field.second, path + "." + key, entry.as_user_extra[key]));
    }
    return {};
  }

  Result<void> ReadExec(const YAML::Node& value, const std::string& path, KubeconfigEntry& entry) {
    if (!value.IsMap()) {
      return Bad(path, "must be a mapping");
    }
    ExecConfig& exec = entry.exec.emplace();
    const auto text = [&](const char* name) { return ReadString(value[name], path + "." + name); };
    KX_ASSIGN_OR_RETURN(exec.api_version, text("apiVersion"));
    KX_ASSIGN_OR_RETURN(exec.command, text("command"));
    KX_ASSIGN_OR_RETURN(exec.install_hint, text("installHint"));
    KX_ASSIGN_OR_RETURN(entry.fields["exec.interactiveMode"], text("interactiveMode"));
    KX_ASSIGN_OR_RETURN(entry.fields["exec.provideClusterInfo"], text("provideClusterInfo"));
    KX_RETURN_IF_ERROR(ReadStrings(value["args"], path + ".args", exec.args));
    if (exec.command.find('/') != std::string::npos) {
      exec.command = Absolute(exec.command);
    }
    const YAML::Node env = value["env"];
    if (!env || env.IsNull()) {
      return {};
    }
    if (!env.IsSequence()) {
      return Bad(path + ".env", "must be a list");
    }
    for (std::size_t i = 0; i < env.size(); ++i) {
      const std::string at = path + ".env[" + std::to_string(i) + "]";
      if (!env[i].IsMap()) {
        return Bad(at, "must be a mapping");
      }
      auto& variable = exec.env.emplace_back();
      KX_ASSIGN_OR_RETURN(variable.first, ReadString(env[i]["name"], at + ".name"));
      KX_ASSIGN_OR_RETURN(variable.second, ReadString(env[i]["value"], at + ".value"));
    }
    return {};
  }

  // Extensions belong to other programs and may hold anything. Only one of them is for credential
  // plugins.
  Result<void> ReadExtensions(const YAML::Node& value, const std::string& path,
                              KubeconfigEntry& entry) {
    if (!value.IsSequence()) {
      return {};
    }
    for (const YAML::Node& item : value) {
      const YAML::Node name = item.IsMap() ? item["name"] : YAML::Node();
      if (!name || !name.IsScalar() || name.Scalar() != kExecExtension || !item["extension"]) {
        continue;
      }
      YAML::Emitter yaml;
      if (!Emit(item["extension"], yaml)) {
        return Bad(path, "the extension is nested too deeply, or its aliases expand to too much");
      }
      auto json = codec::YamlToJson(yaml.c_str());
      if (!json) {
        return Bad(path, json.error().message);
      }
      entry.exec_extension = json->empty() ? std::string() : std::move(json->front());
    }
    return {};
  }

  std::string Absolute(const std::string& value) const {
    if (value.empty() || value.starts_with('/')) {
      return value;
    }
    return (std::filesystem::path(path_).parent_path() / value).lexically_normal().string();
  }

  std::string path_;
};

}  // namespace

Result<Kubeconfig> ReadKubeconfigFile(const std::string& path) { return Reader(path).Read(); }

void MergeKubeconfig(Kubeconfig& into, Kubeconfig file) {
  into.clusters.merge(file.clusters);
  into.users.merge(file.users);
  into.contexts.merge(file.contexts);
  if (into.current_context.empty()) {
    into.current_context = std::move(file.current_context);
  }
  into.origin += (into.origin.empty() ? "" : ", ") + file.origin;
}

}  // namespace kubexx::rest::internal
