#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command-line tool: each command on a small model, whose outputs are those of ONNX Runtime.
#   bash tests/onnx/tool.sh TOOL MODELS      (the program dnnkit; the folder of small.onnx; writes into the current folder)
set -euo pipefail
tool=$1 small=$2/small.onnx unsupported=$2/unsupported.onnx selecting=$2/selecting.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

says 0 "check,run,compare,explain,compare-plans,dot,generate,build,tune,operators" "$tool" --help
for command in check run compare explain compare-plans dot generate build tune; do says 0 "dnnkit $command,--help,--dim" "$tool" $command --help; done
says 0 "dnnkit operators" "$tool" operators --help
says 2 "no command 'frob',usage" "$tool" frob "$small"
says 2 "no model was named" "$tool" check
says 2 "absent.onnx" "$tool" check absent.onnx
for command in check run compare explain dot "generate -o unused" "build -o unused"; do
  says 2 "command line: takes one model, found 'second.onnx' as well" "$tool" $command "$small" second.onnx
done
says 2 "command line: takes one or two models, found 'third.onnx' as well" "$tool" compare-plans "$small" second.onnx third.onnx
says 2 "--output: is a folder" "$tool" build "$small" -o .
[ ! -e ..source ] || fail "build wrote sources before it refused its output"
for command in explain dot compare-plans "compare-plans $small"; do
  says 1 "NonZero 'chosen': the extents of its output depend" "$tool" $command "$selecting"
done
echo "some text" >text.onnx
says 2 "text.onnx: is a file of another format,found text" "$tool" check text.onnx

says 0 "input x: f32 [1, 2, 4, 4],output y: f32 [1, 2],5 operators of 5 kinds, all supported" "$tool" check "$small"
says 1 "Frobnicate 'first',Wobble 'third',\`dnnkit operators\` lists the operators that are supported,2 problems" "$tool" check "$unsupported"
says 1 "Wobble 'third',\`dnnkit operators\` lists" "$tool" explain "$unsupported"
says 0 "NonZero 'chosen': the extents of its output depend on the elements,1 operator of 1 kind" "$tool" check "$selecting"
[ "$(grep -c chosen said.txt)" = 1 ] && grep -q "of 1 kind, for the interpreter only$" said.txt || fail "check says twice why a model is for the interpreter only: $(cat said.txt)"
for command in explain dot; do says 1 "dnnkit $command: $selecting: NonZero 'chosen': the extents of its output depend" "$tool" $command "$selecting"; done
if grep -q "all supported" said.txt; then fail "check says that all of a model for the interpreter only is supported"; fi
says 0 "| computed |,Conv,GlobalAveragePool" "$tool" operators
says 0 "input x: f32 [1, 2, 4, 4],GlobalAveragePool,in the file,all,kernel" "$tool" explain "$small"
says 0 "digraph,Conv" "$tool" dot "$small"
encoder=$2/../../examples/assets/encoder.onnx
for command in check explain; do says 0 "1 kernel runs element by element,: Gather" "$tool" $command "$encoder"; done
says 1 "--most-scalar: ,1 kernel runs element by element,expected at most 0.5 %" "$tool" build "$encoder" --most-scalar 0.5 -o unused
says 2 "--most-scalar: is no share,expected 0 to 100,found -3" "$tool" build "$encoder" --most-scalar -3 -o unused
says 2 "--most-scalar: is no number,found x" "$tool" build "$encoder" --most-scalar x -o unused
says 1 "--most-scalar: 1 kernel runs element by element,expected at most 0 %" "$tool" build "$encoder" --most-scalar 0 -o unused
for option in --steps --tolerance; do
  says 2 "$option: is no difference,expected at least 0,found -1" "$tool" compare "$small" --input x=x.npy $option -1
done
for wrong in "my net" "" class a__b; do says 2 "--name: is no name for a struct,found '$wrong'" "$tool" generate "$small" -o refused --name="$wrong"; done
says 2 "--tolerance: is no number,found x" "$tool" compare "$small" --tolerance=x

