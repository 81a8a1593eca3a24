#include "kubexx/reloader/write/job_content.h"

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/digest.h"

namespace kubexx::reloader {

std::string JobContentOf(const dynamic::Unstructured& job) {
  codec::JsonTree tree = job.tree();
  tree.Erase("status");
  tree["metadata"].Erase("resourceVersion");
  tree["metadata"].Erase("managedFields");  // in these, the status has its own writer and time
  return DigestOf(tree.ToJson()).ToString();
}

}  // namespace kubexx::reloader
