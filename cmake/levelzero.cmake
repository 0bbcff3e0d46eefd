# Level Zero without Intel's hardware: a simulated driver and programs that use it, for the tests. The
# backend itself needs no headers of Level Zero, these do (Debian: libze-dev).
find_path(UT_ZE_INCLUDE level_zero/ze_ddi.h)
find_library(UT_ZE_LOADER ze_loader)
if(NOT UT_ZE_INCLUDE OR NOT UT_ZE_LOADER)
  message(STATUS "no headers or loader of Level Zero (Debian: libze-dev): its tests are left out")
  unset(UT_ZE_INCLUDE CACHE) # they may be installed before the next configure
  unset(UT_ZE_LOADER CACHE)
  return()
endif()

file(GLOB _sim CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/levelzero/sim_*.c)
set(_checked "")
if(UT_SANITIZE)
  set(_checked ze_simulated_checked) # for tests that are sanitized themselves
endif()
foreach(_target ze_simulated ${_checked})
  add_library(${_target} MODULE ${_sim})
  target_compile_options(${_target} PRIVATE -fvisibility=hidden)
  target_include_directories(${_target} SYSTEM PRIVATE ${UT_ZE_INCLUDE})
  target_link_libraries(${_target} PRIVATE ut_flags Threads::Threads)
  set_target_properties(${_target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/levelzero)
  ut_only_for_tests(${_target})
endforeach()
if(_checked)
  target_link_libraries(ze_simulated_checked PRIVATE ut_sanitizers)
endif()

file(GLOB _programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/levelzero/ze_*.c)
foreach(_file ${_programs})
  get_filename_component(_name ${_file} NAME_WE)
  add_executable(levelzero_${_name} ${_file})
  ut_extra_flags(levelzero_${_name} ${_file})
  target_include_directories(levelzero_${_name} SYSTEM PRIVATE ${UT_ZE_INCLUDE})
  target_link_libraries(levelzero_${_name} PRIVATE ut_flags ittnotify Threads::Threads
    ${CMAKE_DL_LIBS})
  set_target_properties(levelzero_${_name} PROPERTIES OUTPUT_NAME ${_name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/levelzero)
  ut_only_for_tests(levelzero_${_name})
endforeach()
