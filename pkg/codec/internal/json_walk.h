/// @file
/// Goes through the members of a JSON object in text, without a tree.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_WALK_H_
#define KUBEXX_CODEC_INTERNAL_JSON_WALK_H_

#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"
#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {

/// Calls `member` with each key (unescaped; the view is valid during the call) and the text of its
/// value. False when `text` is not one JSON object, when a value nests deeper than `max_depth` (at
/// most kMaxPassedJsonDepth), or when `member` returned false, which ends the walk.
bool ForEachMember(std::string_view text,
                   base::FunctionRef<bool(std::string_view key, std::string_view value)> member,
                   int max_depth = kMaxJsonDepth);

/// Calls `element` with the text of each element of a JSON array. False as ForEachMember, with
/// kMaxJsonDepth.
bool ForEachElement(std::string_view text, base::FunctionRef<bool(std::string_view value)> element);

/// Reads a JSON string or null (which gives "") from the text of one value.
bool ReadString(std::string_view value, std::string& out);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_WALK_H_
