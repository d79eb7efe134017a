# SPDX-License-Identifier: MIT
"""ONNX Runtime, one thread, with its optimisations off or on."""

import onnxruntime

onnxruntime.set_default_logger_severity(4)


class Refused(Exception):
    """ONNX Runtime does not take the model, or does not compute it."""


class Session:
    def __init__(self, model, optimised=False):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
        try:
            self._session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # ONNX Runtime's own classes of exceptions have no common base
            raise Refused(str(problem)) from None
        self.inputs = [x.name for x in self._session.get_inputs()]

    def run(self, values):
        """The outputs' arrays; `values` may hold more than the inputs."""
        try:
            return self._session.run(None, {name: values[name] for name in self.inputs})
        except Exception as problem:
            raise Refused(str(problem)) from None
