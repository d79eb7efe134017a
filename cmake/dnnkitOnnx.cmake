# SPDX-License-Identifier: MIT
# dnnkit_add_onnx(TARGET MODEL.onnx [NAME name] [EMBED] [ALLOW_LINKED_DATA] [DIM SYMBOL=NUMBER...])
#
# Turns an ONNX model into a header `name.hpp` with the struct `name` (by default after the file; a name that a type can have) when TARGET is built, and
# lets TARGET include it, together with `name_weights.hpp`, whose function name_weights() opens the weights:
#
#   dnnkit_add_onnx(my_app models/resnet50.onnx)
#
#   #include "resnet50.hpp"
#   #include "resnet50_weights.hpp"
#   dnnkit::session<dnnkit::compile<resnet50>> session(resnet50_weights());
#
# The weights stay in the .onnx and its external data, which are mapped when the program runs; with EMBED they become
# part of the program. DIM gives symbols of the model a value. Where something in the model is not supported, all of it
# is listed and the build stops before anything of TARGET is compiled. External data behind links, as package managers and
# caches of downloads keep it, is read with ALLOW_LINKED_DATA only (dnnkit/onnx/external_files.hpp).
#
# The program that does it comes with an installed package; without one it is compiled once a build, in a minute.
# DNNKIT_ONNX_GENERATOR names another one that exists already: that of another build, or when the build is for another
# machine, one that runs on this machine.
set(DNNKIT_ONNX_GENERATOR "" CACHE FILEPATH "The program dnnkit_onnx_generator to use in place of the package's")

# dnnkit_onnx_generator(VARIABLE): the target of that program.
function(dnnkit_onnx_generator variable)
  if(DNNKIT_ONNX_GENERATOR)
    set(generator dnnkit_given_onnx_generator)
    if(NOT TARGET ${generator})
      if(NOT EXISTS ${DNNKIT_ONNX_GENERATOR})
        message(FATAL_ERROR "dnnkit_add_onnx: DNNKIT_ONNX_GENERATOR is ${DNNKIT_ONNX_GENERATOR}, which does not exist")
      endif()
      add_executable(${generator} IMPORTED GLOBAL)
      set_target_properties(${generator} PROPERTIES IMPORTED_LOCATION ${DNNKIT_ONNX_GENERATOR})
    endif()
  elseif(TARGET dnnkit::onnx_generator)
    set(generator dnnkit::onnx_generator)
  else()
    set(generator dnnkit_onnx_generator)
    if(NOT TARGET ${generator})
      add_executable(${generator} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/onnx_generator/main.cpp)
      target_link_libraries(${generator} PRIVATE dnnkit::dnnkit)
      # Compiling it takes longer than its runs: one on a model of thousands of operators takes a few seconds.
      target_compile_options(${generator} PRIVATE -O0)
    endif()
  endif()
  set(${variable} ${generator} PARENT_SCOPE)
endfunction()

function(dnnkit_add_onnx target model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EMBED;ALLOW_LINKED_DATA" "NAME" "DIM")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dnnkit_add_onnx: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH model BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS "${model}")
    message(FATAL_ERROR "dnnkit_add_onnx: there is no file ${model}")
  endif()
  if(model MATCHES "[;\n\r\\]")
    message(FATAL_ERROR "dnnkit_add_onnx: a path with this character is beyond build tools: ${model}")
  endif()
  if(NOT arg_NAME)
    cmake_path(GET model STEM arg_NAME)
  endif()
  string(MAKE_C_IDENTIFIER "${arg_NAME}" name)
  string(REGEX REPLACE "__+" "_" name "${name}")
  if(name MATCHES "^_")  # as MAKE_C_IDENTIFIER begins what begins with a number
    string(PREPEND name model)
  endif()

  dnnkit_onnx_generator(generator)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/dnnkit_onnx/${target}/${name})
  set(sources ${folder}/${name}.hpp ${folder}/${name}_weights.hpp)
  set(options)
  if(arg_EMBED)
    list(APPEND sources ${folder}/${name}_weights.cpp)
    list(APPEND options --embed)
  endif()
  if(arg_ALLOW_LINKED_DATA)
    list(APPEND options --allow-linked-data)
  endif()
  foreach(dim IN LISTS arg_DIM)
    list(APPEND options --dim ${dim})
  endforeach()
  string(REPLACE "$<" "$<1:$><" literal_model "${model}")  # a path is no generator expression
  add_custom_command(
    OUTPUT ${folder}/generated.stamp
    BYPRODUCTS ${sources}
    COMMAND ${generator} "${literal_model}" ${folder} ${name} ${options}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/generated.stamp
    DEPENDS "${literal_model}" ${generator}
    COMMENT "Generating ${name}.hpp"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/generated.stamp)
  if(arg_EMBED)
    target_sources(${target} PRIVATE ${folder}/${name}_weights.cpp)
    set_source_files_properties(${folder}/${name}_weights.cpp PROPERTIES OBJECT_DEPENDS ${folder}/generated.stamp)
  endif()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE dnnkit::dnnkit)
endfunction()
