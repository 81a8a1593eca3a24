/// @file
/// The difference of two JSON documents as a patch.
#ifndef KUBEXX_WEBHOOK_JSON_PATCH_H_
#define KUBEXX_WEBHOOK_JSON_PATCH_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::webhook {

/// A JSON patch (RFC 6902) that does to `original` what makes `after` of `before`; "" when the two
/// are the same. `before` is `original` as a program understands it, that is, without the fields
/// that the program does not know: those are left alone. Members are added, replaced and removed
/// one by one. So are elements of a list. An element of `after` counts as a changed one of `before`
/// when it has the same "name" or, without names, when at least half of its members are the same;
/// otherwise it is another thing and is written as a whole, so that what the program does not know
/// of one element does not get into another. An element that changes places is moved, and keeps
/// what the program does not know of it, when it stays the same or when no other element of the
/// list has its "name"; otherwise it counts as another thing, too.
///
/// The time and the patch's size are bounded by the sizes of the documents and some tens of
/// milliseconds. When documents would take more, because they have long lists of things without
/// names or are deep and wide, elements are no longer found by half of their members, and what is
/// deep is replaced as a whole; the patch makes the same document then, but for fields in there
/// that the program does not know. kMalformed when one of the documents is no JSON.
apimachinery::Result<std::string> MakeJsonPatch(std::string_view original, std::string_view before,
                                                std::string_view after);

/// The patch from one document to another.
inline apimachinery::Result<std::string> MakeJsonPatch(std::string_view before,
                                                       std::string_view after) {
  return MakeJsonPatch(before, before, after);
}

}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_JSON_PATCH_H_
