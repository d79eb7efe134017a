# SPDX-License-Identifier: MIT
# Checks one program that must not compile: PROGRAM, COMPILER, COMPILER_ID and OPTIONS are given on the command line.
#
# The program names each message it expects in a line of its own, found literally in what the compiler prints:
#   // EXPECT: text          by every compiler
#   // EXPECT-GCC: text      by g++ only
#   // EXPECT-CLANG: text    by clang++ only
# One mistake is one error, said within the first 25 lines: g++ prints no other (clang has more to say about functions that it
# could not compile). `// ERRORS: number...` where a mistake cannot but be said several times, or not by every compiler.
# `// OPTIONS: -x` adds compiler options, which its twin does not get.
# With PASSING_TWIN defined the same file must compile: the failing program differs from a right one only where it is wrong.
# fail.cmake compiles all these twins in one unit, the test fail/passing_twins.
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

file(STRINGS ${PROGRAM} options REGEX "^// OPTIONS: ")
string(REGEX REPLACE "^// OPTIONS: *" "" options "${options}")
separate_arguments(options)
execute_process(COMMAND ${command} ${options} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} compiles; it must not")
endif()
if(compiler_tag STREQUAL CLANG)  # which shows the text of a wrong model in pieces, as template arguments
  string(REGEX REPLACE "\"}, fixed_string<[0-9]+>{\"" "" output "${output}")
endif()
string(REPLACE "\\'" "'" output "${output}")
set(missing FALSE)
math(EXPR last "${expectations} - 1")
foreach(index RANGE ${last})
  string(FIND "${output}" "${text_${index}}" position)
  if(position EQUAL -1)
    message("not found in the compiler's output: ${text_${index}}")
    set(missing TRUE)
  endif()
endforeach()
if(compiler_tag STREQUAL GCC)
  file(STRINGS ${PROGRAM} errors_expected REGEX "^// ERRORS: ")
  string(REGEX REPLACE "^// ERRORS: *" "" errors_expected "${errors_expected}")
  if(NOT errors_expected)
    set(errors_expected 1)
  endif()
  string(REGEX REPLACE "[^\n]*: (fatal )?error: [^\n]*" "<error>" marked "${output}")
  string(REGEX MATCHALL "<error>" errors "${marked}")
  list(LENGTH errors errors)
  separate_arguments(errors_expected)
  if(NOT errors IN_LIST errors_expected)
    message("the compiler reports ${errors} errors, expected ${errors_expected}")
    set(missing TRUE)
  endif()
  string(FIND "${output}" "${text_0}" position)
  string(SUBSTRING "${output}" 0 ${position} before)
  string(REGEX MATCHALL "\n" lines "${before}")
  list(LENGTH lines lines)
  if(NOT lines LESS 25)
    message("the message comes behind ${lines} lines")
    set(missing TRUE)
  endif()
endif()
if(missing)
  message("${output}")
  message(FATAL_ERROR "${PROGRAM} fails to compile, but not as it says")
endif()
