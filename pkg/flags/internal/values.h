/// @file
/// The spellings of flag values.
#ifndef KUBEXX_FLAGS_INTERNAL_VALUES_H_
#define KUBEXX_FLAGS_INTERNAL_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::flags::internal {

/// As Go's strconv.ParseBool.
apimachinery::Result<bool> ParseBool(std::string_view text);

/// Decimal, or hexadecimal after "0x", with an optional sign.
apimachinery::Result<std::int64_t> ParseInt(std::string_view text);

/// One CSV record as Go's encoding/csv reads it: a field in quotes may hold commas, newlines and
/// doubled quotes; a quote inside another field is an error. The empty text has no fields.
apimachinery::Result<std::vector<std::string>> ParseCsvRecord(std::string_view text);

/// The inverse: fields are quoted where needed.
std::string FormatCsvRecord(const std::vector<std::string>& fields);

}  // namespace kubexx::flags::internal

#endif  // KUBEXX_FLAGS_INTERNAL_VALUES_H_
