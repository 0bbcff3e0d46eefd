# The BUILD_WITH_* switches: 1, 0, or AUTO (build what can be built). They never fail a configure:
# a backend that cannot be built is said once, and the rest goes on.
foreach(name ITT MPI OPENCL L0 CUDA)
  set(BUILD_WITH_${name} AUTO CACHE STRING "1, 0 or AUTO")
  set_property(CACHE BUILD_WITH_${name} PROPERTY STRINGS AUTO 1 0)
  string(TOUPPER "${BUILD_WITH_${name}}" _value)
  if(NOT _value STREQUAL "AUTO" AND NOT _value MATCHES "^(1|0|ON|OFF|TRUE|FALSE|YES|NO)$")
    message(FATAL_ERROR "BUILD_WITH_${name} is '${BUILD_WITH_${name}}'; it takes 1, 0 or AUTO")
  endif()
endforeach()

set(UT_WITH_ITT 1)
if(NOT BUILD_WITH_ITT STREQUAL "AUTO" AND NOT BUILD_WITH_ITT)
  set(UT_WITH_ITT 0)
endif()

if(NOT BUILD_WITH_L0 STREQUAL "AUTO" AND BUILD_WITH_L0)
  message(WARNING "BUILD_WITH_L0=${BUILD_WITH_L0}: unitrace ${PROJECT_VERSION} has no Level Zero "
    "backend yet; building without it.")
endif()
