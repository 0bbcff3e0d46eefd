# The MPI plugins, one per MPI library that is found: build/lib/unitrace/mpi/{openmpi,mpich}.so. The
# program links none of them; src/trace/mpijob loads the right one when it runs under that MPI.
#
# A wrapper compiler tells what its library needs ("mpicc -show", which all of them know). Plain
# "mpicc" counts for whichever library it belongs to, so that a module on a cluster is enough.

# ut_mpi_wrapper(VAR NAME): the wrapper compiler of this library; empty if there is none.
function(ut_mpi_wrapper var name)
  find_program(UT_MPICC_${name} NAMES mpicc.${name} DOC "wrapper compiler of ${name}")
  find_program(UT_MPICC NAMES mpicc DOC "wrapper compiler of some MPI")
  set(found "")
  if(UT_MPICC_${name})
    set(found ${UT_MPICC_${name}})
  elseif(UT_MPICC)
    execute_process(COMMAND ${UT_MPICC} -showme:version
      RESULT_VARIABLE not_open OUTPUT_QUIET ERROR_QUIET)
    if((name STREQUAL "openmpi") EQUAL (not_open EQUAL 0))
      set(found ${UT_MPICC})
    endif()
  endif()
  set(${var} "${found}" PARENT_SCOPE)
endfunction()

function(ut_mpi_plugin name)
  ut_mpi_wrapper(mpicc ${name})
  if(NOT mpicc)
    return()
  endif()
  execute_process(COMMAND ${mpicc} -show
    RESULT_VARIABLE failed OUTPUT_VARIABLE line ERROR_VARIABLE why)
  if(failed)
    message(STATUS "${mpicc} -show fails: no plugin for ${name} (${why})")
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  set(includes ${words})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(libraries ${words})
  list(FILTER libraries INCLUDE REGEX "^-(L|l|Wl,|pthread)")

  add_library(mpi_${name} MODULE ${PROJECT_SOURCE_DIR}/src/trace/mpijob/plugin/mpi.c)
  target_link_libraries(mpi_${name} PRIVATE ut_flags ${libraries})
  target_include_directories(mpi_${name} SYSTEM PRIVATE ${includes})
  target_compile_definitions(mpi_${name} PRIVATE UT_MPI_NAME="${name}")
  target_compile_options(mpi_${name} PRIVATE -fvisibility=hidden)
  target_link_options(mpi_${name} PRIVATE ${UT_HARDEN_LINK})
  set_target_properties(mpi_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/unitrace/mpi)
  install(TARGETS mpi_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace/mpi)
  set(UT_MPI_PLUGINS ${UT_MPI_PLUGINS} ${name} PARENT_SCOPE)
endfunction()

set(UT_MPI_PLUGINS "")
if(BUILD_WITH_MPI STREQUAL "AUTO" OR BUILD_WITH_MPI)
  ut_mpi_plugin(openmpi)
  ut_mpi_plugin(mpich)
  if(NOT UT_MPI_PLUGINS AND NOT BUILD_WITH_MPI STREQUAL "AUTO")
    message(WARNING "BUILD_WITH_MPI=${BUILD_WITH_MPI}: no mpicc was found (libopenmpi-dev or "
      "libmpich-dev); building without it.")
  endif()
endif()
