# SPDX-License-Identifier: BSD-3-Clause
# examples/own_test, built against what is installed. WHAT: prepare (installs, moves what was installed, builds), then any of names, targets, scores,
# pkgconfig. Given: BUILD, SOURCE, WORK (an own directory), CXX, SYSTEMC (the value of SystemC_CPLUSPLUS).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# refused(COMMAND...): that it exits with 2.
function(refused)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 2)
    message(FATAL_ERROR "${ARGN}: exit status ${status} instead of 2:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${output}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "'${text}' is not in:\n${output}")
  endif()
endfunction()

# A machine whose first TLB reaches 16 pages of 4 KiB: 65536 bytes.
set(machine ${WORK}/small.yaml)
set(program ${WORK}/build/reach)

if(WHAT STREQUAL prepare)  # nothing may remember where it was made
  file(REMOVE_RECURSE ${WORK})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/made --component probes)
  file(RENAME ${WORK}/made ${WORK}/moved)
  file(WRITE ${machine} "name: small
clock: 1 GHz
caches:
  - {name: L1, next: L2, size: 16 KiB, ways: 4, line: 64, latency: 3}
  - {name: L2, next: memory, size: 256 KiB, ways: 8, line: 64, latency: 10}
tlbs:
  - {name: DTLB, next: STLB, entries: 16, ways: full, latency: 0}
  - {name: STLB, entries: 256, ways: 4, latency: 7}
pages: {size: 4 KiB, walk: {latency: 30}}
memory: {latency: 100}
")
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/own_test -B ${WORK}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DSystemC_CPLUSPLUS=${SYSTEMC} -DCMAKE_PREFIX_PATH=${WORK}/moved)
  run(${CMAKE_COMMAND} --build ${WORK}/build)

elseif(WHAT STREQUAL names)
  run(${program} probe --help)
  expect("reach         bytes that the first TLB reaches (the example of docs/probe-authors.md)")
  expect("l1            capacity, ways, line and latency of L1")
  refused(${program} probe raech --machine ${machine})
  expect("reach: there is no test 'raech'; did you mean 'reach'?")
  refused(${program} validate --machines 1 --tests nonsense)
  expect(", reach")
  refused(${program} probe reach --as-published --machine ${machine})
  expect("'reach' is robust only")
  refused(${program} nonsense)
  expect("Try 'reach --help'.")

elseif(WHAT STREQUAL targets)
  run(${program} probe reach --robust --machine ${machine} --json --record ${WORK}/small.h5 --force)
  string(JSON verdict GET "${output}" results 0 verdict)
  string(JSON found GET "${output}" results 0 value)
  string(JSON truth GET "${output}" results 0 truth)
  if(NOT "${verdict} ${found} ${truth}" STREQUAL "right 65536 65536")
    message(FATAL_ERROR "${verdict} ${found} ${truth}")
  endif()
  run(${program} probe reach --robust --replay ${WORK}/small.h5 --json)
  string(JSON found GET "${output}" results 0 value)
  if(NOT found EQUAL 65536)
    message(FATAL_ERROR "of the recording: ${found}")
  endif()
  # natively it answers or refuses; there may be no clock that can be measured
  execute_process(COMMAND ${program} probe reach --robust --machine native --budget 2e10 --json RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE message)
  if(status EQUAL 1)
    message("not run natively: ${message}")
  else()
    string(JSON name GET "${output}" results 0 test)
    string(JSON verdict GET "${output}" results 0 verdict)
    if(NOT "${name} ${verdict}" MATCHES "^reach (unknown|not_identifiable)$")
      message(FATAL_ERROR "natively: ${output}")
    endif()
  endif()

elseif(WHAT STREQUAL scores)
  # each machine has one first TLB, and so one verdict
  run(${program} validate --machines 24 --tests reach --robust --json)
  set(scores "${output}")
  foreach(verdict IN ITEMS right wrong not_identifiable)
    string(JSON ${verdict} GET "${scores}" summary 0 ${verdict})
  endforeach()
  math(EXPR all "${right} + ${wrong} + ${not_identifiable}")
  if(NOT all EQUAL 24 OR right LESS 18)
    message(FATAL_ERROR "${right} right, ${wrong} wrong, ${not_identifiable} not identifiable of 24:\n${scores}")
  endif()
  string(JSON replay GET "${scores}" worst 0 replay)
  if(NOT replay MATCHES "^reach probe reach --robust --machine random-1-")
    message(FATAL_ERROR "not repeated by the program that has the test: ${replay}")
  endif()

elseif(WHAT STREQUAL pkgconfig)
  file(GLOB_RECURSE pc ${WORK}/moved/*.pc)
  get_filename_component(directory ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${directory})
  run(pkg-config --cflags --libs cachetally-probes)
  separate_arguments(options UNIX_COMMAND "${output}")
  run(${CXX} -std=c++20 ${SOURCE}/examples/own_test/reach.cpp -o ${WORK}/by_pkgconfig ${options})
  run(${WORK}/by_pkgconfig probe --help)
  expect("bytes that the first TLB reaches")

else()
  message(FATAL_ERROR "WHAT=${WHAT} is unknown")
endif()
