# SPDX-License-Identifier: BSD-3-Clause
# Debian packages: `cpack -G DEB` in the build directory makes cachetally, libcachetally-dev, python3-cachetally and cachetally-doc; scripts/package builds, checks and
# tries them.
include(GNUInstallDirs)

# Manual pages and completions are made from the commands of the program that was built.
set(made ${PROJECT_BINARY_DIR}/package)
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${made}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${made} COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND cachetally manual ${made}/man1
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/cmake/package/cachetally-cc.1 ${made}/man1/cachetally-cc.1
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/cmake/package/cachetally-cc.1 ${made}/man1/cachetally-c++.1
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/cmake/package/cachetally-cc.1 ${made}/man1/cachetally-fc.1
  COMMAND ${GZIP} -9nr ${made}/man1
  COMMAND cachetally completion bash > ${made}/cachetally COMMAND cachetally completion zsh > ${made}/_cachetally
  COMMAND cachetally completion fish > ${made}/cachetally.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/made
  DEPENDS cachetally cmake/package/cachetally-cc.1 COMMENT "Manual pages and completions" VERBATIM)
add_custom_target(package_pages ALL DEPENDS ${made}/made)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${made}/cachetally DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${made}/_cachetally DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${made}/cachetally.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

install(DIRECTORY docs/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/cachetally COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cachetally-doc/docs COMPONENT doc)
install(FILES README.md CONTRIBUTING.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cachetally-doc COMPONENT doc)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cachetally-doc COMPONENT doc)

install(DIRECTORY python/cachetally DESTINATION lib/python3/dist-packages COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE)

# What Debian asks of every package. The date is that of the commit, so that equal sources make equal packages.
set(CACHETALLY_MAINTAINER "the cachetally authors <maintainer@cachetally.invalid>" CACHE STRING "Who maintains packages that are made: Name <address>")
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%cd --date=rfc OUTPUT_VARIABLE PACKAGE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT PACKAGE_DATE)
  set(PACKAGE_DATE "Thu, 01 Jan 1970 00:00:00 +0000")
endif()
configure_file(cmake/package/changelog package_files/changelog @ONLY)
execute_process(COMMAND ${GZIP} -9nkf ${PROJECT_BINARY_DIR}/package_files/changelog)
configure_file(cmake/package/copyright package_files/copyright @ONLY)
foreach(pair IN ITEMS program:cachetally tlm:libcachetally-dev python:python3-cachetally doc:cachetally-doc)
  string(REPLACE ":" ";" pair ${pair})
  list(POP_FRONT pair component)
  install(FILES ${PROJECT_BINARY_DIR}/package_files/copyright ${PROJECT_BINARY_DIR}/package_files/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${pair} COMPONENT ${component})
endforeach()
install(FILES cmake/package/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME cachetally COMPONENT program)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${CACHETALLY_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME cachetally)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "valgrind, python3-h5py, python3-matplotlib")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "cachetally-doc, gcc, g++, gfortran, xdg-utils")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcachetally-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsystemc-dev, libfmt-dev, libhwy-dev, libyaml-cpp-dev, libboost-dev, libboost-context-dev, libhdf5-dev, libarchive-dev, libdw-dev, libxxhash-dev, liblz4-dev")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-cachetally)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3-h5py, python3-numpy, python3-pandas")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "cachetally, python3-xxhash")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-xarray")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/package/postinst;${PROJECT_SOURCE_DIR}/cmake/package/prerm")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME cachetally-doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENTS_ALL program tlm systemc probes python doc)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "A multi-level cache and TLB hierarchy with monitors on its links, through
which kernels, traces and unmodified programs run, probes that find out a
hierarchy, simulated or real, and a page that shows which data misses where
and why.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Libraries for SystemC platforms: a cache monitor for TLM-2.0, and caches and
TLBs as a module. Also the program as a library, for probes of one's own.
With CMake packages and pkg-config files.")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Results of cachetally in Python: runs, sweeps and probes as pandas frames, and
its runs from Python.")
set(CPACK_DEBIAN_DOCUMENTATION_DESCRIPTION "How to use cachetally, how it counts, what its files hold, results of
studies, and examples.")
include(CPack)
foreach(group IN ITEMS program development python documentation)
  cpack_add_component_group(${group})
endforeach()
cpack_add_component(program GROUP program)
foreach(component IN ITEMS tlm systemc probes)
  cpack_add_component(${component} GROUP development)
endforeach()
cpack_add_component(python GROUP python)
cpack_add_component(doc GROUP documentation)
