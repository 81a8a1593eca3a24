/// @file
/// The checks of the keyword "format".
#ifndef KUBEXX_APISERVER_SCHEMA_FORMATS_H_
#define KUBEXX_APISERVER_SCHEMA_FORMATS_H_

#include <string_view>

namespace kubexx::apiserver::schema {

/// Whether `value` has the format: date, date-time, datetime, duration, byte, uuid, uuid3, uuid4,
/// uuid5, ipv4, ipv6, cidr, mac, hostname, email, uri, hexcolor, k8s-short-name, k8s-long-name.
/// True for unknown formats, as in the API.
bool HasFormat(std::string_view format, std::string_view value);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_FORMATS_H_
