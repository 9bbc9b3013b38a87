"""Making dialogues comparable and playable: jobs as rows, flags, the pool of human gaps, playing files.

``services`` writes and is what edges call; ``gaps`` reads the human gaps, ``flags`` holds the rules,
``results`` fills the rows, ``files`` touches the disk. What is done
to the sound itself lives in ``turingsite.audio``.
"""
