#include "kubexx/apiserver/controllers/claims.h"

#include <algorithm>

#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::controllers {

WorkloadSelector::WorkloadSelector(const api::meta::v1::LabelSelector* selector) {
  if (selector != nullptr) {
    if (const auto tree = codec::JsonTree::Parse(codec::EncodeJson(*selector))) {
      requirements_ = RequirementsOf(*tree);
    }
  }
}

bool WorkloadSelector::Matches(const apimachinery::LabelMap& labels) const {
  return requirements_ && std::ranges::all_of(*requirements_, [&labels](const auto& one) {
           return one.Matches(labels);
         });
}

}  // namespace kubexx::apiserver::controllers
