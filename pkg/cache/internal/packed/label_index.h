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

/// The name of the index of labels. It is no valid name of a field, so that it clashes with no
/// index of a user.
inline constexpr std::string_view kLabelIndex = "kubexx/labels";

/// Indexers that contain only kLabelIndex. For an object whose labels cannot be read the function
/// throws, so that its entry has a term of kUnreadIndex.
Indexers LabelIndexer();

/// The value in kLabelIndex of the objects with this label.
std::string LabelTerm(std::string_view key, std::string_view value);

/// The value of the label `key` in an entry's terms, where `index` is the number of kLabelIndex;
/// std::nullopt when the entry has no such label. Valid as long as the entry.
std::optional<std::string_view> LabelIn(const EncodedTerms& terms, IndexId index,
                                        std::string_view key);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_LABEL_INDEX_H_
