# Compiler and linker flags. Two interface targets:
#   ut_flags      warnings and language, for everything of ours
#   ut_sanitizers the sanitizers asked for; the program, its libraries and the unit tests take
#                 them, the collector and the traced programs never do
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# assert() stays on in Release: it guards against our own mistakes and costs nothing measurable.
foreach(lang C CXX)
  set(CMAKE_${lang}_FLAGS_RELEASE "-O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong")
  set(CMAKE_${lang}_FLAGS_DEBUG "-O1 -g3 -fno-omit-frame-pointer")
endforeach()

add_library(ut_flags INTERFACE)
target_compile_definitions(ut_flags INTERFACE _GNU_SOURCE)
target_compile_options(ut_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wno-sign-conversion;-Wshadow>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes;-Wvla;-Wundef;-Wcast-qual>
  $<$<COMPILE_LANGUAGE:C>:-Wwrite-strings;-Wformat=2;-Wswitch-enum;-fno-common>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>
  $<$<BOOL:${UT_WERROR}>:-Werror>)
target_include_directories(ut_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/record ${PROJECT_SOURCE_DIR}/src/trace
  ${PROJECT_SOURCE_DIR}/src/analysis ${PROJECT_SOURCE_DIR}/src/app ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/generated)

configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/version.h)

add_library(ut_sanitizers INTERFACE)
set(_sanitize "${UT_SANITIZE}")
if(UT_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "UT_FUZZ needs clang: configure again with CC=clang")
  endif()
  set(_sanitize "fuzzer-no-link,address,undefined")
endif()
if(_sanitize)
  target_compile_options(ut_sanitizers INTERFACE
    -fsanitize=${_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ut_sanitizers INTERFACE -fsanitize=${_sanitize})
endif()

# Full RELRO and an executable that knows no writable code.
set(UT_HARDEN_LINK -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
