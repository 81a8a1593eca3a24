/// @file
/// The ConfigMap reloader-meta-info: how this process was built and what it was told.
#ifndef KUBEXX_RELOADER_OBSERVE_META_INFO_H_
#define KUBEXX_RELOADER_OBSERVE_META_INFO_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The value of an option as it was given: for reports, not for decisions.
using OptionValue = std::variant<bool, std::string, std::vector<std::string>>;

/// What the ConfigMap reloader-meta-info tells of the flags, and where it goes; not published
/// without a namespace.
struct MetaInfoSettings {
  std::string namespace_{};       ///< RELOADER_NAMESPACE
  std::string deployment_name{};  ///< RELOADER_DEPLOYMENT_NAME
  /// stakater/Reloader's names of the options, in its order, with what was given.
  std::vector<std::pair<std::string, OptionValue>> reported_options{};
  /// The flags that decide what is rolled and when, as `--name=value`: for others that are to judge
  /// by the same rules. Without credentials; a webhook is only said to be there.
  std::vector<std::string> arguments{};
};

/// How the program was built.
struct BuildInfo {
  std::string version{};
  std::string commit{};       ///< empty when unknown
  std::string commit_time{};  ///< RFC 3339; empty when unknown
};

/// The label that finds the ConfigMaps of all installations.
inline constexpr std::string_view kMetaInfoSelector = "reloader.stakater.com/meta-info=reloader";
inline constexpr std::string_view kMetaInfoName = "reloader-meta-info";

/// Where nothing is rolled because policies may not be read, and in a sentence why: by namespace,
/// or "" for all of them.
using UnreadPolicies = std::map<std::string, std::string>;

/// The ConfigMap, with stakater/Reloader's name, label and keys, and our own: "kubexxArguments"
/// with MetaInfoSettings::arguments, and "kubexxUnreadPolicies" where there are such.
api::core::v1::ConfigMap MetaInfoOf(const MetaInfoSettings& settings, const BuildInfo& build,
                                    const UnreadPolicies& unread = {});

/// What such a ConfigMap tells of an operator.
struct ToldOperator {
  apimachinery::ObjectKey deployment{};  ///< the name is empty when nobody has told it
  std::vector<std::string> arguments{};  ///< MetaInfoSettings::arguments
  UnreadPolicies unread{};

  /// Of that namespace; nothing when policies keep it from nothing there.
  std::optional<std::string> UnreadIn(const std::string& namespace_) const;
};

/// Reads it; nothing when another program, or a version that did not tell, has written it.
std::optional<ToldOperator> ToldBy(const api::core::v1::ConfigMap& meta_info);

/// Creates or replaces it in the namespace that it names.
apimachinery::Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client,
                                           const api::core::v1::ConfigMap& object,
                                           const std::stop_token& stop);

/// Publishes it on a thread of its own: at once, and again when `unread` says something else. What
/// fails is tried again until it succeeds.
class MetaInfoPublisher {
 public:
  /// `settings` and `clock` must outlive this, and what `unread` uses. Empty: there is nothing
  /// unread.
  MetaInfoPublisher(std::shared_ptr<rest::RESTClient> client, const MetaInfoSettings& settings,
                    BuildInfo build, std::function<UnreadPolicies()> unread,
                    base::Clock& clock = base::Clock::Real());
  /// Ends the thread; a request under way is broken off.
  ~MetaInfoPublisher() = default;
  MetaInfoPublisher(const MetaInfoPublisher&) = delete;
  MetaInfoPublisher& operator=(const MetaInfoPublisher&) = delete;

  /// `unread` may say something else now, or soon. Thread-safe, does not block.
  void Look();

 private:
  void Run(const std::stop_token& stop);
  /// Waits for Look, for this time at most; nothing: for however long it takes.
  void Wait(std::optional<base::Duration> time, const std::stop_token& stop);

  const std::shared_ptr<rest::RESTClient> client_;
  const MetaInfoSettings& settings_;
  const BuildInfo build_;
  const std::function<UnreadPolicies()> unread_;
  base::Clock& clock_;
  base::Mutex mu_;
  base::CondVar asked_;
  bool look_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_META_INFO_H_
