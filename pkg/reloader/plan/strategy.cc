#include "kubexx/reloader/plan/strategy.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/foreign_list.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// Each of these identifies a rollout: the rollout that has set the value.
constexpr std::string_view kMarks[] = {kRestartedFor, kLastReloadedFrom};

/// The annotation is copied to each pod.
constexpr std::size_t kMaxVersionsBytes = 4096;

/// Returns the digest of `source` in the change that it caused.
Digest DigestIn(const Change& change, const SourceId& source) {
  const auto found = std::ranges::find(change.sources, source, &std::pair<SourceId, Digest>::first);
  const Digest digest = found == change.sources.end() ? kNoSource : found->second;
  return digest == kNoSource ? DeleteMarker() : digest;
}

std::string TokenOf(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += change.variable + "=" + change.value + ";";
  }
  return DigestOf(text).ToString();
}

/// Returns a token that differs from the present one, and is the same when the same write is tried
/// again.
std::string RestartToken(const Workload& workload, std::string_view changes) {
  std::string text(changes);
  for (const auto& [annotations, key] :
       {std::pair(&workload.annotations, kBaselineAnnotation),
        std::pair(&workload.template_annotations, kRestartedFor)}) {
    const std::string* value = Find(*annotations, key);
    text.append(";").append(value == nullptr ? std::string_view() : std::string_view(*value));
  }
  return DigestOf(text).ToString();
}

/// Whether the workload already has all the variables, so that setting them makes no new pods.
/// Somebody has restored them, as `kubectl rollout undo` does.
bool AreInPlace(const Workload& workload, const std::vector<VariableEdit>& variables) {
  return std::ranges::all_of(variables, [&](const VariableEdit& edit) {
    const auto container = std::ranges::find(workload.containers, edit.container, &Container::name);
    const std::string* value =
        container == workload.containers.end() ? nullptr : FindVariable(*container, edit.name);
    return edit.value ? value != nullptr && *value == *edit.value : value == nullptr;
  });
}

/// Returns how kRestartedFor names this version of a source; it follows a space there.
std::string RolledAt(const SourceId& source, std::uint64_t version) {
  return std::string(NamesOf(source.type).lower) + "/" + source.key.name + "@" +
         std::to_string(version);
}

/// Returns what kRestartedFor says of versions: of the first sources, as far as there is room.
std::string VersionsOf(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    for (const auto& [source, version] : change.versions) {
      const std::string named = " " + RolledAt(source, version);
      if (text.size() + named.size() <= kMaxVersionsBytes) {
        text += named;
      }
    }
  }
  return text;
}

}  // namespace

const Digest& DeleteMarker() {
  static const Digest marker = DigestOf("__RELOADER_EMPTY_DELETE_MARKER__");
  return marker;
}

std::string LastReloadedFrom(const SourceId& source, const Digest& digest,
                             std::string_view container, base::WallTime now) {
  JsonTree value = JsonTree::Object();
  value["type"] = NamesOf(source.type).upper;
  const apimachinery::ObjectKey object = ObjectKeyOf(source);
  value["name"] = object.name;
  value["namespace"] = object.namespace_;
  value["hash"] = digest.ToString();
  value["containerRefs"].Append(container);
  value["observedAt"] =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return value.ToJson();
}

std::optional<ReloadedFrom> ParseReloadedFrom(std::string_view text) {
  const auto tree = JsonTree::Parse(text);
  if (!tree) {
    return std::nullopt;
  }
  const auto type = TypeCalled(&SourceTypeNames::upper, tree->TextAt("type"));
  return type ? std::optional(ReloadedFrom{
                    {*type,
                     {std::string(tree->TextAt("namespace")), std::string(tree->TextAt("name"))}},
                    std::string(tree->TextAt("hash"))})
              : std::nullopt;
}

std::optional<ReloadedFrom> ParseReloadedFrom(const Workload& workload) {
  const std::string* text = Find(workload.template_annotations, kLastReloadedFrom);
  auto from = text == nullptr ? std::nullopt : ParseReloadedFrom(*text);
  const std::string& own = workload.id.key.namespace_;
  if (from && NamesForeign(workload) && from->source.key.namespace_ != own) {
    from->source = ForeignId(from->source.type, from->source.key, own);
  }
  return from;
}

WorkloadWrite MakeWrite(const Workload& workload, const std::vector<Change>& changes,
                        ReloadStrategy strategy, base::WallTime now) {
  WorkloadWrite write{
      .uid = workload.uid, .token = TokenOf(changes), .suspended = workload.suspended};
  if (workload.template_ref && workload.template_ref->kind == KindName(WorkloadKind::kDeployment)) {
    write.template_of = workload.template_ref->name;
  }
  const std::string* how = Find(workload.annotations, kRolloutStrategy);
  if (workload.id.kind == WorkloadKind::kRollout && how != nullptr && *how == "restart") {
    write.restart_at = apimachinery::Time::From(now).ToString();
    return write;
  }
  for (const Change& change : changes) {
    if (strategy == ReloadStrategy::kEnvVars) {
      write.variables.push_back({change.container, change.variable,
                                 change.remove ? std::nullopt : std::optional(change.value)});
    } else if (!change.causes.empty()) {
      const SourceId& cause = change.causes.back();
      write.template_annotations[std::string(kLastReloadedFrom)] =
          LastReloadedFrom(cause, DigestIn(change, cause), change.container, now);
    }
  }
  const std::string versions = VersionsOf(changes);
  if (!versions.empty() ||
      (strategy == ReloadStrategy::kEnvVars && AreInPlace(workload, write.variables))) {
    write.template_annotations[std::string(kRestartedFor)] =
        RestartToken(workload, write.token) + versions;
  }
  return write;
}

bool IsRolledAt(const Workload& workload, const SourceId& source, std::uint64_t version) {
  const std::string* text = Find(workload.template_annotations, kRestartedFor);
  const auto stamper = workload.stampers.find(std::string(kRestartedFor));
  if (version == 0 || text == nullptr || stamper == workload.stampers.end() ||
      !stamper->second.is_operator) {
    return false;
  }
  return (*text + " ").find(" " + RolledAt(source, version) + " ") != std::string::npos;
}

Attempt AttemptOf(const Workload& workload, const WorkloadWrite& write) {
  // The template does not show a restart.
  Attempt attempt{.is_in_place = write.restart_at.has_value()};
  for (const std::string_view key : kMarks) {
    const auto found = write.template_annotations.find(std::string(key));
    if (found == write.template_annotations.end() || !found->second) {
      continue;
    }
    attempt.mark = *found->second;
    Workload after;
    after.template_annotations[found->first] = attempt.mark;
    const bool has_other_mark = write.template_annotations.contains(std::string(kLastReloadedFrom));
    const bool is_as_before = key == kRestartedFor
                                  ? !has_other_mark && AreInPlace(workload, write.variables)
                                  : ParseReloadedFrom(after) == ParseReloadedFrom(workload);
    attempt.is_in_place = attempt.is_in_place || is_as_before;
  }
  return attempt;
}

bool HasMark(const Workload& workload, const Attempt& attempt) {
  return !attempt.mark.empty() && std::ranges::any_of(kMarks, [&](std::string_view key) {
    const std::string* value = Find(workload.template_annotations, key);
    const auto stamper = workload.stampers.find(std::string(key));
    return value != nullptr && *value == attempt.mark &&
           (stamper == workload.stampers.end() || stamper->second.is_operator);
  });
}

}  // namespace kubexx::reloader
