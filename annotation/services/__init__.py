"""Every write of the annotation, by topic. Each checks the rule, writes, and can be sent twice.

``taxonomies``, ``taxonomy_editing``: what is scored. ``settings``, ``readiness``: how a study annotates, and
what keeps it from opening. ``invitations``, ``joining``, ``annotators``, ``guidelines``: how people come.
``material``, ``references``: dialogues with known scores. ``calibration``, ``calibration_figures``: attempts.
``batches``: where an annotator is, and on; ``queue``, ``rater_places``, ``leases``: places given and taken
back; ``items``: the doors to locked rows; ``listening``, ``scoring``, ``verdicts``: one dialogue, heard,
scored, finished; ``sessions``: time. ``pausing``, ``quality``: what the desk decides about a rater.
``review_cases``, ``review_rules``, ``reviewing``: expert review, its cases, what it refuses, what reviewers
do. ``labels``: scores as a file.
"""
