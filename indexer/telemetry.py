"""The packages beneath send nothing of their own accord: each is set so before it is imported."""

import os
from collections.abc import Mapping

LIBRARIES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "DO_NOT_TRACK": "1",
}
"""By package: onnxruntime (from 1.31 on it looks up a host and keeps a device id at home); huggingface_hub, also under
open_clip and transformers; its command line; whatever keeps to donottrack.sh. More in docs/reliability.md."""
SERVERS = {"OTEL_SDK_DISABLED": "true"}
"""FastAPI and mcp export requests where the environment names a collector. For processes that are a server of ours: a
program that uses `SearchEngine` may well want its own traces."""


def silence(settings: Mapping[str, str]) -> None:
    """Tell packages that report home not to. What the user has set stays; processes started later inherit it."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)