# explain --json, read by a parser of JSON: the numbers of small.onnx, and hostile names as they are.
json() {
  perl -MJSON::PP -e '($model, $check) = @ARGV; local $/; open($f, "<:raw", "said.txt"); $j = decode_json(<$f>);
    $t = $j->{totals}; @run = grep { !$_->{setup} } @{$j->{kernels}};
    eval $check or die "$model: not $check$@\n"' -- "$@" || exit 1
}
says 0 "kernels,decisions,totals" "$tool" explain --json "$small"
json "$small" '$t->{operators} == 5 && $t->{kernels} == @run && @{$j->{kernels}} == $t->{kernels} + $t->{setup_kernels}'
json "$small" '$run[0]{stages}[0]{operators}[0]{operator} eq "Conv" && $run[0]{operands}[0]{name} eq "x"'
json "$small" '$t->{flops} == eval { my $sum = 0; $sum += $_->{flops} for @run; $sum }'
json "$small" '@{$j->{decisions}} > 0 && !grep { !$_->{pass} || !$_->{verdict} || !$_->{reason} } @{$j->{decisions}}'
# The plan of an instruction set, whatever the machine's: its vectors, and what kernels are then expected to take.
for set in sse2:4 avx2:8 avx512:16 avx512_vnni:16 avx512_amx:16 neon:4; do
  says 0 "totals" "$tool" explain --json --isa ${set%:*} "$small"
  json "$small" "!grep { \$_->{tile}{lanes} != ${set#*:} } @run"
  says 0 "kernel" "$tool" explain --isa ${set%:*} "$small"
  says 0 "digraph" "$tool" dot --isa ${set%:*} "$small"
done
for wrong in "sse9" "avx2,avx512" ""; do says 2 "--isa: ,instruction set" "$tool" explain --isa "$wrong" "$small"; done
! grep -q "input x" said.txt || fail "explain prints before it looks at --isa: $(cat said.txt)"
says 2 "--isa: ,instruction set" "$tool" explain --counts --isa sse9 "$small"
# The plan that a GPU's facts would lead to: other families, and times that no launch is faster than.
says 0 "totals" "$tool" explain --json --target opencl "$small"
json "$small" '@run > 0 && !grep { $_->{predicted_time}{microseconds} < 4.2 } @run'
json "$small" 'my %of = (%{$t->{families}}); !grep { !/^(register_tiles|channel_windows|group_rows|work_items|one_group|attention|normalised_operand|normalised_result|product_pair|image_tiles|small_steps)$/ } keys %of'
says 0 "totals" "$tool" explain --json --target opencl_small "$small"
json "$small" '@run > 0 && !grep { $_->{predicted_time}{microseconds} < 2.4 } @run'
says 0 "kernel,register_tiles" "$tool" explain --target opencl --without "join stages" "$small"
says 0 "digraph" "$tool" dot --target opencl "$small"
says 0 "totals" "$tool" explain --json --target cpu --isa avx2 "$small"
for wrong in cuda "opencl,opencl" "cpu,"; do says 2 "--target: take" "$tool" compare-plans --target "$wrong,cuda" "$small"; done
says 2 "--target: names no target" "$tool" explain --target "" "$small"
says 2 "--target: takes so many names,at most 1" "$tool" explain --target cpu,opencl "$small"
says 2 "--isa: is for the target cpu" "$tool" explain --isa avx2 --target opencl "$small"
says 0 "first: for cpu,second: for opencl,kernels of conv_nhwc,kernels of small_steps" "$tool" compare-plans "$small" --target cpu,opencl --isa avx2
says 0 "first: all passes,second: without plan fusion" "$tool" compare-plans "$small" --target opencl --without plan-fusion
says 2 "--target: names two targets for one model" "$tool" compare-plans "$small" "$encoder" --target cpu,opencl
# Plans without some of the passes.
for command in explain dot compare-plans "generate -o unused" "build -o unused"; do
  for wrong in "frob" "" "join stages,plan fusion"; do
    says 2 "--without: is no pass,expected one of propagate values,plan fusion,join stages" "$tool" $command "$small" --without "$wrong"
    ! grep -q "choose kernels\|make plan" said.txt || fail "$command names passes that cannot be left out: $(cat said.txt)"
  done
  ! grep -q "input x" said.txt || fail "$command prints before it looks at --without: $(cat said.txt)"
  for needed in "make plan" make_plan expand-composites "separate outputs" check_extents choose-kernels; do
    says 2 "--without: the pass '${needed//[-_]/ }' cannot be left out: " "$tool" $command "$small" --without "$needed"
  done
