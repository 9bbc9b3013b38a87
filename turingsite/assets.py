"""How static files are named in production."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]


class AssetStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names carry a hash, also inside scripts: after an update no page mixes old and new modules."""

    support_js_module_import_aggregation = True
