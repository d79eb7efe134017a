# SPDX-License-Identifier: MIT
# Configures, builds and runs the consumer project from nothing, ONNX models included: WAY is find_package (after an
# install, moved to another folder) or fetch_content. What takes longer with an installed package is in installed.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

if(WAY STREQUAL find_package)
  install_dnnkit()
  # The installed tool compiles with the headers beside it. This compiler says how it was called.
  step(${CMAKE_COMMAND} -E env CXX=echo ${SCRATCH}/installed/bin/dnnkit build ${CMAKE_CURRENT_LIST_DIR}/small.onnx
       -o ${SCRATCH}/program --keep-source)
  file(READ ${SCRATCH}/program.source/main.log said)
  expect("${said}" "-I${SCRATCH}/installed/include")
  set(found_by -DCMAKE_PREFIX_PATH=${SCRATCH}/installed)
else()
  set(found_by -DDNNKIT_CHECKOUT=${DNNKIT_SOURCE})
  set(targets --target consumer models)  # the others are compiled as with an installed package
endif()
configure(${SCRATCH}/build ${found_by})
step(${CMAKE_COMMAND} --build ${SCRATCH}/build ${targets})
file(GLOB compiled_generator ${SCRATCH}/build/dnnkit_onnx_generator)
if(compiled_generator AND WAY STREQUAL find_package)
  message(FATAL_ERROR "the installed generator was compiled again")
endif()
step(${SCRATCH}/build/consumer)
if(EXISTS ${SCRATCH}/build/formats)
  execute_process(COMMAND ${SCRATCH}/build/formats OUTPUT_VARIABLE explained COMMAND_ERROR_IS_FATAL ANY)
  if(WAY STREQUAL find_package)  # what the program says of a model is what the tool says of its file
    execute_process(COMMAND ${SCRATCH}/installed/bin/dnnkit explain ${CMAKE_CURRENT_LIST_DIR}/My-net.v2.onnx
                    OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    expect("${explained}" "kernel 1: layer1.0.conv1\n")
    # The file names operators that a C++ model does not; what carries them out and what that costs is the same.
    foreach(text IN ITEMS explained said)
      string(REGEX MATCHALL "\n +(mapping type|family|expected|cost) [^\n]*" kernels_${text} "${${text}}")
    endforeach()
    expect("${kernels_explained}" "family        conv_nhwc")
    if(NOT kernels_explained STREQUAL kernels_said)
      message(FATAL_ERROR "dnnkit explain says\n${said}\nand the program\n${explained}")
    endif()
  endif()
endif()
if(EXISTS ${SCRATCH}/build/device)
  step(${SCRATCH}/build/device)
endif()
if(WAY STREQUAL find_package)
  step(${SCRATCH}/build/small_opencl)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env DNNKIT_OPENCL_DEVICE=nobody's ${SCRATCH}/build/small_opencl
                  ERROR_VARIABLE said)
  expect("${said}" "there is no such device, expected one whose name holds 'nobody's'")
endif()
step(${SCRATCH}/build/models)
if(WAY STREQUAL find_package)  # nothing embedded is looked for
  file(GLOB hostile "${SCRATCH}/build/*hostile*.onnx")
  file(RENAME ${SCRATCH}/build/dnnkit_onnx ${SCRATCH}/build/moved)
  file(RENAME "${hostile}" ${SCRATCH}/build/moved.onnx)
  step(${SCRATCH}/build/models)
  file(RENAME ${SCRATCH}/build/moved.onnx "${hostile}")
  file(RENAME ${SCRATCH}/build/moved ${SCRATCH}/build/dnnkit_onnx)
endif()

# Without fmt, the package says what is missing; who asks for it by name gets no package.
function(configure_without_fmt)
  execute_process(COMMAND ${consumer} -B ${SCRATCH}/build_without_fmt ${found_by} -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON ${ARGN}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said_too)
  expect("${said}${said_too}" "fmt is not installed, so there is no target dnnkit::inspect")
  set(failed ${failed} PARENT_SCOPE)
endfunction()
if(WAY STREQUAL find_package)
  configure_without_fmt()
  if(failed)
    message(FATAL_ERROR "the package is not found without fmt")
  endif()
  configure_without_fmt("-DDNNKIT_COMPONENTS=COMPONENTS\\;inspect")
  if(NOT failed)
    message(FATAL_ERROR "the component inspect is found without fmt")
  endif()
endif()

# Options that are wrong, or wrong together, and a target that is missing stop the configuration.
function(check_wrong_options options said_of_them)
  string(REPLACE " " "\\;" options "${options}")
  execute_process(COMMAND ${consumer} -B ${SCRATCH}/build_wrong ${found_by} -DDNNKIT_WRONG_OPTIONS=${options} ${ARGN}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")  # lines are broken
  expect("${said}" "dnnkit_add_onnx: ${said_of_them}")
  if(NOT failed)
    message(FATAL_ERROR "'${options}' was configured:\n${said}")
  endif()
endfunction()
check_wrong_options("TARGET cuda" "TARGET takes cpu, opencl or opencl_images, not 'cuda'")
check_wrong_options("TARGET EMBED" "TARGET takes cpu, opencl or opencl_images, not ''")
check_wrong_options("TARGET opencl ISA avx2" "ISA is for TARGET cpu, found TARGET opencl")
check_wrong_options("TARGET opencl_images KERNEL_PARTS 2" "KERNEL_PARTS is for TARGET cpu, found TARGET opencl_images")
check_wrong_options("TARGET opencl" "TARGET opencl needs dnnkit::opencl, which is there where OpenCL's headers and loader"
                    -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON)

# What is not supported is listed, all of it, and nothing is compiled: by the generator that was found, and by another one.
function(check_unsupported folder)
  check_refused(${folder} unsupported "Frobnicate 'first'" "Wobble 'third'")
  check_refused(${folder} unsupported_opencl "speech.onnx: the target opencl has no kernels for this model"
                "LSTM of kernel 'lstm': there is no OpenCL kernel")
endfunction()
function(check_refused folder target)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder} --target ${target} RESULT_VARIABLE failed
                  OUTPUT_VARIABLE said ERROR_VARIABLE said_too)
  if(NOT failed)
    message(FATAL_ERROR "${target}, a model with unsupported operators, was built")
  endif()
  foreach(part IN LISTS ARGN)
    expect("${said}${said_too}" "${part}")
  endforeach()
  string(FIND "${said}${said_too}" "small.cpp" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "the program was compiled before its model was checked:\n${said}${said_too}")
  endif()
endfunction()
check_unsupported(${SCRATCH}/build)
if(compiled_generator)
  configure(${SCRATCH}/build_with_generator ${found_by} -DDNNKIT_ONNX_GENERATOR=${compiled_generator})
  check_unsupported(${SCRATCH}/build_with_generator)
  if(EXISTS ${SCRATCH}/build_with_generator/dnnkit_onnx_generator)
    message(FATAL_ERROR "the generator was compiled, though one was given")
  endif()
endif()