done
says 0 "passes left out,plan fusion, select layouts" "$tool" explain "$small" --without plan-fusion --without select_layouts --without "join stages"
says 0 "digraph" "$tool" dot "$small" --without plan-fusion
[ ! -e unused ] && [ ! -e unused.source ] || fail "files were written for passes that cannot be left out"
says 0 "totals" "$tool" explain --json "$small" --isa avx2 --without "plan fusion"
json "$small" '"@{$t->{passes_left_out}}" eq "plan fusion" && $t->{kernels} == @run && @run == 5'
says 0 "first: all passes,second: without plan fusion,bytes of intermediates written,expected time,Conv 'conv': - | 1" "$tool" compare-plans "$small" --without plan_fusion
says 0 "second: without propagate values,plan fusion, join stages" "$tool" compare-plans "$small" --isa neon
! grep -q "expand composites" said.txt || fail "compare-plans leaves out what no plan is made without: $(cat said.txt)"
says 0 "first: $small,second: $encoder,kernels of " "$tool" compare-plans "$small" "$encoder"
says 2 "--without: is for one model,found two models" "$tool" compare-plans "$small" "$encoder" --without plan-fusion
says 2 "absent.onnx" "$tool" compare-plans "$small" absent.onnx
says 0 "first,second" "$tool" compare-plans --json "$small" --without plan-fusion
perl -MJSON::PP -e 'local $/; open($f, "<:raw", "said.txt"); $j = decode_json(<$f>); ($a, $b) = ($j->{first}, $j->{second});
  die "the two plans\n" unless $a->{kernels} < $b->{kernels} && $a->{flops} == $b->{flops} && !@{$a->{passes_left_out}};
  die "the bytes\n" unless $a->{intermediate_bytes}{written} < $b->{intermediate_bytes}{written};
  for (["first", $a], ["second", $b]) { ($name, $plan) = @$_; $sum{$name} += $_->{$name} for @{$j->{kernels}} }
  die "the kernels\n" unless $b->{kernels} + $b->{setup_kernels} - $a->{kernels} - $a->{setup_kernels} == $sum{second} - $sum{first}'

for part in --counts --tensors; do says 2 "$part: ,--json" "$tool" explain --json $part "$small"; done
says 0 "totals" "$tool" explain --json "$2/hostile.onnx"
json hostile.onnx '$run[0]{operands}[0]{name} eq "x\")); } }; //?\?/\n\\"'

# The output y renamed: a name is escaped where it is printed, and file names are made of it that are no others.
perl -0pe 's/([\x0a\x12]\x01)y/$1\x1b/g' "$small" >hostile.onnx
for command in check explain dot; do
  says 0 "$([ $command = dot ] && echo digraph || echo '\x1b')" "$tool" $command hostile.onnx
  ! grep -q $'\x1b' said.txt || fail "dnnkit $command prints a control character"
done

# One that chooses between two branches becomes a constant.
says 0 "input rate: i64 []" "$tool" check "$2/two_rates.onnx"
says 0 "1 operator of 1 kind" "$tool" check "$2/two_rates.onnx" --input rate="$2/rate.npy"
! grep -q rate said.txt || fail "the input stays: $(cat said.txt)"
input_of_small
says 2 "input 'x': no value was given" "$tool" run "$small"
for command in check run compare explain dot "generate -o unused" "build -o unused"; do
  says 2 "--input z: the model has no input of this name, expected one of 'x'" "$tool" $command "$small" --input x=x.npy --input z=x.npy
done
for command in check explain "generate -o given" dot; do
  says 0 "--input x: is not needed" "$tool" $command "$small" --input x=x.npy
done
for passes in on off; do
  says 0 "y: f32 [1, 2]" "$tool" run "$small" --input x=x.npy --output "$passes" --passes $passes
  holds $passes/y.npy $wanted
done

for executor in graph plan; do
  says 0 "y: f32 [1, 2]" "$tool" run "$small" --input x=x.npy --output "$executor" --executor $executor
  holds $executor/y.npy $wanted
