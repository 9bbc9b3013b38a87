"""Every write of the annotation, by topic. Each checks the rule, writes, and can be sent twice.

``taxonomies``: what is scored. ``settings``: how a study annotates. ``joining``, ``annotators``,
``guidelines``, ``calibration``: how people come to work. ``material``, ``references``: dialogues with known
scores. ``review_cases``, ``review_rules``, ``reviewing``: expert review, its cases, what it refuses, what
reviewers do.
"""
