#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit build: programs of a small model, whose outputs are those of ONNX Runtime, and how they are compiled. More of
# kernels in several units is in build_parts.sh, of those for several instruction sets in build_isa.sh.
#   bash tests/onnx/build.sh TOOL MODELS      (the program dnnkit; the folder of small.onnx; writes into the current folder)
set -euo pipefail
tool=$1 small=$2/small.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

input_of_small

# A program of small.onnx under names that try to become code or commands: the file's, all tensors' and nodes'.
hostile=$'injected\\"; #$(touch injected)\n#error injected &\n\\.onnx' input=$'x")); } }; //?\?/\n\\'
cp "$2/hostile.onnx" "$hostile"
says 0 "program" "$tool" build "$hostile" -o program --flags "-O1"
grep -qF '#error injected &\x0a\.onnx in 2 units, ' said.txt || fail "build does not say that it compiles: $(cat said.txt)"
[ ! -e program.source ] || fail "build leaves what it has compiled: $(ls program.source)"
! grep -q $'\r' said.txt || fail "dnnkit build shows its progress where there is no terminal"
says 0 "f32 [1, 2, 4, 4]" ./program --help
for option in $(grep -o -- "^  --[a-z]*" said.txt); do says 0 "$option" "$tool" build --help; done
says 0 "nothing is written; --output FOLDER writes,: f32 [1, 2]" ./program --input "$input=x.npy"
says 2 "--trace: would replace the file of --input" ./program --input "$input=x.npy" --trace x.npy
says 0 "" ./program --input "$input=x.npy" --output built --time 3 --threads 2 --spin 100 --trace trace.json
grep -qE '^[0-9.]+$' said.txt || fail "the time is missing: $(cat said.txt)"
holds built/*.npy $wanted
says 2 "--explain: is no option of this program" ./program --explain
says 2 "--device: is no option of this program" ./program --device 0
says 2 "--input y: the network has no input of this name" ./program --input y=x.npy
[ ! -e injected ] || fail "a name of the file has run as a command"

for wrong in -2 0 zero 2.5; do
  says 2 "--kernel-parts: is no number of units,expected at least 1,found $wrong" "$tool" build "$small" -o refused --kernel-parts=$wrong
  for call in "dnnkit_add_onnx(app small.onnx KERNEL_PARTS $wrong)" "dnnkit_kernel_units(app small small.hpp $wrong)"; do
    printf 'include("%s")\n%s\n' "$2/../../cmake/dnnkitOnnx.cmake" "$call" >parts.cmake
    says 1 "PARTS: expected at least 1,found $wrong" "$CMAKE" -P parts.cmake
  done
done
for wrong in "sse9" "avx2,avx2" "avx2,,sse2"; do
  says 2 "--isa: takes names of instruction sets, each once" "$tool" build "$small" -o refused --isa "$wrong"
done

# A state that goes from run to run: a sum, and minus it; three runs, and one that goes on from a sum. The kernels are in
# two units and, without some of the passes, as many as explain says, an operator each.
sum=$2/running_sum.onnx
says 2 "--feedback sum=before: the model has no output of this name,expected y, total,found sum" "$tool" build "$sum" -o stateful --feedback sum=before
says 2 "--feedback: takes OUTPUT=INPUT,found total" "$tool" generate "$sum" -o stateful --feedback total
build_stateful=("$tool" build "$sum" -o stateful --flags "-O0" --feedback total=before --kernel-parts 2 -j 2 --without "plan fusion" --without join-stages)
says 0 "stateful" "${build_stateful[@]}" --keep-source
[ -e stateful.source/running_sum_kernels_1.o ] || fail "the kernels were not compiled in two units"
says 0 "2 kernels,state  total is the next run's before,one axis more in front" ./stateful --help
npy three.npy "3, 2" 1 10 2 20 3 30
npy one.npy "2," 1 10
npy before.npy "2," 100 200
says 0 "" ./stateful --input x=three.npy --output stateful_runs
holds stateful_runs/y.npy -1 -10 -3 -30 -6 -60
holds stateful_runs/total.npy 6 60
says 0 "" ./stateful --input x=one.npy --input before=before.npy --output stateful_runs
holds stateful_runs/y.npy -101 -210

# Kernels are compiled with -O3 by default, what stands around them with -O1, unless there are so many kernels that its
# unit has some of them.
rm -f compiled
printf '#!/bin/sh\n[ "$1" = --version ] && exec c++ "$@"\necho "$@" >>compiled\nexit 1\n' >no_compiler && chmod +x no_compiler
says 2 "the compiler failed" env CXX="$PWD/no_compiler" "$tool" build "$small" -o not_compiled
cp "$2/../../tests/zoo/yolov8n.onnx" . && truncate -s 64M yolov8n.bin  # whose weights are not kept: zeros
says 2 "the compiler failed" env CXX="$PWD/no_compiler" "$tool" build yolov8n.onnx -o many_kernels -j 2
rm yolov8n.bin
says 1 "and 53 more,63 problems" "$tool" check yolov8n.onnx  # one file is missing, of which all weights are
grep -q "first_kernel_part = 0;" many_kernels.source/yolov8n.hpp || fail "the program has no kernels"
for pair in not_compiled.source/main.cpp:-O1 small_kernels_1.cpp:-O3 many_kernels.source/main.cpp:-O3 yolov8n_kernels_1.cpp:-O3; do
  grep -q -- " ${pair#*:} .*/${pair%:*} " compiled || fail "${pair%:*} is not compiled with ${pair#*:}: $(cat compiled)"
done
# The compiler behind a launcher, with an option, and in a folder whose name has spaces. It only writes down that it was
# called, and what it was to write: that what is compiled runs is shown above.
rm -f launches
mkdir -p "a folder"
cat >stand_in <<'END'
#!/bin/sh
echo "direct $*" >>launches
while [ $# -gt 1 ]; do [ "$1" != -o ] || echo >"$2"; shift; done
END
printf '#!/bin/sh\necho launched >>launches\nexec "$@"\n' >launch
cp stand_in "a folder/c++"
chmod +x "a folder/c++" launch stand_in
says 0 "launched_program" env CXX=" $PWD/launch  $PWD/stand_in -DLAUNCHED" "$tool" build "$small" -o launched_program --flags -O0 -j 2
[ "$(grep -c '^launched$' launches)" = "$(grep -c '^direct' launches)" ] || fail "the launcher was not used: $(cat launches)"
[ "$(grep -c '^direct -DLAUNCHED .* -c ' launches)" -ge 1 ] || fail "the option behind the launcher was not used: $(cat launches)"
grep -Eq '^direct .* --param=ggc-min-heapsize=[0-9]{6,7} .* -c ' launches || fail "g++ may not keep its garbage: $(cat launches)"
rm launches
sed 's/^echo "direct/echo clang; &/' stand_in >clang_stand_in
chmod +x clang_stand_in
says 0 "launched_program" env CXX="$PWD/clang_stand_in" "$tool" build "$small" -o launched_program --flags -O0
! grep -q ggc-min-heapsize launches || fail "clang is given an option of g++: $(cat launches)"
rm launches
says 0 "direct_program" env CXX="$PWD/a folder/c++" "$tool" build "$small" -o direct_program --flags -O0 -j 2
grep -q direct launches || fail "a compiler with spaces in its path was not used: $(cat launches)"
rm launches
says 0 "several_sets" env CXX="$PWD/stand_in" OBJCOPY="$PWD/stand_in" "$tool" build "$small" -o several_sets --flags -O0 --isa sse2,avx2 --kernel-parts 2
for unit in small_kernels_{sse2,avx2}_{0,1} main; do
  grep -q " -c .*/$unit\.cpp " launches || fail "$unit is not compiled: $(cat launches)"
  [[ $unit == *avx2* ]] && with=1 || with=0
  [ "$(grep " -c .*/$unit\.cpp " launches | grep -c -- " -mavx2 ")" = $with ] || fail "$unit has the flags of another instruction set: $(cat launches)"
done
says 2 "CXX=$PWD/launch no-such-compiler: the compiler failed; its messages are above,as in CXX='ccache g++'" env CXX="$PWD/launch no-such-compiler" "$tool" build "$small" -o not_launched
says 2 "CXX=no-such-compiler -m64: cannot be started,a launcher and a compiler" env CXX="no-such-compiler -m64" "$tool" build "$small" -o not_launched

# What an earlier build has left goes, what somebody else has put beside it stays.
touch stateful.source/notes
says 0 "stateful" env CXX="$PWD/stand_in" "${build_stateful[@]}"
[ "$(ls stateful.source)" = notes ] || fail "build leaves, besides what is not its own: $(ls stateful.source)"

says 2 "the compiler failed" "$tool" build "$small" -o refused_by_compiler --flags "-fno-such-flag" --kernel-parts 2