done
says 2 "is neither of them" "$tool" run "$small" --input x=x.npy --executor kernels
says 2 "a plan is made behind the passes" "$tool" run "$small" --input x=x.npy --executor plan --passes off
says 2 "input 'x': no value was given" "$tool" run "$small" --executor plan
# ConstantOfShape of 2^48 floats, which no memory holds.
base64 -d >huge.onnx <<<CAgSADo6ChcKAXMSAXkiD0NvbnN0YW50T2ZTaGFwZRIBZyoRCAEQB0IBc0oIAAAAAAAAAQBiCQoBeRIECgIIAUIECgAQEQ==
says 2 "f32 [281474976710656]: not enough memory" "$tool" run huge.onnx --output huge
says 2 "buffer 0 'y': not enough memory,1125899906842624 bytes" "$tool" run huge.onnx --output huge --executor plan
npy chosen.npy "4," 0 1 2 3
says 1 "NonZero 'chosen': the extents of its output depend" "$tool" run "$selecting" --input x=chosen.npy --executor plan

says 0 '\x1b: f32 [1, 2] -> hostile/%1B.npy' "$tool" run hostile.onnx --input x=x.npy --output hostile
! grep -q $'\x1b' said.txt || fail "dnnkit run prints a control character"
holds hostile/%1B.npy $wanted

# Extents that must broadcast, a and b, need not be equal in a run: y [b] = x [a] + z [b].
base64 -d >add.onnx <<<CAgSADpCCg4KAXgKAXoSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBYVoQCgF6EgsKCQgBEgUKAxIBYmIJCgF5EgQKAggBQgQKABAR
npy one.npy "1," 1
npy three.npy "3," 1 2 3
npy two.npy "2," 1 2
npy none.npy "0,"
npy right.npy "1, 2" 1 2
says 0 "y: f32 [3]" "$tool" run add.onnx --input x=one.npy --input z=three.npy --output added
holds added/y.npy 2 3 4
says 0 "y: f32 [0]" "$tool" run add.onnx --input x=one.npy --input z=none.npy --output added
says 0 "tolerance" "$tool" compare add.onnx --input x=one.npy --input z=three.npy
# Bounds of extents hold for a run, too, whatever the import needs to be told.
says 0 "y: f32 [3]" "$tool" run add.onnx --dim b=2..4 --input x=one.npy --input z=three.npy --output added
says 2 "--dim b: input 'z' is out of these bounds,expected 5 to 9,found 3" "$tool" run add.onnx --dim b=5..9 --input x=one.npy --input z=three.npy
says 2 "--dim a: input 'x' is out of these bounds,expected 2 to 4,found 1" "$tool" compare add.onnx --dim a=2..4 --input x=one.npy --input z=three.npy
for wrong in foo =3; do says 2 "--dim: is no extent,expected NAME=NUMBER or NAME=FIRST..LAST,found $wrong" "$tool" check add.onnx --dim $wrong; done
says 2 "--dim a: is no extent,found a=" "$tool" check add.onnx --dim a=
says 2 "--dim a: is given twice" "$tool" check add.onnx --dim a=3 --dim a=2..4
says 2 "--input x: is given twice" "$tool" run add.onnx --input x=one.npy --input z=one.npy --input x=three.npy
for command in check run compare explain dot "generate -o unused" "build -o unused"; do
  says 2 "--dim foo: no extent of an input is called so, expected one of 'a', 'b'" "$tool" $command add.onnx --dim foo=3
  says 2 "--dim foo: no extent of an input is called so, expected none, as all are numbers" "$tool" $command "$small" --dim foo=3
  says 2 "--input x: is of another type than the input,expected f32 [a],found f32 [1, 2]" "$tool" $command add.onnx --input x=right.npy
  says 2 "--input rate: is of another type than the input,expected i64 [],found f32 [1]" "$tool" $command "$2/two_rates.onnx" --input rate=one.npy
done
says 2 "--input: is no assignment,expected NAME=FILE.npy,found one.npy" "$tool" run add.onnx --input one.npy
says 2 "symbol has two values" "$tool" run add.onnx --input x=three.npy --input z=two.npy

