# SPDX-License-Identifier: BSD-3-Clause
# Writes the header of the version where it changed. "-dirty": tracked files differ from the commit.
set(CACHETALLY_COMMIT "unknown")
if(GIT)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # others may work in the tree
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE described
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(CACHETALLY_COMMIT ${described})
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
