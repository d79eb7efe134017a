# SPDX-License-Identifier: MIT
# dnnkit_add_onnx(PROGRAM MODEL.onnx [TARGET cpu|opencl|opencl_images] [NAME name] [EMBED] [ALLOW_LINKED_DATA]
#                 [DIM SYMBOL=NUMBER|FIRST..LAST...] [INPUT NAME=FILE.npy...] [FEEDBACK OUTPUT=INPUT...]
#                 [KERNEL_PARTS N] [ISA name...])
#
# Turns an ONNX model into a header `name.hpp` with the struct `name` when PROGRAM, an executable or a library of the
# project, is built, and lets PROGRAM include it, together with `name_weights.hpp`, whose function name_weights() opens the weights:
#
#   dnnkit_add_onnx(my_app models/resnet50.onnx)
#
#   #include "resnet50.hpp"
#   #include "resnet50_weights.hpp"
#   dnnkit::session<dnnkit::compile<resnet50>> session(resnet50_weights());
#
# The name is that of the file in snake_case, my_net_v2 for My-net.v2.onnx (dnnkit_model_name() below), or NAME; the
# configuration prints it.
#
# The weights stay in the .onnx and its external data, which are mapped when the program runs; with EMBED they become
# part of the program. DIM gives symbols of the model a value, or bounds, which are 1 and more without it. Where something
# in the model is not supported, all of it is listed and the build stops before anything of PROGRAM is compiled. External
# data behind links, as package managers and caches of downloads keep it, is read with ALLOW_LINKED_DATA only
# (dnnkit/onnx/format/external_files.hpp).
#
# With TARGET opencl, dnnkit::compile<name> is a network for OpenCL devices (dnnkit/opencl.hpp), and PROGRAM is linked to
# dnnkit::opencl; with TARGET opencl_images the same with values in the device's images. A model with operators that have no kernel for OpenCL is not supported. KERNEL_PARTS and ISA are the
# processor's.
#
# INPUT gives inputs a value for good, that of a .npy file, where it decides a shape or a branch, such as the sample rate that
# chooses a branch of an If; the model has them no more. An input whose value decides neither stays, and that is said.
#
# FEEDBACK names outputs that are the next run's inputs, such as the states of a recurrent network; the session with that
# state is dnnkit::model_session<name> (dnnkit/runtime/model_session.hpp).
#
# The kernels are compiled in several units at once where it pays: as many as there are processors, eight at most, or
# KERNEL_PARTS. Those are units of PROGRAM, which must be linked where the header is used.
#
# With ISA (sse2, avx2, avx512, avx512_vnni, avx512_amx; neon), kernels are compiled for each of these instruction sets, and
# the program chooses when it starts: dnnkit/runtime/versions.hpp. The rest of PROGRAM is compiled as its own flags say,
# -march=native left out.
#
# The program that does it comes with an installed package; without one it is compiled once a build, in a minute.
# DNNKIT_ONNX_GENERATOR names another one that exists already: that of another build, or when the build is for another
# machine, one that runs on this machine.
set(DNNKIT_ONNX_GENERATOR "" CACHE FILEPATH "The program dnnkit_onnx_generator to use in place of the package's")

# The words that no model is called by: those of this header.
if(NOT DEFINED dnnkit_include_folder)
  set(dnnkit_include_folder ${CMAKE_CURRENT_LIST_DIR}/../include)
endif()
set_property(GLOBAL PROPERTY dnnkit_identifiers ${dnnkit_include_folder}/dnnkit/source/identifiers.hpp)