# Nor need the extent a be 3 where it meets one that is: y [3] = x [a] + z [3].
base64 -d >add_3.onnx <<<CAg6QAoOCgF4CgF6EgF5IgNBZGQSAFoQCgF4EgsKCQgBEgUKAxIBYVoPCgF6EgoKCAgBEgQKAggDYgkKAXkSBAoCCAFCBAoAEBE=
for passes in on off; do
  says 0 "y: f32 [3]" "$tool" run add_3.onnx --input x=one.npy --input z=three.npy --output added --passes $passes
  holds added/y.npy 2 3 4
done
says 2 "shape or element type differs" "$tool" run add_3.onnx --input x=two.npy --input z=three.npy
says 0 "input x: f32 [3],assumed: a = 3,all supported" "$tool" check add_3.onnx

# Extents that fit are said where it takes thought which do: ceil(H / 2) = 2 W.
base64 -d >halved.onnx <<<CAgSADrVAQojCgF4CgR6ZXJvCgNlbmQKBHplcm8KA3R3bxIBaCIFU2xpY2UKHwoBegoBehICenoiBkNvbmNhdCoLCgRheGlzGACgAQIKFAoBaAoCenoSAXkaA3N1bSIDQWRkEgFnKhQIARAHQgR6ZXJvSggAAAAAAAAAACoTCAEQB0IDdHdvSggCAAAAAAAAACoTCAEQB0IDZW5kSggAAAAAAAEAAFoQCgF4EgsKCQgBEgUKAxIBSFoQCgF6EgsKCQgBEgUKAxIBV2IQCgF5EgsKCQgBEgUKAxIBbkIECgAQEQ==
says 0 "what is assumed holds, for example, for H = 3 and W = 1" "$tool" check halved.onnx
npy seven.npy "7," 1 2 3 4 5 6 7
for executor in graph plan; do
  says 0 "y: f32 [4]" "$tool" run halved.onnx --input x=seven.npy --input z=two.npy --executor $executor --output halved
  holds halved/y.npy 2 5 6 9
  says 2 "Add 'sum': extents,found 2*W = 6 where W = 3; W = 2 or H = 11 would fit" "$tool" run halved.onnx --input x=seven.npy --input z=three.npy --executor $executor
done
says 2 "found 2*W = 4 where W = 2; W = 1 or H = 7 would fit" "$tool" compare halved.onnx --input x=three.npy --input z=two.npy

# Weights beside the model are looked at before anybody waits for a compiler: w [2] from byte 4 on.
base64 -d >external.onnx <<<CAgSADptCg4KAXgKAXcSAXkiA011bBIBZyo2CAIQAUIBd2oRCghsb2NhdGlvbhIFdy5iaW5qCwoGb2Zmc2V0EgE0agsKBmxlbmd0aBIBOHABWg8KAXgSCgoICAESBAoCCAJiDwoBeRIKCggIARIECgIIAkIECgAQEQ==
rm -f w.bin
for command in check "build -o unused" "run --input x=two.npy" "compare --input x=two.npy"; do
  says 1 "external.onnx, tensor 'w': external data 'w.bin': cannot open file,expected 8 bytes at 4" "$tool" $command external.onnx
done
says 0 "external.hpp" "$tool" generate external.onnx -o written  # which are not needed for the graph
perl -e 'print pack("f<*", 1, 2)' >w.bin
for command in check "build -o unused"; do
  says 1 "external.onnx, tensor 'w': external data is truncated,expected 8 bytes at 4 of 'w.bin',found a file of 8 bytes" "$tool" $command external.onnx
done
perl -e 'print pack("f<*", 1, 2, 3)' >w.bin
says 0 "all supported" "$tool" check external.onnx
says 0 "y: f32 [2]" "$tool" run external.onnx --input x=two.npy --output external
holds external/y.npy 2 6
head -c 60 external.onnx >truncated.onnx
says 2 "truncated.onnx, graph, byte 6: the file ends at byte 60,109 bytes from byte 6 on: it is probably truncated" "$tool" check truncated.onnx

