/// @file
/// Indexers: the functions that compute the index terms of objects.
#ifndef KUBEXX_CACHE_INDEXER_SET_H_
#define KUBEXX_CACHE_INDEXER_SET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/index_terms.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// Returns an object's index terms, for indexes of any names.
using TermsFunc = std::function<IndexTerms(const Object&)>;
/// Returns the values under which an object is found in one index.
using IndexFunc = std::function<std::vector<std::string>(const Object&)>;
/// Named indexes, as client-go's Indexers. The functions must not keep references or block; they
/// are called on the threads that bring and store objects and add indexes, several at once, and so
/// must be thread-safe. A function that cannot read an object throws,
/// as `DecodeShared<T>(object).value()` does; the store then knows that the index lacks the object,
/// and a query fails if the object cannot be decoded. An object that can be decoded although the
/// function threw counts as one without a value, because the fault is the function's; that is only
/// logged. The same goes for an object with a value of more than 65,534 bytes.
using Indexers = std::map<std::string, IndexFunc>;

/// The name of the index by namespace; client-go's is the same.
inline constexpr std::string_view kNamespaceIndex = "namespace";
/// Indexers that contain only kNamespaceIndex.
Indexers NamespaceIndexer();

/// Returns the same functions with one change: when a function returns no value for an object, and
/// `decode` cannot decode that object, the function throws.
Indexers Reading(Indexers indexers, UntypedDecoder decode);

/// Indexers of functions that take a T, for an informer of T. An informer that stores another type
/// cannot use them: an informer of metadata, for example, stores no other fields that such a
/// function could read.
template <class T>
struct FieldIndex {
  Indexers indexers{};
};

/// Returns an index for AddIndexers of an informer of T, by which an apimachinery::Selection can
/// select `field`. `values` returns the values of an object; it must be thread-safe and must not
/// block. `field` is any name, usually the path of the field. For MetadataInformerFor<T>, T is
/// PartialObjectMetadata here. As controller-runtime's FieldIndexer.IndexField.
///
///     auto added = manager.InformerFor<Pod>()->AddIndexers(cache::IndexField<Pod>(
///         "spec.nodeName", [](const Pod& pod) { return std::vector{pod.spec.node_name}; }));
///     ...
///     auto pods = context.client.List<Pod>(
///         {.fields = apimachinery::FieldSelector::FromMap({{"spec.nodeName", node}})});
template <class T>
FieldIndex<T> IndexField(std::string field,
                         std::function<std::vector<std::string>(const T&)> values) {
  FieldIndex<T> index;
  index.indexers.emplace(std::move(field), [values = std::move(values)](const Object& object) {
    return values(*DecodeShared<T>(object).value());
  });
  return index;
}

/// Like the other IndexField, for the value of one text, which is read without decoding the object.
/// `path` is that of codec::Fields. An object without a value, or with an empty one, is not in the
/// index.
///
///     informer->AddIndexers(cache::IndexField<Pod>("spec.nodeName", &Pod::spec,
///                                                  &PodSpec::node_name));
template <class T, class M, class... Members>
FieldIndex<T> IndexField(std::string field, M T::* first, Members... rest) {
  FieldIndex<T> index;
  index.indexers.emplace(std::move(field), [first, rest...](const Object& object) {
    const auto fields = FieldsOf<T>(object).value();
    const std::string_view value = fields.Text(first, rest...).value();
    return value.empty() ? std::vector<std::string>() : std::vector{std::string(value)};
  });
  return index;
}

/// An immutable set of indexers and the numbers of their names. `version` shows which entries were
/// indexed with an older set. Thread-safe. All versions share one table of names, because Encode
/// gives numbers to new names that a TermsFunc returns. The table records the version in which each
/// name was added, so that an older set does not find the names of newer functions.
class IndexerSet {
 public:
  static constexpr std::size_t kMaxVersions = 250;
  static constexpr std::size_t kMaxNames = 250;

  static std::shared_ptr<const IndexerSet> Empty();
  /// Returns this set extended by new indexers. kAlreadyExists names an index that exists already;
  /// kInvalid after kMaxVersions changes.
  apimachinery::Result<std::shared_ptr<const IndexerSet>> With(Indexers indexers) const;
  apimachinery::Result<std::shared_ptr<const IndexerSet>> With(TermsFunc terms) const;

  std::uint8_t version() const { return version_; }
  bool empty() const { return named_.empty() && free_.empty(); }

  /// Returns the encoded terms of an object. When a function throws, the object gets a term of
  /// kUnreadIndex; a value that is too long is left out. Both are logged, at most five lines a
  /// minute each.
  std::string Encode(const Object& object) const;

  /// Whether an IndexFunc has this name. False for names that only a TermsFunc returns.
  bool IsNamed(std::string_view index) const { return named_.contains(std::string(index)); }

  /// The number of the index of that name, when this set has an IndexFunc of the name or one of its
  /// functions has returned terms with the name; otherwise std::nullopt.
  std::optional<IndexId> Find(std::string_view index) const;

 private:
  class Names;
  /// A function, and the number of its name.
  struct Named {
    IndexFunc values{};
    IndexId id = 0;
  };
  /// A function, and the version in which it was added.
  struct Free {
    std::uint8_t version = 0;
    TermsFunc terms{};
  };

  apimachinery::Result<std::shared_ptr<IndexerSet>> Next() const;
  /// `version` is the set's version that added the function which returned the value.
  void AppendFree(std::string_view index, std::string_view value, std::uint8_t version,
                  const Object& object, std::string& out) const;
  void Append(IndexId id, std::string_view index, std::string_view value, const Object& object,
              std::string& out) const;

  std::uint8_t version_ = 0;
  std::map<std::string, Named> named_{};
  std::vector<Free> free_{};
  std::shared_ptr<Names> names_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INDEXER_SET_H_