# dnnkit_is_model_name(VARIABLE NAME): may a struct be called so? As generation::is_type_name() says it.
function(dnnkit_is_model_name variable name)
  set(${variable} FALSE PARENT_SCOPE)
  if(name MATCHES "^[A-Za-z][A-Za-z0-9_]*$" AND NOT name MATCHES "__")
    get_property(identifiers GLOBAL PROPERTY dnnkit_identifiers)
    file(STRINGS ${identifiers} reserved REGEX "\"${name}\"")
    if(NOT reserved)
      set(${variable} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# dnnkit_model_name(VARIABLE FILE): what the model in FILE is called, by the rule that the tool `dnnkit` follows
# (onnx::model_name()): the file's name up to its last dot in snake_case, of letters, digits and single underscores.
function(dnnkit_model_name variable file)
  cmake_path(GET file STEM LAST_ONLY name)
  string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" name "${name}")
  string(REGEX REPLACE "[^A-Za-z0-9]+" "_" name "${name}")
  string(REGEX REPLACE "^_" "" name "${name}")
  string(SUBSTRING "${name}" 0 60 name)
  string(REGEX REPLACE "_$" "" name "${name}")
  string(TOLOWER "${name}" name)
  if(name MATCHES "^[0-9]")
    string(PREPEND name model_)
  elseif(name STREQUAL "")
    set(name model)
  endif()
  dnnkit_is_model_name(is_name ${name})
  if(NOT is_name)
    string(APPEND name _model)
  endif()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

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
      add_executable(${generator} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/onnx_generator/main.cpp
                     ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/onnx_generator/opencl_kernels.cpp)
      target_link_libraries(${generator} PRIVATE dnnkit::dnnkit)
      # Compiling it takes longer than its runs: one on a model of thousands of operators takes a few seconds.
      target_compile_options(${generator} PRIVATE -O0)
    endif()
  endif()
  set(${variable} ${generator} PARENT_SCOPE)
endfunction()

# dnnkit_isa_flags(VARIABLE ISA): the compiler's flags for an instruction set, as dnnkit/cost/target.hpp says them.
function(dnnkit_isa_flags variable isa)
  get_property(identifiers GLOBAL PROPERTY dnnkit_identifiers)
  cmake_path(SET header NORMALIZE ${identifiers}/../../cost/target.hpp)
  file(READ ${header} text)
  if(NOT text MATCHES "name = \"${isa}\",[ \n]*flags = \"([^\"]+)\"")
    message(FATAL_ERROR "dnnkit: ISA takes sse2, avx2, avx512, avx512_vnni, avx512_amx or neon, not '${isa}'")
  endif()
  set(${variable} "SHELL:${CMAKE_MATCH_1}" PARENT_SCOPE)  # together, even where TARGET has one of them
endfunction()

# dnnkit_kernels_of_isa(TARGET NAME ISA UNIT...): adds to TARGET the kernels of a model for one instruction set, which are
# compiled in these units. They become one object, of which nothing but the function that returns the kernels can be seen:
# functions of the standard library and of operators have no target in their names, and what the units have compiled them to
# must not be called by the rest of a program, which may run on another processor.
function(dnnkit_kernels_of_isa target name isa)
  dnnkit_isa_flags(flags ${isa})
  set(library ${target}_${name}_${isa})
  add_library(${library} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${library} PRIVATE dnnkit::dnnkit)
  target_include_directories(${library} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${library} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> ${flags} -fno-lto
                         $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)  # the names of such data cannot be hidden
  get_target_property(type ${target} TYPE)
  get_target_property(position_independent ${target} POSITION_INDEPENDENT_CODE)
  if(position_independent OR type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/dnnkit_kernels/${target}/${name}_kernels_${isa}.o)
  cmake_path(GET object PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  if(NOT CMAKE_OBJCOPY)
    message(FATAL_ERROR "dnnkit: ISA needs objcopy, which CMake has not found")
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o ${object}.open $<TARGET_OBJECTS:${library}>
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=_ZN6dnnkit3cpu10version_ofI*E3getEv" ${object}.open ${object}
    DEPENDS ${library} $<TARGET_OBJECTS:${library}>
    COMMENT "Linking the kernels of ${name} for ${isa}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${object})
endfunction()

# dnnkit_require_parts(WHERE FOUND): FOUND is a number of units that kernels can be compiled in, as onnx::kernel_parts_of()
# of dnnkit/onnx/generate_files.hpp has it; WHERE names what says so.
function(dnnkit_require_parts where found)
  if(NOT found MATCHES "^0*[1-9][0-9]*$")
    message(FATAL_ERROR "${where}: expected at least 1, found ${found}")
  elseif(NOT found MATCHES "^0*([1-9][0-9]?[0-9]?|1000)$")
    message(FATAL_ERROR "${where}: expected at most 1000, found ${found}")
  endif()
endfunction()

# dnnkit_kernel_units(TARGET MODEL HEADER PARTS [ISA name...])
#
# For a model written by hand: adds to TARGET the units that compile its kernels, so that several compilers work on them
# and on the session, the first of PARTS parts, at once. MODEL is the struct, whose member kernel_parts is PARTS (1 without
# it), HEADER what defines it:
#
#   struct my_model {
#     static constexpr std::size_t kernel_parts = 3;
#
#   dnnkit_kernel_units(my_app my_model my_model.hpp 3)
#
# With ISA, it adds all kernels, for each of these instruction sets, which the model names as well:
#
#   struct my_model {
#     using target = dk::targets::one_of<dk::targets::avx2, dk::targets::avx512>;
#
#   dnnkit_kernel_units(my_app my_model my_model.hpp 1 ISA avx2 avx512)
function(dnnkit_kernel_units target model header parts)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "ISA")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dnnkit_kernel_units: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  dnnkit_require_parts("dnnkit_kernel_units: PARTS" "${parts}")
  cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  string(MAKE_C_IDENTIFIER "${model}" name)
  math(EXPR last "${parts} - 1")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/dnnkit_kernels/${target})
  if(NOT arg_ISA)
    set(arg_ISA any)
  endif()
  foreach(isa IN LISTS arg_ISA)
    set(units "")
    foreach(part RANGE ${last})
      if(isa STREQUAL any)
        set(net "dnnkit::compile<${model}>")
        set(unit ${folder}/${name}_kernels_${part}.cpp)
      else()
        set(net "dnnkit::compile<${model}, dnnkit::targets::${isa}>")
        set(unit ${folder}/${name}_kernels_${isa}_${part}.cpp)
      endif()
      if(part GREATER 0)
        set(instance "kernel_part<${net}, ${part}>")
      elseif(isa STREQUAL any)
        continue()  # the session
      else()
        set(instance "version_of<${net}>")
      endif()
      file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT
