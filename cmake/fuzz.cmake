# tests/fuzz/fuzz_NAME.c, one libFuzzer program each, over sanitized modules. tools/ci.sh runs them.
file(GLOB _fuzz CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
if(NOT UT_HAVE_SQLITE)
  list(FILTER _fuzz EXCLUDE REGEX "/fuzz_sql\\.c$")
endif()
if(NOT UT_HAVE_MHD)
  list(FILTER _fuzz EXCLUDE REGEX "/fuzz_routes\\.c$")
endif()
foreach(file ${_fuzz})
  get_filename_component(_name ${file} NAME_WE)
  add_executable(${_name} ${file})
  target_link_libraries(${_name} PRIVATE ut_flags ut_sanitizers
    ut_cmd ut_launch ut_analyze ut_export ut_import ut_wire ut_model ut_itt ut_base)
  target_compile_options(${_name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${_name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${_name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
endforeach()
