# Installs TlmMonitor to a place of its own and builds examples/tlm_platform against it, by CMake's package and by pkg-config. Given: BUILD, SOURCE,
# WORK (an own directory), CXX.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# 256 elements of 4 bytes are 16 lines; each is read and written once in a phase: 32 events a line. By rows a line stays in its counter: 16
# records. By columns, a row being one line, 4 counters see 16 lines in turn: each time 2 events, 256 records.
function(check program)
  run(${CMAKE_COMMAND} -E env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 ${program})
  if(NOT output MATCHES "1024 events, 272 records" OR NOT output MATCHES "phase 0, line 0x1000: 32\n" OR
     NOT output MATCHES "phase 1, line 0x13c0: 32\n" OR NOT output MATCHES "first record in memory: line 0x1000\n")
    message(FATAL_ERROR "${program} says:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component tlm)
run(${CMAKE_COMMAND} -E rename ${prefix} ${WORK}/moved)  # nothing in it may remember where it was made
set(prefix ${WORK}/moved)

run(${CMAKE_COMMAND} -S ${SOURCE}/examples/tlm_platform -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
check(${WORK}/build/tlm_platform)

file(GLOB_RECURSE pc ${prefix}/*/cachetally.pc)
get_filename_component(pc_directory ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_directory})
run(pkg-config --cflags --libs cachetally)
separate_arguments(options UNIX_COMMAND "${output}")
run(${CXX} -std=c++17 ${SOURCE}/examples/tlm_platform/main.cpp -o ${WORK}/by_pkgconfig ${options})
check(${WORK}/by_pkgconfig)
