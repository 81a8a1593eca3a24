/// @file
/// Parses and formats the values of flags.
#ifndef KUBEXX_FLAGS_INTERNAL_VALUES_H_
#define KUBEXX_FLAGS_INTERNAL_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::flags::internal {

/// Parses a bool as Go's strconv.ParseBool does.
apimachinery::Result<bool> ParseBool(std::string_view text);

/// Parses an integer as Go's strconv.ParseInt does with base 0, and so pflag: after an optional
/// sign, hexadecimal after "0x", octal after "0o" or "0", binary after "0b", decimal otherwise. "_"
/// may stand between two digits, and between such a beginning and a digit.
apimachinery::Result<std::int64_t> ParseInt(std::string_view text);

/// Parses one CSV record as Go's encoding/csv does: a field in quotes may contain commas, newlines
/// and doubled quotes, and a quote inside an unquoted field is an error. The empty text has no
/// fields.
apimachinery::Result<std::vector<std::string>> ParseCsvRecord(std::string_view text);

/// Formats a record that ParseCsvRecord can read, with quotes where they are needed.
std::string FormatCsvRecord(const std::vector<std::string>& fields);

}  // namespace kubexx::flags::internal

#endif  // KUBEXX_FLAGS_INTERNAL_VALUES_H_
