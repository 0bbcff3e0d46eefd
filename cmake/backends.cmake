# Backends: src/backend/NAME.c becomes lib/unitrace/backends/NAME.so. Like the collector they are
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
  set(UT_BACKENDS ${UT_BACKENDS} ${name} PARENT_SCOPE)
endfunction()

if(TARGET collector)
  ut_backend(null src/backend/null.c)
endif()
