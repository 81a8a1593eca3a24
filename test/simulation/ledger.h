/// @file
/// A number that several clients count up at a time.
#ifndef KUBEXX_TEST_SIMULATION_LEDGER_H_
#define KUBEXX_TEST_SIMULATION_LEDGER_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/rest/rest_client.h"

namespace kubexx::simulation {

/// Clerks who count a number up, which is an annotation of one object: each reads it and writes it
/// back, one higher, for the version that he has read, as controllers do. When the server has taken
/// a write it must have been made on top of all that it took before, so in the end the number tells
/// how many there were. What the object is for is of no consequence; it is of a kind that nobody
/// else here looks at. For one thread.
class Ledger {
 public:
  /// One clerk for each client. No answer may get lost between them and the server, and the
  /// namespace `space` must be there.
  Ledger(std::vector<std::shared_ptr<rest::RESTClient>> clerks, const std::string& space);

  /// Has each clerk count up `times` times, all at once, and blocks until they are through.
  /// Returns in a sentence what is wrong; nothing when nothing is.
  std::optional<std::string> CountUp(int times);

 private:
  /// What one clerk has seen.
  struct Tally {
    int taken = 0;      ///< writes that the server says it has made
    int uncertain = 0;  ///< writes of which it has said nothing clear
  };
  void Work(rest::RESTClient& client, int times, Tally& tally) const;
  /// The object as it is, made when it is not there; nothing: it cannot be had.
  std::optional<std::string> Read(rest::RESTClient& client) const;

  const std::vector<std::shared_ptr<rest::RESTClient>> clerks_;
  const std::string path_;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_LEDGER_H_
