# The BUILD_WITH_* switches: 1, 0, or AUTO (build what can be built). 0 leaves the part out; 1 and
# AUTO differ only in that 1 prints a warning when the part cannot be built. UT_WITH_* is 0 or 1.
foreach(name ITT MPI OPENCL L0 CUDA XPTI)
  set(BUILD_WITH_${name} AUTO CACHE STRING "1, 0 or AUTO")
  set_property(CACHE BUILD_WITH_${name} PROPERTY STRINGS AUTO 1 0)
  string(TOUPPER "${BUILD_WITH_${name}}" _value)
  if(NOT _value MATCHES "^(AUTO|1|0|ON|OFF|TRUE|FALSE|YES|NO)$")
    message(FATAL_ERROR "BUILD_WITH_${name} is '${BUILD_WITH_${name}}'; it takes 1, 0 or AUTO")
  endif()
  set(UT_WITH_${name} 0)
  if(BUILD_WITH_${name}) # AUTO counts as true
    set(UT_WITH_${name} 1)
  endif()
endforeach()
