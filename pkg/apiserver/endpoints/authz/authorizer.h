/// @file
/// Decides whether a user may make a request.
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

/// A write that may grant rights: of an RBAC object, or of a CertificateSigningRequest. `current`
/// is null for a create.
struct Grant {
  const ResourceType& type;
  std::string subresource{};
  std::string namespace_{};  ///< the request's
  std::string name{};        ///< the request's; "" for a POST
  const codec::JsonTree* current = nullptr;
  const codec::JsonTree& object;
};

/// Allows everything, or what the Roles and bindings in the server's caches allow. It refuses a
/// request only by the latest state, so that a binding that a client has just created counts; when
/// the latest state cannot be read, it returns that error instead of a refusal. Thread-safe; may
/// block for as long as a cache needs to catch up.
class Authorizer {
 public:
  /// `types` must outlive it.
  Authorizer(TypeRegistry& types, bool rbac);

  /// Whether Roles and bindings are used. When false, everything is allowed.
  bool rbac() const { return rbac_; }

  /// Decides a request. Returns an error when the known state does not allow the request and the
  /// latest state cannot be read.
  apimachinery::Result<rbac::Decision> Decide(const User& user, const rbac::Request& request,
                                              const std::stop_token& stop);
  /// Returns kForbidden in kube-apiserver's words when the request is not allowed, and errors of
  /// Decide.
  apimachinery::Result<void> Check(const User& user, const rbac::Request& request,
                                   const std::stop_token& stop);

  /// The same for the right to impersonate a user. The message has the names unchanged, without the
  /// escapes for HTML that Check uses.
  apimachinery::Result<void> CheckImpersonation(const User& user, const rbac::Request& request,
                                                const std::stop_token& stop);

  /// The rules that the user has in a namespace. Returns an error when the latest state cannot be
  /// read.
  apimachinery::Result<rbac::HeldRules> RulesOf(const User& user, std::string_view namespace_,
                                                const std::stop_token& stop);

  /// Prevents users from granting rights that they do not have. For a write of a Role or a binding
  /// it returns kForbidden when the object grants more than the user may do, unless the user has
  /// the verb "escalate" or "bind", or changes only what the garbage collector needs. It returns
  /// kNotFound for a binding to a role that does not exist. The approval of a
  /// CertificateSigningRequest needs the verb "approve", and a new certificate or condition in its
  /// status the verb "sign", for its signer or for all signers of the domain. Other writes succeed.
  apimachinery::Result<void> CheckGrant(const User& user, const Grant& grant,
                                        const std::stop_token& stop);

  /// Reads the Roles and bindings that were written since the last call, so that the next request
  /// need not read them all at once. To be called about once a second. Waits for no cache.
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

  /// The objects of a resource and the parts parsed from them, in the same order. An unchanged
  /// object is not parsed again, so that a write of one Role costs little even when there are
  /// thousands.
  struct Source {
    Objects objects{};
    std::shared_ptr<const rbac::Parts> parts{};
  };
  /// A policy and the sources that it was made from, in the order of `sources_`.
  struct Made {
    Revisions revisions{};
    std::array<std::shared_ptr<const Source>, 4> sources{};
    PolicyRef policy{};
  };

  using Caches = std::array<std::shared_ptr<Cacher>, 4>;

  /// The caches of `sources_`, which a registry keeps for types that it has from its beginning.
  Caches SourceCaches();
  /// The policy of the objects in the caches. With `latest`, it covers all acknowledged writes, or
  /// an error is returned.
  apimachinery::Result<PolicyRef> Current(bool latest, const std::stop_token& stop);
  /// `before` may be null.
  std::shared_ptr<const Source> Read(Objects objects, rbac::PartKind kind, const Source* before);

  TypeRegistry& types_;
  const bool rbac_;
  std::array<ResourceTypeRef, 4> sources_;
  base::Mutex making_;  // one at a time; taken before mu_
  base::Mutex mu_;
  std::shared_ptr<const Made> made_ KX_GUARDED_BY(mu_);
  Caches caches_ KX_GUARDED_BY(mu_);  ///< all null before they are needed
  std::atomic<std::size_t> parts_read_ = 0;
};

/// The attributes of `request` for authorization. `info` is missing, or has no resource, for a
/// non-resource request.
rbac::Request AttributesOf(const http::Request& request, const std::optional<RequestInfo>& info,
                           const Query& query);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHZ_AUTHORIZER_H_
