/// @file
/// The ConfigMap reloader-meta-info: how this process was built and what it was told.
#ifndef KUBEXX_RELOADER_META_INFO_H_
#define KUBEXX_RELOADER_META_INFO_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
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

/// The ConfigMap, with stakater/Reloader's name, label and keys.
api::core::v1::ConfigMap MetaInfoOf(const Config& config, const BuildInfo& build);

/// Creates or replaces it in the namespace that the configuration names.
apimachinery::Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client,
                                           const Config& config, const BuildInfo& build,
                                           const std::stop_token& stop);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_META_INFO_H_
