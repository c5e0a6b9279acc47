"""One tower of an encoder as an ONNX graph, run without torch. The only importer of onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats


class Tower:
    """An exported tower: one input with a free first axis, one output. Several threads may run it at once."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Open a tower. One thread for a query, which is too small to be shared; 0: one a core.

        Raises:
            RuntimeError: ONNX Runtime refuses the file.
        """
        import onnxruntime as ort

        ort.disable_telemetry_events()  # for whoever imported it before `indexer` told it so by the environment
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # render workers need the cores
        try:
            self._session: Any = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime has a dozen classes for it, and none above them
            raise RuntimeError(str(error)) from error

    def run(self, name: str, inputs: NDArray[Any]) -> Floats:
        """Encode a batch, given under the name of the input."""
        return self.run_all(name, inputs)[0]

    def run_all(self, name: str, inputs: NDArray[Any]) -> list[Floats]:
        """All outputs of a graph that has several."""
        return [np.asarray(output, dtype=np.float32) for output in self._session.run(None, {name: inputs})]
