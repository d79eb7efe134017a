#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit tune on a small model, and what `build`, `generate` and `explain` make of its table; wrong tables and options. What it
# compiles of candidates: tune_candidates.sh.
#   bash tests/onnx/tune.sh TOOL MODELS      (the program dnnkit; the folder of small.onnx; writes into the current folder)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"
tool=$(realpath "$1") small=$(realpath "$2")/small.onnx
scratch=$(mktemp -d "$PWD/tune.XXXXXX")
trap 'rm -r "$scratch"' EXIT
cd "$scratch"

quick=(--flags -O0 --generations 1 --population 1 --rounds 2)
leaves_nothing() { [ -z "$(ls -d ./*.work 2>/dev/null)" ] || fail "a folder was left: $(ls -d ./*.work)"; }

# Options.
says 0 "dnnkit tune,--generations,--population,--seed,--isa,--core,--input,--dim" "$tool" tune --help
says 2 "--output: is missing" "$tool" tune "$small"
says 2 "is a directory" "$tool" tune "$small" -o .
for option in generations population rounds jobs; do says 2 "--$option: is too few,found 0" "$tool" tune "$small" -o t.hpp --$option 0; done
says 2 "--seed: is no number,found x" "$tool" tune "$small" -o t.hpp --seed x
says 2 "--isa: ,instruction set" "$tool" tune "$small" -o t.hpp --isa sse9
cp "$small" copy.onnx
says 2 "copy.onnx" "$tool" tune copy.onnx -o copy.onnx
cmp "$small" copy.onnx || fail "the model was replaced"
says 2 "--core: is no processor that programs may run on,found 100000" "$tool" tune "$small" -o t.hpp "${quick[@]}" --core 100000
leaves_nothing

# A table, whatever its file is called, and what comes of it. What is there already stays: rows of another model.
# Only the first program is compiled, without a table; its units' objects, which are kept, are those of the candidates.
cat >compile_once <<'END'
#!/bin/bash
object=${!#}
kept=kept_${object##*/}
case " $* " in
  *" -c "*) if [ -e "$kept" ]; then cp "$kept" "$object"; else "$COMPILER" "$@" && cp "$object" "$kept"; fi ;;
  *) exec "$COMPILER" "$@" ;;
esac
END
chmod +x compile_once
table='my table;$(touch hostile)".hpp'
printf '    // of another model\n    {0x0000000000000001, "by_point", 3.5,\n     {{}, {.rows = 3}}},\ninline constexpr tuned_table t = rows;\n' >"$table"
says 0 "kernels: ,ms untuned,seed 5" env COMPILER="${CXX:-c++}" CXX="$PWD/compile_once" "$tool" tune "$small" -o "$table" "${quick[@]}" --seed 5
leaves_nothing
[ ! -e hostile ] || fail "a file's name was taken for a command"
grep -q '^inline constexpr tuned_table my_table_touch_hostile = ' "$table" || fail "no table: $(cat "$table")"
grep -A1 '^ *// Conv Relu: 1x2x4x4, 3x2x3x3, 3 -> 1x3x4x4$' "$table" | grep '{0x[0-9a-f]*, "conv_[a-z]*", [0-9.]*' >/dev/null || fail "no row of the convolution: $(cat "$table")"
grep -A2 '^ *// of another model$' "$table" | tr -d '\n' | grep '{0x0000000000000001, "by_point", 3.5,     {{}, {.rows = 3}}},' >/dev/null || fail "a row was lost: $(cat "$table")"
says 0 "measured,us with" "$tool" explain "$small" --tuned "$table"
says 0 "measured_microseconds" "$tool" explain "$small" --tuned "$table" --json
says 0 "generated" "$tool" generate "$small" --tuned "$table" -o generated
grep -q 'static constexpr dnnkit::tuned_kernel tuned\[\] = {' generated/small.hpp || fail "the model has no table"
! grep -q 0x0000000000000001 generated/small.hpp || fail "the model's table has another one's kernels"

