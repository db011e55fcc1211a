# Installs the package to a place of its own and builds examples/systemc_platform against it. Given: BUILD, SOURCE, WORK (an own directory), CXX.
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

foreach(component IN ITEMS tlm systemc)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
endforeach()
run(${CMAKE_COMMAND} -E rename ${prefix} ${WORK}/moved)  # nothing in it may remember where it was made
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/systemc_platform -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/moved -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} -E env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 ${WORK}/build/systemc_platform)

# 256 lines of each core do not fit its 64: 512 misses there, 256 of them also in the second level. 4096 + 512 x 10 + 256 x 100 ns; core 1 begins 1 ps late.
if(NOT output MATCHES "8192 references, L1 misses 1024, L2 misses 512, memory reads 512\n" OR
   NOT output MATCHES "core 0 ends at 34816000 ps, core 1 at 34816001 ps\n")
  message(FATAL_ERROR "the example says:\n${output}")
endif()
