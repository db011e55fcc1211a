# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: the program (component program); TlmMonitor (component tlm) and the cache hierarchy as a SystemC module (component systemc), each
# with library, headers, CMake package and pkg-config file.
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

if(NOT CACHETALLY_SYSTEMC)  # the libraries are for SystemC platforms
  return()
endif()
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/cachetally)
foreach(component IN ITEMS tlm systemc)
  install(TARGETS cachetally_${component} EXPORT cachetally_${component}_targets ARCHIVE COMPONENT ${component}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(EXPORT cachetally_tlm_targets NAMESPACE cachetally:: FILE cachetallyTargets.cmake DESTINATION ${package_directory} COMPONENT tlm)
install(EXPORT cachetally_systemc_targets NAMESPACE cachetally:: FILE cachetallySystemcTargets.cmake DESTINATION ${package_directory}
  COMPONENT systemc)
# any_width.hpp belongs to both; the monitor has no others in common with the hierarchy
file(GLOB headers CONFIGURE_DEPENDS include/cachetally/*.hpp)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally COMPONENT systemc)
list(FILTER headers INCLUDE REGEX "/(any_width|tlm_monitor.*).hpp$")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally COMPONENT tlm)

# each component is whole without the other
configure_package_config_file(cmake/cachetallyConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfig.cmake
  INSTALL_DESTINATION ${package_directory} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cachetallyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS tlm systemc)
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
cachetally_pkgconfig(cachetally-tlm tlm cachetally_tlm "systemc" "\${includedir}" "A cache monitor for TLM-2.0 platforms")
cachetally_pkgconfig(cachetally tlm cachetally_tlm "systemc" "\${includedir}" "The former name of cachetally-tlm")
cachetally_pkgconfig(cachetally-systemc systemc cachetally_systemc "systemc fmt libhwy yaml-cpp" "\${includedir}"
  "Caches and TLBs as a SystemC module (needs C++20 and Boost's headers)")
