/// @file
/// How much of the memory store's file is waste, and whether its disk has room for a rewrite.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::storage::internal {

/// The store accepts an update that enlarges its value by less than this as long as there is room
/// for a rewrite. Such updates are, for example, those that set deletionTimestamp or a status.
inline constexpr std::size_t kSmallGrowth = 4 << 10;

/// The sizes of the file and its disk at one time, in bytes. A rewrite removes the old file only
/// when the new one is complete, so nothing else may use up the room for the new one.
struct Room {
  std::size_t file = 0;  ///< the file's size
  std::size_t live = 0;  ///< the size of a file with the live keys alone
  /// Free bytes of the disk; std::nullopt when that is unknown.
  std::optional<std::uint64_t> free{};
  std::size_t next = 0;  ///< what a running rewrite has to write in addition to `live`
  bool failing = false;  ///< the last write failed

  /// Whether to rewrite the file: because it is larger than `floor` and mostly waste, or because a
  /// rewrite would free something while the room for a rewrite runs out or writes fail. False when
  /// the new file would not fit on the disk.
  bool WantsRewrite(std::size_t floor) const;

  /// Returns kInternalError unless the disk would still have room for a rewrite with `growth` more
  /// bytes of live data. When `growth` is not 0, the room must also suffice after any number of
  /// updates.
  apimachinery::Result<void> CheckGrowth(std::size_t growth) const;
  /// Returns kInternalError unless there is room to create some more objects. With `was_short` it
  /// demands more room than otherwise, so that the answer does not alternate.
  apimachinery::Result<void> CheckSomeGrowth(bool was_short) const;

 private:
  std::size_t margin() const;
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_ROOM_H_
