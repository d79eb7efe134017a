# SPDX-License-Identifier: MIT
# What the scripts share that build the consumer project.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# expect(TEXT PART): TEXT has this part.
function(expect text part)
  string(FIND "${text}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "'${part}' is not said:\n${text}")
  endif()
endfunction()

# configure(FOLDER OPTION...): the consumer project, for the processor that the tool was compiled for.
set(consumer ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-DCMAKE_CXX_FLAGS=${FLAGS}")
function(configure folder)
  step(${consumer} -B ${folder} ${ARGN})
endfunction()

# Installs dnnkit in ${SCRATCH}/installed.
function(install_dnnkit)
  # The build folder, which may be somebody else's, is left as it is.
  set(ENV{DESTDIR} ${SCRATCH}/staged)
  file(REMOVE ${DNNKIT_BUILD}/install_manifest.txt)
  step(${CMAKE_COMMAND} --install ${DNNKIT_BUILD} --prefix /prefix)
  unset(ENV{DESTDIR})
  if(EXISTS ${DNNKIT_BUILD}/install_manifest.txt)
    message(FATAL_ERROR "an installation has written into the build folder")
  endif()
  file(STRINGS ${SCRATCH}/staged/prefix/share/cmake/dnnkit/installed_files.txt installed)
  foreach(file IN LISTS installed)
    if(NOT EXISTS ${SCRATCH}/staged${file})
      message(FATAL_ERROR "${file} is in the list of installed files, but was not installed")
    endif()
  endforeach()
  foreach(file IN ITEMS /prefix/bin/dnnkit /prefix/include/dnnkit/graph.hpp)
    if(NOT file IN_LIST installed)
      message(FATAL_ERROR "${file} is not in the list of installed files: ${installed}")
    endif()
  endforeach()
  # What is installed may be moved, and is all that is used of dnnkit.
  file(RENAME ${SCRATCH}/staged/prefix ${SCRATCH}/installed)
  file(STRINGS ${SCRATCH}/installed/bin/dnnkit path_of_sources REGEX ${DNNKIT_SOURCE}/include)
  if(path_of_sources)
    message(FATAL_ERROR "the installed tool knows the sources' folder: ${path_of_sources}")
  endif()
endfunction()
