# SPDX-License-Identifier: MIT
# Tests of one folder with the same options, compiled many to a unit where DNNKIT_GROUP_TESTS is on. What a test takes to compile
# is headers and, without optimisation, the code of the library that it calls: in a unit of ten tests both are there once.
# A CTest is still a file: it runs the cases of its file alone. The program of one test can be built by its name, as without groups.
#
# Networks that several of them compile are compiled once, too: those of inspect/ took twice as long in three units.
#
# A file stands in a namespace of its own. Its includes stand before it, so that a header that it includes first is not shown to
# compile by itself: headers/headers.cmake does so for these headers.
# Alone stay files with the label `alone`, which replace functions of the whole program, read what only their own target has, or
# are long to compile for their size, and folders without a size below: those of few tests, or whose time is not what tests have in common.

# How many bytes of sources a unit has: as many as a compiler takes some four gigabytes for at most.
set(bytes_of_core 100000)
set(bytes_of_cost 100000)
set(bytes_of_cpu 11000)
if(NOT DNNKIT_THOROUGH_TESTS)
  set(bytes_of_cpu 18000)
endif()
set(bytes_of_graph 40000)
set(bytes_of_inspect 60000)
set(bytes_of_onnx 120000)
set(bytes_of_op 60000)
set(bytes_of_opencl 60000)
set(bytes_of_operator 100000)
set(bytes_of_pass 160000)
set(bytes_of_reference 60000)
set(bytes_of_runtime 45000)
set(bytes_of_tensor 100000)
set(bytes_of_weights 100000)

# dnnkit_is_grouped(VARIABLE SOURCE FOLDER LABELS): is the test SOURCE compiled with others?
function(dnnkit_is_grouped variable source folder labels)
  if(DNNKIT_GROUP_TESTS AND DEFINED bytes_of_${folder} AND NOT DNNKIT_TEST_SUITE STREQUAL thread AND
     NOT alone IN_LIST labels AND NOT slow IN_LIST labels AND NOT source MATCHES "/micro/")
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()

# dnnkit_group_test(COMMAND SOURCE TARGET FOLDER LABELS OPTIONS): makes the test SOURCE one of a group, sets COMMAND to what runs
# it there, and leaves its own program, TARGET, out of `all`.
function(dnnkit_group_test command source target folder labels options)
  set(group tests_${folder})
  if(opencl IN_LIST labels)
    string(APPEND group _with_opencl)
  endif()
  if(DNNKIT_TEST_SUITE STREQUAL all)
    list(JOIN options "" suffix)
    string(APPEND group ${suffix})
  endif()
  set_property(GLOBAL APPEND PROPERTY dnnkit_test_groups ${group})
  set_property(GLOBAL APPEND PROPERTY dnnkit_sources_of_${group} ${source})
  set_property(GLOBAL PROPERTY dnnkit_folder_of_${group} ${folder})
  set_property(GLOBAL PROPERTY dnnkit_labels_of_${group} ${labels})
  set_property(GLOBAL PROPERTY dnnkit_options_of_${group} ${options})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  set(${command} ${group} --source-file=*/tests/${source} PARENT_SCOPE)
endfunction()

# dnnkit_write_unit(UNIT SOURCE...)
function(dnnkit_write_unit unit)
  set(includes "")
  set(parts "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} of_source REGEX "^#include")
    list(APPEND includes ${of_source})
    string(MAKE_C_IDENTIFIER ${source} name)
    string(APPEND parts "namespace in_${name} {\n#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n@includes@\n@parts@" @ONLY)
endfunction()

# dnnkit_write_groups(): the programs of the groups that dnnkit_group_test() has filled.
function(dnnkit_write_groups)
  get_property(groups GLOBAL PROPERTY dnnkit_test_groups)
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    get_property(sources GLOBAL PROPERTY dnnkit_sources_of_${group})
    foreach(part IN ITEMS folder labels options)
      get_property(${part} GLOBAL PROPERTY dnnkit_${part}_of_${group})
    endforeach()
    set(units "")
    foreach(source IN LISTS sources)  # each to the first unit with room for it
      file(SIZE ${CMAKE_CURRENT_SOURCE_DIR}/${source} size)
      set(index 0)
      while(DEFINED bytes_${index})
        math(EXPR together "${bytes_${index}} + ${size}")
        if(together LESS_EQUAL bytes_of_${folder})
          break()
        endif()
        math(EXPR index "${index} + 1")
      endwhile()
      if(NOT DEFINED bytes_${index})
        set(bytes_${index} 0)
        set(sources_${index} "")
        list(APPEND units ${CMAKE_CURRENT_BINARY_DIR}/groups/${group}_${index}.cpp)
      endif()
      math(EXPR bytes_${index} "${bytes_${index}} + ${size}")
      list(APPEND sources_${index} ${source})
    endforeach()
    set(index 0)
    foreach(unit IN LISTS units)
      dnnkit_write_unit(${unit} ${sources_${index}})
      unset(bytes_${index})
      math(EXPR index "${index} + 1")
    endforeach()
    dnnkit_test_program(${group} ${folder} "${labels}" "${options}" ${units})
    list(LENGTH units count)
    if(count GREATER 5 AND DNNKIT_TEST_SUITE STREQUAL all)  # three seconds a unit for nine once; with sanitizers it gains nothing
      target_precompile_headers(${group} PRIVATE <dnnkit/compile.hpp>)
    endif()
  endforeach()
endfunction()
