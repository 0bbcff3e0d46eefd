# Pages that the program writes: web/ is embedded (src/text/embed.h), so a change there builds
# the files again that carry it.
file(GLOB UT_WEB_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.css ${PROJECT_SOURCE_DIR}/web/*.js)
foreach(source text/html.c acelyzer/report_html.c tt/devlog_page.c ops/write_report.c)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/${source} APPEND PROPERTY
    OBJECT_DEPENDS ${UT_WEB_FILES})
endforeach()
foreach(room text acelyzer tt ops)
  target_compile_definitions(ut_${room} PRIVATE UT_WEB_DIR="${PROJECT_SOURCE_DIR}/web")
endforeach()