# An operator that is not supported for any extents is for those of the inputs: Resize, which keeps the ratio of H and W.
base64 -d >resize.onnx <<<CAg66wEKrgEKAXgKAAoACgFzEgF5IgZSZXNpemUqDQoEYXhlc0ACQAOgAQcqLwoeY29vcmRpbmF0ZV90cmFuc2Zvcm1hdGlvbl9tb2RlIgphc3ltbWV0cmljoAEDKikKGGtlZXBfYXNwZWN0X3JhdGlvX3BvbGljeSIKbm90X2xhcmdlcqABAyoSCgRtb2RlIgduZWFyZXN0oAEDKhgKDG5lYXJlc3RfbW9kZSIFZmxvb3KgAQMSAWcqCwgCEAc6AgICQgFzWh0KAXgSGAoWCAESEgoCCAEKAggBCgMSAUgKAxIBV2IJCgF5EgQKAggBQgQKABAS
npy wide.npy "1, 1, 2, 4" 0 1 2 3 4 5 6 7
for command in check explain run "build -o unused"; do
  says 1 "keep_aspect_ratio_policy needs known extents,found H and W,give --dim H=NUMBER --dim W=NUMBER" "$tool" $command resize.onnx
done
says 0 "output y: f32 [1, 1, 1, 2]" "$tool" check resize.onnx --dim H=2 --dim W=4
says 0 "y: f32 [1, 1, 1, 2]" "$tool" run resize.onnx --input x=wide.npy --output resized
holds resized/y.npy 0 2

says 0 "0 of the largest magnitude" "$tool" compare "$small" --input x=x.npy
says 0 "1 compared" "$tool" compare "$small" --input x=x.npy --reference off
mkdir -p wrong
npy wrong/y.npy "1, 2" -1.25 -0.6885
says 1 "the first that deviates: Gemm" "$tool" compare "$small" --input x=x.npy --reference wrong

says 2 "--reference: is no folder,found nowhere" "$tool" compare "$small" --input x=x.npy --reference nowhere
says 2 "--reference: is no folder,found x.npy" "$tool" compare "$small" --input x=x.npy --reference x.npy

# Names that are too long for files: of a tensor between, and of the second output; y = -(-x), z = -y.
perl -e 'sub f { my ($n, $x) = (shift, join "", @_); my $l = length $x;
    chr($n << 3 | 2) . ($l > 127 ? chr($l & 127 | 128) . chr($l >> 7) : chr $l) . $x }
  sub node { f(1, f(1, $_[0]), f(2, $_[1]), f(4, "Neg")) }
  sub tensor { f($_[0], f(1, $_[1]), f(2, f(1, "\x08\x01", f(2, f(1, "\x08\x02"))))) }
  my ($n, $z) = ("n" x 300, "z" x 300);
  binmode STDOUT;
  print "\x08\x08", f(7, node("x", $n), node($n, "y"), node("y", $z), f(2, "g"), tensor(11, "x"), tensor(12, "y"), tensor(12, $z)),
        f(8, "\x10\x11")' >long_names.onnx
says 0 "zz: its name is too long for a file; it is out_1.npy,f32 [2] -> long/out_1.npy" "$tool" run long_names.onnx --input x=two.npy --output long
holds long/y.npy 1 2
holds long/out_1.npy -1 -2
for executor in graph plan; do
  says 0 "2 compared" "$tool" compare long_names.onnx --input x=two.npy --reference long --executor $executor
done

# What is read is not written over: the model, its external data, the files of inputs.
cp "$small" model.onnx
ln -sf model.onnx symbolic.onnx
ln -f model.onnx hard.onnx
for output in model.onnx ./model.onnx symbolic.onnx hard.onnx; do
  says 2 "--output: would replace the model,found $output" "$tool" build model.onnx -o $output
done
says 2 "--output: would replace external data of the model,found w.bin" "$tool" build external.onnx -o w.bin
says 2 "--output: would replace the file of --input x" "$tool" build model.onnx --input x=x.npy -o x.npy
mkdir -p replaced
ln -sf ../model.onnx replaced/main.cpp
says 2 "--output: would replace the model,found replaced/main.cpp" "$tool" generate model.onnx -o replaced
[ ! -e replaced/model.hpp ] || fail "generate writes before it refuses its output"
cp x.npy replaced/y.npy
says 2 "--output: would replace the file of --input x,found replaced/y.npy" "$tool" run model.onnx --input x=replaced/y.npy --output replaced
cmp model.onnx "$small" && cmp x.npy replaced/y.npy || fail "a file that is read was replaced"