# An entry without a time is what the kernel is to be, in the compiler as in the tool.
key=$(sed -n 's/^ *{\(0x[0-9a-f]*\), "conv_[a-z]*".*/\1/p' "$table" | head -1)
cat >forced.hpp <<FORCED
namespace dnnkit::tuned {
inline constexpr tuned_kernel rows[] = {
    {$key, "by_point", 0},
};
inline constexpr tuned_table forced = rows;
}
FORCED
says 0 "by_point" "$tool" explain "$small" --tuned forced.hpp
says 0 "forced" "$tool" build "$small" --tuned forced.hpp -o forced --flags "-O0 -march=native"
nm forced | grep by_point >/dev/null || fail "the compiler has not chosen what the table says"
nm kept_*.o | grep conv_ >/dev/null || fail "the objects of the untuned program have no convolution"
! nm kept_*.o | grep by_point >/dev/null || fail "by_point is chosen in any case: this test says nothing"
input_of_small
says 0 "" ./forced --input x=x.npy --output of_forced
holds of_forced/y.npy $wanted

# Tables that are none.
echo "some text" >text.hpp
for command in explain "build -o unused" "generate -o unused" "tune -o text.hpp"; do
  [ "$command" = "tune -o text.hpp" ] || says 2 "text.hpp: is no header with a table of tuned kernels" "$tool" $command "$small" --tuned text.hpp
done
says 2 "text.hpp: is no header with a table of tuned kernels" "$tool" tune "$small" -o text.hpp
[ "$(cat text.hpp)" = "some text" ] || fail "a file that is no table was replaced"
says 2 "absent.hpp" "$tool" explain "$small" --tuned absent.hpp
says 2 "absent" "$tool" explain "$small" --tuned absent
for row in '{0x1, "conv nhwc", 1},' '{0x1, "", 1},' '{0x1, "a", -1},' '{0x1, "a", nan},' '{0x1, "a"},' '{0x1, "a", 1}' '{0xg, "a", 1},' '{0x1, "a", 1, {{.frobs = 1}}},' \
  '{0x1, "a", 1, {{.rows = 0}}},' '{0x1, "a", 1, {{.rows = -2}}},' '{0x1, "a", 1, {{}, {}, {}, {}, {}}},' '{0x1, "a\", system(0), \"", 1},' '{0x1, "a", 1}, x' '{0x11111111111111111, "a", 1},'; do
  printf 'inline constexpr tuned_kernel rows[] = {\n    %s\n};\ninline constexpr tuned_table t = rows;\n' "$row" >wrong.hpp
  says 2 "wrong.hpp:2: is no row of a table of tuned kernels" "$tool" explain "$small" --tuned wrong.hpp
done
printf '{0x2, "a", 1},\n{0x1, "a", 1},\ninline constexpr tuned_table t = rows;\n' >wrong.hpp
says 2 "wrong.hpp:2: ,not in order" "$tool" explain "$small" --tuned wrong.hpp
says 2 "--tuned: is for the target cpu" "$tool" build "$small" --target opencl --tuned forced.hpp -o unused
says 2 "--tuned: is for the target cpu" "$tool" explain "$small" --target opencl --tuned forced.hpp
# What families have not is not believed, which the log says; so are families that there are not.
printf '{%s, "conv_nhwc", 1, {{.vectors = 99}}},\n{%s, "frobnicate", 1},\ninline constexpr tuned_table t = rows;\n' "$key" "$key" >unfit.hpp
says 0 "not believed what the table says of Conv,frobnicate: the family is not asked about it,conv_nhwc: the kernel cannot have" "$tool" explain "$small" --tuned unfit.hpp

# A compiler that is not there, or fails: the table that is there stays.
cp "$table" kept.hpp
for compiler in no-such-compiler false; do
  says 2 "$compiler" env CXX=$compiler "$tool" tune "$small" -o kept.hpp "${quick[@]}"
  cmp "$table" kept.hpp || fail "a table was lost"
done
says 2 "the compiler failed" "$tool" tune "$small" -o kept.hpp "${quick[@]}" --flags=-fno-such-flag
cmp "$table" kept.hpp || fail "a table was lost"
