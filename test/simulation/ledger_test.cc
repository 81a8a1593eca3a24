#include "ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/rest/rest_client.h"
#include "network.h"
#include "scheduler.h"
#include "server.h"
#include "slow_storage.h"

namespace kubexx::simulation {
namespace {

using apiserver::storage::Revision;
using apiserver::storage::Swap;
using ::testing::HasSubstr;

/// Takes each write, whatever version it was made for.
class CarelessStorage final : public SlowStorage {
 public:
  explicit CarelessStorage(apiserver::storage::Storage& storage)
      : SlowStorage(storage, oracle::Random(1)) {}

  apimachinery::Result<Swap> CompareAndSwap(std::string_view key, Revision /*expected*/,
                                            std::string value, std::stop_token stop) override {
    const auto now = Get(key, 0, stop);
    return SlowStorage::CompareAndSwap(key, now ? now->mod_revision : 0, std::move(value),
                                       std::move(stop));
  }
};

/// What two clerks say who count up, each ten times, on a server over a storage that takes its time
/// and hands on to what `beneath` makes of one in memory.
std::optional<std::string> CountUpOn(
    const std::function<std::unique_ptr<SlowStorage>(apiserver::storage::Storage&)>& beneath) {
  constexpr int kTimes = 10;
  std::optional<std::string> wrong;
  Scheduler scheduler({.seed = 3});
  scheduler.Run([&] {
    const auto memory = *apiserver::storage::NewMemoryStorage({});
    const auto storage = beneath(*memory);
    SlowStorage slow(*storage, oracle::Random(2));
    slow.SetRate(1000);
    Network network(oracle::Random(3), [](const std::string&, const rest::HttpRequest&) {});
    const auto server = std::make_shared<Server>(slow, apiserver::ApiOptions{}, Server::Observer{});
    network.SetServer(server);
    const std::shared_ptr<rest::RESTClient> client =
        *rest::RESTClient::New({.host = "http://simulation",
                                .qps = -1,
                                .round_tripper = network.ConnectionsOf("clerk", false)});
    wrong = Ledger({client, client}, "default").CountUp(kTimes);
    network.SetServer(nullptr);
    server->Kill();
  });
  return wrong;
}

TEST(LedgerTest, NothingIsWrongWithAStorageThatTakesItsTime) {
  EXPECT_EQ(CountUpOn([](apiserver::storage::Storage& storage) {
              return std::make_unique<SlowStorage>(storage, oracle::Random(1));
            }),
            std::nullopt);
}

TEST(LedgerTest, AWriteOnTopOfAnOlderVersionIsFound) {
  EXPECT_THAT(CountUpOn([](apiserver::storage::Storage& storage) {
                return std::make_unique<CarelessStorage>(storage);
              }).value_or(""),
              HasSubstr("taken 20 writes"));
}

}  // namespace
}  // namespace kubexx::simulation
