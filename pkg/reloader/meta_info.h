/// @file
/// The ConfigMap reloader-meta-info: how this process was built and what it was told.
#ifndef KUBEXX_RELOADER_META_INFO_H_
#define KUBEXX_RELOADER_META_INFO_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/config.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// How the program was built.
struct BuildInfo {
  std::string version{};
  std::string commit{};       ///< empty when unknown
  std::string commit_time{};  ///< RFC 3339; empty when unknown
};

/// The label that finds the ConfigMaps of all installations.
inline constexpr std::string_view kMetaInfoSelector = "reloader.stakater.com/meta-info=reloader";
inline constexpr std::string_view kMetaInfoName = "reloader-meta-info";

/// The ConfigMap, with stakater/Reloader's name, label and keys, and one of our own: the key
/// "kubexxArguments" with Config::arguments.
api::core::v1::ConfigMap MetaInfoOf(const Config& config, const BuildInfo& build);

/// What such a ConfigMap tells of an operator.
struct ToldOperator {
  apimachinery::ObjectKey deployment{};  ///< the name is empty when nobody has told it
  std::vector<std::string> arguments{};  ///< Config::arguments
};

/// Reads it; nothing when another program, or a version that did not tell, has written it.
std::optional<ToldOperator> ToldBy(const api::core::v1::ConfigMap& meta_info);

/// Creates or replaces it in the namespace that the configuration names.
apimachinery::Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client,
                                           const Config& config, const BuildInfo& build,
                                           const std::stop_token& stop);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_META_INFO_H_
