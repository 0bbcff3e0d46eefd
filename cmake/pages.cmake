# The viewer's page: web/src bundled by esbuild, or the bundle that a release carries in web/dist.
# With it comes the module of saved pages (wasm.cmake), if it can be compiled or the release has it.
# Without either, the build goes on; view and export -o FILE.html say how to get it.
set(UT_WEB_MODULES ${PROJECT_SOURCE_DIR}/build/page/node_modules CACHE PATH
  "where tools/setup.sh has put what the page is bundled with")
set(UT_WEB_BUNDLE "")
set(UT_WEB_BUNDLE_FILES)
file(GLOB _esbuild ${UT_WEB_MODULES}/@esbuild/*/bin/esbuild)
set(_files app.js.gz app.css.gz workbench.js.gz workbench.css.gz)
if(EXISTS ${PROJECT_SOURCE_DIR}/web/dist/app.js.gz AND EXISTS ${PROJECT_SOURCE_DIR}/web/dist/workbench.css.gz)
  set(UT_WEB_BUNDLE ${PROJECT_SOURCE_DIR}/web/dist)
  if(EXISTS ${UT_WEB_BUNDLE}/module.wasm.gz)
    list(APPEND _files module.wasm.gz)
  endif()
  list(TRANSFORM _files PREPEND ${UT_WEB_BUNDLE}/ OUTPUT_VARIABLE UT_WEB_BUNDLE_FILES)
elseif(_esbuild AND EXISTS ${UT_WEB_MODULES}/preact AND EXISTS ${UT_WEB_MODULES}/@preact/signals
    AND EXISTS ${UT_WEB_MODULES}/@preact/signals-core)
  set(UT_WEB_BUNDLE ${PROJECT_BINARY_DIR}/web)
  list(TRANSFORM _files PREPEND ${UT_WEB_BUNDLE}/ OUTPUT_VARIABLE _bundled)
  set(UT_WEB_BUNDLE_FILES ${_bundled})
  if(UT_WASM_MODULE)
    list(APPEND UT_WEB_BUNDLE_FILES ${UT_WEB_BUNDLE}/module.wasm.gz)
  endif()
  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  add_custom_command(OUTPUT ${_bundled}
    COMMAND ${PROJECT_SOURCE_DIR}/web/bundle.sh ${UT_WEB_MODULES} ${UT_WEB_BUNDLE} page
    DEPENDS ${_sources} ${_esbuild} ${PROJECT_SOURCE_DIR}/web/bundle.sh
    COMMENT "Bundling the viewer's page" VERBATIM)
  if(UT_WASM_MODULE)
    add_custom_command(OUTPUT ${UT_WEB_BUNDLE}/module.wasm.gz
      COMMAND ${PROJECT_SOURCE_DIR}/web/bundle.sh ${UT_WEB_MODULES} ${UT_WEB_BUNDLE} ${UT_WASM_MODULE}
      DEPENDS ${UT_WASM_MODULE} ${PROJECT_SOURCE_DIR}/web/bundle.sh COMMENT "Compressing the page's module" VERBATIM)
  endif()
endif()
if(UT_WEB_BUNDLE)
  target_compile_definitions(ut_view PRIVATE UT_WEB_BUNDLE="${UT_WEB_BUNDLE}")
  if("${UT_WEB_BUNDLE}/module.wasm.gz" IN_LIST UT_WEB_BUNDLE_FILES)
    target_compile_definitions(ut_view PRIVATE UT_WEB_MODULE=1)
  endif()
  add_custom_target(web_page DEPENDS ${UT_WEB_BUNDLE_FILES})
  add_dependencies(ut_view web_page)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/analysis/view/page.c APPEND PROPERTY
    OBJECT_DEPENDS ${UT_WEB_BUNDLE_FILES})
endif()
