#include "kubexx/apiserver/object/cause_list.h"

namespace kubexx::apiserver {

std::string ListOf(std::span<const apimachinery::StatusCause> causes) {
  std::string list;
  for (const apimachinery::StatusCause& cause : causes) {
    list += (list.empty() ? "" : ", ") + cause.field + (cause.field.empty() ? "" : ": ") +
            cause.message;
  }
  return causes.size() > 1 ? "[" + list + "]" : list;
}

}  // namespace kubexx::apiserver
