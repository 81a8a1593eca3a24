#include "kubexx/reloader/plan/begun_pods.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/key_prints.h"

namespace kubexx::reloader {

PairState BeganWith(const Digest& digest) {
  return {.kind = PairState::Kind::kConfirmed, .digest = digest, .is_ahead_of_record = true};
}

PairState BeganWith(const Move& move) {
  PairState state = BeganWith(move.digest);
  state.prints = move.prints;
  return state;
}

PairState BeganWithUnknown(std::string keys) {
  PairState state = BeganWith(UnknownData());
  state.keys = std::move(keys);
  return state;
}

bool IsOverKeys(const PairStates& pairs, const SourceId& source) {
  const auto state = pairs.find(source);
  return state != pairs.end() && state->second.kind == PairState::Kind::kConfirmed &&
         !state->second.keys.empty();
}

bool HasMovedOnceTo(const Knowledge& known, const SourceId& source, const Digest& digest) {
  const auto found = known.moves.find(source);
  const auto state = known.pairs.find(source);
  if (found == known.moves.end() || found->second.empty()) {
    return false;
  }
  const std::vector<Move>& moves = found->second;
  if (moves.size() == 1) {
    return moves.front().digest == digest;
  }
  const bool may_have_had = moves.size() >= kMaxMoves || state == known.pairs.end() ||
                            !state->second.keys.empty() || state->second.digest == digest;
  return !may_have_had && moves.back().digest == digest &&
         std::ranges::count(moves, digest, &Move::digest) == 1;
}

bool IsMoveUnder(std::string_view keys, const Move& move) {
  return keys.empty() || !AreSameUnder(keys, move.prints_before, move.prints);
}

void BeginPods(Knowledge& known, std::uint64_t since, std::uint64_t until) {
  known.mixed.clear();
  known.template_since = since;
  known.template_until = until;
  std::erase_if(known.unseen_writes, [&](const auto& each) { return each.second.to < since; });
  for (const auto& [source, moves] : known.moves) {
    const auto earlier = std::ranges::find_if(
        moves.rbegin(), moves.rend(), [&](const Move& move) { return move.version < since; });
    if (earlier != moves.rend()) {
      known.pairs[source] = BeganWith(*earlier);
    }
  }
}

bool IsDuringBegin(const Knowledge& known, const Move& move) {
  return move.version >= known.template_since && move.version < known.template_until;
}

bool IsRecordYounger(const Knowledge& known, std::uint64_t since, std::uint64_t until) {
  const bool is_later = until != 0 && known.record_since > until;
  return is_later || (since != 0 && since < until && known.record_since == 0 &&
                      known.record_at > since && known.record_at <= until);
}

void DoubtLateMove(Knowledge& known, const SourceId& source, const Move& move) {
  const auto found = known.pairs.find(source);
  // Of a class every pod tells for itself.
  if (found == known.pairs.end() || source.type == SourceType::kSecretProviderClass ||
      found->second.kind != PairState::Kind::kConfirmed || !IsDuringBegin(known, move) ||
      !IsMoveUnder(found->second.keys, move) ||
      (!known.stamps_of_others.empty() && HasMovedOnceTo(known, source, move.digest))) {
    return;
  }
  found->second = BeganWithUnknown(std::move(found->second.keys));
  found->second.is_ahead_of_record =
      !IsRecordYounger(known, known.template_since, known.template_until);
}

PairState MayHaveAny(std::string keys) {
  return {.kind = PairState::Kind::kObserved, .digest = UnknownData(), .keys = std::move(keys)};
}

bool MayHaveBegunUnseen(const Knowledge& known, const SourceId& source) {
  const auto found = known.unseen_writes.find(source);
  return found != known.unseen_writes.end() && known.template_since != 0 &&
         known.template_since < found->second.to && known.template_until > found->second.from;
}

bool MixLeftDue(Knowledge& known) {
  bool is_news = false;
  for (const auto& [source, digest] : known.left_due) {
    const auto state = known.pairs.find(source);
    // Of a class every pod tells for itself. Without its source no pod begins.
    const bool is_same = state != known.pairs.end() && state->second.digest == digest;
    if (!is_same && digest != kNoSource && source.type != SourceType::kSecretProviderClass) {
      is_news = known.mixed.insert(source).second || is_news;
    }
  }
  return is_news;
}

void BeginAllAnew(Knowledge& known) {
  known.mixed.clear();
  for (auto& [source, state] : known.pairs) {
    state.taken_at = 0;
  }
}

}  // namespace kubexx::reloader
