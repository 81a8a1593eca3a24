#include "kubexx/reloader/ui/wave_board.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/ui/workload_record.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// So many workloads of a wave are named.
constexpr std::size_t kMaxNamedMembers = 10;

}  // namespace

void WaveBoard::Note(const Workload& workload, const Explanation& explanation,
                     const reloadpolicy::Effective& effective) {
  if (!effective.waves || !effective.waves->policy || !explanation.not_watched.empty()) {
    Forget(workload.id);
    return;
  }
  Member member{
      .policy = *effective.waves->policy,
      .waves = effective.waves->value,
      .member = WaveMemberFor(RefOf(workload.id), workload.annotations, effective, workload.phase)};
  const bool has_failed = PageStateOf(explanation, workload) == PageState::kFailed;
  for (const SourceExplanation& source : explanation.sources) {
    if (!Reloads(source.verdict) || source.container.empty()) {
      continue;
    }
    const bool was_rolled = reloadpolicy::WasRolledFor(DataVersionOf(source.id, source.digest),
                                                       workload.annotations, workload.uid);
    const bool is_rolling = was_rolled && IsUnsettled(workload.phase);
    const Part part = was_rolled && has_failed ? Part::kFailed
                      : source.due             ? Part::kWaiting
                      : is_rolling             ? Part::kRolling
                                               : Part::kDone;
    member.uses[source.id] = {FirstDigits(source.digest), part, part != Part::kDone};
  }
  members_[workload.id] = std::move(member);
}

void WaveBoard::Forget(const WorkloadId& workload) { members_.erase(workload); }

std::map<reloadpolicy::PolicyId, JsonTree> WaveBoard::UnderWay() const {
  std::map<std::pair<reloadpolicy::PolicyId, SourceId>, std::vector<const Member*>> lines;
  for (const auto& [id, member] : members_) {
    for (const auto& [source, use] : member.uses) {
      lines[{member.policy, source}].push_back(&member);
    }
  }
  std::map<reloadpolicy::PolicyId, JsonTree> under_way;
  for (const auto& [line, members] : lines) {
    const SourceId& source = line.second;
    if (std::ranges::any_of(
            members, [&](const Member* each) { return each->uses.at(source).is_under_way; })) {
      under_way.try_emplace(line.first, JsonTree::Array())
          .first->second.Append(LineTree(source, members));
    }
  }
  return under_way;
}

JsonTree WaveBoard::LineTree(const SourceId& source, const std::vector<const Member*>& members) {
  std::map<reloadpolicy::ObjectRef, Part> parts;
  std::vector<reloadpolicy::WaveMember> in_line;
  for (const Member* each : members) {
    parts[each->member.workload] = each->uses.at(source).part;
    in_line.push_back(each->member);
  }
  const reloadpolicy::WaveLine line(members.front()->waves, std::move(in_line));
  JsonTree tree = JsonTree::Object();
  tree["kind"] = NamesOf(source.type).kind;
  tree["namespace"] = source.key.namespace_;
  tree["name"] = source.key.name;
  tree["digest"] = members.front()->uses.at(source).digest;
  tree["waves"] = JsonTree::Array();
  for (std::size_t wave = 0; wave < line.waves(); ++wave) {
    std::array<int, 4> counts{};
    JsonTree named = JsonTree::Array();
    const std::size_t end =
        wave + 1 < line.waves() ? line.MembersBefore(wave + 1) : line.members().size();
    for (std::size_t i = line.MembersBefore(wave); i < end; ++i) {
      const reloadpolicy::ObjectRef& ref = line.members()[i].workload;
      ++counts.at(static_cast<std::size_t>(parts.at(ref)));
      if (named.size() < kMaxNamedMembers) {
        named.Append(ref.ToString());
      }
    }
    JsonTree each = JsonTree::Object();
    each["done"] = counts[static_cast<std::size_t>(Part::kDone)];
    each["rolling"] = counts[static_cast<std::size_t>(Part::kRolling)];
    each["failed"] = counts[static_cast<std::size_t>(Part::kFailed)];
    each["waiting"] = counts[static_cast<std::size_t>(Part::kWaiting)];
    each["first"] = std::move(named);
    tree["waves"].Append(std::move(each));
  }
  return tree;
}

}  // namespace kubexx::reloader
