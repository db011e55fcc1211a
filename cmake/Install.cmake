# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: the program (component program); TlmMonitor (component tlm), the cache hierarchy as a SystemC module (component systemc) and the
# program for tests of one's own (component probes), each with library, headers, CMake package and pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(CACHETALLY_PROGRAM)
  install(TARGETS cachetally RUNTIME COMPONENT program)
  install(FILES include/cachetally.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT program)
  if(TARGET capture_tool)  # valgrind's own parts beside it are links to where its package has them
    install(DIRECTORY ${CACHETALLY_CAPTURE_BUILT}/ DESTINATION ${CACHETALLY_CAPTURE_INSTALLED} COMPONENT program USE_SOURCE_PERMISSIONS
      FILES_MATCHING PATTERN "cachetally-*" PATTERN "vgpreload_*" PATTERN "default.supp")
  endif()
endif()

set(components)
if(CACHETALLY_SYSTEMC)
  list(APPEND components tlm systemc)
endif()
if(TARGET cachetally_probes)
  list(APPEND components probes)
endif()
if(NOT components)
  return()
endif()
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/cachetally)
foreach(component IN LISTS components)
  install(TARGETS cachetally_${component} EXPORT cachetally_${component}_targets ARCHIVE COMPONENT ${component}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
set(targets_tlm cachetallyTargets)
set(targets_systemc cachetallySystemcTargets)
set(targets_probes cachetallyProbesTargets)
# any_width.hpp belongs to two; the monitor has no others in common with the hierarchy. Probes need no SystemC.
file(GLOB headers CONFIGURE_DEPENDS include/cachetally/*.hpp)
set(headers_tlm ${headers})
list(FILTER headers_tlm INCLUDE REGEX "/(any_width|tlm_monitor.*).hpp$")
set(headers_probes ${headers})
list(FILTER headers_probes INCLUDE REGEX "/(probe_.*|error|machine|types).hpp$")
set(headers_systemc ${headers})
list(FILTER headers_systemc EXCLUDE REGEX "/(probe_.*|error).hpp$")
foreach(component IN LISTS components)
  install(EXPORT cachetally_${component}_targets NAMESPACE cachetally:: FILE ${targets_${component}}.cmake DESTINATION ${package_directory}
    COMPONENT ${component})
  install(FILES ${headers_${component}} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally COMPONENT ${component})
endforeach()

# each component is whole without the other
configure_package_config_file(cmake/cachetallyConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfig.cmake
  INSTALL_DESTINATION ${package_directory} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(component IN LISTS components)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfigVersion.cmake cmake/FindSystemC.cmake
    DESTINATION ${package_directory} COMPONENT ${component})
endforeach()

# found from where the file lies, so that the tree can be moved
set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG /${pkgconfig_directory} /)
string(REGEX REPLACE "/$" "" PREFIX_FROM_PKGCONFIG "${PREFIX_FROM_PKGCONFIG}")
set(SYSTEMC_DEFINITION "")
if(SystemC_CPLUSPLUS)
  set(SYSTEMC_DEFINITION "-DSC_CPLUSPLUS=${SystemC_CPLUSPLUS}")
endif()

# cachetally_pkgconfig(NAME COMPONENT LIBRARY REQUIRES INCLUDE DESCRIPTION)
function(cachetally_pkgconfig name component library requires include description)
  set(PC_NAME ${name})
  set(PC_LIBRARY ${library})
  set(PC_REQUIRES ${requires})
  set(PC_INCLUDE ${include})
  set(PC_DESCRIPTION ${description})
  configure_file(cmake/cachetally.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_directory} COMPONENT ${component})
endfunction()
if(CACHETALLY_SYSTEMC)
  cachetally_pkgconfig(cachetally-tlm tlm cachetally_tlm "systemc" "\${includedir}" "A cache monitor for TLM-2.0 platforms")
  cachetally_pkgconfig(cachetally tlm cachetally_tlm "systemc" "\${includedir}" "The former name of cachetally-tlm")
  cachetally_pkgconfig(cachetally-systemc systemc cachetally_systemc "systemc fmt libhwy yaml-cpp" "\${includedir}"
    "Caches and TLBs as a SystemC module (needs C++20 and Boost's headers)")
endif()
if(TARGET cachetally_probes)
  set(and_systemc "")
  if(CACHETALLY_SYSTEMC)
    set(and_systemc " systemc")
  endif()
  cachetally_pkgconfig(cachetally-probes probes "cachetally_probes -lboost_context -lhdf5_hl -lelf -lpthread -ldl"
    "fmt libhwy yaml-cpp hdf5 liblz4 libarchive libdw libxxhash${and_systemc}" "\${includedir}"
    "The program with tests of memory hierarchies of one's own (needs C++20)")
endif()
