# SPDX-License-Identifier: MIT
# The calls that docs/operators.md lists as one translation unit: each as the page gives it, without the inputs that may be
# left out and with them, its braces empty. Usage: awk -f operator_calls.awk docs/operators.md
function declare(name) {
  if (name in known || name !~ /^[a-z_]+$/) return
  known[name] = 1
  tensors = tensors (tensors == "" ? "" : ", ") "dk::tensor " name
}
function emit(call) { if (!(call in said)) { said[call] = 1; body = body "  static_cast<void>(" call ");\n" } }
BEGIN {
  # what a parameter that is no tensor may be
  value["dims"] = "{n, 2}"; value["axis"] = "1"; value["begin"] = "n"; value["size"] = "n"; value["equation"] = "\"ij,jk->ik\""; value["needed_by"] = "\"a name\""
}
/^\| [A-Za-z0-9.]+ \| `(dk::|g\.)/ {
  match($0, /`[^`]*`/)
  call = substr($0, RSTART + 1, RLENGTH - 2)
  ++calls
  gsub(/\{x, \.\.\.\}/, "{x, x}", call)
  gsub(/\{\.\.\.\}/, "{}", call)
  open = index(call, "(")
  count = split(substr(call, open + 1, length(call) - open - 1), words, /, */)
  head = substr(call, 1, open)
  all = least = ""
  for (i = 1; i <= count; ++i) {
    word = words[i]
    optional = sub(/\?$/, "", word)
    if (word in value) word = value[word]
    else declare(word)
    all = all (all == "" ? "" : ", ") word
    if (!optional) least = least (least == "" ? "" : ", ") word
  }
  emit(head all ")")
  emit(head least ")")
}
END {
  if (calls < 150) { print "only " calls " calls are found" > "/dev/stderr"; exit 1 }
  print "#include <dnnkit/graph.hpp>\nnamespace dk = dnnkit;"
  print "void calls(dk::builder& g, dk::dim n, " tensors ");\nvoid calls(dk::builder& g, dk::dim n, " tensors ") {\n" body "}"
}
