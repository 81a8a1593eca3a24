/// @file
/// Where a page of a list begins, in kube-apiserver's form.
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The parameter continue. It names a state and a key, and costs the server nothing to be known:
/// the state is there for as long as the storage's history reaches back to it.
struct ContinueToken {
  /// Of the first page. -1 goes on in the present state, when that one is not known any more.
  std::int64_t revision = 0;
  /// The last key of the page before, without the prefix of the list.
  std::string key{};

  std::string Encode() const;
  /// kBadRequest with kube-apiserver's words.
  static apimachinery::Result<ContinueToken> Decode(std::string_view text);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_CONTINUE_TOKEN_H_
