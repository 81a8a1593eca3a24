#include "kubexx/rest/internal/kubeconfig_file.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "kubexx/rest/internal/file.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// Nested values that are refused only if their entry is used; their presence is all that is kept.
constexpr std::array<std::string_view, 4> kKeptIfNested = {"exec", "auth-provider", "as-groups",
                                                           "as-user-extra"};
constexpr std::array<std::string_view, 4> kPaths = {"certificate-authority", "client-certificate",
                                                    "client-key", "tokenFile"};

bool Contains(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  Result<Kubeconfig> Read() {
    KX_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_, "kubeconfig"));
    try {
      return ReadDocument(YAML::Load(text));
    } catch (const YAML::Exception& error) {
      // Its message quotes nothing of the text; the position is enough to find the place.
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
      const std::string& key = field.first.Scalar();
      if (field.second.IsNull() || key == "extensions") {
        continue;
      }
      if (field.second.IsScalar()) {
        entry.fields[key] =
            Contains(kPaths, key) ? Absolute(field.second.Scalar()) : field.second.Scalar();
      } else if (Contains(kKeptIfNested, key)) {
        entry.fields[key] = "set";
      } else {
        return Bad(path + "." + key, "must be a string");
      }
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
