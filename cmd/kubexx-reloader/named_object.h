// Objects that a command line names as KIND/NAME or KIND NAME.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_NAMED_OBJECT_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_NAMED_OBJECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx {

/// Whether `text` is how a person calls the resource: by its kind, plural or short name in any
/// case, perhaps with its group, such as "deploy" and "deployments.apps".
bool IsCalled(const apimachinery::ResourceInfo& resource, std::string_view text);
/// Finds a kind of workload by its name, plural or short name in any case, such as "deploy".
std::optional<reloader::WorkloadKind> WorkloadKindNamed(std::string_view text);
/// Does the same for every kind that the commands know: workloads, sources and policies. Returns
/// null for any other text.
const apimachinery::ResourceInfo* ResourceNamed(std::string_view text);
/// Which kinds a command takes.
enum class NamedKinds : std::uint8_t { kWorkloads, kWorkloadsAndSources, kAll };
/// Whether they include this kind, which ResourceNamed knows.
bool Includes(NamedKinds kinds, const apimachinery::ResourceInfo& resource);
/// The kinds in small letters, for completion.
std::vector<std::string> KindNames(NamedKinds kinds);

/// An object of a known kind.
struct NamedObject {
  const apimachinery::ResourceInfo* resource = nullptr;
  std::string name{};
};
/// Reads the arguments. Fails with kInvalidConfig, and a message that says what to give, when they
/// do not name one object.
apimachinery::Result<NamedObject> ObjectNamed(const std::vector<std::string>& arguments);
/// Does the same for a workload; the result has no namespace.
apimachinery::Result<reloader::WorkloadId> NamedWorkload(const std::vector<std::string>& arguments);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_NAMED_OBJECT_H_
