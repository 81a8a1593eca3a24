#include "kubexx/reloader/observe/explain_turn.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Effective;
using reloadpolicy::ObjectRef;
using reloadpolicy::Setting;

/// The sources for which the plan rolls the workload.
std::set<SourceId> CausesOf(const Plan& plan) {
  std::set<SourceId> causes;
  for (const Change& change : plan.changes) {
    causes.insert(change.causes.begin(), change.causes.end());
  }
  return causes;
}

/// Whether the workload must be rolled for the source and has not been yet.
bool MustBeRolled(const ExplainInput& input, const Workload& other, const SourceId& cause,
                  PatternCache& patterns) {
  return input.needs_rollout
             ? input.needs_rollout(other, cause)
             : IsDue(MakePlan(other, input.sources, Knowledge{}, input.rules, patterns), cause);
}

/// The digest of all data of the source, of which perhaps only some keys count.
const Digest& WholeOf(const Source& source) {
  return source.keys.empty() ? source.digest : source.whole;
}

/// The versions of the data that are due, as PolicyEnforcer notes them.
reloadpolicy::DataVersions DueVersions(const ExplainInput& input,
                                       const std::set<SourceId>& causes) {
  reloadpolicy::DataVersions versions;
  for (const SourceId& cause : causes) {
    if (const auto source = input.sources.get(cause); source && !source->unknown) {
      versions.push_back(DataVersionOf(cause, source->digest.ToString()));
      if (!source->keys.empty()) {
        versions.push_back(DataVersionOf(cause, source->whole.ToString()));
      }
    }
  }
  return versions;
}

/// The workloads that the cause concerns and that these waves are for.
WaveLines::Line LineFor(const ExplainInput& input, const SourceId& cause,
                        const std::optional<Source>& source,
                        const Setting<reloadpolicy::Waves>& waves, PatternCache& patterns) {
  std::map<ObjectRef, Workload> users;
  std::vector<reloadpolicy::WaveMember> members;
  for (Workload& user : input.users(cause)) {
    ObjectRef ref = RefOf(user.id);
    const Effective effective = input.arbiter.policies().Resolve(ref, user.annotations);
    const Verdict verdict =
        Decide(source.value_or(Source{.id = cause}), user, input.rules, patterns);
    if (effective.waves && effective.waves->policy == waves.policy && Reloads(verdict) &&
        ChooseContainer(user, cause.type, cause.key.name, verdict == Verdict::kExplicit) &&
        users.emplace(ref, user).second) {
      members.push_back(WaveMemberFor(ref, user.annotations, effective, user.phase));
    }
  }
  return {.line = {waves.value, std::move(members)}, .users = std::move(users)};
}

/// The first workload of an earlier wave that has to be rolled for a cause of what is due.
std::optional<reloadpolicy::EarlierWave> EarlierWaveIn(const ExplainInput& input,
                                                       const std::set<SourceId>& causes,
                                                       const Setting<reloadpolicy::Waves>& waves,
                                                       PatternCache& patterns) {
  WaveLines own_lines;
  auto& lines = (input.wave_lines == nullptr ? own_lines : *input.wave_lines).lines;
  for (const SourceId& cause : causes) {
    const auto source = input.sources.get(cause);
    auto found = lines.find({cause, waves.policy});
    if (found == lines.end()) {
      found = lines
                  .emplace(std::pair(cause, waves.policy),
                           LineFor(input, cause, source, waves, patterns))
                  .first;
    }
    auto& [line, users, done] = found->second;
    const std::string version = DataVersionOf(cause, source ? WholeOf(*source).ToString() : "");
    const std::size_t wave = line.WaveOf(RefOf(input.workload.id));
    for (; done < line.MembersBefore(wave); ++done) {
      const ObjectRef& ref = line.members()[done].workload;
      const Workload& user = users.at(ref);
      const bool is_of_others = IsUnsettled(user.phase) &&
                                !reloadpolicy::WasRolledFor(version, user.annotations, user.uid);
      if (input.arbiter.IsFollowed(ref) || is_of_others ||
          MustBeRolled(input, user, cause, patterns)) {
        return reloadpolicy::EarlierWave{wave + 1, line.waves(), ref};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ObjectRef> WorkloadsBefore(const ExplainInput& input, const Plan& plan, int order,
                                       PatternCache& patterns) {
  if (order <= 0 || !input.users) {
    return {};
  }
  for (const SourceId& cause : CausesOf(plan)) {
    for (const Workload& other : input.users(cause)) {
      const ObjectRef ref = RefOf(other.id);
      if (other.id == input.workload.id ||
          input.arbiter.policies().Resolve(ref, other.annotations).Order() >= order) {
        continue;
      }
      if (input.arbiter.IsActive(ref) || MustBeRolled(input, other, cause, patterns)) {
        return {ref};  // one workload is reason enough
      }
    }
  }
  return {};
}

void AskForWaves(const ExplainInput& input, const Plan& plan, const Effective& effective,
                 PatternCache& patterns, reloadpolicy::Request& request) {
  if (!effective.waves || !input.users) {
    return;
  }
  const std::set<SourceId> causes = CausesOf(plan);
  request.data = DueVersions(input, causes);
  request.earlier_wave = EarlierWaveIn(input, causes, *effective.waves, patterns);
}

}  // namespace kubexx::reloader
