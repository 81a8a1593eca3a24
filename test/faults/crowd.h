/// @file
/// Who changes things in a real cluster.
#ifndef KUBEXX_TEST_FAULTS_CROWD_H_
#define KUBEXX_TEST_FAULTS_CROWD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "faults/admin.h"
#include "oracle/oracle.h"
#include "oracle/random.h"

namespace kubexx::faults {

/// Stands in every Secret's data, as it is and in base64: no operator may ever tell it.
inline constexpr const char* kSecretMark = "TOPSECRET";
inline constexpr const char* kSecretMarkInBase64 = "VE9QU0VDUkVU";

/// What people do.
enum class Deed : std::uint8_t {
  kEdit,             ///< other data
  kEditUndo,         ///< the data from before
  kBurst,            ///< several edits at once
  kTouch,            ///< a label of a source
  kSourcePause,      ///< reloader.kubexx.io/paused on a source, or not any more
  kRollout,          ///< `kubectl rollout pause` of a Deployment, or resume
  kRelease,          ///< another image
  kReleaseWithData,  ///< and other data at the same time
  kUndo,             ///< `kubectl rollout undo`
  kSourceDelete,
  kWorkloadDelete,
  kMake,  ///< what was deleted
};
inline constexpr std::size_t kDeeds = 12;
std::string_view ToString(Deed deed);

/// People and their tools: they make namespaces, sources and workloads, and edit them. A seed gives
/// the same deeds in the same order. Not thread-safe.
class Crowd {
 public:
  /// Told of each deed.
  using Tell = std::function<void(const std::string& what)>;

  /// `oracle` must outlive it.
  Crowd(Admin admin, oracle::Oracle& oracle, oracle::Random random, Tell tell);

  /// The namespaces that it will make.
  static std::vector<std::string> Spaces();
  /// Makes what there is at the beginning; blocks until it is there.
  void Begin(const std::stop_token& stop);
  /// Does one thing, and blocks until that is done.
  void Act(const std::stop_token& stop);
  /// Ends all that was paused.
  void ResumeAll(const std::stop_token& stop);

  const std::map<Deed, std::uint64_t>& done() const { return done_; }

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
    std::size_t kind = 0;
    std::string space{};
    std::string name{};
    std::vector<std::size_t> sources{};  ///< indexes in sources_, of its namespace
    std::uint64_t release = 1;
    std::string baseline{};  ///< copied from the one of that name before
    bool paused = false;
    bool there = false;
  };

  Deed Choose();
  void Do(Deed deed, Source& source, Workload& workload, const std::stop_token& stop);
  static std::string PathOf(const Source& source);
  static std::string PathOf(const Workload& workload);
  static std::string KeyOf(const Workload& workload);
  std::string BodyOf(const Workload& workload) const;
  std::string BaselineAt(const std::string& path, const std::stop_token& stop) const;
  void Put(Source& source, const std::stop_token& stop);
  void Put(Workload& workload, const std::stop_token& stop);
  void Edit(Source& source, std::uint64_t value, const std::stop_token& stop);
  void Touch(const Source& source, const std::stop_token& stop);
  void Pause(Source& source, bool on, const std::stop_token& stop);
  void Pause(Workload& workload, bool on, const std::stop_token& stop);
  void Release(Workload& workload, const std::stop_token& stop);
  void Undo(const Workload& workload, const std::stop_token& stop);
  void Delete(Source& source, const std::stop_token& stop);
  void Delete(Workload& workload, const std::stop_token& stop);

  const Admin admin_;
  oracle::Oracle& oracle_;
  oracle::Random random_;
  const Tell tell_;
  std::vector<Source> sources_{};
  std::vector<Workload> workloads_{};
  std::uint64_t next_value_ = 1;
  std::map<Deed, std::uint64_t> done_{};
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_CROWD_H_
