# The ITT SDK: libittnotify.a and include/ittnotify.h, linked into programs that mark themselves.
# Never sanitized, as it ends up in other people's programs; ut_sdk is what the unit tests link.
file(GLOB _sdk CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/sdk/*.c)
if(_sdk)
  add_library(ittnotify STATIC ${_sdk})
  target_link_libraries(ittnotify PRIVATE $<BUILD_INTERFACE:ut_flags>)
  target_include_directories(ittnotify INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(ittnotify INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
  # Binding a function at its first call takes 3 KiB of stack, which a signal handler may not have.
  target_compile_options(ittnotify PRIVATE -O2 -fno-plt)
  set_target_properties(ittnotify PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endif()

ut_module(sdk)
set_target_properties(ut_sdk PROPERTIES EXCLUDE_FROM_ALL TRUE) # for the unit tests
if(_sdk)
  target_link_libraries(ut_sdk PUBLIC ${CMAKE_DL_LIBS} Threads::Threads)
endif()
