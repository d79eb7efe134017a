# SPDX-License-Identifier: MIT
"""`python3 tests/conformance/write_tests.py FOLDER` writes the backend tests that the installed Python package of ONNX
makes, in the form of its test data: FOLDER/node/NAME and FOLDER/simple/NAME with model.onnx and test_data_set_0, ...

Needs `pip install onnx`. A type that the package cannot write as a file is named and left out.
"""
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")  # of numpy, about what tests of infinities and NaN compute

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import model as model_cases
from onnx.backend.test.case import node as node_cases

MESSAGES = (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)


def message_of(value, declared):
    if isinstance(value, MESSAGES):
        return value
    if declared.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, declared.name)
    if declared.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, declared.name)
    return numpy_helper.from_array(np.asarray(value), declared.name)


def write(test, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(test.model.SerializeToString())
    for number, values_of_set in enumerate(test.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        graph = test.model.graph
        for kind, values, declared in zip(("input", "output"), values_of_set, (graph.input, graph.output)):
            for i, (value, info) in enumerate(zip(values, declared)):
                (data / f"{kind}_{i}.pb").write_bytes(message_of(value, info).SerializeToString())


out = pathlib.Path(sys.argv[1])
tests = [t for t in node_cases.collect_testcases(None) + model_cases.collect_testcases() if t.model is not None]
written = 0
for test in tests:
    try:
        write(test, out / test.kind / test.name)
        written += 1
    except (TypeError, ValueError, NotImplementedError) as problem:
        print(f"{test.name}: cannot be written: {problem}")
print(f"{written} tests of ONNX {onnx.__version__}, opset {onnx.defs.onnx_opset_version()}")
