/// @file
/// An API server of one type in the test's process, which counts what arrives.
#ifndef KUBEXX_TEST_NETWORK_MINI_API_H_
#define KUBEXX_TEST_NETWORK_MINI_API_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::network_test {

/// ConfigMaps that only Change changes, with their whole history: each change has the next version,
/// so that a client can tell whether it has missed one. A watch may begin with the state
/// (sendInitialEvents), into which later changes are mixed, as an API server does. Watches end
/// soon, and of those from a version each third is told that it has expired, so that the state is
/// asked for often. Writes
/// by requests change nothing and are counted by what is behind the last "/" of their path.
/// Thread-safe.
class MiniApi {
 public:
  /// With so many objects that a state takes a while.
  MiniApi();

  /// For FakeServers; this must outlive them.
  rest::testing::FakeServer::Script Script();

  /// Adds, changes or deletes an object; `choice` says which.
  void Change(std::uint64_t choice);

  std::uint64_t version() const;
  /// Versions of the objects by name.
  std::map<std::string, std::string> objects() const;
  std::map<std::string, std::string> objects_at(std::uint64_t version) const;
  /// How many watches with initial events there were.
  int initial_states() const;
  /// Requests by method.
  std::map<std::string, int> requests() const;
  /// "METHOD name (times)" of each write that came more than once.
  std::vector<std::string> sent_twice() const;

 private:
  struct Event {
    std::string type{};
    std::string name{};
  };

  void Serve(rest::testing::FakeConnection& connection);
  bool Answer(rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request);
  bool List(rest::testing::FakeConnection& connection) const;
  bool Watch(rest::testing::FakeConnection& connection, const std::string& target);
  /// Whether this watch is told that its version has expired, or ends soon.
  bool Expires();
  bool EndsSoon();
  /// Returns the version up to which everything was sent; 0 when the peer has gone.
  std::uint64_t SendInitialEvents(rest::testing::FakeConnection& connection);
  std::vector<Event> EventsAfter(std::uint64_t version) const;

  mutable base::Mutex mu_;
  base::CondVar changed_;
  int initial_states_ KX_GUARDED_BY(mu_) = 0;
  int watches_ KX_GUARDED_BY(mu_) = 0;
  int resumed_ KX_GUARDED_BY(mu_) = 0;
  std::vector<Event> history_ KX_GUARDED_BY(mu_);  // of version i + 1
  std::map<std::string, std::string> objects_ KX_GUARDED_BY(mu_);
  std::map<std::string, int> requests_ KX_GUARDED_BY(mu_);
  std::map<std::string, int> writes_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::network_test

#endif  // KUBEXX_TEST_NETWORK_MINI_API_H_
