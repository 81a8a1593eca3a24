/// @file
/// The functions that give objects their index terms.
#ifndef KUBEXX_CACHE_INDEXER_SET_H_
#define KUBEXX_CACHE_INDEXER_SET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/index_terms.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// Gives an object's index terms, under any names of indexes.
using TermsFunc = std::function<IndexTerms(const Object&)>;
/// Gives the values under which an object is found in one index.
using IndexFunc = std::function<std::vector<std::string>(const Object&)>;
/// Named indexes, as client-go's Indexers. The functions must not keep references or block; they
/// are called on whatever thread brings the object. One that cannot read an object throws, as
/// `DecodeShared<T>(object).value()` does: then nobody knows under which values it belongs.
using Indexers = std::map<std::string, IndexFunc>;

/// The index by namespace, under client-go's name for it.
inline constexpr std::string_view kNamespaceIndex = "namespace";
/// An Indexers with that index only.
Indexers NamespaceIndexer();

/// The same functions, but one that gives no value for an object throws when `decode` cannot read
/// that object.
Indexers Reading(Indexers indexers, UntypedDecoder decode);

/// An immutable set of indexers and the numbers of their names. `version` tells entries that were
/// indexed with an older set. Thread-safe, as names that a TermsFunc makes up get numbers in Encode
/// from the one table that all versions share.
class IndexerSet {
 public:
  static constexpr std::size_t kMaxVersions = 250;
  static constexpr std::size_t kMaxNames = 250;

  static std::shared_ptr<const IndexerSet> Empty();
  /// This set and more. kAlreadyExists names an index that is there already; kInvalid after
  /// kMaxVersions changes.
  apimachinery::Result<std::shared_ptr<const IndexerSet>> With(Indexers indexers) const;
  apimachinery::Result<std::shared_ptr<const IndexerSet>> With(TermsFunc terms) const;

  std::uint8_t version() const { return version_; }
  bool empty() const { return named_.empty() && free_.empty(); }

  /// The terms of an object, encoded. A function that throws gives one of kUnreadIndex, and a value
  /// that is too long is left out; both are logged.
  std::string Encode(const Object& object) const;

  /// Whether there is an index of this name, as opposed to terms that a TermsFunc makes up.
  bool IsNamed(std::string_view index) const { return named_.contains(std::string(index)); }

  /// The number of an index that has or had terms, or was named.
  std::optional<IndexId> Find(std::string_view index) const;

 private:
  class Names;

  apimachinery::Result<std::shared_ptr<IndexerSet>> Next() const;
  void Append(std::string_view index, std::string_view value, const Object& object,
              std::string& out) const;

  std::uint8_t version_ = 0;
  Indexers named_{};
  std::vector<TermsFunc> free_{};
  std::shared_ptr<Names> names_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INDEXER_SET_H_
