#include "ledger.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::simulation {
namespace {

constexpr const char* kName = "ledger";
constexpr const char* kCount = "count";
/// So often a clerk begins anew, when others are faster or the server has no answer.
constexpr int kMostTries = 200;

int NumberIn(const codec::JsonTree& object) {
  const codec::JsonTree* const annotations = object.At({"metadata", "annotations"});
  return annotations == nullptr ? 0 : std::atoi(std::string(annotations->TextAt(kCount)).c_str());
}

}  // namespace

Ledger::Ledger(std::vector<std::shared_ptr<rest::RESTClient>> clerks, const std::string& space)
    : clerks_(std::move(clerks)), path_("/api/v1/namespaces/" + space + "/serviceaccounts") {}

std::optional<std::string> Ledger::Read(rest::RESTClient& client) const {
  for (int i = 0; i < kMostTries; ++i) {
    if (const auto answer = client.Get().AbsPath(path_ + "/" + kName).Do({})) {
      return std::string(answer->body);
    }
    rest::Request request = client.Verb("POST");
    request.AbsPath(path_);
    request.Body(codec::Encoding::kJson,
                 R"({"metadata":{"name":")" + std::string(kName) + R"("}})");
    if (!request.Do({})) {
      base::Clock::Real().SleepFor(std::chrono::milliseconds(100), {});
    }
  }
  return std::nullopt;
}

void Ledger::Work(rest::RESTClient& client, int times, Tally& tally) const {
  for (int tries = 0; tally.taken < times && tries < kMostTries; ++tries) {
    const auto text = Read(client);
    auto object = text ? codec::JsonTree::Parse(*text)
                       : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
    if (!text || !object) {
      ++tally.uncertain;
      return;
    }
    (*object)["metadata"]["annotations"][kCount] = std::to_string(NumberIn(*object) + 1);
    rest::Request request = client.Verb("PUT");
    request.AbsPath(path_ + "/" + kName);
    request.Body(codec::Encoding::kJson, object->ToJson());
    const auto answer = request.Do({});
    const int code = answer ? answer->code : answer.error().code;
    tally.taken += answer ? 1 : 0;
    tally.uncertain += !answer && code != 409 ? 1 : 0;
  }
}

std::optional<std::string> Ledger::CountUp(int times) {
  const auto number = [this]() -> std::optional<int> {
    const auto text = Read(*clerks_.front());
    const auto object = text ? codec::JsonTree::Parse(*text)
                             : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
    return text && object ? std::optional(NumberIn(*object)) : std::nullopt;
  };
  const auto before = number();
  std::vector<Tally> tallies(clerks_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clerks_.size(); ++i) {
      threads.emplace_back([&, i] { Work(*clerks_[i], times, tallies[i]); });
    }
  }
  const auto after = number();
  int taken = 0;
  int uncertain = 0;
  for (const Tally& tally : tallies) {
    taken += tally.taken;
    uncertain += tally.uncertain;
  }
  if (!before || !after) {
    return "the ledger cannot be read";
  }
  const int more = *after - *before;
  if (more < taken || more > taken + uncertain) {
    return "the server says that it has taken " + std::to_string(taken) +
           " writes that count a number up, and it was counted up by " + std::to_string(more);
  }
  return std::nullopt;
}

}  // namespace kubexx::simulation
