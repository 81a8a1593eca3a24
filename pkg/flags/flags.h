/// @file
/// Command-line flags as Go's pflag and cobra read them, so that arguments written for such
/// programs mean the same here.
#ifndef KUBEXX_FLAGS_FLAGS_H_
#define KUBEXX_FLAGS_FLAGS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::flags {

/// What the command line asks for.
struct ParseOutcome {
  /// Do not run: `text` answers --help, --version or --completion.
  bool exit = false;
  std::string text{};
};

/// The flags of one program. Targets hold the defaults before Parse, which --help shows, and must
/// outlive it. Values are given as `--name=value` or `--name value`, where the value may be empty
/// or start with "-"; "--" ends the flags. A flag given again replaces its value, except for lists.
/// Has --help (-h), --version and --completion by itself. Not thread-safe.
class FlagSet {
 public:
  /// `program` is the binary's name; without a `version` there is no --version.
  FlagSet(std::string program, std::string description, std::string version = {});
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  void AddString(std::string name, std::string help, std::string* target);
  /// As AddString, for a flag that makes no sense without a value: it refuses "", which mostly
  /// comes from a variable that is not set.
  void AddNonEmptyString(std::string name, std::string help, std::string* target);
  /// `--name`, `--name=true`, `--name=false` and Go's other spellings (1, 0, t, f, T, F, TRUE,
  /// ...); never `--name false`.
  void AddBool(std::string name, std::string help, bool* target);
  /// As AddBool, but the value must be given, and may follow as an argument of its own. For flags
  /// that another program has as strings.
  void AddStringBool(std::string name, std::string help, bool* target);
  void AddInt(std::string name, std::string help, std::int64_t* target);
  /// Go's durations, such as "1m30s".
  void AddDuration(std::string name, std::string help, base::Duration* target);
  /// Values separated by commas, with quotes as in a CSV record. The first occurrence replaces the
  /// default, others append.
  void AddList(std::string name, std::string help, std::vector<std::string>* target);
  /// One of `choices`, which consist of letters, digits and dashes; any other value is refused.
  void AddChoice(std::string name, std::string help, std::vector<std::string> choices,
                 std::string* target);
  /// A flag of any other type: `set` takes each value and may refuse it; --help shows `type` and
  /// `shown_default`.
  void AddCustom(std::string name, std::string help, std::string type, std::string shown_default,
                 std::function<apimachinery::Result<void>(std::string_view)> set);
  /// Takes the arguments that are not flags; --help shows `usage`, such as "[file...]". Without it
  /// such arguments are errors.
  void AllowArguments(std::string usage, std::vector<std::string>* target);

  /// Names a command of the program, which the caller runs itself: --help lists it, and completion
  /// scripts offer it, and after it the flags that `flags` has now. The name consists of letters,
  /// digits and dashes.
  void AddCommand(std::string name, std::string help, const FlagSet& flags);

  /// Also takes flags that nobody has added, for programs that stand in for others: it adds each to
  /// `target` as it was given. When such a flag has no "=", the next argument is its value unless
  /// that is a flag, so there can be no other arguments.
  void AllowUnknown(std::vector<std::string>* target);

  /// Sets the targets; once only. kInvalidConfig for an unknown flag, a missing or bad value or an
  /// unexpected argument; targets may then be partly set.
  apimachinery::Result<ParseOutcome> Parse(int argc, const char* const* argv);

  /// The flags that Parse has found, without dashes, with their values, in the order of the command
  /// line.
  using GivenFlags = std::vector<std::pair<std::string, std::string>>;
  const GivenFlags& given() const { return given_; }

  /// The indexes in `argv` of what Parse would take for arguments that are not flags. Sets nothing;
  /// an unknown flag counts as one without a value. For programs that look for a command among
  /// their flags.
  std::vector<int> FindArguments(int argc, const char* const* argv) const;

  /// Parse for a main function. Returns nothing when the program should go on, otherwise the exit
  /// status, after it has written the answer to standard output (0), or the error and a hint to
  /// standard error (`error_exit_code`).
  std::optional<int> ParseOrExitCode(int argc, const char* const* argv, int error_exit_code = 1);

  /// What --help shows.
  std::string Usage() const;

 private:
  struct Flag {
    std::string help{};
    std::string type{};           ///< empty for a bool
    std::string shown_default{};  ///< empty for a zero value
    bool value_optional = false;
    std::vector<std::string> choices{};
    std::function<apimachinery::Result<void>(std::string_view)> set{};
  };

  using FlagMap = std::map<std::string, Flag, std::less<>>;
  struct Command {
    std::string name{};
    std::string help{};
    FlagMap flags{};  ///< only looked at
  };

  void Add(std::string name, Flag flag);
  void AddBuiltIn();
  /// Whether the flag at argv[index] may be unknown; its value is taken along.
  bool TakeUnknown(int argc, const char* const* argv, int& index);
  apimachinery::Result<void> Set(const std::string& name, const Flag& flag, std::string_view value);
  std::string Completion(std::string_view shell) const;

  std::string program_;
  std::string description_;
  std::string version_;
  FlagMap flags_;
  std::vector<Command> commands_;
  std::string arguments_usage_{};
  std::vector<std::string>* arguments_ = nullptr;
  std::vector<std::string>* unknown_ = nullptr;
  std::optional<std::string> answer_{};
  GivenFlags given_{};
};

}  // namespace kubexx::flags

#endif  // KUBEXX_FLAGS_FLAGS_H_
