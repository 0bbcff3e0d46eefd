# SQLite is asked for first: it decides about files, not only about flags.
find_package(SQLite3 QUIET)
set(UT_HAVE_SQLITE 0)
if(SQLite3_FOUND AND NOT SQLite3_VERSION VERSION_LESS 3.38)
  set(UT_HAVE_SQLITE 1)
endif()

# So does libmicrohttpd: without it there is no server, and view says so. Only its header is used here;
# src/serve loads it when somebody wants a server, by the number of the library beside the header.
find_package(PkgConfig QUIET)
set(UT_HAVE_MHD 0)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(MHD QUIET IMPORTED_TARGET libmicrohttpd>=0.9.71)
  if(MHD_FOUND)
    set(UT_HAVE_MHD 1)
    set(UT_MHD_ABI 12)
    foreach(_library ${MHD_LINK_LIBRARIES})
      get_filename_component(_library ${_library} REALPATH)
      if(_library MATCHES "/libmicrohttpd\\.so\\.([0-9]+)")
        set(UT_MHD_ABI ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endif()
endif()

# One static library per room of src/. ut_room(NAME DEPENDS...) makes ut_NAME out of
# src/NAME/*.c; a room without .c files (not written yet, or headers only) is an empty target, so
# that nobody else has to ask.

function(ut_room_sources var room)
  file(GLOB sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/${room}/*.c ${PROJECT_SOURCE_DIR}/src/${room}/*/*.c)
  list(FILTER sources EXCLUDE REGEX "/plugin/") # built against somebody's SDK, loaded at run time
  if(NOT UT_WITH_ITT AND room STREQUAL "collect")
    list(FILTER sources EXCLUDE REGEX "/itt[^/]*\\.c$")
  endif()
  if(UT_HAVE_MHD)
    list(FILTER sources EXCLUDE REGEX "/serve/without\\.c$")
  elseif(room STREQUAL "serve")
    list(FILTER sources INCLUDE REGEX "/serve/(without|gatekeeper)\\.c$")
  endif()
  if(UT_HAVE_SQLITE)
    list(FILTER sources EXCLUDE REGEX "/query/without\\.c$")
  elseif(room STREQUAL "query")
    list(FILTER sources INCLUDE REGEX "/query/(without|nest|token|query_why)\\.c$") # who lies in whom is no SQL
  else()
    list(FILTER sources EXCLUDE REGEX "/export/sqlite[^/]*\\.c$")
  endif()
  set(${var} "${sources}" PARENT_SCOPE)
endfunction()

function(ut_room room)
  ut_room_sources(sources ${room})
  list(TRANSFORM ARGN PREPEND ut_ OUTPUT_VARIABLE deps)
  if(NOT sources)
    add_library(ut_${room} INTERFACE)
    target_link_libraries(ut_${room} INTERFACE ${deps})
    return()
  endif()
  add_library(ut_${room} STATIC ${sources})
  target_link_libraries(ut_${room} PRIVATE ut_flags PUBLIC ut_sanitizers ${deps})
  target_compile_definitions(ut_${room} PRIVATE UT_WITH_ITT=${UT_WITH_ITT})
endfunction()

# The right-hand side is the may-include table of tools/check_layers.py, as link order.
ut_room(base)
ut_room(model base)
ut_room(text base model)
ut_room(wire base)
ut_room(itt)
ut_room(symbol base)
ut_room(import symbol wire model text base)
ut_room(analyze model text base)
ut_room(query analyze model text base)
ut_room(view query analyze model text base)
ut_room(export view query analyze model text base)
ut_room(mpijob import model base)
ut_room(merge export import mpijob model text base)
ut_room(acelyzer export analyze import model text base)
ut_room(ops export query analyze import model text base)
ut_room(tt ops export import model text base)
ut_room(category analyze import model text base)
target_compile_definitions(ut_category PRIVATE UT_SHARE_DIR="${PROJECT_SOURCE_DIR}/share")
file(GLOB _share CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/share/schemas/*.ini)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/category/ready.c APPEND PROPERTY OBJECT_DEPENDS ${_share})
ut_room(launch wire base)
ut_room(session tt ops export analyze import launch wire model text base)
ut_room(serve base)
ut_room(cmd category acelyzer tt ops merge session serve view mpijob launch query analyze export import wire model
  text base)

# Libraries the program may use, when they are there. UT_HAVE_ZLIB, UT_HAVE_ZSTD are 0 or 1.
find_package(Threads REQUIRED)
find_package(ZLIB QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd)
endif()
set(UT_HAVE_ZLIB 0)
set(UT_HAVE_ZSTD 0)
if(ZLIB_FOUND)
  set(UT_HAVE_ZLIB 1)
endif()
if(NOT ZSTD_FOUND) # zstd ships no module for cmake, and pkg-config is not everywhere
  find_path(UT_ZSTD_INCLUDE zstd.h)
  find_library(UT_ZSTD_LIBRARY zstd)
endif()
if(ZSTD_FOUND)
  set(UT_HAVE_ZSTD 1)
  set(_zstd PkgConfig::ZSTD)
elseif(UT_ZSTD_INCLUDE AND UT_ZSTD_LIBRARY)
  set(UT_HAVE_ZSTD 1)
  add_library(ut_zstd INTERFACE)
  target_include_directories(ut_zstd SYSTEM INTERFACE ${UT_ZSTD_INCLUDE})
  target_link_libraries(ut_zstd INTERFACE ${UT_ZSTD_LIBRARY})
  set(_zstd ut_zstd)
endif()

# Where the collector lies, seen from the program's folder; ../lib holds in the build tree.
file(RELATIVE_PATH UT_LIBDIR_REL ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(room launch mpijob) # no others: a new prefix is no reason to compile everything again
  target_compile_definitions(ut_${room} PRIVATE UT_LIBDIR_REL="${UT_LIBDIR_REL}")
endforeach()

foreach(room base text model wire symbol import query view export analyze mpijob merge acelyzer ops tt launch session
    serve cmd)
  get_target_property(_type ut_${room} TYPE)
  if(NOT _type STREQUAL "STATIC_LIBRARY")
    continue()
  endif()
  target_compile_definitions(ut_${room} PRIVATE
    UT_HAVE_ZLIB=${UT_HAVE_ZLIB} UT_HAVE_ZSTD=${UT_HAVE_ZSTD} UT_HAVE_SQLITE=${UT_HAVE_SQLITE})
  target_link_libraries(ut_${room} PUBLIC Threads::Threads m
    $<$<BOOL:${UT_HAVE_ZLIB}>:ZLIB::ZLIB> ${_zstd})
endforeach()

# --version tells how much of ITT there is; the commands know nothing else about it.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/itt/api.def _functions REGEX "^ITT_FN")
list(LENGTH _functions _functions)
target_compile_definitions(ut_cmd PRIVATE UT_ITT_FUNCTIONS=${_functions})

# SQLite is for the rooms that speak SQL.
if(UT_HAVE_SQLITE)
  target_link_libraries(ut_query PUBLIC SQLite::SQLite3)
  target_link_libraries(ut_export PUBLIC SQLite::SQLite3)
endif()
if(UT_HAVE_MHD)
  target_include_directories(ut_serve SYSTEM PRIVATE ${MHD_INCLUDE_DIRS})
  target_compile_definitions(ut_serve PRIVATE UT_MHD_ABI="${UT_MHD_ABI}")
  target_link_libraries(ut_serve PUBLIC ${CMAKE_DL_LIBS})
endif()
