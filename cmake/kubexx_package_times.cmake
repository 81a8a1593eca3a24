# CPack runs this for each package, when all its files are laid out: SOURCE_DATE_EPOCH becomes the time of each, so that the same
# sources give the same package.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  file(GLOB_RECURSE laid_out LIST_DIRECTORIES TRUE "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*")
  foreach(path IN LISTS laid_out)
    execute_process(COMMAND touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} ${path} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
