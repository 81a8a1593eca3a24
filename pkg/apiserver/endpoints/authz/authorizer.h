/// @file
/// Whether a request may be made.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHZ_AUTHORIZER_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHZ_AUTHORIZER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/rbac/policy.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// A write of an object of RBAC, or an approval: `current` is null for a create.
struct Grant {
  const ResourceType& type;
  std::string subresource{};
  std::string namespace_{};  ///< the request's
  std::string name{};        ///< the request's; "" for a POST
  const codec::JsonTree* current = nullptr;
  const codec::JsonTree& object;
};

/// Allows everything, or what Roles and their bindings in the server's own caches say. Whoever is
/// refused is refused by the latest state, so that what a client has just bound counts; where that
/// cannot be read, nobody is told that they may not, but what is wrong. Thread-safe; may block for
/// as long as a cache needs to catch up.
class Authorizer {
 public:
  /// `types` must outlive it.
  Authorizer(TypeRegistry& types, bool rbac);

  /// False: everything is allowed.
  bool rbac() const { return rbac_; }

  /// An error when it is not allowed as far as is known, and the latest state cannot be read.
  apimachinery::Result<rbac::Decision> Decide(const User& user, const rbac::Request& request,
                                              const std::stop_token& stop);
  /// kForbidden in kube-apiserver's words when it is not allowed; errors of Decide.
  apimachinery::Result<void> Check(const User& user, const rbac::Request& request,
                                   const std::stop_token& stop);

  /// The same of what a user who acts as somebody else needs: names stand in the message as they
  /// are, and not as in a page.
  apimachinery::Result<void> CheckImpersonation(const User& user, const rbac::Request& request,
                                                const std::stop_token& stop);

  /// What the user may do in a namespace. An error when the latest state cannot be read.
  apimachinery::Result<rbac::HeldRules> RulesOf(const User& user, std::string_view namespace_,
                                                const std::stop_token& stop);

  /// Nobody gives what they do not have: for writes of Roles and bindings, kForbidden when the
  /// object grants more than the user may do, unless they have the verb "escalate" or "bind", or
  /// change what the garbage collector needs only. kNotFound for a binding to a role that is not
  /// there. The approval of a CertificateSigningRequest needs the verb "approve", and a new answer
  /// in its status the verb "sign", for its signer or for all of the signer's domain. Success for
  /// all others.
  apimachinery::Result<void> CheckGrant(const User& user, const Grant& grant,
                                        const std::stop_token& stop);

  /// To be called about once a second: reads what has been written since, so that it need not be
  /// read all at once by the next request that asks. Waits for no cache.
  void KeepUp(const std::stop_token& stop);

  /// How many Roles and bindings have been read so far.
  std::size_t PartsReadForTest() const { return parts_read_; }

 private:
  using PolicyRef = std::shared_ptr<const rbac::Policy>;
  using Objects = std::vector<CachedObjectRef>;
  using Revisions = std::array<std::int64_t, 4>;

  apimachinery::Result<void> CheckBinding(const User& user, const Grant& grant,
                                          const rbac::Request& request,
                                          const std::stop_token& stop);
  apimachinery::Result<void> CheckSigner(const User& user, const Grant& grant,
                                         const std::stop_token& stop);
  apimachinery::Result<void> CheckRole(const User& user, const Grant& grant,
                                       const rbac::Request& request, const std::stop_token& stop);

  /// The objects of a resource and what was read in them, in the same order: an object that has not
  /// changed is not read again, so that a write of one Role costs little where there are thousands.
  struct Source {
    Objects objects{};
    std::shared_ptr<const rbac::Parts> parts{};
  };
  /// A policy and what it was made from, in the order of `sources_`.
  struct Made {
    Revisions revisions{};
    std::array<std::shared_ptr<const Source>, 4> sources{};
    PolicyRef policy{};
  };

  /// The policy of what the caches have; `latest`: of all writes that have been acknowledged, or
  /// an error.
  apimachinery::Result<PolicyRef> Current(bool latest, const std::stop_token& stop);
  /// `before` may be null.
  std::shared_ptr<const Source> Read(Objects objects, rbac::PartKind kind, const Source* before);

  TypeRegistry& types_;
  const bool rbac_;
  std::array<ResourceTypeRef, 4> sources_;
  base::Mutex making_;  // one at a time; taken before mu_
  base::Mutex mu_;
  std::shared_ptr<const Made> made_ KX_GUARDED_BY(mu_);
  std::atomic<std::size_t> parts_read_ = 0;
};

/// What `request` asks for; `info` is missing or without a resource when it is for none.
rbac::Request AttributesOf(const http::Request& request, const std::optional<RequestInfo>& info,
                           const Query& query);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHZ_AUTHORIZER_H_
