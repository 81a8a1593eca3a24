/// @file
/// What the condition Restored of a policy says.
#ifndef KUBEXX_RELOADER_POLICY_RESTORE_TEXT_H_
#define KUBEXX_RELOADER_POLICY_RESTORE_TEXT_H_

#include <optional>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {

/// The condition Restored, or what it is to be. A value type.
struct RestoreText {
  bool is_restored = false;
  std::string reason{};
  std::string message{};
  /// Since when the condition has had this value; std::nullopt: not known.
  std::optional<apimachinery::Time> since{};
};

/// What the condition is to say. `before`: what it says at present; std::nullopt: there is none.
/// What an earlier process has restored is known from that. A restore that is older than what was
/// told later does not become news again. Pure.
RestoreText RestoreTextOf(const PolicyState& state, const std::optional<RestoreText>& before);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_RESTORE_TEXT_H_
