"""Getting recordings in: manifest → rows → plans → dialogues. A refused row never stops the others.

``manifest`` reads the file, ``columns`` says what may stand in it, ``turns`` reads turn times, ``files``
finds and keeps sound files, ``known`` matches names (systems, topics, strategies), ``rows`` checks one row,
``services`` writes. ``manifest`` and ``turns`` don't touch the database.
"""
