/// @file
/// How much of the memory store's file is waste, and whether its disk has room to write it anew.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::storage::internal {

/// An update that adds less than this to its value is taken as long as there is room for a rewrite:
/// so are marks of deletion, and states of what is there already.
inline constexpr std::size_t kSmallGrowth = 4 << 10;

/// The file and its disk at one time, in bytes. The old file can go only when the new one is whole,
/// so the room for that one must never be used up by anything else.
struct Room {
  std::size_t file = 0;                 ///< the file's size
  std::size_t live = 0;                 ///< what a file with the live keys alone takes
  std::optional<std::uint64_t> free{};  ///< of the disk; nothing when that is not known
  std::size_t next = 0;                 ///< what a rewrite that goes on writes beyond `live`
  bool failing = false;                 ///< the last write was refused

  /// Whether to rewrite: the file is larger than `floor` and mostly waste, or there is waste to be
  /// won and the room for a rewrite runs out, or writes fail. Not when the new file cannot fit.
  bool WantsRewrite(std::size_t floor) const;

  /// Whether the disk would still have room for a rewrite with `growth` more bytes of live data;
  /// when they are not 0, also after any number of updates. Otherwise kInternalError.
  apimachinery::Result<void> CheckGrowth(std::size_t growth) const;
  /// Whether some more can be created; otherwise kInternalError. What `was_short` needs a little
  /// more to be so no longer.
  apimachinery::Result<void> CheckSomeGrowth(bool was_short) const;

 private:
  std::size_t margin() const;
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_
