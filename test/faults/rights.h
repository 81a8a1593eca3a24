/// @file
/// What operators may do.
#ifndef KUBEXX_TEST_FAULTS_RIGHTS_H_
#define KUBEXX_TEST_FAULTS_RIGHTS_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "faults/admin.h"

namespace kubexx::faults {

/// Who operators are for the API server, and where their Leases are.
inline constexpr const char* kOperatorUser = "faults-operator";
inline constexpr const char* kOperatorSpace = "faults-operators";

/// What of their rights operators are without.
enum class Loss : std::uint8_t {
  kNothing,
  kSecrets,    ///< reading of Secrets
  kWatch,      ///< watching of anything
  kPatch,      ///< patching of workloads
  kNamespace,  ///< patching of workloads in one namespace
  kLeases,     ///< all about Leases
  kAll,        ///< reading and patching
};

/// Roles and bindings of a cluster. Not thread-safe.
class Rights {
 public:
  Rights(Admin admin, std::vector<std::string> spaces)
      : admin_(std::move(admin)), spaces_(std::move(spaces)) {}

  /// Makes what operators need, and gives it to them.
  void Begin(const std::stop_token& stop) const;
  /// Takes these rights and no others, those of the namespace `space` for kNamespace. Waits for the
  /// server's answers until `stop`.
  void Take(Loss loss, std::size_t space, const std::stop_token& stop) const;

 private:
  void Bind(const std::string& space, const std::stop_token& stop) const;
  void SetRules(const std::string& role, const std::string& rules,
                const std::stop_token& stop) const;

  const Admin admin_;
  const std::vector<std::string> spaces_;
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_RIGHTS_H_
