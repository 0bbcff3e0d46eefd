# libunitrace-read.so: traces as data for other programs (include/unitrace/read.h). Exports only what
# src/app/read/exports.map names; the major number grows when one of those changes its meaning.
# Slices and SQL come from the module query, which is whole only with SQLite.
if(NOT UT_HAVE_SQLITE)
  set_target_properties(ut_read PROPERTIES EXCLUDE_FROM_ALL TRUE)
  return()
endif()
set(UT_READ_ABI 1)
ut_module_sources(_read read)
add_library(unitrace_read SHARED ${_read})
target_link_libraries(unitrace_read PRIVATE ut_flags ut_sanitizers ut_ops ut_arrow)
target_link_options(unitrace_read PRIVATE ${UT_HARDEN_LINK} -Wl,--gc-sections -Wl,--as-needed
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/app/read/exports.map)
set_target_properties(unitrace_read PROPERTIES OUTPUT_NAME unitrace-read
  SOVERSION ${UT_READ_ABI}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/app/read/exports.map)
install(TARGETS unitrace_read LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(ut_read PROPERTIES EXCLUDE_FROM_ALL TRUE) # for the unit tests
