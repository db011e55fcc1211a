# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: the program (component program); TlmMonitor (component tlm) and the cache hierarchy as a SystemC module (component systemc), each
# with library, headers, CMake package and pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(CACHETALLY_PROGRAM)
  install(TARGETS cachetally RUNTIME COMPONENT program)
endif()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/cachetally)
install(TARGETS cachetally_tlm EXPORT cachetally_targets ARCHIVE COMPONENT tlm INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES monitor/tlm/tlm_monitor.hpp monitor/tlm/tlm_monitor_registers.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally COMPONENT tlm)
install(FILES sim/tlm/any_width.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally/sim/tlm COMPONENT tlm)
install(EXPORT cachetally_targets NAMESPACE cachetally:: FILE cachetallyTargets.cmake DESTINATION ${package_directory} COMPONENT tlm)

install(TARGETS cachetally_systemc EXPORT cachetally_systemc_targets ARCHIVE COMPONENT systemc INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally)
install(EXPORT cachetally_systemc_targets NAMESPACE cachetally:: FILE cachetallySystemcTargets.cmake DESTINATION ${package_directory}
  COMPONENT systemc)
foreach(folder IN ITEMS topology model model/indexing model/prefetch model/replacement engine tlm)
  file(GLOB headers CONFIGURE_DEPENDS sim/${folder}/*.hpp)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cachetally/sim/${folder} COMPONENT systemc)
endforeach()

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
cachetally_pkgconfig(cachetally-systemc systemc cachetally_systemc "systemc fmt libhwy yaml-cpp" "\${includedir}/cachetally"
  "Caches and TLBs as a SystemC module (needs C++20 and Boost's headers)")
