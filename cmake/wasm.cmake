# The viewer's answers as a WebAssembly module, which a page with its trace inside carries: the program's
# own sources, compiled a second time. Needs clang with lld, wasi-libc and compiler-rt for wasm32 (Debian:
# clang lld wasi-libc libclang-rt-dev-wasm32); without them, as without esbuild, there is no page.
set(UT_WASM_ROOT /usr CACHE PATH "where include/wasm32-wasi and lib/wasm32-wasi are")
set(UT_WASM_MODULE "")
set(_builtins "")
foreach(_name clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19)
  unset(_clang)
  unset(_linker)
  find_program(_clang NAMES ${_name} NO_CACHE)
  if(_builtins OR NOT _clang)
    continue()
  endif()
  execute_process(COMMAND ${_clang} -print-resource-dir OUTPUT_VARIABLE _resources
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${_clang} -print-prog-name=wasm-ld OUTPUT_VARIABLE _program
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_program(_linker NAMES ${_program} NO_CACHE)
  if(_linker AND EXISTS ${UT_WASM_ROOT}/include/wasm32-wasi/stdio.h)
    file(GLOB _builtins ${_resources}/lib/wasi/libclang_rt.builtins-wasm32.a
      ${_resources}/lib/wasm32-unknown-wasi/libclang_rt.builtins.a)
    set(_wasm_clang ${_clang})
    set(_wasm_linker ${_linker})
    set(_wasm_headers ${_resources}/include)
  endif()
endforeach()

# Whole folders, but for what asks an operating system or reads files of other tools; web/wasm/platform.c
# stands in for some of it.
function(ut_wasm_sources var)
  set(sources "")
  foreach(module base model text analyze ranks sample view)
    file(GLOB found CONFIGURE_DEPENDS ${UT_DIR_${module}}/*.c)
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/base/(thread_pool|disk_space|loaded|mapped|progress|readable|term)\\.c$")
  list(FILTER sources EXCLUDE REGEX "/(model/pages|text/printed|text/source|sample/annotate)\\.c$")
  list(FILTER sources EXCLUDE REGEX "/view/(advice|annotated|ask_sql|kernel_code|memory_sheet|metrics_sheet)\\.c$")
  list(FILTER sources EXCLUDE REGEX "/view/(own_sheets|page|ranks_sheet|roofline_sheet|sample_sheet|bottlenecks|view_kernels|view_picture)\\.c$")
  list(APPEND sources ${UT_DIR_import}/utr_read.c ${UT_DIR_query}/without.c ${UT_DIR_query}/nest.c
    ${UT_DIR_query}/query_why.c ${PROJECT_SOURCE_DIR}/web/wasm/module.c
    ${PROJECT_SOURCE_DIR}/web/wasm/platform.c)
  set(${var} "${sources}" PARENT_SCOPE)
endfunction()

if(_builtins)
  set(_folder ${PROJECT_BINARY_DIR}/wasm)
  set(_flags --target=wasm32-wasi -nostdinc -isystem ${PROJECT_SOURCE_DIR}/web/wasm/include
    -isystem ${_wasm_headers} -isystem ${UT_WASM_ROOT}/include/wasm32-wasi -std=c17 -O2 -DNDEBUG
    -D_GNU_SOURCE -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_SIGNAL -ffunction-sections -fdata-sections
    -include ${PROJECT_SOURCE_DIR}/web/wasm/include/platform.h -I${PROJECT_SOURCE_DIR}/include
    -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/src/record -I${PROJECT_SOURCE_DIR}/src/trace
    -I${PROJECT_SOURCE_DIR}/src/analysis -I${PROJECT_BINARY_DIR}/generated)
  ut_wasm_sources(_sources)
  set(_objects "")
  foreach(_source ${_sources})
    file(RELATIVE_PATH _name ${PROJECT_SOURCE_DIR} ${_source})
    string(REPLACE "/" "_" _name ${_name})
    add_custom_command(OUTPUT ${_folder}/${_name}.o
      COMMAND ${_wasm_clang} ${_flags} -MD -MT wasm/${_name}.o -MF ${_folder}/${_name}.d -c ${_source}
        -o ${_folder}/${_name}.o
      DEPENDS ${_source} DEPFILE ${_folder}/${_name}.d
      COMMENT "Compiling ${_name} for the page" VERBATIM)
    list(APPEND _objects ${_folder}/${_name}.o)
  endforeach()
  file(MAKE_DIRECTORY ${_folder})
  set(UT_WASM_MODULE ${_folder}/module.wasm)
  set(_libs ${UT_WASM_ROOT}/lib/wasm32-wasi)
  add_custom_command(OUTPUT ${UT_WASM_MODULE}
    COMMAND ${_wasm_linker} --no-entry --gc-sections --strip-all -z stack-size=1048576 ${_libs}/crt1-reactor.o
      ${_objects} -L${_libs} -lc -lm -lwasi-emulated-mman -lwasi-emulated-getpid -lwasi-emulated-signal ${_builtins}
      -o ${UT_WASM_MODULE}
    DEPENDS ${_objects} COMMENT "Linking the page's module" VERBATIM)
endif()
