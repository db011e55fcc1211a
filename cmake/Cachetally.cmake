# SPDX-License-Identifier: BSD-3-Clause
# How every room is built: one target with the project's language level, warnings and sanitizers.
add_library(cachetally_options INTERFACE)
target_compile_features(cachetally_options INTERFACE cxx_std_20)
target_include_directories(cachetally_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(cachetally_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wcast-align
  $<$<BOOL:${CACHETALLY_WERROR}>:-Werror>
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)  # equal sources make equal files, wherever they are built: scripts/package --reproducible
if(CMAKE_UNITY_BUILD)
  # What is compiled together is no header, and a name of one source may be a variable in the next: each source is held to all
  # warnings where it is compiled for itself (the preset debug).
  target_compile_options(cachetally_options INTERFACE
    -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local> $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(CACHETALLY_SANITIZE)
  target_compile_options(cachetally_options INTERFACE
    -fsanitize=${CACHETALLY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ 12 sees ghosts in Boost's optional when it is instrumented
  target_link_options(cachetally_options INTERFACE -fsanitize=${CACHETALLY_SANITIZE})
  if(CACHETALLY_SANITIZE MATCHES "undefined")
    # a look at each pointer before it is followed: a fifth of the build, and AddressSanitizer sees most of what these find (no misaligned access)
    target_compile_options(cachetally_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()

# cachetally_cold(TARGET): for what compiles longer than it runs, such as parsing and printing: hardly optimised, and not at all
# where sanitizers make the compilation expensive.
function(cachetally_cold target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  if(CACHETALLY_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# cachetally_room(NAME DIRECTORY... [COLD source...] [LINK target...]): a library of all sources directly in the given directories;
# sources that are named as cold (without .cpp) are compiled as cachetally_cold does.
function(cachetally_room name)
  cmake_parse_arguments(ROOM "" "" "COLD;LINK" ${ARGN})
  set(sources)
  foreach(directory IN LISTS ROOM_UNPARSED_ARGUMENTS)
    file(GLOB found CONFIGURE_DEPENDS ${directory}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE cachetally_options ${ROOM_LINK})
    return()
  endif()
  if(ROOM_COLD)
    list(TRANSFORM ROOM_COLD REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1.cpp")
    list(REMOVE_ITEM sources ${ROOM_COLD})
    add_library(${name}_cold OBJECT ${ROOM_COLD})
    target_link_libraries(${name}_cold PUBLIC cachetally_options ${ROOM_LINK})
    cachetally_cold(${name}_cold)
    list(APPEND sources $<TARGET_OBJECTS:${name}_cold>)
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC cachetally_options ${ROOM_LINK})
endfunction()
