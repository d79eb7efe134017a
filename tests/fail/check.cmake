# SPDX-License-Identifier: MIT
# Checks one program that must not compile: PROGRAM, COMPILER, COMPILER_ID and OPTIONS are given on the command line.
#
# The program names each message it expects in a line of its own, found literally in what the compiler prints:
#   // EXPECT: text          by every compiler
#   // EXPECT-GCC: text      by g++ only
#   // EXPECT-CLANG: text    by clang++ only
# With PASSING_TWIN defined the same file must compile: the failing program differs from a right one only where it is wrong.
cmake_minimum_required(VERSION 3.25)

set(compiler_tag GCC)
if(COMPILER_ID MATCHES Clang)
  set(compiler_tag CLANG)
endif()

# Semicolons and brackets would be read as CMake's own list syntax, so the file is taken apart as one string.
file(READ ${PROGRAM} rest)
set(expectations 0)
while(rest MATCHES "// EXPECT(-${compiler_tag})?: *([^\n]*)\n")
  set(text_${expectations} "${CMAKE_MATCH_2}")
  math(EXPR expectations "${expectations} + 1")
  string(FIND "${rest}" "${CMAKE_MATCH_0}" position)
  string(LENGTH "${CMAKE_MATCH_0}" length)
  math(EXPR position "${position} + ${length}")
  string(SUBSTRING "${rest}" ${position} -1 rest)
endwhile()
if(expectations EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} names no message: it needs a line `// EXPECT: text`")
endif()
file(STRINGS ${PROGRAM} twin REGEX "PASSING_TWIN")
if(NOT twin)
  message(FATAL_ERROR "${PROGRAM} has no passing twin: it needs `#ifdef PASSING_TWIN`")
endif()

set(ENV{LC_ALL} C)
set(command ${COMPILER} ${OPTIONS} -fsyntax-only -fmessage-length=0 ${PROGRAM})
execute_process(COMMAND ${command} -DPASSING_TWIN RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "the passing twin of ${PROGRAM} does not compile")
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} compiles; it must not")
endif()
if(compiler_tag STREQUAL CLANG)  # which shows the text of a wrong model in pieces, as template arguments
  string(REGEX REPLACE "\"}, fixed_string<[0-9]+>{\"" "" output "${output}")
  string(REPLACE "\\'" "'" output "${output}")
endif()
set(missing FALSE)
math(EXPR last "${expectations} - 1")
foreach(index RANGE ${last})
  string(FIND "${output}" "${text_${index}}" position)
  if(position EQUAL -1)
    message("not found in the compiler's output: ${text_${index}}")
    set(missing TRUE)
  endif()
endforeach()
if(missing)
  message("${output}")
  message(FATAL_ERROR "${PROGRAM} fails to compile, but not with the message it names")
endif()
