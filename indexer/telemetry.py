"""What may the packages beneath send of their own accord? Nothing: each is told so before it is imported."""

import os

SILENT = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "OTEL_SDK_DISABLED": "true",
    "DO_NOT_TRACK": "1",
}
"""By package: onnxruntime (from 1.31 on it looks up a host and keeps a device id at home); huggingface_hub, also under
open_clip and transformers; its command line; FastAPI and mcp, which export requests where the environment names a
collector; whatever keeps to donottrack.sh. docs/reliability.md lists what each could send."""


def silence() -> None:
    """Tell every package that reports home not to. What the user has set stays; processes started later inherit it."""
    for name, value in SILENT.items():
        os.environ.setdefault(name, value)
