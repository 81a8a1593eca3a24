/// @file
/// Who changes things in the simulated cluster.
#ifndef KUBEXX_TEST_SIMULATION_PEOPLE_H_
#define KUBEXX_TEST_SIMULATION_PEOPLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/rest/rest_client.h"
#include "oracle/random.h"
#include "timeline.h"

namespace kubexx::simulation {

/// Stands in every Secret's data, as it is and in base64: nobody else may ever send or tell it.
inline constexpr const char* kSecretMark = "TOPSECRET";
inline constexpr const char* kSecretMarkInBase64 = "VE9QU0VDUkVU";

/// The kinds of workloads that there are, as paths and keys of the storage name them.
inline constexpr std::array<std::string_view, 3> kWorkloadPlurals = {"deployments", "statefulsets",
                                                                     "daemonsets"};

/// Who operators are for the API server.
inline constexpr const char* kOperatorUser = "operator";

/// People and their tools: they make namespaces, sources and workloads, and edit them. What they
/// ask for is tried until it is done. Not thread-safe.
class People {
 public:
  /// `timeline` must outlive it.
  People(std::shared_ptr<rest::RESTClient> client, oracle::Random random, Timeline& timeline);

  /// Makes what there is at the beginning; blocks until it is there.
  void Begin(const std::stop_token& stop);
  /// Gives operators their rights, or takes all of them; blocks until that is so.
  void SetRights(bool given, const std::stop_token& stop);
  /// Does one thing: mostly an edit of data; also an edit that leaves the data as they are, an
  /// undo, several edits at once, a pause of a source, a release, a deletion, something made anew,
  /// a workload sometimes with the annotations of the one before.
  void Act(const std::stop_token& stop);

 private:
  /// A ConfigMap or a Secret.
  struct Source {
    bool is_secret = false;
    std::string space{};
    std::string name{};
    std::uint64_t value = 0;
    std::uint64_t former = 0;
    bool there = false;
    bool paused = false;
  };
  struct Workload {
    std::size_t kind = 0;  ///< index of kWorkloadPlurals
    std::string space{};
    std::string name{};
    std::vector<std::size_t> sources{};  ///< indexes in sources_, of its namespace
    std::uint64_t release = 1;
    std::string baseline{};  ///< copied from the one of that name before
    bool there = false;
  };

  /// Sends it until the server has answered with other than an error of its own; 404 and 409 are
  /// such answers.
  void Insist(const std::string& method, const std::string& path, const std::string& body,
              const std::stop_token& stop);
  static std::string PathOf(const Source& source);
  static std::string PathOf(const Workload& workload);
  static std::string BodyOf(const Source& source, bool labelled);
  std::string BodyOf(const Workload& workload) const;
  std::string BaselineAt(const std::string& path, const std::stop_token& stop);
  void Put(Source& source, const std::stop_token& stop);
  void Put(Workload& workload, const std::stop_token& stop);
  void Edit(Source& source, std::uint64_t value, const std::stop_token& stop);

  const std::shared_ptr<rest::RESTClient> client_;
  oracle::Random random_;
  Timeline& timeline_;
  std::vector<std::string> spaces_{};
  std::vector<Source> sources_{};
  std::vector<Workload> workloads_{};
  std::uint64_t next_value_ = 1;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_PEOPLE_H_
