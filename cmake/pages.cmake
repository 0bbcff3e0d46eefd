# Pages that the program writes: web/ is embedded (src/export/embed.h), so a change there builds
# the files again that carry it.
file(GLOB UT_WEB_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.css ${PROJECT_SOURCE_DIR}/web/*.js)
foreach(source export/html.c aiu/report_html.c ttdev/page.c ttops/write.c)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/${source} APPEND PROPERTY
    OBJECT_DEPENDS ${UT_WEB_FILES})
endforeach()
foreach(room export aiu ttdev ttops)
  target_compile_definitions(ut_${room} PRIVATE UT_WEB_DIR="${PROJECT_SOURCE_DIR}/web")
endforeach()
