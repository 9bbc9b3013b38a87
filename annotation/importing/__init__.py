"""Scores given elsewhere, from a file: its columns, its scale, its rows, and what is written.

Nothing but ``services`` and ``references`` writes. What rows of opinions share is in ``dialogues.importing``.
"""
