/// @file
/// The ConfigMap reloader-meta-info, which describes how this process was built and configured.
#ifndef KUBEXX_RELOADER_OBSERVE_META_INFO_H_
#define KUBEXX_RELOADER_OBSERVE_META_INFO_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/scheduled_task.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The value of an option as it was given. For reports, not for decisions.
using OptionValue = std::variant<bool, std::string, std::vector<std::string>>;

/// What the ConfigMap reloader-meta-info contains about the flags, and its namespace. Without a
/// namespace it is not published.
struct MetaInfoSettings {
  std::string namespace_{};       ///< RELOADER_NAMESPACE
  std::string deployment_name{};  ///< RELOADER_DEPLOYMENT_NAME
  /// stakater/Reloader's names of the options, in its order, with their values.
  std::vector<std::pair<std::string, OptionValue>> reported_options{};
  /// The flags that decide what is rolled and when, as `--name=value`, for programs that must apply
  /// the same rules. Contains no credentials: of a webhook's URL it says only that there is one.
  std::vector<std::string> arguments{};
};

/// How the program was built.
struct BuildInfo {
  std::string version{};
  std::string commit{};       ///< empty when unknown
  std::string commit_time{};  ///< RFC 3339; empty when unknown
};

/// The label selector that matches the ConfigMaps of all installations.
inline constexpr std::string_view kMetaInfoSelector = "reloader.stakater.com/meta-info=reloader";
inline constexpr std::string_view kMetaInfoName = "reloader-meta-info";

/// The namespaces in which nothing is rolled because the operator may not read policies, each with
/// a sentence that says why; the key "" stands for all namespaces.
using UnreadPolicies = std::map<std::string, std::string>;

/// Builds the ConfigMap. It has stakater/Reloader's name, label and keys, and two more keys:
/// "kubexxArguments" with MetaInfoSettings::arguments, and "kubexxUnreadPolicies" if `unread` is
/// not empty.
api::core::v1::ConfigMap MetaInfoOf(const MetaInfoSettings& settings, const BuildInfo& build,
                                    const UnreadPolicies& unread = {});

/// What such a ConfigMap says about its operator.
struct ToldOperator {
  /// The name is empty when the ConfigMap does not contain one that a Deployment can have.
  apimachinery::ObjectKey deployment{};
  std::vector<std::string> arguments{};  ///< see MetaInfoSettings::arguments
  UnreadPolicies unread{};

  /// Why nothing is rolled in the namespace; std::nullopt when no unreadable policy is the reason
  /// for that.
  std::optional<std::string> UnreadIn(const std::string& namespace_) const;
};

/// Reads such a ConfigMap. Returns std::nullopt when another program, or a version that did not
/// write these keys, has written it.
std::optional<ToldOperator> ToldBy(const api::core::v1::ConfigMap& meta_info);

/// Creates or replaces the ConfigMap in the namespace that it names.
apimachinery::Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client,
                                           const api::core::v1::ConfigMap& object,
                                           const std::stop_token& stop);

/// Publishes the ConfigMap as a task of an executor: immediately, and again when the result of
/// `unread` changes. Retries until it succeeds.
class MetaInfoPublisher {
 public:
  /// `settings`, `clock` and everything that `unread` uses must outlive this object. `unread` may
  /// be empty: then all policies can be read. `executor` runs the task; null: one of this object's
  /// own. Throws std::system_error when the system has not enough threads.
  MetaInfoPublisher(std::shared_ptr<rest::RESTClient> client, const MetaInfoSettings& settings,
                    BuildInfo build, std::function<UnreadPolicies()> unread,
                    std::shared_ptr<base::Executor> executor = {},
                    base::Clock& clock = base::Clock::Real());
  /// Ends the task and cancels a request under way.
  ~MetaInfoPublisher() = default;
  MetaInfoPublisher(const MetaInfoPublisher&) = delete;
  MetaInfoPublisher& operator=(const MetaInfoPublisher&) = delete;

  /// The result of `unread` may have changed, or may change soon. Thread-safe; does not block.
  void Look() { task_.Wake(); }

 private:
  /// Publishes if there is something new, and returns when to look again.
  base::TimePoint Step(const std::stop_token& stop);

  const std::shared_ptr<rest::RESTClient> client_;
  const MetaInfoSettings& settings_;
  const BuildInfo build_;
  const std::function<UnreadPolicies()> unread_;
  base::Clock& clock_;
  // Both are used by the task alone.
  std::optional<UnreadPolicies> told_{};
  bool has_failed_ = false;
  base::ScheduledTask task_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_META_INFO_H_
