# Backends: src/backend/NAME/ becomes lib/unitrace/backends/NAME.so. Like the collector they are
# guests: libc and, at run time, the runtime they watch; hidden symbols; no sanitizers. A backend
# whose SDK is missing is left out, and the summary says so.
set(UT_BACKENDS "")
set(UT_BACKEND_DIR ${PROJECT_BINARY_DIR}/lib/unitrace/backends)

# ut_backend(NAME SOURCES...): link further libraries and includes with target_* on backend_NAME.
function(ut_backend name)
  add_library(backend_${name} MODULE ${ARGN})
  ut_guest_flags(backend_${name})
  target_link_options(backend_${name} PRIVATE ${UT_HARDEN_LINK} -Wl,-z,defs -Wl,-z,nodelete
    -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--as-needed)
  target_link_libraries(backend_${name} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(backend_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${UT_BACKEND_DIR})
  if(NOT name STREQUAL "null") # which is for tests
    install(TARGETS backend_${name}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/backends)
  endif()
  set(UT_BACKENDS ${UT_BACKENDS} ${name} PARENT_SCOPE)
endfunction()

if(TARGET collector)
  ut_backend(null src/backend/null/null.c)
  # CUPTI is opened at run time and described by cupti_abi.h: no SDK is needed.
  ut_backend(cuda src/backend/cuda/cuda.c src/backend/cuda/calls.c src/backend/cuda/work.c
    src/backend/cuda/side.c src/backend/cuda/nvtx.c src/backend/cuda/nvtx_payload.c src/backend/cuda/cuda_measure.c
    src/backend/cuda/query.c src/backend/cuda/sampling.c src/backend/cuda/stalls.c)
  # What is marked with NVTX goes the way of ITT's marks, through the SDK's static part.
  target_link_libraries(backend_cuda PRIVATE ittnotify)
  target_link_options(backend_cuda PRIVATE -Wl,--exclude-libs,ALL)
  # In front of any MPI: built without mpi.h (src/backend/mpi/mpi_abi.h).
  file(GLOB _mpi CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/mpi/*.c)
  ut_backend(mpi ${_mpi} src/backend/handle_table.c)
  # NCCL's profiler plugin: built without NCCL (src/backend/nccl/nccl_abi.h).
  file(GLOB _nccl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/nccl/*.c)
  ut_backend(nccl ${_nccl})
  # In the place of a driver of Level Zero, which ze_abi.h and api.def describe: no SDK is needed.
  file(GLOB _levelzero CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/levelzero/*.c)
  ut_backend(levelzero ${_levelzero} src/backend/handle_table.c src/backend/helper_thread.c)
  target_link_libraries(backend_levelzero PRIVATE Threads::Threads)
  # A subscriber to XPTI, which xpti_abi.h describes: no SDK is needed.
  file(GLOB _sycl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/sycl/*.c)
  ut_backend(sycl ${_sycl} src/backend/handle_table.c)
  target_link_libraries(backend_sycl PRIVATE Threads::Threads)
  # In front of the program's allocator. Its stacks are walked by the tables that programs carry.
  file(GLOB _memory CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/memory/*.c)
  ut_backend(memory ${_memory} src/backend/own_stack.c src/base/readable.c
    src/symbol/unwind_rows.c
    src/symbol/unwind_table.c
    src/symbol/unwind_pieces.c src/symbol/python_frames.c src/symbol/python_layout.c
    src/symbol/python_lines.c)
  # A compiler knows malloc() and leaves calls out: here they are functions like others.
  target_compile_options(backend_memory PRIVATE -fno-builtin-malloc -fno-builtin-free
    -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-posix_memalign)
endif()

# OpenCL needs headers only: the runtime is found by the traced program, not by us.
set(UT_OPENCL_WHY "")
if(NOT TARGET collector OR (NOT BUILD_WITH_OPENCL STREQUAL "AUTO" AND NOT BUILD_WITH_OPENCL))
  set(UT_OPENCL_WHY "BUILD_WITH_OPENCL=${BUILD_WITH_OPENCL}")
else()
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
  if(UT_OPENCL_HEADERS)
    file(GLOB _opencl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/opencl/*.c)
    ut_backend(opencl ${_opencl} src/backend/handle_table.c src/backend/helper_thread.c)
    target_include_directories(backend_opencl SYSTEM PRIVATE ${UT_OPENCL_INCLUDE})
    target_link_libraries(backend_opencl PRIVATE Threads::Threads)
  else()
    set(UT_OPENCL_WHY "the headers of OpenCL 3.0 are missing (Debian: opencl-headers)")
    unset(UT_OPENCL_HEADERS CACHE) # they may be installed before the next configure
    unset(UT_OPENCL_INCLUDE CACHE)
    if(NOT BUILD_WITH_OPENCL STREQUAL "AUTO")
      message(WARNING "BUILD_WITH_OPENCL=${BUILD_WITH_OPENCL}: ${UT_OPENCL_WHY}")
    endif()
  endif()
endif()

# The parts of backends that know no runtime, for the unit tests; that for Level Zero is there as a
# whole, against a simulated driver.
add_library(ut_backend STATIC EXCLUDE_FROM_ALL src/backend/opencl/device_clock.c
  src/backend/handle_table.c src/backend/helper_thread.c src/backend/mpi/channel.c
  src/backend/mpi/mpi_match.c src/backend/own_stack.c src/backend/memory/live_set.c src/backend/memory/rate.c)
file(GLOB _levelzero CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/levelzero/*.c)
target_sources(ut_backend PRIVATE ${_levelzero})
target_link_libraries(ut_backend PRIVATE ut_flags PUBLIC ut_sanitizers ut_symbol)
