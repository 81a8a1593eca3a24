/// @file
/// Reads a header with the types of a custom resource.
#ifndef KUBEXX_CRDGEN_HEADER_H_
#define KUBEXX_CRDGEN_HEADER_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header_comment.h"
#include "kubexx/crdgen/marker.h"

namespace kubexx::crdgen {

/// A type as it is written: std::vector<Rule> has the name "std::vector" and one argument.
struct HeaderType {
  std::string name{};
  std::vector<HeaderType> arguments{};
  std::size_t line = 0;
};

/// A member of a struct.
struct HeaderMember {
  std::string name{};
  HeaderType type{};
  HeaderComment comment{};
  /// The tokens from "=" or "{" on; none if there is no initialiser.
  std::vector<std::string> initialiser{};
  std::size_t line = 0;
};

/// A struct with its members, in their order.
struct HeaderStruct {
  std::string name{};
  HeaderComment comment{};
  std::vector<HeaderMember> members{};
  std::size_t line = 0;
};

/// using Name = type;
struct HeaderAlias {
  std::string name{};
  HeaderComment comment{};
  HeaderType type{};
  std::size_t line = 0;
};

/// What a header declares.
struct Header {
  std::string path{};
  std::string namespace_{};
  /// Those above the namespace.
  std::vector<Marker> markers{};
  std::vector<HeaderStruct> structs{};
  std::vector<HeaderAlias> aliases{};
  /// The index of each struct and alias by its name.
  std::map<std::string, std::size_t, std::less<>> struct_index{};
  std::map<std::string, std::size_t, std::less<>> alias_index{};
  /// The names of the constants.
  std::set<std::string, std::less<>> constants{};
};

/// Reads a header, which may contain what a plain struct of data needs: include guards and
/// includes, one namespace, structs of data members, aliases (`using A = B;`), constants, and
/// comments with markers. Values of constants are skipped. kInvalid for anything else; the message
/// begins with `path` and the line, and says what to write instead. The result refers to nothing in
/// `text`.
apimachinery::Result<Header> ReadHeader(std::string_view text, std::string_view path);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_H_
