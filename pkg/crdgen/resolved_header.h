/// @file
/// The kind that a header declares: which group and version, which structs and fields.
#ifndef KUBEXX_CRDGEN_RESOLVED_HEADER_H_
#define KUBEXX_CRDGEN_RESOLVED_HEADER_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/member_type.h"

namespace kubexx::crdgen {

/// A member as a field of the API.
struct ResolvedMember {
  const HeaderMember* member = nullptr;
  MemberType type{};
  std::string json_name{};
  bool is_required = false;
  bool is_nullable = false;
};

struct ResolvedStruct {
  const HeaderStruct* structure = nullptr;
  std::vector<ResolvedMember> members{};
};

/// Refers to the Header that it was made of.
struct ResolvedHeader {
  const Header* header = nullptr;
  std::string group{};
  std::string version{};
  /// The structs of the kind, each after those that it refers to. The last is the object itself,
  /// without its metadata.
  std::vector<ResolvedStruct> structs{};
  const HeaderMember* metadata = nullptr;

  const HeaderStruct& root() const { return *structs.back().structure; }
};

/// Finds out what the one struct of a header with +kubebuilder:object:root=true is made of.
/// kInvalid if there is none, or several, if it has no group, no version or no metadata, if a
/// struct contains itself, and if a member has no type or name that the API can have.
apimachinery::Result<ResolvedHeader> ResolveHeader(const Header& header);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_RESOLVED_HEADER_H_
