# SPDX-License-Identifier: MIT
# Arrays in files, for scripts that test the command line; to be sourced behind says.sh.

# npy FILE SHAPE NUMBER...: an array of 32-bit floats.
npy() {
  perl -e '($path, $shape, @x) = @ARGV;
    $header = sprintf("%-117s\n", "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }");
    open($f, ">:raw", $path); print $f "\x93NUMPY\x01\x00", pack("v", length $header), $header, pack("f<*", @x);' -- "$@"
}
# npy_u8 FILE SHAPE NUMBER...: an array of bytes.
npy_u8() {
  npy "$1" "$2"
  perl -0pi -e 's/<f4\x27/|u1\x27/' "$1"
  perl -e 'print pack("C*", @ARGV)' -- "${@:3}" >>"$1"
}
# holds FILE NUMBER...: the floats in a .npy file, up to 1e-5.
holds() {
  perl -e '($path, @x) = @ARGV; local $/; open($f, "<:raw", $path) or die "no file $path\n"; $_ = <$f>;
    @y = unpack("f<*", substr($_, 10 + unpack("v", substr($_, 8, 2))));
    die "$path has ", scalar @y, " numbers: @y\n" if @x != @y;
    for $i (0 .. $#x) { die "$path holds @y, expected @x\n" unless abs($x[$i] - $y[$i]) < 1e-5 }' -- "$@" || exit 1
}
# Writes x.npy, an input of small.onnx, and sets `wanted` to what the output is, by ONNX Runtime.
input_of_small() {
  npy x.npy "1, 2, 4, 4" $(perl -e 'print join(" ", map { $_ / 16 - 1 } 0 .. 31)')
  wanted="-1.2568543 -0.68858957"
}
