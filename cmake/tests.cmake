# ctest: unit tests as ROOM/NAME, end-to-end tests as e2e/NAME, and the scenarios. Who only wants the
# program does not wait for them: they are built with the target "tests", which ctest builds first
# (the fixture "built"; "ctest -FS built -LE build" leaves that out).
set(UT_TEST_ENV UNITRACE_BUILD=${PROJECT_BINARY_DIR} UNITRACE_SOURCE=${PROJECT_SOURCE_DIR}
  XDG_STATE_HOME=${PROJECT_BINARY_DIR}/state) # not where the user keeps notes of recordings
add_custom_target(tests)
include(ProcessorCount)
ProcessorCount(_cores)
if(_cores EQUAL 0)
  set(_cores 1)
endif()
add_test(NAME built COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target all tests
  --parallel ${_cores})
set_tests_properties(built PROPERTIES FIXTURES_SETUP built LABELS build TIMEOUT 3600)

# ut_only_for_tests(TARGET): not a part of "all".
function(ut_only_for_tests target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(tests ${target})
endfunction()

set(_all_rooms ut_cmd ut_launch ut_analyze ut_export ut_import ut_wire ut_model ut_itt ut_base)

if(TARGET ittnotify)
  ut_programs(tests/programs ittnotify)
  ut_programs(tests/bench ittnotify ut_sanitizers ${_all_rooms})
  ut_programs(tests/stress ittnotify ut_sanitizers ${_all_rooms})
endif()

if(TARGET ittnotify)
  include(cmake/levelzero.cmake)
endif()

if(PKG_CONFIG_FOUND)
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
endif()

# tests/support/*.c and a room's own files that are not test_* are compiled once for its tests.
function(ut_test_support room)
  if(TARGET test_support_${room})
    return()
  endif()
  file(GLOB support CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/support/*.c ${PROJECT_SOURCE_DIR}/tests/${room}/*.c)
  if(room MATCHES "^(view|sample|ranks)$")
    list(APPEND support ${PROJECT_SOURCE_DIR}/tests/analyze/make_store.c)
  endif()
  if(room STREQUAL "view")
    list(APPEND support ${PROJECT_SOURCE_DIR}/tests/sample/make_samples.c)
  endif()
  list(FILTER support EXCLUDE REGEX "/test_[^/]*$")
  if(NOT support)
    add_library(test_support_${room} INTERFACE)
    return()
  endif()
  add_library(test_support_${room} STATIC EXCLUDE_FROM_ALL ${support})
  target_include_directories(test_support_${room} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_support_${room} PRIVATE UT_WITH_ITT=${UT_WITH_ITT}
    UT_HAVE_ZLIB=${UT_HAVE_ZLIB} UT_HAVE_ZSTD=${UT_HAVE_ZSTD} UT_HAVE_SQLITE=${UT_HAVE_SQLITE})
  target_link_libraries(test_support_${room} PRIVATE ut_flags ut_sanitizers PkgConfig::CMOCKA)
endfunction()

function(ut_unit_test room file)
  get_filename_component(base ${file} NAME_WE)
  string(REGEX REPLACE "^test_" "" name ${base})
  set(target test_${room}_${name})
  ut_test_support(${room})
  add_executable(${target} ${file})
  ut_only_for_tests(${target})
  set(libs ${_all_rooms})
  if(room STREQUAL "collect")
    list(PREPEND libs ut_collect)
  elseif(room STREQUAL "arrow")
    set(libs ut_arrow)
  elseif(room STREQUAL "sdk")
    list(PREPEND libs ut_sdk)
  elseif(room STREQUAL "backend")
    list(PREPEND libs ut_backend)
  elseif(room MATCHES "^(view|serve|draw|metrics|workbench|site|mcp)$")
    list(PREPEND libs ut_${room})
  endif()
  ut_extra_flags(${target} ${file})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE UT_WITH_ITT=${UT_WITH_ITT}
    UT_HAVE_ZLIB=${UT_HAVE_ZLIB} UT_HAVE_ZSTD=${UT_HAVE_ZSTD} UT_HAVE_SQLITE=${UT_HAVE_SQLITE})
  target_link_libraries(${target} PRIVATE ut_flags ut_sanitizers test_support_${room} ${libs} PkgConfig::CMOCKA
    Threads::Threads m ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${base} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room})
  if(NOT TARGET unit_${room})
    add_custom_target(unit_${room})
  endif()
  add_dependencies(unit_${room} ${target})
  add_test(NAME ${room}/${name} COMMAND ${target})
  set_tests_properties(${room}/${name} PROPERTIES
    LABELS "unit;${room}" TIMEOUT 120 SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}"
    FIXTURES_REQUIRED built)
endfunction()

set(UT_UNIT_TESTS 0)
file(GLOB _tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.c)
list(FILTER _tests EXCLUDE REGEX "/tests/(programs|e2e|fuzz|bench|golden|device|support)/")
if(NOT UT_HAVE_SQLITE)
  list(FILTER _tests EXCLUDE REGEX "/tests/(query/|export/test_sqlite)")
endif()
foreach(file ${_tests})
  if(NOT CMOCKA_FOUND)
    message(STATUS "cmocka not found (libcmocka-dev): the unit tests are left out")
    break()
  endif()
  get_filename_component(_room ${file} DIRECTORY)
  get_filename_component(_room ${_room} NAME)
  ut_unit_test(${_room} ${file})
  math(EXPR UT_UNIT_TESTS "${UT_UNIT_TESTS} + 1")
endforeach()

foreach(_test test_backend_levelzero test_backend_levelzero_metrics)
  foreach(_driver ze_simulated ze_simulated_checked)
    if(TARGET ${_test} AND TARGET ${_driver})
      add_dependencies(${_test} ${_driver})
    endif()
  endforeach()
endforeach()

find_package(Python3 QUIET COMPONENTS Interpreter)
set(UT_E2E_TESTS 0)
file(GLOB _tests CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/e2e/test_*.py ${PROJECT_SOURCE_DIR}/tests/e2e/test_*.sh
  ${PROJECT_SOURCE_DIR}/tests/python/test_*.py)
foreach(file ${_tests})
  get_filename_component(_base ${file} NAME_WE)
  string(REGEX REPLACE "^test_" "" _name ${_base})
  string(REGEX REPLACE ".*/tests/([^/]*)/.*" "\\1" _folder ${file})
  # A test that makes no sense with a sanitized program says so in a comment.
  file(STRINGS ${file} _plain REGEX "^# ci: no sanitizers")
  if(_plain AND UT_SANITIZE)
    continue()
  endif()
  if(file MATCHES "\\.sh$")
    add_test(NAME ${_folder}/${_name} COMMAND bash ${file})
  elseif(Python3_FOUND)
    add_test(NAME ${_folder}/${_name} COMMAND ${Python3_EXECUTABLE} -B ${file})
  else()
    message(STATUS "python3 not found: ${_folder}/${_name} is left out")
    continue()
  endif()
  set_tests_properties(${_folder}/${_name} PROPERTIES
    LABELS e2e TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}" FIXTURES_REQUIRED built
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  math(EXPR UT_E2E_TESTS "${UT_E2E_TESTS} + 1")
endforeach()

# Golden cases, an entry per command: tests/golden/COMMAND/CASE/cmd.
file(GLOB _cases CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/golden
  ${PROJECT_SOURCE_DIR}/tests/golden/*/*/cmd)
set(_commands ${_cases})
list(TRANSFORM _commands REPLACE "/.*" "")
list(REMOVE_DUPLICATES _commands)
foreach(_command ${_commands})
  if(NOT Python3_FOUND OR NOT TARGET unitrace)
    break()
  endif()
  add_test(NAME golden_${_command} COMMAND ${Python3_EXECUTABLE} -B
    ${PROJECT_SOURCE_DIR}/tests/golden/run.py ${_command})
  set_tests_properties(golden_${_command} PROPERTIES
    LABELS "e2e;golden" TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}"
    FIXTURES_REQUIRED built)
endforeach()
if(Python3_FOUND)
  add_test(NAME golden_inputs COMMAND ${Python3_EXECUTABLE} -B
    ${PROJECT_SOURCE_DIR}/tests/golden/make_inputs.py --check)
  set_tests_properties(golden_inputs PROPERTIES LABELS "e2e;golden" TIMEOUT 60)
endif()

# The viewer's page: its types and format, its numbers in node, its controls in a browser.
foreach(_part check test browser)
  if(UT_SANITIZE)
    break() # none of it is compiled
  endif()
  add_test(NAME web/${_part} COMMAND ${PROJECT_SOURCE_DIR}/tools/web.sh ${_part})
  set_tests_properties(web/${_part} PROPERTIES
    LABELS "e2e;web" TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}")
endforeach()

if(Python3_FOUND AND TARGET unitrace AND EXISTS ${PROJECT_SOURCE_DIR}/tests/scenarios.py)
  add_test(NAME scenarios COMMAND ${Python3_EXECUTABLE} -B
    ${PROJECT_SOURCE_DIR}/tests/scenarios.py --run --build ${PROJECT_BINARY_DIR})
  set_tests_properties(scenarios PROPERTIES
    LABELS e2e TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}" FIXTURES_REQUIRED built)
endif()
