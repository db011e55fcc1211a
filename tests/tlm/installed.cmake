# Installs both libraries to a place of their own and builds tests/tlm/outside against them, by CMake's package; and examples/tlm_platform by
# pkg-config. Given: BUILD, SOURCE, WORK (an own directory), CXX.
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

# The component tlm is whole without the other one.
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component tlm)
run(${CMAKE_COMMAND} -E rename ${prefix} ${WORK}/moved)  # nothing in it may remember where it was made
set(prefix ${WORK}/moved)

# 256 elements of 4 bytes are 16 lines; each is read and written once in a phase: 32 events a line. By rows a line stays in its counter: 16
# records. By columns, a row being one line, 4 counters see 16 lines in turn: each time 2 events, 256 records.
set(tlm_platform_says "1024 events, 272 records of 16 bytes" "phase 0, line 0x1000: 32" "phase 1, line 0x13c0: 32"
  "first record in memory: line 0x1000")
file(GLOB_RECURSE pc ${prefix}/*/cachetally.pc)
get_filename_component(pc_directory ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_directory})
run(pkg-config --cflags --libs cachetally)
separate_arguments(options UNIX_COMMAND "${output}")
run(${CXX} -std=c++17 ${SOURCE}/examples/tlm_platform/main.cpp -o ${WORK}/by_pkgconfig ${options})
check(${WORK}/by_pkgconfig ${tlm_platform_says})

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component systemc)
run(${CMAKE_COMMAND} -E copy_directory ${WORK}/prefix ${prefix})
run(${CMAKE_COMMAND} -E remove_directory ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/tlm/outside -B ${WORK}/build -DEXAMPLES=${SOURCE}/examples -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
check(${WORK}/build/tlm_platform/tlm_platform ${tlm_platform_says})

# 256 lines of each core do not fit its 64: 512 misses there, 256 of them also in the second level. 4096 + 512 x 10 + 256 x 100 ns; core 1 begins 1 ps late.
check(${WORK}/build/systemc_platform/systemc_platform "8192 references, L1 misses 1024, L2 misses 512, memory reads 512"
  "core 0 ends at 34816000 ps, core 1 at 34816001 ps")

# 128 lines do not fit 64: each is asked for in both passes.
foreach(order IN ITEMS tlm_first systemc_first)
  check(${WORK}/build/${order} "misses 256, events 256, lines 128, line 0x11fc0: 2")
endforeach()
