/// @file
/// FlagSet: parses command-line flags as Go's pflag and cobra do, so that arguments written for
/// such programs mean the same here.
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

/// The result of parsing a command line.
struct ParseOutcome {
  /// Whether the program should not run, because `text` answers --help, --version or --completion.
  bool exit = false;
  std::string text{};
};

/// The flags of one program. Before Parse each target holds the default, which --help shows;
/// targets must outlive this object. Values are given as `--name=value` or `--name value`, where
/// the value may be empty or start with "-"; "--" ends the flags. If a flag is given again, the
/// last value counts, except for lists. The flags --help (-h), --version and --completion exist by
/// themselves. Not thread-safe.
class FlagSet {
 public:
  /// `program` is the binary's name. If `version` is empty, there is no --version.
  FlagSet(std::string program, std::string description, std::string version = {});
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  void AddString(std::string name, std::string help, std::string* target);
  /// As AddString, for a flag that makes no sense with an empty value. It refuses "", which mostly
  /// comes from an unset variable of a shell.
  void AddNonEmptyString(std::string name, std::string help, std::string* target);
  /// Adds a flag that is given as `--name`, `--name=true`, `--name=false` or with another of Go's
  /// spellings (1, 0, t, f, T, F, TRUE, ...), but never as `--name false`.
  void AddBool(std::string name, std::string help, bool* target);
  /// As AddBool, but the value must be given, and may follow as a separate argument. It serves
  /// flags that are strings in another program.
  void AddStringBool(std::string name, std::string help, bool* target);
  /// Adds a flag with an integer: decimal, or as Go's pflag takes it, 0x1f, 0o17, 017, 0b101 and
  /// 1_000.
  void AddInt(std::string name, std::string help, std::int64_t* target);
  /// Adds a flag with one of Go's durations, such as "1m30s".
  void AddDuration(std::string name, std::string help, base::Duration* target);
  /// Adds a flag with values that are separated by commas, with quotes as in a CSV record. The
  /// first occurrence replaces the default, and further ones append.
  void AddList(std::string name, std::string help, std::vector<std::string>* target);
  /// Adds a flag whose value must be one of `choices`, which consist of letters, digits and dashes.
  void AddChoice(std::string name, std::string help, std::vector<std::string> choices,
                 std::string* target);
  /// Adds a flag of any other type. `set` takes each value and may refuse it; --help shows `type`
  /// and `shown_default`.
  void AddCustom(std::string name, std::string help, std::string type, std::string shown_default,
                 std::function<apimachinery::Result<void>(std::string_view)> set);
  /// Collects the arguments that are not flags in `target`; --help shows `usage`, such as
  /// "[file...]". Without this call such arguments are errors.
  void AllowArguments(std::string usage, std::vector<std::string>* target);

  /// Names a command of the program, which the caller runs itself. --help lists the command, and
  /// completion scripts offer it and, after it, the flags that `flags` has at the time of this
  /// call. The name consists of letters, digits and dashes.
  void AddCommand(std::string name, std::string help, const FlagSet& flags);

  /// Accepts flags that were not added, for programs that replace other programs, and appends each
  /// to `target` as it was given. If such a flag has no "=", the next argument is its value unless
  /// it is a flag, so there can be no other arguments.
  void AllowUnknown(std::vector<std::string>* target);

  /// Sets the targets. Call it once only. Returns kInvalidConfig for an unknown flag, a missing or
  /// bad value, or an unexpected argument; some targets may be set then.
  apimachinery::Result<ParseOutcome> Parse(int argc, const char* const* argv);

  /// The names, without dashes, and the values of the flags that Parse has found, in the order of
  /// the command line.
  using GivenFlags = std::vector<std::pair<std::string, std::string>>;
  const GivenFlags& given() const { return given_; }

  /// Returns the indexes in `argv` of the arguments that are neither flags nor values of flags.
  /// Changes no target. An unknown flag counts as one without a value. It serves programs that look
  /// for a command among their flags.
  std::vector<int> FindArguments(int argc, const char* const* argv) const;

  /// A word that may stand at the end of a command line.
  struct Candidate {
    std::string text{};  ///< a command, a value, "--flag", or "--flag=" if the flag takes a value
    std::string help{};  ///< one line; empty for values
    bool operator==(const Candidate&) const = default;
  };
  /// What may complete the last of `words`, which are a command line without the program: after the
  /// name of a command its flags, otherwise commands and flags. The text between "--flag=" and the
  /// end, or a word after "--flag", is one of the flag's choices. It serves programs that complete
  /// their command lines themselves, where no completion script can be installed.
  std::vector<Candidate> Complete(const std::vector<std::string>& words) const;

  /// Calls Parse for a main function. Returns std::nullopt if the program should go on. Otherwise
  /// it returns the exit status: 0 after it has written the answer to standard output, or
  /// `error_exit_code` after it has written the error and a hint to standard error.
  std::optional<int> ParseOrExitCode(int argc, const char* const* argv, int error_exit_code = 1);

  /// Returns the text that --help shows.
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
    FlagMap flags{};  ///< for completion only
  };

  void Add(std::string name, Flag flag);
  void AddBuiltIn();
  /// The flags that count at the end of `words`, and whether a command is among these.
  std::pair<const FlagMap*, bool> FlagsAt(const std::vector<std::string>& words) const;
  /// Takes the unknown flag at argv[index] with its value. Returns false if unknown flags are
  /// errors.
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