mkdir -p right
npy right/y.npy "1, 2" $wanted
for executor in graph plan; do
  says 0 "1 compared" "$tool" compare "$small" --input x=x.npy --reference right --executor $executor
  says 1 "the first that deviates: Gemm" "$tool" compare "$small" --input x=x.npy --reference wrong --executor $executor
  ! grep -q "step" said.txt || fail "compare speaks of steps where nothing is quantised: $(cat said.txt)"
done
says 0 "1 compared" "$tool" compare "$small" --input x=x.npy --executor plan
says 2 "is neither of them" "$tool" compare "$small" --input x=x.npy --executor kernels
says 2 "is neither on nor off" "$tool" compare "$small" --input x=x.npy --passes maybe
says 2 "a plan is made behind the passes" "$tool" compare "$small" --input x=x.npy --executor plan --passes off
says 1 "NonZero 'chosen': the extents of its output depend" "$tool" compare "$selecting" --input x=chosen.npy --executor plan
mkdir -p chosen
npy chosen/out_0.npy "1, 3" 1 2 3
says 1 "NonZero 'chosen': the extents of its output depend" "$tool" compare "$selecting" --input x=chosen.npy --reference chosen --executor plan

# A product of bytes, its output as bytes (q) and dequantised (y, scale 0.006). No sum lies between two
# steps, so that ONNX Runtime, too, has 134 160 168 109, however scales are multiplied. The last is one step from that: none
# unless somebody wants to know.
base64 -d >bytes_q.onnx <<<CAgSADq3AgofCgF4CgJzeAoCengSAnhxIg5RdWFudGl6ZUxpbmVhcgoiCgJ4cQoCc3gKAnp4EgJ4ZCIQRGVxdWFudGl6ZUxpbmVhcgohCgF3CgJzdwoCencSAndkIhBEZXF1YW50aXplTGluZWFyChMKAnhkCgJ3ZBIBbSIGTWF0TXVsCh4KAW0KAnN5CgJ6eBIBcSIOUXVhbnRpemVMaW5lYXISAWcqDBABQgJzeEoEzczMPSoMEAFCAnN3SgSPwvU8KgwQAUICc3lKBKabxDsqCRACQgJ6eEoBgCoJEANCAnp3SgEAKisICAgEEANCAXdKIAID/AMAAAH+BPz+/wH//fz8/P0E/QEC/v7//gT9BAMDWhMKAXgSDgoMCAESCAoCCAEKAggIYhMKAXESDgoMCAISCAoCCAEKAggEQgQKABAR
base64 -d >bytes_y.onnx <<<CAgSADrZAgofCgF4CgJzeAoCengSAnhxIg5RdWFudGl6ZUxpbmVhcgoiCgJ4cQoCc3gKAnp4EgJ4ZCIQRGVxdWFudGl6ZUxpbmVhcgohCgF3CgJzdwoCencSAndkIhBEZXF1YW50aXplTGluZWFyChMKAnhkCgJ3ZBIBbSIGTWF0TXVsCh4KAW0KAnN5CgJ6eBIBcSIOUXVhbnRpemVMaW5lYXIKIAoBcQoCc3kKAnp4EgF5IhBEZXF1YW50aXplTGluZWFyEgFnKgwQAUICc3hKBM3MzD0qDBABQgJzd0oEj8L1PCoMEAFCAnN5SgSmm8Q7KgkQAkICenhKAYAqCRADQgJ6d0oBACorCAgIBBADQgF3SiACA/wDAAAB/gT8/v8B//38/Pz9BP0BAv7+//4E/QQDA1oTCgF4Eg4KDAgBEggKAggBCgIICGITCgF5Eg4KDAgBEggKAggBCgIIBEIECgAQEQ==
npy bytes.npy "1, 8" -0.4 0.6 -0.8 -0.4 -0.8 -0.6 -0.6 0.2
rm -rf bytes_q bytes_y && mkdir bytes_q bytes_y
npy_u8 bytes_q/q.npy "1, 4" 134 160 168 108
npy bytes_y/y.npy "1, 4" 0.036 0.192 0.24 -0.12
for output in q y; do
  compare="$tool compare bytes_$output.onnx --input x=bytes.npy --reference bytes_$output"
  for executor in graph plan; do
    says 0 "1 compared,of what is quantised, worst 1 step, tolerance 1 step" $compare --executor $executor
    says 1 "the first that deviates,, 1 step,tolerance 0 steps" $compare --executor $executor --steps 0
  done
  says 1 "the model is quantised,--executor plan compares what built programs compute" $compare --steps 0
  says 0 "1 compared" "$tool" compare bytes_$output.onnx --input x=bytes.npy --executor plan
