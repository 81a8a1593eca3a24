#include "oracle/pod_template.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::oracle {
namespace {

using codec::JsonTree;

/// What operators write into a template.
constexpr std::string_view kVariables = "STAKATER_";
constexpr std::array<std::string_view, 2> kAnnotations = {
    "reloader.stakater.com/last-reloaded-from", "reloader.kubexx.io/restarted-for"};

void TakeVariablesAway(JsonTree& container) {
  JsonTree kept = JsonTree::Array();
  if (const JsonTree* const env = container.Find("env")) {
    for (const JsonTree& each : env->elements()) {
      if (!each.TextAt("name").starts_with(kVariables)) {
        kept.Append(each);
      }
    }
  }
  container["env"] = std::move(kept);
}

}  // namespace

std::string TextOf(const JsonTree* tree) { return tree == nullptr ? "" : tree->ToJson(); }

std::string DataOf(const JsonTree& source) {
  return TextOf(source.Find("data")) + TextOf(source.Find("binaryData"));
}

std::string OthersPartOf(JsonTree pod_template) {
  if (JsonTree* const containers =
          pod_template.At(std::array<std::string_view, 2>{"spec", "containers"})) {
    for (JsonTree& container : containers->elements()) {
      TakeVariablesAway(container);
    }
  }
  if (JsonTree* const metadata = pod_template.Find("metadata")) {
    JsonTree& annotations = (*metadata)["annotations"];
    for (const std::string_view key : kAnnotations) {
      annotations.Erase(key);
    }
    if (annotations.size() == 0) {
      metadata->Erase("annotations");
    }
  }
  return pod_template.ToJson();
}

std::vector<std::string> SourcesOf(const JsonTree& pod_template, const std::string& space) {
  std::vector<std::string> sources;
  const JsonTree* const containers = pod_template.At({"spec", "containers"});
  if (containers == nullptr) {
    return sources;
  }
  for (const JsonTree& container : containers->elements()) {
    const JsonTree* const from = container.Find("envFrom");
    for (const JsonTree& each : from == nullptr ? std::span<const JsonTree>() : from->elements()) {
      const JsonTree* const config = each.Find("configMapRef");
      const JsonTree* const secret = each.Find("secretRef");
      if (config != nullptr) {
        sources.push_back("configmaps/" + space + "/" + std::string(config->TextAt("name")));
      } else if (secret != nullptr) {
        sources.push_back("secrets/" + space + "/" + std::string(secret->TextAt("name")));
      }
    }
  }
  return sources;
}

bool IsRecorded(const std::string& baseline, const std::string& source, const std::string& data) {
  const std::size_t begin = source.find('/') + 1;
  const std::size_t end = source.find('/', begin);
  const std::string space = source.substr(begin, end - begin);
  const auto parsed = reloader::Baseline::Parse(baseline, space);
  if (!parsed) {
    return false;
  }
  const bool is_secret = source.starts_with("secrets/");
  const auto found = parsed->digests.find(
      {is_secret ? reloader::SourceType::kSecret : reloader::SourceType::kConfigMap,
       {space, source.substr(end + 1)}});
  const auto tree = JsonTree::Parse(data);
  if (found == parsed->digests.end() || !tree) {
    return false;
  }
  std::string value(tree->TextAt("key"));
  if (is_secret) {
    const std::string encoded = std::exchange(value, {});
    codec::DecodeBase64(encoded, value);
  }
  reloader::DigestBuilder digest;
  digest.Add("key", value);
  return found->second == digest.Finish();
}

}  // namespace kubexx::oracle
