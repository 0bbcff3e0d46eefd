# The collector, libunitrace.so: src/record/collect plus whatever it uses of the modules below, compiled a
# second time as a guest in somebody else's process. It links libc and nothing else, exports only
# what src/record/collect/exports.map names, and is never built with a sanitizer: it must load into any
# program. The unit tests use ut_collect instead, the same sources as a static library.
set(UT_GUEST_FLAGS
  -O2 -fPIC -fvisibility=hidden -ftls-model=initial-exec -ffunction-sections -fdata-sections)

function(ut_guest_flags target)
  target_link_libraries(${target} PRIVATE ut_flags)
  target_compile_options(${target} PRIVATE ${UT_GUEST_FLAGS})
  target_compile_definitions(${target} PRIVATE UT_WITH_ITT=${UT_WITH_ITT} NDEBUG)
endfunction()

ut_module_sources(_collect collect)
if(_collect)
  add_library(collector SHARED ${_collect})
  ut_guest_flags(collector)
  set_target_properties(collector PROPERTIES
    OUTPUT_NAME unitrace LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  # nodelete: ITT users dlopen and may dlclose us while other threads are still in a hook.
  target_link_options(collector PRIVATE ${UT_HARDEN_LINK} -Wl,-z,defs -Wl,-z,nodelete
    -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed)

  set(_exports ${PROJECT_SOURCE_DIR}/src/record/collect/exports.map)
  if(EXISTS ${_exports})
    target_link_options(collector PRIVATE -Wl,--version-script=${_exports})
    set_target_properties(collector PROPERTIES LINK_DEPENDS ${_exports})
  endif()

  foreach(module wire base itt)
    ut_module_sources(_sources ${module})
    if(_sources AND (UT_WITH_ITT OR NOT module STREQUAL "itt"))
      add_library(guest_${module} STATIC ${_sources})
      ut_guest_flags(guest_${module})
      list(APPEND _guests guest_${module})
    endif()
  endforeach()
  target_link_libraries(collector PRIVATE ${_guests})
endif()

# libunitrace-timer.so, for programs whose CPU time the kernel does not let us sample: preloaded there
# and nowhere else, so that nobody else's pthread_create() and sigaction() are ours.
ut_module_sources(_timer timer)
if(TARGET collector AND _timer)
  add_library(timer SHARED ${_timer} src/record/symbol/python_frames.c src/record/symbol/python_layout.c)
  ut_guest_flags(timer)
  set_target_properties(timer PROPERTIES
    OUTPUT_NAME unitrace-timer LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/unitrace
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/timer/exports.map)
  target_link_options(timer PRIVATE ${UT_HARDEN_LINK} -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic
    -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/record/timer/exports.map)
  target_link_libraries(timer PRIVATE guest_wire guest_base ${CMAKE_DL_LIBS})
  install(TARGETS timer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/unitrace)
endif()

ut_module(collect)
set_target_properties(ut_collect PROPERTIES EXCLUDE_FROM_ALL TRUE) # for the unit tests
