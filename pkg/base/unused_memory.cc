#include "kubexx/base/unused_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

namespace kubexx::base {
namespace {

/// Whether the loader has written to the code of the object: then it is not what the file says.
bool HasRelocatedCode(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) {
      continue;
    }
    // The loader's own view of the file, at the address where it has put it.
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL ||
          (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0)) {
        return true;
      }
    }
  }
  return false;
}

/// Drops the segments that nobody can have written to; the next read of a page gets it from the
/// file again. An object stays mapped while this runs: the loader holds its lock.
int DropReadOnlySegments(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
  const std::string_view name = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  if (name.starts_with("linux-vdso") || HasRelocatedCode(*object)) {
    return 0;
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) != 0) {
      continue;
    }
    // Whole pages only: a page at the edge may belong to a neighbour that is written to.
    const std::uintptr_t begin = (object->dlpi_addr + header.p_vaddr + page - 1) / page * page;
    const std::uintptr_t end = (object->dlpi_addr + header.p_vaddr + header.p_memsz) / page * page;
    if (begin < end) {
      madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }
  return 0;
}

}  // namespace

void ReleaseUnusedMemory() {
  malloc_trim(0);
  dl_iterate_phdr(DropReadOnlySegments, nullptr);
}

}  // namespace kubexx::base
