"""Expert review: the only pages on which somebody who judges scores sees the truth.

``access``: who may review what. ``disagreement``: how far raters are apart. ``reading``: the queue and a case
for the pages. ``views``: the pages. Every write is in ``annotation.services.reviewing``.
"""
