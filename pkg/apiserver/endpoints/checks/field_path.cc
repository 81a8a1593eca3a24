#include "kubexx/apiserver/endpoints/checks/field_path.h"

namespace kubexx::apiserver {

std::string FieldPath::Text() const {
  std::string text = above_ == nullptr ? std::string() : above_->Text();
  if (is_element_) {
    return text.append("[").append(std::to_string(index_)).append("]");
  }
  if (!text.empty() && !name_.empty()) {
    text += '.';
  }
  return text.append(name_);
}

}  // namespace kubexx::apiserver
