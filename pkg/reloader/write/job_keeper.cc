#include "kubexx/reloader/write/job_keeper.h"

#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/write/kind_writers.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::Unstructured;

/// Annotation of a keeper: a KeptJob, as JSON.
constexpr char kKeptJob[] = "reloader.kubexx.io/recreated-job";

}  // namespace

Unstructured KeeperFor(const KeptJob& kept) {
  JsonTree memory = JsonTree::Object();
  memory["uid"] = kept.old_uid;
  memory["version"] = kept.old_version;
  memory["token"] = kept.token;
  memory["job"] = kept.body.tree();
  JsonTree keeper = JsonTree::Object();
  keeper["apiVersion"] = "batch/v1";
  keeper["kind"] = "Job";
  JsonTree& metadata = keeper["metadata"];
  metadata["generateName"] = "kubexx-reloader-keeps-";
  metadata["namespace"] = kept.body.Namespace();
  metadata["annotations"][kKeeperOf] = kept.body.Name();
  metadata["annotations"][kKeptJob] = memory.ToJson();
  JsonTree& spec = keeper["spec"];
  spec["suspend"] = true;
  if (const JsonTree* pods = kept.body.Get({"spec", "template", "spec"})) {
    spec["template"]["spec"] = *pods;  // admission accepts it, because it accepted the Job itself
  }
  if (const JsonTree* labels = kept.body.Get({"spec", "template", "metadata", "labels"})) {
    spec["template"]["metadata"]["labels"] = *labels;
    ErasePodLabels(spec["template"]);
  }
  return Unstructured::FromTree(std::move(keeper)).value_or(Unstructured());
}

Result<KeptJob> KeptBy(const Unstructured& keeper) {
  const auto malformed = [&](const char* what) {
    return Fail(apimachinery::Malformed(kKeptJob, what));
  };
  const JsonTree* text = keeper.Get({"metadata", "annotations", kKeptJob});
  if (text == nullptr || text->AsString() == nullptr) {
    return malformed("is missing");
  }
  KX_ASSIGN_OR_RETURN(const JsonTree memory, JsonTree::Parse(*text->AsString()));
  const JsonTree* job = memory.Find("job");
  if (job == nullptr) {
    return malformed("holds no Job");
  }
  KeptJob kept{.old_uid = std::string(memory.TextAt("uid")),
               .old_version = std::string(memory.TextAt("version")),
               .token = std::string(memory.TextAt("token"))};
  KX_ASSIGN_OR_RETURN(kept.body, Unstructured::FromTree(*job));
  // Other clients may write annotations, too, so the keeper must have the right name and namespace.
  const JsonTree* name = keeper.Get({"metadata", "annotations", kKeeperOf});
  if (kept.body.Kind() != "Job" || kept.body.Namespace() != keeper.Namespace() ||
      kept.body.Name().empty() || name == nullptr || name->AsString() == nullptr ||
      *name->AsString() != kept.body.Name()) {
    return malformed("is about another object");
  }
  return kept;
}

}  // namespace kubexx::reloader
