/// @file
/// What the operator does in each pod of a workload so that the program there reads its files anew.
#ifndef KUBEXX_RELOADER_IN_PLACE_RELOAD_ACTION_H_
#define KUBEXX_RELOADER_IN_PLACE_RELOAD_ACTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {

/// An action that takes the place of a rollout. A value type.
struct ReloadAction {
  enum class Kind : std::uint8_t {
    kSignal,  ///< process 1 of the container gets a signal, from a shell in the container
    kExec,    ///< a command runs in the container, without a shell
    kHttp,    ///< the pod gets a request over HTTP, through the API server
  } kind = Kind::kSignal;
  /// The text from which it was parsed, such as "signal:HUP".
  std::string text{};
  /// The command and its arguments; empty with kHttp.
  std::vector<std::string> command{};
  std::string method{};    ///< only with kHttp: GET, POST or PUT
  std::uint16_t port = 0;  ///< only with kHttp
  std::string path{};      ///< only with kHttp: begins with "/", and may have a query
  /// The container; empty: the pod's default one.
  std::string container{};
  /// The workload is not rolled for data that the program refuses; see kReloadOnRefusal.
  bool keeps_refused = false;
  bool operator==(const ReloadAction&) const = default;
};

/// On a workload: what follows when its program refuses the new data, so that kReloadInPlace fails:
/// "roll", the default, or "keep", by which the pods stay as they are. No flag renames it.
inline constexpr std::string_view kReloadOnRefusal =
    "reloader.kubexx.io/reload-in-place-on-refusal";

/// With this exit code the command of a kSignal ends when process 1 would not notice the signal.
inline constexpr int kSignalIsLost = 79;

/// Parses the value of kReloadInPlace: "signal:HUP", "exec:nginx -s reload" (words that are
/// separated by spaces; single or double quotation marks keep a word together), or
/// "http:POST :9090/-/reload". Fails with kInvalidConfig, and a message that says what is wrong.
/// Only those signals are accepted by which programs usually reload: HUP, USR1, USR2 and WINCH.
apimachinery::Result<ReloadAction> ParseReloadAction(std::string_view text);

/// The action in the annotations of a workload, with the container that kReloadContainer names and
/// what kReloadOnRefusal says; std::nullopt when there is none. Fails as ParseReloadAction does.
apimachinery::Result<std::optional<ReloadAction>> ReloadActionOf(const Annotations& annotations);

/// The action with its container, as messages show it.
std::string ShownAction(const ReloadAction& action);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_RELOAD_ACTION_H_
