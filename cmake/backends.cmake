# Backends: every folder src/record/backend/NAME becomes lib/unitrace/backends/NAME.so. Like the collector
# they are guests: libc and, at run time, the runtime they watch; hidden symbols; no sanitizers. The
# headers *_abi.h describe the runtimes, so that no SDK is needed; OpenCL is the exception.
set(UT_BACKENDS "")          # names
set(UT_BACKENDS_LEFT_OUT "") # "NAME: REASON"
set(UT_BACKEND_DIR ${PROJECT_BINARY_DIR}/lib/unitrace/backends)

# src/record/backend/*.c, for several backends: from an archive each takes only the files that it uses.
file(GLOB _common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/backend/*.c)
add_library(guest_backend STATIC ${_common})
ut_guest_flags(guest_backend)
target_link_libraries(guest_backend PUBLIC Threads::Threads)

function(ut_backend name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/backend/${name}/*.c)
  add_library(backend_${name} MODULE ${sources})
  ut_guest_flags(backend_${name})
  target_link_options(backend_${name} PRIVATE ${UT_HARDEN_LINK} -Wl,-z,defs -Wl,-z,nodelete
    -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--as-needed)
  target_link_libraries(backend_${name} PRIVATE guest_backend ${CMAKE_DL_LIBS})
  set_target_properties(backend_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${UT_BACKEND_DIR})
  if(NOT name STREQUAL "null") # which is for tests
    install(TARGETS backend_${name}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/backends)
  endif()
endfunction()

# OpenCL needs headers only: the runtime is found by the traced program, not by us.
set(_missing_opencl "")
if(UT_WITH_OPENCL)
  include(CheckCSourceCompiles)
  find_path(UT_OPENCL_INCLUDE CL/cl_icd.h)
  if(UT_OPENCL_INCLUDE)
    set(CMAKE_REQUIRED_INCLUDES ${UT_OPENCL_INCLUDE})
    check_c_source_compiles("
      #define CL_TARGET_OPENCL_VERSION 300
      #include <CL/cl_icd.h>
      #include <stddef.h>
      int main(void) { return !offsetof(cl_icd_dispatch, clSetContextDestructorCallback); }"
      UT_OPENCL_HEADERS)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(NOT UT_OPENCL_HEADERS)
    set(_missing_opencl "the headers of OpenCL 3.0 are missing (Debian: opencl-headers)")
    unset(UT_OPENCL_HEADERS CACHE) # they may be installed before the next configure
    unset(UT_OPENCL_INCLUDE CACHE)
    if(NOT BUILD_WITH_OPENCL STREQUAL "AUTO")
      message(WARNING "BUILD_WITH_OPENCL=${BUILD_WITH_OPENCL}: ${_missing_opencl}")
    endif()
  endif()
endif()

# A backend's switch has its name, except for these.
set(_switch_levelzero L0)
set(_switch_sycl XPTI)

file(GLOB _names CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/record/backend
  ${PROJECT_SOURCE_DIR}/src/record/backend/*/*.c)
list(TRANSFORM _names REPLACE "/.*" "")
list(REMOVE_DUPLICATES _names)
foreach(_name ${_names})
  string(TOUPPER ${_name} _switch)
  if(_switch_${_name})
    set(_switch ${_switch_${_name}})
  endif()
  if(DEFINED UT_WITH_${_switch} AND NOT UT_WITH_${_switch})
    set(_missing_${_name} "BUILD_WITH_${_switch}=${BUILD_WITH_${_switch}}")
  endif()
  if(_missing_${_name})
    list(APPEND UT_BACKENDS_LEFT_OUT "${_name}: ${_missing_${_name}}")
    file(REMOVE ${UT_BACKEND_DIR}/${_name}.so) # of an earlier build
  else()
    list(APPEND UT_BACKENDS ${_name})
    ut_backend(${_name})
  endif()
endforeach()

# What single backends need besides.
if(TARGET backend_cuda) # what is marked with NVTX goes the way of ITT's marks, through the SDK
  target_link_libraries(backend_cuda PRIVATE ittnotify)
  target_link_options(backend_cuda PRIVATE -Wl,--exclude-libs,ALL)
endif()
if(TARGET backend_memory) # it walks stacks by the tables that programs carry
  target_sources(backend_memory PRIVATE src/base/readable.c src/record/symbol/unwind_rows.c
    src/record/symbol/unwind_table.c src/record/symbol/unwind_pieces.c src/record/symbol/python_frames.c
    src/record/symbol/python_layout.c src/record/symbol/python_lines.c)
  # A compiler knows malloc() and leaves calls out: here they are functions like others.
  target_compile_options(backend_memory PRIVATE -fno-builtin-malloc -fno-builtin-free
    -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-posix_memalign)
endif()
if(TARGET backend_opencl)
  target_include_directories(backend_opencl SYSTEM PRIVATE ${UT_OPENCL_INCLUDE})
endif()

# For the unit tests: what knows no runtime, and all of Level Zero's, against a simulated driver.
file(GLOB _levelzero CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/backend/levelzero/*.c)
add_library(ut_backend STATIC EXCLUDE_FROM_ALL ${_common} ${_levelzero}
  src/record/backend/opencl/device_clock.c src/record/backend/mpi/channel.c src/record/backend/mpi/mpi_match.c
  src/record/backend/memory/live_set.c src/record/backend/memory/rate.c)
target_link_libraries(ut_backend PRIVATE ut_flags PUBLIC ut_sanitizers ut_symbol)
