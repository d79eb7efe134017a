# SPDX-License-Identifier: MIT
"""`python3 tests/op/make_cases` writes tests/op/cases/*.safetensors: inputs, attributes and outputs of single
operators, computed by ONNX Runtime.

Needs `pip install numpy onnx onnxruntime` and ONNX's own node tests (Debian: libonnx-testdata), and is needed only when
cases change: the files are kept in the repository. Arguments: the families to write; none: all.
Where ONNX Runtime lacks an operator, onnx.reference computes it; where ONNX has no such operator, numpy does.

A case `name` is the tensors name/0, name/1, ... (inputs, a left-out one missing) and name/y (output), and a metadata entry
name -> "Operator attribute=value value;attribute=value": the operator and its attributes as dnnkit spells them, numbers only.
"""
import pathlib
import sys

# Each adds its cases to `files`. All draw from one stream of random numbers: a new file of cases goes to the end.
import elementwise
import movement
import products_and_rows
import more_elementwise
import selection
import composed
import later_opsets
import corners
import quantised_layers
import half_scales
import own_normalization
from cases import engines, files, save

FOLDER = pathlib.Path(__file__).parent.parent / "cases"

FOLDER.mkdir(exist_ok=True)
for family, (tensors, metadata) in files.items():
    if len(sys.argv) > 1 and family not in sys.argv[1:]:
        continue
    save(FOLDER / f"{family}.safetensors", tensors, metadata)
    print(f"{family}: {len(metadata)} cases")
print(engines, sum(p.stat().st_size for p in FOLDER.glob("*.safetensors")), "bytes")
