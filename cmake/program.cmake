# The program, its links, and what it writes about itself (man pages, completions).
if(EXISTS ${PROJECT_SOURCE_DIR}/src/app/main.c)
  add_executable(unitrace src/app/main.c)
  target_link_libraries(unitrace PRIVATE ut_flags ut_cmd ut_sanitizers)
  target_compile_definitions(unitrace PRIVATE UT_WITH_ITT=${UT_WITH_ITT})
  target_link_options(unitrace PRIVATE ${UT_HARDEN_LINK})
  set_target_properties(unitrace PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(TARGET collector)
    add_dependencies(unitrace collector)
  endif()

  foreach(link ${UT_BIN_LINKS})
    add_custom_command(TARGET unitrace POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E create_symlink unitrace ${PROJECT_BINARY_DIR}/bin/${link})
  endforeach()

  foreach(pair IN LISTS UT_BIN_SCRIPTS)
    string(REGEX MATCH "^(.*)=(.*)$" _ "${pair}")
    set(UT_SCRIPT ${CMAKE_MATCH_1})
    set(UT_SCRIPT_COMMAND ${CMAKE_MATCH_2}) # and options that the name stands for
    set(_script ${PROJECT_BINARY_DIR}/bin/${UT_SCRIPT})
    if(IS_SYMLINK ${_script})
      file(REMOVE ${_script}) # writing through it would hit the program
    endif()
    configure_file(cmake/script.py.in ${_script} @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE
      OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND UT_SCRIPT_FILES ${_script})
  endforeach()

  set(UT_GENERATED_DOCS OFF)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/app/cmd/generate.c)
    set(UT_GENERATED_DOCS ON)
    set(_stamp ${PROJECT_BINARY_DIR}/share/.generated)
    set(_commands)
    foreach(kind man bash zsh fish)
      list(APPEND _commands
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/${kind}
        COMMAND unitrace --generate ${kind} ${PROJECT_BINARY_DIR}/share/${kind})
    endforeach()
    add_custom_command(OUTPUT ${_stamp} ${_commands}
      COMMAND ${CMAKE_COMMAND} -E touch ${_stamp}
      DEPENDS unitrace COMMENT "Writing man pages and completions" VERBATIM)
    add_custom_target(generated_docs ALL DEPENDS ${_stamp})
  endif()
endif()
