#include "mini_api.h"

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::network_test {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::FakeServer;

constexpr std::uint64_t kNames = 30;
constexpr std::chrono::milliseconds kBookmarkEvery(50);

std::string ObjectJson(const std::string& name, const std::string& version) {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"ns","name":")" + name +
         R"(","resourceVersion":")" + version + R"("}})";
}

// The value of a query's parameter, 0 when it is not there.
std::uint64_t NumberOf(const std::string& target, const std::string& parameter) {
  const std::size_t at = target.find(parameter + "=");
  return at == std::string::npos
             ? 0
             : std::strtoull(target.c_str() + at + parameter.size() + 1, nullptr, 10);
}

bool PeerIsGone(const FakeConnection& connection) {
  pollfd peer{.fd = connection.fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&peer, 1, 0) > 0;
}

}  // namespace

FakeServer::Script MiniApi::Script() {
  return [this](FakeConnection& connection) { Serve(connection); };
}

void MiniApi::Change(std::uint64_t choice) {
  const base::MutexLock lock(mu_);
  const std::string name = "o-" + std::to_string(choice % kNames);
  const std::string version = std::to_string(history_.size() + 1);
  const bool there = objects_.contains(name);
  const bool removed = there && choice / kNames % 4 == 0;
  history_.push_back({.type = removed ? "DELETED" : there ? "MODIFIED" : "ADDED", .name = name});
  if (removed) {
    objects_.erase(name);
  } else {
    objects_[name] = version;
  }
  changed_.notify_all();
}

std::uint64_t MiniApi::version() const {
  const base::MutexLock lock(mu_);
  return history_.size();
}

std::map<std::string, std::string> MiniApi::objects() const {
  const base::MutexLock lock(mu_);
  return objects_;
}

std::map<std::string, int> MiniApi::requests() const {
  const base::MutexLock lock(mu_);
  return requests_;
}

std::vector<std::string> MiniApi::sent_twice() const {
  const base::MutexLock lock(mu_);
  std::vector<std::string> out;
  for (const auto& [write, times] : writes_) {
    if (times > 1) {
      out.push_back(write + " (" + std::to_string(times) + ")");
    }
  }
  return out;
}

void MiniApi::Serve(FakeConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    {
      const base::MutexLock lock(mu_);
      ++requests_[request->method];
      if (request->method != "GET") {
        const std::string path = request->target.substr(0, request->target.find('?'));
        ++writes_[request->method + path.substr(path.rfind('/'))];
      }
    }
    if (!Answer(connection, *request)) {
      return;
    }
  }
}

bool MiniApi::Answer(FakeConnection& connection, const FakeRequest& request) {
  if (request.method == "GET" && request.target.find("watch=true") != std::string::npos) {
    return Watch(connection, request.target);
  }
  if (request.method == "GET" && request.target.starts_with("/api/v1/configmaps")) {
    return List(connection);
  }
  return connection.Respond(200, "application/json", request.method + " " + request.target);
}

bool MiniApi::List(FakeConnection& connection) const {
  std::string items;
  std::string version;
  {
    const base::MutexLock lock(mu_);
    version = std::to_string(history_.size());
    for (const auto& [name, of_object] : objects_) {
      items += (items.empty() ? "" : ",") + ObjectJson(name, of_object);
    }
  }
  connection.RespondChunked(200, "application/json");
  connection.WriteChunk(
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
      R"("},"items":[)");
  if (!items.empty()) {
    connection.WriteChunk(items);
  }
  connection.WriteChunk("]}");
  return connection.EndChunks();
}

bool MiniApi::Watch(FakeConnection& connection, const std::string& target) {
  base::Clock& clock = base::Clock::Real();
  const base::TimePoint end =
      clock.Now() + std::chrono::seconds(NumberOf(target, "timeoutSeconds"));
  const std::uint64_t asked = NumberOf(target, "resourceVersion");
  std::uint64_t next = asked > 0 ? asked : version();
  connection.RespondChunked(200, "application/json;stream=watch");
  while (clock.Now() < end && !PeerIsGone(connection)) {
    std::vector<Event> events;
    {
      const base::MutexLock lock(mu_);
      const base::TimePoint until = clock.Now() + kBookmarkEvery;
      while (history_.size() <= next &&
             clock.WaitUntil(mu_, changed_, {}, until) != base::Wake::kTimeout) {
      }
      if (history_.size() > next) {
        events.assign(history_.begin() + static_cast<std::ptrdiff_t>(next), history_.end());
      }
    }
    if (events.empty() && !connection.WriteChunk(R"({"type":"BOOKMARK","object":)" +
                                                 ObjectJson("", std::to_string(next)) + "}\n")) {
      return false;
    }
    for (const Event& event : events) {
      ++next;
      if (!connection.WriteChunk(R"({"type":")" + event.type + R"(","object":)" +
                                 ObjectJson(event.name, std::to_string(next)) + "}\n")) {
        return false;
      }
    }
  }
  return connection.EndChunks();
}

}  // namespace kubexx::network_test
