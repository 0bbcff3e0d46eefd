# The Python package: lib/unitrace/python holds it as it is used from the build tree and after an
# installation, with one extension for every interpreter that has its headers here. UT_PYTHONS names
# interpreters (a list of programs); the default is the python3 that is found first and every
# python3.9 ... python3.14 on the path.
set(UT_PYTHON_DIR ${PROJECT_BINARY_DIR}/lib/unitrace/python)
set(UT_PYTHON_BUILT "")
set(UT_PYTHON_WHY "")
set(UT_PYTHON_PROGRAMS "") # those that it was built for

# What an interpreter says about itself: "VERSION;INCLUDE;SUFFIX", or nothing.
function(ut_python_facts var program)
  execute_process(COMMAND ${program} -c
    "import sys, sysconfig as s; print(';'.join(['%d.%d' % sys.version_info[:2], s.get_path('include'), s.get_config_var('EXT_SUFFIX')])) if sys.implementation.name == 'cpython' else None"
    OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE rc)
  if(rc)
    set(facts "")
  endif()
  set(${var} "${facts}" PARENT_SCOPE)
endfunction()

function(ut_python_extension version include suffix)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.c)
  set(target python_${version})
  add_library(${target} MODULE ${sources})
  ut_guest_flags(${target})
  # Python's own headers are not written for our warnings.
  target_include_directories(${target} SYSTEM PRIVATE ${include})
  target_link_options(${target} PRIVATE ${UT_HARDEN_LINK} -Wl,--gc-sections -Wl,--as-needed)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME "_core${suffix}"
    LIBRARY_OUTPUT_DIRECTORY ${UT_PYTHON_DIR}/unitrace)
  install(TARGETS ${target}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/python/unitrace)
endfunction()

# One for all interpreters: it keeps to what is stable in their interface.
function(ut_python_arrow include)
  add_library(python_arrow MODULE ${PROJECT_SOURCE_DIR}/python/arrow/arrow.c)
  target_link_libraries(python_arrow PRIVATE ut_flags)
  target_include_directories(python_arrow SYSTEM PRIVATE ${include})
  target_link_options(python_arrow PRIVATE ${UT_HARDEN_LINK})
  set_target_properties(python_arrow PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME "_arrow.abi3.so"
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${UT_PYTHON_DIR}/unitrace)
  install(TARGETS python_arrow
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/python/unitrace)
endfunction()

if(NOT UT_PYTHONS)
  find_program(UT_PYTHON3 python3)
  set(_pythons ${UT_PYTHON3})
  foreach(_minor 9 10 11 12 13 14)
    find_program(UT_PYTHON3_${_minor} python3.${_minor})
    list(APPEND _pythons ${UT_PYTHON3_${_minor}})
  endforeach()
else()
  set(_pythons ${UT_PYTHONS})
endif()
list(FILTER _pythons EXCLUDE REGEX "NOTFOUND$")

set(_without "")
foreach(_python ${_pythons})
  ut_python_facts(_facts ${_python})
  list(LENGTH _facts _count)
  if(NOT _count EQUAL 3 OR NOT TARGET collector)
    continue()
  endif()
  list(GET _facts 0 _version)
  list(GET _facts 1 _include)
  list(GET _facts 2 _suffix)
  if(_version VERSION_LESS 3.9 OR _version IN_LIST UT_PYTHON_BUILT)
    continue()
  endif()
  if(EXISTS ${_include}/Python.h)
    ut_python_extension(${_version} ${_include} ${_suffix})
    if(NOT TARGET python_arrow)
      ut_python_arrow(${_include})
    endif()
    list(APPEND UT_PYTHON_BUILT ${_version})
    list(APPEND UT_PYTHON_PROGRAMS ${_python})
  elseif(NOT _version IN_LIST _without)
    list(APPEND _without ${_version}) # another one of this version may have them
  endif()
endforeach()
foreach(_version ${_without})
  if(NOT _version IN_LIST UT_PYTHON_BUILT)
    string(APPEND UT_PYTHON_WHY " ${_version}: Python.h is missing (Debian: python3-dev)")
  endif()
endforeach()

# The .py files are there without any extension, too: marks then do nothing, and programs that import
# them run. They are copied, so that the build tree looks like what is installed.
if(TARGET collector)
  file(GLOB_RECURSE _files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
    ${PROJECT_SOURCE_DIR}/python/unitrace/*.py ${PROJECT_SOURCE_DIR}/python/unitrace/*.pyi
    ${PROJECT_SOURCE_DIR}/python/unitrace/py.typed ${PROJECT_SOURCE_DIR}/python/inject/*.py
    ${PROJECT_SOURCE_DIR}/python/fallback/*.py)
  set(_copies)
  foreach(_file ${_files})
    add_custom_command(OUTPUT ${UT_PYTHON_DIR}/${_file}
      COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/${_file} ${UT_PYTHON_DIR}/${_file}
      DEPENDS ${PROJECT_SOURCE_DIR}/python/${_file} VERBATIM)
    list(APPEND _copies ${UT_PYTHON_DIR}/${_file})
  endforeach()
  # By this pytest finds the plugin, as in an installed package.
  set(_info unitrace-${UT_PYTHON_VERSION}.dist-info)
  foreach(_file METADATA entry_points.txt)
    configure_file(python/dist-info/${_file} ${UT_PYTHON_DIR}/${_info}/${_file} @ONLY)
  endforeach()
  install(DIRECTORY ${UT_PYTHON_DIR}/${_info}
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/python)
  add_custom_target(python_package ALL DEPENDS ${_copies})
  foreach(_version ${UT_PYTHON_BUILT})
    add_dependencies(python_package python_${_version})
  endforeach()
  foreach(_folder unitrace inject fallback)
    install(DIRECTORY python/${_folder} DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/python
      FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
  endforeach()

  # So that "python -m unitrace" is found, where an interpreter looks under the prefix.
  configure_file(cmake/python_links.cmake.in ${PROJECT_BINARY_DIR}/generated/python_links.cmake @ONLY)
  install(SCRIPT ${PROJECT_BINARY_DIR}/generated/python_links.cmake)
endif()
