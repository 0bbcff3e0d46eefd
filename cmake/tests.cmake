# ctest: unit tests as MODULE/NAME, end-to-end tests as e2e/NAME, golden cases as golden_COMMAND, the page as
# web/PART. None is part of "all": the target "tests" builds everything they need. Each test names a
# fixture that builds its own part first, so that "ctest -R NAME" builds what it runs and no more;
# "ctest -FS . -LE build" builds nothing.
#
# Labels say what a run costs and needs; docs/testing.md has the table. Files under tests/e2e and
# tests/python choose theirs in a line "# ci: labels slow browser"; those without one are "fast".
set(UT_TEST_ENV UNITRACE_BUILD=${PROJECT_BINARY_DIR} UNITRACE_SOURCE=${PROJECT_SOURCE_DIR}
  XDG_STATE_HOME=${PROJECT_BINARY_DIR}/state) # not where the user keeps notes of recordings
set(UT_TEST_LABELS fast slow browser mpi real long)
set(UT_TEST_LIMIT 1800) # seconds; only a hang takes that long
add_custom_target(tests)
add_custom_target(tests_e2e) # what end-to-end tests run beside the program
add_dependencies(tests tests_e2e)
include(ProcessorCount)
ProcessorCount(_cores)
if(_cores EQUAL 0)
  set(_cores 1)
endif()

# ut_build_fixture(NAME TARGETS...): a test built/NAME, which builds TARGETS for the tests that ask for
# it. One at a time: they share the tree.
function(ut_build_fixture name)
  add_test(NAME built/${name} COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${ARGN}
    --parallel ${_cores})
  set_tests_properties(built/${name} PROPERTIES FIXTURES_SETUP built_${name} LABELS build TIMEOUT 3600
    RESOURCE_LOCK build_tree)
endfunction()

# ut_only_for_tests(TARGET): not a part of "all", but of what end-to-end tests need.
function(ut_only_for_tests target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(tests_e2e ${target})
endfunction()

set(_all_modules ut_cmd ut_launch ut_analyze ut_report ut_export ut_import ut_wire ut_model ut_itt ut_base)

if(TARGET ittnotify)
  ut_programs(tests/programs ittnotify)
  ut_programs(tests/bench ittnotify ut_sanitizers ${_all_modules})
  ut_programs(tests/stress ittnotify ut_sanitizers ${_all_modules})
endif()

if(TARGET ittnotify)
  include(cmake/levelzero.cmake)
endif()

if(PKG_CONFIG_FOUND)
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
endif()

# Modules whose tests need a library beside _all_modules, and files of other modules' tests.
set(UT_TESTS_LIBRARIES_collect ut_collect)
set(UT_TESTS_LIBRARIES_sdk ut_sdk)
set(UT_TESTS_LIBRARIES_backend ut_backend)
foreach(_module view serve draw metrics workbench site mcp)
  set(UT_TESTS_LIBRARIES_${_module} ut_${_module})
endforeach()
set(UT_TESTS_FILES_sample analyze/make_store.c)
set(UT_TESTS_FILES_ranks analyze/make_store.c)
set(UT_TESTS_FILES_report export/support.c analyze/make_store.c)
set(UT_TESTS_FILES_view analyze/make_store.c sample/make_samples.c)

# ut_unit_tests(MODULE FILES...): one program, tests/unit_MODULE, of all test_NAME.c and what else lies beside them;
# a test MODULE/NAME for each.
function(ut_unit_tests module)
  set(target unit_${module})
  file(GLOB support CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/support/*.c ${PROJECT_SOURCE_DIR}/tests/${module}/*.c)
  list(FILTER support EXCLUDE REGEX "/test_[^/]*$")
  foreach(file ${UT_TESTS_FILES_${module}})
    list(APPEND support ${PROJECT_SOURCE_DIR}/tests/${file})
  endforeach()

  set(declarations "")
  set(entries "")
  foreach(file ${ARGN})
    string(REGEX REPLACE ".*/test_(.*)\\.c$" "\\1" name ${file})
    string(APPEND declarations "int ut_tests_${name}(int argc, char **argv);\n")
    string(APPEND entries "\t{ \"${name}\", ut_tests_${name} },\n")
    add_test(NAME ${module}/${name} COMMAND ${target} ${name})
    set_tests_properties(${module}/${name} PROPERTIES
      LABELS "fast;unit;${module}" TIMEOUT ${UT_TEST_LIMIT} SKIP_RETURN_CODE 77 ENVIRONMENT "${UT_TEST_ENV}"
      FIXTURES_REQUIRED built_unit_${module})
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/unit_${module}.c @ONLY CONTENT
    "#include \"support/unit.h\"\n@declarations@const struct ut_unit_file ut_unit_files[] = {\n@entries@\t{ 0 },\n};\n")

  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN} ${support} ${PROJECT_BINARY_DIR}/tests/unit_${module}.c)
  add_dependencies(tests ${target})
  ut_build_fixture(unit_${module} ${target})
  foreach(file ${ARGN})
    ut_extra_flags(${target} ${file})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE UT_WITH_ITT=${UT_WITH_ITT}
    UT_HAVE_ZLIB=${UT_HAVE_ZLIB} UT_HAVE_ZSTD=${UT_HAVE_ZSTD} UT_HAVE_SQLITE=${UT_HAVE_SQLITE})
  target_link_libraries(${target} PRIVATE ut_flags ut_sanitizers ${UT_TESTS_LIBRARIES_${module}} ${_all_modules}
    PkgConfig::CMOCKA Threads::Threads m ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

set(UT_UNIT_TESTS 0)
file(GLOB _tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.c)
list(FILTER _tests EXCLUDE REGEX "/tests/(programs|e2e|fuzz|bench|golden|device|support)/")
if(NOT UT_HAVE_SQLITE)
  list(FILTER _tests EXCLUDE REGEX "/tests/(query/|report/test_sqlite)")
endif()
if(CMOCKA_FOUND)
  set(_modules ${_tests})
  list(TRANSFORM _modules REPLACE ".*/tests/([^/]*)/.*" "\\1")
  list(REMOVE_DUPLICATES _modules)
  foreach(_module ${_modules})
    set(_files ${_tests})
    list(FILTER _files INCLUDE REGEX "/tests/${_module}/")
    ut_unit_tests(${_module} ${_files})
  endforeach()
  list(LENGTH _tests UT_UNIT_TESTS)
else()
  message(STATUS "cmocka not found (libcmocka-dev): the unit tests are left out")
endif()

foreach(_driver ze_simulated ze_simulated_checked)
  if(TARGET unit_backend AND TARGET ${_driver})
    add_dependencies(unit_backend ${_driver})
  endif()
endforeach()

if(TARGET unit_report)
  add_dependencies(tests_e2e unit_report) # e2e/oracles reads the files that report/samples writes
endif()

find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "python3 not found: the end-to-end tests are left out")
endif()

