# Programs to trace: examples/ for people, tests/programs/ for the tests, tests/bench/ to measure.
# One source file is one program of the same name; lib*.c becomes a shared object beside them. A
# line "link: FLAGS" in a comment adds compile and link flags, for example "link: -fopenmp".

file(GLOB _cxx CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/tests/*/*.cpp)
if(_cxx)
  if(NOT CMAKE_CXX_COMPILER)
    unset(CMAKE_CXX_COMPILER CACHE) # it may have been installed since
  endif()
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
  else()
    message(STATUS "no C++ compiler: the C++ examples and test programs are left out")
  endif()
endif()

# ut_extra_flags(TARGET FILE): give TARGET the flags of FILE's "link:" lines.
function(ut_extra_flags target file)
  file(STRINGS ${file} lines REGEX "^(/\\*|//| \\*) link: ")
  foreach(line ${lines})
    string(REGEX REPLACE "^[^:]*link: *" "" line "${line}")
    string(REGEX REPLACE " *\\*/.*$" "" line "${line}")
    separate_arguments(flags UNIX_COMMAND "${line}")
    target_link_libraries(${target} PRIVATE ${flags})
    if("unitrace_read" IN_LIST flags)
      target_link_libraries(${target} PRIVATE ut_sanitizers)
    endif()
    list(FILTER flags EXCLUDE REGEX "^-(l|L|Wl,|static|rdynamic)|^[^-]")
    target_compile_options(${target} PRIVATE ${flags})
  endforeach()
endfunction()

# ut_programs(FOLDER LIBRARIES...): every program of FOLDER, into the same folder under build/. Those
# of tests/ are built with the target "tests".
function(ut_programs folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
  if(CMAKE_CXX_COMPILER)
    file(GLOB cxx_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND files ${cxx_files})
  endif()
  if(NOT TARGET unitrace_read)
    list(FILTER files EXCLUDE REGEX "/examples/read\\.c$")
  endif()
  string(MAKE_C_IDENTIFIER ${folder} prefix)
  add_custom_target(${prefix})
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    set(target ${prefix}_${name})
    if(name MATCHES "^lib")
      add_library(${target} MODULE ${file})
      set_target_properties(${target} PROPERTIES PREFIX "")
    else()
      add_executable(${target} ${file})
    endif()
    ut_extra_flags(${target} ${file})
    target_compile_definitions(${target} PRIVATE UT_HAVE_SQLITE=${UT_HAVE_SQLITE})
    target_link_libraries(${target} PRIVATE ut_flags ${ARGN} Threads::Threads m ${CMAKE_DL_LIBS})
    add_dependencies(${prefix} ${target})
    if(folder MATCHES "^tests/")
      ut_only_for_tests(${target})
    endif()
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  endforeach()
endfunction()

if(TARGET ittnotify)
  ut_programs(examples ittnotify)
endif()
