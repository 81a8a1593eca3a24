#include "kubexx/apiserver/storage/internal/room.h"

#include <string>

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The file is rewritten when it is this many times as large as its live keys. Then each byte that
// is written costs a third of a byte in rewrites.
constexpr std::size_t kMaxWaste = 4;
// When the disk is nearly full, a rewrite has to save an eighth of the live data, and at least this
// much.
constexpr std::size_t kLeastWon = 64 << 10;
// There is room only if the file can grow by this much.
constexpr std::size_t kSomeGrowth = 16 << 10;
// Changes that come while the file is rewritten are written to both files.
constexpr std::size_t kLeastMargin = 256 << 10;

std::string Kib(std::uint64_t bytes) { return std::to_string(bytes >> 10U) + " KiB"; }

}  // namespace

std::size_t Room::margin() const { return live / 4 + kLeastMargin; }

bool Room::WantsRewrite(std::size_t floor) const {
  if (free && *free < live) {
    return false;
  }
  if (file > floor && file > kMaxWaste * live) {
    return true;
  }
  const bool low = failing || (free && *free < live + margin());
  return low && file >= live + live / 8 + kLeastWon;
}

Result<void> Room::CheckGrowth(std::size_t growth) const {
  if (!free) {
    return {};
  }
  const std::size_t need = live + growth;
  // Otherwise writers that are faster than the rewriting thread would take its space.
  const std::size_t kept = need + next + margin() / 4;
  if (*free >= kept && (growth == 0 || *free + file >= 2 * need + margin())) {
    return {};
  }
  return Fail(Reason::kInternalError,
              "nothing was changed, as the disk of the store's file has too little room to write "
              "the file anew: " +
                  Kib(*free) + " are free beside a file of " + Kib(file) + " whose objects take " +
                  Kib(need) + "; delete objects or make room, and try again",
              500);
}

Result<void> Room::CheckSomeGrowth(bool was_short) const {
  return CheckGrowth(was_short ? 4 * kSomeGrowth : kSomeGrowth);
}

}  // namespace kubexx::apiserver::storage::internal