done
npy_u8 bytes_q/q.npy "1, 4" 134 160 168 111
npy bytes_y/y.npy "1, 4" 0.036 0.192 0.24 -0.102
for output in q y; do
  compare="$tool compare bytes_$output.onnx --input x=bytes.npy --reference bytes_$output"
  says 1 "the first that deviates,, 2 steps,the model is quantised" $compare
  says 1 "the first that deviates,, 2 steps" $compare --executor plan
  ! grep -q "the model is quantised" said.txt || fail "compare recommends the plan where it is compared: $(cat said.txt)"
  says 0 "worst 2 steps, tolerance 2 steps" $compare --steps 2
done
rm bytes_y/y.npy
npy_u8 bytes_y/q.npy "1, 4" 134 160 168 109  # a tensor between, which a plan does not have
says 0 "1 compared,worst 0 steps" "$tool" compare bytes_y.onnx --input x=bytes.npy --reference bytes_y
says 2 "holds no file named after an output of the model" "$tool" compare bytes_y.onnx --input x=bytes.npy --reference bytes_y --executor plan

# Bytes that nothing has quantised, classes say, are not right when they are one off.
base64 -d >cast.onnx <<<CAgSADo+ChcKAXgSAXkiBENhc3QqCQoCdG8YAqABAhIBZ1oPCgF4EgoKCAgBEgQKAggCYg8KAXkSCgoICAISBAoCCAJCBAoAEBE=
npy_u8 bytes_y/out_0.npy "2," 1 3
says 1 "the first that deviates: Cast" "$tool" compare cast.onnx --input x=two.npy --reference bytes_y

says 0 "written/small.hpp" "$tool" generate "$small" -o written
grep -q "5 operators, 4 weights (260 bytes)" written/small.hpp || fail "the size of small.hpp: $(head -1 written/small.hpp)"
grep -q "struct small {" written/small.hpp || fail "small.hpp has no model"
grep -q "small_weights()" written/small_weights.hpp || fail "small_weights.hpp has no function"
grep -q "run_program" written/main.cpp || fail "main.cpp is no program"
says 0 "without/small.hpp" "$tool" generate "$small" -o without --without join_stages
grep -q 'pipeline = dnnkit::without_called<dnnkit::default_pipeline, "join stages">;' without/small.hpp || fail "small.hpp has all passes"

# A model is called after its file, by the tool as by dnnkit_add_onnx.
for name in My-net.v2 ResNet50 log class 3d-UNet __x__ a__B "aB cDe" 世界 "über" "(-)" gets.v1 \
            "$(printf 'x%.0s' $(seq 58))yZw" "$(printf 'x%.0s' $(seq 70))"; do
  cp "$small" "$name.onnx"
  path=$("$tool" generate "$name.onnx" -o named)
  by_tool=$(basename "$path" .hpp)
  printf 'include("%s")\ndnnkit_model_name(name [==[%s.onnx]==])\nmessage(STATUS ${name})\n' \
    "$2/../../cmake/dnnkitOnnx.cmake" "$name" >name.cmake
  by_cmake=$("$CMAKE" -P name.cmake)
  [ "$by_cmake" = "-- $by_tool" ] || fail "$name.onnx is $by_tool for the tool, $by_cmake for dnnkit_add_onnx"
done
[ -e named/my_net_v2.hpp ] || fail "My-net.v2.onnx is not my_net_v2"

for model in "$selecting" "$unsupported"; do  # what compile<> would refuse, and what cannot be imported
  case $model in *selecting*) reason="NonZero 'chosen': the extents of its output depend" ;; *) reason="Wobble 'third'" ;; esac
  says 1 "$reason" "$tool" generate "$model" -o refused
  says 1 "$reason" "$tool" build "$model" -o refused
  [ ! -e refused ] || fail "files were written for $model, which is refused"
done
