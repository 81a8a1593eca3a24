/// @file
/// What the initialisers of members give them.
#ifndef KUBEXX_CRDGEN_MEMBER_INITIALISER_H_
#define KUBEXX_CRDGEN_MEMBER_INITIALISER_H_

#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/member_type.h"

namespace kubexx::crdgen {

/// Whether a member has no initialiser, or one that is certain to give it the empty value of its
/// type: {}, 0, false, "", std::nullopt, or T{} for a member of type T. It is not known of
/// constants what they are.
bool IsInitiallyEmpty(const HeaderMember& member, const MemberType& type);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MEMBER_INITIALISER_H_
