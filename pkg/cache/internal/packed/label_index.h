/// @file
/// The index of labels, by which a list with a label selector finds its objects without unpacking
/// the others.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_LABEL_INDEX_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_LABEL_INDEX_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/cache/index_terms.h"
#include "kubexx/cache/indexer_set.h"

namespace kubexx::cache {

/// The name of the index of labels. It is not a valid name of a field, so it cannot be the name of
/// a user's index.
inline constexpr std::string_view kLabelIndex = "kubexx/labels";

/// Indexers that contain only kLabelIndex. When an object's labels cannot be read, the function
/// throws, so that the object's entry gets a term of kUnreadIndex.
Indexers LabelIndexer();

/// The value that the objects with this label have in kLabelIndex.
std::string LabelTerm(std::string_view key, std::string_view value);

/// The value of the label `key` in an entry's terms, where `index` is the number of kLabelIndex.
/// std::nullopt when the entry has no such label. The view is valid as long as the entry is.
std::optional<std::string_view> LabelIn(const EncodedTerms& terms, IndexId index,
                                        std::string_view key);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_LABEL_INDEX_H_
