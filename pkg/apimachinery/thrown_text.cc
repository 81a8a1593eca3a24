#include "kubexx/apimachinery/thrown_text.h"

#include <expected>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::apimachinery {

std::string ThrownText() {
  try {
    throw;
  } catch (const std::bad_expected_access<Status>& error) {
    return "value() of a failed result: " + error.error().ToString();
  } catch (...) {
    return base::ThrownText();
  }
}

}  // namespace kubexx::apimachinery
