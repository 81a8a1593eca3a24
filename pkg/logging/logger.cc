#include "kubexx/logging/logger.h"

#include <string>
#include <utility>
#include <vector>

namespace kubexx::logging {

/// The keys are owned, too: a Field's key may be gone when a line is written.
struct Logger::Fields {
  struct Owned {
    std::string key{};
    std::string value{};
    bool quoted = true;
  };
  std::vector<Owned> all{};

  void Append(std::initializer_list<Field> fields) {
    all.reserve(all.size() + fields.size());
    for (const Field& field : fields) {
      all.push_back({std::string(field.key), field.value, field.quoted});
    }
  }
};

Logger::Logger(std::initializer_list<Field> fields) : Logger(Logger().With(fields)) {}

Logger Logger::With(std::initializer_list<Field> fields) const {
  Fields with = fields_ == nullptr ? Fields() : *fields_;
  with.Append(fields);
  Logger logger;
  logger.fields_ = std::make_shared<const Fields>(std::move(with));
  return logger;
}

void Logger::Log(Level level, std::string_view message, std::initializer_list<Field> fields) const {
  if (!Enabled(level)) {
    return;
  }
  if (fields_ == nullptr) {
    logging::Log(level, message, fields);
    return;
  }
  std::vector<Field> all;
  try {
    all.reserve(fields_->all.size() + fields.size());
    for (const Fields::Owned& own : fields_->all) {
      all.emplace_back(own.key, own.value).quoted = own.quoted;
    }
    all.insert(all.end(), fields.begin(), fields.end());
  } catch (...) {  // Out of memory: as much of the line as there is.
  }
  logging::Log(level, message, all);
}

}  // namespace kubexx::logging
