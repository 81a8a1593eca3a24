/// @file
/// Finds the entries that a Selection selects, without unpacking any.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_SELECT_ENTRIES_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_SELECT_ENTRIES_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/selection.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

/// The entries that a store has for a Selection.
struct SelectedEntries {
  /// The selected entries, and the entries whose labels can be found only by decoding the object.
  std::vector<EntryRef> matching{};
  /// Entries that the function of an index could not read. An entry of these that can be decoded is
  /// not selected; one that cannot be decoded might be.
  std::vector<EntryRef> unread{};
};

/// Finds the entries. `labels_indexed` tells whether the store has kLabelIndex and every entry is
/// in it. If not, `matching` contains the entries with any labels. Returns kBadRequest, which names
/// the field, when the store has no index of a field in the selection. Thread-safe.
apimachinery::Result<SelectedEntries> SelectEntries(const PackedStore& store,
                                                    const apimachinery::Selection& selection,
                                                    bool labels_indexed);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_SELECT_ENTRIES_H_