# ut_e2e_test(NAME LABELS COMMAND...)
function(ut_e2e_test name labels)
  foreach(label ${labels})
    if(NOT label IN_LIST UT_TEST_LABELS)
      message(FATAL_ERROR "${name}: unknown label '${label}'; one of ${UT_TEST_LABELS}")
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${ARGN})
  # Long ones first, or one of them keeps the others waiting for its end.
  set(cost 1)
  if("browser" IN_LIST labels)
    set(cost 100)
  elseif("slow" IN_LIST labels)
    set(cost 50)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels};e2e" TIMEOUT ${UT_TEST_LIMIT} SKIP_RETURN_CODE 77 COST ${cost}
    ENVIRONMENT "${UT_TEST_ENV}" FIXTURES_REQUIRED built_e2e WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

ut_build_fixture(e2e all tests_e2e)
set(UT_E2E_TESTS 0)
file(GLOB _tests CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/e2e/test_*.py ${PROJECT_SOURCE_DIR}/tests/python/test_*.py)
foreach(file ${_tests})
  string(REGEX REPLACE ".*/tests/([^/]*)/test_(.*)\\.py$" "\\1/\\2" _name ${file})
  # A test that makes no sense with a sanitized program, or only with one, says so in a comment.
  file(STRINGS ${file} _plain REGEX "^# ci: no sanitizers")
  file(STRINGS ${file} _sanitized REGEX "^# ci: only sanitizers")
  if(NOT Python3_FOUND OR (_plain AND UT_SANITIZE) OR (_sanitized AND NOT UT_SANITIZE MATCHES "address"))
    continue()
  endif()
  file(STRINGS ${file} _labels REGEX "^# ci: labels ")
  string(REGEX REPLACE "^# ci: labels +" "" _labels "${_labels}")
  string(REPLACE " " ";" _labels "${_labels}")
  if(NOT _labels)
    set(_labels fast)
  endif()
  ut_e2e_test(${_name} "${_labels}" ${Python3_EXECUTABLE} -B ${file})
  math(EXPR UT_E2E_TESTS "${UT_E2E_TESTS} + 1")
endforeach()

# Golden cases, an entry per command: tests/golden/COMMAND/CASE/cmd.
file(GLOB _cases CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/golden
  ${PROJECT_SOURCE_DIR}/tests/golden/*/*/cmd)
set(_commands ${_cases})
list(TRANSFORM _commands REPLACE "/.*" "")
list(REMOVE_DUPLICATES _commands)
if(Python3_FOUND AND TARGET unitrace)
  foreach(_command ${_commands})
    ut_e2e_test(golden_${_command} fast ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/golden/run.py ${_command})
  endforeach()
  ut_e2e_test(golden_inputs fast ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/golden/make_inputs.py --check)
  ut_e2e_test(scenarios slow ${Python3_EXECUTABLE} -B
    ${PROJECT_SOURCE_DIR}/tests/scenarios.py --run --build ${PROJECT_BINARY_DIR})
endif()

# The viewer's page: its types and format, its numbers in node, its controls in a browser.
if(NOT UT_SANITIZE) # none of it is compiled
  ut_e2e_test(web/check fast ${PROJECT_SOURCE_DIR}/tools/web.sh check)
  ut_e2e_test(web/test fast ${PROJECT_SOURCE_DIR}/tools/web.sh test)
  ut_e2e_test(web/browser "slow;browser" ${PROJECT_SOURCE_DIR}/tools/web.sh browser)
endif()
