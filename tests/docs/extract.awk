# SPDX-License-Identifier: MIT
# The ```cpp blocks of a document as one translation unit, in order, with #line so that errors name the document's line.
# Usage: awk -v path=docs/cookbook.md -f extract.awk docs/cookbook.md
#
# A block stands at namespace scope unless a comment on the line before it says otherwise:
#   <!-- in a function of (dk::session<net>& s) -->   it is the body of a function with these parameters
#   <!-- not compiled -->                             it is left out
# A comment that begins with the line `<!-- cpp` holds code that is compiled and not shown, up to the line `-->`.
# What is included comes first.
function emit(line) { body = body line "\n" }
BEGIN { emit("// Extracted from " path) }
/^<!-- not compiled -->$/ { skip = 1; next }
/^<!-- in a function of \(.*\) -->$/ {
  parameters = $0
  sub(/^<!-- in a function of /, "", parameters)
  sub(/ -->$/, "", parameters)
  next
}
/^<!-- cpp$/ { inside = 1; hidden = 1; emit("#line " NR + 1 " \"" path "\""); next }
/^```cpp$/ && !inside {
  inside = 1
  ++blocks
  if (parameters != "") emit("[[maybe_unused]] static void block_" NR parameters " {")
  emit("#line " NR + 1 " \"" path "\"")
  next
}
inside && (hidden ? /^-->$/ : /^```$/) {
  if (parameters != "") emit("}")
  inside = hidden = skip = 0
  parameters = ""
  next
}
inside && !skip {
  if ($0 ~ /^#include /) { includes = includes $0 "\n"; emit("") }
  else emit($0)
}
END { if (blocks == 0) { print path ": has no block of C++" > "/dev/stderr"; exit 1 } printf "%s%s", includes, body }
