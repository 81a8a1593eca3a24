/// @file
/// Who wrote what a rollout leaves in a pod template.
#ifndef KUBEXX_RELOADER_MODEL_STAMPS_H_
#define KUBEXX_RELOADER_MODEL_STAMPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::reloader {

struct Workload;

/// Who gave one stamp the value that it has. A value type.
struct Stamper {
  bool is_operator = false;
  /// Of somebody else: a tool that keeps the workload as it is described somewhere.
  bool is_tool = false;
  /// Of somebody else: when; zero when the managed fields do not tell that of this stamp alone.
  apimachinery::Time since{};
  bool operator==(const Stamper&) const = default;
};

/// By the stamp's name: that of a variable with kEnvVarPrefix, or the key of one of the pod
/// template's annotations kLastReloadedFrom and kRestartedFor. Stamps of which the managed fields
/// do not tell are not listed.
using Stampers = std::map<std::string, Stamper>;

/// The stamps of `workload`'s pod template by the managed fields of the object that has it. A value
/// that the operator and somebody else own together is the operator's. Where the containers are one
/// field, as in custom resources, it is about whoever changed any of them last.
Stampers StampersOf(const Workload& workload, const api::meta::v1::ObjectMeta& metadata);

/// As text without line breaks, short where all stamps are the operator's.
std::string TextOf(const Stampers& stampers, const Workload& workload);
/// The inverse, for the workload that it was made of; what cannot be read is left out.
Stampers StampersFrom(std::string_view text, const Workload& workload);

/// Who made the difference between two pod templates of one workload.
enum class TemplateWriter : std::uint8_t {
  kUnknown,   ///< the managed fields do not tell: a stamp was only taken away, which nobody owns
  kOperator,  ///< every stamp that is new or has another value is the operator's
  kOther,     ///< one of them is somebody else's, or no stamp has changed
};
TemplateWriter WriterOfTemplate(const Workload& before, const Workload& now);

/// Whether the workload has a baseline that an operator like this one wrote last.
bool HasOwnRecord(const Workload& workload);

/// Whether an operator like this one made the difference between two baselines of one workload.
bool HasRecorded(const Workload& before, const Workload& now);

/// Whether somebody has undone what was rolled out between two pod templates of one workload: a
/// stamp of an earlier rollout is back, which no description of the workload has and thus no tool
/// brings, or a command to undo rollouts is named.
bool IsUndo(const Workload& before, const Workload& now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_STAMPS_H_
