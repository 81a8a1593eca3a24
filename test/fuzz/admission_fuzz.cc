// Any bytes as an admission request, and any two documents as what a handler changed.

#include <string>

#include "fuzz.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/webhook/internal/review.h"
#include "kubexx/webhook/json_patch.h"

namespace kubexx {

namespace {

webhook::Response Change(webhook::Review<api::core::v1::Pod>& review) {
  review.object.metadata.labels["fuzzed"] = "yes";
  review.object.spec.containers.emplace_back().name = "more";
  return webhook::Response::Allowed();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  if (input.TakeByte() % 2 == 0) {
    http::Request request{.path = "/", .method = "POST"};
    request.body = input.rest();
    request.headers = {{"Content-Type", "application/json"}};
    const auto response = webhook::internal::Respond(request, [](const webhook::Call& call) {
      return webhook::internal::Admit<api::core::v1::Pod>(call, Change);
    });
    fuzz::Require(response.status == 200 || response.status == 400);
    return 0;
  }
  const std::size_t half = input.rest().size() / 2;
  const std::string_view before = input.rest().substr(0, half);
  const std::string_view after = input.rest().substr(half);
  const auto same = webhook::MakeJsonPatch(before, before);
  fuzz::Require(!same || same->empty());
  (void)webhook::MakeJsonPatch(before, after);
  return 0;
}

}  // namespace kubexx
