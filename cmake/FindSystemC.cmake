# SPDX-License-Identifier: BSD-3-Clause
# SystemC::systemc: Accellera's SystemC 2.3.3 to 3.x with TLM-2.0. SYSTEMC_HOME, in CMake or the environment, names a place of its own.
#
# The library checks at link time that it was built for the C++ standard that its headers see. Distributions build it for one standard alone;
# SystemC_CPLUSPLUS is the value of SC_CPLUSPLUS that links (empty: none is needed), and the target hands it on.
include(FindPackageHandleStandardArgs)

if(NOT TARGET SystemC::systemc)
  # not from the package registry: there, build trees that are long gone are found
  find_package(SystemCLanguage CONFIG QUIET NO_CMAKE_PACKAGE_REGISTRY NO_CMAKE_SYSTEM_PACKAGE_REGISTRY
    HINTS ${SYSTEMC_HOME} ENV SYSTEMC_HOME)
endif()
if(TARGET SystemC::systemc)
  set(SystemC_LIBRARY SystemC::systemc)
else()
  find_path(SystemC_INCLUDE_DIR systemc HINTS ${SYSTEMC_HOME} ENV SYSTEMC_HOME PATH_SUFFIXES include)
  find_library(SystemC_LIBRARY systemc HINTS ${SYSTEMC_HOME} ENV SYSTEMC_HOME PATH_SUFFIXES lib lib-linux64 lib64)
  if(SystemC_INCLUDE_DIR AND SystemC_LIBRARY)
    find_package(Threads QUIET)
    add_library(SystemC::systemc UNKNOWN IMPORTED)
    set_target_properties(SystemC::systemc PROPERTIES IMPORTED_LOCATION ${SystemC_LIBRARY}
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR} INTERFACE_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR}
      INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
endif()

set(SystemC_target SystemC::systemc)  # properties cannot be set by an alias
set(SystemC_is_built FALSE)
if(TARGET SystemC::systemc)
  get_target_property(SystemC_aliased SystemC::systemc ALIASED_TARGET)
  if(SystemC_aliased)
    set(SystemC_target ${SystemC_aliased})
  endif()
  get_target_property(SystemC_imported ${SystemC_target} IMPORTED)
  if(NOT SystemC_imported)
    set(SystemC_is_built TRUE)
  endif()
endif()

if(SystemC_is_built)  # by the same project: nothing can be linked yet, but its standard is known
  get_target_property(SystemC_standard ${SystemC_target} CXX_STANDARD)
  if(NOT SystemC_standard)
    set(SystemC_standard ${CMAKE_CXX_STANDARD_DEFAULT})
  endif()
  set(SystemC_years_11 201103L)
  set(SystemC_years_14 201402L)
  set(SystemC_years_17 201703L)
  set(SystemC_years_20 202002L)
  set(SystemC_CPLUSPLUS "${SystemC_years_${SystemC_standard}}")
elseif(TARGET SystemC::systemc AND NOT DEFINED CACHE{SystemC_CPLUSPLUS})
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/systemc_probe.cpp)
  file(WRITE ${probe} "#include <systemc>\n#include <tlm>\nint sc_main(int, char**) { sc_core::sc_signal<bool> s(\"s\"); return s.read(); }\n")
  foreach(value IN ITEMS "none" 202002L 201703L 201402L 201103L)
    set(definition)
    if(NOT value STREQUAL "none")
      set(definition COMPILE_DEFINITIONS -DSC_CPLUSPLUS=${value})
    endif()
    try_compile(SystemC_LINKS ${CMAKE_BINARY_DIR}/CMakeFiles/systemc_${value} ${probe} ${definition}
      LINK_LIBRARIES SystemC::systemc CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON OUTPUT_VARIABLE SystemC_OUTPUT)
    if(SystemC_LINKS)
      string(REPLACE "none" "" value "${value}")
      set(SystemC_CPLUSPLUS "${value}" CACHE STRING "Value of SC_CPLUSPLUS that the SystemC library links with; empty: none is needed")
      break()
    endif()
  endforeach()
  unset(SystemC_LINKS CACHE)
  if(NOT DEFINED CACHE{SystemC_CPLUSPLUS})
    message(STATUS "SystemC was found, but no program links with it:\n${SystemC_OUTPUT}")
  endif()
endif()
if(TARGET SystemC::systemc AND SystemC_CPLUSPLUS)
  get_target_property(SystemC_definitions ${SystemC_target} INTERFACE_COMPILE_DEFINITIONS)
  if(NOT "${SystemC_definitions}" MATCHES "SC_CPLUSPLUS=")
    set_property(TARGET ${SystemC_target} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS SC_CPLUSPLUS=${SystemC_CPLUSPLUS})
  endif()
endif()

if(SystemC_is_built OR DEFINED CACHE{SystemC_CPLUSPLUS})
  set(SystemC_LINKED TRUE)
else()
  set(SystemC_LINKED FALSE)
endif()
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_LINKED
  REASON_FAILURE_MESSAGE "install libsystemc-dev (Debian), or set SYSTEMC_HOME")
mark_as_advanced(SystemC_INCLUDE_DIR SystemC_LIBRARY SystemC_CPLUSPLUS)
