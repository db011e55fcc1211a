# SPDX-License-Identifier: BSD-3-Clause
# What is installed, tried by projects outside. WHAT: prepare (installs both libraries, each to a place of its own and both to one), then any
# of packages, systemc_inside, cachetally_inside, shared, pkgconfig, examples. Given: BUILD, SOURCE, WORK (an own directory), CXX, SYSTEMC
# (the value of SystemC_CPLUSPLUS, so that no project has to find it out again).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# check(PROGRAM LINE...): that it runs and says each line.
function(check program)
  run(${CMAKE_COMMAND} -E env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 ${program})
  foreach(line IN LISTS ARGN)
    string(FIND "\n${output}" "\n${line}\n" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "${program} does not say '${line}':\n${output}")
    endif()
  endforeach()
endfunction()

# configure(DIRECTORY ARGUMENT...): a project of tests/tlm/outside in a build directory of its own, hardly optimised.
function(configure project)
  file(REMOVE_RECURSE ${WORK}/${project})
  run(${CMAKE_COMMAND} -S ${SOURCE}/tests/tlm/outside/${project} -B ${WORK}/${project} -G Ninja -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DEXAMPLES=${SOURCE}/examples -DSystemC_CPLUSPLUS=${SYSTEMC} ${ARGN})
endfunction()

# 256 elements of 4 bytes are 16 lines; each is read and written once in a phase: 32 events a line. By rows a line stays in its counter: 16
# records. By columns, a row being one line, 4 counters see 16 lines in turn: each time 2 events, 256 records.
set(tlm_platform_says "1024 events, 272 records of 16 bytes" "phase 0, line 0x1000: 32" "phase 1, line 0x13c0: 32"
  "first record in memory: line 0x1000")
# 256 lines of each core do not fit its 64: 512 misses there, 256 of them also in the second level. 4096 + 512 x 10 + 256 x 100 ns; core 1 begins 1 ps late.
set(systemc_platform_says "8192 references, L1 misses 1024, L2 misses 512, memory reads 512"
  "core 0 ends at 34816000 ps, core 1 at 34816001 ps")
# 128 lines do not fit 64: each is asked for in both passes.
set(both_say "misses 256, events 256, lines 128, line 0x11fc0: 2")

if(WHAT STREQUAL prepare)  # nothing may remember where it was made
  file(REMOVE_RECURSE ${WORK})
  foreach(component IN ITEMS tlm systemc)
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/made/${component} --component ${component})
    run(${CMAKE_COMMAND} -E copy_directory ${WORK}/made/${component} ${WORK}/only_${component})
    run(${CMAKE_COMMAND} -E copy_directory ${WORK}/made/${component} ${WORK}/both)
  endforeach()
  file(REMOVE_RECURSE ${WORK}/made)

elseif(WHAT STREQUAL packages)
  configure(packages -DPREFIXES=${WORK})

elseif(WHAT STREQUAL systemc_inside)
  configure(systemc_inside -DCMAKE_PREFIX_PATH=${WORK}/only_tlm)
  run(${CMAKE_COMMAND} --build ${WORK}/systemc_inside)
  check(${WORK}/systemc_inside/tlm_platform/tlm_platform ${tlm_platform_says})

elseif(WHAT STREQUAL cachetally_inside)
  configure(cachetally_inside -DCACHETALLY=${SOURCE} -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=40)
  run(${CMAKE_COMMAND} --build ${WORK}/cachetally_inside)
  check(${WORK}/cachetally_inside/inside ${tlm_platform_says})

elseif(WHAT STREQUAL shared)
  foreach(component IN ITEMS tlm systemc)
    file(GLOB_RECURSE archive ${WORK}/only_${component}/*/libcachetally_${component}.a)
    run(${CXX} -shared -o ${WORK}/${component}.so -Wl,-z,text -Wl,--whole-archive ${archive} -Wl,--no-whole-archive)
  endforeach()

elseif(WHAT STREQUAL pkgconfig)
  foreach(prefix IN ITEMS only_tlm only_systemc)
    file(GLOB_RECURSE pc ${WORK}/${prefix}/*.pc)
    list(GET pc 0 pc)
    get_filename_component(directory ${pc} DIRECTORY)
    set(ENV{PKG_CONFIG_PATH} ${directory}:$ENV{PKG_CONFIG_PATH})
  endforeach()
  foreach(name IN ITEMS cachetally cachetally-tlm)
    run(pkg-config --cflags --libs ${name})
    separate_arguments(options UNIX_COMMAND "${output}")
    set(options_${name} ${options})
  endforeach()
  if(NOT "${options_cachetally}" STREQUAL "${options_cachetally-tlm}")
    message(FATAL_ERROR "cachetally.pc says ${options_cachetally}, cachetally-tlm.pc ${options_cachetally-tlm}")
  endif()
  run(${CXX} -std=c++17 ${SOURCE}/examples/tlm_platform/main.cpp -o ${WORK}/by_pkgconfig ${options_cachetally-tlm})
  check(${WORK}/by_pkgconfig ${tlm_platform_says})
  run(pkg-config --cflags --libs cachetally-systemc)
  separate_arguments(options UNIX_COMMAND "${output}")
  run(${CXX} -std=c++20 ${SOURCE}/examples/systemc_platform/main.cpp -o ${WORK}/systemc_by_pkgconfig ${options})
  check(${WORK}/systemc_by_pkgconfig ${systemc_platform_says})

elseif(WHAT STREQUAL examples)
  configure(examples -DCMAKE_PREFIX_PATH=${WORK}/both)
  run(${CMAKE_COMMAND} --build ${WORK}/examples)
  check(${WORK}/examples/tlm_platform/tlm_platform ${tlm_platform_says})
  check(${WORK}/examples/systemc_platform/systemc_platform ${systemc_platform_says})
  foreach(order IN ITEMS tlm_first systemc_first)
    check(${WORK}/examples/${order} ${both_say})
  endforeach()

else()
  message(FATAL_ERROR "WHAT=${WHAT} is unknown")
endif()
