#include "kubexx/reloader/plan/former_templates.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/reloader/plan/begun_pods.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

/// When a workload has so many templates before one of them has made all pods, somebody is
/// experimenting.
constexpr std::size_t kMaxFormers = 8;

/// Whether all pods have what `had` says of a source: those from before, and those that began when
/// the template went back.
bool IsSameFor(const SourceId& source, const PairState& had, const Knowledge& known,
               const VersionsOfBegin& begin) {
  if (had.kind == Kind::kUncertain) {
    return false;
  }
  if (const auto moves = known.moves.find(source); moves != known.moves.end()) {
    const bool may_have_others = std::ranges::any_of(moves->second, [&](const Move& move) {
      return begin.since != 0 && move.version > begin.since && move.version < begin.until &&
             move.digest != had.digest && IsMoveUnder(had.keys, move);
    });
    if (may_have_others) {
      return false;
    }
    const auto latest = std::ranges::find_if(
        moves->second.rbegin(), moves->second.rend(),
        [&](const Move& move) { return begin.since == 0 || move.version < begin.since; });
    if (latest != moves->second.rend()) {
      return latest->digest == had.digest;
    }
  }
  const auto state = known.pairs.find(source);
  if (state == known.pairs.end()) {
    return true;
  }
  // A plan has seen a change already that was made after these pods began.
  const bool has_moved_since = begin.since != 0 && state->second.moved_at > begin.since;
  return !has_moved_since && state->second.kind == Kind::kConfirmed &&
         state->second.digest == had.digest && state->second.keys == had.keys;
}

/// Returns the state in which some pods have what `had` says of a source and others may have
/// something else.
PairState MixedWith(const SourceId& source, PairState had) {
  // The pods themselves report it.
  const bool is_told = source.type == SourceType::kSecretProviderClass;
  return {.kind = Kind::kConfirmed,
          .digest = is_told || had.digest == kNoSource ? had.digest : UnknownData(),
          .keys = std::move(had.keys),
          .is_ahead_of_record = true};
}

}  // namespace

void AddFormer(Knowledge& known, Knowledge::Former former) {
  std::erase_if(known.formers, [&](const Knowledge::Former& each) {
    return each.template_digest == former.template_digest;
  });
  known.formers.push_back(std::move(former));
  if (known.formers.size() > kMaxFormers) {
    known.formers.erase(known.formers.begin());
    known.has_unknown_formers = true;
  }
}

bool HasOtherData(const Knowledge& known, const Knowledge::Former& former,
                  const VersionsOfBegin& begin) {
  return std::ranges::any_of(former.pairs, [&](const auto& pair) {
    return !IsSameFor(pair.first, pair.second, known, begin);
  });
}

void MixPods(Knowledge& known, const Knowledge::Former* former, const VersionsOfBegin& begin) {
  const PairStates had = former == nullptr ? known.pairs : former->pairs;
  for (const auto& [source, state] : had) {
    if (former != nullptr && IsSameFor(source, state, known, begin)) {
      known.pairs[source] = state;
      known.pairs[source].kind = Kind::kConfirmed;
      known.pairs[source].is_ahead_of_record = true;
    } else {
      known.pairs[source] = MixedWith(source, state);
    }
  }
  known.template_since = 0;
  known.template_until = 0;
}

}  // namespace kubexx::reloader
