# make install: DESTDIR and CMAKE_INSTALL_PREFIX both work; the program finds the collector from
# its own place, so the whole tree may be moved afterwards.
include(CMakePackageConfigHelpers)

if(TARGET unitrace)
  install(TARGETS unitrace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  foreach(link ${UT_BIN_LINKS})
    install(FILES ${PROJECT_BINARY_DIR}/bin/${link} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
  install(PROGRAMS ${UT_SCRIPT_FILES} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET collector)
  install(TARGETS collector LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/include)
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
endif()

# pkg-config and find_package(unitrace)
file(RELATIVE_PATH UT_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" UT_PC_PREFIX "${UT_PC_PREFIX}")
configure_file(cmake/unitrace.pc.in ${PROJECT_BINARY_DIR}/generated/unitrace.pc @ONLY)
configure_file(cmake/ittnotify.pc.in ${PROJECT_BINARY_DIR}/generated/ittnotify.pc @ONLY)
configure_file(cmake/unitrace-read.pc.in ${PROJECT_BINARY_DIR}/generated/unitrace-read.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/unitrace.pc
  ${PROJECT_BINARY_DIR}/generated/unitrace-read.pc
  ${PROJECT_BINARY_DIR}/generated/ittnotify.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/unitrace)
if(TARGET ittnotify)
  install(TARGETS ittnotify EXPORT unitraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT unitraceTargets NAMESPACE unitrace:: DESTINATION ${_package})
  configure_package_config_file(cmake/unitraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/generated/unitraceConfig.cmake INSTALL_DESTINATION ${_package})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/generated/unitraceConfigVersion.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/generated/unitraceConfig.cmake
    ${PROJECT_BINARY_DIR}/generated/unitraceConfigVersion.cmake DESTINATION ${_package})
endif()

if(UT_GENERATED_DOCS)
  set(_share ${PROJECT_BINARY_DIR}/share)
  install(DIRECTORY ${_share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(DIRECTORY ${_share}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY ${_share}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(DIRECTORY ${_share}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# What comes with unitrace is in the program; these are to be read, and a start for ones of your own.
install(DIRECTORY share/schemas share/metrics DESTINATION ${CMAKE_INSTALL_DATADIR}/unitrace)

foreach(doc README.md CHANGELOG.md)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${doc})
    install(FILES ${doc} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/docs)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}) # as README.md links to it
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/LICENSE)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/unitrace)
endif()