"// Part @part@ of the kernels of @model@, generated by dnnkit.
#include <dnnkit/cpu/kernel_unit.hpp>

#include \"@header@\"

static_assert(dnnkit::cpu::kernel_parts<@net@>() == @parts@,
              \"dnnkit_kernel_units(): the model's member kernel_parts is another number\");
template struct dnnkit::cpu::@instance@;
")
      list(APPEND units ${unit})
    endforeach()
    if(isa STREQUAL any)
      target_sources(${target} PRIVATE ${units})
    else()
      dnnkit_kernels_of_isa(${target} ${name} ${isa} ${units})
    endif()
  endforeach()
endfunction()

# Makes the path that a variable holds absolute. There must be a file; `role`, as "" or " for INPUT x", says what it is for. The
# path has none of `characters`, no line break and no backslash, for the reason `refused`.
function(dnnkit_onnx_file variable role characters refused)
  cmake_path(ABSOLUTE_PATH ${variable} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "dnnkit_add_onnx: there is no file ${path}${role}")
  endif()
  if(path MATCHES "[${characters}\n\r\\]")
    message(FATAL_ERROR "dnnkit_add_onnx: a path with this character ${refused}: ${path}")
  endif()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

function(dnnkit_add_onnx target model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EMBED;ALLOW_LINKED_DATA" "TARGET;NAME;KERNEL_PARTS" "DIM;INPUT;FEEDBACK;ISA")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dnnkit_add_onnx: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(DEFINED arg_KERNEL_PARTS)
    dnnkit_require_parts("dnnkit_add_onnx: KERNEL_PARTS" "${arg_KERNEL_PARTS}")
  endif()
  set(library dnnkit::dnnkit)
  if(arg_TARGET MATCHES "^opencl(_images)?$")
    foreach(option IN ITEMS KERNEL_PARTS ISA)
      if(DEFINED arg_${option})
        message(FATAL_ERROR "dnnkit_add_onnx: ${option} is for TARGET cpu, found TARGET ${arg_TARGET}")
      endif()
    endforeach()
    set(library dnnkit::opencl)
    if(NOT TARGET ${library})
      message(FATAL_ERROR "dnnkit_add_onnx: TARGET ${arg_TARGET} needs ${library}, which is there where OpenCL's headers and loader "
                          "are installed (Debian's ocl-icd-opencl-dev)")
    endif()
  elseif("TARGET" IN_LIST arg_KEYWORDS_MISSING_VALUES OR (DEFINED arg_TARGET AND NOT arg_TARGET STREQUAL cpu))
    message(FATAL_ERROR "dnnkit_add_onnx: TARGET takes cpu, opencl or opencl_images, not '${arg_TARGET}'")
  endif()
  dnnkit_onnx_file(model "" ";" "is beyond build tools")
  if(arg_NAME)
    set(name "${arg_NAME}")
    dnnkit_is_model_name(is_name "${name}")
    if(NOT is_name)
      message(FATAL_ERROR "dnnkit_add_onnx: NAME is '${name}', which no struct can be called")
    endif()
  else()
    dnnkit_model_name(name "${model}")
  endif()
  cmake_path(GET model FILENAME file_name)
  message(STATUS "dnnkit: ${file_name} -> ${name}.hpp, struct ${name}")

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
  set(input_files "")
  foreach(input IN LISTS arg_INPUT)
    if(NOT input MATCHES "^(.+)=([^=]+)$")
      message(FATAL_ERROR "dnnkit_add_onnx: INPUT takes NAME=FILE.npy, not '${input}'")
    endif()
    set(input_name "${CMAKE_MATCH_1}")
    set(file "${CMAKE_MATCH_2}")
    dnnkit_onnx_file(file " for INPUT ${input_name}" "=;" "cannot be a value of INPUT")
    string(REPLACE "$<" "$<1:$><" literal_file "${file}")
    string(REPLACE "$<" "$<1:$><" literal_input "${input_name}=${file}")
    list(APPEND input_files "${literal_file}")
    list(APPEND options --input "${literal_input}")
  endforeach()
  foreach(feedback IN LISTS arg_FEEDBACK)
    list(APPEND options --feedback "${feedback}")
  endforeach()
  set(most_parts ${arg_KERNEL_PARTS})
  if(arg_TARGET MATCHES "^opencl(_images)?$")
    list(APPEND options --${arg_TARGET})
    set(most_parts 1)  # the session's
  elseif(DEFINED arg_KERNEL_PARTS)
    list(APPEND options --kernel-parts ${arg_KERNEL_PARTS})
  else()
    cmake_host_system_information(RESULT most_parts QUERY NUMBER_OF_LOGICAL_CORES)
    if(most_parts GREATER 8)
      set(most_parts 8)
    endif()
    if(NOT arg_ISA)
      math(EXPR most_parts "${most_parts} + 1")  # one of them is the session
    endif()
    list(APPEND options --most-kernel-parts ${most_parts})
  endif()
  set(units "")
  math(EXPR last_part "${most_parts} - 1")
  if(arg_ISA)
    foreach(isa IN LISTS arg_ISA)
      list(APPEND options --isa ${isa})
      set(units_${isa} "")
      foreach(part RANGE ${last_part})
        list(APPEND units_${isa} ${folder}/${name}_kernels_${isa}_${part}.cpp)
      endforeach()
      list(APPEND units ${units_${isa}})
    endforeach()
  elseif(last_part GREATER 0)
    foreach(part RANGE 1 ${last_part})
      list(APPEND units ${folder}/${name}_kernels_${part}.cpp)
    endforeach()
  endif()
  string(REPLACE "$<" "$<1:$><" literal_model "${model}")  # a path is no generator expression
  add_custom_command(
    OUTPUT ${folder}/generated.stamp
    BYPRODUCTS ${sources} ${units}
    COMMAND ${generator} "${literal_model}" ${folder} ${name} ${options}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/generated.stamp
    DEPENDS "${literal_model}" ${input_files} ${generator}
    COMMENT "Generating ${name}.hpp"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/generated.stamp)
  if(arg_ISA)
    add_custom_target(${target}_${name}_sources DEPENDS ${folder}/generated.stamp)
    foreach(isa IN LISTS arg_ISA)
      dnnkit_kernels_of_isa(${target} ${name} ${isa} ${units_${isa}})
      add_dependencies(${target}_${name}_${isa} ${target}_${name}_sources)
    endforeach()
  else()
    target_sources(${target} PRIVATE ${units})
  endif()
  if(units)
    set_source_files_properties(${units} PROPERTIES OBJECT_DEPENDS ${folder}/generated.stamp)
  endif()
  if(arg_EMBED)
    target_sources(${target} PRIVATE ${folder}/${name}_weights.cpp)
    set_source_files_properties(${folder}/${name}_weights.cpp PROPERTIES OBJECT_DEPENDS ${folder}/generated.stamp)
  endif()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE ${library})
endfunction()
