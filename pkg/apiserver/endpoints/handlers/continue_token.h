/// @file
/// The token that says where the next page of a list begins, in kube-apiserver's form.
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The parameter continue. It contains a revision and a key, so the server need not remember it. It
/// is valid as long as the storage's history reaches back to the revision.
struct ContinueToken {
  /// The revision of the first page. -1 continues in the present state, for use when that revision
  /// has been compacted.
  std::int64_t revision = 0;
  /// The last key of the page before, without the prefix of the list.
  std::string key{};

  std::string Encode() const;
  /// Returns kBadRequest, in kube-apiserver's words, for an invalid token.
  static apimachinery::Result<ContinueToken> Decode(std::string_view text);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_
