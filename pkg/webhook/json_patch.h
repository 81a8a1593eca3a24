/// @file
/// Makes a JSON patch from the difference between two JSON documents.
#ifndef KUBEXX_WEBHOOK_JSON_PATCH_H_
#define KUBEXX_WEBHOOK_JSON_PATCH_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::webhook {

/// Returns a JSON patch (RFC 6902) that makes the changes from `before` to `after` in `original`,
/// or "" if there are none. `before` is `original` as a program understands it, that is, without
/// the members that the program does not know; the patch leaves these alone. Members of objects,
/// and elements of lists, are added, replaced and removed one by one. An element of `after` counts
/// as a changed element of `before` if it has the same "name" or, without names, if at least half
/// of its members are the same. Otherwise it is a new element and is written as a whole, so that
/// unknown members of one element do not get into another. An element that changes its place is
/// moved, and keeps its unknown members, if it stays the same or if no other element of the list
/// has its "name". Otherwise it is a new element, too.
///
/// The function takes at most a time in proportion to the sizes of the documents, and some tens of
/// milliseconds more; those sizes limit the size of the patch, too. Documents that would take
/// longer have long lists of elements without names, or are deep and wide. In these, elements are
/// not compared by half of their members, and deep values are replaced as a whole. The result then
/// has the same known members, but loses the unknown ones in what was replaced. Returns kMalformed
/// if one of the documents is not JSON.
apimachinery::Result<std::string> MakeJsonPatch(std::string_view original, std::string_view before,
                                                std::string_view after);

/// Returns the patch from one document to another.
inline apimachinery::Result<std::string> MakeJsonPatch(std::string_view before,
                                                       std::string_view after) {
  return MakeJsonPatch(before, before, after);
}

}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_JSON_PATCH_H_
