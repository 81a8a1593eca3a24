/// @file
/// FunctionRunnable: makes a Runnable of a function.
#ifndef KUBEXX_CONTROLLER_INTERNAL_FUNCTION_RUNNABLE_H_
#define KUBEXX_CONTROLLER_INTERNAL_FUNCTION_RUNNABLE_H_

#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/runnable.h"

namespace kubexx::controller::internal {

/// Runs a function in a stage, and perhaps one that ends what the first has begun; see
/// Runnable::HasEnd. As thread-safe as the functions.
class FunctionRunnable final : public Runnable {
 public:
  FunctionRunnable(std::string name, Stage stage,
                   std::function<apimachinery::Result<void>(std::stop_token)> run,
                   std::function<void()> end = {})
      : name_(std::move(name)), stage_(stage), run_(std::move(run)), end_(std::move(end)) {}
  std::string Name() const override { return name_; }
  Stage stage() const override { return stage_; }
  apimachinery::Result<void> Run(std::stop_token stop) override { return run_(std::move(stop)); }
  bool HasEnd() const override { return end_ != nullptr; }
  void End() override { end_(); }

 private:
  const std::string name_;
  const Stage stage_;
  const std::function<apimachinery::Result<void>(std::stop_token)> run_;
  const std::function<void()> end_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_FUNCTION_RUNNABLE_H_
