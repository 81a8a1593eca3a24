#include "kubexx/cache/testing/chaos.h"

#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"

namespace kubexx::cache::testing {

using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Status;

Status Chaos::AnyError() {
  switch (random_() % 6) {
    case 0:
      return {Reason::kUnavailable, "connection refused"};
    case 1:
      return {Reason::kTooManyRequests, "slow down", 429};
    case 2:
      return {Reason::kExpired, "too old resource version", 410};
    case 3:
      return {Reason::kTimeout, "Too large resource version", 504};
    case 4:
      return {Reason::kForbidden, "not yet", 403};
    default:
      return {Reason::kInternalError, "boom", 500};
  }
}

void Chaos::Step() {
  if (random_() % 4 == 0) {
    base::testing::LetOthersRun();  // so that the steps meet the reflector in all of its states
  }
  const ObjectKey key{"ns" + std::to_string(random_() % 2), "o" + std::to_string(random_() % 30)};
  switch (random_() % 10) {
    case 0:
    case 1:
      source_.Delete(key);
      break;
    case 2:
    case 3:
      Fault();
      break;
    default:
      source_.Put(key, std::to_string(next_++));
      break;
  }
}

void Chaos::Fault() {
  switch (random_() % 10) {
    case 0:
      source_.DropWatches();
      break;
    case 1:
      source_.BreakWatches(AnyError());
      break;
    case 2:
      source_.Compact();
      break;
    case 3:
      source_.Compact();
      source_.BreakWatches({Reason::kUnavailable, "connection reset"});
      break;
    case 4:
      source_.FailLists(AnyError(), static_cast<int>(random_() % 3));
      source_.BreakWatches({Reason::kExpired, "too old resource version", 410});
      break;
    case 5:
      source_.FailWatches(AnyError(), static_cast<int>(random_() % 6));
      source_.DropWatches();
      break;
    case 6:
      source_.BreakNextListAfter(static_cast<int>(random_() % 20), AnyError());
      source_.BreakWatches({Reason::kGone, "gone", 410});
      break;
    case 7:
      backup_ = source_.objects();
      break;
    case 8:
      if (random_() % 4 == 0) {
        // This does what etcd's operators are told to do: the revision is raised and the history is
        // compacted. Without that, a client could not notice a restore when the server has reached
        // the client's version again.
        source_.RestoreBackup(backup_, std::stoull(source_.resource_version()) + 1000);
        break;
      }
      [[fallthrough]];
    default:
      source_.SendBookmark();
      break;
  }
}

}  // namespace kubexx::cache::testing
