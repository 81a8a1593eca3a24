/// @file
/// What `kubectl diff` gives to the program that is to show a difference.
#ifndef KUBEXX_RELOADER_OBSERVE_KUBECTL_DIFF_H_
#define KUBEXX_RELOADER_OBSERVE_KUBECTL_DIFF_H_

#include <set>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

/// `kubectl diff` shows no value of a Secret: it writes stars in their place, and says only of
/// which keys the values differ.
struct MaskedData {
  std::set<std::string> kept{};     ///< keys whose values stay as they are
  std::set<std::string> changed{};  ///< keys that are new, or get another value
  bool empty() const { return kept.empty() && changed.empty(); }
};

/// Reads what the two forms of a Secret say of its masked values. `live`: the Secret as it is;
/// null: there is none. `merged`: as it would be. Values that are not masked are in neither set.
/// Pure.
MaskedData MaskedDataOf(const codec::JsonTree* live, const codec::JsonTree& merged);

/// Puts values in the place of masks: those of `present`, the Secret as the API server has it, for
/// keys that are kept, and others for keys that change. The result is only good for finding out
/// what differs. Pure.
void FillMasked(const MaskedData& masked, const codec::JsonTree& present, codec::JsonTree& merged);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_KUBECTL_DIFF_H_
