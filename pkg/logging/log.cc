#include "kubexx/logging/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/log/attributes/attribute_set.hpp>
#include <boost/log/attributes/constant.hpp>
#include <boost/log/attributes/value_extraction.hpp>
#include <boost/log/core.hpp>
#include <boost/log/sinks/basic_sink_backend.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sources/logger.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/make_shared.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/logging/internal/format.h"
#include "kubexx/logging/internal/sink.h"

namespace kubexx::logging {
namespace {

namespace attrs = boost::log::attributes;
namespace sinks = boost::log::sinks;
using Fields = std::vector<internal::OwnedField>;

void WriteToStderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written > 0) {
      line.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return;  // Nobody can be told that the log itself is broken.
    }
  }
}

/// Renders a record of our channel and writes it. The frontend calls it from one thread at a time.
class Backend final : public sinks::basic_sink_backend<sinks::synchronized_feeding> {
 public:
  void consume(const boost::log::record_view& record) {
    internal::Line line;
    const auto level = boost::log::extract<Level>("Severity", record);
    const auto time = boost::log::extract<base::WallTime>("TimeStamp", record);
    const auto message = boost::log::extract<std::string>("Message", record);
    const auto fields = boost::log::extract<Fields>("Fields", record);
    if (!level || !time || !message || !fields) {
      return;
    }
    line = {*level, *time, *message, *fields};
    base::MutexLock lock(mu_);
    const std::string text =
        format_ == Format::kJson ? internal::FormatJson(line) : internal::FormatText(line);
    if (output_) {
      output_(text);
    } else {
      WriteToStderr(text);
    }
  }

  void SetFormat(Format format) {
    base::MutexLock lock(mu_);
    format_ = format;
  }
  Format format() {
    base::MutexLock lock(mu_);
    return format_;
  }
  internal::Output ReplaceOutput(internal::Output output) {
    base::MutexLock lock(mu_);
    return std::exchange(output_, std::move(output));
  }

 private:
  base::Mutex mu_;
  Format format_ KX_GUARDED_BY(mu_) = Format::kText;
  internal::Output output_ KX_GUARDED_BY(mu_);
};

/// The sink in Boost.Log's core, and the level that is tested before a record is made.
struct Pipeline {
  std::atomic<Level> level = Level::kInfo;
  boost::shared_ptr<Backend> backend = boost::make_shared<Backend>();

  Pipeline() {
    auto sink = boost::make_shared<sinks::synchronous_sink<Backend>>(backend);
    sink->set_filter([](const boost::log::attribute_value_set& values) {
      const auto channel = boost::log::extract<std::string>("Channel", values);
      return channel && *channel == "kubexx";
    });
    boost::log::core::get()->add_sink(sink);
  }
};

/// Never destroyed, so that destructors of static objects may log.
Pipeline& ThePipeline() {
  static Pipeline* const pipeline = new Pipeline();
  return *pipeline;
}

constexpr std::array<std::string_view, 5> kLevelNames = {"trace", "debug", "info", "warning",
                                                         "error"};

void LogOrThrow(Level level, std::string_view message, std::span<const Field> fields) {
  Fields owned;
  owned.reserve(fields.size());
  for (const Field& field : fields) {
    owned.push_back({std::string(field.key), field.value, field.quoted});
  }
  boost::log::attribute_set values;
  values.insert("Channel", attrs::constant<std::string>("kubexx"));
  values.insert("Severity", attrs::constant<Level>(level));
  values.insert("TimeStamp", attrs::constant<base::WallTime>(base::Clock::Real().Wall()));
  values.insert("Fields", attrs::constant<Fields>(std::move(owned)));
  values.insert("Message", attrs::constant<std::string>(std::string(message)));
  const auto core = boost::log::core::get();
  if (boost::log::record record = core->open_record(values)) {
    core->push_record(std::move(record));
  }
}

}  // namespace

void Init(const Options& options) {
  Pipeline& pipeline = ThePipeline();
  pipeline.level.store(options.level, std::memory_order_relaxed);
  pipeline.backend->SetFormat(options.format);
}

std::string_view ToString(Level level) {
  const auto index = static_cast<std::size_t>(level);
  return index < kLevelNames.size() ? kLevelNames[index] : kLevelNames.back();
}

apimachinery::Result<Level> ParseLevel(std::string_view text) {
  const std::string lower = base::ToLower(text);
  if (lower == "warn") {
    return Level::kWarning;
  }
  if (lower == "fatal" || lower == "panic") {
    return Level::kError;
  }
  const auto found = std::ranges::find(kLevelNames, lower);
  if (found == kLevelNames.end()) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                              "unknown log level \"" + std::string(text) +
                                  "\": use trace, debug, info, warning or error");
  }
  return static_cast<Level>(found - kLevelNames.begin());
}

std::string FormatFloat(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

bool Enabled(Level level) { return level >= ThePipeline().level.load(std::memory_order_relaxed); }

void Log(Level level, std::string_view message, std::initializer_list<Field> fields) {
  Log(level, message, std::span(fields.begin(), fields.size()));
}

void Log(Level level, std::string_view message, std::span<const Field> fields) {
  if (!Enabled(level)) {
    return;
  }
  try {
    LogOrThrow(level, message, fields);
  } catch (...) {  // Out of memory, or a sink of the program threw: a log line is not worth more.
  }
}

namespace internal {

Output ReplaceOutputForTest(Output output) {
  return ThePipeline().backend->ReplaceOutput(std::move(output));
}

Options CurrentOptions() {
  Pipeline& pipeline = ThePipeline();
  return {pipeline.level.load(std::memory_order_relaxed), pipeline.backend->format()};
}

}  // namespace internal
}  // namespace kubexx::logging
