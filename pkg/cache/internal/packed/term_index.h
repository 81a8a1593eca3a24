/// @file
/// TermIndex: finds the entries that have an index term.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_TERM_INDEX_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_TERM_INDEX_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kubexx/base/keyed_hash.h"
#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/entry_table.h"

namespace kubexx::cache {

/// Maps encoded terms (see EncodedTerms) to the entries that have them. Each term takes a hash
/// node, and eight to sixteen bytes per entry. Not thread-safe.
class TermIndex {
 public:
  /// Adds `entry` under its terms, and removes `old`, the entry that had the same key, if there was
  /// one.
  void Put(const EntryRef& entry, const Entry* old);
  void Remove(const Entry& entry);

  /// The entries with this term; null when there are none.
  const EntryTable* Find(std::string_view term) const;
  /// The entries that have all of `terms`. Tests each entry of the smallest set against the other
  /// sets.
  std::vector<EntryRef> FindAll(const std::vector<std::string>& terms) const;
  /// Every value of the index `index` that at least one entry has.
  std::vector<std::string> Values(IndexId index) const;

  bool empty() const { return postings_.empty(); }

 private:
  void Drop(std::string_view term, const Entry& entry);

  // The hash has a secret key, because tenants, who could attack the map, choose labels.
  std::unordered_map<std::string, EntryTable, base::KeyedTextHash, std::equal_to<>> postings_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_TERM_INDEX_H_
