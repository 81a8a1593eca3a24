/// @file
/// Walks over the members of a JSON object or the elements of an array in a text, without making a
/// tree.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_WALK_H_
#define KUBEXX_CODEC_INTERNAL_JSON_WALK_H_

#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"
#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {

/// Calls `member` with each key, without escapes, and the text of its value. The view of the key is
/// only valid during the call. Returns false if `text` is not one JSON object, if a value nests
/// deeper than `max_depth` (at most kMaxPassedJsonDepth), or if `member` returned false, which ends
/// the walk.
bool ForEachMember(std::string_view text,
                   base::FunctionRef<bool(std::string_view key, std::string_view value)> member,
                   int max_depth = kMaxJsonDepth);

/// Calls `element` with the text of each element of a JSON array. Returns false in the same cases
/// as ForEachMember with kMaxJsonDepth.
bool ForEachElement(std::string_view text, base::FunctionRef<bool(std::string_view value)> element);

/// Reads a JSON string from the text of one value; null is read as "".
bool ReadString(std::string_view value, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_WALK_H_
